//! A check's place in the source, as it is kept and reported.

use std::fmt;
use std::path::PathBuf;

use gpuk_device::abi::ValueType;
use gpuk_ptx::functionalize::Form;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Place;

/// One check of a module; its index is the id that the kernel records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRecord {
    /// What kind of check.
    pub kind: SiteKind,
    /// The device function it stands in; empty where that is the kernel itself.
    pub function: String,
    /// Where.
    pub place: Place,
    /// The calls that it was inlined through, the nearest first; empty without line information. One check has a record
    /// for each such chain.
    pub calls: Vec<CallRecord>,
    /// The condition's text.
    pub condition: String,
    /// The message's format, if one was written.
    pub format: Option<String>,
    /// The captured values' types.
    #[serde(with = "types")]
    pub types: Vec<ValueType>,
    /// The entries that reach it.
    pub entries: Vec<String>,
    /// Which code it has.
    #[serde(with = "form")]
    pub form: Form,
}

/// A call that a check was inlined through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The device function that the call stands in; empty where that is the kernel itself, and where it is not known.
    pub function: String,
    /// The file, relative to the package where it lies in it.
    pub file: PathBuf,
    /// Its line. Several where it is one of these calls, and the compiler's line information does not tell which.
    pub lines: Vec<u32>,
}

impl fmt::Display for CallRecord {
    /// As a failed check shows it: ``kernels/a.cu:33, in `f` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.lines.iter().enumerate() {
            let or = if number == 0 { "" } else { " or " };
            write!(f, "{or}{}:{line}", self.file.display())?;
        }
        if !self.function.is_empty() {
            write!(f, ", in `{}`", self.function)?;
        }
        Ok(())
    }
}

/// What a site is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl SiteKind {
    /// Whether the check exists only where debug checks are on.
    #[must_use]
    pub const fn is_debug(self) -> bool {
        matches!(
            self,
            Self::DebugCheck | Self::DebugExpect | Self::DebugCheckBlock | Self::DebugCheckWarp
        )
    }

    /// Whether the failing thread stops.
    #[must_use]
    pub const fn stops(self) -> bool {
        !matches!(self, Self::Expect | Self::DebugExpect)
    }
}

impl fmt::Display for SiteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Check => "GPUK_CHECK",
            Self::Expect => "GPUK_EXPECT",
            Self::DebugCheck => "GPUK_DEBUG_CHECK",
            Self::DebugExpect => "GPUK_DEBUG_EXPECT",
            Self::Assert => "assert",
            Self::Trap => "trap",
            Self::CheckBlock => "GPUK_CHECK_BLOCK",
            Self::CheckWarp => "GPUK_CHECK_WARP",
            Self::DebugCheckBlock => "GPUK_DEBUG_CHECK_BLOCK",
            Self::DebugCheckWarp => "GPUK_DEBUG_CHECK_WARP",
        })
    }
}

/// Types by their names.
mod types {
    use gpuk_device::abi::ValueType;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(types: &[ValueType], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(types.iter().map(|ty| ty.as_str()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<ValueType>, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        let ty = |name: &String| ValueType::from_name(name).ok_or_else(|| D::Error::custom(name));
        names.iter().map(ty).collect()
    }
}

/// A form by its name.
mod form {
    use gpuk_ptx::functionalize::Form;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes fields by reference"
    )]
    pub(super) fn serialize<S: Serializer>(form: &Form, to: S) -> Result<S::Ok, S::Error> {
        form.as_str().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Form, D::Error> {
        let name = String::deserialize(from)?;
        Form::from_name(&name).ok_or_else(|| D::Error::custom(name))
    }
}
