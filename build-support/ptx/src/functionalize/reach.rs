//! Which functions can come to a check, and whether somebody calls them who cannot be told.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::failure::{Checked, Failing};
use super::refusal::{Place, Refusal};
use crate::flow::{Role, each_operand};
use crate::function::{Function, FunctionKind};
use crate::instruction::Operand;
use crate::module::{ItemKind, Module};
use crate::name::Name;
use crate::statement::StatementKind;
use crate::variable::Value;

/// The functions that can come to a check.
#[derive(Debug)]
pub(super) struct Reach {
    /// By function: the functions with checks of their own that it can come to. One whose address is taken is here
    /// too if another such can come to a check, for a call through a pointer passes the gate to whichever it is.
    checks: BTreeMap<Name, BTreeSet<Name>>,
    places: HashMap<Name, Place>,
    /// Functions whose address somebody takes, and who.
    taken: BTreeMap<Name, String>,
    /// Whether calls through pointers pass the gate.
    pointers: bool,
}

impl Reach {
    pub(super) fn new(module: &Module, checked: &[Checked<'_>]) -> Self {
        let places = checked.iter().filter_map(|found| {
            let first = found.failures.first()?;
            Some((Name::clone(&found.function.name), first.place()))
        });
        let mut reach = Self {
            checks: BTreeMap::new(),
            places: places.collect(),
            taken: BTreeMap::new(),
            pointers: false,
        };
        if checked.is_empty() {
            return reach;
        }
        reach.taken = taken(module);
        let mut callers: HashMap<Name, BTreeSet<Name>> = HashMap::new();
        let mut through = BTreeSet::new();
        for function in module.functions() {
            calls(function, &mut |callee| match callee {
                Some(callee) => {
                    let known = callers.entry(Name::clone(callee)).or_default();
                    known.insert(Name::clone(&function.name));
                }
                None => {
                    through.insert(Name::clone(&function.name));
                }
            });
        }
        let own: Vec<&Name> = checked.iter().map(|found| &found.function.name).collect();
        for name in &own {
            reach.spread(name, Some(name), &callers);
        }
        reach.pointers = reach.taken.keys().any(|name| reach.contains(name));
        if reach.pointers {
            for name in reach.taken.keys() {
                let known = callers.entry(Name::clone(name)).or_default();
                known.extend(through.iter().cloned());
            }
            for name in &own {
                reach.spread(name, Some(name), &callers);
            }
            for name in reach.taken.keys().cloned().collect::<Vec<_>>() {
                reach.spread(&name, None, &callers);
            }
        }
        reach
    }

    /// Notes for a function and all that call it that they come to the checks of `own`.
    fn spread(&mut self, name: &Name, own: Option<&Name>, callers: &HashMap<Name, BTreeSet<Name>>) {
        let mut open = vec![Name::clone(name)];
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if seen.insert(Name::clone(&name)) {
                let known = self.checks.entry(Name::clone(&name)).or_default();
                known.extend(own.cloned());
                open.extend(callers.get(&name).into_iter().flatten().cloned());
            }
        }
    }

    /// Whether calls through pointers pass the gate.
    pub(super) const fn pointers(&self) -> bool {
        self.pointers
    }

    /// Whether a function can come to a check.
    pub(super) fn contains(&self, function: &str) -> bool {
        self.checks.contains_key(function)
    }

    /// Whether a function passes the gate on.
    pub(super) fn passes(&self, function: &Function) -> bool {
        let mut passes = false;
        calls(function, &mut |callee| {
            passes |= callee.map_or(self.pointers, |callee| self.contains(callee));
        });
        passes
    }

    /// Whether `function` can come to a check that stands in `checked`.
    pub(super) fn reaches(&self, function: &str, checked: &str) -> bool {
        (self.checks.get(function)).is_some_and(|checks| checks.contains(checked))
    }

    /// What stands in the way of passing the gate through pointers: who could be called without it, or by whom.
    pub(super) fn indirect(&self, module: &Module, failing: &Failing<'_>) -> Vec<Refusal> {
        let mut refused: BTreeMap<Name, String> = BTreeMap::new();
        for item in module.items() {
            if let ItemKind::Alias { alias, function } = &item.kind
                && (failing.contains(function) || self.contains(function))
            {
                refused.insert(Name::clone(function), format!("is called `{alias}` too"));
            }
        }
        for (name, how) in &self.taken {
            let known = || module.functions().filter(|function| function.name == *name);
            let defined = known().any(|function| function.body.is_some());
            let is_entry = known().any(|function| function.kind == FunctionKind::Entry);
            if failing.contains(name) || (is_entry && self.contains(name)) {
                refused.insert(Name::clone(name), how.clone());
            } else if self.pointers && !defined {
                let how = format!("is defined elsewhere, where it takes no gate: {how}");
                refused.insert(Name::clone(name), how);
            }
        }
        let refusals = refused.into_iter().map(|(function, how)| {
            let mut checks = self.checks.get(&function).into_iter().flatten();
            Refusal::IndirectCall {
                place: checks.find_map(|check| self.places.get(check)).cloned(),
                function: function.to_string(),
                how,
            }
        });
        refusals.collect()
    }
}

/// The functions of a module whose address somebody takes, and who.
fn taken(module: &Module) -> BTreeMap<Name, String> {
    let functions: BTreeSet<&Name> = module.functions().map(|function| &function.name).collect();
    let mut taken: BTreeMap<Name, String> = BTreeMap::new();
    let mut take = |name: &Name, how: &dyn Fn() -> String| {
        if functions.contains(name) {
            taken.entry(Name::clone(name)).or_insert_with(how);
        }
    };
    for item in module.items() {
        match &item.kind {
            ItemKind::Function(function) => addresses(function, &mut |name| {
                take(name, &|| format!("`{}` takes its address", function.name));
            }),
            ItemKind::Variables(variables) => {
                for variable in variables {
                    for value in variable.values() {
                        if let Value::Address { symbol, .. } = value {
                            take(symbol, &|| format!("`{}` holds its address", variable.name));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    taken
}

/// Calls `visit` for every call with the function that it names; `None` for one through a pointer.
fn calls(function: &Function, visit: &mut dyn FnMut(Option<&Name>)) {
    let Some(body) = &function.body else {
        return;
    };
    body.walk(&mut |statement| {
        let call = statement
            .instruction()
            .and_then(|found| found.call.as_ref());
        if let Some(call) = call {
            visit(call.function());
        }
    });
}

/// Calls `visit` for every symbol that is mentioned otherwise than to call it.
fn addresses(function: &Function, visit: &mut dyn FnMut(&Name)) {
    let Some(body) = &function.body else {
        return;
    };
    body.walk(&mut |statement| match &statement.kind {
        StatementKind::Instruction(instruction) => {
            each_operand(instruction, &mut |operand, role| {
                operand.walk(&mut |part| match part {
                    Operand::Symbol(name, offset) if role != Role::Target || *offset != 0 => {
                        visit(name);
                    }
                    _ => {}
                });
            });
        }
        StatementKind::CallTargets { targets, .. } => targets.iter().for_each(&mut *visit),
        StatementKind::Variables(variables) => {
            for value in variables.iter().flat_map(|variable| variable.values()) {
                if let Value::Address { symbol, .. } = value {
                    visit(symbol);
                }
            }
        }
        _ => {}
    });
}
