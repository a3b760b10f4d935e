//! Calls (PTX ISA 9.7.13), and the functions that the system brings. The warp carries them out; see
//! `warp/call` and `system`.

use gpuk_ptx::{Instruction, Operand, Param, Type};

use crate::decode::link::Symbol;
use crate::decode::{Decoder, Mods, size_of};
use crate::register::{Dst, Pred, Src};

/// A function that the system brings (CUDA programming guide: formatted output, assertion, dynamic global
/// memory allocation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    Vprintf,
    AssertFail,
    Malloc,
    Free,
}

impl System {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "vprintf" => Self::Vprintf,
            "__assertfail" => Self::AssertFail,
            "malloc" => Self::Malloc,
            "free" => Self::Free,
            _ => return None,
        })
    }
}

/// What is passed, or takes what comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actual {
    /// A variable in the caller's frame: its offset there.
    Param(u32),
    /// A row of 32 bits.
    R32(Src),
    /// A row of 64 bits.
    R64(Src),
    /// A predicate.
    Predicate(Pred),
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function of the module.
    Function(u32),
    /// The function whose address each lane has.
    Pointer(Src),
    /// A function of the system.
    System(System),
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) args: Vec<Actual>,
    pub(crate) returns: Vec<Actual>,
}

/// An instruction of this family: the number of a call of its function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    pub(crate) call: u32,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    (&*i.opcode == "call").then_some(())?;
    let mut mods = Mods::new(i);
    mods.take("uni");
    mods.done()?;
    let call = i.call.as_ref()?;
    let callee = match &call.target {
        Operand::Symbol(name, 0) => match *d.link.symbols.get(name)? {
            Symbol::Function(number) => {
                d.callees.insert(number);
                Callee::Function(number)
            }
            Symbol::System(system) => Callee::System(system),
            _ => return None,
        },
        target => {
            d.indirect = true;
            Callee::Pointer(d.src64(target, Type::U64)?)
        }
    };
    let args: Option<Vec<_>> = call.args.iter().map(|arg| actual(arg, d)).collect();
    let returns: Option<Vec<_>> = call.returns.iter().map(|arg| actual(arg, d)).collect();
    let number = d.code.calls.len() as u32;
    d.code.calls.push(Call {
        callee,
        args: args?,
        returns: returns?,
    });
    Some(Op { call: number })
}

fn actual(operand: &Operand, d: &mut Decoder<'_>) -> Option<Actual> {
    if let Some(offset) = d.frame_variable(operand) {
        return Some(Actual::Param(offset));
    }
    if let Some(predicate) = d
        .predicate(operand)
        .filter(|_| operand.register().is_some())
    {
        return Some(Actual::Predicate(predicate));
    }
    // A constant has the width that the function's parameter has; 64 bits serve both.
    let source = d.source(operand, Type::B64)?;
    Some(if source.wide {
        Actual::R64(source.row)
    } else {
        Actual::R32(source.row)
    })
}

/// The row that a value given back goes to.
pub(crate) const fn target(row: Src) -> Dst {
    Dst(row.0)
}

/// Bytes that parameters take, one after the other at their alignments.
pub(crate) fn laid_out(params: &[Param]) -> Vec<(u64, u64, u64)> {
    let mut end = 0_u64;
    let mut list = Vec::with_capacity(params.len());
    for param in params {
        let (bytes, align) = size_of(param);
        let offset = end.next_multiple_of(align);
        list.push((offset, bytes, align));
        end = offset.saturating_add(bytes);
    }
    list
}
