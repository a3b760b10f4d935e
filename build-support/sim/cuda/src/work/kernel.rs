//! A launch that was asked for and checked.

use std::sync::Arc;

use gpuk_sim::Launch;

use crate::module::Function;
use crate::origin::Origin;

/// A launch.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub(crate) function: Arc<Function>,
    pub(crate) launch: Launch,
    /// Where the program asked for it.
    pub(crate) origin: Origin,
}
