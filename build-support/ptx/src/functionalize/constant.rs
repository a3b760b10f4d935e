//! What a register is known to hold, followed back to a symbol or a number.

use crate::flow::{Flow, NodeId};
use crate::instruction::{Instruction, Operand};
use crate::name::Name;

/// A value known before the kernel runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Constant {
    /// Low 64 bits.
    Int(u64),
    /// A variable and bytes past its start.
    Address(Name, i64),
}

/// How far back a value is followed; debug builds copy a pointer some five times.
const MAX_STEPS: usize = 64;

/// Follows `operand` back through its registers' definitions, and notes them in `trail`. Where a loop was
/// written out there are several, which must agree.
pub(super) fn resolve(
    flow: &Flow<'_>,
    operand: &Operand,
    trail: &mut Vec<NodeId>,
) -> Result<Constant, String> {
    let mut operand = operand;
    let mut offset = 0_i64;
    for _ in 0..MAX_STEPS {
        let register = match operand {
            Operand::Int(bits) => return Ok(Constant::Int(bits.wrapping_add_signed(offset))),
            Operand::Symbol(name, more) => {
                return Ok(Constant::Address(
                    Name::clone(name),
                    offset.wrapping_add(*more),
                ));
            }
            Operand::Register(register) => register,
            _ => return Err("an argument is no register, number or symbol".to_owned()),
        };
        let steps = flow.definitions(register.id).iter().map(|definition| {
            let found = flow.instruction(*definition);
            found.filter(|found| found.guard.is_none()).and_then(step)
        });
        let mut agreed = None;
        for found in steps {
            let Some(found) = found else {
                return Err(format!("`{}` is not a constant", register.name));
            };
            if agreed.replace(found).is_some_and(|before| before != found) {
                return Err(format!("`{}` is set to several values", register.name));
            }
        }
        let Some((source, more)) = agreed else {
            return Err(format!("`{}` is not set", register.name));
        };
        trail.extend(flow.definitions(register.id));
        operand = source;
        offset = offset.wrapping_add(more);
    }
    Err("an argument is copied too often".to_owned())
}

/// What an instruction copies, and how much it adds.
fn step(instruction: &Instruction) -> Option<(&Operand, i64)> {
    let sources = instruction.operands.get(1..)?;
    match (&*instruction.opcode, sources) {
        ("mov" | "cvta", [source]) => Some((source, 0)),
        ("add", [source @ Operand::Register(_), Operand::Int(bytes)]) => {
            Some((source, bytes.cast_signed()))
        }
        _ => None,
    }
}
