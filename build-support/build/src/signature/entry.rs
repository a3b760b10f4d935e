//! What the PTX says about a kernel.

use crate::kernel::Bounds;

/// An entry of the PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its symbol.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Slot>,
    /// Its directives about the launch.
    pub bounds: Bounds,
}

/// The room of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// In bytes.
    pub size: u64,
    /// In bytes.
    pub align: u64,
}
