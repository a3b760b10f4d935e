//! Copies that go on while threads do (PTX ISA 9.7.9.25): when their bytes land here is told in `copies`.
//!
//! - `simple`: `cp.async`, which each thread does for itself
//! - `bulk`: `cp.async.bulk`, `cp.reduce.async.bulk`
//! - `remote`: `st.async`, `red.async`
//! - `reduce`: the arithmetic of reductions
//!
//! Tensor maps (`cp.async.bulk.tensor`) are not here.

mod bulk;
mod reduce;
mod remote;
mod simple;

pub(crate) use self::bulk::{land, leave};
pub(crate) use self::reduce::Reduction;
pub(crate) use self::simple::land_tracked;

use gpuk_ptx::{Instruction, Operand, Type};

use crate::context::{Cx, Stop};
use crate::decode::{Decoder, Mods};
use crate::shadow::Shadow;

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Simple(simple::Op),
    Bulk(bulk::Op),
    Remote(remote::Op),
    /// Waits until at most so many groups are on their way.
    Wait {
        bulk: bool,
        /// The number; `None` for everything, committed or not.
        groups: Option<u32>,
        /// Whether it is enough that what is copied was read.
        read: bool,
    },
    Commit {
        bulk: bool,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    if matches!(&*i.opcode, "st" | "red") && mods.take("async") {
        return remote::decode(i, d, mods).map(Op::Remote);
    }
    (&*i.opcode == "cp").then_some(())?;
    let reduces = mods.take("reduce");
    mods.take("async").then_some(())?;
    if reduces {
        return bulk::decode(i, d, mods, true).map(Op::Bulk);
    }
    let bulk = mods.take("bulk");
    if mods.take("commit_group") {
        mods.done()?;
        return i.operands.is_empty().then_some(Op::Commit { bulk });
    }
    if mods.take("wait_all") {
        mods.done()?;
        return (i.operands.is_empty() && !bulk).then_some(Op::Wait {
            bulk,
            groups: None,
            read: false,
        });
    }
    if mods.take("wait_group") {
        let read = bulk && mods.take("read");
        mods.done()?;
        let [groups] = &*i.operands else { return None };
        let groups = u32::try_from(Decoder::immediate(groups, Type::U32)?).ok()?;
        return Some(Op::Wait {
            bulk,
            groups: Some(groups),
            read,
        });
    }
    if bulk {
        bulk::decode(i, d, mods, false).map(Op::Bulk)
    } else {
        simple::decode(i, d, mods).map(Op::Simple)
    }
}

/// The operands of an instruction, the last of which is how to cache if `hint` says so.
fn operands(i: &Instruction, hint: bool) -> Option<&[Operand]> {
    let count = i.operands.len().checked_sub(usize::from(hint))?;
    i.operands.get(..count)
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let warp = cx.warp;
    match *op {
        Op::Simple(ref op) => simple::execute(op, cx),
        Op::Bulk(ref op) => bulk::execute(op, cx),
        Op::Remote(ref op) => remote::execute(op, cx),
        Op::Commit { bulk } => {
            let mask = cx.mask;
            let copies = cx.block.copies(warp);
            let committed = if bulk {
                &mut copies.bulk_committed
            } else {
                &mut copies.committed
            };
            for lane in crate::register::lanes_of(mask) {
                committed[lane] += 1;
            }
            Ok(())
        }
        Op::Wait {
            bulk: true,
            groups,
            read,
        } => bulk::wait(cx, groups.unwrap_or(0), read),
        Op::Wait { groups, .. } => simple::wait(cx, groups),
    }
}
