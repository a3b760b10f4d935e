//! Variables: module-scope data and the memory a function declares.

use std::fmt;

use crate::name::Name;
use crate::scalar::Type;
use crate::span::Span;

/// A state space (PTX ISA 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is its PTX state space")]
pub enum Space {
    Global,
    Const,
    Shared,
    Local,
    Param,
    Tex,
}

impl Space {
    /// Reads a name without its dot.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "global" => Self::Global,
            "const" => Self::Const,
            "shared" => Self::Shared,
            "local" => Self::Local,
            "param" => Self::Param,
            "tex" => Self::Tex,
            _ => return None,
        })
    }

    /// The name without its dot.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Const => "const",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "param",
            Self::Tex => "tex",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.as_str())
    }
}

/// Who else sees a symbol (PTX ISA 11.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Only this module.
    Internal,
    /// `.extern`: defined elsewhere.
    Extern,
    /// `.visible`.
    Visible,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

impl Linkage {
    /// Reads a directive without its dot.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "extern" => Self::Extern,
            "visible" => Self::Visible,
            "weak" => Self::Weak,
            "common" => Self::Common,
            _ => return None,
        })
    }
}

/// A declared variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Where it lies.
    pub space: Space,
    /// Who sees it.
    pub linkage: Linkage,
    /// Its name.
    pub name: Name,
    /// Where the name stands.
    pub name_span: Span,
    /// What `.align` says, in bytes.
    pub align: Option<u64>,
    /// Its element's type.
    pub ty: Type,
    /// Elements of a `.v2` or `.v4`; else 1.
    pub lanes: u64,
    /// Array dimensions, outermost first; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    /// The initializer.
    pub init: Option<Init>,
    /// The initializer from its `=` on.
    pub init_span: Option<Span>,
    /// What `.attribute(…)` says, as written (`.managed`).
    pub attribute: Option<Name>,
    /// The whole statement up to and with its semicolon; several variables can share one.
    pub span: Span,
    /// Whether no other variable shares the statement.
    pub alone: bool,
}

/// An initializer. Elements that it does not give are zero.
#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    /// `= value`.
    Value(Value),
    /// `= {values}`, nested braces flattened in order.
    List(Vec<Value>),
}

/// An element of an initializer.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer, as its low 64 bits.
    Int(u64),
    /// The bits of a `0f…`.
    F32(u32),
    /// The bits of a `0d…` or of a decimal number.
    F64(u64),
    /// A symbol's address.
    Address {
        /// The symbol.
        symbol: Name,
        /// Bytes added.
        offset: i64,
        /// `generic(symbol)`: its generic address, not that in its space.
        generic: bool,
        /// `0xFF00(symbol)`: the byte of the address that this element is (PTX ISA 5.4.4).
        mask: Option<u64>,
    },
}

/// More than any device has; keeps a hostile `[…]` from taking the memory.
const MAX_BYTES: u64 = 1 << 30;

impl Variable {
    /// Size in bytes; `None` for `[]` without an initializer, and past 2^64.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let element = self.ty.bytes().checked_mul(self.lanes)?;
        let mut size = element;
        for (index, dim) in self.dims.iter().enumerate() {
            let count = match (dim, &self.init) {
                (Some(count), _) => *count,
                (None, Some(Init::List(values))) if index == 0 && self.dims.len() == 1 => {
                    u64::try_from(values.len()).ok()?
                }
                _ => return None,
            };
            size = size.checked_mul(count)?;
        }
        Some(size)
    }

    /// What `.align` says, or the type's own alignment, in bytes.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.align
            .unwrap_or_else(|| self.ty.bytes().saturating_mul(self.lanes))
    }

    /// The values of the initializer in order, without the zeros it leaves out.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let values = match &self.init {
            None => &[],
            Some(Init::Value(value)) => std::slice::from_ref(value),
            Some(Init::List(values)) => values.as_slice(),
        };
        values.iter()
    }

    /// The initial bytes, little-endian, as many as [`size`](Self::size) says.
    ///
    /// `None` if an address is among them, if the size is unknown, or above 2^30.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let size = self.size().filter(|size| *size <= MAX_BYTES)?;
        let size = usize::try_from(size).ok()?;
        let width = usize::try_from(self.ty.bytes()).ok()?;
        let mut bytes = Vec::with_capacity(size);
        for value in self.values() {
            let bits = match value {
                Value::Int(bits) | Value::F64(bits) => *bits,
                Value::F32(bits) => u64::from(*bits),
                Value::Address { .. } => return None,
            };
            let element = bits.to_le_bytes();
            bytes.extend((0..width).map(|at| element.get(at).copied().unwrap_or(0)));
        }
        bytes.resize(size, 0);
        Some(bytes)
    }

    /// The initial bytes up to the first zero, as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn string(&self) -> Option<String> {
        let bytes = self.bytes()?;
        let text = bytes.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}
