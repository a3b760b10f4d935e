//! `wmma.load` and `wmma.store` (PTX ISA 9.7.15.4.3 and 9.7.15.4.4).
//!
//! PTX leaves open which lane holds which element. Here it is as on an H200 (recorded in
//! `tests/device/wmma.txt`), since programs have come to rely on it: see `multiply` and `gather`.

use gpuk_ptx::{Instruction, Type};

use super::multiply::{Named as Number, shape, sources, targets};
use super::rows::base;
use super::sum::Factor;
use crate::access::{self, Base};
use crate::context::{Cx, Stop};
use crate::decode::{Decoder, Mods};
use crate::family::memory::{self, Named};
use crate::program::Pooled;
use crate::register::{ALL, Dst, LANES, Src};
use crate::shadow::Shadow;
use crate::transfer::{self, Request};

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    store: bool,
    space: Named,
    base: Base,
    /// Elements from one row to the next, or from one column to the next.
    stride: Src,
    /// Bits of an element.
    bits: u8,
    /// Elements of a register.
    per: u8,
    /// Whether the elements of a register are neighbours in memory.
    neighbours: bool,
    /// Elements along a lane's row from one lane to the next.
    step: u8,
    /// For each register its row, and the row and column of its first element in lane 0.
    registers: Pooled,
}

/// Which matrix of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matrix {
    A,
    B,
    /// `c` or `d`.
    Sum,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    (&*i.opcode == "wmma").then_some(())?;
    let mut mods = Mods::new(i);
    let load = mods.take("load");
    (load != mods.take("store")).then_some(())?;
    let matrix = mods.read(|text| {
        Some(match (text, load) {
            ("a", true) => Matrix::A,
            ("b", true) => Matrix::B,
            ("c", true) | ("d", false) => Matrix::Sum,
            _ => return None,
        })
    })?;
    (mods.take("sync") && mods.take("aligned")).then_some(())?;
    let in_rows = mods.read(|text| matches!(text, "row" | "col").then_some(text == "row"))?;
    let shape = shape(&mut mods)?;
    let space = memory::space(&mut mods);
    let number = mods.read(Number::from_name)?;
    mods.done()?;
    matches!(space, Named::Generic | Named::Shared | Named::Global).then_some(())?;
    let wide = number == Number::F64;
    let (address, list, stride) = match (&*i.operands, load) {
        ([list, address], true) => (address, targets(d, list, wide)?, None),
        ([list, address, stride], true) => (address, targets(d, list, wide)?, Some(stride)),
        ([address, list], false) => (address, sources(d, list, wide)?, None),
        ([address, list, stride], false) => (address, sources(d, list, wide)?, Some(stride)),
        _ => return None,
    };
    let layout = Layout::new(matrix, shape, number)?;
    let [m, n, k] = shape;
    let stride = match stride {
        Some(stride) => d.src32(stride, Type::U32)?,
        None => d.constant32(match (matrix, in_rows) {
            (Matrix::A, true) | (Matrix::B, false) => k,
            (Matrix::A, false) | (Matrix::Sum, false) => m,
            (Matrix::B | Matrix::Sum, true) => n,
        }),
    };
    // The factors of what is computed transposed are each other's.
    let along = match matrix {
        Matrix::A => in_rows,
        Matrix::B => !in_rows,
        Matrix::Sum => in_rows != layout.swapped,
    };
    let count = layout.places.len();
    let repeats = number == Number::Factor(Factor::F16) && list.len() == 8 && 8 % count == 0;
    (list.len() == count || repeats && matrix != Matrix::Sum).then_some(())?;
    let bits = number.bits();
    (bits >= 8 || along).then_some(())?;
    let mut pooled = Vec::new();
    for (at, register) in list.iter().enumerate() {
        let (row, column) = layout.places[at % count];
        pooled.extend([*register, row, column]);
    }
    let base = base(d, address)?;
    Some(Op {
        store: !load,
        space,
        base,
        stride,
        bits: bits as u8,
        per: (32 / bits).max(1) as u8,
        neighbours: along,
        step: layout.step as u8,
        registers: d.pool(&pooled)?,
    })
}

/// Which elements lane 0 has, as if the matrix were one whose rows lanes share in fours.
struct Layout {
    places: Vec<(u32, u32)>,
    step: u32,
    /// Whether the product is computed transposed.
    swapped: bool,
}

impl Layout {
    fn new(matrix: Matrix, [m, n, k]: [u32; 3], number: Number) -> Option<Self> {
        let bits = number.bits();
        let per = (32 / bits).max(1);
        // Rows of the two factors, of which the first is taken in sixteens.
        let (first, second, swapped) = match (m, n) {
            (16, 16) | (32, 8) | (8, 8) => (m, n, false),
            (8, 32) => (n, m, true),
            _ => return None,
        };
        let chunks = k / (4 * per);
        let mut places = Vec::new();
        let step = match matrix {
            Matrix::Sum => {
                let halves = 2.min(first / 8);
                for tile in 0..(first / 16).max(1) * (second / 8) {
                    let beside = first == 16;
                    let (row, column) = if beside {
                        (0, 8 * tile)
                    } else {
                        (16 * tile, 0)
                    };
                    for half in 0..halves {
                        for part in 0..2 / per {
                            places.push((row + 8 * half, column + part));
                        }
                    }
                }
                2
            }
            _ => {
                let of_first = (matrix == Matrix::A) != swapped;
                let (rows, halves) = if of_first {
                    (first, 2.min(first / 8))
                } else {
                    (second, 1)
                };
                for block in 0..rows / (8 * halves) {
                    for chunk in 0..chunks {
                        for half in 0..halves {
                            places.push((8 * (halves * block + half), 4 * per * chunk));
                        }
                    }
                }
                per
            }
        };
        (!places.is_empty()).then_some(Self {
            places,
            step,
            swapped,
        })
    }
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let bases = access::addresses(cx, op.base);
    let stride: [u32; LANES] = cx.file.get(op.stride);
    let (triples, _) = cx.code.pooled(op.registers).as_chunks::<3>();
    let (unit, units) = if op.neighbours {
        (
            u32::from(op.bits.max(8)).max(u32::from(op.bits) * u32::from(op.per)) / 8,
            1,
        )
    } else {
        (u32::from(op.bits) / 8, op.per)
    };
    for [register, row, column] in triples {
        let mut values = [0_u64; LANES];
        if op.store {
            values = if op.bits == 64 {
                cx.file.get(Src(*register))
            } else {
                crate::register::each(&cx.file.get::<u32>(Src(*register)), u64::from)
            };
        }
        let mut loaded = [0_u64; LANES];
        for part in 0..units {
            let mut addresses = [0; LANES];
            for lane in 0..LANES {
                let row = u64::from(*row) + lane as u64 / 4;
                let column = u64::from(*column) + lane as u64 % 4 * u64::from(op.step);
                let column = column + u64::from(part);
                let stride = u64::from(stride[lane]);
                let elements = if op.neighbours {
                    row * stride + column
                } else {
                    column * stride + row
                };
                let bytes = elements * u64::from(op.bits) / 8;
                addresses[lane] = bases[lane].wrapping_add(bytes);
            }
            let request = Request {
                space: op.space,
                addresses: &addresses,
                bytes: unit,
                mask: ALL,
                by: None,
            };
            let shift = 8 * unit * u32::from(part);
            if op.store {
                let part = crate::register::each(&values, |value: u64| value >> shift);
                transfer::store(cx, request, &[part, [0; LANES]])?;
            } else {
                let [words, _] = transfer::load(cx, request)?;
                for lane in 0..LANES {
                    loaded[lane] |= words[lane] << shift;
                }
            }
        }
        if !op.store {
            if op.bits == 64 {
                cx.file.put(Dst(*register), &loaded, ALL);
            } else {
                let narrow = crate::register::each(&loaded, |value: u64| value as u32);
                cx.file.put(Dst(*register), &narrow, ALL);
            }
        }
    }
    Ok(())
}
