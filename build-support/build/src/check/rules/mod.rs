//! One file per rule.

pub(super) mod honoured;
