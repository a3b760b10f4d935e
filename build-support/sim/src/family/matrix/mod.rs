//! Matrices that the lanes of a warp hold together (PTX ISA 9.7.15): products, and moving them from and to memory.
//!
//! - `multiply`: `mma` and `wmma.mma`; `sum`, `eight`, `double`, `integer`: the arithmetic
//! - `fragment`: `wmma.load` and `wmma.store`; `rows`: `ldmatrix`, `stmatrix`, `movmatrix`
//! - `volta`: `mma.m8n8k4` of `f16`
//! - `gather`: which lane holds which element
//!
//! Not here: `mma.sp`, block scaling (`.kind`), `wgmma`, `tcgen05`. All lanes of the warp execute an instruction of
//! this family together; `warp/align` sees to that.

mod double;
mod eight;
mod fragment;
mod gather;
mod integer;
mod multiply;
pub(crate) mod rows;
mod sum;
mod volta;

use gpuk_ptx::Instruction;

use crate::context::{Cx, Stop};
use crate::decode::Decoder;
use crate::shadow::Shadow;

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Multiply(multiply::Op),
    Volta(volta::Op),
    Fragment(fragment::Op),
    Rows(rows::Op),
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    multiply::decode(i, d)
        .map(Op::Multiply)
        .or_else(|| volta::decode(i, d).map(Op::Volta))
        .or_else(|| fragment::decode(i, d).map(Op::Fragment))
        .or_else(|| rows::decode(i, d).map(Op::Rows))
}

/// Executes the instruction for the whole warp.
pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    match op {
        Op::Multiply(op) => multiply::execute(op, cx),
        Op::Volta(op) => volta::execute(op, cx),
        Op::Fragment(op) => return fragment::execute(op, cx),
        Op::Rows(op) => return rows::execute(op, cx),
    }
    Ok(())
}
