//! Rows for a function's registers. Compilers number registers without end; those whose values are not wanted
//! at once share a row, so that a warp's rows stay in the processor's caches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gpuk_ptx::{Body, Function};

use super::flow::{Flow, Interval};
use super::operand::Slot;
use crate::register::Counts;

/// A kind of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    P,
    R32,
    R64,
}

/// Rows that are taken one after the other.
#[derive(Debug, Default)]
struct Rows {
    counts: Counts,
}

impl Rows {
    fn take(&mut self, class: Class, rows: u32) -> u32 {
        let count = match class {
            Class::P => &mut self.counts.p,
            Class::R32 => &mut self.counts.r32,
            Class::R64 => &mut self.counts.r64,
        };
        let first = *count;
        *count += rows;
        first
    }
}

/// Where registers live, how many rows that takes, and whether some may be read before they are written.
pub(super) fn slots(function: &Function, body: &Body) -> (Vec<Slot>, Counts, bool) {
    let mut slots = Vec::new();
    for declared in &body.registers {
        let bits = declared.ty.bits().max(1) as u8;
        let lanes = declared.lanes.clamp(1, 8) as u8;
        let slot = Slot {
            row: 0,
            bits,
            lanes,
        };
        slots.extend((0..declared.count.unwrap_or(1)).map(|_| slot));
    }
    let mut rows = Rows::default();
    let liveness = Flow::new(body).and_then(|flow| flow.liveness(slots.len()));
    let Some(liveness) = liveness else {
        for slot in &mut slots {
            slot.row = own(&mut rows, *slot);
        }
        return (slots, rows.counts, true);
    };
    // Registers of the signature are declared first; who calls sets and reads them.
    let formals = function.returns.iter().chain(&function.params);
    let formals = formals.filter(|param| param.register).count();
    let mut zero = false;
    for register in &liveness.at_entry {
        zero |= register.0 as usize >= formals;
    }
    let mut shared: [Vec<(Interval, usize)>; 3] = Default::default();
    for (at, slot) in slots.iter_mut().enumerate() {
        let interval = liveness.intervals.get(at).copied().flatten();
        let class = class(*slot);
        match (interval, class) {
            (Some(interval), Some(class)) if at >= formals => {
                shared[class as usize].push((interval, at));
            }
            // Never mentioned.
            (None, _) if at >= formals => {}
            _ => slot.row = own(&mut rows, *slot),
        }
    }
    for (class, list) in [Class::P, Class::R32, Class::R64].into_iter().zip(shared) {
        share(class, list, &mut rows, &mut slots);
    }
    (slots, rows.counts, zero)
}

/// A register that can share a row; vectors and 128 bits cannot.
fn class(slot: Slot) -> Option<Class> {
    match (slot.lanes, slot.bits) {
        (1, 1) => Some(Class::P),
        (1, 64) => Some(Class::R64),
        (1, bits) if bits < 64 => Some(Class::R32),
        _ => None,
    }
}

fn own(rows: &mut Rows, slot: Slot) -> u32 {
    let lanes = u32::from(slot.lanes);
    match slot.bits {
        1 => rows.take(Class::P, lanes),
        64 => rows.take(Class::R64, lanes),
        128 => rows.take(Class::R64, 2 * lanes),
        _ => rows.take(Class::R32, lanes),
    }
}

/// Linear scan: a row is free again after the last instruction that wants its register.
fn share(class: Class, mut list: Vec<(Interval, usize)>, rows: &mut Rows, slots: &mut [Slot]) {
    list.sort_by_key(|(interval, at)| (interval.start, *at));
    let mut taken: BinaryHeap<Reverse<(usize, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    for (interval, at) in list {
        while let Some(Reverse((end, row))) = taken.peek().copied() {
            if end >= interval.start {
                break;
            }
            taken.pop();
            free.push(Reverse(row));
        }
        let row = match free.pop() {
            Some(Reverse(row)) => row,
            None => rows.take(class, 1),
        };
        slots[at].row = row;
        taken.push(Reverse((interval.end, row)));
    }
}
