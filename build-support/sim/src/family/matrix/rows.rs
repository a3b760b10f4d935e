//! `ldmatrix` and `stmatrix` (PTX ISA 9.7.15.5.15 and 9.7.15.5.16): matrices of 8 × 8 elements of 16 bits, a row of
//! which lies in shared memory where a lane says; and `movmatrix`, which transposes one that lanes hold.
//!
//! Lane `4 g + t` holds columns `2 t` and `2 t + 1` of row `g`, or with `.trans` rows `2 t` and `2 t + 1` of column `g`.
//! The forms for elements of 8 bits and less are compute capability 10.0's and not here.

use gpuk_ptx::{Instruction, Operand, Type};

use super::multiply::{sources, targets};
use crate::access::{self, Base};
use crate::context::{Cx, Stop};
use crate::decode::operand::Place;
use crate::decode::{Decoder, Mods};
use crate::family::memory::{self, Named};
use crate::program::Pooled;
use crate::register::{ALL, Dst, LANES, Src};
use crate::shadow::Shadow;
use crate::transfer::{self, Request, Words};

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Move {
        store: bool,
        transposed: bool,
        space: Named,
        base: Base,
        /// A register for each matrix.
        rows: Pooled,
    },
    Transpose {
        d: Dst,
        a: Src,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    let store = match &*i.opcode {
        "ldmatrix" => false,
        "stmatrix" => true,
        "movmatrix" => {
            for wanted in ["sync", "aligned", "m8n8", "trans", "b16"] {
                mods.take(wanted).then_some(())?;
            }
            mods.done()?;
            let [target, a] = &*i.operands else {
                return None;
            };
            return Some(Op::Transpose {
                d: d.dst32(target)?,
                a: d.src32(a, Type::B32)?,
            });
        }
        _ => return None,
    };
    for wanted in ["sync", "aligned", "m8n8", "b16"] {
        mods.take(wanted).then_some(())?;
    }
    let count = mods.read(|text| match text {
        "x1" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        _ => None,
    })?;
    let transposed = mods.take("trans");
    let space = memory::space(&mut mods);
    mods.done()?;
    matches!(space, Named::Generic | Named::Shared).then_some(())?;
    let (address, list) = match (&*i.operands, store) {
        ([list, address], false) => (address, targets(d, list, false)?),
        ([address, list], true) => (address, sources(d, list, false)?),
        _ => return None,
    };
    (list.len() == count).then_some(())?;
    let base = base(d, address)?;
    Some(Op::Move {
        store,
        transposed,
        space,
        base,
        rows: d.pool(&list)?,
    })
}

/// The address of each lane.
pub(crate) fn base(d: &mut Decoder<'_>, address: &Operand) -> Option<Base> {
    match d.place(address)? {
        Place::Row(source, offset) => Some(Base::Row {
            row: source.row,
            wide: source.wide,
            offset,
        }),
        _ => None,
    }
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    match *op {
        Op::Transpose { d, a } => {
            let row: [u32; LANES] = cx.file.get(a);
            let mut out = [0; LANES];
            for lane in 0..LANES {
                out[lane] = transposed(lane, |row_number, part| row[4 * row_number + part]);
            }
            cx.file.put(d, &out, ALL);
            Ok(())
        }
        Op::Move {
            store,
            transposed,
            space,
            base,
            rows,
        } => {
            let list = cx.code.pooled(rows);
            let addresses = access::addresses(cx, base);
            let request = Request {
                space,
                addresses: &addresses,
                bytes: 16,
                mask: ALL >> (LANES - 8 * list.len().clamp(1, 4)),
                by: None,
            };
            if store {
                let words = gather(cx, list, transposed);
                transfer::store(cx, request, &words)
            } else {
                let words = transfer::load(cx, request)?;
                scatter(cx, list, transposed, &words);
                Ok(())
            }
        }
    }
}

/// What a lane has of the transposed matrix; `part` gives the pair of a row at a fourth of it.
fn transposed(lane: usize, part: impl Fn(usize, usize) -> u32) -> u32 {
    let (g, t) = (lane / 4, lane % 4);
    let half = |row: usize| part(row, g / 2) >> (16 * (g % 2)) & 0xffff;
    half(2 * t) | half(2 * t + 1) << 16
}

/// Gives lanes what they hold of the rows that were loaded.
fn scatter<S: Shadow>(cx: &mut Cx<'_, S>, list: &[u32], trans: bool, words: &Words) {
    for (matrix, register) in list.iter().enumerate().take(4) {
        let pair = |row: usize, part: usize| {
            (words[part / 2][8 * matrix + row] >> (32 * (part % 2))) as u32
        };
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = if trans {
                transposed(lane, pair)
            } else {
                pair(lane / 4, lane % 4)
            };
        }
        cx.file.put(Dst(*register), &out, ALL);
    }
}

/// The rows that lanes hold pairs of.
fn gather<S: Shadow>(cx: &Cx<'_, S>, list: &[u32], trans: bool) -> Words {
    let mut words = [[0; LANES]; 2];
    for (matrix, register) in list.iter().enumerate().take(4) {
        let held: [u32; LANES] = cx.file.get(Src(*register));
        for lane in 0..LANES {
            // Transposing twice is nothing.
            let pair = if trans {
                transposed(lane, |row, part| held[4 * row + part])
            } else {
                held[lane]
            };
            let (row, part) = (lane / 4, lane % 4);
            words[part / 2][8 * matrix + row] |= u64::from(pair) << (32 * (part % 2));
        }
    }
    words
}
