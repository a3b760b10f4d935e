//! The values that a check captured.

use std::fmt;

use gpuk_device::abi::ValueType;

/// A captured value, with the width and sign it had in the kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "each is its Rust type")]
pub enum Value {
    Bool(bool),
    /// A C `char`.
    Char(u8),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
}

impl Value {
    /// Reads the bits a record holds for a value of type `ty`.
    #[must_use]
    pub const fn decode(ty: ValueType, bits: u64) -> Self {
        match ty {
            ValueType::Bool => Self::Bool(bits & 0xff != 0),
            ValueType::Char => Self::Char(bits as u8),
            ValueType::I8 => Self::I8(bits as i8),
            ValueType::I16 => Self::I16(bits as i16),
            ValueType::I32 => Self::I32(bits as i32),
            ValueType::I64 => Self::I64(bits as i64),
            ValueType::U8 => Self::U8(bits as u8),
            ValueType::U16 => Self::U16(bits as u16),
            ValueType::U32 => Self::U32(bits as u32),
            ValueType::U64 => Self::U64(bits),
            ValueType::F32 => Self::F32(f32::from_bits(bits as u32)),
            ValueType::F64 => Self::F64(f64::from_bits(bits)),
        }
    }
}

#[cfg(feature = "serde")]
impl Value {
    /// The type, the bits, and how many: what [`decode`](Self::decode) makes the value of again.
    pub(crate) const fn encode(self) -> (ValueType, u64, usize) {
        match self {
            Self::Bool(value) => (ValueType::Bool, value as u64, 8),
            Self::Char(value) => (ValueType::Char, value as u64, 8),
            Self::I8(value) => (ValueType::I8, value as u8 as u64, 8),
            Self::I16(value) => (ValueType::I16, value as u16 as u64, 16),
            Self::I32(value) => (ValueType::I32, value as u32 as u64, 32),
            Self::I64(value) => (ValueType::I64, value as u64, 64),
            Self::U8(value) => (ValueType::U8, value as u64, 8),
            Self::U16(value) => (ValueType::U16, value as u64, 16),
            Self::U32(value) => (ValueType::U32, value as u64, 32),
            Self::U64(value) => (ValueType::U64, value, 64),
            Self::F32(value) => (ValueType::F32, value.to_bits() as u64, 32),
            Self::F64(value) => (ValueType::F64, value.to_bits(), 64),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Char(value) => write!(f, "{}", value.escape_ascii()),
            Self::I8(value) => write!(f, "{value}"),
            Self::I16(value) => write!(f, "{value}"),
            Self::I32(value) => write!(f, "{value}"),
            Self::I64(value) => write!(f, "{value}"),
            Self::U8(value) => write!(f, "{value}"),
            Self::U16(value) => write!(f, "{value}"),
            Self::U32(value) => write!(f, "{value}"),
            Self::U64(value) => write!(f, "{value}"),
            // Debug keeps the point of 1.0 and every digit that distinguishes the value.
            Self::F32(value) => write!(f, "{value:?}"),
            Self::F64(value) => write!(f, "{value:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_keep_sign_and_width() {
        use ValueType as Ty;
        let minus = -2_i64 as u64;
        let texts = [
            (Ty::Bool, 1, "true"),
            (Ty::Bool, 0, "false"),
            (Ty::Char, u64::from(b'a'), "a"),
            (Ty::Char, minus, r"\xfe"),
            (Ty::I8, minus, "-2"),
            (Ty::I16, minus, "-2"),
            (Ty::I32, minus, "-2"),
            (Ty::I64, i64::MIN as u64, "-9223372036854775808"),
            (Ty::U8, 254, "254"),
            (Ty::U16, 65_534, "65534"),
            (Ty::U32, 0xffff_fffe, "4294967294"),
            (Ty::U64, u64::MAX, "18446744073709551615"),
            (Ty::F32, u64::from(0.1_f32.to_bits()), "0.1"),
            (Ty::F32, u64::from(f32::NAN.to_bits()), "NaN"),
            (Ty::F64, 1.0_f64.to_bits(), "1.0"),
            (Ty::F64, f64::NEG_INFINITY.to_bits(), "-inf"),
        ];
        for (ty, bits, text) in texts {
            assert_eq!(Value::decode(ty, bits).to_string(), text);
        }
    }
}
