//! Findings: values with a code, a level and places in the user's files.
//!
//! The compiler's own messages become findings too. Drawing them is the business of `render`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::code::Code;

/// A line of a file of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Relative to the package's folder, or absolute.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1, in bytes; `None` where only the line is known (nvcc's columns count expanded text).
    pub column: Option<u32>,
}

impl Place {
    /// A whole line.
    pub fn line(file: impl Into<PathBuf>, line: u32) -> Self {
        Self {
            file: file.into(),
            line,
            column: None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The build fails.
    Error,
    /// The build goes on; something is probably not meant.
    Warning,
    /// For information.
    Note,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// A place with what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What; may be empty.
    pub text: String,
}

/// One finding.
///
/// Wording: lowercase, no full stop, names in backticks; the message says what was found, the help what to
/// write instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// `None` for the compiler's own messages.
    pub code: Option<Code>,
    /// How bad.
    pub level: Level,
    /// One sentence; the compiler's own may have more lines.
    pub message: String,
    /// The first is the primary place.
    pub labels: Vec<Label>,
    /// Facts that belong to it.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// A finding of gpuk's own that fails the build.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Some(code), Level::Error, message)
    }

    /// A finding of gpuk's own that does not.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Some(code), Level::Warning, message)
    }

    /// Any finding, without places.
    pub fn new(code: Option<Code>, level: Level, message: impl Into<String>) -> Self {
        Self {
            code,
            level,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Adds a place; the first one added is the primary.
    #[must_use]
    pub fn at(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            place,
            text: text.into(),
        });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}
