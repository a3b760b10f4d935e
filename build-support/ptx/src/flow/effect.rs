//! What moving an instruction could change.

use crate::instruction::{Instruction, Operand};

/// What an instruction does besides setting its registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Nothing: it may run at any place where its operands are the same, or not at all.
    Pure,
    /// It reads memory that others may write, and fails where the address is bad.
    Read,
    /// It writes memory, and nobody can tell when before the next [`Fixed`](Self::Fixed) instruction.
    Write,
    /// Anything else: others see it, or it waits, or it goes elsewhere, or nobody here knows it.
    Fixed,
}

/// Opcodes without effect, whatever their operands (PTX ISA 9.7.1 to 9.7.9).
const PURE: &[&str] = &[
    "abs", "add", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "cnot", "copysign", "cos",
    "cvt", "cvta", "div", "dp2a", "dp4a", "ex2", "fma", "fns", "isspacep", "lg2", "lop3", "mad",
    "mad24", "max", "min", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem",
    "rsqrt", "sad", "selp", "set", "setp", "shf", "shl", "shr", "sin", "slct", "sqrt", "sub",
    "szext", "tanh", "testp", "xor",
];

/// What makes a load more than a read: others may wait for it, or it must not be made twice or elsewhere.
const ORDERED: &[&str] = &["volatile", "relaxed", "acquire", "mmio"];

/// Registers of the machine whose value depends on when they are read (PTX ISA 10).
const CLOCKS: &[&str] = &[
    "%clock",
    "%globaltimer",
    "%pm",
    "%smid",
    "%warpid",
    "%nwarpid",
];

/// What an instruction does besides setting its registers; its guard is not looked at.
pub(crate) fn effect(instruction: &Instruction) -> Effect {
    if instruction.call.is_some() {
        return Effect::Fixed;
    }
    let opcode = &*instruction.opcode;
    if PURE.contains(&opcode) {
        // The carry flag is a register that no operand names.
        let hidden = instruction.has("cc")
            || instruction.operands.iter().any(|operand| {
                let mut found = false;
                operand.walk(&mut |part| {
                    found |= match part {
                        Operand::Special(name) => {
                            CLOCKS.iter().any(|clock| name.starts_with(clock))
                        }
                        Operand::Other(..) => true,
                        _ => false,
                    };
                });
                found
            });
        return if hidden { Effect::Fixed } else { Effect::Pure };
    }
    let plain = |ordered: &[&str]| !ordered.iter().any(|word| instruction.has(word));
    let known = !matches!(&instruction.operands[..], [Operand::Other(..), ..]);
    match opcode {
        "ld" if !known || !plain(ORDERED) => Effect::Fixed,
        "ld" if instruction.has("param") => Effect::Pure,
        "ld" | "ldu" => Effect::Read,
        "st" if known && plain(ORDERED) && plain(&["release", "param", "async", "bulk"]) => {
            Effect::Write
        }
        _ => Effect::Fixed,
    }
}

/// Whether a read and a write, or two writes, can be of the same memory, by their state spaces.
pub(crate) fn overlaps(a: &Instruction, b: &Instruction) -> bool {
    let space = |instruction: &Instruction| {
        let spaces = ["global", "shared", "local", "const"];
        spaces.into_iter().find(|space| {
            let words = instruction.modifiers.iter();
            words
                .map(|word| word.split("::").next())
                .any(|word| word == Some(space))
        })
    };
    // What is read through the non-coherent cache, nobody writes meanwhile.
    let constant = |instruction: &Instruction| instruction.has("nc") || instruction.has("const");
    match (space(a), space(b)) {
        (Some(a), Some(b)) if a != b => false,
        _ => !constant(a) && !constant(b),
    }
}
