//! Loads of later rounds that cannot fail where that of the first did not.
//!
//! A check of what a loop loads, an index say, decides whether the next round loads at all. Loads that wait
//! for each other are what a kernel of such loops spends its time with. But memory is mapped by pages: where
//! the elements of eight rounds fill one aligned block of 32 or 64 bytes, the later can be read if the first
//! was, and what they hold is not looked at unless the checks before have passed.

use std::ops::RangeInclusive;

use super::ahead::Ahead;
use super::step::{Held, Rounds, Term};
use super::unroll::COPIES;
use crate::flow::NodeId;
use crate::functionalize::guard::Guarded;
use crate::instruction::{Operand, Register};
use crate::name::Name;

/// A load of one element after the other.
#[derive(Debug)]
pub(super) struct Load {
    /// The register that it sets.
    pub(super) to: Name,
    base: Register,
    offset: i64,
    /// Bytes of the elements of all copies.
    size: u64,
}

/// The loads of a loop that go on evenly, if one of its checks is of one of them.
pub(super) fn loads(
    rounds: &Rounds<'_>,
    nodes: RangeInclusive<NodeId>,
    checks: &[Guarded],
) -> Vec<Load> {
    let wanted = |node: NodeId| checks.iter().any(|check| feeds(rounds, node, check.branch));
    let found = nodes.filter_map(|node| Some((node, load(rounds, node)?)));
    let found: Vec<_> = found.collect();
    // Where no check is of such a load, none stands in the way of the others.
    if !found.iter().any(|(node, _)| wanted(*node)) {
        return Vec::new();
    }
    found.into_iter().map(|(_, load)| load).collect()
}

fn load(rounds: &Rounds<'_>, node: NodeId) -> Option<Load> {
    let found = rounds.flow.instruction(node)?;
    let [Operand::Register(to), Operand::Address(address)] = &found.operands[..] else {
        return None;
    };
    let plain = &*found.opcode == "ld" && found.has("global") && !found.has("volatile");
    let base = address.base.register()?;
    if !plain || found.guard.is_some() || !matches!(rounds.held(base, node)?, Held::Carried(_)) {
        return None;
    }
    let bytes: u64 = match &**found.modifiers.last()? {
        "b32" | "u32" | "s32" | "f32" => 4,
        "b64" | "u64" | "s64" | "f64" => 8,
        _ => return None,
    };
    let step = rounds.step(&address.base, node)?;
    let dense = step
        == [Term {
            factor: bytes.cast_signed(),
            register: None,
        }];
    dense.then(|| Load {
        to: Name::clone(&to.name),
        base: base.clone(),
        offset: address.offset,
        size: bytes * COPIES,
    })
}

/// Whether what a statement sets is in what a branch goes by, in the same round.
fn feeds(rounds: &Rounds<'_>, node: NodeId, branch: NodeId) -> bool {
    let mut open = vec![branch];
    let mut seen = Vec::new();
    while let Some(at) = open.pop() {
        if at == node {
            return true;
        }
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        let Some(found) = rounds.flow.instruction(at) else {
            continue;
        };
        let guard = found.guard.iter().map(|guard| &guard.predicate);
        let skipped = usize::from(at != branch);
        for operand in found.operands.iter().skip(skipped).chain(guard) {
            operand.walk(&mut |part| {
                if let Operand::Register(register) = part
                    && let Some(Held::Set(set)) = rounds.held(register, at)
                {
                    open.push(set);
                }
            });
        }
    }
    false
}

impl Load {
    /// Requires that the first of the elements begins a block.
    pub(super) fn align(&self, ahead: &mut Ahead<'_>) {
        let (base, offset, mask) = (&self.base.name, self.offset, self.size - 1);
        let low = ahead.set("b32", |to| format!("cvt.u32.u64 \t{to}, {base};"));
        let low = ahead.set("b32", |to| format!("add.s32 \t{to}, {low}, {offset};"));
        let rest = ahead.set("b32", |to| format!("and.b32 \t{to}, {low}, {mask};"));
        ahead.require("eq.s32", &rest, "0");
    }
}
