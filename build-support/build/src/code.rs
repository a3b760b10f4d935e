//! The stable codes of gpuk's findings. A code is never given a second meaning.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A finding's stable code, written `GPUK0001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Code(u16);

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:literal;)+) => {
        impl Code {
            $($(#[doc = $doc])+ pub const $name: Self = Self($number);)+

            /// Every code with its one-line meaning.
            pub const ALL: &[(Self, &str)] = &[$((Self($number), concat!($($doc),+))),+];
        }
    };
}

codes! {
    /// a non-debug check stands in a kernel whose check mode cannot honour it
    CHECK_NOT_HONOURED = 1;
    /// a check's site cannot be read: its strings are not constants
    SITE_UNREADABLE = 2;
    /// a check is reached through an indirect call
    CHECK_BEHIND_INDIRECT_CALL = 3;
    /// a check's message and its values do not fit together
    FORMAT_MISMATCH = 4;
    /// a call names a function that no module defines
    UNRESOLVED_FUNCTION = 5;
    /// a parameter's type has no Rust counterpart
    TYPE_WITHOUT_COUNTERPART = 10;
    /// a parameter is a reference, which is a host address
    REFERENCE_PARAMETER = 11;
    /// a parameter's class is not plain data
    CLASS_NOT_PLAIN = 12;
    /// two kernels would get the same wrapper
    NAME_CLASH = 13;
    /// the source and the PTX disagree about a parameter
    LAYOUT_DISAGREES = 14;
    /// an entry of the PTX was not found in the source
    ENTRY_NOT_IN_SOURCE = 15;
    /// a kernel exists only for some architectures
    KERNEL_MISSING_FOR_ARCH = 16;
    /// the configuration has an unknown key
    UNKNOWN_KEY = 30;
    /// the configuration has a value of the wrong kind
    BAD_VALUE = 31;
    /// a pattern of the configuration matches no file
    UNUSED_PATTERN = 32;
    /// the compiler does not know an architecture
    UNKNOWN_ARCH = 33;
    /// a source is no translation unit of its own
    FRAGMENT_SKIPPED = 35;
    /// a setting names a kernel that does not exist
    UNKNOWN_KERNEL = 36;
    /// a flag of the configuration cannot be used
    BAD_FLAG = 37;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GPUK{:04}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_said_once() {
        let mut numbers: Vec<_> = Code::ALL.iter().map(|(code, _)| code).collect();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), Code::ALL.len());
    }
}
