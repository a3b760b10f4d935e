//! `st.async` and `red.async` (PTX ISA 9.7.9.13 and 9.7.13.9): a register of each thread goes to the shared memory of a
//! block of the cluster, and an `mbarrier` there counts its bytes.

use gpuk_ptx::{Instruction, Type};

use super::Reduction;
use super::bulk::{send, with_rank};
use crate::access::{self, Base};
use crate::context::{Cx, Stop};
use crate::copies::{Flight, Source};
use crate::decode::{Decoder, Mods};
use crate::family::matrix::rows::base;
use crate::family::mbarrier;
use crate::family::memory::{self, Named};
use crate::finding::Kind;
use crate::program::Pooled;
use crate::register::{Src, lanes_of};
use crate::shadow::Shadow;
use crate::transfer::{self, Range};

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    target: Base,
    barrier: Base,
    /// The registers, of `bytes` each.
    values: Pooled,
    bytes: u8,
    reduce: Option<Reduction>,
}

pub(super) fn decode(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let reduces = &*i.opcode == "red";
    memory::ordering(&mut mods)?;
    (memory::space(&mut mods) == Named::Shared).then_some(())?;
    mods.take("mbarrier::complete_tx::bytes").then_some(())?;
    let (reduce, ty, count) = if reduces {
        let reduction = Reduction::decode(&mut mods)?;
        (Some(reduction), reduction.ty, 1)
    } else {
        let count = mods.read(|text| match text {
            "v2" => Some(2),
            "v4" => Some(4),
            _ => None,
        });
        (None, mods.ty()?, count.unwrap_or(1))
    };
    mods.done()?;
    matches!(ty.bits(), 32 | 64).then_some(())?;
    let [target, value, barrier] = &*i.operands else {
        return None;
    };
    let elements = d.elements(value);
    let rows: Option<Vec<u32>> = (elements.iter())
        .map(|element| {
            d.src(element, if reduces { ty } else { bits_of(ty) })
                .map(|row| row.0)
        })
        .collect();
    let rows = rows.filter(|rows| rows.len() == count)?;
    Some(Op {
        target: base(d, target)?,
        barrier: base(d, barrier)?,
        values: d.pool(&rows)?,
        bytes: ty.bytes() as u8,
        reduce,
    })
}

/// The type without a meaning, of a register of any type of that width.
fn bits_of(ty: Type) -> Type {
    match (ty, ty.bits()) {
        (Type::F32 | Type::F64, _) => ty,
        (_, 64) => Type::B64,
        _ => Type::B32,
    }
}

pub(super) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let targets = access::addresses(cx, op.target);
    let barriers = access::addresses(cx, op.barrier);
    let list = cx.code.pooled(op.values);
    for lane in lanes_of(cx.mask) {
        let mut bytes = Vec::new();
        for row in list {
            if op.bytes == 8 {
                bytes.extend(cx.file.get::<u64>(Src(*row))[lane].to_le_bytes());
            } else {
                bytes.extend(cx.file.get::<u32>(Src(*row))[lane].to_le_bytes());
            }
        }
        let address = with_rank(targets[lane], cx.block.rank);
        let count = bytes.len() as u32;
        if !address.is_multiple_of(count.into()) {
            let text = format!("{count} bytes at {address:#x}, which is no multiple of {count}");
            return Err(cx.stop(Kind::Misaligned, lane, text));
        }
        let range = Range {
            space: Named::Shared,
            address,
            bytes: count,
            lane,
        };
        let barrier = mbarrier::locate(cx, Named::Shared, barriers[lane], lane)?;
        if transfer::probe(cx, range, true)? {
            let cluster = cx.grid.first_of(cx.block.index);
            let flight = Flight {
                cluster,
                barrier,
                source: Source::Bytes(bytes),
                address,
                bytes: count,
                reduce: op.reduce,
            };
            send(cx, flight, lane)?;
        }
    }
    cx.worker.stirs += 1;
    Ok(())
}
