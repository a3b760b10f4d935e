//! What the device says of itself.

use gpuk_sim::Options;

/// What differs between devices of different compute capability, and what the options set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) name: String,
    /// 10 times major, and minor.
    pub(crate) capability: u32,
    pub(crate) multiprocessors: u32,
    pub(crate) memory: u64,
    pub(crate) threads_per_block: u32,
    pub(crate) threads_per_multiprocessor: u32,
    pub(crate) blocks_per_multiprocessor: u32,
    /// Bytes of shared memory of a block without opting in.
    pub(crate) shared_per_block: u32,
    pub(crate) shared_per_block_opt_in: u32,
    pub(crate) shared_per_multiprocessor: u32,
    /// Bytes of shared memory of a block that are not the program's.
    pub(crate) reserved_shared: u32,
    /// 1000 times the major version of CUDA that the driver is of, and 10 times the minor one.
    pub(crate) driver_version: u32,
}

/// The version of CUDA that the functions here are of, and that the driver says it is of unless
/// `GPUK_SIM_DRIVER_VERSION` says otherwise: it is what programs choose PTX by.
pub(crate) const DRIVER_VERSION: u32 = 13_000;

/// The last `CUdevice_attribute` of CUDA 13.0.
const LAST_ATTRIBUTE: u32 = 147;
/// Blocks of a cluster that every device of compute capability 9.0 and higher takes.
pub(crate) const PORTABLE_CLUSTER: u32 = 8;
/// Blocks of a cluster at most.
pub(crate) const LARGEST_CLUSTER: u32 = 16;
/// Blocks of a grid along x, y and z at most.
pub(crate) const GRID: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];
/// Threads of a block along x, y and z at most.
pub(crate) const BLOCK: [u32; 3] = [1024, 1024, 64];

impl Profile {
    pub(crate) fn new(options: &Options, driver_version: Option<u32>) -> Self {
        let (major, minor) = options.capability;
        // CUDA programming guide, technical specifications per compute capability.
        let (threads, blocks, shared) = match (major, minor) {
            (..8, _) => (1024, 16, 64 << 10),
            (8, 0 | 7) => (2048, 32, 164 << 10),
            (8, 9) => (1536, 24, 100 << 10),
            (8, _) => (1536, 16, 100 << 10),
            (9..12, _) => (2048, 32, 228 << 10),
            (12.., _) => (1536, 24, 100 << 10),
        };
        let reserved = if major < 8 { 0 } else { 1 << 10 };
        Self {
            name: options.name.clone(),
            capability: major * 10 + minor,
            multiprocessors: options.multiprocessors,
            memory: options.memory,
            threads_per_block: 1024,
            threads_per_multiprocessor: threads,
            blocks_per_multiprocessor: blocks,
            shared_per_block: 48 << 10,
            shared_per_block_opt_in: shared - reserved,
            shared_per_multiprocessor: shared,
            reserved_shared: reserved,
            driver_version: driver_version.unwrap_or(DRIVER_VERSION),
        }
    }

    /// Whether there are thread block clusters.
    pub(crate) const fn has_clusters(&self) -> bool {
        self.capability >= 90
    }

    /// A `CUdevice_attribute`; `None` if there is no such attribute.
    ///
    /// Where neither the options nor the compute capability say, it is what an H200 with driver 580 says, if it bears
    /// on how programs launch and copy, and 0 for what the simulator does not have: textures and surfaces, clocks and
    /// caches, peers, interprocess and virtual memory management, operations on memory from streams, tensor maps.
    pub(crate) fn attribute(&self, attribute: u32) -> Option<i32> {
        let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        Some(match attribute {
            // MAX_THREADS_PER_BLOCK, MAX_BLOCK_DIM_…, MAX_GRID_DIM_…
            1 => number(self.threads_per_block),
            2..=4 => number(*BLOCK.get(attribute as usize - 2)?),
            5..=7 => number(*GRID.get(attribute as usize - 5)?),
            8 => number(self.shared_per_block),
            // TOTAL_CONSTANT_MEMORY, WARP_SIZE, MAX_PITCH
            9 => 64 << 10,
            10 => 32,
            11 => i32::MAX,
            // MAX_REGISTERS_PER_BLOCK, …_PER_MULTIPROCESSOR
            12 | 82 => 64 << 10,
            // CLOCK_RATE and MEMORY_CLOCK_RATE in kHz, GLOBAL_MEMORY_BUS_WIDTH in bits, L2_CACHE_SIZE: programs
            // divide by them.
            13 | 36 => 1_000_000,
            37 => 512,
            38 => 50 << 20,
            // TEXTURE_ALIGNMENT, SURFACE_ALIGNMENT: what allocations are aligned to.
            14 | 30 => 512,
            // GPU_OVERLAP, CAN_MAP_HOST_MEMORY, CONCURRENT_KERNELS, ASYNC_ENGINE_COUNT, UNIFIED_ADDRESSING
            15 | 19 | 31 | 40 | 41 => 1,
            16 => number(self.multiprocessors),
            39 => number(self.threads_per_multiprocessor),
            75 => number(self.capability / 10),
            76 => number(self.capability % 10),
            // STREAM_PRIORITIES_SUPPORTED, GLOBAL_L1_CACHE_SUPPORTED, LOCAL_L1_CACHE_SUPPORTED
            78..=80 => 1,
            81 => number(self.shared_per_multiprocessor),
            // MANAGED_MEMORY, CONCURRENT_MANAGED_ACCESS
            83 | 89 => 1,
            // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
            87 => 1,
            // COMPUTE_PREEMPTION_SUPPORTED, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, COOPERATIVE_LAUNCH
            90 | 91 | 95 => 1,
            97 => number(self.shared_per_block_opt_in),
            // HOST_REGISTER_SUPPORTED, READ_ONLY_HOST_REGISTER_SUPPORTED
            99 | 113 => 1,
            106 => number(self.blocks_per_multiprocessor),
            111 => number(self.reserved_shared),
            // MEMORY_POOLS_SUPPORTED
            115 => 1,
            120 => i32::from(self.has_clusters()),
            // MEM_SYNC_DOMAIN_COUNT
            126 => 1,
            // NUMA_ID, HOST_NUMA_ID: none.
            131 | 134 => -1,
            _ if (1..=LAST_ATTRIBUTE).contains(&attribute) => 0,
            _ => return None,
        })
    }

    /// The newest version of PTX that a driver of that version takes (PTX ISA, release notes).
    pub(crate) const fn ptx_version(&self) -> (u32, u32) {
        let (major, minor) = (self.driver_version / 1000, self.driver_version % 1000 / 10);
        match (major, minor) {
            (12, 7..) => (8, minor - 1),
            (12, 6) => (8, 5),
            // 11.0 brought 7.0, 12.0 8.0, 13.0 9.0, and each later one of them one more.
            _ => (major.saturating_sub(4), minor),
        }
    }

    /// Sixteen bytes that no other device has.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let mut uuid = *b"gpuk simulator\0\0";
        uuid[14] = u8::try_from(self.capability).unwrap_or(u8::MAX);
        uuid
    }
}

/// The address on a bus that the device says it has.
pub(crate) const PCI_BUS_ID: &str = "0000:00:00.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_of_its_compute_capability() {
        let profile = Profile::new(&Options::default(), None);
        let get = |attribute| profile.attribute(attribute).unwrap();
        assert_eq!((get(75), get(76)), (9, 0));
        assert_eq!((get(97), get(81), get(111)), (232_448, 233_472, 1024));
        assert_eq!(get(120), 1);
        let older = Options {
            capability: (8, 6),
            ..Options::default()
        };
        let profile = Profile::new(&older, Some(12_080));
        assert_eq!(profile.attribute(97), Some(101_376));
        assert_eq!(profile.attribute(120), Some(0));
        assert_eq!(profile.attribute(0), None);
        assert_eq!(profile.attribute(148), None);
        assert_eq!(profile.ptx_version(), (8, 7));
    }
}
