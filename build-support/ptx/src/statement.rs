//! What stands in a function's body.

use crate::function::Param;
use crate::instruction::Instruction;
use crate::name::Name;
use crate::scalar::Type;
use crate::span::Span;
use crate::variable::Variable;

/// A function's body.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// What stands between the braces.
    pub statements: Vec<Statement>,
    /// Every register declared anywhere in the body, by rising [`Registers::first`].
    pub registers: Vec<Registers>,
    /// With the braces.
    pub span: Span,
}

/// A declared register or a numbered row of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Registers {
    /// The name, or with a count the common part: `%r` of `%r<13>`.
    pub name: Name,
    /// How many a numbered row has.
    pub count: Option<u32>,
    /// The type of each.
    pub ty: Type,
    /// Elements of a `.v2` or `.v4`; else 1.
    pub lanes: u64,
    /// The first's number; the rest follow it.
    pub first: RegisterId,
}

/// A register of a body. Registers of one name declared in two scopes have two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegisterId(pub u32);

impl Body {
    /// The declaration of a register of this body.
    #[must_use]
    pub fn declaration(&self, register: RegisterId) -> Option<&Registers> {
        let after = self
            .registers
            .partition_point(|known| known.first <= register);
        self.registers.get(after.checked_sub(1)?)
    }

    /// Calls `visit` for every statement, those of nested blocks too, in the order of the text.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Statement)) {
        walk(&self.statements, visit);
    }
}

fn walk<'a>(statements: &'a [Statement], visit: &mut dyn FnMut(&'a Statement)) {
    for statement in statements {
        visit(statement);
        // As deep as blocks are nested, which the parser limits.
        if let StatementKind::Block(inner) = &statement.kind {
            walk(inner, visit);
        }
    }
}

/// A statement with its place; the place takes in the semicolon.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement is.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `name:`.
    Label(Name),
    /// `.reg …;`, as indices into [`Body::registers`].
    Registers(std::ops::Range<usize>),
    /// `.local`, `.shared`, `.param`, `.const` or `.global` data.
    Variables(Vec<Variable>),
    /// `.loc`: the source line of what follows.
    Loc(Loc),
    /// `.pragma "…";`.
    Pragma(Vec<Name>),
    /// `label: .branchtargets a, b;`: where a `brx.idx` goes.
    BranchTargets {
        /// What the branch names.
        label: Name,
        /// The labels by index.
        targets: Vec<Name>,
    },
    /// `label: .calltargets f, g;`: what an indirect call may reach.
    CallTargets {
        /// What the call names.
        label: Name,
        /// The functions.
        targets: Vec<Name>,
    },
    /// `label: .callprototype (…) _ (…);`: the signature of an indirect call.
    CallPrototype {
        /// What the call names.
        label: Name,
        /// What the function gives back.
        returns: Vec<Param>,
        /// What it takes.
        params: Vec<Param>,
    },
    /// `{ … }`.
    Block(Vec<Statement>),
    /// An instruction.
    Instruction(Box<Instruction>),
    /// A directive that this reader does not know, kept as text.
    Other,
}

impl Statement {
    /// The instruction, if it is one.
    #[must_use]
    pub fn instruction(&self) -> Option<&Instruction> {
        match &self.kind {
            StatementKind::Instruction(instruction) => Some(instruction),
            _ => None,
        }
    }
}

/// A line of the source (PTX ISA 11.5, `.loc`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loc {
    /// Number of a `.file`.
    pub file: u32,
    /// From 1; 0 where the compiler knows none.
    pub line: u32,
    /// From 1; 0 where the compiler knows none.
    pub column: u32,
    /// Where this was inlined.
    pub inlined: Option<Inlined>,
}

/// Where code was inlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inlined {
    /// Label in `.debug_str` of the inlined function's name.
    pub function: Option<Name>,
    /// Bytes added to that label.
    pub offset: u64,
    /// Number of a `.file`.
    pub file: u32,
    /// Line of the call.
    pub line: u32,
    /// Column of the call.
    pub column: u32,
}
