//! One file per rule.

pub(super) mod honoured;
pub(super) mod unresolved;
