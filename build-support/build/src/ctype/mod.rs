//! C++ types as the compiler prints them, as values.
//!
//! Typedefs are gone from such a text, so two equal types are equal here. What Rust makes of them is the
//! business of `signature`.

mod depth;
mod parse;
mod print;
mod spelling;
#[cfg(test)]
mod tests;

pub(crate) use parse::{FunctionName, function_name};
pub(crate) use spelling::is_fundamental;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CType {
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
pub(crate) struct Qualifiers {
    /// `const`.
    pub(crate) constant: bool,
    /// `volatile`.
    pub(crate) volatile: bool,
    /// `__restrict__`.
    pub(crate) restrict: bool,
}

/// A possibly qualified name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Name(pub(crate) Vec<Part>);

/// A part of a [`Name`] between `::`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The identifier, the words of a fundamental type, or [`Part::UNNAMED`].
    pub(crate) word: String,
    /// Template arguments, if it has them.
    pub(crate) args: Option<Vec<Arg>>,
}

impl Part {
    /// The word for an anonymous namespace or an unnamed class.
    pub(crate) const UNNAMED: &'static str = "<unnamed>";
}

/// A template argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Arg {
    /// A type, or a name that could be one (`ns::Color::Red`).
    Type(CType),
    /// A value, as printed, without the suffix or cast that says its integer type.
    Value(String),
}

impl CType {
    /// The word, if it is a plain name.
    pub(crate) fn as_word(&self) -> Option<&str> {
        match self {
            Self::Named(name, _) => name.as_simple(),
            _ => None,
        }
    }

    /// The type without its own `const` and `volatile`.
    pub(crate) fn unqualified(&self) -> Self {
        match self {
            Self::Named(name, _) => Self::Named(name.clone(), Qualifiers::default()),
            Self::Pointer(to, _) => Self::Pointer(to.clone(), Qualifiers::default()),
            other => other.clone(),
        }
    }
}

impl Name {
    /// A name of one part.
    pub(crate) fn simple(word: impl Into<String>) -> Self {
        Self(vec![Part {
            word: word.into(),
            args: None,
        }])
    }

    /// The word, if the name is a single part without arguments.
    pub(crate) fn as_simple(&self) -> Option<&str> {
        match &self.0[..] {
            [Part { word, args: None }] => Some(word),
            _ => None,
        }
    }

    /// The last part.
    pub(crate) fn last(&self) -> Option<&Part> {
        self.0.last()
    }

    /// The name without its anonymous namespaces, as C++ in the same file writes it.
    pub(crate) fn path(&self) -> String {
        let named = self.0.iter().filter(|part| part.word != Part::UNNAMED);
        Self(named.cloned().collect()).to_string()
    }
}
