//! The shape of a launch.

use cudarc::driver::LaunchConfig;

use crate::kernel::KernelInfo;

/// Grid, block and dynamic shared memory of a launch.
///
/// Start from the kernel's own shape, `Kernels::GATHER.launch()`, or from [`Launch::default`], one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Blocks along x, y, z. A grid with a 0 is empty: nothing is launched and nothing fails.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared: u32,
    /// Whether all blocks must be resident at once, as `grid.sync()` needs.
    pub cooperative: bool,
}

impl Default for Launch {
    fn default() -> Self {
        Self {
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            cooperative: false,
        }
    }
}

impl Launch {
    /// As many blocks along x as give `n` elements a thread each; none for `n = 0`.
    ///
    /// Set the block first.
    #[must_use]
    pub fn elements(self, n: usize) -> Self {
        let threads = usize::try_from(self.threads()).unwrap_or(usize::MAX).max(1);
        // A count beyond u32 is beyond every device, so the launch will be refused with the limit.
        let blocks = u32::try_from(n.div_ceil(threads)).unwrap_or(u32::MAX);
        self.grid([blocks, 1, 1])
    }

    /// Replaces the grid.
    #[must_use]
    pub const fn grid(mut self, grid: [u32; 3]) -> Self {
        self.grid = grid;
        self
    }

    /// Replaces the block.
    #[must_use]
    pub const fn block(mut self, block: [u32; 3]) -> Self {
        self.block = block;
        self
    }

    /// Replaces the bytes of dynamic shared memory. Beyond 48 KiB the kernel's limit is raised when needed.
    #[must_use]
    pub const fn shared(mut self, bytes: u32) -> Self {
        self.shared = bytes;
        self
    }

    /// Makes the launch cooperative (CUDA programming guide, grid synchronization).
    #[must_use]
    pub const fn cooperative(mut self) -> Self {
        self.cooperative = true;
        self
    }

    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> u64 {
        let [x, y, z] = self.block.map(u64::from);
        x.saturating_mul(y).saturating_mul(z)
    }

    /// Whether the grid has no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.grid.contains(&0)
    }
}

impl From<LaunchConfig> for Launch {
    fn from(config: LaunchConfig) -> Self {
        Self {
            grid: config.grid_dim.into(),
            block: config.block_dim.into(),
            shared: config.shared_mem_bytes,
            cooperative: false,
        }
    }
}

impl From<KernelInfo> for Launch {
    fn from(info: KernelInfo) -> Self {
        info.launch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(x: u32, y: u32, z: u32) -> Launch {
        Launch::default().block([x, y, z])
    }

    #[test]
    fn elements_cover_and_saturate() {
        let launch = Launch::default().block([16, 16, 1]);
        let blocks = |n| launch.elements(n).grid;
        assert_eq!(blocks(0), [0, 1, 1]);
        assert_eq!(blocks(1), [1, 1, 1]);
        assert_eq!(blocks(256), [1, 1, 1]);
        assert_eq!(blocks(257), [2, 1, 1]);
        assert_eq!(blocks(usize::MAX), [u32::MAX, 1, 1]);
        assert!(launch.elements(0).is_empty());
        assert_eq!(block(0, 1, 1).elements(5).grid, [5, 1, 1]);
        let huge = block(u32::MAX, u32::MAX, u32::MAX);
        assert_eq!(huge.threads(), u64::MAX);
    }

    #[test]
    fn cudarc_configurations_are_launches() {
        let launch = Launch::from(LaunchConfig {
            grid_dim: (1, 2, 3),
            block_dim: (4, 5, 6),
            shared_mem_bytes: 7,
        });
        assert_eq!(launch, block(4, 5, 6).grid([1, 2, 3]).shared(7));
    }
}
