//! Captured values that are computed again where they are recorded.
//!
//! A bound that a check compares with is often a parameter, or made of some. It need not take a register from the check
//! to the end of its report: parameters are there at any time. ptxas would make one of the two computations though, so
//! the second reads the parameters at addresses that ptxas does not know, the parameter's plus a zero from memory.

use std::collections::HashMap;
use std::fmt::Write;

use crate::flow::{Effect, Flow, effect};
use crate::function::{Function, FunctionKind};
use crate::instruction::{Instruction, Operand, Register};
use crate::statement::RegisterId;

/// The most instructions of a value.
const MAX_INSTRUCTIONS: usize = 8;

/// What takes one instruction of the machine or a few.
const CHEAP: &[&str] = &[
    "add", "and", "bfe", "cvt", "mad", "max", "min", "mov", "mul", "neg", "not", "or", "shl",
    "shr", "sub", "xor",
];

/// A value that hangs on nothing but parameters.
#[derive(Debug)]
pub(super) struct Again<'m> {
    /// What computes it, each behind what it needs.
    made: Vec<(&'m Instruction, &'static str)>,
    names: HashMap<RegisterId, usize>,
}

impl<'m> Again<'m> {
    /// Follows a captured value of 64 bits back to parameters; `None` if it hangs on anything else.
    pub(super) fn new(function: &Function, flow: &Flow<'m>, value: &Operand) -> Option<Self> {
        let register = value.register()?;
        if function.kind != FunctionKind::Entry {
            return None;
        }
        let mut again = Self {
            made: Vec::new(),
            names: HashMap::new(),
        };
        again.follow(function, flow, register, MAX_INSTRUCTIONS)?;
        let loads = |(found, _): &(&Instruction, _)| &*found.opcode == "ld";
        again.made.iter().any(loads).then_some(again)
    }

    /// No more than `depth` instructions behind each other, for a register can hang on itself.
    fn follow(
        &mut self,
        function: &Function,
        flow: &Flow<'m>,
        register: &Register,
        depth: usize,
    ) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if self.names.contains_key(&register.id) {
            return Some(());
        }
        let [set] = flow.definitions(register.id) else {
            return None;
        };
        let found = flow.instruction(*set)?;
        let (to, sources) = found.operands.split_first()?;
        if found.guard.is_some() || to.register() != Some(register) {
            return None;
        }
        let ty = declared(flow, register.id)?;
        if &*found.opcode == "ld" {
            parameter(function, found)?;
        } else if CHEAP.contains(&&*found.opcode) && effect(found) == Effect::Pure {
            for source in sources {
                match source {
                    Operand::Int(_) => {}
                    Operand::Register(source) => self.follow(function, flow, source, depth)?,
                    _ => return None,
                }
            }
        } else {
            return None;
        }
        if self.made.len() == MAX_INSTRUCTIONS {
            return None;
        }
        self.names.insert(register.id, self.made.len());
        self.made.push((found, ty));
        Some(())
    }

    /// The code, which sets `{r}_best`; `{r}_at` is the address of the record.
    pub(super) fn text(&self, r: &str) -> String {
        let mut out = format!("\t{{\n\t.reg .b64 \t{r}_zero, {r}_param;\n");
        for (number, (_, ty)) in self.made.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(out, "\t.reg .{ty} \t{r}_again_{number};");
        }
        // A record is aligned to 8 bytes.
        let _ = writeln!(out, "\tand.b64 \t{r}_zero, {r}_at, 7;");
        for (number, (found, _)) in self.made.iter().enumerate() {
            let mut opcode = found.opcode.to_string();
            for modifier in &found.modifiers {
                let _ = write!(opcode, ".{modifier}");
            }
            let sources: Vec<String> = (found.operands.iter().skip(1))
                .map(|source| match source {
                    Operand::Address(address) => {
                        if let Operand::Symbol(name, offset) = &address.base {
                            let _ = write!(
                                out,
                                "\tmov.b64 \t{r}_param, {name};
\tadd.s64 \t{r}_param, {r}_param, {r}_zero;
"
                            );
                            format!("[{r}_param+{}]", offset.wrapping_add(address.offset))
                        } else {
                            String::new()
                        }
                    }
                    Operand::Register(register) => {
                        let number = self.names.get(&register.id);
                        format!("{r}_again_{}", number.copied().unwrap_or_default())
                    }
                    Operand::Int(bits) => bits.cast_signed().to_string(),
                    _ => String::new(),
                })
                .collect();
            let sources = sources.join(", ");
            let _ = writeln!(out, "\t{opcode} \t{r}_again_{number}, {sources};");
        }
        let last = self.made.len().saturating_sub(1);
        let _ = write!(out, "\tmov.b64 \t{r}_best, {r}_again_{last};\n\t}}\n");
        out
    }
}

/// Whether an instruction loads from a parameter of the entry as it is.
fn parameter(function: &Function, found: &Instruction) -> Option<()> {
    let [Operand::Register(_), Operand::Address(address)] = &found.operands[..] else {
        return None;
    };
    let Operand::Symbol(name, _) = &address.base else {
        return None;
    };
    let known = function.params.iter().any(|param| param.name == *name);
    (found.modifiers.len() == 2 && found.has("param") && address.rest.is_empty() && known)
        .then_some(())
}

/// The type of a register that can stand alone.
fn declared(flow: &Flow<'_>, register: RegisterId) -> Option<&'static str> {
    let found = flow
        .body
        .declaration(register)
        .filter(|found| found.lanes == 1)?;
    match found.ty.bits() {
        16 | 32 | 64 => Some(found.ty.as_str()),
        _ => None,
    }
}
