//! Atomic operations (PTX ISA 9.7.13: `atom`, `red`).

use std::sync::atomic::Ordering as Order;

use gpuk_ptx::{Instruction, Operand, Type};

use super::half;
use super::memory::{self, Named, Ordering};
use crate::access::{self, Base, Region, Wanted};
use crate::context::{Cx, Stop};
use crate::decode::operand::Place;
use crate::decode::{Decoder, Mods};
use crate::finding::Kind as Wrong;
use crate::float::narrow::{canonical, flush};
use crate::memory::Buffer;
use crate::register::{Dst, LANES, Src, each, lanes_of};
use crate::seen;
use crate::shadow::{Access, Semantics, Shadow, Space};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Add,
    Increment,
    Decrement,
    MinU,
    MaxU,
    MinS,
    MaxS,
    AddF32,
    AddF64,
    /// One or two numbers of 16 bits.
    Half {
        what: super::float::What,
        bf16: bool,
        packed: bool,
    },
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    what: What,
    space: Named,
    /// Bytes of an element.
    bytes: u8,
    ordering: Ordering,
    base: Base,
    /// Where the old value goes.
    d: Option<Dst>,
    b: Src,
    c: Src,
    /// Bytes into the access; elements of a vector are executed one after the other.
    skip: u8,
    /// Bytes of the whole access.
    total: u8,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let result = match &*i.opcode {
        "atom" => true,
        "red" => false,
        _ => return None,
    };
    let mut mods = Mods::new(i);
    let ordering = memory::ordering(&mut mods)?;
    let space = memory::space(&mut mods);
    matches!(space, Named::Generic | Named::Global | Named::Shared).then_some(())?;
    let hint = memory::cache(&mut mods);
    let name = mods.read(|text| {
        let known = matches!(
            text,
            "and" | "or" | "xor" | "cas" | "exch" | "add" | "inc" | "dec" | "min" | "max"
        );
        known.then(|| text.to_owned())
    })?;
    mods.take("noftz");
    let count = mods.read(|text| match text {
        "v2" => Some(2_u8),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    let ty = mods.ty()?;
    mods.done()?;
    let what = what(&name, ty)?;
    let mut operands = i.operands.iter();
    let target = if result { Some(operands.next()?) } else { None };
    let address = operands.next()?;
    let b = operands.next()?;
    let c = if what == What::CompareAndSwap {
        Some(operands.next()?)
    } else {
        None
    };
    if hint {
        operands.next()?;
    }
    operands.next().is_none().then_some(())?;
    let Place::Row(source, offset) = d.place(address)? else {
        return None;
    };
    let base = Base::Row {
        row: source.row,
        wide: source.wide,
        offset,
    };
    let bytes = ty.bytes() as u8;
    matches!(bytes, 2 | 4 | 8).then_some(())?;
    let one = |d: &mut Decoder<'_>, target: Option<&Operand>, b: &Operand, at: u8| {
        Some(Op {
            what,
            space,
            bytes,
            ordering,
            base,
            d: match target {
                Some(Operand::Sink) | None => None,
                Some(target) => Some(d.dst(target, ty)?),
            },
            b: d.src(b, ty)?,
            c: match c {
                Some(c) => d.src(c, ty)?,
                None => d.src(b, ty)?,
            },
            skip: at * bytes,
            total: count.unwrap_or(1) * bytes,
        })
    };
    let Some(count) = count else {
        return one(d, target, b, 0);
    };
    let targets = target.map(|target| d.elements(target));
    let values = d.elements(b);
    let fits = values.len() == usize::from(count)
        && targets
            .as_ref()
            .is_none_or(|list| list.len() == values.len());
    fits.then_some(())?;
    let mut ops = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let target = targets.as_ref().map(|list| &*list[at]);
        ops.push(one(d, target, value, at as u8)?);
    }
    let last = ops.pop()?;
    for op in ops {
        d.emit_guarded(crate::program::Op::Atomic(op));
    }
    Some(last)
}

fn what(name: &str, ty: Type) -> Option<What> {
    use super::float::What as Half;
    let half = |what| {
        Some(match ty {
            Type::F16 => What::Half {
                what,
                bf16: false,
                packed: false,
            },
            Type::F16x2 => What::Half {
                what,
                bf16: false,
                packed: true,
            },
            Type::Bf16 => What::Half {
                what,
                bf16: true,
                packed: false,
            },
            Type::Bf16x2 => What::Half {
                what,
                bf16: true,
                packed: true,
            },
            _ => return None,
        })
    };
    Some(match (name, ty) {
        ("and", Type::B32 | Type::B64) => What::And,
        ("or", Type::B32 | Type::B64) => What::Or,
        ("xor", Type::B32 | Type::B64) => What::Xor,
        ("exch", Type::B32 | Type::B64) => What::Exchange,
        ("cas", Type::B16 | Type::B32 | Type::B64) => What::CompareAndSwap,
        ("add", Type::U32 | Type::S32 | Type::U64 | Type::S64) => What::Add,
        ("add", Type::F32) => What::AddF32,
        ("add", Type::F64) => What::AddF64,
        ("inc", Type::U32) => What::Increment,
        ("dec", Type::U32) => What::Decrement,
        ("min", Type::U32 | Type::U64) => What::MinU,
        ("max", Type::U32 | Type::U64) => What::MaxU,
        ("min", Type::S32 | Type::S64) => What::MinS,
        ("max", Type::S32 | Type::S64) => What::MaxS,
        ("add", _) => half(Half::Add)?,
        ("min", _) => half(Half::Min)?,
        ("max", _) => half(Half::Max)?,
        _ => return None,
    })
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let addresses = access::addresses(cx, op.base);
    access::check_alignment(cx, &addresses, op.total.into())?;
    let wanted = Wanted {
        bytes: op.total.into(),
        store: true,
        atomic: true,
    };
    if op.ordering.semantics != Semantics::Relaxed && op.ordering.semantics != Semantics::Weak {
        memory::fence_before(op.ordering.semantics);
    }
    let (b, c) = if op.bytes == 8 {
        (cx.file.get::<u64>(op.b), cx.file.get::<u64>(op.c))
    } else {
        (
            cx.file.get::<u32>(op.b).map(u64::from),
            cx.file.get::<u32>(op.c).map(u64::from),
        )
    };
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
                if S::ACTIVE && op.skip == 0 {
                    let access = op.access(found.space(), cx.number());
                    seen::global(cx, &access, &found, &addresses, wanted)?;
                }
                let places = (&found.offsets, found.mask);
                apply(op, found.buffer(), places, (&b, &c), &mut old, true);
                if S::ACTIVE {
                    let access = op.access(found.space(), cx.number());
                    seen::moved(cx, &access, &found, &addresses);
                }
                left &= !found.mask;
            }
            Region::Shared { start } => {
                let offsets = each(&addresses, |address: u64| address.wrapping_sub(start));
                let Some(found) = access::shared_part(cx, &offsets, part, wanted)? else {
                    left &= left - 1;
                    continue;
                };
                if S::ACTIVE && op.skip == 0 {
                    let access = op.access(Space::Shared, cx.number());
                    seen::shared(cx, &access, &found, wanted)?;
                }
                let places = (&found.offsets, found.mask);
                apply(op, found.buffer, places, (&b, &c), &mut old, false);
                if S::ACTIVE {
                    let access = op.access(Space::Shared, cx.number());
                    seen::moved_shared(cx, &access, &found);
                }
                left &= !found.mask;
            }
            Region::Local { .. } | Region::Param { .. } => {
                let lane = part.trailing_zeros() as usize;
                let text = format!(
                    "atomic access of {} bytes at {:#x}, which is neither global nor shared memory",
                    op.bytes, addresses[lane]
                );
                return Err(cx.stop(Wrong::WrongSpace, lane, text));
            }
        }
    }
    if let Some(d) = op.d {
        if op.bytes == 8 {
            cx.file.put(d, &old, cx.mask);
        } else {
            cx.file
                .put(d, &each(&old, |value: u64| value as u32), cx.mask);
        }
    }
    Ok(())
}

impl Op {
    fn access(&self, space: Space, instruction: u32) -> Access {
        Access {
            space,
            bytes: self.total.into(),
            semantics: self.ordering.semantics,
            scope: self.ordering.scope,
            non_coherent: false,
            instruction,
        }
    }
}

/// Applies the operation for each lane, the lowest first.
fn apply(
    op: &Op,
    buffer: &Buffer,
    (offsets, mask): (&[u64; LANES], u32),
    (b, c): (&[u64; LANES], &[u64; LANES]),
    old: &mut [u64; LANES],
    global: bool,
) {
    for lane in lanes_of(mask) {
        let at = offsets[lane] + u64::from(op.skip);
        let (b, c) = (b[lane], c[lane]);
        let found = match op.bytes {
            8 => buffer.atomic64(at).map(|cell| match op.what {
                What::Add => cell.fetch_add(b, Order::SeqCst),
                What::Exchange => cell.swap(b, Order::SeqCst),
                What::CompareAndSwap => {
                    let swapped = cell.compare_exchange(b, c, Order::SeqCst, Order::SeqCst);
                    swapped.unwrap_or_else(|found| found)
                }
                What::And => cell.fetch_and(b, Order::SeqCst),
                What::Or => cell.fetch_or(b, Order::SeqCst),
                What::Xor => cell.fetch_xor(b, Order::SeqCst),
                What::MinU => cell.fetch_min(b, Order::SeqCst),
                What::MaxU => cell.fetch_max(b, Order::SeqCst),
                _ => {
                    let next = |now| Some(changed64(op.what, now, b, global));
                    let updated = cell.fetch_update(Order::SeqCst, Order::SeqCst, next);
                    updated.unwrap_or_else(|found| found)
                }
            }),
            4 => buffer
                .atomic32(at)
                .map(|cell| {
                    let (b, c) = (b as u32, c as u32);
                    match op.what {
                        What::Add => cell.fetch_add(b, Order::SeqCst),
                        What::Exchange => cell.swap(b, Order::SeqCst),
                        What::CompareAndSwap => {
                            let swapped = cell.compare_exchange(b, c, Order::SeqCst, Order::SeqCst);
                            swapped.unwrap_or_else(|found| found)
                        }
                        What::And => cell.fetch_and(b, Order::SeqCst),
                        What::Or => cell.fetch_or(b, Order::SeqCst),
                        What::Xor => cell.fetch_xor(b, Order::SeqCst),
                        What::MinU => cell.fetch_min(b, Order::SeqCst),
                        What::MaxU => cell.fetch_max(b, Order::SeqCst),
                        _ => {
                            let next = |now| Some(changed32(op.what, now, b, global));
                            let updated = cell.fetch_update(Order::SeqCst, Order::SeqCst, next);
                            updated.unwrap_or_else(|found| found)
                        }
                    }
                })
                .map(u64::from),
            _ => buffer
                .atomic16(at)
                .map(|cell| {
                    let (b, c) = (b as u16, c as u16);
                    if op.what == What::CompareAndSwap {
                        let swapped = cell.compare_exchange(b, c, Order::SeqCst, Order::SeqCst);
                        return swapped.unwrap_or_else(|found| found);
                    }
                    let next =
                        |now: u16| Some(changed32(op.what, now.into(), b.into(), global) as u16);
                    let updated = cell.fetch_update(Order::SeqCst, Order::SeqCst, next);
                    updated.unwrap_or_else(|found| found)
                })
                .map(u64::from),
        };
        old[lane] = found.unwrap_or(0);
    }
}

fn changed64(what: What, now: u64, b: u64, global: bool) -> u64 {
    match what {
        What::MinS => (now as i64).min(b as i64) as u64,
        What::MaxS => (now as i64).max(b as i64) as u64,
        What::AddF64 => {
            // A NaN comes through; in shared memory, where it is an ordinary addition, made quiet.
            let nan = |bits: u64| f64::from_bits(bits).is_nan();
            let sum = f64::from_bits(now) + f64::from_bits(b);
            match (nan(now), nan(b)) {
                (_, true) if global => b,
                (true, _) if global => now,
                (true, _) => now | 1 << 51,
                (_, true) => b | 1 << 51,
                _ if sum.is_nan() => crate::float::Format::F64.nan(),
                _ => sum.to_bits(),
            }
        }
        _ => b,
    }
}

fn changed32(what: What, now: u32, b: u32, global: bool) -> u32 {
    match what {
        What::MinS => (now as i32).min(b as i32) as u32,
        What::MaxS => (now as i32).max(b as i32) as u32,
        What::Increment => {
            if now >= b {
                0
            } else {
                now + 1
            }
        }
        What::Decrement => {
            if now == 0 || now > b {
                b
            } else {
                now - 1
            }
        }
        What::AddF32 => {
            // Subnormals are flushed in global memory, and kept in shared memory.
            let (now, b) = (f32::from_bits(now), f32::from_bits(b));
            canonical(if global {
                flush(flush(now) + flush(b))
            } else {
                now + b
            })
        }
        What::Half { what, bf16, packed } => half::combined(what, bf16, packed, now, b),
        _ => b,
    }
}
