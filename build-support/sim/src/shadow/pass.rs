//! What can be told of an access by a page alone: nearly always that it is ordered after the others. What else there
//! is are doubts, for `race` to look into.
//!
//! These loops run for each lane of each access, so they settle what is common first: lanes that read one place or
//! one after the other, places that several warps read again and again.

use super::log::Class;
use super::page::{self, Head, PAGE, Page, Slot, Who};
use crate::register::{ALL, LANES, lanes_of};

/// What of it is the same for all lanes.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) me: u32,
    pub(super) warp: u32,
    pub(super) stamp: u32,
    /// Up to when all threads of the block know of all, and the lanes of the warp of each other.
    pub(super) floors: (u32, u32),
    pub(super) who: Who,
    pub(super) bytes: u32,
}

impl Common {
    /// Whether it is clear that a lane knows the accesses of a slot.
    #[inline(always)]
    const fn knows(&self, slot: Slot, lane: u32) -> bool {
        if slot.block != self.me {
            return !slot.is_some();
        }
        let own = slot.who.warp() == self.warp;
        slot.time <= self.floors.0 || own && (slot.time <= self.floors.1 || slot.lanes == lane)
    }

    const fn slot(&self, lane: u32) -> Slot {
        Slot {
            block: self.me,
            time: self.stamp,
            lanes: lane,
            who: self.who,
        }
    }
}

/// Accesses that a lane may not know of, and what they were.
pub(super) type Doubt = (usize, Slot, Class);

/// Compares the lanes of an access that lie in a page with what it has, and takes them down there.
#[inline(always)]
pub(super) fn in_page(
    class: Class,
    page: &mut Page,
    common: &Common,
    offsets: &[u64; LANES],
    part: u32,
    doubts: &mut Vec<Doubt>,
) {
    let strong = common.who.has(Who::STRONG);
    let simple = page.strong.is_empty() && page.others.is_empty();
    let whole = common.bytes == 1 << page.shift;
    if part == ALL && simple && whole && class == Class::Read {
        let mut runs = Runs::new(offsets, common.bytes);
        while let Some(run) = runs.next() {
            read_run(page, common, offsets[run.0], run, doubts);
        }
        return;
    }
    for lane in lanes_of(part) {
        heed_strong(page, common, offsets[lane], lane, doubts);
        match class {
            Class::Read => read(page, common, offsets[lane], lane, doubts),
            Class::Write if !strong => write(page, common, offsets[lane], lane, doubts),
            _ => write_strong(page, common, offsets[lane], lane, doubts),
        }
    }
}

/// The entries of a page that an access concerns.
#[inline(always)]
pub(super) fn entries(page: &Page, bytes: u32, offset: u64) -> std::ops::Range<usize> {
    let first = (offset % PAGE) as usize >> page.shift;
    let count = (bytes >> page.shift).max(1) as usize;
    first..(first + count).min(page.heads.len())
}

/// Lanes one after the other that access one place, or one place after the other: the first lane, how many, and
/// whether the places differ.
struct Runs {
    alike: u32,
    consecutive: u32,
    lane: usize,
}

impl Runs {
    #[inline(always)]
    fn new(offsets: &[u64; LANES], bytes: u32) -> Self {
        let bytes = u64::from(bytes);
        let (mut alike, mut consecutive) = (0, 0);
        for lane in 1..LANES {
            let step = offsets[lane].wrapping_sub(offsets[lane - 1]);
            alike |= u32::from(step == 0) << lane;
            consecutive |= u32::from(step == bytes) << lane;
        }
        Self {
            alike,
            consecutive,
            lane: 0,
        }
    }

    #[inline(always)]
    const fn next(&mut self) -> Option<(usize, usize, bool)> {
        if self.lane >= LANES {
            return None;
        }
        let first = self.lane;
        // Above the last lane there are zeros, where a run ends.
        let same = (!((self.alike as u64) >> (first + 1))).trailing_zeros() as usize;
        let next = (!((self.consecutive as u64) >> (first + 1))).trailing_zeros() as usize;
        let count = 1 + if same > next { same } else { next };
        self.lane += count;
        Some((first, count, same == 0))
    }
}

/// As [`read`], for whole entries that one lane after the other reads, or all of them the same one, and that only
/// the block itself has accessed so far.
#[inline(always)]
fn read_run(
    page: &mut Page,
    common: &Common,
    offset: u64,
    (lane, count, apart): (usize, usize, bool),
    doubts: &mut Vec<Doubt>,
) {
    let first = (offset % PAGE) as usize >> page.shift;
    // A run may go on in the next page's place, were it not cut there.
    let places = if apart { count } else { 1 };
    let bits = if apart {
        1
    } else {
        u32::MAX >> (LANES - count)
    };
    let many = Who::new(0, page::MANY, common.who.flags());
    let mut strangers = false;
    let heads = page.heads.get_mut(first..first + places);
    for (at, head) in heads.into_iter().flatten().enumerate() {
        let Head { write, read } = head;
        let bits = bits << (lane + at);
        let known = write.block == common.me && write.time <= common.floors.0 || !write.is_some();
        if !known {
            let unsure = lanes_of(bits).filter(|lane| !common.knows(*write, 1 << lane));
            doubts.extend(unsure.map(|lane| (lane, *write, Class::Write)));
        }
        // Most are read by several warps, again and again.
        let now = read.time == common.stamp && read.block == common.me;
        if now && read.who.is_alike(many) {
            continue;
        }
        if read.block == common.me || !read.is_some() {
            read.add(common.slot(bits), common.floors.0);
        } else {
            strangers = true;
        }
    }
    if strangers {
        let each = |lane: usize| {
            if apart {
                offset + (lane << page.shift) as u64
            } else {
                offset
            }
        };
        let each: Vec<u64> = (0..count).map(each).collect();
        for (at, offset) in each.into_iter().enumerate() {
            read(page, common, offset, lane + at, doubts);
        }
    }
}

#[inline(always)]
fn read(page: &mut Page, common: &Common, offset: u64, lane: usize, doubts: &mut Vec<Doubt>) {
    let bit = 1 << lane;
    let new = common.slot(bit);
    for at in entries(page, common.bytes, offset) {
        let Head { write, read } = &mut page.heads[at];
        if !common.knows(*write, bit) {
            doubts.push((lane, *write, Class::Write));
        }
        if read.block == common.me || !read.is_some() {
            read.add(new, common.floors.0);
            continue;
        }
        let read = *read;
        let other = &mut page.others()[at];
        let mut both = [read, *other];
        page::add(&mut both, new, common.floors.0);
        *other = both[1];
        page.heads[at].read = both[0];
    }
}

#[inline(always)]
fn write(page: &mut Page, common: &Common, offset: u64, lane: usize, doubts: &mut Vec<Doubt>) {
    let bit = 1 << lane;
    for at in entries(page, common.bytes, offset) {
        let head = &mut page.heads[at];
        doubt_head(*head, common, lane, doubts);
        *head = Head {
            write: common.slot(bit),
            read: Slot::default(),
        };
        if let Some(other) = page.others.get_mut(at) {
            if !common.knows(*other, bit) {
                doubts.push((lane, *other, Class::Read));
            }
            *other = Slot::default();
        }
        if let Some(strong) = page.strong.get_mut(at) {
            *strong = Default::default();
        }
    }
}

#[inline(always)]
fn doubt_head(head: Head, common: &Common, lane: usize, doubts: &mut Vec<Doubt>) {
    let bit = 1 << lane;
    if !common.knows(head.write, bit) {
        doubts.push((lane, head.write, Class::Write));
    }
    if !common.knows(head.read, bit) {
        doubts.push((lane, head.read, Class::Read));
    }
}

/// Compares with strong writes and atomic operations.
fn heed_strong(page: &Page, common: &Common, offset: u64, lane: usize, doubts: &mut Vec<Doubt>) {
    if page.strong.is_empty() {
        return;
    }
    for at in entries(page, common.bytes, offset) {
        for slot in page.strong[at] {
            // Most are for each other's threads.
            let strong = Who::STRONG | Who::WIDE;
            let fine = slot.who.flags() & common.who.flags() & strong == strong
                && !(slot.who.flags() & common.who.flags()) & Who::VOLATILE != 0;
            if !fine && !common.knows(slot, 1 << lane) {
                doubts.push((lane, slot, Class::Atomic));
            }
        }
    }
}

fn write_strong(
    page: &mut Page,
    common: &Common,
    offset: u64,
    lane: usize,
    doubts: &mut Vec<Doubt>,
) {
    for at in entries(page, common.bytes, offset) {
        doubt_head(page.heads[at], common, lane, doubts);
        if let Some(other) = page.others.get(at)
            && !common.knows(*other, 1 << lane)
        {
            doubts.push((lane, *other, Class::Read));
        }
        let new = common.slot(1 << lane);
        page::add(&mut page.strong()[at], new, common.floors.0);
    }
}
