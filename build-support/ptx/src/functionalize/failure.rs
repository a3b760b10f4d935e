//! A failure call with all that belongs to it: what it says, what it captures, what goes away with it.

use std::collections::HashMap;

use gpuk_device::abi::{ASSERT_FAIL, FAIL, FAIL_PARAMS, ValueType};

use super::Options;
use super::constant::{self, Constant};
use super::flow::{Flow, NodeId};
use super::refusal::{Place, Refusal};
use super::site::{Label, SiteKind};
use crate::function::Function;
use crate::instruction::{Call, Instruction, Operand};
use crate::module::Module;
use crate::name::Name;
use crate::statement::StatementKind;

/// A function with checks.
#[derive(Debug)]
pub(super) struct Checked<'m> {
    pub(super) function: &'m Function,
    pub(super) flow: Flow<'m>,
    pub(super) failures: Vec<Failure<'m>>,
}

/// A failure call.
#[derive(Debug)]
pub(super) struct Failure<'m> {
    pub(super) label: Label,
    /// The captured values, one for each type.
    pub(super) values: Vec<&'m Operand>,
    /// The call.
    pub(super) call: NodeId,
    /// What only serves the call: stores of its arguments, and `trap` after an assert.
    pub(super) serving: Vec<NodeId>,
    /// Names of the `.param` variables that it passes.
    pub(super) passed: Vec<Name>,
    /// What makes the constants, and goes away if nothing else needs it.
    pub(super) constants: Vec<NodeId>,
}

/// Finds the failure calls of all functions; what cannot be read is refused.
pub(super) fn find<'m>(
    module: &'m Module,
    options: Options,
    refusals: &mut Vec<Refusal>,
) -> Vec<Checked<'m>> {
    let mut checked = Vec::new();
    for function in module.functions() {
        let Some(body) = &function.body else {
            continue;
        };
        let flow = Flow::new(body);
        let mut failures = Vec::new();
        let mut found = false;
        for node in 0..flow.nodes.len() {
            let Some(assert) = failure_call(&flow, node, options) else {
                continue;
            };
            found = true;
            match read(module, &flow, node, assert) {
                Err(text) => refusals.push(Refusal::SiteUnreadable {
                    function: function.name.to_string(),
                    place: place(module, &flow, node),
                    text,
                }),
                Ok(failure) => {
                    if let Some(text) = failure.mismatch() {
                        refusals.push(Refusal::FormatMismatch {
                            function: function.name.to_string(),
                            place: Some(failure.place()),
                            text,
                        });
                    }
                    failures.push(failure);
                }
            }
        }
        if found {
            checked.push(Checked {
                function,
                flow,
                failures,
            });
        }
    }
    checked
}

/// Whether a statement calls a failure function, and if so whether it is an assert's.
fn failure_call(flow: &Flow<'_>, node: NodeId, options: Options) -> Option<bool> {
    let call = flow.instruction(node)?.call.as_ref()?;
    match &**call.function()? {
        FAIL => Some(false),
        ASSERT_FAIL if options.asserts => Some(true),
        _ => None,
    }
}

impl Failure<'_> {
    pub(super) fn place(&self) -> Place {
        Place {
            file: self.label.file.clone(),
            line: self.label.line,
        }
    }

    fn mismatch(&self) -> Option<String> {
        match self.label.kind {
            SiteKind::Check(_) => self.label.mismatch(),
            SiteKind::Assert => None,
        }
    }
}

fn read<'m>(
    module: &Module,
    flow: &Flow<'m>,
    node: NodeId,
    assert: bool,
) -> Result<Failure<'m>, String> {
    let instruction = flow.instruction(node).ok_or("it is no instruction")?;
    let call = instruction.call.as_ref().ok_or("it is no call")?;
    let mut serving = Vec::new();
    let args = arguments(flow, node, instruction, call, &mut serving)?;
    let mut constants = Vec::new();
    let mut known = |index: usize| -> Result<Constant, String> {
        let arg = args.get(index).ok_or("an argument is missing")?;
        constant::resolve(flow, arg, &mut constants)
    };
    let mut values = Vec::new();
    let label = if assert {
        let condition = constant::string(module, &known(0)?)?;
        let file = constant::string(module, &known(1)?)?;
        let Constant::Int(line) = known(2)? else {
            return Err("the line is no number".to_owned());
        };
        // Not shown, so it may be unreadable; if it can be read, it can go.
        known(3).ok();
        known(4).ok();
        serving.extend(trap_after(flow, node, instruction));
        Label {
            kind: SiteKind::Assert,
            file,
            line: u32::try_from(line).map_err(|_| "the line is too large")?,
            condition,
            format: None,
            types: Vec::new(),
        }
    } else {
        if args.len() != FAIL_PARAMS {
            return Err(format!("`{FAIL}` takes {FAIL_PARAMS} arguments"));
        }
        let string = constant::string(module, &known(0)?)?;
        let types = match known(1)? {
            Constant::Int(types) => ValueType::decode(types),
            Constant::Address(..) => None,
        };
        let types = types.ok_or("the types of its values are unknown")?;
        for value in args.iter().skip(2).take(types.len()) {
            capturable(flow, value)?;
            values.push(*value);
        }
        Label::read(&string, types).ok_or("its string is not one of `gpuk.cuh`")?
    };
    let passed = call.args.iter().filter_map(|arg| match arg {
        Operand::Symbol(name, 0) => Some(Name::clone(name)),
        _ => None,
    });
    Ok(Failure {
        label,
        values,
        call: node,
        serving,
        passed: passed.collect(),
        constants,
    })
}

/// Whether a value can be moved to a 64-bit register as it is.
fn capturable(flow: &Flow<'_>, value: &Operand) -> Result<(), String> {
    match value {
        Operand::Int(_) | Operand::F64(_) => Ok(()),
        Operand::Register(register) => {
            let declaration = flow.body.declaration(register.id);
            if declaration.is_some_and(|found| found.ty.bits() == 64 && found.lanes == 1) {
                Ok(())
            } else {
                Err(format!("`{}` is no 64-bit register", register.name))
            }
        }
        _ => Err("a captured value is no register or number".to_owned()),
    }
}

/// What the call passes: the operands themselves, or what was stored to its `.param` variables.
fn arguments<'m>(
    flow: &Flow<'m>,
    node: NodeId,
    instruction: &Instruction,
    call: &'m Call,
    serving: &mut Vec<NodeId>,
) -> Result<Vec<&'m Operand>, String> {
    let mut stored: HashMap<&str, &'m Operand> = HashMap::new();
    let wanted = |name: &str| {
        (call.args.iter()).any(|arg| matches!(arg, Operand::Symbol(known, 0) if **known == *name))
    };
    let missing = call.args.iter();
    let mut missing = missing
        .filter(|arg| matches!(arg, Operand::Symbol(..)))
        .count();
    let mut before = node;
    while missing > 0 {
        for earlier in flow.before(before) {
            let Some(store) = flow.instruction(earlier) else {
                match flow.nodes.get(earlier).map(|node| &node.statement.kind) {
                    Some(StatementKind::Label(_) | StatementKind::Block(_)) => {
                        return Err("its arguments are stored too far away".to_owned());
                    }
                    _ => continue,
                }
            };
            if matches!(
                &*store.opcode,
                "call" | "bra" | "brx" | "ret" | "exit" | "trap"
            ) {
                return Err("its arguments are stored too far away".to_owned());
            }
            if &*store.opcode != "st" || !store.has("param") {
                continue;
            }
            let [Operand::Address(address), value] = store.operands.as_slice() else {
                continue;
            };
            let Operand::Symbol(name, _) = &address.base else {
                continue;
            };
            if !wanted(name) {
                continue;
            }
            if address.offset != 0 || store.guard.is_some() && store.guard != instruction.guard {
                return Err(format!("`{name}` is stored in parts"));
            }
            if stored.insert(name, value).is_some() {
                return Err(format!("`{name}` is stored twice"));
            }
            if let Operand::Register(register) = value
                && (flow.definitions(register.id).iter()).any(|set| earlier < *set && *set < node)
            {
                return Err(format!("`{}` changes before the call", register.name));
            }
            serving.push(earlier);
            missing -= 1;
            if missing == 0 {
                break;
            }
        }
        if missing > 0 {
            before = flow.block(before).ok_or("its arguments are not stored")?;
        }
    }
    let args = call.args.iter().map(|arg| match arg {
        Operand::Symbol(name, _) => stored
            .get(&**name)
            .copied()
            .ok_or_else(|| format!("`{name}` is not stored")),
        other => Ok(other),
    });
    args.collect()
}

/// The `trap` that a compiler puts behind an assert that it knows not to return.
fn trap_after(flow: &Flow<'_>, node: NodeId, call: &Instruction) -> Option<NodeId> {
    let mut last = node;
    loop {
        let next = flow.after(last).find(|id| {
            (flow.nodes.get(*id))
                .is_some_and(|node| !matches!(node.statement.kind, StatementKind::Loc(_)))
        });
        if let Some(next) = next {
            let trap = flow.instruction(next)?;
            let ours = &*trap.opcode == "trap" && trap.guard == call.guard;
            return ours.then_some(next);
        }
        last = flow.block(last)?;
    }
}

/// The source line of a statement, as the `.loc` before it says; where code was inlined, that of the caller.
pub(super) fn place(module: &Module, flow: &Flow<'_>, node: NodeId) -> Option<Place> {
    let before = flow.nodes.get(..node)?.iter().rev();
    let loc = before
        .map(|node| &node.statement.kind)
        .find_map(|kind| match kind {
            StatementKind::Loc(loc) if loc.line > 0 => Some(loc),
            _ => None,
        })?;
    let (file, line) = match &loc.inlined {
        Some(caller) => (caller.file, caller.line),
        None => (loc.file, loc.line),
    };
    Some(Place {
        file: module.file(file)?.to_owned(),
        line,
    })
}
