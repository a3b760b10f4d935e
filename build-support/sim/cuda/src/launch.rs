//! Launches as programs ask for them: what is checked before they are enqueued.

use std::ffi::c_void;
use std::sync::Arc;

use gpuk_sim::Launch;

use crate::code::Code;
use crate::device::{BLOCK, GRID, LARGEST_CLUSTER, PORTABLE_CLUSTER, Profile};
use crate::module::Function;
use crate::module::occupancy::Needs;
use crate::origin::Origin;
use crate::refusal::{Answer, Refusal};
use crate::work::Kernel;

/// Grid, block, and how the blocks go together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    /// As an attribute of the launch asks for; `None` for what the kernel says, or none.
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) cooperative: bool,
}

fn product(of: [u32; 3]) -> u64 {
    of.iter()
        .map(|axis| u64::from(*axis))
        .fold(1, u64::saturating_mul)
}

const AXES: [char; 3] = ['x', 'y', 'z'];

impl Function {
    /// What occupancy depends on.
    pub(crate) fn needs(&self) -> Needs {
        Needs {
            static_shared: self.sim.static_shared(),
            max_dynamic_shared: self.settings.max_dynamic_shared(),
            max_threads: self.sim.max_threads(),
        }
    }

    fn refuse(&self, code: Code, why: impl std::fmt::Display) -> Refusal {
        code.because(format!("kernel `{}`: {why}", self.sim.name()))
    }

    fn invalid(&self, why: impl std::fmt::Display) -> Refusal {
        self.refuse(Code::INVALID_VALUE, why)
    }

    /// Checks grid, block and shared memory (CUDA programming guide, technical specifications).
    fn check_shape(&self, shape: &Shape, profile: &Profile) -> Answer {
        let all = (0..3).map(|axis| ("grid", axis, shape.grid[axis], GRID[axis]));
        let all = all.chain((0..3).map(|axis| ("block", axis, shape.block[axis], BLOCK[axis])));
        for (what, axis, found, most) in all {
            if found == 0 || found > most {
                let axis = AXES[axis];
                return Err(self.invalid(format!(
                    "the {what} is {found} along {axis}; it can be 1 to {most}"
                )));
            }
        }
        let threads = product(shape.block);
        let most = u64::from(self.sim.max_threads().min(profile.threads_per_block));
        if threads > most {
            return Err(self.invalid(format!(
                "blocks of {threads} threads; at most {most} can be"
            )));
        }
        if let Some(required) = self.sim.bounds().exact_block
            && required != shape.block
        {
            return Err(self.invalid(format!(
                "blocks of {:?} threads; the kernel requires {required:?}",
                shape.block
            )));
        }
        let most = self.settings.max_dynamic_shared();
        if shape.shared > most {
            return Err(self.invalid(format!(
                "{} bytes of dynamic shared memory; at most {most} as its attribute is set",
                shape.shared
            )));
        }
        Ok(())
    }

    /// The shape with its grid in blocks, whatever the kernel says that it counts (`.blocksareclusters`).
    fn in_blocks(&self, mut shape: Shape) -> Shape {
        let bounds = self.sim.bounds();
        if let Some(cluster) = bounds.cluster.filter(|_| bounds.grid_of_clusters) {
            shape.grid = std::array::from_fn(|axis| shape.grid[axis].saturating_mul(cluster[axis]));
        }
        shape
    }

    /// The blocks of a cluster as the kernel says (`.reqnctapercluster`, `.explicitcluster`).
    fn own_cluster(&self, shape: &Shape, profile: &Profile) -> Answer<[u32; 3]> {
        let bounds = self.sim.bounds();
        match bounds.cluster {
            Some(_) => self.check_cluster(
                &Shape {
                    cluster: bounds.cluster,
                    ..*shape
                },
                profile,
            ),
            None if bounds.explicit_cluster => Err(self.refuse(
                Code::INVALID_CLUSTER_SIZE,
                "its launches must say how many blocks a cluster has",
            )),
            None => Ok([1; 3]),
        }
    }

    /// The blocks of a cluster.
    fn check_cluster(&self, shape: &Shape, profile: &Profile) -> Answer<[u32; 3]> {
        let Some(cluster) = shape.cluster else {
            return self.own_cluster(shape, profile);
        };
        let blocks = product(cluster);
        let most = if self.settings.takes_large_clusters() {
            LARGEST_CLUSTER
        } else {
            PORTABLE_CLUSTER
        };
        let divides =
            (0..3).all(|axis| cluster[axis] > 0 && shape.grid[axis].is_multiple_of(cluster[axis]));
        if !divides || blocks > u64::from(most) || !profile.has_clusters() {
            return Err(self.refuse(
                Code::INVALID_CLUSTER_SIZE,
                format!(
                    "clusters of {cluster:?} blocks in a grid of {:?}; they divide the grid and have at most {most} blocks",
                    shape.grid
                ),
            ));
        }
        Ok(cluster)
    }

    fn check_cooperative(&self, shape: &Shape, profile: &Profile) -> Answer {
        let threads = i32::try_from(product(shape.block)).unwrap_or(i32::MAX);
        let each = self
            .needs()
            .blocks(threads, u64::from(shape.shared), profile)?;
        let most = u64::from(each) * u64::from(profile.multiprocessors);
        let blocks = product(shape.grid);
        if blocks > most {
            return Err(self.refuse(
                Code::COOPERATIVE_LAUNCH_TOO_LARGE,
                format!("a cooperative grid of {blocks} blocks; {most} fit on the device at once"),
            ));
        }
        Ok(())
    }

    /// Checks the shape alone. Gives the blocks of a cluster.
    pub(crate) fn check(&self, shape: &Shape, profile: &Profile) -> Answer<[u32; 3]> {
        self.check_shape(shape, profile)?;
        let cluster = self.check_cluster(shape, profile)?;
        if shape.cooperative {
            self.check_cooperative(shape, profile)?;
        }
        Ok(cluster)
    }

    /// A launch that can be enqueued.
    pub(crate) fn plan(
        self: &Arc<Self>,
        shape: &Shape,
        params: Vec<u8>,
        profile: &Profile,
    ) -> Answer<Kernel> {
        let shape = &self.in_blocks(*shape);
        let cluster = self.check(shape, profile)?;
        Ok(Kernel {
            function: Arc::clone(self),
            launch: Launch {
                grid: shape.grid,
                block: shape.block,
                cluster,
                shared: shape.shared,
                cooperative: shape.cooperative,
                params,
            },
            origin: Origin::here(),
        })
    }

    /// Bytes of all parameters.
    fn params_len(&self) -> usize {
        let ends = self.sim.params().iter();
        ends.map(|param| param.offset as usize + param.size as usize)
            .max()
            .unwrap_or(0)
    }

    /// The arguments as a launch takes them.
    pub(crate) fn arguments(&self, given: Arguments) -> Answer<Vec<u8>> {
        let len = self.params_len();
        let mut bytes = vec![0; len];
        match given {
            Arguments::Pointers(pointers) => {
                for (index, param) in self.sim.params().iter().enumerate() {
                    let pointer = pointers.get(index).filter(|pointer| !pointer.0.is_null());
                    let pointer = pointer.ok_or_else(|| {
                        self.invalid(format!(
                            "argument {index} of {} is null",
                            self.sim.params().len()
                        ))
                    })?;
                    let place = bytes
                        .get_mut(param.offset as usize..)
                        .and_then(|rest| rest.get_mut(..param.size as usize));
                    if let Some(place) = place {
                        pointer.read(place);
                    }
                }
            }
            Arguments::Buffer { buffer, size } => {
                if size > len.next_multiple_of(4) || (size > 0 && buffer.0.is_null()) {
                    return Err(self.refuse(
                        Code::LAUNCH_OUT_OF_RESOURCES,
                        format!("{size} bytes of arguments; its parameters have {len}"),
                    ));
                }
                if size < len {
                    // The driver does not mind, and the kernel gets zeros.
                    let text = self.invalid(format!(
                        "only {size} bytes of arguments; its parameters have {len}"
                    ));
                    crate::log::line(crate::log::Level::Error, &text.why);
                }
                let size = size.min(len);
                if let Some(place) = bytes.get_mut(..size) {
                    buffer.read(place);
                }
            }
        }
        Ok(bytes)
    }

    /// How many pointers a launch has to give.
    pub(crate) fn params_count(&self) -> usize {
        self.sim.params().len()
    }
}

/// Memory of the program that an argument is read from.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Source(pub(crate) *const c_void);

impl Source {
    #[expect(unsafe_code, reason = "arguments come as pointers without a type")]
    fn read(self, place: &mut [u8]) {
        // SAFETY: the program's promise that each argument is as large as the parameter.
        unsafe {
            self.0
                .cast::<u8>()
                .copy_to_nonoverlapping(place.as_mut_ptr(), place.len());
        }
    }
}

/// Arguments as `cuLaunchKernel` takes them.
#[derive(Debug, Clone)]
pub(crate) enum Arguments {
    /// A pointer to each.
    Pointers(Vec<Source>),
    /// All in one.
    Buffer {
        /// Where.
        buffer: Source,
        /// Its bytes.
        size: usize,
    },
}
