//! Blocks that fail, moved behind everything else of their function.
//!
//! The front end writes the block of a check behind its branch, and the way of those that pass jumps over it. ptxas
//! keeps that order: every thread then takes a branch, and what it runs next lies further on than the machine has
//! fetched. Moved away, the branch is one that nobody takes.

use std::fmt::Write;

use super::failure::Checked;
use super::guard::{self, Guarded};
use crate::edit::{EditError, Edits};
use crate::flow::{Flow, Graph};
use crate::module::Module;
use crate::span::Span;
use crate::statement::StatementKind;
use crate::words::Words;

/// Moves the blocks of checks that stop; `None` if there is none to move.
pub(super) fn aside(module: &Module, checked: &[Checked<'_>]) -> Result<Option<String>, EditError> {
    let label = Words::new(module).free_prefix("$GPUKA");
    let mut edits = Edits::new();
    let mut number = 0;
    for found in checked {
        let (Some(graph), Some(body)) = (guard::graph(found), &found.function.body) else {
            continue;
        };
        let mut tail = String::new();
        for guard in guard::find(found, &graph) {
            let label = format!("{label}_{number}");
            let Some((span, branch, cold)) = moved(module, &found.flow, &graph, &guard, &label)
            else {
                continue;
            };
            edits.replace(span, branch);
            tail.push_str(&cold);
            number += 1;
        }
        if !tail.is_empty() {
            edits.insert(body.span.end.saturating_sub(1), format!("\tret;\n{tail}"));
        }
    }
    if number == 0 {
        return Ok(None);
    }
    edits.apply(module.text()).map(Some)
}

/// The place of a check's branch and block, the branch that stays there, and the block with its label.
fn moved(
    module: &Module,
    flow: &Flow<'_>,
    graph: &Graph,
    guard: &Guarded,
    label: &str,
) -> Option<(Span, String, String)> {
    let (first, next) = (guard.branch + 1, graph.blocks[guard.next].first);
    // Names that a function declares between its braces are known from there to its end.
    let stays = |node: usize| {
        let declares = !matches!(
            flow.kind(node),
            Some(
                StatementKind::Instruction(_)
                    | StatementKind::Block(_)
                    | StatementKind::Loc(_)
                    | StatementKind::Label(_)
            )
        );
        flow.block(node).is_none() && declares
    };
    if !guard.inline || flow.block(next).is_some() || (first..next).any(stays) {
        return None;
    }
    let predicate = flow.instruction(guard.branch)?.guard.as_ref()?;
    let predicate = &predicate.predicate.register()?.name;
    let not = if guard.passes_if { "!" } else { "" };
    let branch = flow.span(guard.branch)?;
    let (line, after) = (
        flow.nodes.get(guard.branch)?.line,
        flow.nodes.get(next)?.line,
    );
    let next = flow.span(next)?.start;
    let mut cold = format!("{label}:\n");
    let mut stay = format!("@{not}{predicate} bra \t{label};\n\n");
    // A line holds up to the next in the text.
    for (line, text) in [
        (line, &mut cold),
        (after.filter(|_| after != line), &mut stay),
    ] {
        if let Some(line) = line {
            // Writing to a string does not fail.
            let _ = writeln!(text, "\t{}", module.at(line));
        }
    }
    let text = module.at(Span::new(branch.end, next)).trim();
    let _ = writeln!(cold, "\t{text}");
    Some((Span::new(branch.start, next), stay, cold))
}
