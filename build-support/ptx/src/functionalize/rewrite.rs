//! The edits that functionalize a module.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Functionalized;
use super::cleanup::Cleanup;
use super::code::{self, End, Prefix, Report};
use super::failure::{Checked, Failing, Failure};
use super::flow::{Flow, NodeId};
use super::gate;
use super::reach::Reach;
use super::site::Sites;
use super::strings::Strings;
use crate::edit::{EditError, Edits};
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
) -> Result<Functionalized, EditError> {
    let words = Words::new(module);
    let prefix = Prefix {
        register: words.free_prefix("%gpuk"),
        label: words.free_prefix("$GPUK"),
    };
    let mut edits = Edits::new();
    let mut gates: HashMap<Name, String> = HashMap::new();
    let mut entries = Vec::new();
    for function in module.functions() {
        if !reach.contains(&function.name) {
            continue;
        }
        let gate = gate::name(&words, function);
        gate::declare(&mut edits, function, &gate);
        gate::pass(&mut edits, module, &prefix, reach, function, &gate);
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
            rewriter.function(found, gate, &mut sites);
        }
    }
    rewriter.failing(failing);
    let unused = strings.unused(&words, &rewriter.symbols, &rewriter.gone);
    for span in unused {
        rewriter.remove_line(span);
    }
    Ok(Functionalized {
        text: rewriter.edits.apply(module.text())?,
        sites: sites.finish(&entries, reach),
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

/// A function with checks while it is rewritten.
struct Context<'m> {
    checked: &'m Checked<'m>,
    gate: &'m str,
    /// Registers for the values of sites that stop; `None` without such sites.
    slots: Option<usize>,
    /// Whether a site goes on, so that a thread can fail twice.
    goes_on: bool,
}

impl Rewriter<'_> {
    /// Replaces the failure calls of one function.
    fn function(&mut self, checked: &Checked<'_>, gate: &str, sites: &mut Sites) {
        let Checked {
            function,
            flow,
            failures,
        } = checked;
        let stopping = failures.iter().filter(|found| found.label.kind.stops());
        let context = Context {
            checked,
            gate,
            slots: stopping.map(|found| found.values.len()).max(),
            goes_on: failures.iter().any(|found| !found.label.kind.stops()),
        };
        let cleanup = Cleanup::new(flow, failures);
        for (number, (failure, node)) in failures.iter().zip(&cleanup.replaced).enumerate() {
            let site = sites.id(&failure.label, &function.name).to_string();
            let text = if failure.label.kind.stops() {
                self.stop(&context, failure, &site)
            } else {
                self.go_on(&context, failure, &site, number)
            };
            if let Some(span) = flow.span(*node) {
                let span = self.with_comment(span);
                self.edits.replace(span, text);
                self.gone.push(span);
            }
        }
        self.remove(flow, &cleanup);
        self.declare(&context, &cleanup.removed);
        if let Some(slots) = context.slots {
            self.tail(&context, slots);
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

    /// A site that stops: number and values to registers, off to the report.
    fn stop(&self, context: &Context<'_>, failure: &Failure<'_>, site: &str) -> String {
        let Prefix { register: r, label } = self.prefix;
        let mut text = format!("mov.b32 \t{r}_site, {site};");
        for slot in 0..context.slots.unwrap_or(0) {
            let value = failure.values.get(slot);
            let value = value.map_or_else(|| "0".to_owned(), |value| code::value(value));
            text.push_str(&format!("\n\tmov.b64 \t{r}_v{slot}, {value};"));
        }
        let call = context.checked.flow.instruction(failure.call);
        let guard = code::guard(call.and_then(|call| call.guard.as_ref()), false);
        let uni = if guard.is_empty() { ".uni" } else { "" };
        text.push_str(&format!("\n\t{guard}bra{uni} \t{label}_report;"));
        text
    }

    /// A site that goes on: the report in its place, once for each thread.
    fn go_on(
        &self,
        context: &Context<'_>,
        failure: &Failure<'_>,
        site: &str,
        number: usize,
    ) -> String {
        let r = &self.prefix.register;
        let values = failure.values.iter().map(|value| code::value(value));
        let report = Report {
            prefix: self.prefix,
            gate: context.gate,
            kind: context.checked.function.kind,
            number,
            end: End::GoOn,
            site,
            values: &values.collect::<Vec<_>>(),
        };
        let done = report.done();
        let call = context.checked.flow.instruction(failure.call);
        let guard = code::guard(call.and_then(|call| call.guard.as_ref()), true);
        let skip = if guard.is_empty() {
            String::new()
        } else {
            format!("{guard}bra \t{done};\n\t")
        };
        format!(
            "{skip}@{r}_seen bra \t{done};\n\tmov.pred \t{r}_seen, -1;\n{}{done}:",
            report.text()
        )
    }

    /// Declares the function's registers.
    fn declare(&mut self, context: &Context<'_>, removed: &HashSet<NodeId>) {
        let r = &self.prefix.register;
        let flow = &context.checked.flow;
        let start = flow.body.span.start + 1;
        let mut text = String::new();
        if let Some(slots) = context.slots {
            text.push_str(&format!("\n\t.reg .b32 \t{r}_site;"));
            if slots > 0 {
                text.push_str(&format!("\n\t.reg .b64 \t{r}_v<{slots}>;"));
            }
        }
        if context.goes_on {
            text.push_str(&format!("\n\t.reg .pred \t{r}_seen;"));
        }
        self.edits.insert(start, text);
        if !context.goes_on {
            return;
        }
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

    /// The report of all sites that stop, at the end of the function.
    fn tail(&mut self, context: &Context<'_>, slots: usize) {
        let Prefix { register: r, label } = self.prefix;
        let Checked {
            function,
            flow,
            failures,
        } = context.checked;
        let values: Vec<_> = (0..slots).map(|slot| format!("{r}_v{slot}")).collect();
        let report = Report {
            prefix: self.prefix,
            gate: context.gate,
            kind: function.kind,
            number: failures.len(),
            end: End::Exit,
            site: &format!("{r}_site"),
            values: &values,
        };
        // Without a jump at its end a body returns.
        let returns = if ends_with_jump(flow) { "" } else { "\tret;\n" };
        // A thread that was recorded before has nothing to add.
        let seen = if context.goes_on {
            format!("\t@{r}_seen exit;\n")
        } else {
            String::new()
        };
        let text = format!("\n{returns}{label}_report:\n{seen}{}", report.text());
        self.edits.insert(flow.body.span.end - 1, text);
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
        let before = self.module.at(Span::new(0, span.start));
        let start = before.trim_end_matches([' ', '\t']).len();
        let line = self.module.with_line_end(span);
        let alone = line.end > span.end && (start == 0 || before[..start].ends_with('\n'));
        let span = if alone {
            Span::new(start, line.end)
        } else {
            span
        };
        self.edits.delete(span);
        self.gone.push(span);
    }

    /// The span with the compiler's comment behind its closing brace.
    fn with_comment(&self, span: Span) -> Span {
        let rest = self.module.text().get(span.end..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        if line.trim_start().starts_with("// callseq") {
            Span::new(span.start, span.end + line.len())
        } else {
            span
        }
    }
}

/// Whether nothing falls through the end of the body.
fn ends_with_jump(flow: &Flow<'_>) -> bool {
    let mut statements = flow.body.statements.iter().rev();
    statements
        .find(|statement| !matches!(statement.kind, StatementKind::Loc(_)))
        .and_then(|statement| statement.instruction())
        .is_some_and(|last| {
            last.guard.is_none() && matches!(&*last.opcode, "ret" | "exit" | "bra" | "trap")
        })
}
