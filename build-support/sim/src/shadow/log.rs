//! What the threads of a block did since all of them last met, to find out who it was exactly where a page has only
//! several of them together.

use super::page::{MANY, Slot, Who};
use crate::register::{LANES, lanes_of};

/// Of how many accesses of a warp account is kept at most. Of those before it is not known who it was.
const KEPT: usize = 2048;

/// What an access is to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Read,
    Write,
    /// Both at once.
    Atomic,
}

impl Class {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
        }
    }
}

/// An access of a warp.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) area: u64,
    pub(super) time: u32,
    pub(super) who: Who,
    pub(super) class: Class,
    pub(super) bytes: u32,
    pub(super) mask: u32,
    /// The low half of each lane's offset.
    pub(super) offsets: [u32; LANES],
}

/// The accesses of each warp, the oldest first.
#[derive(Debug)]
pub(super) struct Log(Vec<Vec<Entry>>);

impl Log {
    pub(super) fn new(warps: usize) -> Self {
        Self((0..warps).map(|_| Vec::new()).collect())
    }

    #[inline(always)]
    pub(super) fn push(&mut self, warp: u32, entry: Entry) {
        let Some(entries) = self.0.get_mut(warp as usize) else {
            return;
        };
        if entries.len() == KEPT {
            entries.drain(..KEPT / 2);
        }
        entries.push(entry);
    }

    /// All threads know all of it.
    pub(super) fn clear(&mut self) {
        for entries in &mut self.0 {
            entries.clear();
        }
    }

    /// The accesses of bytes of an area that a slot stands for, by thread, the last one first.
    pub(super) fn of(
        &self,
        slot: Slot,
        area: u64,
        (offset, bytes): (u32, u32),
    ) -> impl Iterator<Item = (u32, &Entry)> {
        let warps = match slot.who.warp() {
            MANY => 0..self.0.len(),
            warp => warp as usize..(warp as usize + 1).min(self.0.len()),
        };
        let entries =
            warps.flat_map(|warp| self.0[warp].iter().rev().map(move |entry| (warp, entry)));
        entries
            .filter(move |(_, entry)| entry.area == area && entry.time <= slot.time)
            .flat_map(move |(warp, entry)| {
                let hit = move |lane: &usize| {
                    let other = entry.offsets[*lane];
                    other < offset.saturating_add(bytes)
                        && offset < other.saturating_add(entry.bytes)
                };
                let lanes = lanes_of(entry.mask).filter(hit);
                lanes.map(move |lane| (warp as u32 * 32 + lane as u32, entry))
            })
    }
}
