//! What the PTX says about a kernel.

use crate::kernel::Bounds;

/// An entry of the PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its symbol.
    pub(crate) name: String,
    /// Its parameters.
    pub(crate) params: Vec<Slot>,
    /// Its directives about the launch.
    pub(crate) bounds: Bounds,
}

/// The room of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// In bytes.
    pub(crate) size: u64,
    /// In bytes.
    pub(crate) align: u64,
}
