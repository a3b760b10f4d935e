//! C++ types as the compiler prints them, as values.
//!
//! Typedefs are gone from such a text, so two equal types are equal here. What Rust makes of them is the
//! business of `signature`.

mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use parse::{TypeError, function_name};

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CType {
    /// A fundamental, class or enum type: `unsigned long long`, `ns::P`, `ns::Vec<int, 3>`.
    Named(Name, Qualifiers),
    /// `T *`.
    Pointer(Box<Self>, Qualifiers),
    /// `T &` or `T &&`.
    Reference(Box<Self>),
    /// `T [N]`; without a length, `T []`.
    Array(Box<Self>, Option<u64>),
    /// `R (A, B)`.
    Function(Box<Self>, Vec<Self>),
    /// `T P::*`.
    Member(Box<Self>, Name, Qualifiers),
    /// `...` at the end of a function's parameters.
    Ellipsis,
}

/// `const`, `volatile` and `__restrict__`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Qualifiers {
    /// `const`.
    pub constant: bool,
    /// `volatile`.
    pub volatile: bool,
    /// `__restrict__`.
    pub restrict: bool,
}

/// A possibly qualified name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name(pub Vec<Part>);

/// A part of a [`Name`] between `::`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part {
    /// The identifier, the words of a fundamental type, or [`Part::UNNAMED`].
    pub word: String,
    /// Template arguments, if it has them.
    pub args: Option<Vec<Arg>>,
}

impl Part {
    /// The word for an anonymous namespace or an unnamed class.
    pub const UNNAMED: &'static str = "<unnamed>";
}

/// A template argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Arg {
    /// A type, or a name that could be one (`ns::Color::Red`).
    Type(CType),
    /// A value, as printed, without the suffix or cast that says its integer type.
    Value(String),
}

impl Name {
    /// A name of one part.
    pub fn simple(word: impl Into<String>) -> Self {
        Self(vec![Part {
            word: word.into(),
            args: None,
        }])
    }

    /// The word, if the name is a single part without arguments.
    pub fn as_simple(&self) -> Option<&str> {
        match &self.0[..] {
            [Part { word, args: None }] => Some(word),
            _ => None,
        }
    }

    /// The last part.
    pub fn last(&self) -> Option<&Part> {
        self.0.last()
    }

    /// The name without its anonymous namespaces, as C++ in the same file writes it.
    pub fn path(&self) -> String {
        let named = self.0.iter().filter(|part| part.word != Part::UNNAMED);
        Self(named.cloned().collect()).to_string()
    }
}
