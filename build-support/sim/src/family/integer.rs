//! Integer arithmetic (PTX ISA 9.7.1) and extended precision (9.7.2).

use gpuk_ptx::{Instruction, Type};

use crate::decode::{Decoder, Mods};
use crate::program::Args;
use crate::register::{ALL, Dst, File, LANES, Pred};
use crate::wide::wide;

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

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

/// `each!(file, mask, ty, args, |a, b| …)`: the expression for every lane, with the sources as values of the type.
macro_rules! each {
    ($f:ident, $mask:ident, $ty:expr, $args:ident, |$($v:ident),+| $e:expr) => {
        match $ty {
            Int::U16 => each!(@ $f, $mask, $args, u16, u16, u32, |$($v),+| $e),
            Int::S16 => each!(@ $f, $mask, $args, i16, u16, u32, |$($v),+| $e),
            Int::U32 => each!(@ $f, $mask, $args, u32, u32, u32, |$($v),+| $e),
            Int::S32 => each!(@ $f, $mask, $args, i32, u32, u32, |$($v),+| $e),
            Int::U64 => each!(@ $f, $mask, $args, u64, u64, u64, |$($v),+| $e),
            Int::S64 => each!(@ $f, $mask, $args, i64, u64, u64, |$($v),+| $e),
        }
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $w:ty, |$a:ident| $e:expr) => {
        $f.map1($mask, $args.d, $args.a, |a: $w| {
            let $a = a as $t;
            ($e) as $u as $w
        })
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $w:ty, |$a:ident, $b:ident| $e:expr) => {
        $f.map2($mask, $args.d, ($args.a, $args.b), |a: $w, b: $w| {
            let ($a, $b) = (a as $t, b as $t);
            ($e) as $u as $w
        })
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $w:ty, |$a:ident, $b:ident, $c:ident| $e:expr) => {
        $f.map3($mask, $args.d, ($args.a, $args.b, $args.c), |a: $w, b: $w, c: $w| {
            let ($a, $b, $c) = (a as $t, b as $t, c as $t);
            ($e) as $u as $w
        })
    };
}

/// As `each`, with the product of `a` and `b` in twice the width.
macro_rules! product {
    ($f:ident, $mask:ident, $ty:expr, $args:ident, |$p:ident, $c:ident, $bits:ident| $e:expr) => {
        match $ty {
            Int::U16 => product!(@ $f, $mask, $args, u16, u16, u32, u32, |$p, $c, $bits| $e),
            Int::S16 => product!(@ $f, $mask, $args, i16, u16, i32, u32, |$p, $c, $bits| $e),
            Int::U32 => product!(@ $f, $mask, $args, u32, u32, u64, u32, |$p, $c, $bits| $e),
            Int::S32 => product!(@ $f, $mask, $args, i32, u32, i64, u32, |$p, $c, $bits| $e),
            Int::U64 => product!(@ $f, $mask, $args, u64, u64, u128, u64, |$p, $c, $bits| $e),
            Int::S64 => product!(@ $f, $mask, $args, i64, u64, i128, u64, |$p, $c, $bits| $e),
        }
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $d:ty, $w:ty, |$p:ident, $c:ident, $bits:ident| $e:expr) => {
        $f.map3($mask, $args.d, ($args.a, $args.b, $args.c), |a: $w, b: $w, c: $w| {
            let $p = (a as $t as $d).wrapping_mul(b as $t as $d);
            let $c = c as $t;
            let $bits = <$t>::BITS;
            ($e) as $u as $w
        })
    };
}

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    match op {
        Op::Plain { what, ty, args } => plain_run(*what, *ty, args, f, mask),
        Op::Carry {
            wide,
            subtract,
            take,
            set,
            args,
            flag,
        } => {
            let carry = match (*take, *subtract) {
                (true, _) => f.predicate(Pred::new(flag.0, false)),
                (false, false) => 0,
                (false, true) => ALL,
            };
            let out = if *wide {
                carry64(f, args, *subtract, carry, mask)
            } else {
                carry32(f, args, *subtract, carry, mask)
            };
            if *set {
                f.put_predicate(*flag, out, mask);
            }
        }
        Op::MadCarry {
            ty,
            high,
            take,
            set,
            args,
            flag,
        } => {
            let carry = if *take {
                f.predicate(Pred::new(flag.0, false))
            } else {
                0
            };
            let out = mad_carry(f, *ty, *high, args, carry, mask);
            if *set {
                f.put_predicate(*flag, out, mask);
            }
        }
        Op::Mad24 {
            signed,
            high,
            saturate,
            args,
        } => {
            let (signed, high, saturate) = (*signed, *high, *saturate);
            f.map3(mask, args.d, (args.a, args.b, args.c), |a, b, c| {
                mad24(a, b, c, signed, high, saturate)
            });
        }
        Op::Dot {
            a_signed,
            b_signed,
            half,
            args,
        } => {
            let (a_signed, b_signed, half) = (*a_signed, *b_signed, *half);
            f.map3(
                mask,
                args.d,
                (args.a, args.b, args.c),
                |a, b, c| match half {
                    None => dp4a(a, b, c, a_signed, b_signed),
                    Some(high) => dp2a(a, b, c, a_signed, b_signed, high),
                },
            );
        }
        Op::Packed { what, signed, args } => {
            let (what, signed) = (*what, *signed);
            f.map2(mask, args.d, (args.a, args.b), |a: u32, b: u32| {
                let part = |at: u32| packed_one(what, signed, (a >> at) as u16, (b >> at) as u16);
                u32::from(part(0)) | u32::from(part(16)) << 16
            });
        }
    }
}

#[inline(always)]
fn plain_run(what: What, ty: Int, args: &Args, f: &mut File<'_>, mask: u32) {
    match what {
        What::Add => each!(f, mask, ty, args, |a, b| a.wrapping_add(b)),
        What::Sub => each!(f, mask, ty, args, |a, b| a.wrapping_sub(b)),
        What::AddSat => each!(f, mask, ty, args, |a, b| a.saturating_add(b)),
        What::SubSat => each!(f, mask, ty, args, |a, b| a.saturating_sub(b)),
        What::MulLo => each!(f, mask, ty, args, |a, b| a.wrapping_mul(b)),
        What::MadLo => each!(f, mask, ty, args, |a, b, c| a
            .wrapping_mul(b)
            .wrapping_add(c)),
        What::MulHi => product!(f, mask, ty, args, |p, _c, bits| p >> bits),
        What::MadHi => product!(f, mask, ty, args, |p, c, bits| (p >> bits)
            .wrapping_add(c.into())),
        What::MadHiSat => {
            f.map3(
                mask,
                args.d,
                (args.a, args.b, args.c),
                |a: u32, b: u32, c: u32| {
                    let product = i64::from(a as i32) * i64::from(b as i32);
                    ((product >> 32) as i32).saturating_add(c as i32) as u32
                },
            );
        }
        What::MulWide => wide_product(ty, args, f, mask, false),
        What::MadWide => wide_product(ty, args, f, mask, true),
        // What a division by zero gives is the machine's business; there is no fault.
        What::Div => each!(f, mask, ty, args, |a, b| if b == 0 {
            !b
        } else {
            a.wrapping_div(b)
        }),
        What::Rem => each!(f, mask, ty, args, |a, b| if b == 0 {
            // As a division by zero does, what devices give.
            !0
        } else {
            a.wrapping_rem(b)
        }),
        What::Abs => match ty {
            Int::U16 | Int::S16 => {
                f.map1(mask, args.d, args.a, |a: u32| {
                    u32::from((a as i16).unsigned_abs())
                });
            }
            Int::U32 | Int::S32 => {
                f.map1(mask, args.d, args.a, |a: u32| (a as i32).unsigned_abs());
            }
            Int::U64 | Int::S64 => {
                f.map1(mask, args.d, args.a, |a: u64| (a as i64).unsigned_abs());
            }
        },
        What::Neg => each!(f, mask, ty, args, |a| a.wrapping_neg()),
        What::Min => each!(f, mask, ty, args, |a, b| a.min(b)),
        What::Max => each!(f, mask, ty, args, |a, b| a.max(b)),
        What::MinRelu => f.map2(mask, args.d, (args.a, args.b), |a: u32, b: u32| {
            (a as i32).min(b as i32).max(0) as u32
        }),
        What::MaxRelu => f.map2(mask, args.d, (args.a, args.b), |a: u32, b: u32| {
            (a as i32).max(b as i32).max(0) as u32
        }),
        What::Sad => each!(f, mask, ty, args, |a, b, c| if a < b {
            b.wrapping_sub(a).wrapping_add(c)
        } else {
            a.wrapping_sub(b).wrapping_add(c)
        }),
    }
}

/// `mul.wide` and `mad.wide`: the whole product, and `c` in its width.
#[inline(always)]
fn wide_product(ty: Int, args: &Args, f: &mut File<'_>, mask: u32, add: bool) {
    macro_rules! wide {
        ($t:ty, $d:ty, $w:ty, $to:ty) => {
            if add {
                f.map3(
                    mask,
                    args.d,
                    (args.a, args.b, args.c),
                    |a: $w, b: $w, c: $to| {
                        (a as $t as $d)
                            .wrapping_mul(b as $t as $d)
                            .wrapping_add(c as $d) as $to
                    },
                )
            } else {
                f.map2(mask, args.d, (args.a, args.b), |a: $w, b: $w| {
                    (a as $t as $d).wrapping_mul(b as $t as $d) as $to
                })
            }
        };
    }
    match ty {
        Int::U16 => wide!(u16, u32, u32, u32),
        Int::S16 => wide!(i16, i32, u32, u32),
        Int::U32 => wide!(u32, u64, u32, u64),
        Int::S32 => wide!(i32, i64, u32, u64),
        Int::U64 | Int::S64 => {}
    }
}

macro_rules! carry {
    ($name:ident, $w:ty) => {
        /// Gives the carries of all lanes.
        #[inline(always)]
        fn $name(f: &mut File<'_>, args: &Args, subtract: bool, carry: u32, mask: u32) -> u32 {
            let (a, b) = (f.get::<$w>(args.a), f.get::<$w>(args.b));
            let mut out = [0; LANES];
            let mut flags = 0;
            for lane in 0..LANES {
                let flag = carry >> lane & 1 != 0;
                let b = if subtract { !b[lane] } else { b[lane] };
                let (value, first) = a[lane].overflowing_add(b);
                let (value, second) = value.overflowing_add(flag.into());
                out[lane] = value;
                flags |= u32::from(first | second) << lane;
            }
            f.put(args.d, &out, mask);
            flags
        }
    };
}
carry!(carry32, u32);
carry!(carry64, u64);

#[inline(always)]
fn mad_carry(f: &mut File<'_>, ty: Int, high: bool, args: &Args, carry: u32, mask: u32) -> u32 {
    macro_rules! mad {
        ($t:ty, $d:ty, $w:ty) => {{
            let (a, b, c) = (
                f.get::<$w>(args.a),
                f.get::<$w>(args.b),
                f.get::<$w>(args.c),
            );
            let mut out = [0; LANES];
            let mut flags = 0;
            for lane in 0..LANES {
                let product = (a[lane] as $t as $d).wrapping_mul(b[lane] as $t as $d);
                let part = if high {
                    (product >> <$w>::BITS) as $w
                } else {
                    product as $w
                };
                let (value, first) = part.overflowing_add(c[lane]);
                let (value, second) = value.overflowing_add((carry >> lane & 1).into());
                out[lane] = value;
                flags |= u32::from(first | second) << lane;
            }
            f.put(args.d, &out, mask);
            flags
        }};
    }
    match ty {
        Int::S32 => mad!(i32, i64, u32),
        Int::U64 => mad!(u64, u128, u64),
        Int::S64 => mad!(i64, i128, u64),
        _ => mad!(u32, u64, u32),
    }
}

#[inline(always)]
fn mad24(a: u32, b: u32, c: u32, signed: bool, high: bool, saturate: bool) -> u32 {
    let extend = |x: u32| {
        if signed {
            i64::from((x << 8) as i32 >> 8)
        } else {
            i64::from(x & 0xff_ffff)
        }
    };
    let product = extend(a) * extend(b);
    let part = if high { product >> 16 } else { product } as u32;
    if saturate {
        (part as i32).saturating_add(c as i32) as u32
    } else {
        part.wrapping_add(c)
    }
}

#[inline(always)]
fn byte(value: u32, at: u32, signed: bool) -> i32 {
    let byte = (value >> (8 * at)) as u8;
    if signed {
        i32::from(byte as i8)
    } else {
        i32::from(byte)
    }
}

#[inline(always)]
fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let products = (0..4).map(|at| byte(a, at, a_signed).wrapping_mul(byte(b, at, b_signed)));
    products.fold(c, |sum, product| sum.wrapping_add(product as u32))
}

#[inline(always)]
fn dp2a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool, high: bool) -> u32 {
    let first = if high { 2 } else { 0 };
    let products = (0..2).map(|at| {
        let half = (a >> (16 * at)) as u16;
        let half = if a_signed {
            i32::from(half as i16)
        } else {
            i32::from(half)
        };
        half.wrapping_mul(byte(b, first + at, b_signed))
    });
    products.fold(c, |sum, product| sum.wrapping_add(product as u32))
}

#[inline(always)]
fn packed_one(what: What, signed: bool, a: u16, b: u16) -> u16 {
    let (sa, sb) = (a as i16, b as i16);
    match (what, signed) {
        (What::Add, _) => a.wrapping_add(b),
        (What::Sub, _) => a.wrapping_sub(b),
        (What::Min, false) => a.min(b),
        (What::Max, false) => a.max(b),
        (What::Min, true) => sa.min(sb) as u16,
        (What::Max, true) => sa.max(sb) as u16,
        (What::MinRelu, _) => sa.min(sb).max(0) as u16,
        (_, _) => sa.max(sb).max(0) as u16,
    }
}
