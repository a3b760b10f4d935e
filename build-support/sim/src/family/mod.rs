//! The instructions, a family each: how they are decoded and what they do.

pub(crate) mod approx;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod bits;
pub(crate) mod call;
pub(crate) mod compare;
pub(crate) mod control;
pub(crate) mod convert;
pub(crate) mod copy;
pub(crate) mod double;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod quad;
pub(crate) mod small;
pub(crate) mod special;
pub(crate) mod stack;
pub(crate) mod video;
pub(crate) mod warp;

use gpuk_ptx::Instruction;

use crate::decode::Decoder;
use crate::program::Op;

/// What an instruction does; `None` if no family knows it.
///
/// Families share opcodes and tell each other's instructions by their types, so each is asked.
pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    if i.operands
        .iter()
        .any(|operand| matches!(operand, gpuk_ptx::Operand::Other(..)))
    {
        return None;
    }
    moves::decode(i, d)
        .map(Op::Move)
        .or_else(|| memory::decode(i, d).map(Op::Memory))
        .or_else(|| integer::decode(i, d).map(Op::Integer))
        .or_else(|| float::decode(i, d).map(Op::Float))
        .or_else(|| compare::decode(i, d).map(Op::Compare))
        .or_else(|| bits::decode(i, d).map(Op::Bits))
        .or_else(|| convert::decode(i, d).map(Op::Convert))
        .or_else(|| control::decode(i, d).map(Op::Control))
        .or_else(|| call::decode(i, d).map(Op::Call))
        .or_else(|| double::decode(i, d).map(Op::Double))
        .or_else(|| half::decode(i, d).map(Op::Half))
        .or_else(|| approx::decode(i, d).map(Op::Approx))
        .or_else(|| barrier::decode(i, d).map(Op::Barrier))
        .or_else(|| warp::decode(i, d).map(Op::Warp))
        .or_else(|| atomic::decode(i, d).map(Op::Atomic))
        .or_else(|| quad::decode(i, d).map(Op::Quad))
        .or_else(|| small::decode(i, d).map(Op::Small))
        .or_else(|| video::decode(i, d).map(Op::Video))
        .or_else(|| stack::decode(i, d).map(Op::Stack))
        .or_else(|| matrix::decode(i, d).map(Op::Matrix))
        .or_else(|| copy::decode(i, d).map(Op::Copy))
        .or_else(|| mbarrier::decode(i, d).map(Op::Mbarrier))
}
