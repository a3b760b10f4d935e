//! A simulated device.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::fault::Fault;
use crate::grid::{Grid, Setup};
use crate::launch::{Launch, Report};
use crate::memory::{Kind, Memory};
use crate::module::{Function, LoadError, Module};
use crate::options::Options;
use crate::shadow::{self, Checks, LaunchStart, Shadow};

/// Takes what kernels print.
pub type Printer = Box<dyn FnMut(&str) + Send>;

/// A device: memory, and launches on it. All threads may use it at once.
pub struct Device {
    options: Options,
    memory: Arc<Memory>,
    launches: AtomicU64,
    printer: Mutex<Option<Printer>>,
    workspace: Mutex<Option<u64>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// A device with nothing in its memory.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            memory: Arc::new(Memory::with(options.memory, options.uninitialised)),
            options,
            launches: AtomicU64::new(0),
            printer: Mutex::new(None),
            workspace: Mutex::new(None),
        }
    }

    /// What it is and what it checks.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Its global memory.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Where the text goes that kernels print, at the end of each launch. Without one it is only in the report.
    pub fn set_printer(&self, printer: Option<Printer>) {
        *self.printer.lock().unwrap_or_else(PoisonError::into_inner) = printer;
    }

    /// Reads PTX and puts its variables into memory.
    ///
    /// # Errors
    ///
    /// If the text is not PTX, is for a newer device, or its variables do not fit. Instructions that the
    /// simulator does not have are no error before they are executed.
    pub fn load(self: &Arc<Self>, ptx: &str) -> Result<Arc<Module>, LoadError> {
        crate::module::load(&self.memory, self.options.capability, ptx).map(Arc::new)
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    ///
    /// If the launch cannot be, or with what ended it.
    pub fn launch(&self, function: &Function, launch: &Launch) -> Result<Report, Fault> {
        if Checks::wanted(&self.options) {
            self.launch_with(
                function,
                launch,
                &Checks::new(&self.options, function.name()),
            )
        } else {
            self.launch_with(function, launch, &shadow::Off)
        }
    }

    fn launch_with<S: Shadow>(
        &self,
        function: &Function,
        launch: &Launch,
        shadow: &S,
    ) -> Result<Report, Fault> {
        self.check(function, launch)?;
        let workspace = if launch.cooperative {
            self.workspace()
        } else {
            0
        };
        let threads = launch.block.iter().product();
        let shared = function.entry().shared_bytes(launch.shared);
        let setup = Setup {
            memory: &self.memory,
            options: &self.options,
            shadow,
            number: self.launches.fetch_add(1, Ordering::Relaxed),
            resident: self
                .resident(threads, shared)
                .try_into()
                .unwrap_or(u32::MAX),
            workspace,
        };
        shadow.launch(&LaunchStart {
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
        });
        let grid = Grid::new(function.module(), function.entry(), launch, &setup);
        let (result, printed) = grid.run();
        if !printed.is_empty() {
            let mut printer = self.printer.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(printer) = printer.as_mut() {
                printer(&printed);
            }
        }
        result
    }

    /// What the grid barrier of cooperative launches counts in.
    fn workspace(&self) -> u64 {
        const BYTES: u64 = 4096;
        let mut workspace = self
            .workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *workspace.get_or_insert_with(|| self.memory.alloc(BYTES, Kind::Global).unwrap_or(0))
    }

    /// What a driver refuses (CUDA programming guide, "Compute capabilities").
    fn check(&self, function: &Function, launch: &Launch) -> Result<(), Fault> {
        const INVALID: u32 = 1;
        const RESOURCES: u32 = 701;
        const COOPERATIVE: u32 = 720;
        const CLUSTER: u32 = 912;
        let refuse = |code, text: String| {
            Err(Fault::Launch {
                kernel: function.name().to_owned(),
                text,
                code,
            })
        };
        let [x, y, z] = launch.grid;
        if x == 0 || y == 0 || z == 0 || x > i32::MAX as u32 || y > 65535 || z > 65535 {
            return refuse(
                INVALID,
                format!("a grid of {x} x {y} x {z} blocks cannot be"),
            );
        }
        let [x, y, z] = launch.block;
        if x == 0 || y == 0 || z == 0 || x > 1024 || y > 1024 || z > 64 {
            return refuse(
                INVALID,
                format!("a block of {x} x {y} x {z} threads cannot be"),
            );
        }
        let threads = x * y * z;
        if threads > 1024 {
            return refuse(
                INVALID,
                format!("a block of {threads} threads is larger than 1024"),
            );
        }
        if threads > function.max_threads() {
            return refuse(
                RESOURCES,
                format!(
                    "a block of {threads} threads is larger than the {} that the kernel is compiled for",
                    function.max_threads()
                ),
            );
        }
        if let Some(exact) = function.bounds().exact_block
            && exact != launch.block
        {
            return refuse(
                RESOURCES,
                format!(
                    "the kernel needs blocks of {exact:?} threads, not {:?}",
                    launch.block
                ),
            );
        }
        let shared = function.entry().shared_bytes(launch.shared);
        let limit = self.shared_limit();
        if shared > limit {
            return refuse(
                INVALID,
                format!("{shared} bytes of shared memory are more than the {limit} of a block"),
            );
        }
        let local = function.module().code(function.entry().function).local;
        if local > self.options.stack {
            return refuse(
                RESOURCES,
                format!(
                    "a thread needs {local} bytes of local memory, more than {}",
                    self.options.stack
                ),
            );
        }
        let needed = function.param_bytes() as usize;
        if launch.params.len() < needed {
            return refuse(
                INVALID,
                format!(
                    "its parameters take {needed} bytes, {} were passed",
                    launch.params.len()
                ),
            );
        }
        let cluster = launch.cluster;
        let fits = (0..3)
            .all(|axis| cluster[axis] != 0 && launch.grid[axis].is_multiple_of(cluster[axis]));
        let size = cluster.iter().map(|size| u64::from(*size)).product::<u64>();
        if !fits || size > 16 {
            return refuse(
                CLUSTER,
                format!(
                    "clusters of {cluster:?} blocks do not fit a grid of {:?}",
                    launch.grid
                ),
            );
        }
        if let Some(exact) = function.bounds().cluster
            && exact != cluster
        {
            return refuse(
                CLUSTER,
                format!("the kernel needs clusters of {exact:?} blocks, not {cluster:?}"),
            );
        }
        let blocks = launch
            .grid
            .iter()
            .map(|size| u64::from(*size))
            .product::<u64>();
        let resident = self.resident(threads, shared);
        if launch.cooperative && blocks > resident {
            return refuse(
                COOPERATIVE,
                format!("{blocks} blocks cannot be resident at once, {resident} can"),
            );
        }
        Ok(())
    }

    /// Bytes of shared memory that a block may have, static and dynamic.
    #[must_use]
    pub const fn shared_limit(&self) -> u32 {
        let kib = match self.options.capability {
            (7, 5) => 64,
            (7, _) => 96,
            (8, 0 | 7) => 163,
            (8, _) | (12, _) => 99,
            _ => 227,
        };
        kib << 10
    }

    /// Blocks of so many threads and so much shared memory that the device holds at once.
    #[must_use]
    pub fn resident(&self, threads: u32, shared: u32) -> u64 {
        const THREADS: u32 = 2048;
        const BLOCKS: u32 = 32;
        let by_threads = THREADS / threads.next_multiple_of(32).max(32);
        let by_shared = (self.shared_limit() + 1024).checked_div(shared + 1024);
        let each = by_threads.min(by_shared.unwrap_or(BLOCKS)).min(BLOCKS);
        u64::from(each) * u64::from(self.options.multiprocessors.max(1))
    }
}
