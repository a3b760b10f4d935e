//! The shape of a launch, and why one is refused before the driver sees it.

use cudarc::driver::LaunchConfig;
use thiserror::Error;

use crate::driver::DriverError;
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

/// What the device and the loaded kernel allow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) device: DeviceLimits,
    /// Threads of a block, for this kernel.
    pub(crate) threads: u32,
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Static shared memory of a block in bytes.
    pub(crate) fixed_shared: u32,
}

/// What the device allows every kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceLimits {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) threads: u32,
    /// Shared memory of a block in bytes, static and dynamic, for a kernel that asks for more than 48 KiB.
    pub(crate) shared: u32,
}

impl Limits {
    /// The most dynamic shared memory a launch may ask for, in bytes.
    pub(crate) const fn dynamic_shared(&self) -> u32 {
        self.device.shared.saturating_sub(self.fixed_shared)
    }

    /// The reason why `launch` cannot be, if there is one.
    pub(crate) fn allow(&self, info: &KernelInfo, launch: &Launch) -> Result<(), LaunchError> {
        let kernel = info.name;
        let block = launch.block;
        if block.contains(&0) {
            return Err(LaunchError::EmptyBlock { kernel, block });
        }
        if let Some((axis, found, limit)) = beyond(block, self.device.block) {
            return Err(LaunchError::BlockAxis {
                kernel,
                axis,
                found,
                limit,
            });
        }
        if let Some(required) = info.exact_block.filter(|required| *required != block) {
            return Err(LaunchError::ExactBlock {
                kernel,
                block,
                required,
            });
        }
        let found = launch.threads();
        let bound = info.max_threads.unwrap_or(u32::MAX);
        if found > u64::from(bound.min(self.threads).min(self.device.threads)) {
            return Err(LaunchError::Threads {
                kernel,
                block,
                found,
                limit: self.thread_limit(info, found),
            });
        }
        if let Some((axis, found, limit)) = beyond(launch.grid, self.device.grid) {
            return Err(LaunchError::GridAxis {
                kernel,
                axis,
                found,
                limit,
            });
        }
        if let Some(cluster) = info.cluster
            && !(0..3).all(|axis| launch.grid[axis].is_multiple_of(cluster[axis].max(1)))
        {
            return Err(LaunchError::Cluster {
                kernel,
                grid: launch.grid,
                cluster,
            });
        }
        if launch.shared > self.dynamic_shared() {
            return Err(LaunchError::Shared {
                kernel,
                dynamic: launch.shared,
                fixed: self.fixed_shared,
                limit: self.device.shared,
            });
        }
        Ok(())
    }

    fn thread_limit(&self, info: &KernelInfo, found: u64) -> ThreadLimit {
        match info.max_threads {
            _ if found > u64::from(self.device.threads) => ThreadLimit::Device(self.device.threads),
            Some(bound) if found > u64::from(bound) => ThreadLimit::LaunchBounds(bound),
            _ => ThreadLimit::Registers {
                registers: self.registers,
                threads: self.threads,
            },
        }
    }
}

fn beyond(found: [u32; 3], limits: [u32; 3]) -> Option<(char, u32, u32)> {
    ['x', 'y', 'z']
        .into_iter()
        .zip(found.into_iter().zip(limits))
        .find(|(_, (found, limit))| found > limit)
        .map(|(axis, (found, limit))| (axis, found, limit))
}

/// What limits the threads of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ThreadLimit {
    /// The device, every kernel's.
    #[error("the device allows {0}")]
    Device(u32),
    /// The kernel's `__launch_bounds__`.
    #[error("its `__launch_bounds__` allow {0}")]
    LaunchBounds(u32),
    /// The registers that the kernel's threads take.
    #[error("its {registers} registers a thread allow {threads}")]
    Registers {
        /// Of one thread.
        registers: u32,
        /// Of a block.
        threads: u32,
    },
}

/// Why a kernel was not launched.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are what the messages say")]
#[non_exhaustive]
pub enum LaunchError {
    /// A block needs a thread.
    #[error("kernel `{kernel}`: a block of {} has no thread", shape(.block))]
    EmptyBlock {
        kernel: &'static str,
        block: [u32; 3],
    },

    /// CUDA programming guide, compute capabilities: 1024, 1024 and 64 on all devices so far.
    #[error(
        "kernel `{kernel}`: a block has {found} threads along {axis}, but the device allows {limit}"
    )]
    BlockAxis {
        kernel: &'static str,
        axis: char,
        found: u32,
        limit: u32,
    },

    /// The kernel was compiled for one block shape (`.reqntid`).
    #[error(
        "kernel `{kernel}`: a block of {}, but the kernel was compiled for blocks of {} only",
        shape(.block), shape(.required)
    )]
    ExactBlock {
        kernel: &'static str,
        block: [u32; 3],
        required: [u32; 3],
    },

    /// More threads than the kernel or the device takes.
    #[error("kernel `{kernel}`: a block of {} has {found} threads, but {limit}", shape(.block))]
    Threads {
        kernel: &'static str,
        block: [u32; 3],
        found: u64,
        limit: ThreadLimit,
    },

    /// CUDA programming guide, compute capabilities: 2147483647, 65535 and 65535 on all devices so far.
    #[error(
        "kernel `{kernel}`: the grid has {found} blocks along {axis}, but the device allows {limit}"
    )]
    GridAxis {
        kernel: &'static str,
        axis: char,
        found: u32,
        limit: u32,
    },

    /// A grid consists of whole clusters.
    #[error(
        "kernel `{kernel}`: a grid of {} does not consist of the kernel's clusters of {} blocks",
        shape(.grid), shape(.cluster)
    )]
    Cluster {
        kernel: &'static str,
        grid: [u32; 3],
        cluster: [u32; 3],
    },

    /// More shared memory than a block can have.
    #[error(
        "kernel `{kernel}`: {dynamic} bytes of dynamic and {fixed} of static shared memory, \
         but the device allows a block {limit} together"
    )]
    Shared {
        kernel: &'static str,
        dynamic: u32,
        fixed: u32,
        limit: u32,
    },

    /// The kernel was loaded into another context than the stream's.
    #[error(
        "kernel `{kernel}` was loaded into a context of device {kernel_device}, \
         but the stream belongs to {} of device {stream_device}",
        other(kernel_device, stream_device)
    )]
    ForeignStream {
        kernel: &'static str,
        kernel_device: usize,
        stream_device: usize,
    },

    /// The buffer was allocated in another context than the stream's.
    #[error(
        "kernel `{kernel}`: the buffer for `{parameter}` belongs to a context of device {buffer_device}, \
         but the stream to {} of device {stream_device}",
        other(buffer_device, stream_device)
    )]
    ForeignBuffer {
        kernel: &'static str,
        parameter: &'static str,
        buffer_device: usize,
        stream_device: usize,
    },

    /// The kernel would read or write its items at addresses they cannot have.
    #[error(
        "kernel `{kernel}`: the buffer for `{parameter}` begins at {address:#x}, \
         which is no multiple of {align}, the alignment of its items"
    )]
    Misaligned {
        kernel: &'static str,
        parameter: &'static str,
        address: u64,
        align: usize,
    },

    /// The wrapper does not belong to the kernel.
    #[error("kernel `{kernel}` takes {expected} arguments, but {found} are passed")]
    ArgumentCount {
        kernel: &'static str,
        found: usize,
        expected: usize,
    },

    /// The wrapper does not belong to the kernel.
    #[error(
        "kernel `{kernel}`: parameter `{parameter}` has {expected} bytes, but {found} are passed"
    )]
    ArgumentSize {
        kernel: &'static str,
        parameter: &'static str,
        found: usize,
        expected: usize,
    },

    /// The driver refused, or reported now what an earlier call did.
    #[error("kernel `{kernel}` was not launched: {error}")]
    Driver {
        kernel: &'static str,
        #[source]
        error: DriverError,
    },
}

fn shape([x, y, z]: &[u32; 3]) -> String {
    format!("{x} × {y} × {z}")
}

fn other(one: &usize, two: &usize) -> &'static str {
    if one == two { "another" } else { "one" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        device: DeviceLimits {
            grid: [2_147_483_647, 65_535, 65_535],
            block: [1024, 1024, 64],
            threads: 1024,
            shared: 232_448,
        },
        threads: 640,
        registers: 96,
        fixed_shared: 1024,
    };

    const INFO: KernelInfo = KernelInfo {
        name: "gather",
        entry: "gather",
        source: "kernels/gather.cu:12",
        checked: true,
        max_threads: None,
        exact_block: None,
        min_blocks: None,
        cluster: None,
        params: &[],
    };

    fn refusal(info: &KernelInfo, launch: Launch) -> String {
        LIMITS.allow(info, &launch).unwrap_err().to_string()
    }

    fn block(x: u32, y: u32, z: u32) -> Launch {
        Launch::default().block([x, y, z])
    }

    #[test]
    fn what_fits_is_allowed() {
        let edge = block(640, 1, 1)
            .grid([2_147_483_647, 65_535, 65_535])
            .shared(232_448 - 1024);
        assert_eq!(LIMITS.allow(&INFO, &edge), Ok(()));
        assert_eq!(LIMITS.allow(&INFO, &block(10, 1, 64)), Ok(()));
    }

    #[test]
    fn refusals_name_the_numbers() {
        let bounded = KernelInfo {
            max_threads: Some(256),
            ..INFO
        };
        let exact = KernelInfo {
            exact_block: Some([32, 4, 1]),
            ..INFO
        };
        let cluster = KernelInfo {
            cluster: Some([2, 1, 1]),
            ..INFO
        };
        let texts = [
            refusal(&INFO, block(0, 1, 1)),
            refusal(&INFO, block(1, 1, 65)),
            refusal(&exact, block(128, 1, 1)),
            refusal(&INFO, block(1024, 2, 1)),
            refusal(&bounded, block(512, 1, 1)),
            refusal(&INFO, block(1024, 1, 1)),
            refusal(&INFO, Launch::default().grid([1, 65_536, 1])),
            refusal(&cluster, Launch::default().grid([3, 1, 1])),
            refusal(&INFO, Launch::default().shared(232_448)),
        ];
        insta::assert_snapshot!(texts.join("\n"), @"
        kernel `gather`: a block of 0 × 1 × 1 has no thread
        kernel `gather`: a block has 65 threads along z, but the device allows 64
        kernel `gather`: a block of 128 × 1 × 1, but the kernel was compiled for blocks of 32 × 4 × 1 only
        kernel `gather`: a block of 1024 × 2 × 1 has 2048 threads, but the device allows 1024
        kernel `gather`: a block of 512 × 1 × 1 has 512 threads, but its `__launch_bounds__` allow 256
        kernel `gather`: a block of 1024 × 1 × 1 has 1024 threads, but its 96 registers a thread allow 640
        kernel `gather`: the grid has 65536 blocks along y, but the device allows 65535
        kernel `gather`: a grid of 3 × 1 × 1 does not consist of the kernel's clusters of 2 × 1 × 1 blocks
        kernel `gather`: 232448 bytes of dynamic and 1024 of static shared memory, but the device allows a block 232448 together
        ");
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
