//! What the device and a loaded kernel allow: the refusals that need no driver.

use crate::error::{LaunchError, ThreadLimit};
use crate::kernel::KernelInfo;
use crate::launch::Launch;

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
        grid_of_clusters: false,
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
}
