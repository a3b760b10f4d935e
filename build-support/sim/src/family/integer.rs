//! Integer arithmetic (PTX ISA 9.7.1) and extended precision (9.7.2): decoding. Executing them is in `run`.

mod run;

pub(crate) use self::run::execute;

use gpuk_ptx::{Instruction, Type};

use crate::decode::{Decoder, Mods};
use crate::program::Args;
use crate::register::Dst;

/// An integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Int {
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
}

impl Int {
    pub(crate) fn of(ty: Type) -> Option<Self> {
        Some(match ty {
            Type::U16 | Type::B16 => Self::U16,
            Type::S16 => Self::S16,
            Type::U32 | Type::B32 => Self::U32,
            Type::S32 => Self::S32,
            Type::U64 | Type::B64 => Self::U64,
            Type::S64 => Self::S64,
            _ => return None,
        })
    }

    /// The type of twice the width, for `.wide`.
    const fn twice(self) -> Option<Type> {
        match self {
            Self::U16 => Some(Type::U32),
            Self::S16 => Some(Type::S32),
            Self::U32 => Some(Type::U64),
            Self::S32 => Some(Type::S64),
            Self::U64 | Self::S64 => None,
        }
    }
}

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Add,
    Sub,
    AddSat,
    SubSat,
    MulLo,
    MulHi,
    MulWide,
    MadLo,
    MadHi,
    MadHiSat,
    MadWide,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    MinRelu,
    MaxRelu,
    Sad,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    /// One type, up to three sources.
    Plain { what: What, ty: Int, args: Args },
    /// With the carry flag. A subtraction adds the complement, so its flag is set where nothing is borrowed. The
    /// ISA says the opposite, but what nvcc emits for divisions of 128 bits reads the flag of `sub.cc` by `addc`, and
    /// is right this way alone.
    Carry {
        wide: bool,
        subtract: bool,
        take: bool,
        set: bool,
        args: Args,
        flag: Dst,
    },
    /// `mad{c}.{lo,hi}{.cc}`.
    MadCarry {
        ty: Int,
        high: bool,
        take: bool,
        set: bool,
        args: Args,
        flag: Dst,
    },
    /// 24-bit factors, sign- or zero-extended: the low bits of the product, plus `c`.
    Mad24 {
        signed: bool,
        high: bool,
        saturate: bool,
        args: Args,
    },
    /// `dp4a`, and `dp2a` with the half of `b` that it takes.
    Dot {
        a_signed: bool,
        b_signed: bool,
        half: Option<bool>,
        args: Args,
    },
    /// Two 16-bit values in each register.
    Packed {
        what: What,
        signed: bool,
        args: Args,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    match &*i.opcode {
        "add" | "sub" | "addc" | "subc" => add(i, d, mods),
        "mul" | "mad" | "madc" => mul(i, d, mods),
        "mul24" | "mad24" => mul24(i, d, mods),
        "dp4a" | "dp2a" => dot(i, d, mods),
        "min" | "max" => {
            let relu = mods.take("relu");
            let what = match (&*i.opcode, relu) {
                ("min", false) => What::Min,
                ("min", true) => What::MinRelu,
                ("max", false) => What::Max,
                _ => What::MaxRelu,
            };
            let packed = packed(what, i, d, &mut mods);
            let plain = !relu || mods.rest() == ["s32"];
            packed.or_else(|| plain.then(|| self::plain(what, i, d, mods))?)
        }
        "div" => plain(What::Div, i, d, mods),
        "rem" => plain(What::Rem, i, d, mods),
        "abs" => plain(What::Abs, i, d, mods),
        "neg" => plain(What::Neg, i, d, mods),
        "sad" => plain(What::Sad, i, d, mods),
        _ => None,
    }
}

/// The rows of `d, a, b, c` of one type; those that are not there are the first.
pub(crate) fn args(i: &Instruction, d: &mut Decoder<'_>, ty: Type) -> Option<Args> {
    let (target, sources) = i.operands.split_first()?;
    let a = d.src(sources.first()?, ty)?;
    let b = sources.get(1).map_or(Some(a), |b| d.src(b, ty))?;
    let c = sources.get(2).map_or(Some(a), |c| d.src(c, ty))?;
    (sources.len() <= 3).then_some(())?;
    Some(Args {
        d: d.dst(target, ty)?,
        a,
        b,
        c,
    })
}

fn plain(what: What, i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let ty = mods.ty()?;
    mods.done()?;
    let int = Int::of(ty)?;
    let sources = match what {
        What::Abs | What::Neg => 1,
        What::Sad => 3,
        _ => 2,
    };
    (i.operands.len() == 1 + sources).then_some(())?;
    let args = args(i, d, ty)?;
    Some(Op::Plain {
        what,
        ty: int,
        args,
    })
}

fn packed(what: What, i: &Instruction, d: &mut Decoder<'_>, mods: &mut Mods<'_>) -> Option<Op> {
    let signed = mods.read(|text| match text {
        "s16x2" => Some(true),
        "u16x2" => Some(false),
        _ => None,
    })?;
    mods.rest().is_empty().then_some(())?;
    (i.operands.len() == 3).then_some(())?;
    let args = args(i, d, Type::B32)?;
    Some(Op::Packed { what, signed, args })
}

fn add(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let subtract = i.opcode.starts_with("sub");
    let take = i.opcode.ends_with('c');
    let set = mods.take("cc");
    if take || set {
        let ty = mods.ty()?;
        mods.done()?;
        Int::of(ty).filter(|_| ty.bits() >= 32)?;
        let args = args(i, d, ty)?;
        return Some(Op::Carry {
            wide: ty.bits() == 64,
            subtract,
            take,
            set,
            args,
            flag: d.carry(),
        });
    }
    let saturate = mods.take("sat");
    let what = match (subtract, saturate) {
        (false, false) => What::Add,
        (true, false) => What::Sub,
        (false, true) => What::AddSat,
        (true, true) => What::SubSat,
    };
    if !saturate && let Some(op) = packed(what, i, d, &mut mods) {
        return Some(op);
    }
    if saturate && mods.rest() != ["s32"] {
        return None;
    }
    plain(what, i, d, mods)
}

fn mul(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let add = &*i.opcode != "mul";
    let take = &*i.opcode == "madc";
    let set = mods.take("cc");
    let saturate = mods.take("sat");
    let part = mods.read(|text| match text {
        "lo" | "hi" | "wide" => Some(text.to_owned()),
        _ => None,
    })?;
    let ty = mods.ty()?;
    mods.done()?;
    let int = Int::of(ty)?;
    (i.operands.len() == if add { 4 } else { 3 }).then_some(())?;
    if take || set {
        (part != "wide" && ty.bits() >= 32 && add && !saturate).then_some(())?;
        let args = args(i, d, ty)?;
        return Some(Op::MadCarry {
            ty: int,
            high: part == "hi",
            take,
            set,
            args,
            flag: d.carry(),
        });
    }
    let what = match (&*part, add, saturate) {
        ("lo", false, false) => What::MulLo,
        ("hi", false, false) => What::MulHi,
        ("lo", true, false) => What::MadLo,
        ("hi", true, false) => What::MadHi,
        ("hi", true, true) if ty == Type::S32 => What::MadHiSat,
        ("wide", _, false) => {
            let twice = int.twice()?;
            let a = d.src(&i.operands[1], ty)?;
            let b = d.src(&i.operands[2], ty)?;
            let target = d.dst(&i.operands[0], twice)?;
            let c = match i.operands.get(3) {
                Some(c) => d.src(c, twice)?,
                None => a,
            };
            let what = if add { What::MadWide } else { What::MulWide };
            let args = Args { d: target, a, b, c };
            return Some(Op::Plain {
                what,
                ty: int,
                args,
            });
        }
        _ => return None,
    };
    let args = args(i, d, ty)?;
    Some(Op::Plain {
        what,
        ty: int,
        args,
    })
}

fn mul24(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let saturate = mods.take("sat");
    let high = mods.take("hi");
    let low = mods.take("lo");
    let signed = match mods.ty()? {
        Type::S32 => true,
        Type::U32 => false,
        _ => return None,
    };
    mods.done()?;
    (high != low && (!saturate || high && signed)).then_some(())?;
    let add = &*i.opcode == "mad24";
    (i.operands.len() == if add { 4 } else { 3 }).then_some(())?;
    let mut args = args(i, d, Type::B32)?;
    if !add {
        args.c = d.constant32(0);
    }
    Some(Op::Mad24 {
        signed,
        high,
        saturate,
        args,
    })
}

fn dot(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let half = match &*i.opcode {
        "dp4a" => None,
        _ => Some(mods.read(|text| match text {
            "hi" => Some(true),
            "lo" => Some(false),
            _ => None,
        })?),
    };
    let signed = |ty| match ty {
        Type::S32 => Some(true),
        Type::U32 => Some(false),
        _ => None,
    };
    let a_signed = signed(mods.ty()?)?;
    let b_signed = signed(mods.ty()?)?;
    mods.done()?;
    (i.operands.len() == 4).then_some(())?;
    let args = args(i, d, Type::B32)?;
    Some(Op::Dot {
        a_signed,
        b_signed,
        half,
        args,
    })
}
