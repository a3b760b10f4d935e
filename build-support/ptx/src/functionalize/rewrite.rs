//! The edits that functionalize a module.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Functionalized;
use super::again::Again;
use super::before::{Before, Shared};
use super::cleanup::Cleanup;
use super::code::{self, End, Prefix, Report, Value};
use super::failure::{Checked, Failing, Failure};
use super::form::Early;
use super::gate;
use super::lines;
use super::reach::Reach;
use super::site::Sites;
use super::skip;
use super::strings::Strings;
use crate::edit::{EditError, Edits};
use crate::flow::{Flow, NodeId};
use crate::instruction::Operand;
use crate::module::{ItemKind, Module};
use crate::name::Name;
use crate::span::Span;
use crate::statement::StatementKind;
use crate::variable::Linkage;
use crate::words::Words;

/// Makes all edits of a module that has checks and no reason to be refused.
pub(super) fn rewrite(
    module: &Module,
    failing: &Failing<'_>,
    strings: &Strings<'_>,
    checked: &[Checked<'_>],
    reach: &Reach,
    early: &Early,
) -> Result<Functionalized, EditError> {
    let words = Words::new(module);
    let prefix = Prefix {
        register: words.free_prefix("%gpuk"),
        label: words.free_prefix("$GPUK"),
    };
    let shared = Shared::new(module, &words, checked, reach);
    let mut edits = Edits::new();
    let mut gates: HashMap<Name, String> = HashMap::new();
    let mut entries = Vec::new();
    for function in module.functions() {
        if !reach.contains(&function.name) {
            continue;
        }
        let gate = gate::name(&words, function);
        gate::declare(&mut edits, function, &gate);
        gate::pass(&mut edits, module, &prefix, reach, &shared, function, &gate);
        skip::insert(&mut edits, function, &prefix, &gate);
        shared.declare(&mut edits, function, &prefix, &gate);
        gates.insert(Name::clone(&function.name), gate);
        if function.is_entry() {
            entries.push(function.name.to_string());
        }
    }

    let mut sites = Sites::default();
    let mut rewriter = Rewriter {
        module,
        prefix: &prefix,
        edits,
        gone: Vec::new(),
        symbols: BTreeSet::new(),
    };
    for found in checked {
        if let Some(gate) = gates.get(&found.function.name) {
            rewriter.function(found, gate, &shared, &mut sites);
        }
    }
    rewriter.failing(failing);
    let unused = strings.unused(&words, &rewriter.symbols, &rewriter.gone);
    for span in unused {
        rewriter.remove_line(span);
    }
    Ok(Functionalized {
        text: rewriter.edits.apply(module.text())?,
        sites: sites.finish(&entries, reach, early),
        entries,
    })
}

struct Rewriter<'m> {
    module: &'m Module,
    prefix: &'m Prefix,
    edits: Edits,
    /// Everything that is removed or replaced.
    gone: Vec<Span>,
    /// Symbols that removed statements mentioned.
    symbols: BTreeSet<Name>,
}

impl Rewriter<'_> {
    /// Replaces the failure calls of one function.
    fn function(&mut self, checked: &Checked<'_>, gate: &str, shared: &Shared, sites: &mut Sites) {
        let Checked {
            function,
            flow,
            failures,
        } = checked;
        let goes_on = failures.iter().any(|found| !found.label.kind.stops());
        let before = shared.of(function, goes_on);
        let cleanup = Cleanup::new(flow, failures);
        for (number, (failure, node)) in failures.iter().zip(&cleanup.replaced).enumerate() {
            let site = sites.id(failure, &function.name);
            let text = self.report(checked, failure, gate, site, &before, number);
            if let Some(span) = flow.span(*node) {
                let span = lines::with_comment(self.module, span);
                self.edits.replace(span, text);
                self.gone.push(span);
            }
        }
        self.remove(flow, &cleanup);
        if before == Before::Predicate {
            self.declare_seen(flow, &cleanup.removed);
        }
        self.symbols.extend(cleanup.symbols);
    }

    /// Removes all statements that go and are not replaced.
    fn remove(&mut self, flow: &Flow<'_>, cleanup: &Cleanup) {
        let replaced: HashSet<NodeId> = cleanup.replaced.iter().copied().collect();
        let within = |node: NodeId| {
            let outer = |node: &NodeId| flow.block(*node);
            std::iter::successors(Some(node), outer).any(|node| replaced.contains(&node))
        };
        let removed = cleanup.removed.iter().filter(|node| !within(**node));
        let mut spans: Vec<_> = removed.filter_map(|node| flow.span(*node)).collect();
        spans.sort_unstable();
        for span in spans {
            self.remove_line(span);
        }
    }

    /// The code of one site.
    fn report(
        &self,
        checked: &Checked<'_>,
        failure: &Failure<'_>,
        gate: &str,
        site: u32,
        before: &Before,
        number: usize,
    ) -> String {
        let done = format!("{}_done_{number}", self.prefix.label);
        let stops = failure.label.kind.stops();
        let types = failure.label.types.iter().copied();
        let values = failure.values.iter().copied().zip(types);
        let report = Report {
            prefix: self.prefix,
            gate,
            kind: checked.function.kind,
            end: if stops { End::Exit } else { End::GoOn(&done) },
            before,
            site: site.to_string(),
            values: values
                .map(|(value, ty)| (Self::value(checked, value), ty))
                .collect(),
        };
        let call = checked.flow.instruction(failure.call);
        let unless = code::unless(call.and_then(|call| call.guard.as_ref()));
        let mut text = String::new();
        if let Some(guard) = &unless {
            text.push_str(&format!("{guard} bra \t{done};\n\t"));
        }
        text.push_str(report.text().trim());
        if unless.is_some() || !stops {
            text.push_str(&format!("\n{done}:"));
        }
        text
    }

    /// A captured value.
    fn value<'m>(checked: &Checked<'m>, value: &Operand) -> Value<'m> {
        match Again::new(checked.function, &checked.flow, value) {
            Some(again) => Value::Again(again),
            None => Value::Operand(code::operand(value)),
        }
    }

    /// Declares the predicate of a thread that failed before and went on.
    fn declare_seen(&mut self, flow: &Flow<'_>, removed: &HashSet<NodeId>) {
        let r = &self.prefix.register;
        let start = flow.body.span.start + 1;
        self.edits
            .insert(start, format!("\n\t.reg .pred \t{r}_seen;"));
        // Behind the declarations, where the first instruction could stand.
        let statements = flow.nodes.iter().enumerate();
        let declarations = statements.take_while(|(id, node)| {
            let declares = matches!(
                node.statement.kind,
                StatementKind::Registers(_) | StatementKind::Variables(_)
            );
            declares && !removed.contains(id)
        });
        let at = declarations
            .last()
            .map_or(start, |(_, node)| node.statement.span.end);
        self.edits
            .insert(at, format!("\n\tmov.pred \t{r}_seen, 0;"));
    }

    /// Removes the declarations of the failure functions; one with a body is never called again.
    fn failing(&mut self, failing: &Failing<'_>) {
        for item in self.module.items() {
            let ItemKind::Function(function) = &item.kind else {
                continue;
            };
            if !failing.contains(&function.name) {
                continue;
            }
            let Some(body) = &function.body else {
                if function.linkage == Linkage::Extern {
                    self.remove_line(item.span);
                }
                continue;
            };
            body.walk(&mut |statement| {
                let call = statement
                    .instruction()
                    .and_then(|found| found.call.as_ref());
                let callee = call.and_then(|call| call.function());
                if callee.is_some_and(|callee| failing.contains(callee)) {
                    self.edits.replace(statement.span, "exit;");
                    self.gone.push(statement.span);
                }
            });
        }
    }

    /// Removes a span, with its line if nothing else stands on it.
    fn remove_line(&mut self, span: Span) {
        let span = lines::whole(self.module, span);
        self.edits.delete(span);
        self.gone.push(span);
    }
}
