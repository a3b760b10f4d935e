//! Where in the source an instruction comes from.

use std::fmt;

/// A line of the source, and where it was inlined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Place {
    /// As the compiler saw it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where the compiler knows none.
    pub column: u32,
    /// The call that this line was inlined at, then that call's own, and so on.
    pub inlined_at: Vec<Frame>,
}

/// A call that the compiler inlined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Frame {
    /// The function that was inlined, as the linker names it.
    pub function: Option<String>,
    /// File of the call.
    pub file: String,
    /// Line of the call, from 1.
    pub line: u32,
    /// Column of the call.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        for frame in &self.inlined_at {
            write!(f, ", inlined at {}:{}", frame.file, frame.line)?;
        }
        Ok(())
    }
}
