//! `mma.m8n8k4` of `f16` (PTX ISA 9.7.15.5.1): four products of 8 × 8, each by eight lanes.
//!
//! Only compute capability 7.0 has it; for others it is made of instructions in `f32`. With sums in `f32` these are a
//! chain of fused multiply-adds from zero on, to which `c` is added last; with sums in `f16` the first two products
//! and the last two are each added up and then added to `c` in turn, and the result is rounded once more. So it is
//! here.

use gpuk_ptx::Instruction;

use super::multiply::{Named, shape, sources, targets};
use super::sum::{Factor, Sum};
use crate::context::Cx;
use crate::decode::{Decoder, Mods};
use crate::float::narrow::{canonical, f16_to_f32, f32_to_f16};
use crate::program::Pooled;
use crate::register::{ALL, LANES, Src};
use crate::shadow::Shadow;

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    /// Whether a lane has a row of `a` (else a column), and a row of `b`.
    rows_a: bool,
    rows_b: bool,
    c: Sum,
    d: Sum,
    /// Two registers of `a`, two of `b`, then those of `c` and `d`.
    rows: Pooled,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    (&*i.opcode == "mma").then_some(())?;
    let mut mods = Mods::new(i);
    (mods.take("sync") && mods.take("aligned")).then_some(())?;
    (shape(&mut mods)? == [8, 8, 4]).then_some(())?;
    let mut layout = || mods.read(|text| matches!(text, "row" | "col").then(|| text == "row"));
    let (rows_a, rows_b) = (layout()?, layout()?);
    let mut named = || mods.read(Named::from_name);
    let (to, a, b, from) = (named()?, named()?, named()?, named()?);
    mods.done()?;
    let f16 = Named::Factor(Factor::F16);
    (a == f16 && b == f16).then_some(())?;
    let (to, from) = (to.sum()?, from.sum()?);
    let [target, a, b, c] = &*i.operands else {
        return None;
    };
    let held = |sum: Sum| if sum == Sum::F16 { 4 } else { 8 };
    let mut list = sources(d, a, false)?;
    list.append(&mut sources(d, b, false)?);
    (list.len() == 4).then_some(())?;
    list.append(&mut sources(d, c, false)?);
    list.append(&mut targets(d, target, false)?);
    (list.len() == 4 + held(from) + held(to)).then_some(())?;
    Some(Op {
        rows_a,
        rows_b,
        c: from,
        d: to,
        rows: d.pool(&list)?,
    })
}

/// The row and column of a sum that a lane has at `at`.
const fn place(lane: usize, at: usize, sum: Sum) -> (usize, usize) {
    let upper = lane / 16 * 4;
    match sum {
        Sum::F16 => (lane % 4 + upper, at),
        Sum::F32 => (
            lane % 2 + (at & 2) + upper,
            (at & 4) + (lane & 2) + (at & 1),
        ),
    }
}

/// Four products and `c`; the products themselves are exact.
fn sum([first, second, third, fourth]: [(f32, f32); 4], c: f32, to: Sum) -> f32 {
    let chain = |sum: f32, (a, b): (f32, f32)| a.mul_add(b, sum);
    match to {
        Sum::F32 => {
            let products = [first, second, third, fourth];
            c + products.into_iter().fold(0.0, chain)
        }
        Sum::F16 => {
            let pair = |(a, b): (f32, f32), next| chain(a * b, next);
            c + pair(first, second) + pair(third, fourth)
        }
    }
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) {
    let list = cx.code.pooled(op.rows);
    let registers = |at: usize| cx.file.get::<u32>(Src(list.get(at).copied().unwrap_or(0)));
    let (a, b) = ([registers(0), registers(1)], [registers(2), registers(3)]);
    let part = |pair: &[[u32; LANES]; 2], lane: usize, at: usize| {
        f16_to_f32(pair[at / 2][lane] >> (16 * (at % 2)) & 0xffff)
    };
    // By the number of the product.
    let (mut rows, mut columns) = ([[[0.0; 4]; 8]; 4], [[[0.0; 8]; 4]; 4]);
    let mut sums = [[[0.0_f32; 8]; 8]; 4];
    for lane in 0..LANES {
        let (product, upper) = (lane / 4 % 4, lane / 16 * 4);
        for at in 0..4 {
            let value = part(&a, lane, at);
            if op.rows_a {
                rows[product][lane % 4 + upper][at] = value;
            } else {
                rows[product][at + upper][lane % 4] = value;
            }
            let value = part(&b, lane, at);
            if op.rows_b {
                columns[product][lane % 4][at + upper] = value;
            } else {
                columns[product][at][lane % 4 + upper] = value;
            }
        }
    }
    let held = |sum: Sum| if sum == Sum::F16 { 4 } else { 8 };
    for at in 0..8 {
        let registers = match op.c {
            Sum::F32 => registers(4 + at),
            Sum::F16 => registers(4 + at / 2),
        };
        for lane in 0..LANES {
            let addend = match op.c {
                Sum::F32 => f32::from_bits(registers[lane]),
                Sum::F16 => f16_to_f32(registers[lane] >> (16 * (at % 2)) & 0xffff),
            };
            let product = lane / 4 % 4;
            let (row, column) = place(lane, at, op.c);
            let terms = [0, 1, 2, 3].map(|k| (rows[product][row][k], columns[product][k][column]));
            sums[product][row][column] = sum(terms, addend, op.d);
        }
    }
    for at in 0..held(op.d) {
        let mut row = [0; LANES];
        for lane in 0..LANES {
            let sum = |at: usize| {
                let (row, column) = place(lane, at, op.d);
                sums[lane / 4 % 4][row][column]
            };
            row[lane] = match op.d {
                Sum::F32 => canonical(sum(at)),
                Sum::F16 => f32_to_f16(sum(2 * at)) | f32_to_f16(sum(2 * at + 1)) << 16,
            };
        }
        let target = list.get(4 + held(op.c) + at).copied().unwrap_or(0);
        cx.file.put(crate::register::Dst(target), &row, ALL);
    }
}
