//! Which statements go when failure calls do.

use std::collections::{BTreeSet, HashSet};

use super::failure::Failure;
use crate::flow::{Flow, NodeId};
use crate::instruction::Operand;
use crate::name::Name;
use crate::statement::{RegisterId, StatementKind};

/// What becomes of the statements of a function with checks.
#[derive(Debug, Default)]
pub(super) struct Cleanup {
    /// Statements that go. Of a block that goes as a whole, those inside are here too.
    pub(super) removed: HashSet<NodeId>,
    /// For each failure the statement that its code replaces: the call, or the block around it.
    pub(super) replaced: Vec<NodeId>,
    /// Symbols that removed statements mentioned.
    pub(super) symbols: BTreeSet<Name>,
}

impl Cleanup {
    pub(super) fn new(flow: &Flow<'_>, failures: &[Failure<'_>]) -> Self {
        let mut cleanup = Self::default();
        for failure in failures {
            cleanup.removed.insert(failure.call);
            cleanup.removed.extend(failure.serving.iter().copied());
        }
        cleanup.constants(flow, failures);
        for failure in failures {
            cleanup.params(flow, failure);
        }
        for failure in failures {
            let block = cleanup.whole_block(flow, failure);
            cleanup.replaced.push(block.unwrap_or(failure.call));
        }
        cleanup.removed.extend(cleanup.replaced.iter().copied());
        cleanup
    }

    /// Removes what makes constants that nothing needs any more.
    fn constants(&mut self, flow: &Flow<'_>, failures: &[Failure<'_>]) {
        let values = failures.iter().flat_map(|failure| &failure.values);
        let captured: HashSet<RegisterId> = values
            .filter_map(|value| value.register())
            .map(|register| register.id)
            .collect();
        let makers = failures
            .iter()
            .flat_map(|failure| failure.constants.iter().copied());
        // The last step of a chain first: once it is gone, the step before it can go.
        let mut open: Vec<NodeId> = makers.collect::<BTreeSet<_>>().into_iter().rev().collect();
        loop {
            let before = open.len();
            open.retain(|node| !self.constant(flow, *node, &captured));
            if open.len() == before {
                return;
            }
        }
    }

    /// Removes one such statement, if nothing needs what it sets.
    fn constant(&mut self, flow: &Flow<'_>, node: NodeId, captured: &HashSet<RegisterId>) -> bool {
        let operands = (flow.instruction(node)).map_or(&[][..], |found| &found.operands);
        let [Operand::Register(set), sources @ ..] = operands else {
            return false;
        };
        let needed = captured.contains(&set.id)
            || (flow.mentions(set.id).iter())
                .any(|other| *other != node && !self.removed.contains(other));
        if needed {
            return false;
        }
        self.removed.insert(node);
        self.symbols
            .extend(sources.iter().filter_map(|source| match source {
                Operand::Symbol(name, _) => Some(Name::clone(name)),
                _ => None,
            }));
        true
    }

    /// Removes the declarations of `.param` variables that only removed statements use.
    fn params(&mut self, flow: &Flow<'_>, failure: &Failure<'_>) {
        let block = flow.block(failure.call);
        for earlier in flow.before(failure.call) {
            match flow.kind(earlier) {
                // Farther away it is some other call's.
                Some(StatementKind::Label(_) | StatementKind::Block(_)) => return,
                Some(StatementKind::Instruction(found)) if found.call.is_some() => return,
                Some(StatementKind::Variables(variables)) => {
                    let unused = variables.iter().all(|variable| {
                        failure.passed.contains(&variable.name)
                            && (flow.symbol(block, &variable.name).iter())
                                .all(|node| self.removed.contains(node))
                    });
                    if unused {
                        self.removed.insert(earlier);
                    }
                }
                _ => {}
            }
        }
    }

    /// The block around a failure call, if nothing else stands in it that is needed.
    fn whole_block(&self, flow: &Flow<'_>, failure: &Failure<'_>) -> Option<NodeId> {
        let block = flow.block(failure.call)?;
        let guard = flow
            .instruction(failure.call)
            .and_then(|call| call.guard.as_ref())
            .map(|guard| &guard.predicate);
        let read: Vec<RegisterId> = failure
            .values
            .iter()
            .copied()
            .chain(guard)
            .filter_map(|operand| operand.register())
            .map(|register| register.id)
            .collect();
        let goes = |node: NodeId| match flow.kind(node) {
            Some(StatementKind::Registers(rows)) => {
                let rows = flow.body.registers.get(rows.clone()).unwrap_or(&[]);
                !read.iter().any(|register| {
                    let declaration = flow.body.declaration(*register);
                    declaration.is_some_and(|found| rows.contains(found))
                })
            }
            Some(StatementKind::Loc(_)) => true,
            Some(StatementKind::Instruction(other)) if other.call.is_some() => node == failure.call,
            _ => self.removed.contains(&node),
        };
        flow.inside(block).all(goes).then_some(block)
    }
}
