//! The stable codes of gpuk's findings. A code is never given a second meaning.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A finding's stable code, written `GPUK0001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Code(u16);

/// A text that names no code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no such code; the nearest is {nearest}")]
pub struct UnknownCode {
    nearest: Code,
}

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
    /// a check stops a thread that others wait for
    STOP_WHERE_OTHERS_WAIT = 6;
    /// a trap ends the context when it is executed
    TRAP = 7;
    /// a check captures a value that is no number
    CAPTURE_NOT_A_NUMBER = 8;
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
    /// an annotation says what cannot be computed or is not so
    BAD_ANNOTATION = 20;
    /// a launch shape contradicts the kernel's launch bounds
    LAUNCH_CONTRADICTION = 21;
    /// a kernel template is never instantiated
    TEMPLATE_WITHOUT_INSTANCE = 24;
    /// an instance that is asked for cannot be made
    BAD_INSTANTIATION = 25;
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
    /// PTX is for a later architecture than any that is compiled for
    PTX_TARGET = 38;
    /// a variable of the module gets no handle
    VARIABLE_WITHOUT_HANDLE = 40;
    /// the sources of a module cannot be linked
    SOURCES_DO_NOT_LINK = 41;
    /// a host function gets no declaration
    FUNCTION_WITHOUT_DECLARATION = 42;
    /// a check stands in a kernel that host functions launch
    CHECK_BEHIND_HOST_FUNCTION = 43;
    /// a source of host functions has a word that nvcc would hand to a shell
    NAME_FOR_SHELL = 44;
    /// vendored kernels are not what the sources and settings say now
    VENDORED_STALE = 50;
    /// host functions cannot be vendored
    HOST_FUNCTIONS_VENDORED = 51;
    /// `native` is asked for where there is no device
    NO_NATIVE_DEVICE = 60;
    /// a kernel needs a later driver than the oldest that is stated
    DRIVER_TOO_OLD = 61;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GPUK{:04}", self.0)
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Takes `GPUK0001`, in small letters too, and `1`.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let digits = text
            .trim()
            .trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = digits.parse().unwrap_or(u16::MAX);
        let prefix = &text.trim()[..text.trim().len() - digits.len()];
        let known = |code: &Self| code.0 == number;
        let mut codes = Self::ALL.iter().map(|(code, _)| *code);
        if ["", "GPUK"].contains(&&*prefix.to_ascii_uppercase())
            && let Some(code) = codes.clone().find(known)
        {
            return Ok(code);
        }
        let first = Self::CHECK_NOT_HONOURED;
        let nearest = codes.by_ref().min_by_key(|code| code.0.abs_diff(number));
        let nearest = nearest.filter(|_| !digits.is_empty()).unwrap_or(first);
        Err(UnknownCode { nearest })
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.to_string()
    }
}

impl TryFrom<String> for Code {
    type Error = UnknownCode;

    fn try_from(text: String) -> Result<Self, UnknownCode> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_in_any_spelling_and_the_nearest_is_named() {
        for text in ["GPUK0005", "gpuk5", "0005", " 5 "] {
            assert_eq!(text.parse(), Ok(Code::UNRESOLVED_FUNCTION), "{text}");
        }
        for (text, nearest) in [
            ("GPUK0099", "GPUK0061"),
            ("GPUK0018", "GPUK0016"),
            ("E0005", "GPUK0005"),
            ("help", "GPUK0001"),
            ("", "GPUK0001"),
        ] {
            let error = text.parse::<Code>().unwrap_err();
            assert_eq!(error.nearest.to_string(), nearest, "{text}");
        }
    }

    #[test]
    fn codes_are_unique_and_said_once() {
        let mut numbers: Vec<_> = Code::ALL.iter().map(|(code, _)| code).collect();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), Code::ALL.len());
    }
}
