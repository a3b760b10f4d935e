//! Who calls whom in a module, through pointers too.

use std::collections::{BTreeMap, BTreeSet};

use crate::flow::{Flow, NodeId};
use crate::instruction::Operand;
use crate::module::Module;
use crate::variable::Value;

/// The functions of a module that have a body, by symbol.
pub(super) type Flows<'m> = BTreeMap<&'m str, Flow<'m>>;

/// Lays out all functions.
pub(super) fn flows(module: &Module) -> Flows<'_> {
    let functions = module.functions();
    let bodies = functions.filter_map(|function| Some((&*function.name, function.body.as_ref()?)));
    bodies.map(|(name, body)| (name, Flow::new(body))).collect()
}

/// The calls of a module.
#[derive(Debug)]
pub(super) struct Calls<'m> {
    of: BTreeMap<&'m str, Callees<'m>>,
    /// Functions whose address stands in a variable.
    held: BTreeSet<&'m str>,
}

#[derive(Debug, Default)]
struct Callees<'m> {
    /// Where a function calls, and whom; `None` for a call through a register.
    calls: Vec<(NodeId, Option<&'m str>)>,
    /// Functions whose address it takes.
    taken: BTreeSet<&'m str>,
}

impl<'m> Calls<'m> {
    pub(super) fn new(module: &'m Module, flows: &Flows<'m>) -> Self {
        let values = module.variables().flat_map(|variable| variable.values());
        let held = values.filter_map(|value| match value {
            Value::Address { symbol, .. } => flows.get_key_value(&**symbol).map(|(name, _)| *name),
            _ => None,
        });
        let held = held.collect();
        let of = flows.iter().map(|(name, flow)| {
            let mut callees = Callees::default();
            for node in 0..flow.nodes.len() {
                let Some(instruction) = flow.instruction(node) else {
                    continue;
                };
                if let Some(call) = &instruction.call {
                    callees
                        .calls
                        .push((node, call.function().map(|name| &**name)));
                }
                for operand in &instruction.operands {
                    if let Operand::Symbol(name, _) = operand
                        && let Some((name, _)) = flows.get_key_value(&**name)
                    {
                        callees.taken.insert(name);
                    }
                }
            }
            (*name, callees)
        });
        Self {
            of: of.collect(),
            held,
        }
    }

    /// The calls of a function.
    pub(super) fn calls(&self, function: &str) -> &[(NodeId, Option<&'m str>)] {
        self.of.get(function).map_or(&[], |callees| &callees.calls)
    }

    /// Whether a function can be called through a pointer.
    pub(super) fn is_taken(&self, function: &str) -> bool {
        let mut callees = self.of.values();
        self.held.contains(function) || callees.any(|callees| callees.taken.contains(function))
    }

    /// The functions that one can come to, itself among them.
    pub(super) fn reached(&self, function: &str) -> BTreeSet<&'m str> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = vec![function];
        while let Some(name) = open.pop() {
            let Some((name, callees)) = self.of.get_key_value(name) else {
                continue;
            };
            if found.insert(*name) {
                let called = callees.calls.iter().filter_map(|(_, callee)| *callee);
                open.extend(called.chain(callees.taken.iter().copied()));
                if callees.calls.iter().any(|(_, callee)| callee.is_none()) {
                    open.extend(&self.held);
                }
            }
        }
        found
    }

    /// Where one of `functions` calls `function`.
    pub(super) fn callers(
        &self,
        function: &str,
        functions: &BTreeSet<&'m str>,
    ) -> Vec<(&'m str, NodeId)> {
        let taken = self.is_taken(function);
        let calls = |name: &&'m str| {
            let name = *name;
            let calls = self.of.get(name).map_or(&[][..], |callees| &callees.calls);
            let ours = calls.iter().filter(|(_, callee)| match callee {
                Some(callee) => *callee == function,
                None => taken,
            });
            ours.map(|(node, _)| (name, *node)).collect::<Vec<_>>()
        };
        functions.iter().flat_map(calls).collect()
    }
}
