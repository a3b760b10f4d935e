//! The checks of an image: what the device leaves to the host to say.

use std::fmt;

use gpuk_device::abi::{Kind, ValueType};
use gpuk_device::table;

use crate::value::Value;

/// One check in a kernel, by the index that a record names it by. A check that was inlined through several calls has one
/// for each, all with one [`id`](Self::id).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// What kind of check it is.
    pub kind: SiteKind,
    /// The device function it stands in.
    pub function: &'static str,
    /// The file it stands in, as the compiler was given it.
    pub file: &'static str,
    /// Its line.
    pub line: u32,
    /// The calls that it was inlined through, the nearest first; empty where the kernels have no line information.
    pub calls: &'static [Call],
    /// The condition that must hold, as the source writes it.
    pub condition: &'static str,
    /// The message, with a `{}` for each value.
    pub format: Option<&'static str>,
    /// The types of the captured values.
    pub types: &'static [ValueType],
}

/// A call of a device function that a check was inlined through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The device function that the call stands in; empty where that is the kernel itself, and where it is not known.
    pub function: &'static str,
    /// The file.
    pub file: &'static str,
    /// The line. Several where it is one of these calls, and the compiler's line information does not tell which.
    pub lines: &'static [u32],
}

impl fmt::Display for Call {
    /// ``kernels/gather.cu:33, in `outer` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.lines.iter().enumerate() {
            let or = if number == 0 { "" } else { " or " };
            write!(f, "{or}{}:{line}", self.file)?;
        }
        if !self.function.is_empty() {
            write!(f, ", in `{}`", self.function)?;
        }
        Ok(())
    }
}

/// What kind of check a [`Site`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// `GPUK_CHECK`.
    Check,
    /// `GPUK_EXPECT`.
    Expect,
    /// `GPUK_DEBUG_CHECK`.
    DebugCheck,
    /// `GPUK_DEBUG_EXPECT`.
    DebugExpect,
    /// `assert`.
    Assert,
    /// A `trap` that is a check by setting.
    Trap,
    /// `GPUK_CHECK_BLOCK`.
    CheckBlock,
    /// `GPUK_CHECK_WARP`.
    CheckWarp,
    /// `GPUK_DEBUG_CHECK_BLOCK`.
    DebugCheckBlock,
    /// `GPUK_DEBUG_CHECK_WARP`.
    DebugCheckWarp,
}

impl From<Kind> for SiteKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Check => Self::Check,
            Kind::Expect => Self::Expect,
            Kind::DebugCheck => Self::DebugCheck,
            Kind::DebugExpect => Self::DebugExpect,
            Kind::Trap => Self::Trap,
            Kind::CheckBlock => Self::CheckBlock,
            Kind::CheckWarp => Self::CheckWarp,
            Kind::DebugCheckBlock => Self::DebugCheckBlock,
            Kind::DebugCheckWarp => Self::DebugCheckWarp,
        }
    }
}

impl SiteKind {
    /// What happened, in two or three words.
    pub(crate) const fn headline(self) -> &'static str {
        match self {
            Self::Check => "check failed",
            Self::Expect => "expectation not met",
            Self::DebugCheck => "debug check failed",
            Self::DebugExpect => "debug expectation not met",
            Self::Assert => "assertion failed",
            Self::Trap => "trap reached",
            Self::CheckBlock => "check of a block failed",
            Self::CheckWarp => "check of a warp failed",
            Self::DebugCheckBlock => "debug check of a block failed",
            Self::DebugCheckWarp => "debug check of a warp failed",
        }
    }
}

impl Site {
    /// A number for the check that stays the same, across builds too, as long as its source line says the same in the
    /// same place; other than its index in a table, which is that of the order in the PTX, and one for each chain of
    /// calls.
    #[must_use]
    pub fn id(&self) -> u64 {
        table::id(&self.hashed(&format!("{:?}", self.kind)))
    }

    /// The hash of all that it says, as the image has it.
    pub(crate) fn hash(&self) -> u64 {
        let calls = self.calls.iter().map(|call| table::Call {
            function: call.function,
            file: call.file,
            lines: call.lines,
        });
        table::entry(&self.hashed(&format!("{:?}", self.kind)), calls)
    }

    const fn hashed<'a>(&self, kind: &'a str) -> table::Site<'a> {
        table::Site {
            kind,
            function: self.function,
            file: self.file,
            line: self.line,
            condition: self.condition,
            format: self.format,
            types: self.types,
        }
    }

    /// The captured values, from a record's bits.
    pub(crate) fn values(&self, bits: &[u64]) -> Vec<Value> {
        self.types
            .iter()
            .zip(bits)
            .map(|(ty, bits)| Value::decode(*ty, *bits))
            .collect()
    }

    /// What failed, in one line.
    pub(crate) fn message(&self, values: &[Value]) -> String {
        match self.format {
            Some(format) => substitute(format, values),
            None => format!("{}: `{}`", self.kind.headline(), self.condition),
        }
    }
}

/// Puts the values where the format has `{}`; `{{` and `}}` are braces. Values that have no place follow in
/// parentheses, so that nothing that was captured is lost.
fn substitute(format: &str, values: &[Value]) -> String {
    let mut text = String::with_capacity(format.len() + 16 * values.len());
    let mut values = values.iter();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (written, taken) = if rest.starts_with("{{") {
            ("{".to_owned(), 2)
        } else if rest.starts_with("}}") {
            ("}".to_owned(), 2)
        } else if rest.starts_with("{}") {
            (values.next().map_or("{}".to_owned(), Value::to_string), 2)
        } else {
            (rest[..1].to_owned(), 1)
        };
        text.push_str(&written);
        rest = &rest[taken..];
    }
    text.push_str(rest);
    let left: Vec<_> = values.map(Value::to_string).collect();
    if !left.is_empty() {
        text.push_str(&format!(" ({})", left.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: Site = Site {
        kind: SiteKind::Check,
        function: "gather",
        file: "kernels/gather.cu",
        line: 14,
        calls: &[],
        condition: "k >= 0 && k < rows",
        format: Some("row {} of {}"),
        types: &[ValueType::I32, ValueType::U64],
    };

    fn message(format: &'static str, values: &[Value]) -> String {
        let site = Site {
            format: Some(format),
            ..SITE
        };
        site.message(values)
    }

    #[test]
    fn values_take_their_places() {
        let values = SITE.values(&[-1_i64 as u64, 4_294_967_298, 7, 0, 0, 0, 0, 0]);
        assert_eq!(values, [Value::I32(-1), Value::U64(4_294_967_298)]);
        assert_eq!(SITE.message(&values), "row -1 of 4294967298");
    }

    #[test]
    fn without_a_format_the_condition_speaks() {
        let check = Site {
            format: None,
            ..SITE
        };
        assert_eq!(check.message(&[]), "check failed: `k >= 0 && k < rows`");
        let assert = Site {
            kind: SiteKind::Assert,
            ..check
        };
        assert_eq!(
            assert.message(&[]),
            "assertion failed: `k >= 0 && k < rows`"
        );
    }

    #[test]
    fn braces_and_mismatches_lose_nothing() {
        let one = [Value::I32(1)];
        assert_eq!(message("{{{}}} {{}}", &one), "{1} {}");
        assert_eq!(message("{} {}", &one), "1 {}");
        assert_eq!(
            message("none", &[Value::I32(1), Value::Bool(true)]),
            "none (1, true)"
        );
        assert_eq!(message("{x} }é{", &[]), "{x} }é{");
        assert_eq!(message("{}%", &one), "1%");
    }
}
