//! Where a thread goes on (PTX ISA 9.7.13, 9.7.19), but for calls. The warp carries these out; see
//! `warp/run`.

use gpuk_ptx::{Instruction, Type};

use crate::decode::{Decoder, Mods};
use crate::program::Pooled;
use crate::register::Src;

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    /// A label's number until the function is decoded, then its place.
    Branch {
        target: u32,
    },
    /// To the target of that index.
    BranchIndex {
        index: Src,
        targets: Pooled,
    },
    Return,
    Exit,
    Trap,
    /// Does nothing that can be seen: `nanosleep`, `pmevent`, `brkpt` without a debugger, prefetches.
    Nothing,
    /// Lets other lanes and warps go first: `nanosleep`.
    Yield,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    match (&*i.opcode, &*i.operands) {
        ("bra", [target]) => {
            mods.take("uni");
            mods.done()?;
            Some(Op::Branch {
                target: d.label(target)?,
            })
        }
        ("brx", [index, targets]) => {
            mods.take("uni");
            mods.take("idx").then_some(())?;
            mods.done()?;
            Some(Op::BranchIndex {
                index: d.src32(index, Type::U32)?,
                targets: d.branch_targets(targets)?,
            })
        }
        ("ret", []) => {
            mods.take("uni");
            mods.done()?;
            Some(Op::Return)
        }
        ("exit", []) => mods.done().map(|()| Op::Exit),
        ("trap", []) => mods.done().map(|()| Op::Trap),
        ("brkpt", []) => mods.done().map(|()| Op::Nothing),
        ("nanosleep", [time]) => {
            (mods.ty()? == Type::U32).then_some(())?;
            mods.done()?;
            d.src32(time, Type::U32)?;
            Some(Op::Yield)
        }
        (
            "pmevent" | "setmaxnreg" | "griddepcontrol" | "discard" | "applypriority" | "prefetch"
            | "prefetchu",
            _,
        ) => Some(Op::Nothing),
        _ => None,
    }
}
