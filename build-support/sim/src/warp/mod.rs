//! A warp: up to 32 threads that execute together where they are at the same place.
//!
//! - here: the groups that a warp falls into, and which of them runs
//! - `run`: executing instructions
//! - `call`: calling and returning
//! - `sync`: lanes that wait for others of their warp; `align`: all lanes that wait for all
//! - `local`: local memory
//!
//! Threads go their own ways (CUDA programming guide, "Independent thread scheduling"). Those at the same place
//! with the same calls behind them form a group. The group that is deepest in calls and then lowest in the
//! code runs, so that others that are further on are met again; but none runs for ever while others wait,
//! so that a lane can spin until another lane has done its part.

mod align;
pub(crate) mod call;
pub(crate) mod local;
pub(crate) mod run;
pub(crate) mod sync;

use self::local::Local;
use crate::family::mbarrier::{Doze, FAILED};
use crate::family::stack::Taken;
use crate::family::warp::Captured;
use crate::program::Code;
use crate::register::Registers;
use crate::worker::Worker;

/// No frame: what the kernel's own frame was called from.
pub(crate) const NONE: u32 = u32::MAX;

/// A call that some lanes are in.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) function: u32,
    /// The caller's frame.
    pub(crate) parent: u32,
    /// Index in the caller of the call.
    pub(crate) site: u32,
    /// Calls behind it.
    pub(crate) depth: u32,
    /// The lanes that are in it, or in calls from it.
    pub(crate) lanes: u32,
    /// Where its local memory begins.
    pub(crate) base: u32,
    /// What it took from the stack beyond its variables.
    pub(crate) taken: Taken,
    pub(crate) registers: Registers,
}

/// What a group waits for.
#[derive(Debug)]
pub(crate) enum State {
    Ready,
    /// A barrier of the block.
    Barrier {
        number: u32,
    },
    /// The barrier of the cluster.
    Cluster,
    /// The end of a phase of an `mbarrier`; and what had happened to all of them until then.
    Phase {
        doze: Doze,
        stirs: u64,
    },
    /// All other lanes of the warp.
    Aligned,
    /// Other lanes of the warp, named by the mask.
    Sync {
        members: u32,
        captured: Box<Captured>,
    },
}

/// Lanes at the same place.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) frame: u32,
    pub(crate) state: State,
    /// What the barrier gave that it waited for and now may pass.
    pub(crate) released: Option<u32>,
    /// When it last ran.
    turn: u32,
}

/// A warp.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    /// Its number in its block.
    pub(crate) index: u32,
    /// Lanes that have not left.
    pub(crate) live: u32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) groups: Vec<Group>,
    pub(crate) local: Local,
    /// Whether some group may wait for a phase.
    pub(crate) dozes: bool,
    turn: u32,
}

impl Warp {
    /// Begins a kernel.
    pub(crate) fn start(
        &mut self,
        index: u32,
        lanes: u32,
        function: u32,
        code: &Code,
        worker: &mut Worker,
    ) {
        self.index = index;
        self.live = lanes;
        self.turn = 0;
        self.dozes = false;
        self.groups.clear();
        self.recycle(worker);
        self.local.clear();
        self.local.reserve(code.local);
        let mut registers = worker.registers.pop().unwrap_or_default();
        registers.prepare(code.counts, code.zero);
        self.frames.push(Frame {
            function,
            parent: NONE,
            site: 0,
            depth: 0,
            lanes,
            base: 0,
            taken: Taken::default(),
            registers,
        });
        self.groups.push(Group {
            pc: 0,
            mask: lanes,
            frame: 0,
            state: State::Ready,
            released: None,
            turn: 0,
        });
    }

    /// Gives the registers of all frames back.
    pub(crate) fn recycle(&mut self, worker: &mut Worker) {
        for frame in self.frames.drain(..) {
            worker.registers.push(frame.registers);
        }
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.live == 0
    }

    /// Whether some group can go on.
    pub(crate) fn is_ready(&self) -> bool {
        (self.groups.iter()).any(|group| matches!(group.state, State::Ready))
    }

    /// Lets those go on that wait for a phase, if something happened since; or, with `all`, tell them that it
    /// is not over.
    pub(crate) fn rouse(&mut self, now: u64, all: bool) {
        self.dozes = false;
        for group in &mut self.groups {
            if let State::Phase { doze, stirs } = group.state {
                if stirs != now || all {
                    group.state = State::Ready;
                    group.released = Some(if all { FAILED } else { doze.phase.number });
                } else {
                    self.dozes = true;
                }
            }
        }
    }

    /// Takes the group to run, with all that are at its place. `fair` takes the one that has waited longest.
    fn pick(&mut self, fair: bool) -> Option<Group> {
        if self.groups.len() == 1 && matches!(self.groups[0].state, State::Ready) {
            return self.groups.pop();
        }
        let ready = |group: &&Group| matches!(group.state, State::Ready);
        let order = |group: &&Group| {
            let depth = self.frames[group.frame as usize].depth;
            (u32::MAX - depth, group.pc, group.frame)
        };
        let groups = self.groups.iter().filter(ready);
        let best = if fair {
            groups.min_by_key(|group| group.turn)
        } else {
            groups.min_by_key(order)
        }?;
        let (pc, frame, released) = (best.pc, best.frame, best.released);
        let same = |group: &Group| {
            matches!(group.state, State::Ready)
                && (group.pc, group.frame, group.released) == (pc, frame, released)
        };
        let mut mask = 0;
        self.groups.retain(|group| {
            let merged = same(group);
            mask |= if merged { group.mask } else { 0 };
            !merged
        });
        self.turn += 1;
        Some(Group {
            pc,
            mask,
            frame,
            state: State::Ready,
            released,
            turn: self.turn,
        })
    }

    /// The first place after a group's where another one can be met.
    fn limit(&self, group: &Group) -> u32 {
        (self.groups.iter())
            .filter(|other| matches!(other.state, State::Ready))
            .filter(|other| other.frame == group.frame && other.pc > group.pc)
            .map(|other| other.pc)
            .min()
            .unwrap_or(u32::MAX)
    }
}

impl Group {
    /// Some of a group's lanes, at another place.
    pub(crate) const fn part(&self, mask: u32, pc: u32) -> Self {
        Self {
            pc,
            mask,
            frame: self.frame,
            state: State::Ready,
            released: None,
            turn: self.turn,
        }
    }

    /// The same lanes, which wait.
    pub(crate) fn waiting(self, state: State) -> Self {
        Self { state, ..self }
    }
}
