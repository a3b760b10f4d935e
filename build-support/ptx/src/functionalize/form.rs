//! Which code a site has, and why.

use std::collections::HashSet;
use std::fmt;

use super::site::Label;

/// The code that a failing thread leaves by. All are the same to everybody but the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// It records and exits where the check stands.
    Exit,
    /// The check is made with those behind it, and before loads and stores that stand before it.
    Group,
    /// The check is decided in front of its loop, for all rounds; the loop is run without it.
    Range,
    /// It records and goes on.
    GoOn,
}

impl Form {
    /// A word for it: `exit`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Group => "group",
            Self::Range => "range",
            Self::GoOn => "go on",
        }
    }

    /// The form of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Exit, Self::Group, Self::Range, Self::GoOn]
            .into_iter()
            .find(|form| form.as_str() == name)
    }

    /// Why a site has it.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::Exit => {
                "no other check stands behind it, and its outcome is not known before its loop"
            }
            Self::Group => {
                "other checks stand behind it, and only loads, stores and arithmetic between them"
            }
            Self::Range => {
                "it compares what grows evenly from round to round with what stays, so the first and last round decide"
            }
            Self::GoOn => "the thread goes on",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The checks that are made before the place where they stand.
#[derive(Debug, Default)]
pub(super) struct Early {
    pub(super) ranges: HashSet<Label>,
    pub(super) groups: HashSet<Label>,
}

impl Early {
    /// The form of a check.
    pub(super) fn form(&self, label: &Label) -> Form {
        if !label.kind.stops() {
            Form::GoOn
        } else if self.ranges.contains(label) {
            Form::Range
        } else if self.groups.contains(label) {
            Form::Group
        } else {
            Form::Exit
        }
    }
}
