//! A check as the front end lays it out: a condition, a branch, and a block that only fails.

use super::failure::Checked;
use crate::flow::{BlockId, Graph, NodeId};
use crate::statement::StatementKind;

/// A check that stops, with the branch that decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guarded {
    /// Which of the function's failures.
    pub(super) failure: usize,
    /// The branch.
    pub(super) branch: NodeId,
    /// Whether the check passes where the branch's predicate is true.
    pub(super) passes_if: bool,
    /// Where one goes on that passes.
    pub(super) next: BlockId,
    /// The block that fails.
    pub(super) cold: BlockId,
    /// Whether the text goes on with `cold` behind the branch, and with `next` behind `cold`.
    pub(super) inline: bool,
}

/// The graph of a function, in which a check that stops leads nowhere.
pub(super) fn graph(checked: &Checked<'_>) -> Option<Graph> {
    let ends = |node: NodeId| {
        let stops = |call: NodeId| {
            let guard = checked.flow.instruction(call).map(|call| &call.guard);
            guard == Some(&None)
        };
        (checked.failures.iter())
            .any(|found| found.call == node && found.label.kind.stops() && stops(node))
    };
    Graph::new(&checked.flow, &ends)
}

/// The checks of a function that are laid out so.
pub(super) fn find(checked: &Checked<'_>, graph: &Graph) -> Vec<Guarded> {
    let each = checked.failures.iter().enumerate();
    each.filter_map(|(failure, found)| {
        if !found.label.kind.stops() {
            return None;
        }
        guarded(checked, graph, failure, found.call)
    })
    .collect()
}

fn guarded(checked: &Checked<'_>, graph: &Graph, failure: usize, call: NodeId) -> Option<Guarded> {
    let flow = &checked.flow;
    let cold = graph.block(call);
    let block = graph.blocks.get(cold)?;
    let [before] = block.predecessors[..] else {
        return None;
    };
    // `trap` behind an assert is in no block that can be reached.
    if !block.successors.is_empty() || block.end != call + 1 || !graph.reached(cold) {
        return None;
    }
    let other =
        |node: NodeId| (checked.failures.iter()).any(|found| found.call == node && node != call);
    if (block.first..block.end).any(other) {
        return None;
    }
    let branch = graph.blocks.get(before)?.end - 1;
    let instruction = flow.instruction(branch)?;
    let guard = instruction.guard.as_ref()?;
    guard.predicate.register()?;
    if &*instruction.opcode != "bra" || flow.block(branch).is_some() {
        return None;
    }
    let next = match graph.blocks.get(before)?.successors[..] {
        [a, b] if a == cold => b,
        [a, b] if b == cold => a,
        _ => return None,
    };
    // The branch leads to the one, the text goes on with the other.
    let falls = before + 1;
    let inline = falls == cold;
    if falls != cold && falls != next {
        return None;
    }
    Some(Guarded {
        failure,
        branch,
        passes_if: inline != guard.negated,
        next,
        cold,
        inline: inline && next_in_text(flow, graph, cold) == Some(next),
    })
}

/// The block whose label stands behind a block, over what only follows a call that does not return.
fn next_in_text(flow: &crate::flow::Flow<'_>, graph: &Graph, cold: BlockId) -> Option<BlockId> {
    let mut next = cold + 1;
    loop {
        let block = graph.blocks.get(next)?;
        if graph.reached(next) {
            return Some(next);
        }
        let idle = |node: NodeId| {
            matches!(flow.kind(node), Some(StatementKind::Loc(_)))
                || flow
                    .instruction(node)
                    .is_some_and(|found| &*found.opcode == "trap")
        };
        if !(block.first..block.end).all(idle) {
            return None;
        }
        next += 1;
    }
}
