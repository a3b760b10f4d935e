//! Floating point without the machine's: every format, every rounding.
//!
//! - `exact`: numbers with as many bits as an operation needs, and rounding them
//! - `arithmetic`: the operations, correctly rounded
//! - `narrow`: fast conversions between the small formats and `f32`
//!
//! Where PTX rounds to nearest and the machine does the same, families use the machine's arithmetic; this is
//! for the rest, and what the tests compare with.

pub(crate) mod arithmetic;
pub(crate) mod exact;
pub(crate) mod narrow;
pub(crate) mod transcendental;

/// How a result is rounded (PTX ISA 7.7 "Rounding Modifiers").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
}

impl Rounding {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "rn" => Self::Nearest,
            "rna" => Self::NearestAway,
            "rz" => Self::Zero,
            "rm" => Self::Down,
            "rp" => Self::Up,
            _ => return None,
        })
    }
}

/// An IEEE 754 interchange format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent.
    pub(crate) exponent: u32,
    /// Bits of the mantissa that are stored.
    pub(crate) mantissa: u32,
}

impl Format {
    pub(crate) const F16: Self = Self::new(5, 10);
    pub(crate) const BF16: Self = Self::new(8, 7);
    pub(crate) const F32: Self = Self::new(8, 23);
    pub(crate) const F64: Self = Self::new(11, 52);

    const fn new(exponent: u32, mantissa: u32) -> Self {
        Self { exponent, mantissa }
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The sign bit.
    pub(crate) const fn sign(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    /// Positive infinity.
    pub(crate) const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    /// The NaN that instructions give.
    pub(crate) const fn nan(self) -> u64 {
        match self.exponent {
            // All ones but the sign, in the formats of up to 32 bits (PTX ISA 9.7.3).
            5 | 8 => self.sign() - 1,
            _ => self.sign() | self.infinity() | 1 << (self.mantissa - 1),
        }
    }

    pub(crate) const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }
}
