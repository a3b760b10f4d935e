//! `mbarrier` (PTX ISA 9.7.13.15): barriers in shared memory that threads arrive at and others wait for, and that
//! count bytes of copies: decoding. Executing them is in `run`, the object itself in `phase`.

mod run;

pub(crate) use self::run::{Doze, FAILED, Outcome, execute, locate};

use gpuk_ptx::{Instruction, Operand, Type};

use super::matrix::rows::base;
use super::memory::{self, Named};
use crate::access::Base;
use crate::decode::{Decoder, Mods};
use crate::register::{Dst, Src};
use crate::shadow::{Scope, Semantics};

/// What an arrival does beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Also {
    Nothing,
    /// So many bytes are to come.
    Expect(Src),
    /// It must not be the last one.
    NoComplete,
}

/// How a phase is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The state that an arrival gave.
    State(Src),
    Parity(Src),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Init {
        count: Src,
    },
    Invalidate,
    /// More bytes are to come, or came.
    Bytes {
        count: Src,
        came: bool,
    },
    Arrive {
        /// Where the state goes.
        d: Option<Dst>,
        count: Src,
        also: Also,
        /// Whether later phases have fewer arrivals.
        drop: bool,
    },
    Test {
        d: Dst,
        wanted: Wanted,
    },
    /// `cp.async.mbarrier.arrive`; whether the arrival is one of those that are counted.
    Track {
        counted: bool,
    },
    /// Arrivals left in a state.
    Pending {
        d: Dst,
        state: Src,
    },
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    pub(crate) what: What,
    space: Named,
    base: Base,
    ordering: (Semantics, Scope),
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    let (what, address) = match &*i.opcode {
        "mbarrier" => (None, 0),
        "cp" => {
            (mods.take("async") && mods.take("mbarrier") && mods.take("arrive")).then_some(())?;
            let counted = mods.take("noinc");
            (Some(What::Track { counted }), 0)
        }
        _ => return None,
    };
    let what = match what {
        Some(what) => Some((what, address)),
        None => of_name(i, d, &mut mods)?,
    };
    let space = memory::space(&mut mods);
    let semantics = mods.read(|text| {
        Some(match text {
            "acquire" => Semantics::Acquire,
            "release" => Semantics::Release,
            "relaxed" => Semantics::Relaxed,
            _ => return None,
        })
    });
    let scope = memory::scope(&mut mods).unwrap_or(Scope::Cta);
    (mods.ty()? == Type::B64).then_some(())?;
    mods.done()?;
    matches!(space, Named::Generic | Named::Shared).then_some(())?;
    let (what, address) = what?;
    let base = match what {
        What::Pending { .. } => Base::Fixed(0),
        _ => base(d, i.operands.get(address)?)?,
    };
    let default = match what {
        What::Test { .. } => Semantics::Acquire,
        What::Bytes { .. } => Semantics::Relaxed,
        _ => Semantics::Release,
    };
    Some(Op {
        what,
        space,
        base,
        ordering: (semantics.unwrap_or(default), scope),
    })
}

/// What an opcode that begins with `mbarrier` does, and which operand is the address. The inner `None` is for
/// operands that cannot be.
fn of_name(
    i: &Instruction,
    d: &mut Decoder<'_>,
    mods: &mut Mods<'_>,
) -> Option<Option<(What, usize)>> {
    let known = [
        "init",
        "inval",
        "expect_tx",
        "complete_tx",
        "arrive",
        "arrive_drop",
        "test_wait",
        "try_wait",
        "pending_count",
    ];
    let name = mods.read(|text| known.into_iter().find(|known| *known == text))?;
    let operands = &*i.operands;
    let count = |d: &mut Decoder<'_>, operand: &Operand| d.src32(operand, Type::U32);
    Some(match (name, operands) {
        ("init", [_, threads]) => count(d, threads).map(|count| (What::Init { count }, 0)),
        ("inval", [_]) => Some((What::Invalidate, 0)),
        ("expect_tx" | "complete_tx", [_, bytes]) => count(d, bytes).map(|count| {
            let came = name == "complete_tx";
            (What::Bytes { count, came }, 0)
        }),
        ("arrive" | "arrive_drop", [state, _, rest @ ..]) => {
            let also = match (mods.take("expect_tx"), mods.take("noComplete"), rest) {
                (true, false, [bytes]) => Also::Expect(count(d, bytes)?),
                (false, true, [_]) => Also::NoComplete,
                (false, false, [] | [_]) => Also::Nothing,
                _ => return None,
            };
            let threads = match (also, rest) {
                (Also::Nothing | Also::NoComplete, [threads]) => count(d, threads)?,
                _ => d.constant32(1),
            };
            let d = match state {
                Operand::Sink => None,
                state => Some(d.dst64(state)?),
            };
            let drop = name == "arrive_drop";
            Some((
                What::Arrive {
                    d,
                    count: threads,
                    also,
                    drop,
                },
                1,
            ))
        }
        ("test_wait", [target, _, phase])
        | ("try_wait", [target, _, phase] | [target, _, phase, _]) => {
            let wanted = if mods.take("parity") {
                Wanted::Parity(count(d, phase)?)
            } else {
                Wanted::State(d.src64(phase, Type::B64)?)
            };
            let d = d.dst_predicate(target)?;
            Some((What::Test { d, wanted }, 1))
        }
        ("pending_count", [target, state]) => {
            let state = d.src64(state, Type::B64)?;
            let d = d.dst32(target)?;
            Some((What::Pending { d, state }, 0))
        }
        _ => None,
    })
}
