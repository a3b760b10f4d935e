//! Which checks stop a thread that others wait for.
//!
//! A check is looked at as if it held: what the thread would then come to is what others miss when it has left. So
//! a check behind the last barrier is none of these, and one that all threads fail together is none.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::called::{self, Calls};
use super::chain::Chains;
use super::failure::{self, Failing, Failure};
use super::steps::Steps;
use super::strings::Strings;
use super::uniform::Uniform;
use super::wait::{Wait, Waits};
use super::{Place, SiteKind};
use crate::flow::{Flow, NodeId};
use crate::module::Module;

/// A check whose thread others wait for when it has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// The check.
    pub place: Place,
    /// PTX symbol of the entry.
    pub entry: String,
    /// What the others wait at.
    pub wait: Wait,
    /// The instruction there.
    pub instruction: String,
    /// Its line in the source, if line information is there.
    pub at: Option<Place>,
    /// What the check was written with.
    pub kind: SiteKind,
}

/// Finds the checks of a module that stop a thread on its way to where others wait for it; for each check and entry
/// the first wait of each kind.
#[must_use]
pub fn leaving(module: &Module) -> Vec<Leaving> {
    let flows = called::flows(module);
    let bodies: BTreeMap<_, _> = (flows.iter())
        .map(|(name, flow)| (*name, Body::new(flow)))
        .collect();
    if bodies.values().all(|body| body.waits.found.is_empty()) {
        return Vec::new();
    }
    let (strings, failing) = (Strings::new(module), Failing::all(module));
    let checked = failure::find(
        module,
        &failing,
        &strings,
        &Chains::default(),
        &mut Vec::new(),
    );
    let program = Program {
        module,
        calls: Calls::new(module, &flows),
        bodies,
    };
    let mut found = Vec::new();
    for entry in module.entries() {
        let functions = program.calls.reached(&entry.name);
        let reached = functions.iter().filter_map(|name| program.bodies.get(name));
        let shares = reached.into_iter().any(|body| body.waits.shares);
        for checked in &checked {
            let Some(function) = functions.get(&*checked.function.name) else {
                continue;
            };
            let uniform = (checked.function.is_entry())
                .then(|| Uniform::new(checked.function, &checked.flow));
            let stopping = checked.failures.iter();
            for failure in stopping.filter(|failure| failure.label.kind.stops()) {
                let together = uniform.as_ref().is_some_and(|uniform| {
                    let steps = program.bodies.get(function).map(|body| &body.steps);
                    steps.is_some_and(|steps| uniform.decides(&checked.flow, steps, failure.call))
                });
                if together {
                    continue;
                }
                let missed = program.missed(function, failure.call, &functions);
                // Nobody of a block is left to wait for it, but for those of other blocks.
                let block =
                    matches!(failure.label.kind, SiteKind::Check(kind) if kind.stops_block());
                let missed = missed
                    .into_iter()
                    .filter(|(_, _, wait)| !block || !wait.is_within_block());
                let missed = missed.filter(|(_, _, wait)| *wait != Wait::Cluster || shares);
                found.extend(missed.map(|missed| program.leaving(failure, &entry.name, missed)));
            }
        }
    }
    let key = |leaving: &Leaving| (leaving.place.clone(), leaving.entry.clone(), leaving.wait);
    found.sort_by_key(key);
    found.dedup_by_key(|leaving| key(leaving));
    found
}

/// A wait: in which function, where, and what for.
type Missed<'m> = (&'m str, NodeId, Wait);

struct Body<'f, 'm> {
    flow: &'f Flow<'m>,
    steps: Steps,
    waits: Waits,
}

impl<'f, 'm> Body<'f, 'm> {
    fn new(flow: &'f Flow<'m>) -> Self {
        let steps = Steps::new(flow);
        let waits = Waits::new(flow, &steps);
        Self { flow, steps, waits }
    }
}

struct Program<'f, 'm> {
    module: &'m Module,
    calls: Calls<'m>,
    bodies: BTreeMap<&'m str, Body<'f, 'm>>,
}

impl<'m> Program<'_, 'm> {
    /// The waits that a thread comes to from a check that holds, in an entry that can come to `functions`.
    fn missed(
        &self,
        function: &'m str,
        check: NodeId,
        functions: &BTreeSet<&'m str>,
    ) -> Vec<Missed<'m>> {
        let (mut missed, mut seen) = (Vec::new(), HashSet::new());
        let forks = self
            .bodies
            .get(function)
            .map(|body| body.steps.forks(check));
        let mut open: Vec<_> = (forks.into_iter().flatten())
            .map(|node| (function, node))
            .collect();
        while let Some((name, start)) = open.pop() {
            let Some(body) = self.bodies.get(name) else {
                continue;
            };
            let mut nodes = body.steps.after(start, &|_| false);
            nodes.insert(start);
            let waits = body.waits.found.iter();
            let waits = waits.filter(|(node, _)| nodes.contains(node));
            missed.extend(waits.map(|(node, wait)| (name, *node, *wait)));
            let calls = self.calls.calls(name).iter();
            for (_, callee) in calls.filter(|(node, _)| nodes.contains(node)) {
                let taken = |name: &&str| self.calls.is_taken(name);
                let callees = match callee {
                    Some(callee) => vec![*callee],
                    None => functions.iter().copied().filter(taken).collect(),
                };
                for callee in callees {
                    if seen.insert((callee, None)) {
                        missed.extend(self.everything(callee));
                    }
                }
            }
            if nodes.iter().any(|node| body.steps.returns(*node)) {
                for (caller, node) in self.calls.callers(name, functions) {
                    if seen.insert((caller, Some(node))) {
                        open.push((caller, node));
                    }
                }
            }
        }
        missed
    }

    /// All waits of a function and of those that it calls.
    fn everything(&self, function: &str) -> Vec<Missed<'m>> {
        let reached = self.calls.reached(function).into_iter();
        let waits = reached.filter_map(|name| {
            let waits = self.bodies.get(name)?.waits.found.iter();
            Some(waits.map(move |(node, wait)| (name, *node, *wait)))
        });
        waits.flatten().collect()
    }

    fn leaving(&self, failure: &Failure<'_>, entry: &str, missed: Missed<'m>) -> Leaving {
        let (function, node, wait) = missed;
        let flow = self.bodies.get(function).map(|body| body.flow);
        let text = flow.and_then(|flow| flow.span(node));
        let text = text.map_or("", |span| self.module.at(span));
        let words: Vec<_> = text.trim_end_matches(';').split_whitespace().collect();
        Leaving {
            place: failure.place(),
            entry: entry.to_owned(),
            wait,
            instruction: words.join(" "),
            at: flow.and_then(|flow| failure::place(self.module, flow, node)),
            kind: failure.label.kind,
        }
    }
}
