//! Instances of kernel templates: what one is made with, and which of its types follow from that.
//!
//! Which instances share a method, and what that looks like, is decided in `generate`.

use serde::{Deserialize, Serialize};

use crate::diagnostic::Place;
use crate::kernel::{Scalar, Type};

/// What makes a kernel an instance of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// The template's C++ name: `ns::scale`.
    pub template: String,
    /// Where the template is defined; an explicit specialization stands elsewhere.
    pub place: Place,
    /// One for each parameter of the template.
    pub args: Vec<TemplateArg>,
    /// How the template spells the type of each parameter of the kernel.
    pub params: Vec<Spelling>,
}

/// A template parameter and its argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateArg {
    /// The parameter's name; `None` where the template gives it none.
    pub name: Option<String>,
    /// What stands before the name: `class`, `int`, `ns::Mode`.
    pub kind: String,
    /// The argument as the compiler prints it: `float`, `64`, `(ns::Mode)2`.
    pub text: String,
    /// The argument to Rust.
    pub value: TemplateValue,
}

/// A template argument to Rust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateValue {
    /// A type.
    Type(Type),
    /// A value of a type that a const generic can have: `64`, `-3`, `true`. An enumerator is its number.
    Const(Scalar, String),
    /// What Rust cannot name: a template, a pointer, a class without a counterpart.
    Other,
}

/// A parameter's type as the template spells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelling {
    /// `const T *`.
    pub text: String,
    /// What of the template it depends on.
    pub depends: Depends,
}

/// What a type depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Depends {
    /// No argument is mentioned: `int`.
    Nothing,
    /// It is this argument, or a pointer to it: `T`, `const T *`.
    Argument(usize),
    /// It is made of arguments: `Pair<T>`, `typename T::x`.
    Arguments,
}
