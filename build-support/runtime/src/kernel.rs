//! What a generated wrapper knows about its kernel before any driver is there.

use crate::launch::Launch;

/// One kernel, as the compiler saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name of the Rust method.
    pub name: &'static str,
    /// The PTX symbol.
    pub entry: &'static str,
    /// `file:line` of the definition.
    pub source: &'static str,
    /// Whether the kernel takes the hidden last parameter that its checks report through.
    pub checked: bool,
    /// `__launch_bounds__(N)`: the most threads a block may have.
    pub max_threads: Option<u32>,
    /// `.reqntid`: the only block shape.
    pub exact_block: Option<[u32; 3]>,
    /// `__launch_bounds__(_, M)`: blocks meant to share a multiprocessor.
    pub min_blocks: Option<u32>,
    /// `__cluster_dims__`, in blocks.
    pub cluster: Option<[u32; 3]>,
    /// `__block_size__`: the driver is told the grid in clusters. A [`Launch`] counts blocks all the same.
    pub grid_of_clusters: bool,
    /// In the order of the declaration, without the hidden one.
    pub params: &'static [ParamInfo],
}

/// One parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamInfo {
    /// As the source names it.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Bytes.
    pub align: usize,
}

impl KernelInfo {
    /// Threads of a block that neither the kernel nor the caller says anything about.
    const DEFAULT_BLOCK: u32 = 256;

    /// One block of the shape the kernel asks for: its exact block, else its largest, else 256 threads.
    ///
    /// ```
    /// # use gpuk::KernelInfo;
    /// # const SCALE: KernelInfo = KernelInfo { name: "scale", entry: "scale", source: "a.cu:1", checked: false,
    /// #     max_threads: Some(128), exact_block: None, min_blocks: None, cluster: None,
    /// #     grid_of_clusters: false, params: &[] };
    /// let launch = SCALE.launch().elements(1000);
    /// assert_eq!((launch.grid, launch.block), ([8, 1, 1], [128, 1, 1]));
    /// ```
    #[must_use]
    pub fn launch(&self) -> Launch {
        let threads = self.max_threads.unwrap_or(Self::DEFAULT_BLOCK);
        Launch::default().block(self.exact_block.unwrap_or([threads, 1, 1]))
    }

    /// The grid as the driver counts it, of a launch in whole clusters.
    pub(crate) fn driver_grid(&self, grid: [u32; 3]) -> [u32; 3] {
        match self.cluster.filter(|_| self.grid_of_clusters) {
            Some(cluster) => std::array::from_fn(|axis| grid[axis] / cluster[axis].max(1)),
            None => grid,
        }
    }

    /// Offsets and sizes in bytes of all parameters, the hidden one included, in a block that starts at an address.
    pub(crate) fn layout(&self, base: usize) -> impl Iterator<Item = Place> + '_ {
        let hidden = self.checked.then_some(ParamInfo {
            name: HIDDEN,
            size: 8,
            align: 8,
        });
        let mut end = base;
        self.params.iter().copied().chain(hidden).map(move |param| {
            let start = usize::next_multiple_of(end, param.align.max(1));
            end = start + param.size;
            Place {
                name: param.name,
                offset: start - base,
                size: param.size,
            }
        })
    }

    /// The addresses that tell layouts of the parameter block apart.
    ///
    /// In machine code the block starts at one in the constant bank that depends on the architecture, 0x210 on `sm_90`,
    /// and what has an alignment above 16, a tensor map for one, is aligned there and not in the block.
    pub(crate) fn bases(&self) -> impl Iterator<Item = usize> {
        let aligns = self.params.iter().map(|param| param.align);
        (0..aligns.max().unwrap_or(0).max(1)).step_by(16)
    }

    /// How many arguments a launch passes.
    pub(crate) const fn arguments(&self) -> usize {
        self.params.len() + self.checked as usize
    }
}

/// What messages call the parameter that a kernel's checks report through.
const HIDDEN: &str = "(checks)";

/// Where a parameter lies in the kernel's parameter block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn param(name: &'static str, size: usize, align: usize) -> ParamInfo {
        ParamInfo { name, size, align }
    }

    const INFO: KernelInfo = KernelInfo {
        name: "k",
        entry: "k",
        source: "k.cu:1",
        checked: true,
        max_threads: None,
        exact_block: None,
        min_blocks: None,
        cluster: None,
        grid_of_clusters: false,
        params: &[
            param("a", 1, 1),
            param("b", 8, 8),
            param("c", 12, 4),
            param("d", 16, 16),
        ],
    };

    #[test]
    fn parameters_are_aligned_one_after_the_other() {
        let places: Vec<_> = INFO
            .layout(0)
            .map(|place| (place.offset, place.size))
            .collect();
        assert_eq!(places, [(0, 1), (8, 8), (16, 12), (32, 16), (48, 8)]);
        assert_eq!(INFO.arguments(), 5);
        assert_eq!(INFO.bases().collect::<Vec<_>>(), [0]);
    }

    /// Offsets of `cuFuncGetParamInfo` for kernels with a byte in front, on an H200.
    #[test]
    fn large_alignments_are_those_of_the_address() {
        const fn behind_a_byte(params: &'static [ParamInfo]) -> KernelInfo {
            KernelInfo {
                params,
                checked: false,
                ..INFO
            }
        }
        const MAP: KernelInfo = behind_a_byte(&[param("a", 1, 1), param("map", 128, 128)]);
        const VECTOR: KernelInfo = behind_a_byte(&[param("a", 1, 1), param("v", 32, 32)]);
        let offsets = |info: &KernelInfo| {
            let bases = info.bases();
            let second = |base| info.layout(base).nth(1).map(|place| place.offset);
            bases.filter_map(second).collect::<Vec<_>>()
        };
        assert!(offsets(&MAP).contains(&112));
        assert!(offsets(&VECTOR).contains(&16));
        assert!(!offsets(&VECTOR).contains(&48));
    }

    #[test]
    fn the_kernel_chooses_its_block() {
        assert_eq!(INFO.launch().block, [256, 1, 1]);
        let bounded = KernelInfo {
            max_threads: Some(64),
            ..INFO
        };
        assert_eq!(bounded.launch().block, [64, 1, 1]);
        let exact = KernelInfo {
            exact_block: Some([8, 8, 2]),
            ..bounded
        };
        assert_eq!(exact.launch().block, [8, 8, 2]);
    }

    #[test]
    fn the_driver_counts_blocks_or_clusters() {
        let blocks = KernelInfo {
            cluster: Some([2, 1, 4]),
            ..INFO
        };
        let clusters = KernelInfo {
            grid_of_clusters: true,
            ..blocks
        };
        assert_eq!(INFO.driver_grid([6, 5, 8]), [6, 5, 8]);
        assert_eq!(blocks.driver_grid([6, 5, 8]), [6, 5, 8]);
        assert_eq!(clusters.driver_grid([6, 5, 8]), [3, 5, 2]);
    }
}
