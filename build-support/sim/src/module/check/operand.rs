//! What kinds of operands an instruction takes: widths and kinds of registers (PTX ISA 9.2, "Type information for
//! instructions and operands"), for the instructions whose operands all have the type of the instruction.

use gpuk_ptx::{Body, Instruction, Operand, Type};

use crate::family::special::Register;

/// Instructions whose operands all have the instruction's type, unless they have another form for it.
const UNIFORM: [&str; 26] = [
    "abs", "add", "and", "cnot", "cos", "div", "ex2", "fma", "lg2", "mad", "max", "min", "mov",
    "mul", "neg", "not", "or", "rcp", "rem", "rsqrt", "sad", "sin", "sqrt", "sub", "tanh", "xor",
];

/// Bits of a register operand; `None` for other operands, and for vectors of registers.
pub(super) fn bits(body: &Body, operand: &Operand) -> Option<u64> {
    Some(declared(body, operand)?.bits())
}

fn declared(body: &Body, operand: &Operand) -> Option<Type> {
    let register = operand.register()?;
    let declared = body.declaration(register.id)?;
    (declared.lanes == 1).then_some(declared.ty)
}

/// What is wrong with the operands, if they are as many as they should be. What is not sure is right.
pub(super) fn wrong(body: &Body, instruction: &Instruction) -> Option<String> {
    let name = &instruction.opcode;
    let operands = &instruction.operands;
    let mismatch = || Some(format!("Arguments mismatch for instruction '{name}'"));
    let is_uniform = UNIFORM.contains(&&**name);
    let address = match &**name {
        "ld" | "ldu" | "atom" => operands.get(1),
        "st" | "red" | "prefetch" | "prefetchu" => operands.first(),
        _ => None,
    };
    if address.is_some_and(|operand| !matches!(operand, Operand::Address(_) | Operand::Other(..))) {
        return mismatch();
    }
    if is_uniform {
        if instruction.modifiers.is_empty() {
            return Some(format!(
                "Unexpected instruction types specified for '{name}'"
            ));
        }
        let place = (operands.iter()).position(|operand| matches!(operand, Operand::Address(_)));
        match operands.first() {
            Some(Operand::Int(_) | Operand::F32(_) | Operand::F64(_)) => {
                return Some(format!("Result register required for instruction '{name}'"));
            }
            Some(Operand::Special(special)) if is_special(special) => {
                let text = "Read-only special register cannot be destination argument";
                return Some(text.to_owned());
            }
            _ => {}
        }
        if let Some(place) = place {
            return Some(format!(
                "Argument {place} of instruction '{name}': must be register"
            ));
        }
    }
    if fit(body, instruction, is_uniform) {
        None
    } else {
        mismatch()
    }
}

/// Whether the registers among the operands can be what the instruction takes.
fn fit(body: &Body, instruction: &Instruction, is_uniform: bool) -> bool {
    let predicate = match &*instruction.opcode {
        "selp" => instruction.operands.get(3),
        "setp" => instruction.operands.first(),
        _ => None,
    };
    if predicate.is_some_and(|operand| bits(body, operand).is_some_and(|bits| bits != 1)) {
        return false;
    }
    if !is_uniform || instruction.has("wide") {
        return true;
    }
    let mut types = (instruction.modifiers.iter()).filter_map(|part| Type::from_name(part));
    let (Some(ty), None) = (types.next(), types.next()) else {
        return true;
    };
    instruction.operands.iter().all(|operand| {
        declared(body, operand).is_none_or(|declared| {
            declared.bits() == ty.bits()
                && match (kind(ty), kind(declared)) {
                    (Some(wanted), Some(given)) => wanted == given,
                    _ => true,
                }
        })
    })
}

/// Whether the machine has a register of that name (PTX ISA 10).
pub(super) fn is_special(name: &str) -> bool {
    const VECTORS: [&str; 8] = [
        "%tid",
        "%ntid",
        "%ctaid",
        "%nctaid",
        "%clusterid",
        "%nclusterid",
        "%cluster_ctaid",
        "%cluster_nctaid",
    ];
    let numbered = |prefix: &str, suffix: &str, count: u32| {
        let number = name.strip_prefix(prefix);
        let number = number.and_then(|rest| rest.strip_suffix(suffix));
        number.is_some_and(|number| number.parse().is_ok_and(|number: u32| number < count))
    };
    Register::from_name(name).is_some()
        || VECTORS.contains(&name.split_once('.').map_or(name, |(base, _)| base))
        || numbered("%pm", "", 8)
        || numbered("%pm", "_64", 8)
        || numbered("%reserved_smem_offset_", "", 2)
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Predicate,
}

/// The kind of a type; `None` for plain bits, which go with each.
const fn kind(ty: Type) -> Option<Kind> {
    match ty {
        Type::Pred => Some(Kind::Predicate),
        Type::U8
        | Type::U16
        | Type::U32
        | Type::U64
        | Type::S8
        | Type::S16
        | Type::S32
        | Type::S64 => Some(Kind::Integer),
        Type::F16 | Type::F32 | Type::F64 => Some(Kind::Float),
        _ => None,
    }
}
