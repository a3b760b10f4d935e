//! Checks of a loop whose outcome is known before the loop begins.
//!
//! Where a check compares what grows evenly from round to round with what stays, the first and the last
//! round decide for all. So the loop is written twice: without those checks for when they all pass, which is
//! decided in front of it, and as it was for when one may fail, which finds out which one and where. A loop
//! without a branch that leaves it is what ptxas unrolls, and what it moves loads in.
//!
//! - here: which loops, and the edits
//! - `step`: how a value changes from round to round
//! - `trips`: how many rounds there can be
//! - `ahead`: the code in front of the loop
//! - `piece`, `unroll`: copies of a loop, and a loop written out
//! - `early`: loads of later rounds that cannot fail where an earlier one did not
//!
//! Nothing is decided by what a number is likely to be: a difference that could wrap, or rounds that cannot
//! be counted, lead to the loop as it was.

mod ahead;
mod early;
mod piece;
mod step;
mod trips;
mod unroll;

use std::collections::HashSet;

use self::ahead::Ahead;
use self::piece::Piece;
use self::step::Rounds;
use super::EARLY;
use super::failure::Checked;
use super::guard::{self, Guarded};
use super::site::Label;
use crate::edit::{EditError, Edits};
use crate::flow::{Effect, Graph, Loop, NodeId, effect, loops};
use crate::module::Module;
use crate::span::Span;
use crate::statement::StatementKind;
use crate::words::Words;

/// A module with loops written twice.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) text: String,
    /// The checks that are decided in front of their loop.
    pub(super) labels: HashSet<Label>,
    /// What the names of registers begin with that may be loaded before the checks in front of the load.
    pub(super) early: String,
}

/// Splits the loops of a module; `None` if there is none to split.
pub(super) fn split(module: &Module, checked: &[Checked<'_>]) -> Result<Option<Split>, EditError> {
    let words = Words::new(module);
    let mut edits = Edits::new();
    let mut labels = HashSet::new();
    let early = words.free_prefix(EARLY);
    let mut number = 0;
    for found in checked {
        let Some(graph) = guard::graph(found) else {
            continue;
        };
        let guards = guard::find(found, &graph);
        let mut tail = String::new();
        let all = loops(&graph);
        for lp in &all {
            let inner = all
                .iter()
                .any(|other| other != lp && lp.blocks.contains(&other.header));
            if inner {
                continue;
            }
            let names = Names {
                register: words.free_prefix("%gpukr"),
                early: early.clone(),
                label: words.free_prefix("$GPUKR"),
                number,
            };
            let Some(twice) = twice(module, &words, found, &graph, lp, &guards, &names) else {
                continue;
            };
            number += 1;
            edits.insert(twice.start, twice.ahead);
            for (span, text) in twice.changes {
                edits.replace(span, text);
            }
            edits.insert(twice.end, twice.back);
            tail.push_str(&twice.slow);
            for guard in twice.decided {
                if let Some(failure) = found.failures.get(guard.failure) {
                    labels.insert(failure.label.clone());
                }
            }
        }
        if !tail.is_empty()
            && let Some(body) = &found.function.body
        {
            edits.insert(body.span.end.saturating_sub(1), format!("\tret;\n{tail}"));
        }
    }
    if number == 0 {
        return Ok(None);
    }
    Ok(Some(Split {
        text: edits.apply(module.text())?,
        labels,
        early,
    }))
}

/// What new names begin with, and the number of the loop.
#[derive(Debug)]
struct Names {
    register: String,
    /// Of registers that are loaded before checks in front of the load.
    early: String,
    label: String,
    number: usize,
}

/// A loop written twice, or written out in front of itself.
#[derive(Debug)]
struct Twice {
    /// In front of the loop: decides, and goes to the slow one.
    start: usize,
    ahead: String,
    /// What goes from the fast one, or is another way there.
    changes: Vec<(Span, String)>,
    /// Behind the fast one: where the slow one comes back.
    end: usize,
    back: String,
    /// The loop as it was.
    slow: String,
    decided: Vec<Guarded>,
}

fn twice(
    module: &Module,
    words: &Words<'_>,
    checked: &Checked<'_>,
    graph: &Graph,
    lp: &Loop,
    guards: &[Guarded],
    names: &Names,
) -> Option<Twice> {
    let flow = &checked.flow;
    let inside: Vec<Guarded> = (guards.iter().copied())
        .filter(|guard| lp.blocks.contains(&graph.block(guard.branch)) && guard.inline)
        .collect();
    let [latch] = lp.latches[..] else {
        return None;
    };
    if inside.is_empty() || !compact(checked, graph, lp, latch, guards) {
        return None;
    }
    let (first, last) = (graph.blocks[lp.header].first, graph.blocks[latch].end - 1);
    // One way in, from above.
    let entries = (graph.blocks[lp.header].predecessors.iter()).filter(|from| **from != latch);
    if !entries.eq([&lp.header.checked_sub(1)?]) {
        return None;
    }
    let rounds = Rounds::new(flow, graph, lp, latch);
    let mut ahead = Ahead::new(&rounds, &names.register);
    let count = trips::count(&rounds, &mut ahead, last)?;
    let all = inside.clone();
    let decided: Vec<Guarded> = (inside.into_iter())
        .filter(|guard| ahead.decide(guard, &count).is_some())
        .collect();
    let piece = Piece {
        module,
        words,
        flow,
        first,
        last,
    };
    if decided.is_empty() {
        return unroll::unrolled(&piece, &all, ahead, &count, names);
    }

    let Names { label, number, .. } = names;
    let (span, slow) = (piece.span()?, format!("{label}_{number}_"));
    let back = format!("{label}_{number}");
    let gone = decided.iter().map(|guard| {
        let label = graph.blocks[guard.next].first;
        let span = Span::new(flow.span(guard.branch)?.start, flow.span(label)?.start);
        Some((span, piece.line(label)))
    });
    let mut changes = gone.collect::<Option<Vec<_>>>()?;
    // The rounds are known, and ptxas unrolls a loop that counts them.
    let left = format!("{}_left_{number}", names.register);
    changes.push((
        flow.span(last)?,
        format!(
            "add.s64 \t{left}, {left}, -1;
\tsetp.ge.s64 \t{left}_p, {left}, 0;
\t@{left}_p bra \t{};",
            piece.label()?
        ),
    ));
    Some(Twice {
        start: span.start,
        ahead: format!(
            ".reg .b64 \t{left};\n\t.reg .pred \t{left}_p;\n\t{}",
            ahead.begin(&left, &count, &format!("{slow}{}", piece.header()?))
        ),
        changes,
        end: span.end,
        back: format!("\n{back}:"),
        slow: format!(
            "{}{}\n\tbra.uni \t{back};\n",
            piece.line(first),
            piece.copy(span, &piece.labels(&slow))
        ),
        decided,
    })
}

/// Whether a loop stands in one piece, goes only forward but for its end, and can be copied.
fn compact(
    checked: &Checked<'_>,
    graph: &Graph,
    lp: &Loop,
    latch: usize,
    guards: &[Guarded],
) -> bool {
    let flow = &checked.flow;
    let cold = |block: usize| {
        !graph.reached(block)
            || (guards.iter())
                .any(|guard| guard.cold == block && lp.blocks.contains(&graph.block(guard.branch)))
    };
    let pieces = lp.header..=latch;
    let whole = pieces
        .clone()
        .all(|block| lp.blocks.contains(&block) || cold(block))
        && lp.blocks.iter().all(|block| pieces.contains(block));
    let forward = lp.blocks.iter().all(|block| {
        (graph.blocks[*block].successors.iter())
            .all(|next| *next > *block || (*block == latch && *next == lp.header))
    });
    // Lanes of a warp can go different ways, but must come to the same barrier, vote or call.
    let apart = |node: NodeId| {
        flow.instruction(node).is_none_or(|found| {
            let fails = checked.failures.iter().any(|failure| failure.call == node);
            let passes = &*found.opcode == "st" && found.has("param");
            fails
                || passes
                || effect(found) != Effect::Fixed
                || matches!(
                    &*found.opcode,
                    "bra" | "exit" | "ret" | "trap" | "red" | "atom"
                )
        })
    };
    let copied = |node: NodeId| {
        let plain = !matches!(
            flow.kind(node),
            Some(
                StatementKind::BranchTargets { .. }
                    | StatementKind::CallTargets { .. }
                    | StatementKind::CallPrototype { .. }
                    | StatementKind::Other
            ) | None
        );
        // A label of an inner scope is not in sight elsewhere; a declaration would be made twice.
        let inner = flow.block(node).is_some();
        let scope = match flow.kind(node) {
            Some(StatementKind::Label(_)) => !inner,
            Some(StatementKind::Registers(_) | StatementKind::Variables(_)) => inner,
            _ => true,
        };
        plain && scope && apart(node)
    };
    let (first, last) = (graph.blocks[lp.header].first, graph.blocks[latch].end - 1);
    let level = flow.block(first).is_none() && flow.block(last).is_none();
    whole && forward && level && (first..=last).all(copied)
}
