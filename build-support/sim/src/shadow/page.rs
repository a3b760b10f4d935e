//! Who accessed which bytes last.
//!
//! An area is an allocation or a block's shared memory. Its pages are made when they are first accessed and have an
//! entry for each word, or for each smaller unit once smaller ones are accessed: the last plain write, and those
//! accesses since that a later one may be in conflict with, several of them taken together where they come from one
//! block. Blocks of one launch run on several cores, so each page has a lock, which is rarely waited for.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a page.
pub(super) const PAGE: u64 = 1024;
/// Bytes of a word.
const WORD: u32 = 4;
/// Who, if not the lanes of one warp.
pub(super) const MANY: u32 = 63;

/// Accesses of one block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) block: u32,
    /// The last one's time; 0 for none.
    pub(super) time: u32,
    /// The lanes of a warp.
    pub(super) lanes: u32,
    pub(super) who: Who,
}

/// The instruction, the warp, and what kind of accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Who(u32);

impl Who {
    const INSTRUCTION: u32 = (1 << 23) - 1;
    const WARP: u32 = 23;
    /// Not a weak access.
    pub(super) const STRONG: u32 = 1 << 29;
    /// For other blocks too.
    pub(super) const WIDE: u32 = 1 << 30;
    /// `.volatile`.
    pub(super) const VOLATILE: u32 = 1 << 31;

    pub(super) const fn new(instruction: u32, warp: u32, flags: u32) -> Self {
        Self(instruction & Self::INSTRUCTION | warp << Self::WARP | flags)
    }

    pub(super) const fn instruction(self) -> u32 {
        self.0 & Self::INSTRUCTION
    }

    /// The warp, or [`MANY`].
    pub(super) const fn warp(self) -> u32 {
        self.0 >> Self::WARP & 63
    }

    /// Whether all but the instruction is the same.
    pub(super) const fn is_alike(self, other: Self) -> bool {
        (self.0 ^ other.0) & !Self::INSTRUCTION == 0
    }

    pub(super) const fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    pub(super) const fn flags(self) -> u32 {
        self.0 & (Self::STRONG | Self::WIDE | Self::VOLATILE)
    }
}

impl Slot {
    pub(super) const fn is_some(self) -> bool {
        self.time != 0
    }

    /// The thread, if it is one.
    pub(super) const fn thread(self) -> Option<u32> {
        let one = self.who.warp() != MANY && self.lanes.is_power_of_two();
        if one {
            Some(self.who.warp() * 32 + self.lanes.trailing_zeros())
        } else {
            None
        }
    }

    /// Takes another access of the block with it; what all know, up to `floor`, need not be kept.
    #[inline(always)]
    pub(super) fn add(&mut self, new: Self, floor: u32) {
        if self.time <= floor || *self == new {
            *self = new;
            return;
        }
        let warp = if self.who.warp() == new.who.warp() {
            new.who.warp()
        } else {
            MANY
        };
        // One that is weaker stands for all; one that is volatile too.
        let both = self.who.flags() & new.who.flags() & (Who::STRONG | Who::WIDE);
        let either = (self.who.flags() | new.who.flags()) & Who::VOLATILE;
        *self = Self {
            lanes: self.lanes | new.lanes,
            who: Who::new(new.who.instruction(), warp, both | either),
            ..new
        };
    }
}

/// The last two blocks' accesses.
pub(super) type Pair = [Slot; 2];

/// Adds an access; of more than two blocks the last two are kept.
pub(super) fn add(pair: &mut Pair, new: Slot, floor: u32) {
    if pair[0].block == new.block || !pair[0].is_some() {
        pair[0].add(new, floor);
    } else if pair[1].block == new.block || !pair[1].is_some() {
        pair[1].add(new, floor);
        pair.swap(0, 1);
    } else {
        *pair = [new, pair[0]];
    }
}

/// The last plain write, and a block that read since.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Head {
    pub(super) write: Slot,
    pub(super) read: Slot,
}

/// The accesses of some bytes.
#[derive(Debug)]
pub(super) struct Page {
    /// Bytes of an entry, as a power of two.
    pub(super) shift: u32,
    pub(super) heads: Vec<Head>,
    /// The other blocks that read; empty if there are none.
    pub(super) others: Vec<Slot>,
    /// Strong writes and atomic operations; empty if there are none.
    pub(super) strong: Vec<Pair>,
    /// Bytes that were read as non-coherent, one bit each; empty if there are none.
    pub(super) non_coherent: Vec<u64>,
}

impl Page {
    fn new() -> Self {
        let shift = WORD.trailing_zeros();
        Self {
            shift,
            heads: vec![Head::default(); (PAGE >> shift) as usize],
            others: Vec::new(),
            strong: Vec::new(),
            non_coherent: Vec::new(),
        }
    }

    /// Has entries of at most `bytes`.
    #[cold]
    pub(super) fn split(&mut self, bytes: u32) {
        fn each<T: Copy>(all: &mut Vec<T>, times: usize) {
            *all = all
                .iter()
                .flat_map(|one| std::iter::repeat_n(*one, times))
                .collect();
        }
        let shift = bytes.trailing_zeros().min(self.shift);
        let times = 1 << (self.shift - shift);
        self.shift = shift;
        each(&mut self.heads, times);
        each(&mut self.others, times);
        each(&mut self.strong, times);
    }

    /// The other blocks that read.
    pub(super) fn others(&mut self) -> &mut [Slot] {
        if self.others.is_empty() {
            self.others = vec![Slot::default(); self.heads.len()];
        }
        &mut self.others
    }

    /// Strong writes and atomic operations.
    pub(super) fn strong(&mut self) -> &mut [Pair] {
        if self.strong.is_empty() {
            self.strong = vec![Pair::default(); self.heads.len()];
        }
        &mut self.strong
    }
}

/// An allocation, or a block's shared memory.
#[derive(Debug)]
pub(super) struct Area {
    /// A number that no other area of the launch has.
    pub(super) number: u64,
    /// The first page's first address.
    pub(super) start: u64,
    pages: Box<[Mutex<Option<Box<Page>>>]>,
}

impl Area {
    pub(super) fn new(number: u64, base: u64, bytes: u64) -> Self {
        let start = base / PAGE * PAGE;
        let pages = (base + bytes - start).div_ceil(PAGE);
        Self {
            number,
            start,
            pages: (0..pages).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// The page of an offset from [`start`](Self::start), made if it is not there.
    #[inline(always)]
    pub(super) fn page(&self, offset: u64) -> Option<MutexGuard<'_, Option<Box<Page>>>> {
        let page = self.pages.get((offset / PAGE) as usize)?;
        let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
        if page.is_none() {
            *page = Some(Box::new(Page::new()));
        }
        Some(page)
    }
}
