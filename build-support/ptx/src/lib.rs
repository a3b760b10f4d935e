//! Reads PTX, rewrites it, and functionalizes it.
//!
//! - [`Module::parse`] reads what nvcc, NVRTC and Triton write. The tree goes down to operands and knows
//!   the place of every statement; the text is kept.
//! - [`Edits`] rewrites by place. What no edit touches stays as it is, byte for byte.
//! - [`link()`] joins modules of relocatable code.
//! - [`functionalize()`] turns the calls of a failed check into code that records the failure.
//!
//! What an instruction does is not here, nor how a module is compiled or loaded.

mod edit;
mod error;
mod flow;
mod function;
pub mod functionalize;
mod instruction;
mod lex;
pub mod link;
mod module;
mod name;
mod parse;
mod scalar;
mod span;
mod statement;
mod variable;
mod words;

pub use edit::{EditError, Edits};
pub use error::ParseError;
pub use function::{Bounds, Directive, Function, FunctionKind, Param, Pointer};
pub use instruction::{Address, Call, Guard, Instruction, Operand, Register};
pub use module::{File, Item, ItemKind, Module};
pub use name::Name;
pub use scalar::Type;
pub use span::{Position, Span};
pub use statement::{Body, Inlined, Loc, RegisterId, Registers, Statement, StatementKind};
pub use variable::{Init, Linkage, Space, Value, Variable};

pub use functionalize::functionalize;
pub use link::link;
