//! Checks that stand behind each other, made together.
//!
//! A branch that leaves keeps ptxas from moving what follows in front of it, so the loads behind a check wait
//! for it, and what uses one load stands in the way of the next. Here the statements between such checks are
//! put in another order: each check as early as its operands are there, those that can be made at once by one
//! branch, then the loads that they guard, and what uses those last.
//!
//! - here: which statements, and the edits
//! - `unit`: the statements and what each must come after
//! - `order`: the order
//!
//! Nobody can tell the difference. A load or store never moves in front of a check before it, a check never in
//! front of a barrier or what else others see at once, and of two checks the first still decides first. A
//! check that moved in front of a store owes it where it fails.

mod order;
mod unit;

use std::collections::HashSet;
use std::fmt::Write;

use self::order::{Failing, Step, order};
use self::unit::{Placed, Unit};
use super::failure::Checked;
use super::guard::{self, Guarded};
use super::site::Label;
use crate::edit::{EditError, Edits};
use crate::flow::{BlockId, Flow, Graph, NodeId};
use crate::instruction::Operand;
use crate::module::Module;
use crate::span::Span;
use crate::statement::StatementKind;
use crate::words::Words;

/// A module with checks made together.
#[derive(Debug)]
pub(super) struct Grouped {
    pub(super) text: String,
    /// The checks that are made with others, or before loads that stood before them.
    pub(super) labels: HashSet<Label>,
}

/// The most statements that are put in another order.
const MAX_UNITS: usize = 4096;

/// Groups the checks of a module; `None` if there is nothing to do. Registers whose names begin with `early`
/// may be loaded before the checks in front of the load.
pub(super) fn group(
    module: &Module,
    checked: &[Checked<'_>],
    early: Option<&str>,
) -> Result<Option<Grouped>, EditError> {
    let words = Words::new(module);
    let register = words.free_prefix("%gpukg");
    let label = words.free_prefix("$GPUKG");
    let mut edits = Edits::new();
    let mut labels = HashSet::new();
    let mut number = 0;
    for found in checked {
        let Some(graph) = guard::graph(found) else {
            continue;
        };
        let guards = guard::find(found, &graph);
        let mut tail = String::new();
        let first = number;
        for trace in traces(&found.flow, &graph, &guards) {
            let names = Names {
                register: &register,
                label: &label,
                number: &mut number,
            };
            let Some((span, text, cold)) = rewrite(module, found, &graph, &trace, early, names)
            else {
                continue;
            };
            edits.replace(span, text);
            tail.push_str(&cold);
            for guard in &trace.guards {
                if let Some(failure) = found.failures.get(guard.failure) {
                    labels.insert(failure.label.clone());
                }
            }
        }
        if number > first
            && let Some(body) = &found.function.body
        {
            let mut predicates = String::new();
            for number in first..number {
                // Writing to a string does not fail.
                let _ = write!(
                    predicates,
                    "\n\t.reg .pred \t{register}_{number}, {register}_{number}_n;"
                );
            }
            edits.insert(body.span.start + 1, predicates);
            edits.insert(body.span.end.saturating_sub(1), format!("\tret;\n{tail}"));
        }
    }
    if number == 0 {
        return Ok(None);
    }
    Ok(Some(Grouped {
        text: edits.apply(module.text())?,
        labels,
    }))
}

/// What new names begin with, and the number of the next.
#[derive(Debug)]
struct Names<'a> {
    register: &'a str,
    label: &'a str,
    number: &'a mut usize,
}

/// Blocks that are left only forward or by failing a check.
#[derive(Debug)]
struct Trace {
    first: BlockId,
    last: BlockId,
    guards: Vec<Guarded>,
}

/// The traces with more than one check.
fn traces(flow: &Flow<'_>, graph: &Graph, guards: &[Guarded]) -> Vec<Trace> {
    let mut found: Vec<Trace> = Vec::new();
    let mut ordered: Vec<Guarded> = guards
        .iter()
        .copied()
        .filter(|guard| guard.inline)
        .collect();
    ordered.sort_by_key(|guard| guard.branch);
    for guard in ordered {
        let block = graph.block(guard.branch);
        let alone =
            graph.blocks[guard.next].predecessors == [block] && whole(flow, graph, guard.next);
        match found.last_mut() {
            Some(trace) if trace.last == block => {
                trace.guards.push(guard);
                trace.last = if alone { guard.next } else { block };
            }
            _ if !whole(flow, graph, block) => {}
            _ => found.push(Trace {
                first: block,
                last: if alone { guard.next } else { block },
                guards: vec![guard],
            }),
        }
    }
    found.retain(|trace| trace.guards.len() > 1);
    found
}

/// Whether a block begins and ends outside of braces.
fn whole(flow: &Flow<'_>, graph: &Graph, block: BlockId) -> bool {
    let block = &graph.blocks[block];
    let outer = |node: NodeId| std::iter::successors(Some(node), |node| flow.block(*node)).last();
    let begins = outer(block.first).is_some_and(|outer| outer >= block.first);
    let behind = block.end;
    begins && (behind >= flow.nodes.len() || outer(behind).is_some_and(|outer| outer >= behind))
}

/// The statements of a trace in their new order, and what goes to the end of the body.
fn rewrite(
    module: &Module,
    checked: &Checked<'_>,
    graph: &Graph,
    trace: &Trace,
    early: Option<&str>,
    names: Names<'_>,
) -> Option<(Span, String, String)> {
    let flow = &checked.flow;
    let units = unit::units(flow, graph, trace, early)?;
    if units.len() > MAX_UNITS {
        return None;
    }
    let steps = order(&units);
    let start = flow.span(graph.blocks[trace.first].first)?.start;
    let (end, behind) = match trace.guards.last() {
        // The last check's block fails behind its branch, and stands there no more.
        Some(guard) if graph.block(guard.branch) == trace.last => {
            let next = graph.blocks[guard.next].first;
            (flow.span(next)?.start, next)
        }
        _ => {
            let last = graph.blocks[trace.last].end - 1;
            (flow.span(last)?.end, last)
        }
    };
    let Names {
        register,
        label,
        number,
    } = names;
    let (mut text, mut tail) = (String::new(), String::new());
    let mut loc = None;
    for step in steps {
        match step {
            Step::Run(index) => {
                let node = units.get(index)?.node;
                if let Some(line) = unit::loc(flow, node)
                    && loc != Some(line)
                {
                    loc = Some(line);
                    text.push_str(module.at(line));
                    text.push_str("\n\t");
                }
                text.push_str(module.at(flow.span(node)?));
                text.push_str("\n\t");
            }
            Step::Check(group) => {
                let ok = format!("{register}_{number}");
                let cold = format!("{label}_{number}");
                *number += 1;
                let together = highest(flow, &units, &group, &ok);
                text.push_str(together.as_deref().unwrap_or_default());
                let mut first = true;
                let _ = writeln!(tail, "{cold}:");
                for (at, failing) in group.iter().enumerate() {
                    let Unit::Check { guard, .. } = &units.get(failing.check)?.kind else {
                        return None;
                    };
                    let predicate = flow.instruction(guard.branch)?.guard.as_ref()?;
                    let predicate = &predicate.predicate.register()?.name;
                    // The predicate that says whether the check passes.
                    let not = if guard.passes_if { "" } else { "!" };
                    let _ = match (first, guard.passes_if) {
                        _ if together.is_some() => Ok(()),
                        (true, true) => write!(text, "mov.pred \t{ok}, {predicate};\n\t"),
                        (true, false) => write!(text, "not.pred \t{ok}, {predicate};\n\t"),
                        (false, true) => write!(text, "and.pred \t{ok}, {ok}, {predicate};\n\t"),
                        (false, false) => write!(
                            text,
                            "not.pred \t{ok}_n, {predicate};\n\tand.pred \t{ok}, {ok}, {ok}_n;\n\t"
                        ),
                    };
                    first = false;
                    if at + 1 < group.len() {
                        let _ = writeln!(tail, "\t@{not}{predicate} bra \t{cold}_{at};");
                    }
                    for owed in &failing.owed {
                        let node = units.get(*owed)?.node;
                        let _ = writeln!(tail, "\t{}", with_line(module, flow, node)?);
                    }
                    if let Some(line) = unit::loc(flow, guard.branch) {
                        let _ = writeln!(tail, "\t{}", module.at(line));
                    }
                    tail.push_str(cold_text(module, checked, graph, guard)?);
                    if at + 1 < group.len() {
                        let _ = writeln!(tail, "\n{cold}_{at}:");
                    }
                }
                tail.push('\n');
                let _ = write!(text, "@!{ok} bra \t{cold};\n\t");
            }
        }
    }
    // A line holds up to the next in the text.
    if let Some(line) = unit::loc(flow, behind)
        && loc != Some(line)
    {
        text.push_str(module.at(line));
    }
    Some((
        Span::new(start, end),
        text.trim_end().to_owned() + "\n",
        tail,
    ))
}

/// Where all checks of a group ask whether a number is below the same bound, their highest number decides: a
/// tree of maxima takes less time than a chain of comparisons.
fn highest(flow: &Flow<'_>, units: &[Placed], group: &[Failing], ok: &str) -> Option<String> {
    let single = |operand: &Operand| match operand {
        Operand::Register(register) if flow.definitions(register.id).len() == 1 => {
            Some(register.name.to_string())
        }
        _ => None,
    };
    let mut bound = None;
    let mut open = Vec::new();
    for failing in group {
        let Unit::Check { guard, .. } = &units.get(failing.check)?.kind else {
            return None;
        };
        let predicate = &flow.instruction(guard.branch)?.guard.as_ref()?.predicate;
        let [set] = flow.definitions(predicate.register()?.id) else {
            return None;
        };
        let test = flow.instruction(*set)?;
        let [_, number, limit] = &test.operands[..] else {
            return None;
        };
        let limit = single(limit)?;
        if !guard.passes_if || test.guard.is_some() || !test.is("setp.lt.u32") {
            return None;
        }
        if bound.get_or_insert_with(|| limit.clone()) != &limit {
            return None;
        }
        let number = single(number)?;
        if !open.contains(&number) {
            open.push(number);
        }
    }
    let bound = bound.filter(|_| open.len() > 2)?;
    let mut text = format!("{{\n\t.reg .b32 \t{ok}_m<{}>;\n\t", open.len());
    let mut made = 0;
    while open.len() > 1 {
        let pairs = open.chunks(2).map(|pair| match pair {
            [a, b] => {
                let name = format!("{ok}_m{made}");
                made += 1;
                // Writing to a string does not fail.
                let _ = write!(text, "max.u32 \t{name}, {a}, {b};\n\t");
                name
            }
            alone => alone.concat(),
        });
        open = pairs.collect();
    }
    let _ = write!(
        text,
        "setp.lt.u32 \t{ok}, {}, {bound};\n\t}}\n\t",
        open.concat()
    );
    Some(text)
}

/// A statement behind the line that it is of.
fn with_line(module: &Module, flow: &Flow<'_>, node: NodeId) -> Option<String> {
    let text = module.at(flow.span(node)?);
    Some(match unit::loc(flow, node) {
        Some(line) => format!("{}\n\t{text}", module.at(line)),
        None => text.to_owned(),
    })
}

/// The text of a block that fails, without its label.
fn cold_text<'m>(
    module: &'m Module,
    checked: &Checked<'_>,
    graph: &Graph,
    guard: &Guarded,
) -> Option<&'m str> {
    let flow = &checked.flow;
    let block = &graph.blocks[guard.cold];
    let mut first = block.first;
    if let Some(StatementKind::Label(_)) = flow.kind(first) {
        first += 1;
    }
    let start = flow.span(first)?.start;
    let end = flow.span(graph.blocks[guard.next].first)?.start;
    Some(module.at(Span::new(start, end)))
}
