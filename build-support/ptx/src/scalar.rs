//! Fundamental types (PTX ISA 5.2).

use std::fmt;

macro_rules! types {
    ($($name:ident = $text:literal, $bits:literal;)+) => {
        /// A fundamental type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each is its PTX type")]
        pub enum Type {
            $($name,)+
        }

        impl Type {
            /// The type's name without its dot.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// Width in bits. A predicate has one, an opaque handle as many as its address.
            #[must_use]
            pub const fn bits(self) -> u64 {
                match self {
                    $(Self::$name => $bits,)+
                }
            }

            /// Reads a name without its dot.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

types! {
    Pred = "pred", 1;
    B8 = "b8", 8;
    B16 = "b16", 16;
    B32 = "b32", 32;
    B64 = "b64", 64;
    B128 = "b128", 128;
    U8 = "u8", 8;
    U16 = "u16", 16;
    U32 = "u32", 32;
    U64 = "u64", 64;
    S8 = "s8", 8;
    S16 = "s16", 16;
    S32 = "s32", 32;
    S64 = "s64", 64;
    F16 = "f16", 16;
    F16x2 = "f16x2", 32;
    Bf16 = "bf16", 16;
    Bf16x2 = "bf16x2", 32;
    Tf32 = "tf32", 32;
    F32 = "f32", 32;
    F64 = "f64", 64;
    TexRef = "texref", 64;
    SamplerRef = "samplerref", 64;
    SurfRef = "surfref", 64;
}

impl Type {
    /// Size in memory, in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.bits().div_ceil(8)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.as_str())
    }
}
