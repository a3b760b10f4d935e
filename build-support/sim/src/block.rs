//! A block: its warps, shared memory and barriers.

use crate::barrier::{BARRIERS, Barrier, Misuse};
use crate::context::Stop;
use crate::copies::{Copies, Tracked};
use crate::family::barrier::Op as BarrierOp;
use crate::fault::{Fault, Waiting};
use crate::finding::{Finding, Kind, Thread};
use crate::grid::Grid;
use crate::memory::Buffer;
use crate::register::{File, LANES};
use crate::shadow::{BlockStart, Found, Shadow};
use crate::warp::run::{Outcome, Surroundings};
use crate::warp::{Group, State, Warp};
use crate::worker::Worker;

/// What the warps of a block share.
pub(crate) struct BlockState<S: Shadow> {
    pub(crate) index: [u32; 3],
    /// Its number in the grid.
    pub(crate) linear: u64,
    /// Its number in its cluster.
    pub(crate) rank: u32,
    pub(crate) barriers: Vec<Barrier>,
    /// The lanes of each warp that have not left.
    pub(crate) live: Vec<u32>,
    /// The lanes of each warp that have come to the cluster's barrier.
    pub(crate) cluster: Vec<u32>,
    /// What the first warps copy; see [`copies`](Self::copies).
    pub(crate) copies: Vec<Copies>,
    /// Which `mbarrier`s track `cp.async`s.
    pub(crate) tracked: Vec<Tracked>,
    /// `cp.async`s that were issued.
    pub(crate) issued: u64,
    pub(crate) shadow: S::Block,
    pub(crate) printed: String,
    pub(crate) findings: Vec<Finding>,
    pub(crate) more: u64,
    /// What the shadow found.
    pub(crate) found: Vec<Found>,
    /// Whether some barrier may be complete.
    pending: bool,
}

impl<S: Shadow> BlockState<S> {
    /// Keeps a finding that does not end the launch, if there is room.
    pub(crate) fn note(&mut self, room: usize, finding: Finding) {
        if self.findings.len() < room {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// What a warp copies.
    pub(crate) fn copies(&mut self, warp: u32) -> &mut Copies {
        let warp = warp as usize;
        if self.copies.len() <= warp {
            self.copies.resize_with(warp + 1, Copies::default);
        }
        &mut self.copies[warp]
    }

    /// Lanes of a warp left.
    pub(crate) fn left(&mut self, warp: u32, live: u32) {
        self.live[warp as usize] = live;
        self.pending = true;
    }
}

/// A resident block.
pub(crate) struct Block<S: Shadow> {
    pub(crate) state: BlockState<S>,
    pub(crate) warps: Vec<Warp>,
    /// The order in which warps have their turns.
    order: Vec<u32>,
    pub(crate) done: bool,
}

impl<S: Shadow> Block<S> {
    pub(crate) fn start(grid: &Grid<'_, S>, worker: &mut Worker, linear: u64, rank: u32) -> Self {
        let index = grid.block_index(linear);
        let shadow = grid.shadow.block_start(&BlockStart {
            index,
            linear,
            threads: grid.threads,
            shared: grid.shared_bytes,
        });
        let code = grid.module.code(grid.entry.function);
        let count = grid.warps as usize;
        let mut warps = Vec::with_capacity(count);
        let mut live = Vec::with_capacity(count);
        for number in 0..grid.warps {
            let mut warp = worker.warps.pop().unwrap_or_default();
            let lanes = (grid.threads - number * 32).min(32);
            let lanes = u32::MAX >> (32 - lanes);
            warp.start(number, lanes, grid.entry.function, code, worker);
            warps.push(warp);
            live.push(lanes);
        }
        let mut order: Vec<u32> = (0..grid.warps).collect();
        grid.shuffle(linear, &mut order);
        Self {
            state: BlockState {
                index,
                linear,
                rank,
                barriers: vec![Barrier::default(); BARRIERS],
                cluster: vec![0; count],
                copies: Vec::new(),
                tracked: Vec::new(),
                issued: 0,
                live,
                shadow,
                printed: String::new(),
                findings: Vec::new(),
                more: 0,
                found: Vec::new(),
                pending: false,
            },
            warps,
            order,
            done: false,
        }
    }

    /// Gives every warp that can go on a turn; `shared` is the memory of all blocks of the cluster. Whether any
    /// could.
    pub(crate) fn turn(
        &mut self,
        grid: &Grid<'_, S>,
        worker: &mut Worker,
        shared: &[Buffer],
    ) -> Result<bool, Stop> {
        let mut progress = false;
        let view = worker.view.clone();
        for at in 0..self.order.len() {
            let number = self.order[at] as usize;
            let warp = &mut self.warps[number];
            if warp.dozes {
                warp.rouse(worker.stirs, false);
            }
            if warp.is_done() || !warp.is_ready() {
                continue;
            }
            progress = true;
            let mut around = Surroundings {
                block: &mut self.state,
                worker,
                grid,
                view: &view,
                shared,
            };
            let _: Outcome = warp.run(&mut around)?;
            if self.state.pending {
                self.complete(grid);
            }
        }
        grid.spend(worker)?;
        if worker.stale {
            worker.stale = false;
            worker.view = grid.memory.view();
        }
        if !self.done && self.warps.iter().all(Warp::is_done) {
            self.end(grid, worker);
        }
        Ok(progress)
    }

    /// Tells those that wait for a phase that it is not over. Whether anybody does.
    pub(crate) fn rouse(&mut self, worker: &Worker) -> bool {
        let mut any = false;
        for warp in self.warps.iter_mut().filter(|warp| warp.dozes) {
            warp.rouse(worker.stirs, true);
            any |= warp.is_ready();
        }
        any
    }

    fn end(&mut self, grid: &Grid<'_, S>, worker: &mut Worker) {
        self.done = true;
        grid.shadow.block_end(&mut self.state.shadow);
        self.state.found = grid.shadow.findings(&mut self.state.shadow);
        for mut warp in self.warps.drain(..) {
            warp.recycle(worker);
            worker.warps.push(warp);
        }
    }

    /// Lets those go on whose barrier is complete.
    fn complete(&mut self, grid: &Grid<'_, S>) {
        self.state.pending = false;
        for number in 0..BARRIERS {
            let barrier = &mut self.state.barriers[number];
            if !barrier.is_complete(&self.state.live) {
                continue;
            }
            let (yes, all) = barrier.counted();
            if S::ACTIVE {
                let (members, live) = (&barrier.arrived, &self.state.live);
                (grid.shadow).barrier(&mut self.state.shadow, number as u32, members, live);
            }
            for warp in &mut self.warps {
                // Each instruction takes of these what it asks for.
                warp.release(number as u32, yes << 1 | u32::from(all));
            }
            barrier.reset(self.warps.len());
        }
    }

    /// Who waits for what, for a report of a deadlock.
    pub(crate) fn waiting(&self, grid: &Grid<'_, S>) -> Vec<Waiting> {
        let mut list = Vec::new();
        for warp in &self.warps {
            for group in &warp.groups {
                let function = warp.frames[group.frame as usize].function;
                let number = grid.module.code(function).first + group.pc;
                let lane = group.mask.trailing_zeros();
                let what = match &group.state {
                    State::Ready => continue,
                    State::Barrier { number } => {
                        let (come, expected) = self.state.barriers[*number as usize].progress();
                        let expected = match expected {
                            Some(expected) => expected,
                            None => self.state.live.iter().map(|live| live.count_ones()).sum(),
                        };
                        format!("barrier {number}, to which {come} of {expected} threads came")
                    }
                    State::Cluster => "the cluster's barrier".to_owned(),
                    State::Phase { doze, .. } => format!(
                        "the mbarrier at {:#x}, whose phase has {} of {} arrivals and {} bytes to come",
                        doze.address, doze.phase.pending, doze.phase.expected, doze.phase.bytes
                    ),
                    State::Aligned => "the other lanes of the warp".to_owned(),
                    State::Sync { members, .. } => {
                        format!("the lanes of member mask {members:#010x}")
                    }
                };
                list.push(Waiting {
                    first: Thread {
                        block: self.state.index,
                        thread: grid.thread(warp.index * 32 + lane),
                    },
                    threads: group.mask.count_ones(),
                    instruction: grid.module.instruction(number),
                    place: grid.module.place(number),
                    what,
                });
            }
        }
        list
    }
}

impl Warp {
    /// A group comes to a barrier.
    pub(crate) fn barrier<S: Shadow>(
        &mut self,
        group: Group,
        op: BarrierOp,
        mask: u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        let rest = group.mask & !mask;
        if rest != 0 {
            self.groups.push(group.part(rest, group.pc + 1));
        }
        let BarrierOp::Block {
            number,
            threads,
            wait,
            aligned,
            reduce,
        } = op
        else {
            return self.cluster_barrier(group, op, mask, around);
        };
        let frame = &mut self.frames[group.frame as usize];
        let code = around.grid.module.code(frame.function);
        let file = File {
            registers: &mut frame.registers,
            constants: &code.constants,
        };
        let lane = mask.trailing_zeros() as usize;
        let number: [u32; LANES] = file.get(number);
        let number = number[lane];
        let threads = threads.map(|row| file.get::<u32>(row)[lane]);
        let yes = reduce.map_or(0, |(_, _, p)| file.predicate(p) & mask);
        let instruction = code.first + group.pc;
        let whole = around.grid.warps * 32;
        let wrong = if number as usize >= BARRIERS {
            Some(format!(
                "a block has {BARRIERS} barriers, not number {number}"
            ))
        } else {
            match threads {
                Some(threads) if threads == 0 || threads % 32 != 0 => Some(format!(
                    "{threads} threads take part, which is no multiple of the warp's 32"
                )),
                Some(threads) if threads > whole => Some(format!(
                    "{threads} threads take part, more than the block's {whole}"
                )),
                _ => None,
            }
        };
        if let Some(text) = wrong {
            return Err(self.misuse(Kind::BadBarrier, &group, lane, text, around));
        }
        let barrier = &mut around.block.barriers[number as usize];
        if barrier.arrived.len() != around.grid.warps as usize {
            barrier.reset(around.grid.warps as usize);
        }
        let arrived = barrier.arrive(
            self.index,
            mask,
            threads,
            (aligned, instruction),
            yes.count_ones(),
        );
        if let Err(misuse) = arrived {
            let (kind, text) = match misuse {
                Misuse::Divergence { first } => {
                    let module = around.grid.module;
                    let place = module.place(first).map_or_else(
                        || format!("`{}`", module.instruction(first)),
                        |place| place.to_string(),
                    );
                    let text = format!("other lanes of the warp came to the barrier at {place}");
                    (Kind::BarrierDivergence, text)
                }
                Misuse::Counts { first } => {
                    let count = |threads: Option<u32>| match threads {
                        Some(threads) => format!("{threads} threads"),
                        None => "the whole block".to_owned(),
                    };
                    let text = format!(
                        "the barrier waits for {}, others came to wait for {}",
                        count(threads),
                        count(first)
                    );
                    (Kind::BadBarrier, text)
                }
            };
            return Err(self.misuse(kind, &group, lane, text, around));
        }
        around.block.pending = true;
        if wait {
            let state = State::Barrier { number };
            self.groups.push(group.part(mask, group.pc).waiting(state));
        } else {
            if S::ACTIVE {
                let shadow = around.grid.shadow;
                shadow.arrive(&mut around.block.shadow, number, self.index, mask);
            }
            self.groups.push(group.part(mask, group.pc + 1));
        }
        Ok(())
    }

    #[cold]
    fn misuse<S: Shadow>(
        &self,
        kind: Kind,
        group: &Group,
        lane: usize,
        text: String,
        around: &Surroundings<'_, S>,
    ) -> Stop {
        let site = self.site(group, lane, around);
        Box::new(Fault::Finding(Box::new(Finding {
            kind,
            kernel: site.kernel,
            place: site.place,
            thread: site.thread,
            instruction: site.instruction,
            address: None,
            size: 0,
            space: None,
            allocation: None,
            other: None,
            text,
        })))
    }

    /// The cluster's barrier: arriving marks the lanes, waiting waits until the marks are gone.
    fn cluster_barrier<S: Shadow>(
        &mut self,
        group: Group,
        op: BarrierOp,
        mask: u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        let come = &mut around.block.cluster[self.index as usize];
        let arrive = matches!(op, BarrierOp::ClusterArrive);
        if arrive {
            if *come & mask != 0 {
                let lane = (*come & mask).trailing_zeros() as usize;
                let text = "the thread has not waited since it arrived last".to_owned();
                return Err(self.misuse(Kind::BadBarrier, &group, lane, text, around));
            }
            *come |= mask;
            if S::ACTIVE {
                let shadow = around.grid.shadow;
                shadow.cluster_arrive(&mut around.block.shadow, self.index, mask);
            }
            self.groups.push(group.part(mask, group.pc + 1));
            return Ok(());
        }
        let waits = *come & mask;
        if waits != 0 {
            self.groups
                .push(group.part(waits, group.pc).waiting(State::Cluster));
        }
        if mask & !waits != 0 {
            self.groups.push(group.part(mask & !waits, group.pc + 1));
        }
        Ok(())
    }

    /// Lets the groups that waited for the cluster go on.
    pub(crate) fn release_cluster(&mut self) {
        for group in &mut self.groups {
            if matches!(group.state, State::Cluster) {
                group.state = State::Ready;
                group.released = Some(0);
            }
        }
    }
}
