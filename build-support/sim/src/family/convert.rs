//! Conversions (PTX ISA 9.7.9: `cvt`, `cvt.pack`): decoding. Executing them is in `run`.

mod run;

pub(crate) use self::run::execute;

use gpuk_ptx::{Instruction, Operand, Type};

use crate::decode::{Decoder, Mods};
use crate::float::{Format, Rounding};
use crate::register::{Dst, Src};

/// A type on either side of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Int { bits: u8, signed: bool },
    Float(Float),
}

/// A floating-point type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Float {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
}

impl Float {
    const fn format(self) -> Format {
        match self {
            Self::F16 => Format::F16,
            Self::Bf16 => Format::BF16,
            Self::Tf32 => Format {
                exponent: 8,
                mantissa: 10,
            },
            Self::F32 => Format::F32,
            Self::F64 => Format::F64,
        }
    }
}

impl Number {
    fn of(ty: Type) -> Option<Self> {
        let int = |bits, signed| Self::Int { bits, signed };
        Some(match ty {
            Type::U8 | Type::B8 => int(8, false),
            Type::U16 | Type::B16 => int(16, false),
            Type::U32 | Type::B32 => int(32, false),
            Type::U64 | Type::B64 => int(64, false),
            Type::S8 => int(8, true),
            Type::S16 => int(16, true),
            Type::S32 => int(32, true),
            Type::S64 => int(64, true),
            Type::F16 => Self::Float(Float::F16),
            Type::Bf16 => Self::Float(Float::Bf16),
            Type::Tf32 => Self::Float(Float::Tf32),
            Type::F32 => Self::Float(Float::F32),
            Type::F64 => Self::Float(Float::F64),
            _ => return None,
        })
    }

    const fn bits(self) -> u8 {
        match self {
            Self::Int { bits, .. } => bits,
            Self::Float(Float::F16 | Float::Bf16) => 16,
            Self::Float(Float::Tf32 | Float::F32) => 32,
            Self::Float(Float::F64) => 64,
        }
    }
}

/// How a value is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spec {
    from: Number,
    to: Number,
    rounding: Rounding,
    /// `.rni` and so on: to an integral value.
    integral: bool,
    ftz: bool,
    saturate: bool,
    /// Below zero becomes zero.
    relu: bool,
    /// Too large becomes the largest finite number.
    finite: bool,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    One {
        spec: Spec,
        d: Dst,
        a: Src,
        /// Bits of the registers.
        bits: u8,
        wide_source: bool,
    },
    /// Two numbers into the halves of a register, the first into the upper.
    Two { spec: Spec, d: Dst, a: Src, b: Src },
    /// `cvt.pack.sat`: two integers made narrow, beside what `c` has.
    Pack {
        to: u8,
        signed: bool,
        shift: bool,
        d: Dst,
        a: Src,
        b: Src,
        c: Src,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    (&*i.opcode == "cvt").then_some(())?;
    let mut mods = Mods::new(i);
    if mods.take("pack") {
        return pack(i, d, mods);
    }
    let integral = mods.read(|text| {
        Some(match text {
            "rni" => Rounding::Nearest,
            "rzi" => Rounding::Zero,
            "rmi" => Rounding::Down,
            "rpi" => Rounding::Up,
            _ => return None,
        })
    });
    let rounding = mods.read(Rounding::from_name);
    let relu = mods.take("relu");
    let finite = mods.take("satfinite");
    let ftz = mods.take("ftz");
    let saturate = mods.take("sat");
    let to = mods.ty()?;
    let from = mods.ty()?;
    mods.done()?;
    (integral.is_none() || rounding.is_none()).then_some(())?;
    let two = match to {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    };
    let spec = Spec {
        from: Number::of(from)?,
        to: Number::of(two.unwrap_or(to))?,
        rounding: integral.or(rounding).unwrap_or(Rounding::Nearest),
        integral: integral.is_some(),
        ftz,
        saturate,
        relu,
        finite,
    };
    valid(&spec, integral.is_some(), rounding)?;
    if two.is_some() {
        let [target, a, b] = &*i.operands else {
            return None;
        };
        (from == Type::F32).then_some(())?;
        return Some(Op::Two {
            spec,
            a: d.src32(a, from)?,
            b: d.src32(b, from)?,
            d: d.dst32(target)?,
        });
    }
    let [target, a] = &*i.operands else {
        return None;
    };
    let source = d.source(a, from)?;
    let target = d.target(target, to)?;
    (target.bits >= spec.to.bits() && target.bits <= 64).then_some(())?;
    (source.wide || spec.from.bits() <= 32).then_some(())?;
    Some(Op::One {
        spec,
        d: target.row,
        a: source.row,
        bits: target.bits,
        wide_source: source.wide,
    })
}

/// Half precision or bfloat16 as single precision, for instructions that take both.
pub(crate) fn widen(from: Type, d: Dst, a: Src) -> Option<Op> {
    matches!(from, Type::F16 | Type::Bf16).then_some(())?;
    let spec = Spec {
        from: Number::of(from)?,
        to: Number::Float(Float::F32),
        rounding: Rounding::Nearest,
        integral: false,
        ftz: false,
        saturate: false,
        relu: false,
        finite: false,
    };
    Some(Op::One {
        spec,
        d,
        a,
        bits: 32,
        wide_source: false,
    })
}

/// Which roundings a conversion takes, and which it needs.
fn valid(spec: &Spec, integral: bool, rounding: Option<Rounding>) -> Option<()> {
    let same = spec.from == spec.to;
    let fits = match (spec.from, spec.to) {
        (Number::Int { .. }, Number::Int { .. }) => !integral && rounding.is_none(),
        (Number::Int { .. }, Number::Float(_)) => rounding.is_some(),
        (Number::Float(_), Number::Int { .. }) => integral,
        (Number::Float(_), Number::Float(Float::Tf32)) => rounding.is_some(),
        (Number::Float(_), Number::Float(_)) if same => rounding.is_none(),
        (Number::Float(from), Number::Float(to)) => {
            let narrows = to.format().mantissa < from.format().mantissa
                || to.format().exponent < from.format().exponent;
            !integral && (rounding.is_some() || !narrows)
        }
    };
    let away = rounding == Some(Rounding::NearestAway);
    (fits && (!away || spec.to == Number::Float(Float::Tf32))).then_some(())
}

fn pack(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    mods.take("sat").then_some(())?;
    let narrow = mods.read(|text| {
        Some(match text {
            "u16" => (16, false),
            "s16" => (16, true),
            "u8" => (8, false),
            "s8" => (8, true),
            "u4" => (4, false),
            "s4" => (4, true),
            "u2" => (2, false),
            "s2" => (2, true),
            _ => return None,
        })
    });
    let (to, signed) = narrow?;
    (mods.ty()? == Type::S32).then_some(())?;
    let keeps = mods.ty();
    mods.done()?;
    let (target, a, b, c) = match (&*i.operands, keeps, to) {
        ([target, a, b], None, 16) => (target, a, b, None),
        ([target, a, b, c], Some(Type::B32), 2..=8) => (target, a, b, Some(c)),
        _ => return None,
    };
    let a = d.src32(a, Type::S32)?;
    Some(Op::Pack {
        to,
        signed,
        shift: c.is_some(),
        b: d.src32(b, Type::S32)?,
        c: c.map_or(Some(a), |c: &Operand| d.src32(c, Type::B32))?,
        a,
        d: d.dst32(target)?,
    })
}
