//! Instructions and their operands.
//!
//! Nothing here knows what an opcode does; one that no reader has seen yet parses like any other.

use crate::name::Name;
use crate::span::Span;
use crate::statement::RegisterId;

/// An instruction: guard, opcode, operands.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// `@%p` or `@!%p`.
    pub guard: Option<Guard>,
    /// What stands before the first dot: `ld`.
    pub opcode: Name,
    /// What stands after the dots: `global`, `v4`, `f32`.
    pub modifiers: Vec<Name>,
    /// The operands in order; of a call none.
    pub operands: Vec<Operand>,
    /// What a `call` calls.
    pub call: Option<Call>,
}

impl Instruction {
    /// Whether the opcode has that modifier, given without its dot.
    #[must_use]
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|known| &**known == modifier)
    }

    /// Whether the opcode has exactly this spelling: `cvta.to.global.u64`.
    #[must_use]
    pub fn is(&self, spelling: &str) -> bool {
        let mut parts = spelling.split('.');
        parts.next() == Some(&*self.opcode)
            && parts.eq(self.modifiers.iter().map(|modifier| &**modifier))
    }
}

/// The predicate before an instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// `@!`: execute where the predicate is false.
    pub negated: bool,
    /// The predicate.
    pub predicate: Operand,
}

/// A register that is mentioned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Register {
    /// As written.
    pub name: Name,
    /// Which of the body's registers it is.
    pub id: RegisterId,
}

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A declared register.
    Register(Register),
    /// `%v.x`: an element of a vector register.
    Element(Register, Name),
    /// A register of the machine: `%tid.x`, `%laneid`.
    Special(Name),
    /// A label, variable, parameter or function, perhaps with bytes added.
    Symbol(Name, i64),
    /// `_`: not wanted.
    Sink,
    /// An integer, as its low 64 bits.
    Int(u64),
    /// The bits of a `0f…`.
    F32(u32),
    /// The bits of a `0d…` or of a decimal number.
    F64(u64),
    /// `[…]`.
    Address(Box<Address>),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `a|b`: two destinations.
    Pair(Box<Operand>, Box<Operand>),
    /// `!a`.
    Not(Box<Operand>),
    /// What this reader does not know: its place, and every register and symbol in it.
    Other(Span, Vec<Operand>),
}

/// An address operand: `[base+offset]`, of textures and tensors `[base, {coordinates}]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    /// A register, symbol or number.
    pub base: Operand,
    /// Bytes added.
    pub offset: i64,
    /// What follows the base after commas.
    pub rest: Vec<Operand>,
}

/// What a `call` names.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Where the values given back go.
    pub returns: Vec<Operand>,
    /// A function's symbol, or for an indirect call a register.
    pub target: Operand,
    /// Where the target stands.
    pub target_span: Span,
    /// What is passed.
    pub args: Vec<Operand>,
    /// The argument list with its parentheses; `None` where there is none.
    pub args_span: Option<Span>,
    /// Label of the `.callprototype` or `.calltargets` of an indirect call.
    pub prototype: Option<Name>,
}

impl Call {
    /// The function that a direct call names.
    #[must_use]
    pub fn function(&self) -> Option<&Name> {
        match &self.target {
            Operand::Symbol(name, 0) => Some(name),
            _ => None,
        }
    }
}

impl Operand {
    /// The register, if it is one.
    #[must_use]
    pub const fn register(&self) -> Option<&Register> {
        match self {
            Self::Register(register) => Some(register),
            _ => None,
        }
    }

    /// Calls `visit` for every operand inside, itself first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::Address(address) => {
                address.base.walk(visit);
                address.rest.iter().for_each(|part| part.walk(visit));
            }
            Self::Vector(parts) | Self::Other(_, parts) => {
                parts.iter().for_each(|part| part.walk(visit));
            }
            Self::Pair(first, second) => {
                first.walk(visit);
                second.walk(visit);
            }
            Self::Not(inner) => inner.walk(visit),
            Self::Register(_)
            | Self::Element(..)
            | Self::Special(_)
            | Self::Symbol(..)
            | Self::Sink
            | Self::Int(_)
            | Self::F32(_)
            | Self::F64(_) => {}
        }
    }
}
