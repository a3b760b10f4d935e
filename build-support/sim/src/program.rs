//! Decoded functions.

use std::ops::Range;

use crate::family::{
    approx, atomic, barrier, bits, call, compare, control, convert, copy, double, float, half,
    integer, matrix, mbarrier, memory, moves, quad, small, special, stack, video, warp,
};
use crate::register::{Constants, Counts, Dst, Pred, Src};

/// A decoded instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction {
    /// Which lanes of those that come here execute it.
    pub(crate) guard: Pred,
    /// What it does.
    pub(crate) op: Op,
}

/// What an instruction does: a variant for each family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Integer(integer::Op),
    Bits(bits::Op),
    Float(float::Op),
    Double(double::Op),
    Half(half::Op),
    Approx(approx::Op),
    Convert(convert::Op),
    Small(small::Op),
    Video(video::Op),
    Compare(compare::Op),
    Move(moves::Op),
    Special(special::Op),
    Memory(memory::Op),
    Atomic(atomic::Op),
    Quad(quad::Op),
    Warp(warp::Op),
    Barrier(barrier::Op),
    Control(control::Op),
    Call(call::Op),
    Stack(stack::Op),
    Matrix(matrix::Op),
    Copy(copy::Op),
    Mbarrier(mbarrier::Op),
    /// Not known; its text is found by its place.
    Unsupported,
}

/// The rows of an instruction with one destination and up to three sources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args {
    pub(crate) d: Dst,
    pub(crate) a: Src,
    pub(crate) b: Src,
    pub(crate) c: Src,
}

/// A formal parameter, or a value given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formal {
    /// In the frame's local memory: its offset there and its bytes.
    Param { offset: u32, bytes: u32 },
    /// A 32-bit or narrower register.
    R32(Dst),
    /// A 64-bit register.
    R64(Dst),
    /// A predicate.
    Predicate(Dst),
}

/// A function's instructions and what they need.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) name: String,
    /// Ends with one that returns.
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) constants: Constants,
    pub(crate) counts: Counts,
    /// Whether some register may be read before it is written.
    pub(crate) zero: bool,
    /// Number in the module of the first instruction.
    pub(crate) first: u32,
    /// The module's line, and the place in the text, of each instruction.
    pub(crate) lines: Vec<Line>,
    /// Bytes of a frame's local memory: local variables and parameters.
    pub(crate) local: u32,
    pub(crate) params: Vec<Formal>,
    pub(crate) returns: Vec<Formal>,
    /// Lists of rows and targets that instructions name by range.
    pub(crate) pool: Vec<u32>,
    /// Calls, named by number.
    pub(crate) calls: Vec<call::Call>,
}

/// Where an instruction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    /// Number of the module's `.loc`; `u32::MAX` for none.
    pub(crate) loc: u32,
    /// First byte in the PTX text.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

/// A range of a function's [`pool`](Code::pool).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pooled {
    pub(crate) start: u32,
    pub(crate) len: u16,
}

impl Pooled {
    pub(crate) const fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

impl Code {
    pub(crate) fn pooled(&self, list: Pooled) -> &[u32] {
        self.pool.get(list.range()).unwrap_or_default()
    }
}
