//! Atomic operations on 16 bytes (PTX ISA 9.7.13: `atom.cas.b128`, `atom.exch.b128`).
//!
//! Not every processor has such an operation, so one lock serves all of them. Accesses of other sizes do not take it;
//! mixing them on the same bytes is a race that PTX leaves undefined as well.

use std::sync::{Mutex, PoisonError};

use gpuk_ptx::{Instruction, Operand};

use super::memory::{self, Named, Ordering};
use crate::access::{self, Base, Region, Wanted};
use crate::context::{Cx, Stop};
use crate::decode::operand::Place;
use crate::decode::{Decoder, Mods};
use crate::finding::Kind as Wrong;
use crate::memory::Buffer;
use crate::register::{Dst, LANES, Src, each, lanes_of};
use crate::seen;
use crate::shadow::{Access, Shadow, Space};

static LOCK: Mutex<()> = Mutex::new(());

/// An instruction of this family. Each row is the first of two of 64 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    space: Named,
    ordering: Ordering,
    base: Base,
    d: Dst,
    /// What is compared, for `cas`.
    compare: Option<Src>,
    /// What is stored.
    value: Src,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    (&*i.opcode == "atom").then_some(())?;
    let mut mods = Mods::new(i);
    let ordering = memory::ordering(&mut mods)?;
    let space = memory::space(&mut mods);
    let hint = memory::cache(&mut mods);
    let cas = mods.take("cas");
    let exchange = mods.take("exch");
    (mods.take("b128") && cas != exchange).then_some(())?;
    mods.done()?;
    matches!(space, Named::Generic | Named::Global | Named::Shared).then_some(())?;
    let (target, address, first, second) = match (&*i.operands, cas, hint) {
        ([target, address, b, c], true, false) => (target, address, b, Some(c)),
        ([target, address, b], false, false) | ([target, address, b, _], false, true) => {
            (target, address, b, None)
        }
        _ => return None,
    };
    let Place::Row(source, offset) = d.place(address)? else {
        return None;
    };
    let row = |d: &mut Decoder<'_>, operand: &Operand| d.row128(operand).map(Dst::src);
    let first = row(d, first)?;
    let (compare, value) = match second {
        Some(second) => (Some(first), row(d, second)?),
        None => (None, first),
    };
    Some(Op {
        space,
        ordering,
        base: Base::Row {
            row: source.row,
            wide: source.wide,
            offset,
        },
        d: d.row128(target)?,
        compare,
        value,
    })
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    const BYTES: u32 = 16;
    let addresses = access::addresses(cx, op.base);
    access::check_alignment(cx, &addresses, BYTES)?;
    let wanted = Wanted {
        bytes: BYTES,
        store: true,
        atomic: true,
    };
    let access = |space| Access {
        space,
        bytes: BYTES,
        semantics: op.ordering.semantics,
        scope: op.ordering.scope,
        non_coherent: false,
        instruction: cx.number(),
    };
    let (global, shared) = (access(Space::Global), access(Space::Shared));
    let value = pair(cx, op.value);
    let compare = op.compare.map(|row| pair(cx, row));
    let mut old = [0; LANES];
    let mut left = cx.mask;
    while left != 0 {
        let (region, part) = match access::region(op.space, &addresses, left) {
            Some(region) => (region, left),
            None => access::first_region(&addresses, left),
        };
        match region {
            Region::Global => {
                let Some(found) = access::part(cx, &addresses, part, wanted)? else {
                    left &= left - 1;
                    continue;
                };
                if S::ACTIVE {
                    seen::global(cx, &global, &found, &addresses, wanted)?;
                }
                let places = (&found.offsets, found.mask);
                apply(found.buffer(), places, compare.as_ref(), &value, &mut old);
                if S::ACTIVE {
                    seen::moved(cx, &global, &found, &addresses);
                }
                left &= !found.mask;
            }
            Region::Shared { start } => {
                let offsets = each(&addresses, |address: u64| address.wrapping_sub(start));
                let Some(found) = access::shared_part(cx, &offsets, part, wanted)? else {
                    left &= left - 1;
                    continue;
                };
                if S::ACTIVE {
                    seen::shared(cx, &shared, &found, wanted)?;
                }
                let places = (&found.offsets, found.mask);
                apply(found.buffer, places, compare.as_ref(), &value, &mut old);
                if S::ACTIVE {
                    seen::moved_shared(cx, &shared, &found);
                }
                left &= !found.mask;
            }
            Region::Local { .. } | Region::Param { .. } => {
                let lane = part.trailing_zeros() as usize;
                let text = format!(
                    "atomic access of {BYTES} bytes at {:#x}, which is neither global nor shared memory",
                    addresses[lane]
                );
                return Err(cx.stop(Wrong::WrongSpace, lane, text));
            }
        }
    }
    let mask = cx.mask;
    cx.file
        .put(op.d, &each(&old, |value: u128| value as u64), mask);
    let high = Dst(op.d.0 + 1);
    cx.file
        .put(high, &each(&old, |value: u128| (value >> 64) as u64), mask);
    Ok(())
}

fn pair<S: Shadow>(cx: &Cx<'_, S>, row: Src) -> [u128; LANES] {
    let (low, high) = (cx.file.get::<u64>(row), cx.file.get::<u64>(Src(row.0 + 1)));
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = u128::from(high[lane]) << 64 | u128::from(low[lane]);
    }
    out
}

fn apply(
    buffer: &Buffer,
    (offsets, mask): (&[u64; LANES], u32),
    compare: Option<&[u128; LANES]>,
    value: &[u128; LANES],
    old: &mut [u128; LANES],
) {
    let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    for lane in lanes_of(mask) {
        let mut bytes = [0; 16];
        if buffer.read(offsets[lane], &mut bytes).is_none() {
            continue;
        }
        old[lane] = u128::from_le_bytes(bytes);
        if compare.is_none_or(|compare| compare[lane] == old[lane]) {
            buffer.write(offsets[lane], &value[lane].to_le_bytes());
        }
    }
}
