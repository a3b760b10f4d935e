//! A launch: its blocks, spread over cores.
//!
//! Blocks start in the order of their numbers. Cores take the next ones from a counter, so a block that waits
//! for one before it never waits for ever. The blocks of a cluster run together on one core; those of a
//! cooperative launch are all resident at once, each core taking turns among its share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::block::Block;
use crate::context::Stop;
use crate::fault::{Deadlock, Fault};
use crate::finding::{Finding, Near, Other, Thread};
use crate::launch::{Launch, Report};
use crate::memory::{Buffer, Memory};
use crate::module::{Entry, Module};
use crate::options::{Options, Uninitialised};
use crate::shadow::{Found, Shadow, Space};
use crate::worker::Worker;

/// A launch that runs.
pub(crate) struct Grid<'a, S: Shadow> {
    pub(crate) module: &'a Module,
    pub(crate) entry: &'a Entry,
    pub(crate) launch: &'a Launch,
    pub(crate) memory: &'a Memory,
    pub(crate) shadow: &'a S,
    options: &'a Options,
    /// Rises with every launch of a device.
    pub(crate) number: u64,
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Warps of a block.
    pub(crate) warps: u32,
    /// Bytes of a block's shared memory, static and dynamic.
    pub(crate) shared_bytes: u32,
    /// Blocks that the device holds at once.
    resident: u32,
    /// Where a cooperative launch finds what its grid barrier counts in.
    workspace: u64,
    spent: AtomicU64,
    stopped: AtomicBool,
    /// The fault of the lowest block that had one.
    fault: Mutex<Option<(u64, Stop)>>,
    next: AtomicU64,
    outcome: Mutex<Vec<BlockReport>>,
}

/// Blocks that run together on one core, and their shared memory by rank.
struct Cluster<S: Shadow> {
    shared: Vec<Buffer>,
    blocks: Vec<Block<S>>,
}

/// How long a launch runs on one core before others help.
const ALONE: Duration = Duration::from_micros(200);
/// Warp instructions that resident blocks execute before one more becomes resident.
const PATIENCE: u64 = 1 << 20;

/// What a block leaves behind.
struct BlockReport {
    linear: u64,
    printed: String,
    findings: Vec<Finding>,
    more: u64,
    /// What the shadow found.
    found: Vec<Found>,
}

/// What a launch has beside the module and its arguments.
pub(crate) struct Setup<'a, S: Shadow> {
    pub(crate) memory: &'a Memory,
    pub(crate) options: &'a Options,
    pub(crate) shadow: &'a S,
    pub(crate) number: u64,
    pub(crate) resident: u32,
    pub(crate) workspace: u64,
}

impl<'a, S: Shadow> Grid<'a, S> {
    pub(crate) fn new(
        module: &'a Module,
        entry: &'a Entry,
        launch: &'a Launch,
        setup: &Setup<'a, S>,
    ) -> Self {
        let threads = launch.block.iter().product::<u32>();
        Self {
            module,
            entry,
            launch,
            memory: setup.memory,
            shadow: setup.shadow,
            options: setup.options,
            number: setup.number,
            threads,
            warps: threads.div_ceil(32),
            shared_bytes: entry.shared_bytes(launch.shared),
            resident: setup.resident,
            workspace: setup.workspace,
            spent: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            fault: Mutex::new(None),
            next: AtomicU64::new(0),
            outcome: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn kernel(&self) -> &str {
        &self.entry.name
    }

    pub(crate) const fn options(&self) -> &Options {
        self.options
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.options.multiprocessors.max(1)
    }

    /// The number in the grid of the first block of a block's cluster.
    pub(crate) fn first_of(&self, block: [u32; 3]) -> u64 {
        let cluster = self.launch.cluster.map(|size| size.max(1));
        self.linear([0, 1, 2].map(|axis| block[axis] - block[axis] % cluster[axis]))
    }

    /// Nanoseconds since the epoch, what `%globaltimer` counts.
    pub(crate) fn nanoseconds(&self) -> u64 {
        let epoch = SystemTime::UNIX_EPOCH.elapsed();
        epoch.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// What the driver passes to a launch beside its arguments: the grid barrier's place.
    pub(crate) const fn envreg(&self, number: u8) -> u32 {
        match number {
            1 => (self.workspace >> 32) as u32,
            2 => self.workspace as u32,
            _ => 0,
        }
    }

    /// `threadIdx` of a thread's number in its block.
    pub(crate) fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.block.map(|size| size.max(1));
        [number % x, number / x % y, number / x / y]
    }

    /// `blockIdx` of a block's number in the grid.
    pub(crate) fn block_index(&self, linear: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(|size| u64::from(size.max(1)));
        [
            (linear % x) as u32,
            (linear / x % y) as u32,
            (linear / x / y) as u32,
        ]
    }

    /// The number in the grid of the block with that rank in the cluster of another one.
    pub(crate) fn peer(&self, block: [u32; 3], rank: u32) -> u64 {
        let [x, y, _] = self.launch.cluster.map(|size| size.max(1));
        let at = [rank % x, rank / x % y, rank / x / y];
        let cluster = self.launch.cluster.map(|size| size.max(1));
        self.linear([0, 1, 2].map(|axis| block[axis] - block[axis] % cluster[axis] + at[axis]))
    }

    /// A block's number in the grid.
    fn linear(&self, index: [u32; 3]) -> u64 {
        let [x, y, z] = index.map(u64::from);
        let [width, height, _] = self.launch.grid.map(u64::from);
        x + width * (y + height * z)
    }

    /// A finding of a shadow, with all that is known of it.
    pub(crate) fn finding_of(&self, found: &Found) -> Finding {
        let thread = |block, thread| Thread {
            block: self.block_index(block),
            thread: self.thread(thread),
        };
        let global = found.space != Space::Shared;
        let near = (self.memory.near(found.address)).filter(|_| global);
        Finding {
            kind: found.kind,
            kernel: self.kernel().to_owned(),
            place: self.module.place(found.instruction),
            thread: thread(found.block, found.thread),
            instruction: self.module.instruction(found.instruction),
            address: Some(found.address),
            size: found.bytes,
            space: Some(match found.space {
                Space::Global => "global",
                Space::Shared => "shared",
                Space::Const => "const",
            }),
            allocation: near.map(|info| Near {
                address: info.address,
                bytes: info.bytes,
                name: info.name,
                freed: info.freed,
            }),
            other: found.other.map(|other| Other {
                thread: thread(other.block, other.thread),
                place: self.module.place(other.instruction),
                access: other.access,
            }),
            text: found.text.clone(),
        }
    }

    /// Counts what a worker executed since it last came, against the budget.
    pub(crate) fn spend(&self, worker: &mut Worker) -> Result<(), Stop> {
        let executed = std::mem::take(&mut worker.executed);
        let before = self.spent.fetch_add(executed, Ordering::Relaxed);
        match self.options.budget {
            Some(budget) if before + executed > budget => Err(Box::new(Fault::Budget {
                kernel: self.kernel().to_owned(),
                budget,
            })),
            _ => Ok(()),
        }
    }

    /// Puts a block's warps into another order, by the seed.
    pub(crate) fn shuffle(&self, block: u64, order: &mut [u32]) {
        if self.options.seed == 0 {
            return;
        }
        let mut state = self.options.seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for at in (1..order.len()).rev() {
            // splitmix64
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            order.swap(at, (z % (at as u64 + 1)) as usize);
        }
    }

    /// Runs all blocks.
    pub(crate) fn run(&self) -> (Result<Report, Fault>, String) {
        let product = |sizes: [u32; 3]| sizes.iter().map(|n| u64::from(*n)).product::<u64>();
        let units = product(self.launch.grid) / product(self.launch.cluster).max(1);
        let cores = u64::try_from(self.options.threads).unwrap_or(1);
        let cores = cores.clamp(1, units.max(1));
        std::thread::scope(|scope| {
            let grid = self;
            if grid.launch.cooperative {
                for core in 1..cores {
                    scope.spawn(move || grid.share(units, core, cores));
                }
                grid.share(units, 0, cores);
                return;
            }
            // Most launches are over before another core would have begun.
            let mut worker = grid.worker();
            if grid.core(units, &mut worker, Some(Instant::now() + ALONE)) {
                for _ in 1..cores {
                    scope.spawn(move || grid.core(units, &mut grid.worker(), None));
                }
                grid.core(units, &mut worker, None);
            }
        });
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let mut outcome = std::mem::take(&mut *outcome);
        outcome.sort_by_key(|report| report.linear);
        let mut report = Report {
            instructions: self.spent.load(Ordering::Relaxed),
            ..Report::default()
        };
        // What several blocks find at the same instructions is one finding, the first block's.
        let mut known = HashSet::new();
        for block in outcome {
            report.printed.push_str(&block.printed);
            let found = (block.found.iter())
                .filter(|found| known.insert(found.key()))
                .map(|found| self.finding_of(found));
            let found: Vec<_> = found.collect();
            for finding in block.findings.into_iter().chain(found) {
                if self
                    .options
                    .allow
                    .iter()
                    .any(|allowed| allowed.is(&finding))
                {
                    report.allowed.push(finding);
                } else if report.findings.len() < self.options.findings {
                    report.findings.push(finding);
                } else {
                    report.more += 1;
                }
            }
            report.more += block.more;
        }
        let printed = report.printed.clone();
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = fault.take();
        match fault {
            Some((_, fault)) => (Err(*fault), printed),
            None => (Ok(report), printed),
        }
    }

    fn worker(&self) -> Worker {
        Worker::new(self.memory.view(), self.module.instructions())
    }

    /// What one core does of a cooperative launch.
    fn share(&self, units: u64, core: u64, cores: u64) {
        let mut worker = self.worker();
        let share = (core..units).step_by(cores as usize);
        let resident: Vec<_> = share.map(|unit| self.start(unit, &mut worker)).collect();
        self.finish(resident, &mut worker, || None);
    }

    /// Runs one cluster after the other. Whether there may be more when the time was over.
    fn core(&self, units: u64, worker: &mut Worker, until: Option<Instant>) -> bool {
        let next = || {
            let unit = self.next.fetch_add(1, Ordering::Relaxed);
            (unit < units && !self.stopped.load(Ordering::Relaxed)).then_some(unit)
        };
        while let Some(unit) = next() {
            let first = self.start(unit, worker);
            self.finish(vec![first], worker, next);
            if until.is_some_and(|until| Instant::now() > until) {
                return true;
            }
        }
        false
    }

    /// The blocks of a cluster.
    fn cluster(&self, unit: u64) -> Vec<u64> {
        let cluster = self.launch.cluster.map(|size| size.max(1));
        let [width, height, _] =
            [0, 1, 2].map(|axis| u64::from(self.launch.grid[axis] / cluster[axis]));
        let [x, y, z] = [
            (unit % width) as u32,
            (unit / width % height) as u32,
            (unit / width / height) as u32,
        ];
        let mut blocks = Vec::new();
        for dz in 0..cluster[2] {
            for dy in 0..cluster[1] {
                for dx in 0..cluster[0] {
                    blocks.push(self.linear([
                        x * cluster[0] + dx,
                        y * cluster[1] + dy,
                        z * cluster[2] + dz,
                    ]));
                }
            }
        }
        blocks
    }

    /// Makes the blocks of a cluster resident.
    fn start(&self, unit: u64, worker: &mut Worker) -> Cluster<S> {
        let mut cluster = Cluster {
            shared: Vec::new(),
            blocks: Vec::new(),
        };
        let byte = match self.options.uninitialised {
            Uninitialised::Nan => u8::MAX,
            _ => 0,
        };
        for (rank, linear) in self.cluster(unit).into_iter().enumerate() {
            (cluster.shared).extend(worker.take_shared(self.shared_bytes as usize, byte));
            let block = Block::start(self, worker, linear, rank as u32);
            cluster.blocks.push(block);
        }
        cluster
    }

    /// Runs clusters that are resident together to their end. A block may wait for one that comes after it, as long
    /// as both fit the device; so if it takes long, others become resident as well.
    fn finish(
        &self,
        mut resident: Vec<Cluster<S>>,
        worker: &mut Worker,
        mut next: impl FnMut() -> Option<u64>,
    ) {
        let most = 1 + self.resident / self.launch.cluster.iter().product::<u32>().max(1);
        let mut patience = worker.steps + PATIENCE;
        loop {
            match self.turn(&mut resident, worker) {
                Ok(true) => {}
                Ok(false) => break,
                Err((linear, stop)) => {
                    self.stop(linear, stop);
                    break;
                }
            }
            if worker.steps > patience && resident.len() < most as usize {
                patience = worker.steps + PATIENCE;
                if let Some(unit) = next() {
                    resident.push(self.start(unit, worker));
                }
            }
            resident.retain_mut(|cluster| {
                let done = cluster.blocks.iter().all(|block| block.done);
                if done {
                    self.report(cluster, worker);
                }
                !done
            });
        }
        for cluster in &mut resident {
            self.report(cluster, worker);
        }
    }

    /// Keeps what a cluster printed and found, and gives its memory back.
    fn report(&self, cluster: &mut Cluster<S>, worker: &mut Worker) {
        worker.shared.append(&mut cluster.shared);
        let first = cluster.blocks.first().map(|block| block.state.linear);
        (worker.flights).retain(|flight| Some(flight.cluster) != first);
        for block in cluster.blocks.drain(..) {
            let state = block.state;
            let silent = state.printed.is_empty() && state.findings.is_empty();
            if silent && state.more == 0 && state.found.is_empty() {
                continue;
            }
            let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.push(BlockReport {
                linear: state.linear,
                printed: state.printed,
                findings: state.findings,
                more: state.more,
                found: state.found,
            });
        }
    }

    /// Gives every resident block a turn. Whether some are left.
    fn turn(&self, resident: &mut [Cluster<S>], worker: &mut Worker) -> Result<bool, (u64, Stop)> {
        let mut progress = false;
        let mut left = None;
        for cluster in &mut *resident {
            for block in &mut cluster.blocks {
                if block.done {
                    continue;
                }
                let linear = block.state.linear;
                let turn = block.turn(self, worker, &cluster.shared);
                progress |= turn.map_err(|stop| (linear, stop))?;
                if !block.done {
                    left.get_or_insert(linear);
                }
            }
            progress |= meet(self, &mut cluster.blocks);
        }
        match left {
            None => Ok(false),
            Some(_) if !progress && self.rouse(resident, worker) => Ok(true),
            Some(linear) if !progress => Err((linear, self.deadlock(resident))),
            Some(linear) => Ok(!(self.stopped.load(Ordering::Relaxed) && self.is_beaten(linear))),
        }
    }

    /// Tells threads that wait for a phase of an `mbarrier` that it is not over, so that they can look elsewhere. Whether
    /// there are any, and it was not told to them so often that nothing else will come of it.
    fn rouse(&self, resident: &mut [Cluster<S>], worker: &mut Worker) -> bool {
        const PATIENCE: u32 = 1 << 14;
        let (count, stirs) = worker.idle;
        let count = if stirs == worker.stirs { count } else { 0 };
        worker.idle = (count + 1, worker.stirs);
        let mut any = false;
        let blocks = resident.iter_mut().flat_map(|cluster| &mut cluster.blocks);
        if count < PATIENCE {
            blocks.for_each(|block| any |= block.rouse(worker));
        }
        any
    }

    /// Whether a block before that one has had a fault, so that what comes of it does not matter.
    fn is_beaten(&self, linear: u64) -> bool {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        (fault.as_ref()).is_some_and(|(block, _)| *block < linear || self.launch.cooperative)
    }

    fn stop(&self, linear: u64, stop: Stop) {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if fault.as_ref().is_none_or(|(block, _)| linear < *block) {
            *fault = Some((linear, stop));
        }
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn deadlock(&self, resident: &[Cluster<S>]) -> Stop {
        const SHOWN: usize = 16;
        let blocks = resident.iter().flat_map(|cluster| &cluster.blocks);
        let blocks = blocks.filter(|block| !block.done);
        let mut waiting: Vec<_> = blocks.flat_map(|block| block.waiting(self)).collect();
        let more = waiting.len().saturating_sub(SHOWN);
        waiting.truncate(SHOWN);
        Box::new(Fault::Deadlock(Box::new(Deadlock {
            kernel: self.kernel().to_owned(),
            waiting,
            more,
        })))
    }
}

/// Completes the barrier of a cluster if all its threads have come. Whether it did.
fn meet<S: Shadow>(grid: &Grid<'_, S>, cluster: &mut [Block<S>]) -> bool {
    let anyone = |block: &Block<S>| block.state.cluster.iter().any(|come| *come != 0);
    let all = |block: &Block<S>| {
        let mut warps = block.state.cluster.iter().zip(&block.state.live);
        warps.all(|(come, live)| come & live == *live)
    };
    if !cluster.iter().any(anyone) || !cluster.iter().all(all) {
        return false;
    }
    if S::ACTIVE {
        let shadows = cluster.iter_mut().map(|block| &mut block.state.shadow);
        grid.shadow
            .cluster_barrier(&mut shadows.collect::<Vec<_>>());
    }
    for block in cluster {
        block.state.cluster.fill(0);
        for warp in &mut block.warps {
            warp.release_cluster();
        }
    }
    true
}
