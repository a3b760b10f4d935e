//! Memory taken from the stack while a function runs (PTX ISA 9.7.18: `alloca`, `stacksave`, `stackrestore`).
//!
//! A frame's own variables lie at fixed places; what it takes lies behind them, for each lane as much as that lane
//! took. The stack grows upwards.

use gpuk_ptx::{Instruction, Operand, Type};

use crate::context::{Cx, Stop};
use crate::decode::{Decoder, Mods};
use crate::fault::Fault;
use crate::register::{Dst, LANES, Src, each, lanes_of};
use crate::shadow::Shadow;

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Take {
        wide: bool,
        align: u32,
        d: Dst,
        size: Src,
    },
    Save {
        wide: bool,
        d: Dst,
    },
    Restore {
        wide: bool,
        a: Src,
    },
}

/// What the lanes of a frame took beyond its variables, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    lanes: [u32; LANES],
    /// The most of any lane.
    pub(crate) most: u32,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let opcode = &*i.opcode;
    matches!(opcode, "alloca" | "stacksave" | "stackrestore").then_some(())?;
    let mut mods = Mods::new(i);
    let ty = mods.ty()?;
    mods.done()?;
    let wide = match ty {
        Type::U32 => false,
        Type::U64 => true,
        _ => return None,
    };
    Some(match (opcode, &*i.operands) {
        ("alloca", [target, size]) => Op::Take {
            wide,
            align: 8,
            size: d.src(size, ty)?,
            d: d.dst(target, ty)?,
        },
        ("alloca", [target, size, Operand::Int(align)]) => Op::Take {
            wide,
            align: u32::try_from(*align)
                .ok()
                .filter(|align| align.is_power_of_two())?,
            size: d.src(size, ty)?,
            d: d.dst(target, ty)?,
        },
        ("stacksave", [target]) => Op::Save {
            wide,
            d: d.dst(target, ty)?,
        },
        ("stackrestore", [a]) => Op::Restore {
            wide,
            a: d.src(a, ty)?,
        },
        _ => return None,
    })
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let start = cx.frame + cx.code.local;
    match *op {
        Op::Take {
            wide,
            align,
            d,
            size,
        } => {
            let sizes = read(cx, wide, size);
            let limit = cx.grid.options().stack;
            let mut places = [0; LANES];
            for lane in lanes_of(cx.mask) {
                let top = u64::from(start) + u64::from(cx.taken.lanes[lane]);
                let place = top.next_multiple_of(align.into());
                let end = place.saturating_add(sizes[lane]);
                if end > u64::from(limit) {
                    let site = cx.site(lane);
                    return Err(Box::new(Fault::Stack { limit, site }));
                }
                places[lane] = place;
                cx.taken.lanes[lane] = end as u32 - start;
                cx.taken.most = cx.taken.most.max(end as u32 - start);
            }
            cx.local.reserve(start + cx.taken.most);
            write(cx, wide, d, &places);
        }
        Op::Save { wide, d } => {
            let tops = each(&cx.taken.lanes, |taken| u64::from(start + taken));
            write(cx, wide, d, &tops);
        }
        Op::Restore { wide, a } => {
            let tops = read(cx, wide, a);
            for lane in lanes_of(cx.mask) {
                let taken = tops[lane].saturating_sub(start.into());
                // Never more than was there.
                let taken = taken.min(cx.taken.lanes[lane].into());
                cx.taken.lanes[lane] = taken as u32;
            }
            cx.taken.most = cx.taken.lanes.iter().copied().max().unwrap_or(0);
        }
    }
    Ok(())
}

fn read<S: Shadow>(cx: &Cx<'_, S>, wide: bool, row: Src) -> [u64; LANES] {
    if wide {
        cx.file.get(row)
    } else {
        each(&cx.file.get::<u32>(row), u64::from)
    }
}

fn write<S: Shadow>(cx: &mut Cx<'_, S>, wide: bool, row: Dst, values: &[u64; LANES]) {
    let mask = cx.mask;
    if wide {
        cx.file.put(row, values, mask);
    } else {
        cx.file
            .put(row, &each(values, |value: u64| value as u32), mask);
    }
}
