//! Whether an access is ordered after the others of the same bytes (PTX ISA 8.7 and 8.10: conflicts, morally strong
//! accesses, and data races).
//!
//! What a page holds settles nearly every access; if accesses of the same block are left that may be in conflict, the
//! log tells which exactly. Two strong accesses are in no conflict if both are for each other's threads: atomic
//! operations, flags. Volatile accesses are strong, but in shared memory not those of lanes of one warp: that lanes
//! go on together is what old code relied on, and devices do not grant it any more.

use super::checks::{Block, Checks, is_wide};
use super::log::{Class, Entry};
use super::order::Moment;
use super::page::{Area, PAGE, Page, Slot, Who};
use super::pass::{Common, entries, in_page};
use super::{Access, Found, Lanes, OtherAccess, Same, Semantics, Space};
use crate::finding::Kind;
use crate::options::Races;
use crate::register::{LANES, lanes_of};
use crate::wide::wide;

/// An access of a warp.
pub(super) struct One<'a> {
    pub(super) access: &'a Access,
    pub(super) lanes: &'a Lanes<'a>,
    pub(super) class: Class,
    pub(super) same: Option<&'a Same<'a>>,
}

wide!(fn look(one: &One<'_>, checks: &Checks, block: &mut Block, area: &Area) = look_wide);

#[inline(always)]
fn look_wide(one: &One<'_>, checks: &Checks, block: &mut Block, area: &Area) {
    one.look_here(checks, block, area);
}

impl One<'_> {
    /// Compares it with the accesses before it, and takes it down for those after it.
    pub(super) fn look(&self, checks: &Checks, block: &mut Block, area: &Area) {
        look(self, checks, block, area);
    }

    #[inline(always)]
    fn look_here(&self, checks: &Checks, block: &mut Block, area: &Area) {
        let (access, lanes) = (self.access, self.lanes);
        let strong = self.class == Class::Atomic || access.semantics != Semantics::Weak;
        let mut flags = 0;
        for (flag, set) in [
            (Who::STRONG, strong),
            (Who::WIDE, is_wide(access, self.class)),
            (Who::VOLATILE, access.semantics == Semantics::Volatile),
        ] {
            flags |= if set { flag } else { 0 };
        }
        let common = Common {
            me: block.linear as u32,
            warp: lanes.warp,
            stamp: block.clocks.stamp(),
            floors: (block.clocks.floor(), block.clocks.warp_floor(lanes.warp)),
            who: Who::new(access.instruction, lanes.warp, flags),
            bytes: access.bytes,
        };
        let mut offsets = [0_u64; LANES];
        let mut low = [0_u32; LANES];
        for lane in 0..LANES {
            offsets[lane] = lanes.addresses[lane].wrapping_sub(area.start);
            low[lane] = offsets[lane] as u32;
        }
        block.log.push(
            lanes.warp,
            Entry {
                area: area.number,
                time: common.stamp,
                who: common.who,
                class: self.class,
                bytes: access.bytes,
                mask: lanes.mask,
                offsets: low,
            },
        );
        let mut doubts = Vec::new();
        let mut late = None;
        let mut left = lanes.mask;
        while left != 0 {
            let first = offsets[left.trailing_zeros() as usize % LANES];
            let mut part = 0;
            for lane in 0..LANES {
                part |= u32::from((offsets[lane] ^ first) < PAGE) << lane;
            }
            let part = part & left;
            left &= !part;
            let mut page = area.page(first);
            let Some(page) = page.as_deref_mut().and_then(Option::as_deref_mut) else {
                continue;
            };
            if common.bytes < 1 << page.shift {
                page.split(common.bytes);
            }
            in_page(self.class, page, &common, &offsets, part, &mut doubts);
            if access.space == Space::Global && checks.races == Races::All {
                late = late.or_else(|| self.non_coherent(page, &offsets, part));
            }
        }
        if let Some((lane, other)) = late {
            self.note_non_coherent(block, lane, other);
        }
        for (lane, slot, class) in doubts {
            self.judge(
                checks,
                block,
                area,
                &common,
                (lane, offsets[lane] as u32),
                slot,
                class,
            );
        }
    }

    /// Takes down what was read as non-coherent, and finds writes of it: the lane, and the other's slot.
    fn non_coherent(
        &self,
        page: &mut Page,
        offsets: &[u64; LANES],
        part: u32,
    ) -> Option<(usize, Option<Slot>)> {
        let reads = self.access.non_coherent && self.class == Class::Read;
        if !reads && (self.class == Class::Read || page.non_coherent.is_empty()) {
            return None;
        }
        if page.non_coherent.is_empty() {
            page.non_coherent = vec![0; (PAGE / 64) as usize];
        }
        let mut found = None;
        for lane in lanes_of(part) {
            let at = offsets[lane] % PAGE;
            let bits = u64::MAX >> (64 - self.access.bytes.min(64)) << (at % 64);
            let word = &mut page.non_coherent[(at / 64) as usize];
            if !reads {
                if *word & bits != 0 {
                    found = found.or(Some((lane, None)));
                }
                continue;
            }
            *word |= bits;
            let entries = entries(page, self.access.bytes, offsets[lane]);
            for entry in entries {
                let written = page.heads[entry].write;
                let strong = page.strong.get(entry).map(|pair| pair[0]);
                let other = [Some(written), strong].into_iter().flatten();
                if let Some(other) = other.into_iter().find(|slot| slot.is_some()) {
                    found = found.or(Some((lane, Some(other))));
                }
            }
        }
        found
    }

    #[cold]
    fn note_non_coherent(&self, block: &mut Block, lane: usize, other: Option<Slot>) {
        let (bytes, address) = (self.access.bytes, self.lanes.addresses[lane]);
        let text = match other {
            Some(_) => format!(
                "non-coherent read of {bytes} bytes at {address:#x}, which the same launch writes"
            ),
            None => format!(
                "{} of {bytes} bytes at {address:#x}, which the same launch reads as non-coherent",
                self.class.name()
            ),
        };
        let other = other.and_then(|slot| {
            Some(OtherAccess {
                instruction: slot.who.instruction(),
                block: slot.block.into(),
                thread: slot.thread()?,
                access: Class::Write.name(),
            })
        });
        block.note(self.found(Kind::WriteToNonCoherent, block.linear, lane, other, text));
    }

    fn found(
        &self,
        kind: Kind,
        block: u64,
        lane: usize,
        other: Option<OtherAccess>,
        text: String,
    ) -> Found {
        Found {
            kind,
            instruction: self.access.instruction,
            block,
            thread: self.lanes.warp * 32 + lane as u32,
            address: self.lanes.addresses[lane],
            bytes: self.access.bytes,
            space: self.access.space,
            other,
            text,
        }
    }

    /// Finds out about a doubt.
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "what a doubt is about")]
    fn judge(
        &self,
        checks: &Checks,
        block: &mut Block,
        area: &Area,
        common: &Common,
        (lane, offset): (usize, u32),
        slot: Slot,
        class: Class,
    ) {
        let thread = common.warp * 32 + lane as u32;
        let heard = |block: &Block, other: u32, who: Option<u32>, time: u32| {
            block.clocks.foreign(thread).is_some_and(|known| {
                let what = Moment {
                    block: other,
                    thread: who,
                    time,
                };
                checks.order.knows(known, common.me, what)
            })
        };
        if slot.block != common.me {
            if self.agrees(common.who, slot.who, false)
                || heard(block, slot.block, slot.thread(), slot.time)
            {
                return;
            }
            let other = OtherAccess {
                instruction: slot.who.instruction(),
                block: slot.block.into(),
                thread: slot.thread().unwrap_or_else(|| slot.lanes.trailing_zeros()),
                access: class.name(),
            };
            let equal = class == Class::Write && self.same.is_some_and(|same| same(lane, None));
            self.note(block, lane, other, equal && !common.who.has(Who::STRONG));
            return;
        }
        let in_conflict = |(other, entry): &(u32, &Entry)| {
            let reads = self.class == Class::Read && entry.class == Class::Read;
            let own_warp = other / 32 == common.warp;
            *other != thread
                && !reads
                && !self.agrees(common.who, entry.who, own_warp)
                && !block.clocks.knows(thread, *other, entry.time)
                && !heard(block, common.me, Some(*other), entry.time)
        };
        let mut entries = (block.log).of(slot, area.number, (offset, common.bytes));
        let found = entries
            .find(in_conflict)
            .map(|(other, entry)| (other, *entry));
        drop(entries);
        let Some((other, entry)) = found else {
            return;
        };
        let writes = self.class == Class::Write && entry.class == Class::Write;
        let weak = !common.who.has(Who::STRONG) && !entry.who.has(Who::STRONG);
        let now = entry.time == common.stamp && entry.who == common.who;
        let twin = (other % 32) as usize;
        let at_once = now && self.lanes.addresses[twin] == self.lanes.addresses[lane];
        let equal = |same: &Same<'_>| same(lane, at_once.then_some(twin));
        let equal = writes && weak && self.same.is_some_and(equal);
        let other = OtherAccess {
            instruction: entry.who.instruction(),
            block: block.linear,
            thread: other,
            access: entry.class.name(),
        };
        self.note(block, lane, other, equal);
    }

    /// Whether two accesses are strong, and for each other's threads.
    fn agrees(&self, a: Who, b: Who, own_warp: bool) -> bool {
        let all = |flag| a.has(flag) && b.has(flag);
        let shared = self.access.space == Space::Shared;
        if shared && own_warp && all(Who::VOLATILE) {
            return false;
        }
        // In shared memory the block, or at most the cluster, is who is meant.
        let together = own_warp || shared;
        all(Who::STRONG) && (together || all(Who::WIDE))
    }

    #[cold]
    fn note(&self, block: &mut Block, lane: usize, other: OtherAccess, equal: bool) {
        let kind = if equal {
            Kind::SameValueRace
        } else {
            Kind::Race
        };
        if block.has((kind, self.access.instruction, Some(other.instruction))) {
            return;
        }
        let (bytes, address) = (self.access.bytes, self.lanes.addresses[lane]);
        let far = if other.block == block.linear {
            "another thread"
        } else {
            "a thread of another block"
        };
        let before = match other.access {
            "read" => "read",
            "write" => "wrote",
            _ => "accessed atomically",
        };
        let what = self.class.name();
        let equal = if equal { ", the same bytes" } else { "" };
        let text = format!(
            "{what} of {bytes} bytes at {address:#x}, which {far} {before}{equal}, with nothing to order the two"
        );
        block.note(self.found(kind, block.linear, lane, Some(other), text));
    }
}
