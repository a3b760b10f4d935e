//! What is wrong with a text that is not PTX.

use crate::span::Position;

/// A text that cannot be read: where, what was expected, what stands there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{position}: expected {expected}, found {found}")]
pub struct ParseError {
    /// Where reading stopped.
    pub position: Position,
    /// What could stand there.
    pub expected: String,
    /// What does.
    pub found: String,
}
