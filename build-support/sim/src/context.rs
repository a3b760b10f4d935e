//! What an executing instruction reaches.

use crate::block::BlockState;
use crate::family::stack::Taken;
use crate::fault::{Fault, Site};
use crate::finding::{Finding, Kind, Thread};
use crate::grid::Grid;
use crate::memory::{Buffer, View};
use crate::program::Code;
use crate::register::File;
use crate::shadow::{Found, Shadow};
use crate::warp::local::Local;
use crate::worker::Worker;

/// What an instruction ends a launch with.
pub(crate) type Stop = Box<Fault>;

/// The surroundings of an instruction that a warp executes.
pub(crate) struct Cx<'a, S: Shadow> {
    pub(crate) file: File<'a>,
    /// The lanes that execute it.
    pub(crate) mask: u32,
    /// The warp's number in its block.
    pub(crate) warp: u32,
    /// Its lanes that have not left.
    pub(crate) live: u32,
    pub(crate) local: &'a mut Local,
    /// Where the frame's local memory begins.
    pub(crate) frame: u32,
    /// What the frame took from the stack beyond its variables.
    pub(crate) taken: &'a mut Taken,
    pub(crate) code: &'a Code,
    /// Index of the instruction in its function.
    pub(crate) pc: u32,
    /// Global memory as the launch sees it.
    pub(crate) view: &'a View,
    /// Shared memory of the blocks of the cluster, by rank.
    pub(crate) shared: &'a [Buffer],
    pub(crate) block: &'a mut BlockState<S>,
    pub(crate) worker: &'a mut Worker,
    pub(crate) grid: &'a Grid<'a, S>,
}

impl<S: Shadow> Cx<'_, S> {
    /// The instruction's number in the module.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        self.code.first + self.pc
    }

    /// Where the frame's local memory ends.
    pub(crate) const fn top(&self) -> u32 {
        self.frame + self.code.local + self.taken.most
    }

    /// The thread of a lane.
    pub(crate) fn thread(&self, lane: usize) -> Thread {
        Thread {
            block: self.block.index,
            thread: self.grid.thread(self.warp * 32 + lane as u32),
        }
    }

    /// The instruction, and a lane that executes it.
    pub(crate) fn site(&self, lane: usize) -> Box<Site> {
        let number = self.number();
        Box::new(Site {
            kernel: self.grid.kernel().to_owned(),
            instruction: self.grid.module.instruction(number),
            place: self.grid.module.place(number),
            thread: self.thread(lane),
        })
    }

    /// A finding of a lane that executes the instruction.
    pub(crate) fn finding(&self, kind: Kind, lane: usize, text: String) -> Box<Finding> {
        let site = self.site(lane);
        Box::new(Finding {
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
        })
    }

    /// A finding that ends the launch.
    pub(crate) fn stop(&self, kind: Kind, lane: usize, text: String) -> Stop {
        Box::new(Fault::Finding(self.finding(kind, lane, text)))
    }

    /// What a shadow found and ends the launch with.
    #[cold]
    pub(crate) fn found(&self, found: &Found) -> Stop {
        Box::new(Fault::Finding(Box::new(self.grid.finding_of(found))))
    }
}
