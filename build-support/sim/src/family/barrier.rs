//! Barriers and fences (PTX ISA 9.7.13).

use gpuk_ptx::{Instruction, Type};

use super::memory;
use crate::context::Cx;
use crate::decode::{Decoder, Mods};
use crate::register::{Dst, LANES, Pred, Src};
use crate::shadow::{Scope, Semantics, Shadow};
use crate::warp::Group;

/// What the threads at a barrier count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduce {
    Count,
    And,
    Or,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    /// `bar.sync`, `bar.arrive`, `bar.red` and their `barrier` forms.
    Block {
        number: Src,
        /// Threads that take part; all if not said.
        threads: Option<Src>,
        /// Whether to wait.
        wait: bool,
        /// Whether a warp comes as a whole.
        aligned: bool,
        reduce: Option<(Reduce, Dst, Pred)>,
    },
    ClusterArrive,
    ClusterWait,
    Fence {
        scope: Scope,
        semantics: Semantics,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    match &*i.opcode {
        "bar" | "barrier" => {
            if mods.take("cluster") {
                return cluster(i, mods);
            }
            block(i, d, mods)
        }
        "membar" | "fence" => fence(i, mods),
        _ => None,
    }
}

fn block(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    mods.take("cta");
    let aligned = mods.take("aligned") || &*i.opcode == "bar";
    let what =
        mods.read(|text| matches!(text, "sync" | "arrive" | "red").then(|| text.to_owned()))?;
    if what != "red" {
        mods.done()?;
        let (number, threads) = match &*i.operands {
            [number] if what == "sync" => (number, None),
            [number, threads] => (number, Some(threads)),
            _ => return None,
        };
        return Some(Op::Block {
            number: d.src32(number, Type::U32)?,
            threads: match threads {
                Some(threads) => Some(d.src32(threads, Type::U32)?),
                None => None,
            },
            wait: what == "sync",
            aligned,
            reduce: None,
        });
    }
    let reduce = mods.read(|text| {
        Some(match text {
            "popc" => Reduce::Count,
            "and" => Reduce::And,
            "or" => Reduce::Or,
            _ => return None,
        })
    })?;
    let ty = mods.ty()?;
    mods.done()?;
    let (target, number, threads, p) = match &*i.operands {
        [target, number, p] => (target, number, None, p),
        [target, number, threads, p] => (target, number, Some(threads), p),
        _ => return None,
    };
    let target = match (reduce, ty) {
        (Reduce::Count, Type::U32) => d.dst32(target)?,
        (Reduce::And | Reduce::Or, Type::Pred) => d.dst_predicate(target)?,
        _ => return None,
    };
    Some(Op::Block {
        number: d.src32(number, Type::U32)?,
        threads: match threads {
            Some(threads) => Some(d.src32(threads, Type::U32)?),
            None => None,
        },
        wait: true,
        aligned,
        reduce: Some((reduce, target, d.predicate(p)?)),
    })
}

fn cluster(i: &Instruction, mut mods: Mods<'_>) -> Option<Op> {
    let arrive = mods.take("arrive");
    let wait = mods.take("wait");
    mods.take("aligned");
    let _ = mods.take("release") || mods.take("relaxed") || mods.take("acquire");
    mods.done()?;
    (i.operands.is_empty() && arrive != wait).then_some(())?;
    Some(if arrive {
        Op::ClusterArrive
    } else {
        Op::ClusterWait
    })
}

fn fence(i: &Instruction, mut mods: Mods<'_>) -> Option<Op> {
    if mods.take("proxy") {
        // Every proxy sees the same memory here, so what orders them orders nothing more.
        return Some(Op::Fence {
            scope: Scope::Sys,
            semantics: Semantics::AcquireRelease,
        });
    }
    if mods.rest() == ["mbarrier_init", "release", "cluster"] {
        return Some(Op::Fence {
            scope: Scope::Cluster,
            semantics: Semantics::Release,
        });
    }
    i.operands.is_empty().then_some(())?;
    let old = &*i.opcode == "membar";
    let level = mods.read(|text| {
        Some(match text {
            "gl" => Scope::Gpu,
            _ => return None,
        })
    });
    let semantics = memory::ordering(&mut mods)?;
    mods.take("sync_restrict::shared::cluster");
    mods.take("sync_restrict::shared::cta");
    mods.done()?;
    let scope = match level {
        Some(level) => level,
        None => semantics.scope,
    };
    let semantics = match (old, semantics.semantics) {
        (true, _) => Semantics::SequentiallyConsistent,
        (false, Semantics::Weak) => Semantics::AcquireRelease,
        (false, semantics) => semantics,
    };
    Some(Op::Fence { scope, semantics })
}

/// Executes what nobody waits for, and gives what a barrier gave to those that waited. `false` if the group
/// has yet to come to the barrier.
#[inline]
pub(crate) fn execute<S: Shadow>(op: &Op, group: &mut Group, cx: &mut Cx<'_, S>) -> bool {
    match *op {
        Op::Fence { scope, semantics } => {
            if scope > Scope::Cta {
                std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            }
            if S::ACTIVE {
                let shadow = cx.grid.shadow;
                shadow.fence(&mut cx.block.shadow, cx.warp, cx.mask, scope, semantics);
            }
            true
        }
        Op::Block { reduce, .. } => {
            let Some(result) = group.released.take() else {
                return false;
            };
            match reduce {
                None => {}
                Some((Reduce::Count, d, _)) => cx.file.put(d, &[result >> 1; LANES], cx.mask),
                Some((reduce, d, _)) => {
                    // How many said yes, then whether all did.
                    let holds = match reduce {
                        Reduce::And => result & 1 != 0,
                        _ => result > 1,
                    };
                    let all = if holds { u32::MAX } else { 0 };
                    cx.file.put_predicate(d, all, cx.mask);
                }
            }
            true
        }
        Op::ClusterArrive | Op::ClusterWait => group.released.take().is_some(),
    }
}
