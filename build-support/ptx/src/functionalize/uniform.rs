//! Checks that all threads of a launch fail together: nobody is left to wait.

use std::collections::HashSet;

use super::steps::Steps;
use crate::flow::{Flow, NodeId, Role, each_operand};
use crate::function::Function;
use crate::instruction::{Instruction, Operand};
use crate::statement::RegisterId;

/// Registers of an entry that hold the same in all threads of a launch: what is made of parameters, numbers and the
/// launch's shape, in one place.
#[derive(Debug)]
pub(super) struct Uniform(HashSet<RegisterId>);

impl Uniform {
    pub(super) fn new(entry: &Function, flow: &Flow<'_>) -> Self {
        let mut known = HashSet::new();
        loop {
            let before = known.len();
            for node in 0..flow.nodes.len() {
                if let Some(instruction) = flow.instruction(node) {
                    known.extend(set(entry, flow, &known, instruction));
                }
            }
            if known.len() == before {
                return Self(known);
            }
        }
    }

    /// Whether all threads that come to a check fail it or none, and all come to it.
    pub(super) fn decides(&self, flow: &Flow<'_>, steps: &Steps, check: NodeId) -> bool {
        let mut before = steps.before(check, &|_| false);
        before.insert(check);
        let branches = before.iter().filter_map(|node| flow.instruction(*node));
        let mut branches =
            branches.filter(|found| found.guard.is_some() || &*found.opcode == "brx");
        branches.all(|found| {
            let guard = found.guard.as_ref();
            let guard = guard.and_then(|guard| guard.predicate.register());
            &*found.opcode != "brx" && guard.is_some_and(|guard| self.0.contains(&guard.id))
        })
    }
}

/// The registers that an instruction sets to the same in all threads.
fn set(
    entry: &Function,
    flow: &Flow<'_>,
    known: &HashSet<RegisterId>,
    instruction: &Instruction,
) -> Vec<RegisterId> {
    let from_memory = matches!(&*instruction.opcode, "ld" | "ldu" | "atom" | "call" | "tex");
    if from_memory && !reads_parameter(entry, instruction) {
        return Vec::new();
    }
    let (mut same, mut sets) = (true, Vec::new());
    each_operand(instruction, &mut |operand, role| {
        operand.walk(&mut |part| match part {
            Operand::Register(register) if role == Role::Result => sets.push(register.id),
            Operand::Register(register) => same &= known.contains(&register.id),
            Operand::Special(name) => {
                same &= name.starts_with("%ntid") || name.starts_with("%nctaid")
            }
            Operand::Element(..) | Operand::Other(..) => same = false,
            _ => {}
        });
    });
    // What is set in two places depends on the way that a thread came.
    sets.retain(|register| same && flow.definitions(*register).len() == 1);
    sets
}

/// Whether it loads a parameter of the entry, and not what a call gave back.
fn reads_parameter(entry: &Function, instruction: &Instruction) -> bool {
    let of_entry = |operand: &Operand| match operand {
        Operand::Address(address) => match &address.base {
            Operand::Symbol(name, _) => entry.params.iter().any(|param| param.name == *name),
            _ => false,
        },
        _ => false,
    };
    &*instruction.opcode == "ld" && instruction.operands.iter().any(of_entry)
}
