//! A launch and what comes of it.

use crate::finding::Finding;

/// How a kernel is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// `gridDim`.
    pub grid: [u32; 3],
    /// `blockDim`.
    pub block: [u32; 3],
    /// Blocks of a cluster; all ones for none.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// The arguments, each at its offset in the function's parameters.
    pub params: Vec<u8>,
}

impl Launch {
    /// A launch without clusters or dynamic shared memory.
    #[must_use]
    pub const fn new(grid: [u32; 3], block: [u32; 3], params: Vec<u8>) -> Self {
        Self {
            grid,
            block,
            cluster: [1, 1, 1],
            shared: 0,
            cooperative: false,
            params,
        }
    }
}

/// What a launch that ran to its end did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What the options let a launch go on after.
    pub findings: Vec<Finding>,
    /// Those of them that the options allow.
    pub allowed: Vec<Finding>,
    /// Findings beyond those that are kept.
    pub more: u64,
    /// Thread instructions executed.
    pub instructions: u64,
    /// What the kernel printed, in the order of its blocks.
    pub printed: String,
}
