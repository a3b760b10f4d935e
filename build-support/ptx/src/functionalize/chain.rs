//! The calls that a check was inlined through, as line information tells them.
//!
//! A `.loc` of inlined code names the place of the call (PTX ISA 11.5); where that place was inlined itself, a `.loc`
//! before it says. The compiler writes that one once for each call, not once for each copy of the code (CUDA 13.0): once
//! two calls of a function have been inlined, the text alone does not always tell which is meant. Then all are named
//! that it can be.
//!
//! Other steps put the text in another order, so each failing call is marked with its chain before them.

use std::collections::HashMap;

use super::failure::Failing;
use crate::edit::{EditError, Edits};
use crate::flow::{Flow, Graph, NodeId};
use crate::function::Function;
use crate::module::{ItemKind, Module};
use crate::span::Span;
use crate::statement::{Inlined, Loc, StatementKind};

/// A call that was inlined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// PTX symbol of the function that the call stands in. `None` in an entry, and where it is not known.
    pub function: Option<String>,
    /// The source file, as the compiler saw it.
    pub file: String,
    /// Its line, from 1. Several, rising, where it is one of these calls and not known which.
    pub lines: Vec<u32>,
}

/// What a check was inlined through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// PTX symbol of the inlined function that the check stands in.
    pub(super) function: Option<String>,
    /// The nearest first.
    pub(super) calls: Vec<Call>,
}

/// The chains of a module whose failing calls are marked.
#[derive(Debug, Default)]
pub(super) struct Chains {
    list: Vec<Chain>,
}

/// Around the number of a chain, in front of the function that a failing call names.
const MARK: (&str, &str) = ("/*gpuk ", "*/");

/// Functions of headers that a failing call was inlined with.
const OURS: [&str; 3] = ["4gpuk6detail", "__assert_fail", "_wassert"];

impl Chains {
    /// The chain of a failing call.
    pub(super) fn of(&self, module: &Module, span: Option<Span>) -> Option<&Chain> {
        let text = module.at(span.filter(|_| !self.list.is_empty())?);
        let (_, rest) = text.split_once(MARK.0)?;
        let (number, _) = rest.split_once(MARK.1)?;
        self.list.get(number.parse::<usize>().ok()?)
    }
}

/// The module with its failing calls marked; `None` if none was inlined.
pub(super) fn mark(
    module: &Module,
    failing: &Failing<'_>,
) -> Result<Option<(String, Chains)>, EditError> {
    if !module.text().contains("inlined_at") {
        return Ok(None);
    }
    let names = Names::new(module);
    let mut edits = Edits::new();
    let mut chains = Chains::default();
    for function in module.functions() {
        let Some(body) = &function.body else {
            continue;
        };
        let flow = Flow::new(body);
        let calls = (0..flow.nodes.len()).filter(|node| is_failing(&flow, *node, failing));
        let calls: Vec<_> = calls.collect();
        if calls.is_empty() {
            continue;
        }
        let lines = Lines::new(module, function, &flow, &names);
        let mut before: Vec<(NodeId, Position)> = Vec::new();
        for call in calls {
            let Some((check, position)) = lines.check(call) else {
                continue;
            };
            let chain = lines.chain(check, &|anchor| {
                let mut known = before.iter();
                known.any(|(other, same)| *other > anchor && *same == position)
            });
            before.push((call, position));
            let target = flow.instruction(call).and_then(|it| it.call.as_ref());
            if let (false, Some(target)) = (chain.calls.is_empty(), target) {
                let number = chains.list.len();
                edits.insert(
                    target.target_span.start,
                    format!("{}{number}{} ", MARK.0, MARK.1),
                );
                chains.list.push(chain);
            }
        }
    }
    if chains.list.is_empty() {
        return Ok(None);
    }
    Ok(Some((edits.apply(module.text())?, chains)))
}

fn is_failing(flow: &Flow<'_>, node: NodeId, failing: &Failing<'_>) -> bool {
    let call = flow.instruction(node).and_then(|it| it.call.as_ref());
    let callee = call.and_then(|call| call.function());
    callee.is_some_and(|callee| failing.contains(callee))
}

/// File, line and column.
type Position = (u32, u32, u32);

const fn position(loc: &Loc) -> Position {
    (loc.file, loc.line, loc.column)
}

const fn place(at: &Inlined) -> Position {
    (at.file, at.line, at.column)
}

/// The lines of a function.
struct Lines<'f, 'm> {
    module: &'m Module,
    function: &'f Function,
    graph: Option<Graph>,
    names: &'f Names<'m>,
    /// In the order of the text.
    locs: Vec<(NodeId, &'m Loc)>,
    /// Those of a place.
    at: HashMap<Position, Vec<usize>>,
}

/// Which line a place is.
enum Found {
    One(usize),
    /// It is one of these.
    Several(Vec<usize>),
}

impl<'f, 'm> Lines<'f, 'm> {
    fn new(
        module: &'m Module,
        function: &'f Function,
        flow: &Flow<'m>,
        names: &'f Names<'m>,
    ) -> Self {
        let nodes = flow.nodes.iter().enumerate();
        let locs = nodes.filter_map(|(id, node)| match &node.statement.kind {
            StatementKind::Loc(loc) if loc.line > 0 => Some((id, loc)),
            _ => None,
        });
        let locs: Vec<_> = locs.collect();
        let mut at: HashMap<Position, Vec<usize>> = HashMap::new();
        for (line, (_, loc)) in locs.iter().enumerate() {
            at.entry(position(loc)).or_default().push(line);
        }
        Self {
            locs,
            at,
            graph: Graph::new(flow, &|_| false),
            module,
            function,
            names,
        }
    }

    /// The line of a check, from its failing call, and its place.
    fn check(&self, call: NodeId) -> Option<(usize, Position)> {
        let mut line = self.before(call)?;
        loop {
            let loc = self.locs.get(line)?.1;
            let Some(at) = &loc.inlined else {
                return Some((line, position(loc)));
            };
            let ours = self
                .name(at)
                .is_some_and(|name| OURS.iter().any(|ours| name.contains(ours)));
            if !ours {
                return Some((line, position(loc)));
            }
            let at = place(at);
            line = match self.deciding(call, at) {
                Some(branch) => branch,
                None => self.last(line, at)?,
            };
        }
    }

    /// The line of the branch that leads to a failing call, if that is of this place: of that one its text is sure.
    fn deciding(&self, call: NodeId, at: Position) -> Option<usize> {
        let graph = self.graph.as_ref()?;
        let block = graph.blocks.get(graph.block(call))?;
        let mut found = block.predecessors.iter().map(|before| {
            let branch = graph.blocks.get(*before)?.end - 1;
            self.before(branch)
                .filter(|line| position(self.locs[*line].1) == at)
        });
        let first = found.next()??;
        let same = |other: Option<usize>| {
            other.is_some_and(|other| self.locs[other].1.inlined == self.locs[first].1.inlined)
        };
        found.all(same).then_some(first)
    }

    /// What a check at that line was inlined through; `again` says whether it stands behind a statement a second time.
    fn chain(&self, check: usize, again: &dyn Fn(NodeId) -> bool) -> Chain {
        let mut chain = Chain::default();
        let mut line = check;
        while let Some(at) = self
            .locs
            .get(line)
            .and_then(|found| found.1.inlined.as_ref())
        {
            if line == check {
                chain.function = self.name(at);
            }
            let Some(file) = self.module.file(at.file) else {
                break;
            };
            let mut call = Call {
                function: None,
                file: file.to_owned(),
                lines: vec![at.line],
            };
            match self.find(line, place(at), again) {
                None => {
                    chain.calls.push(call);
                    break;
                }
                Some(Found::One(next)) => {
                    call.function = self.within(next);
                    chain.calls.push(call);
                    line = next;
                }
                Some(Found::Several(all)) => {
                    call.function = self.common(&all);
                    chain.calls.push(call);
                    chain.calls.extend(self.any(&all));
                    break;
                }
            }
        }
        chain
    }

    /// The line, before another, of a place that is inlined there.
    fn find(&self, line: usize, at: Position, again: &dyn Fn(NodeId) -> bool) -> Option<Found> {
        let known = self.known(line, at);
        let last = *known.last()?;
        let parent = |line: usize| self.locs[line].1.inlined.as_ref().map(place);
        if known.iter().all(|line| parent(*line) == parent(last)) {
            return Some(Found::One(last));
        }
        // Nothing of another place stands between, and the check has not stood there before.
        let stayed = (last + 1..line).all(|between| self.is_inside(between, at));
        if stayed && !again(self.locs[last].0) {
            return Some(Found::One(last));
        }
        let mut known = known.to_vec();
        known.sort_by_key(|line| parent(*line));
        known.dedup_by_key(|line| parent(*line));
        Some(Found::Several(known))
    }

    /// Whether a line was inlined through that place, however deep.
    fn is_inside(&self, line: usize, through: Position) -> bool {
        let mut line = line;
        loop {
            match self.locs[line].1.inlined.as_ref().map(place) {
                None => return false,
                Some(at) if at == through => return true,
                Some(at) => match self.last(line, at) {
                    Some(next) => line = next,
                    None => return false,
                },
            }
        }
    }

    /// The calls of which one has inlined these lines; none if they cannot be told as one.
    fn any(&self, lines: &[usize]) -> Option<Call> {
        let calls = lines.iter().map(|line| self.locs[*line].1.inlined.as_ref());
        let calls = calls.collect::<Option<Vec<_>>>()?;
        let file = calls.first()?.file;
        if calls.iter().any(|call| call.file != file) {
            return None;
        }
        let mut numbers: Vec<_> = calls.iter().map(|call| call.line).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let outer = lines.iter().zip(&calls);
        let outer = outer.map(|(line, call)| self.last(*line, place(call)));
        Some(Call {
            function: (outer.collect::<Option<Vec<_>>>()).and_then(|outer| self.common(&outer)),
            file: self.module.file(file)?.to_owned(),
            lines: numbers,
        })
    }

    /// The function that a line stands in, as [`Call::function`] has it.
    fn within(&self, line: usize) -> Option<String> {
        match &self.locs[line].1.inlined {
            Some(at) => self.name(at),
            None => (!self.function.is_entry()).then(|| self.function.name.to_string()),
        }
    }

    /// The function that all these lines stand in.
    fn common(&self, lines: &[usize]) -> Option<String> {
        let mut all = lines.iter().map(|line| self.within(*line));
        let first = all.next()??;
        all.all(|other| other.as_ref() == Some(&first))
            .then_some(first)
    }

    fn name(&self, at: &Inlined) -> Option<String> {
        self.names.read(at.function.as_ref()?, at.offset)
    }

    /// The last line before a statement.
    fn before(&self, node: NodeId) -> Option<usize> {
        let after = self.locs.partition_point(|(line, _)| *line < node);
        after.checked_sub(1)
    }

    /// The last line of a place before another.
    fn last(&self, line: usize, at: Position) -> Option<usize> {
        self.known(line, at).last().copied()
    }

    /// The lines of a place before another.
    fn known(&self, line: usize, at: Position) -> &[usize] {
        let known = self.at.get(&at).map_or(&[][..], Vec::as_slice);
        &known[..known.partition_point(|known| *known < line)]
    }
}

/// The names of inlined functions, in the section `.debug_str`.
#[derive(Debug, Default)]
struct Names<'m> {
    bytes: Vec<u8>,
    labels: HashMap<&'m str, usize>,
}

impl<'m> Names<'m> {
    fn new(module: &'m Module) -> Self {
        let mut names = Self::default();
        for item in module.items() {
            let ItemKind::Section { name, body } = &item.kind else {
                continue;
            };
            if &**name != ".debug_str" {
                continue;
            }
            for line in module.at(*body).lines().map(str::trim) {
                if let Some(label) = line.strip_suffix(':') {
                    names.labels.insert(label, names.bytes.len());
                } else if let Some(list) = line.strip_prefix(".b8") {
                    let bytes = list
                        .split(',')
                        .filter_map(|it| it.trim().parse::<u8>().ok());
                    names.bytes.extend(bytes);
                }
            }
        }
        names
    }

    fn read(&self, label: &str, offset: u64) -> Option<String> {
        let start = self.labels.get(label)? + usize::try_from(offset).ok()?;
        let bytes = self.bytes.get(start..)?.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
