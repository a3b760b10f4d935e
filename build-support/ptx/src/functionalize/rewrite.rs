//! The edits that functionalize a module.

use std::collections::{BTreeSet, HashMap, HashSet};

use gpuk_device::abi::{ASSERT_FAIL, FAIL};

use super::code::{self, End, Prefix, Report};
use super::failure::{Checked, Failure};
use super::flow::{Flow, NodeId};
use super::reach::Reach;
use super::refusal::Refusal;
use super::site::{Label, Site};
use super::{Functionalized, Options};
use crate::edit::Edits;
use crate::function::{Function, FunctionKind};
use crate::instruction::Operand;
use crate::lex::{self, TokenKind};
use crate::module::{ItemKind, Module};
use crate::name::Name;
use crate::span::Span;
use crate::statement::{RegisterId, StatementKind};
use crate::variable::Linkage;

pub(super) fn rewrite(
    module: &Module,
    options: Options,
    checked: &[Checked<'_>],
    reach: &Reach,
) -> Result<Functionalized, Vec<Refusal>> {
    let mut rewriter = Rewriter {
        module,
        reach,
        prefix: Prefix::new(module.text()),
        edits: Edits::new(),
        sites: Sites::default(),
        gone: Vec::new(),
        strings: BTreeSet::new(),
    };
    let mut entries = Vec::new();
    if !reach.is_empty() {
        for function in module.functions() {
            if !reach.contains(&function.name) {
                continue;
            }
            rewriter.parameter(function);
            rewriter.calls(function);
            if function.is_entry() {
                entries.push(function.name.to_string());
            }
        }
        for found in checked {
            rewriter.function(found);
        }
        rewriter.declarations(options);
        rewriter.strings();
    }
    let text = rewriter.edits.apply(module.text()).map_err(|error| {
        vec![Refusal::Rewrite {
            function: (checked.first())
                .map(|found| found.function.name.to_string())
                .unwrap_or_default(),
            text: error.to_string(),
        }]
    })?;
    let mut sites = rewriter.sites.list;
    for (site, functions) in sites.iter_mut().zip(rewriter.sites.functions) {
        site.entries = (entries.iter())
            .filter(|entry| functions.iter().any(|name| reach.reaches(entry, name)))
            .cloned()
            .collect();
    }
    Ok(Functionalized {
        text,
        sites,
        entries,
    })
}

/// The site table as it grows.
#[derive(Debug, Default)]
struct Sites {
    list: Vec<Site>,
    /// By site: the functions that contain it.
    functions: Vec<BTreeSet<Name>>,
    known: HashMap<Label, u32>,
}

impl Sites {
    fn id(&mut self, label: &Label, function: &Name) -> u32 {
        let next = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let id = *self.known.entry(label.clone()).or_insert(next);
        if id == next {
            self.list.push(Site {
                id,
                kind: label.kind,
                file: label.file.clone(),
                line: label.line,
                condition: label.condition.clone(),
                format: label.format.clone(),
                types: label.types.clone(),
                function: function.to_string(),
                entries: Vec::new(),
            });
            self.functions.push(BTreeSet::new());
        }
        if let Some(functions) = self.functions.get_mut(id as usize) {
            functions.insert(Name::clone(function));
        }
        id
    }
}

struct Rewriter<'m> {
    module: &'m Module,
    reach: &'m Reach,
    prefix: Prefix,
    edits: Edits,
    sites: Sites,
    /// Everything that is removed or replaced.
    gone: Vec<Span>,
    /// Variables that sites read their strings from.
    strings: BTreeSet<Name>,
}

impl Rewriter<'_> {
    /// The name of a function's hidden parameter.
    fn gate(&self, function: &str) -> String {
        let mut name = format!("{function}_gpuk");
        while self.module.text().contains(&name) {
            name.push('_');
        }
        name
    }

    fn remove(&mut self, span: Span) {
        self.edits.delete(span);
        self.gone.push(span);
    }

    /// Gives a function its hidden parameter.
    fn parameter(&mut self, function: &Function) {
        let ty = match function.kind {
            FunctionKind::Entry => "u64",
            FunctionKind::Func => "b64",
        };
        let param = format!(".param .{ty} {}", self.gate(&function.name));
        match (function.params.last(), function.params_span) {
            (Some(last), _) => self.edits.insert(last.span.end, format!(",\n\t{param}")),
            (None, Some(list)) => self.edits.replace(list, format!("(\n\t{param}\n)")),
            (None, None) => self
                .edits
                .insert(function.name_span.end, format!("(\n\t{param}\n)")),
        }
    }

    /// Passes the gate on wherever the function calls one that can come to a check.
    fn calls(&mut self, function: &Function) {
        let Some(body) = &function.body else {
            return;
        };
        let mut passes = Vec::new();
        body.walk(&mut |statement| {
            let call = statement
                .instruction()
                .and_then(|found| found.call.as_ref());
            if let Some(call) = call
                && let Some(callee) = call.function()
                && self.reach.contains(callee)
            {
                passes.push((statement.span.start, call));
            }
        });
        let gate = self.gate(&function.name);
        let r = &self.prefix.register;
        for (number, (start, call)) in passes.iter().enumerate() {
            let load = code::load_gate(function.kind, &format!("{r}_pass_{number}"), &gate);
            self.edits.insert(
                *start,
                format!(
                    ".reg .b64 \t{r}_pass_{number};
\t{load}
\t.param .b64 {r}_arg_{number};
\tst.param.b64 \t[{r}_arg_{number}+0], {r}_pass_{number};
\t"
                ),
            );
            let arg = format!("{r}_arg_{number}");
            match call.args_span {
                Some(list) if call.args.is_empty() => {
                    self.edits.replace(list, format!("(\n\t{arg}\n\t)"));
                }
                Some(list) => {
                    let inside = self.module.at(Span::new(list.start, list.end - 1));
                    let end = list.start + inside.trim_end().len();
                    self.edits.insert(end, format!(", \n\t{arg}"));
                }
                None => self
                    .edits
                    .insert(call.target_span.end, format!(", ({arg})")),
            }
        }
    }

    /// Replaces the failure calls of one function.
    fn function(&mut self, checked: &Checked<'_>) {
        let Checked {
            function,
            flow,
            failures,
        } = checked;
        let gate = self.gate(&function.name);
        let mut removed = HashSet::new();
        let mut replaced = Vec::new();
        for failure in failures {
            removed.insert(failure.call);
            removed.extend(failure.serving.iter().copied());
        }
        for failure in failures {
            removed.extend(unused_params(flow, failure, &removed));
        }
        for failure in failures {
            let block = whole_block(flow, failure, &removed);
            replaced.push((failure, block.unwrap_or(failure.call)));
            removed.extend(block);
        }
        self.constants(flow, failures, &mut removed);

        let slots = (failures.iter())
            .filter(|failure| failure.label.kind.stops())
            .map(|failure| failure.values.len())
            .max();
        let goes_on = (failures.iter()).any(|failure| !failure.label.kind.stops());
        for (number, (failure, node)) in replaced.iter().enumerate() {
            let site = self.sites.id(&failure.label, &function.name).to_string();
            let text = if failure.label.kind.stops() {
                self.stop(flow, failure, &site, slots.unwrap_or(0))
            } else {
                self.go_on(flow, failure, &site, function, &gate, number)
            };
            if let Some(span) = flow.span(*node) {
                let span = self.with_comment(span);
                self.edits.replace(span, text);
                self.gone.push(span);
            }
        }
        let kept: HashSet<NodeId> = replaced.iter().map(|(_, node)| *node).collect();
        let mut lines: Vec<_> = removed
            .iter()
            .filter(|node| !kept.contains(node) && !inside_any(flow, **node, &kept))
            .filter_map(|node| flow.span(*node))
            .collect();
        lines.sort_unstable();
        for span in lines {
            let line = self.whole_line(span);
            self.remove(line);
        }
        self.declare(flow, &removed, slots, goes_on);
        if let Some(slots) = slots {
            self.tail(flow, function, &gate, slots, goes_on, failures.len());
        }
    }

    /// A site that stops: number and values to registers, off to the report.
    fn stop(&self, flow: &Flow<'_>, failure: &Failure<'_>, site: &str, slots: usize) -> String {
        let r = &self.prefix.register;
        let label = &self.prefix.label;
        let mut text = format!("mov.b32 \t{r}_site, {site};");
        for slot in 0..slots {
            let value = failure
                .values
                .get(slot)
                .map_or_else(|| "0".to_owned(), |value| code::value(value));
            text.push_str(&format!("\n\tmov.b64 \t{r}_v{slot}, {value};"));
        }
        let instruction = flow.instruction(failure.call);
        let guard = code::guard(instruction.and_then(|call| call.guard.as_ref()), false);
        let uni = if guard.is_empty() { ".uni" } else { "" };
        text.push_str(&format!("\n\t{guard}bra{uni} \t{label}_report;"));
        text
    }

    /// A site that goes on: the report in its place, once for each thread.
    fn go_on(
        &self,
        flow: &Flow<'_>,
        failure: &Failure<'_>,
        site: &str,
        function: &Function,
        gate: &str,
        number: usize,
    ) -> String {
        let r = &self.prefix.register;
        let values: Vec<_> = failure
            .values
            .iter()
            .map(|value| code::value(value))
            .collect();
        let report = Report {
            prefix: &self.prefix,
            gate,
            kind: function.kind,
            number,
            end: End::GoOn,
            site,
            values: &values,
        };
        let done = report.done();
        let instruction = flow.instruction(failure.call);
        let guard = code::guard(instruction.and_then(|call| call.guard.as_ref()), true);
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
    fn declare(
        &mut self,
        flow: &Flow<'_>,
        removed: &HashSet<NodeId>,
        slots: Option<usize>,
        goes_on: bool,
    ) {
        let r = &self.prefix.register;
        let mut text = String::new();
        if let Some(slots) = slots {
            text.push_str(&format!("\n\t.reg .b32 \t{r}_site;"));
            if slots > 0 {
                text.push_str(&format!("\n\t.reg .b64 \t{r}_v<{slots}>;"));
            }
        }
        if goes_on {
            text.push_str(&format!("\n\t.reg .pred \t{r}_seen;"));
        }
        self.edits.insert(flow.body.span.start + 1, text);
        if !goes_on {
            return;
        }
        // Behind the declarations, where the first instruction could stand.
        let mut at = flow.body.span.start + 1;
        for (id, node) in flow.nodes.iter().enumerate() {
            let declares = matches!(
                node.statement.kind,
                StatementKind::Registers(_) | StatementKind::Variables(_)
            );
            if !declares || removed.contains(&id) {
                break;
            }
            at = node.statement.span.end;
        }
        self.edits
            .insert(at, format!("\n\tmov.pred \t{r}_seen, 0;"));
    }

    /// The report of all sites that stop, at the end of the function.
    fn tail(
        &mut self,
        flow: &Flow<'_>,
        function: &Function,
        gate: &str,
        slots: usize,
        goes_on: bool,
        number: usize,
    ) {
        let r = &self.prefix.register;
        let values: Vec<_> = (0..slots).map(|slot| format!("{r}_v{slot}")).collect();
        let report = Report {
            prefix: &self.prefix,
            gate,
            kind: function.kind,
            number,
            end: End::Exit,
            site: &format!("{r}_site"),
            values: &values,
        };
        // Without a jump at its end a body returns.
        let returns = if ends_with_jump(flow) { "" } else { "\tret;\n" };
        // A thread that was recorded before has nothing to add.
        let seen = if goes_on {
            format!("\t@{r}_seen exit;\n")
        } else {
            String::new()
        };
        let text = format!(
            "\n{returns}{}_report:\n{seen}{}",
            self.prefix.label,
            report.text()
        );
        self.edits.insert(flow.body.span.end - 1, text);
    }

    /// Removes what makes constants that nothing needs any more, and notes the strings.
    fn constants(
        &mut self,
        flow: &Flow<'_>,
        failures: &[Failure<'_>],
        removed: &mut HashSet<NodeId>,
    ) {
        let mut captured: HashSet<RegisterId> = HashSet::new();
        for failure in failures {
            for value in &failure.values {
                captured.extend(value.register().map(|register| register.id));
            }
        }
        let mut open: Vec<NodeId> = (failures.iter())
            .flat_map(|failure| failure.constants.iter().copied())
            .collect();
        open.sort_unstable();
        open.dedup();
        // A chain is as long as a value is copied, so this ends soon.
        loop {
            let before = open.len();
            open.retain(|node| {
                let Some(instruction) = flow.instruction(*node) else {
                    return false;
                };
                let Some(Operand::Register(set)) = instruction.operands.first() else {
                    return false;
                };
                let needed = captured.contains(&set.id)
                    || (flow.mentions(set.id).iter())
                        .any(|other| other != node && !removed.contains(other));
                if !needed {
                    removed.insert(*node);
                    for operand in instruction.operands.iter().skip(1) {
                        if let Operand::Symbol(name, _) = operand {
                            self.strings.insert(Name::clone(name));
                        }
                    }
                }
                needed
            });
            if open.len() == before {
                break;
            }
        }
    }

    /// Removes the declarations of the failure functions.
    fn declarations(&mut self, options: Options) {
        for item in self.module.items() {
            let ItemKind::Function(function) = &item.kind else {
                continue;
            };
            let failure =
                &*function.name == FAIL || options.asserts && &*function.name == ASSERT_FAIL;
            if failure && function.body.is_none() {
                let span = self.module.with_line_end(item.span);
                self.remove(span);
            }
        }
    }

    /// Removes the strings that only sites used.
    fn strings(&mut self) {
        let mut used: HashSet<&str> = HashSet::new();
        let mut gone = self.gone.clone();
        gone.sort_unstable();
        let module = self.module;
        // The text was read before, so it splits into tokens.
        for token in lex::tokens(module.text()).unwrap_or_default() {
            let word = module.at(token.span);
            if token.kind != TokenKind::Word || !self.strings.contains(word) {
                continue;
            }
            let after = gone.partition_point(|span| span.start <= token.span.start);
            let inside = (after.checked_sub(1))
                .and_then(|index| gone.get(index))
                .is_some_and(|span| span.contains(token.span));
            let declared =
                (module.variable(word)).is_some_and(|variable| variable.name_span == token.span);
            if !inside && !declared {
                used.insert(word);
            }
        }
        let strings = std::mem::take(&mut self.strings);
        for name in &strings {
            let Some(variable) = module.variable(name) else {
                continue;
            };
            if variable.alone && variable.linkage == Linkage::Internal && !used.contains(&**name) {
                let span = module.with_line_end(variable.span);
                self.remove(span);
            }
        }
    }

    /// The span with a comment that stands behind it on its line.
    fn with_comment(&self, span: Span) -> Span {
        let rest = self.module.text().get(span.end..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        if line.trim_start().starts_with("// callseq") {
            Span::new(span.start, span.end + line.len())
        } else {
            span
        }
    }

    /// The span with its line, if nothing else stands on it.
    fn whole_line(&self, span: Span) -> Span {
        let before = self.module.text().get(..span.start).unwrap_or_default();
        let indent = before.len() - before.trim_end_matches([' ', '\t']).len();
        let start = span.start - indent;
        let at_start = start == 0 || before[..start].ends_with('\n');
        let line = self.module.with_line_end(span);
        if at_start && line.end > span.end {
            Span::new(start, line.end)
        } else {
            span
        }
    }
}

/// Declarations of `.param` variables that only the removed statements used.
fn unused_params(flow: &Flow<'_>, failure: &Failure<'_>, removed: &HashSet<NodeId>) -> Vec<NodeId> {
    let mut found = Vec::new();
    for earlier in flow.before(failure.call) {
        let Some(node) = flow.nodes.get(earlier) else {
            continue;
        };
        let StatementKind::Variables(variables) = &node.statement.kind else {
            continue;
        };
        let unused = variables.iter().all(|variable| {
            failure.passed.contains(&variable.name)
                && !flow.after(earlier).any(|later| {
                    !removed.contains(&later) && mentions_symbol(flow, later, &variable.name)
                })
        });
        if unused {
            found.push(earlier);
        }
    }
    found
}

fn mentions_symbol(flow: &Flow<'_>, node: NodeId, name: &str) -> bool {
    let Some(instruction) = flow.instruction(node) else {
        // What stands in a block of its own is not looked at.
        return flow
            .nodes
            .get(node)
            .is_some_and(|node| matches!(node.statement.kind, StatementKind::Block(_)));
    };
    let mut found = false;
    super::flow::each_operand(instruction, &mut |operand, _| {
        operand.walk(&mut |part| {
            found |= matches!(part, Operand::Symbol(symbol, _) if **symbol == *name);
        });
    });
    found
}

/// The block around a failure call, if nothing else stands in it that is needed.
fn whole_block(
    flow: &Flow<'_>,
    failure: &Failure<'_>,
    removed: &HashSet<NodeId>,
) -> Option<NodeId> {
    let block = flow.block(failure.call)?;
    let needed = |node: NodeId| match &flow.nodes.get(node)?.statement.kind {
        StatementKind::Registers(rows) => {
            let rows = flow.body.registers.get(rows.clone())?;
            let read = failure.values.iter().filter_map(|value| value.register());
            let mut read = read.chain(guard_register(flow, failure));
            Some(read.any(|register| {
                flow.body
                    .declaration(register.id)
                    .is_some_and(|found| rows.contains(found))
            }))
        }
        StatementKind::Loc(_) => Some(false),
        _ => Some(!removed.contains(&node)),
    };
    flow.inside(block)
        .all(|node| needed(node) == Some(false))
        .then_some(block)
}

fn guard_register<'m>(
    flow: &Flow<'m>,
    failure: &Failure<'_>,
) -> Option<&'m crate::instruction::Register> {
    let guard = flow.instruction(failure.call)?.guard.as_ref()?;
    guard.predicate.register()
}

/// Whether a node stands in one of `blocks`, however deep.
fn inside_any(flow: &Flow<'_>, node: NodeId, blocks: &HashSet<NodeId>) -> bool {
    let mut outer = flow.block(node);
    while let Some(block) = outer {
        if blocks.contains(&block) {
            return true;
        }
        outer = flow.block(block);
    }
    false
}

/// Whether nothing falls through the end of the body.
fn ends_with_jump(flow: &Flow<'_>) -> bool {
    let last = flow
        .body
        .statements
        .iter()
        .rev()
        .find(|statement| !matches!(statement.kind, StatementKind::Loc(_)));
    last.and_then(|statement| statement.instruction())
        .is_some_and(|instruction| {
            instruction.guard.is_none()
                && matches!(&*instruction.opcode, "ret" | "exit" | "bra" | "trap")
        })
}
