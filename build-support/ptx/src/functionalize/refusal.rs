//! What cannot be functionalized, and why.

use std::fmt;

/// A line of the source, as the compiler saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file's path.
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A reason why a module is not functionalized.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A call through a pointer can come to a check, or to a function that takes no gate.
    #[error("`{function}` can come to a check, and {how}")]
    IndirectCall {
        /// PTX symbol of the function.
        function: String,
        /// A check that it can come to, if it is in the source.
        place: Option<Place>,
        /// Who takes its address.
        how: String,
    },
    /// The strings or types of a check are not constants.
    #[error("a check in `{function}` cannot be read: {text}")]
    SiteUnreadable {
        /// PTX symbol of the function.
        function: String,
        /// The check, if line information is there.
        place: Option<Place>,
        /// What stands in the way.
        text: String,
    },
    /// A check's message and its values do not fit together.
    #[error("the message of a check in `{function}` {text}")]
    FormatMismatch {
        /// PTX symbol of the function.
        function: String,
        /// The check.
        place: Option<Place>,
        /// What does not fit.
        text: String,
    },
    /// The target is too old.
    #[error("checks need compute capability 7.0; `{function}` is compiled for `{target}`")]
    Target {
        /// PTX symbol of the first function with a check.
        function: String,
        /// The module's target.
        target: String,
    },
    /// The module has more sites than a record can tell apart.
    #[error("the module has {count} checks")]
    Sites {
        /// PTX symbol of the first function with a check.
        function: String,
        /// How many.
        count: usize,
    },
    /// Two rewritings collide, which is an error of this crate.
    #[error("`{function}` cannot be rewritten: {text}")]
    Rewrite {
        /// PTX symbol of the first function with a check.
        function: String,
        /// What collides.
        text: String,
    },
}

impl Refusal {
    /// PTX symbol of the function.
    #[must_use]
    pub fn function(&self) -> &str {
        match self {
            Self::IndirectCall { function, .. }
            | Self::SiteUnreadable { function, .. }
            | Self::FormatMismatch { function, .. }
            | Self::Target { function, .. }
            | Self::Sites { function, .. }
            | Self::Rewrite { function, .. } => function,
        }
    }

    /// The check, where it is known.
    #[must_use]
    pub const fn place(&self) -> Option<&Place> {
        match self {
            Self::IndirectCall { place, .. }
            | Self::SiteUnreadable { place, .. }
            | Self::FormatMismatch { place, .. } => place.as_ref(),
            Self::Target { .. } | Self::Sites { .. } | Self::Rewrite { .. } => None,
        }
    }

    /// What to write instead.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::IndirectCall { .. } => {
                "define it in this file, call it by its name, or move the check to its callers"
            }
            Self::SiteUnreadable { .. } => {
                "write the check with the macros of `gpuk.cuh` or `assert`, where its strings are literals"
            }
            Self::FormatMismatch { .. } => {
                "write one `{}` or `{name}` for each value, and `{{` or `}}` for a brace"
            }
            Self::Target { .. } => "compile for `sm_70` or later",
            Self::Sites { .. } => "divide the file; a module has room for 65,536 checks",
            Self::Rewrite { .. } => "report this with the PTX",
        }
    }
}
