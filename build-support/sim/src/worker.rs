//! What a core that runs blocks keeps from one to the next.

use crate::copies::Flight;
use crate::memory::{Buffer, View};
use crate::register::{LANES, Registers};
use crate::warp::Warp;

/// The state of a core.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    /// Global memory as it was last looked at.
    pub(crate) view: View,
    /// Whether something was allocated or freed since.
    pub(crate) stale: bool,
    /// For each instruction of the module, the allocation it accessed last.
    pub(crate) hints: Vec<u32>,
    /// Registers that no frame uses.
    pub(crate) registers: Vec<Registers>,
    /// Shared memory that no block uses.
    pub(crate) shared: Vec<Buffer>,
    /// Warps that no block uses.
    pub(crate) warps: Vec<Warp>,
    /// Thread instructions executed.
    pub(crate) executed: u64,
    /// Warp instructions executed, but for those of the slice that runs.
    pub(crate) steps: u64,
    /// Warp instructions executed when the clock was last read.
    pub(crate) now: u64,
    /// Bytes on their way to shared memory.
    pub(crate) flights: Vec<Flight>,
    /// Rises with all that happens to `mbarrier`s.
    pub(crate) stirs: u64,
    /// How often nobody could go on but those that were told that a phase is not over, and what had happened then.
    pub(crate) idle: (u32, u64),
    /// `threadIdx` of each warp of a block, an axis after the other.
    tids: Vec<[[u32; LANES]; 3]>,
}

impl Worker {
    /// A core that runs a module of so many instructions.
    pub(crate) fn new(view: View, instructions: usize) -> Self {
        Self {
            view,
            hints: vec![0; instructions],
            ..Self::default()
        }
    }

    /// Shared memory for a block, every byte the same; `None` if the host has no more.
    pub(crate) fn take_shared(&mut self, bytes: usize, byte: u8) -> Option<Buffer> {
        let used = self.shared.pop();
        let clean = used.is_none() && byte == 0;
        let buffer = match used {
            Some(buffer) => buffer,
            None => Buffer::zeroed(bytes, 1024)?,
        };
        if !clean {
            buffer.fill(byte);
        }
        Some(buffer)
    }

    /// A clock that only rises, the same in every run.
    pub(crate) const fn clock(&self) -> u64 {
        // A warp instruction takes some cycles.
        self.now * 4
    }

    /// `threadIdx` of a warp's lanes, along one axis.
    pub(crate) fn tid(&mut self, warp: u32, axis: u8, block: [u32; 3]) -> [u32; LANES] {
        while self.tids.len() <= warp as usize {
            let first = self.tids.len() as u32 * LANES as u32;
            let mut rows = [[0; LANES]; 3];
            for lane in 0..LANES {
                let thread = first + lane as u32;
                rows[0][lane] = thread % block[0];
                rows[1][lane] = thread / block[0] % block[1];
                rows[2][lane] = thread / block[0] / block[1];
            }
            self.tids.push(rows);
        }
        self.tids[warp as usize][axis as usize % 3]
    }
}
