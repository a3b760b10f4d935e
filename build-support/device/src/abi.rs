//! The functions a failed check calls in what the compiler emits.
//!
//! `gpuk.cuh` declares `__gpuk_fail(const char *site, unsigned long long types, unsigned long long v0 … v7)`.
//! It is never defined: the PTX pass replaces each call, takes the site string and the types to the host,
//! and leaves code that records the values.

use crate::record::MAX_VALUES;

/// The header's failure function.
pub const FAIL: &str = "__gpuk_fail";

/// CUDA's: `__assertfail(message, file, line, function, charsize)`, what `assert` calls.
pub const ASSERT_FAIL: &str = "__assertfail";

/// Parameters of [`FAIL`]: site, types, values.
pub const FAIL_PARAMS: usize = 2 + MAX_VALUES;

/// Separates the parts of a site string: kind, file, line, condition, format.
pub const SEPARATOR: char = '\u{1f}';

/// What a site is, the first part of its string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `GPUK_CHECK`: record and stop this thread.
    Check,
    /// `GPUK_EXPECT`: record and go on.
    Expect,
    /// `GPUK_DEBUG_CHECK`.
    DebugCheck,
    /// `GPUK_DEBUG_EXPECT`.
    DebugExpect,
    /// A `trap` that is made a check by setting; the header has no macro for it.
    Trap,
    /// `GPUK_CHECK_BLOCK`: all threads of the block stop where one fails.
    CheckBlock,
    /// `GPUK_CHECK_WARP`: all threads of the warp stop where one fails.
    CheckWarp,
    /// `GPUK_DEBUG_CHECK_BLOCK`.
    DebugCheckBlock,
    /// `GPUK_DEBUG_CHECK_WARP`.
    DebugCheckWarp,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Check,
        Self::Expect,
        Self::DebugCheck,
        Self::DebugExpect,
        Self::Trap,
        Self::CheckBlock,
        Self::CheckWarp,
        Self::DebugCheckBlock,
        Self::DebugCheckWarp,
    ];

    /// The spelling in a site string.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Expect => "expect",
            Self::DebugCheck => "debug_check",
            Self::DebugExpect => "debug_expect",
            Self::Trap => "trap",
            Self::CheckBlock => "check_block",
            Self::CheckWarp => "check_warp",
            Self::DebugCheckBlock => "debug_check_block",
            Self::DebugCheckWarp => "debug_check_warp",
        }
    }

    /// Whether the failing thread stops.
    #[must_use]
    pub const fn stops(self) -> bool {
        !matches!(self, Self::Expect | Self::DebugExpect)
    }

    /// Whether the check exists only where debug checks are on.
    #[must_use]
    pub const fn is_debug(self) -> bool {
        matches!(
            self,
            Self::DebugCheck | Self::DebugExpect | Self::DebugCheckBlock | Self::DebugCheckWarp
        )
    }

    /// Whether all threads of the block stop together.
    #[must_use]
    pub const fn stops_block(self) -> bool {
        matches!(self, Self::CheckBlock | Self::DebugCheckBlock)
    }
}

/// Type of a captured value: four bits each in the `types` argument, the first value lowest, 0 ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ValueType {
    /// `bool`.
    Bool = 1,
    /// `char`.
    Char,
    /// Signed integers, by bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// Unsigned integers, by bits.
    U8,
    /// 16 bits.
    U16,
    /// 32 bits.
    U32,
    /// 64 bits.
    U64,
    /// `float`, and what converts to it without loss (`__half`, `__nv_bfloat16`).
    F32,
    /// `double`.
    F64,
}

impl ValueType {
    const ALL: [Self; 12] = [
        Self::Bool,
        Self::Char,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F32,
        Self::F64,
    ];

    /// The Rust name: `i32`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type of that Rust name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.as_str() == name)
    }

    /// Reads the `types` argument; `None` if a code is unknown.
    #[must_use]
    pub fn decode(mut types: u64) -> Option<Vec<Self>> {
        let mut decoded = Vec::new();
        while types != 0 {
            let code = (types & 0xf) as u8;
            decoded.push(*Self::ALL.iter().find(|ty| **ty as u8 == code)?);
            types >>= 4;
        }
        (decoded.len() <= MAX_VALUES).then_some(decoded)
    }
}
