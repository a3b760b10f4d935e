//! Which functions can come to a check, and whether somebody calls them who cannot be told.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::failure::{Checked, Failing};
use super::refusal::{Place, Refusal};
use crate::flow::{Role, each_operand};
use crate::function::Function;
use crate::instruction::Operand;
use crate::module::{ItemKind, Module};
use crate::name::Name;
use crate::statement::StatementKind;
use crate::variable::Value;

/// The functions that can come to a check.
#[derive(Debug)]
pub(super) struct Reach {
    /// By function: the functions with checks of their own that it can come to.
    checks: BTreeMap<Name, BTreeSet<Name>>,
    places: HashMap<Name, Place>,
}

impl Reach {
    pub(super) fn new(module: &Module, checked: &[Checked<'_>]) -> Self {
        let mut callers: HashMap<Name, BTreeSet<Name>> = HashMap::new();
        if !checked.is_empty() {
            for function in module.functions() {
                calls(function, &mut |callee| {
                    let caller = Name::clone(&function.name);
                    callers
                        .entry(Name::clone(callee))
                        .or_default()
                        .insert(caller);
                });
            }
        }
        let mut checks: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        for found in checked {
            let own = &found.function.name;
            let mut open = vec![Name::clone(own)];
            while let Some(name) = open.pop() {
                let known = checks.entry(Name::clone(&name)).or_default();
                if known.insert(Name::clone(own)) {
                    open.extend(callers.get(&name).into_iter().flatten().cloned());
                }
            }
        }
        let places = checked.iter().filter_map(|found| {
            let first = found.failures.first()?;
            Some((Name::clone(&found.function.name), first.place()))
        });
        Self {
            checks,
            places: places.collect(),
        }
    }

    /// Whether a function can come to a check.
    pub(super) fn contains(&self, function: &str) -> bool {
        self.checks.contains_key(function)
    }

    /// Whether `function` can come to a check that stands in `checked`.
    pub(super) fn reaches(&self, function: &str, checked: &str) -> bool {
        (self.checks.get(function)).is_some_and(|checks| checks.contains(checked))
    }

    /// Functions with a check whose address somebody takes.
    pub(super) fn indirect(&self, module: &Module, failing: &Failing<'_>) -> Vec<Refusal> {
        let mut taken: BTreeMap<Name, String> = BTreeMap::new();
        let mut take = |name: &Name, how: &dyn Fn() -> String| {
            if failing.contains(name) || self.contains(name) {
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
                ItemKind::Alias { alias, function } => {
                    take(function, &|| format!("is called `{alias}` too"));
                }
                _ => {}
            }
        }
        let refusals = taken.into_iter().map(|(function, how)| {
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

/// Calls `visit` for every function that is called by name.
fn calls(function: &Function, visit: &mut dyn FnMut(&Name)) {
    let Some(body) = &function.body else {
        return;
    };
    body.walk(&mut |statement| {
        let call = statement
            .instruction()
            .and_then(|found| found.call.as_ref());
        if let Some(callee) = call.and_then(|call| call.function()) {
            visit(callee);
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
