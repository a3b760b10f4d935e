//! A failure call with all that belongs to it: what it says, what it captures, what goes away with it.

use std::collections::HashSet;

use gpuk_device::abi::{ASSERT_FAIL, FAIL, FAIL_PARAMS, Kind, ValueType};

use super::Options;
use super::arguments::Arguments;
use super::chain::{Chain, Chains};
use super::constant::{self, Constant};
use super::refusal::{Place, Refusal};
use super::site::{Label, SiteKind};
use super::strings::Strings;
use crate::flow::{Flow, NodeId};
use crate::function::Function;
use crate::instruction::{Instruction, Operand};
use crate::module::Module;
use crate::name::Name;
use crate::statement::StatementKind;

/// What `assert` expands to, by host: functions of CUDA's headers that pass their parameters on to
/// [`ASSERT_FAIL`]. Without optimization (`nvcc -G`) they are not inlined.
const ASSERT_WRAPPERS: [&str; 2] = ["__assert_fail", "_wassert"];

/// The functions that mean a failure in a module.
#[derive(Debug)]
pub(super) struct Failing<'m> {
    names: HashSet<&'m str>,
}

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
    pub(super) chain: Chain,
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

impl<'m> Failing<'m> {
    pub(super) fn new(module: &'m Module, options: Options) -> Self {
        if options.asserts {
            return Self::all(module);
        }
        Self {
            names: HashSet::from([FAIL]),
        }
    }

    /// Those of asserts too.
    pub(super) fn all(module: &'m Module) -> Self {
        let mut names = HashSet::from([FAIL, ASSERT_FAIL]);
        let wrappers = module.functions().filter(|function| is_wrapper(function));
        names.extend(wrappers.map(|function| &*function.name));
        Self { names }
    }

    /// Whether a call of that function is a failure.
    pub(super) fn contains(&self, function: &str) -> bool {
        self.names.contains(function)
    }

    /// Whether a function only passes a failure on.
    pub(super) fn passes_on(&self, function: &Function) -> bool {
        self.contains(&function.name) && function.body.is_some()
    }
}

fn is_wrapper(function: &Function) -> bool {
    function.body.is_some() && ASSERT_WRAPPERS.contains(&&*function.name)
}

/// Finds the failure calls of all functions; what cannot be read is refused.
pub(super) fn find<'m>(
    module: &'m Module,
    failing: &Failing<'_>,
    strings: &Strings<'_>,
    chains: &Chains,
    refusals: &mut Vec<Refusal>,
) -> Vec<Checked<'m>> {
    let mut checked = Vec::new();
    for function in module.functions() {
        let Some(body) = &function.body else {
            continue;
        };
        if failing.passes_on(function) {
            continue;
        }
        let flow = Flow::new(body);
        let mut failures = Vec::new();
        let mut found = false;
        for node in 0..flow.nodes.len() {
            let Some(callee) = callee(&flow, node).filter(|callee| failing.contains(callee)) else {
                continue;
            };
            found = true;
            match read(strings, &flow, node, callee) {
                Err(text) => refusals.push(Refusal::SiteUnreadable {
                    function: function.name.to_string(),
                    place: place(module, &flow, node),
                    text,
                }),
                Ok(mut failure) => {
                    if let Some(chain) = chains.of(module, flow.span(node)) {
                        failure.inlined(chain);
                    }
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

/// The function that a statement calls by name.
fn callee<'m>(flow: &Flow<'m>, node: NodeId) -> Option<&'m Name> {
    flow.instruction(node)?.call.as_ref()?.function()
}

impl Failure<'_> {
    /// Takes in what it was inlined through.
    fn inlined(&mut self, chain: &Chain) {
        self.chain = chain.clone();
        if self.label.kind == SiteKind::Check(Kind::Trap) && !chain.calls.is_empty() {
            // Its place is that of the nearest call.
            self.chain.function = self.chain.calls.remove(0).function;
        }
        let calls = self.chain.calls.iter();
        self.label.calls = calls
            .map(|call| (call.file.clone(), call.lines.clone()))
            .collect();
    }

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
    strings: &Strings<'_>,
    flow: &Flow<'m>,
    node: NodeId,
    callee: &str,
) -> Result<Failure<'m>, String> {
    let instruction = flow.instruction(node).ok_or("it is no instruction")?;
    let call = instruction.call.as_ref().ok_or("it is no call")?;
    let Arguments {
        values: args,
        stores: mut serving,
        params: passed,
    } = Arguments::new(flow, node, instruction, call)?;
    let mut constants = Vec::new();
    let mut known = |index: usize| -> Result<Constant, String> {
        let arg = args.get(index).ok_or("an argument is missing")?;
        constant::resolve(flow, arg, &mut constants)
    };
    let mut values = Vec::new();
    let label = if callee == FAIL {
        if args.len() != FAIL_PARAMS {
            return Err(format!("`{FAIL}` takes {FAIL_PARAMS} arguments"));
        }
        let string = strings.read(&known(0)?, 1)?;
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
    } else {
        serving.extend(trap_after(flow, node, instruction));
        // The function's name is not shown, so it may be unreadable; if it can be read, it can go.
        known(3).ok();
        // Bytes of a character: 2 where `assert` makes wide strings.
        let width = match (callee, known(4)) {
            (ASSERT_FAIL, Ok(Constant::Int(2))) | ("_wassert", _) => 2,
            _ => 1,
        };
        let Constant::Int(line) = known(2)? else {
            return Err("the line is no number".to_owned());
        };
        Label {
            kind: SiteKind::Assert,
            file: strings.read(&known(1)?, width)?,
            line: u32::try_from(line).map_err(|_| "the line is too large")?,
            condition: strings.read(&known(0)?, width)?,
            format: None,
            types: Vec::new(),
            calls: Vec::new(),
        }
    };
    Ok(Failure {
        label,
        chain: Chain::default(),
        values,
        call: node,
        serving,
        passed,
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

/// The traps that belong to the failure calls of a function.
pub(super) fn traps(flow: &Flow<'_>, failing: &Failing<'_>) -> HashSet<NodeId> {
    let calls = (0..flow.nodes.len())
        .filter(|node| callee(flow, *node).is_some_and(|callee| failing.contains(callee)));
    let traps = calls.filter_map(|node| trap_after(flow, node, flow.instruction(node)?));
    traps.collect()
}

/// The `trap` that a compiler puts behind an assert that it knows not to return.
fn trap_after(flow: &Flow<'_>, node: NodeId, call: &Instruction) -> Option<NodeId> {
    let is_loc = |id: &NodeId| matches!(flow.kind(*id), Some(StatementKind::Loc(_)));
    let mut last = node;
    loop {
        if let Some(next) = flow.after(last).find(|id| !is_loc(id)) {
            let trap = flow.instruction(next)?;
            let ours = &*trap.opcode == "trap" && trap.guard == call.guard;
            return ours.then_some(next);
        }
        last = flow.block(last)?;
    }
}

/// The source line of a statement, as the `.loc` before it says; where code was inlined, that of the caller.
pub(super) fn place(module: &Module, flow: &Flow<'_>, node: NodeId) -> Option<Place> {
    let loc = flow.loc(node)?;
    let (file, line) = match &loc.inlined {
        Some(caller) => (caller.file, caller.line),
        None => (loc.file, loc.line),
    };
    Some(Place {
        file: module.file(file)?.to_owned(),
        line,
    })
}
