//! One file per rule.

pub(super) mod honoured;
pub(super) mod leaving;
pub(super) mod traps;
pub(super) mod unresolved;
