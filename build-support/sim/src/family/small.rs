//! Conversions from and to floating-point formats of 8, 6 and 4 bits, two in a register (PTX ISA 9.7.9, `cvt`).

use gpuk_ptx::{Instruction, Type};

use crate::decode::{Decoder, Mods};
use crate::float::exact::Unpacked;
use crate::float::narrow::f16_to_f32;
use crate::float::{Format, Rounding};
use crate::register::{Dst, File, Src};

/// A format without infinities, but for `e5m2`, into which nothing is rounded to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Small {
    E4m3,
    E5m2,
    E2m3,
    E3m2,
    E2m1,
}

impl Small {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "e4m3x2" => Self::E4m3,
            "e5m2x2" => Self::E5m2,
            "e2m3x2" => Self::E2m3,
            "e3m2x2" => Self::E3m2,
            "e2m1x2" => Self::E2m1,
            _ => return None,
        })
    }

    const fn format(self) -> Format {
        let (exponent, mantissa) = match self {
            Self::E4m3 => (4, 3),
            Self::E5m2 => (5, 2),
            Self::E2m3 => (2, 3),
            Self::E3m2 => (3, 2),
            Self::E2m1 => (2, 1),
        };
        Format { exponent, mantissa }
    }

    /// The largest finite magnitude.
    const fn largest(self) -> u64 {
        match self {
            Self::E4m3 => 0x7e,
            Self::E5m2 => 0x7b,
            Self::E2m3 | Self::E3m2 => 0x1f,
            Self::E2m1 => 0x7,
        }
    }

    /// What a NaN becomes: a NaN, or in a format without one the largest number.
    const fn nan(self) -> u64 {
        match self {
            Self::E4m3 | Self::E5m2 => 0x7f,
            _ => self.largest(),
        }
    }

    /// Bits between two numbers in a register.
    const fn step(self) -> u32 {
        match self {
            Self::E2m1 => 4,
            _ => 8,
        }
    }

    /// The number that a number of another format rounds to; one too large becomes the largest.
    fn narrow(self, bits: u64, from: Format, relu: bool) -> u32 {
        let format = self.format();
        let magnitude = match from.unpack(bits) {
            Unpacked::Nan => return self.nan() as u32,
            Unpacked::Infinity { .. } => self.largest(),
            Unpacked::Finite(value) => format
                .magnitude(value, Rounding::Nearest)
                .min(u128::from(self.largest())) as u64,
        };
        let negative = bits & from.sign() != 0;
        let sign = if negative { format.sign() } else { 0 };
        if relu && negative {
            0
        } else {
            (sign | magnitude) as u32
        }
    }

    /// As an `f16`, exactly.
    fn widen(self, bits: u64, relu: bool) -> u32 {
        let format = self.format();
        let magnitude = bits & (format.sign() - 1);
        let negative = bits & format.sign() != 0;
        let nan = match self {
            Self::E4m3 => magnitude == 0x7f,
            Self::E5m2 => magnitude > 0x7c,
            _ => false,
        };
        if nan {
            return Format::F16.nan() as u32;
        }
        if relu && negative {
            return 0;
        }
        let sign = if negative { 0x8000 } else { 0 };
        if self == Self::E5m2 {
            // The same exponents.
            return sign | (magnitude as u32) << 8;
        }
        let value = format.finite(magnitude);
        sign | Format::F16.round(value, Rounding::Nearest) as u32
    }
}

/// Where the numbers come from, and where they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From two `f32`.
    FromF32,
    FromF16x2,
    ToF16x2,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    small: Small,
    way: Way,
    relu: bool,
    d: Dst,
    a: Src,
    b: Src,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    (&*i.opcode == "cvt").then_some(())?;
    let mut mods = Mods::new(i);
    mods.take("rn").then_some(())?;
    let finite = mods.take("satfinite");
    let relu = mods.take("relu");
    let small = mods.read(Small::from_name)?;
    let other = mods.ty()?;
    mods.done()?;
    // The type of the result stands first.
    let to_small = i
        .modifiers
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|name| Small::from_name(name).is_some());
    (finite == to_small).then_some(())?;
    let way = match (to_small, other) {
        (true, Type::F32) => Way::FromF32,
        (true, Type::F16x2) => Way::FromF16x2,
        (false, Type::F16x2) => Way::ToF16x2,
        _ => return None,
    };
    let (target, a, b) = match (&*i.operands, way) {
        ([target, a, b], Way::FromF32) => (target, a, b),
        ([target, a], Way::FromF16x2 | Way::ToF16x2) => (target, a, a),
        _ => return None,
    };
    Some(Op {
        small,
        way,
        relu,
        a: d.src32(a, Type::B32)?,
        b: d.src32(b, Type::B32)?,
        d: d.dst32(target)?,
    })
}

#[inline(never)]
pub(crate) fn execute(op: &Op, f: &mut File<'_>, mask: u32) {
    let Op {
        small,
        way,
        relu,
        d,
        a,
        b,
    } = *op;
    let step = small.step();
    f.map2(mask, d, (a, b), |a: u32, b: u32| match way {
        Way::FromF32 => {
            let one = |bits: u32| small.narrow(bits.into(), Format::F32, relu);
            one(a) << step | one(b)
        }
        Way::FromF16x2 => {
            let one = |bits: u32| {
                let wide = f16_to_f32(bits & 0xffff).to_bits();
                small.narrow(wide.into(), Format::F32, relu)
            };
            one(a >> 16) << step | one(a)
        }
        Way::ToF16x2 => {
            let one = |bits: u32| small.widen(bits.into(), relu);
            one(a >> step & 0xff) << 16 | one(a & ((1 << step) - 1))
        }
    });
}
