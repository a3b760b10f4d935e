//! Comparing and choosing (PTX ISA 9.7.6), and `testp` (9.7.3).

use gpuk_ptx::{Instruction, Operand, Type};

use super::integer::Int;
use crate::decode::{Decoder, Mods};
use crate::float::narrow::{bf16_to_f32, f16_to_f32, flush};
use crate::register::{Dst, File, Pred, Src};
use crate::wide::wide;

/// A comparison (PTX ISA 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int(Int),
    F16,
    F16Ftz,
    Bf16,
    F32,
    F32Ftz,
    F64,
}

/// How a comparison and a predicate are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    And,
    Or,
    Xor,
}

/// A class of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// What a comparison compares, and with which predicate it is joined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    pub(crate) comparison: Comparison,
    pub(crate) kind: Kind,
    pub(crate) join: Join,
    pub(crate) c: Pred,
    pub(crate) a: Src,
    pub(crate) b: Src,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    /// `p|q`: the second gets what the opposite comparison gives.
    Setp { test: Test, p: Dst, q: Option<Dst> },
    /// Halves of a packed register are compared: the second predicate is the upper half's.
    SetpPacked { test: Test, p: Dst, q: Dst },
    /// All ones or zeros, or 1.0 or 0.0.
    Set { test: Test, d: Dst, yes: u32 },
    /// Halves of a packed register: all ones or zeros, or 1.0 or 0.0, in each half.
    SetPacked { test: Test, d: Dst, yes: u32 },
    Selp {
        wide: bool,
        d: Dst,
        a: Src,
        b: Src,
        p: Pred,
    },
    /// `a` where `c` is not negative.
    Slct {
        wide: bool,
        float: bool,
        ftz: bool,
        d: Dst,
        a: Src,
        b: Src,
        c: Src,
    },
    Testp {
        class: Class,
        double: bool,
        p: Dst,
        a: Src,
    },
}

fn comparison(text: &str) -> Option<Comparison> {
    Some(match text {
        "eq" => Comparison::Eq,
        "ne" => Comparison::Ne,
        "lt" | "lo" => Comparison::Lt,
        "le" | "ls" => Comparison::Le,
        "gt" | "hi" => Comparison::Gt,
        "ge" | "hs" => Comparison::Ge,
        "equ" => Comparison::Equ,
        "neu" => Comparison::Neu,
        "ltu" => Comparison::Ltu,
        "leu" => Comparison::Leu,
        "gtu" => Comparison::Gtu,
        "geu" => Comparison::Geu,
        "num" => Comparison::Num,
        "nan" => Comparison::Nan,
        _ => return None,
    })
}

fn join(text: &str) -> Option<Join> {
    Some(match text {
        "and" => Join::And,
        "or" => Join::Or,
        "xor" => Join::Xor,
        _ => return None,
    })
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mods = Mods::new(i);
    match &*i.opcode {
        "setp" => setp(i, d, mods),
        "set" => set(i, d, mods),
        "selp" => selp(i, d, mods),
        "slct" => slct(i, d, mods),
        "testp" => testp(i, d, mods),
        _ => None,
    }
}

/// The comparison of an instruction whose modifiers but the types were not taken; whether it is packed.
fn test(
    i: &Instruction,
    d: &mut Decoder<'_>,
    mods: &mut Mods<'_>,
    ty: impl Fn(&mut Mods<'_>) -> Option<Type>,
) -> Option<(Test, bool)> {
    let joined = mods.read(join);
    let comparison = mods.read(comparison)?;
    let ftz = mods.take("ftz");
    let ty = ty(mods)?;
    let (kind, packed) = match ty {
        Type::F16 if ftz => (Kind::F16Ftz, false),
        Type::F16x2 if ftz => (Kind::F16Ftz, true),
        Type::F16 => (Kind::F16, false),
        Type::F16x2 => (Kind::F16, true),
        Type::Bf16 => (Kind::Bf16, false),
        Type::Bf16x2 => (Kind::Bf16, true),
        Type::F32 if ftz => (Kind::F32Ftz, false),
        Type::F32 => (Kind::F32, false),
        Type::F64 => (Kind::F64, false),
        ty => (Kind::Int(Int::of(ty)?), false),
    };
    let unordered = !matches!(
        comparison,
        Comparison::Eq
            | Comparison::Ne
            | Comparison::Lt
            | Comparison::Le
            | Comparison::Gt
            | Comparison::Ge
    );
    (!(unordered && matches!(kind, Kind::Int(_)))).then_some(())?;
    (!ftz || matches!(kind, Kind::F32Ftz | Kind::F16Ftz)).then_some(())?;
    let (c, join) = match (joined, i.operands.get(3)) {
        (None, None) => (Pred::TRUE, Join::And),
        (Some(join), Some(c)) => (d.predicate(c)?, join),
        _ => return None,
    };
    let test = Test {
        comparison,
        kind,
        join,
        c,
        a: d.src(i.operands.get(1)?, ty)?,
        b: d.src(i.operands.get(2)?, ty)?,
    };
    Some((test, packed))
}

fn setp(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let (test, packed) = test(i, d, &mut mods, |mods| mods.ty())?;
    mods.done()?;
    let (p, q) = match i.operands.first()? {
        Operand::Pair(p, q) => (d.dst_predicate(p)?, Some(d.dst_predicate(q)?)),
        p => (d.dst_predicate(p)?, None),
    };
    if packed {
        return Some(Op::SetpPacked { test, p, q: q? });
    }
    Some(Op::Setp { test, p, q })
}

fn set(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    // The type of the result stands before that of the operands.
    let mut result = None;
    let (test, packed) = {
        let result = &mut result;
        let types = std::cell::RefCell::new(result);
        test(i, d, &mut mods, |mods| {
            **types.borrow_mut() = mods.ty();
            mods.ty()
        })?
    };
    mods.done()?;
    let result: Type = result?;
    if packed {
        let yes = match result {
            Type::F16x2 => 0x3c00,
            Type::Bf16x2 => 0x3f80,
            Type::U32 | Type::S32 => 0xffff,
            _ => return None,
        };
        let d = d.dst32(i.operands.first()?)?;
        return Some(Op::SetPacked { test, d, yes });
    }
    let yes = match result {
        Type::U32 | Type::S32 => u32::MAX,
        Type::F32 => 1.0_f32.to_bits(),
        Type::F16 => 0x3c00,
        Type::Bf16 => 0x3f80,
        Type::U16 | Type::S16 => 0xffff,
        _ => return None,
    };
    let d = d.dst32(i.operands.first()?)?;
    Some(Op::Set { test, d, yes })
}

fn selp(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let ty = mods.ty()?;
    mods.done()?;
    let [target, a, b, p] = &*i.operands else {
        return None;
    };
    matches!(ty.bits(), 16 | 32 | 64).then_some(())?;
    Some(Op::Selp {
        wide: ty.bits() == 64,
        a: d.src(a, ty)?,
        b: d.src(b, ty)?,
        p: d.predicate(p)?,
        d: d.dst(target, ty)?,
    })
}

fn slct(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let ftz = mods.take("ftz");
    let ty = mods.ty()?;
    let by = mods.ty()?;
    mods.done()?;
    let [target, a, b, c] = &*i.operands else {
        return None;
    };
    matches!(by, Type::S32 | Type::F32).then_some(())?;
    matches!(ty.bits(), 16 | 32 | 64).then_some(())?;
    Some(Op::Slct {
        wide: ty.bits() == 64,
        float: by == Type::F32,
        ftz,
        a: d.src(a, ty)?,
        b: d.src(b, ty)?,
        c: d.src32(c, by)?,
        d: d.dst(target, ty)?,
    })
}

fn testp(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let class = mods.read(|text| {
        Some(match text {
            "finite" => Class::Finite,
            "infinite" => Class::Infinite,
            "number" => Class::Number,
            "notanumber" => Class::NotANumber,
            "normal" => Class::Normal,
            "subnormal" => Class::Subnormal,
            _ => return None,
        })
    })?;
    let ty = mods.ty()?;
    mods.done()?;
    matches!(ty, Type::F32 | Type::F64).then_some(())?;
    let [p, a] = &*i.operands else { return None };
    Some(Op::Testp {
        class,
        double: ty == Type::F64,
        a: d.src(a, ty)?,
        p: d.dst_predicate(p)?,
    })
}

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    match *op {
        Op::Setp { test, p, q } => {
            let found = compare(&test, f, 0);
            // Read before the first is written, which may be the same register.
            let c = f.predicate(test.c);
            f.put_predicate(p, joined(test.join, found, c), mask);
            if let Some(q) = q {
                f.put_predicate(q, joined(test.join, !found, c), mask);
            }
        }
        Op::SetpPacked { test, p, q } => {
            let (low, high) = (compare(&test, f, 0), compare(&test, f, 16));
            let c = f.predicate(test.c);
            f.put_predicate(p, joined(test.join, low, c), mask);
            f.put_predicate(q, joined(test.join, high, c), mask);
        }
        Op::Set { test, d, yes } => {
            let found = joined(test.join, compare(&test, f, 0), f.predicate(test.c));
            let mut out = [0; 32];
            for lane in 0..32 {
                out[lane] = if found >> lane & 1 != 0 { yes } else { 0 };
            }
            f.put(d, &out, mask);
        }
        Op::SetPacked { test, d, yes } => {
            let c = f.predicate(test.c);
            let low = joined(test.join, compare(&test, f, 0), c);
            let high = joined(test.join, compare(&test, f, 16), c);
            let mut out = [0; 32];
            for lane in 0..32 {
                let low = if low >> lane & 1 != 0 { yes } else { 0 };
                let high = if high >> lane & 1 != 0 { yes } else { 0 };
                out[lane] = low | high << 16;
            }
            f.put(d, &out, mask);
        }
        Op::Selp { wide, d, a, b, p } => {
            let p = f.predicate(p);
            if wide {
                select::<u64>(f, mask, d, a, b, p);
            } else {
                select::<u32>(f, mask, d, a, b, p);
            }
        }
        Op::Slct {
            wide,
            float,
            ftz,
            d,
            a,
            b,
            c,
        } => {
            let p = f.test2((c, c), |c: u32, _: u32| {
                let value = f32::from_bits(c);
                let value = if ftz { flush(value) } else { value };
                if float { value >= 0.0 } else { c as i32 >= 0 }
            });
            if wide {
                select::<u64>(f, mask, d, a, b, p);
            } else {
                select::<u32>(f, mask, d, a, b, p);
            }
        }
        Op::Testp {
            class,
            double,
            p,
            a,
        } => {
            let found = if double {
                f.test2((a, a), |a: u64, _: u64| {
                    belongs(class, f64::from_bits(a).classify())
                })
            } else {
                f.test2((a, a), |a: u32, _: u32| {
                    belongs(class, f32::from_bits(a).classify())
                })
            };
            f.put_predicate(p, found, mask);
        }
    }
}

#[inline(always)]
fn select<T: crate::register::Word>(f: &mut File<'_>, mask: u32, d: Dst, a: Src, b: Src, p: u32) {
    let (a, b) = (f.get::<T>(a), f.get::<T>(b));
    let mut out = [T::default(); 32];
    for lane in 0..32 {
        out[lane] = if p >> lane & 1 != 0 { a[lane] } else { b[lane] };
    }
    f.put(d, &out, mask);
}

fn belongs(class: Class, category: std::num::FpCategory) -> bool {
    use std::num::FpCategory as Is;
    match class {
        Class::Finite => !matches!(category, Is::Nan | Is::Infinite),
        Class::Infinite => category == Is::Infinite,
        Class::Number => category != Is::Nan,
        Class::NotANumber => category == Is::Nan,
        // Zeros count as normal.
        Class::Normal => matches!(category, Is::Normal | Is::Zero),
        Class::Subnormal => category == Is::Subnormal,
    }
}

#[inline(always)]
fn joined(join: Join, found: u32, c: u32) -> u32 {
    match join {
        Join::And => found & c,
        Join::Or => found | c,
        Join::Xor => found ^ c,
    }
}

/// The lanes for which a comparison holds; `shift` is 16 for the upper half of a packed register.
#[inline(always)]
fn compare(test: &Test, f: &File<'_>, shift: u32) -> u32 {
    let rows = (test.a, test.b);
    macro_rules! int {
        ($t:ty, $w:ty) => {
            match test.comparison {
                Comparison::Eq => f.test2(rows, |a: $w, b: $w| a as $t == b as $t),
                Comparison::Ne => f.test2(rows, |a: $w, b: $w| a as $t != b as $t),
                Comparison::Lt => f.test2(rows, |a: $w, b: $w| (a as $t) < b as $t),
                Comparison::Le => f.test2(rows, |a: $w, b: $w| a as $t <= b as $t),
                Comparison::Gt => f.test2(rows, |a: $w, b: $w| a as $t > b as $t),
                _ => f.test2(rows, |a: $w, b: $w| a as $t >= b as $t),
            }
        };
    }
    macro_rules! float {
        ($w:ty, $value:expr) => {{
            let value = $value;
            match test.comparison {
                Comparison::Eq => f.test2(rows, |a: $w, b: $w| value(a) == value(b)),
                Comparison::Ne => f.test2(rows, |a: $w, b: $w| {
                    let (a, b) = (value(a), value(b));
                    (a < b) | (a > b)
                }),
                Comparison::Lt => f.test2(rows, |a: $w, b: $w| value(a) < value(b)),
                Comparison::Le => f.test2(rows, |a: $w, b: $w| value(a) <= value(b)),
                Comparison::Gt => f.test2(rows, |a: $w, b: $w| value(a) > value(b)),
                Comparison::Ge => f.test2(rows, |a: $w, b: $w| value(a) >= value(b)),
                Comparison::Equ => !f.test2(rows, |a: $w, b: $w| {
                    let (a, b) = (value(a), value(b));
                    (a < b) | (a > b)
                }),
                Comparison::Neu => f.test2(rows, |a: $w, b: $w| value(a) != value(b)),
                Comparison::Ltu => !f.test2(rows, |a: $w, b: $w| value(a) >= value(b)),
                Comparison::Leu => !f.test2(rows, |a: $w, b: $w| value(a) > value(b)),
                Comparison::Gtu => !f.test2(rows, |a: $w, b: $w| value(a) <= value(b)),
                Comparison::Geu => !f.test2(rows, |a: $w, b: $w| value(a) < value(b)),
                Comparison::Num => {
                    f.test2(rows, |a: $w, b: $w| !value(a).is_nan() & !value(b).is_nan())
                }
                Comparison::Nan => {
                    f.test2(rows, |a: $w, b: $w| value(a).is_nan() | value(b).is_nan())
                }
            }
        }};
    }
    match test.kind {
        Kind::Int(Int::U16) => int!(u16, u32),
        Kind::Int(Int::S16) => int!(i16, u32),
        Kind::Int(Int::U32) => int!(u32, u32),
        Kind::Int(Int::S32) => int!(i32, u32),
        Kind::Int(Int::U64) => int!(u64, u64),
        Kind::Int(Int::S64) => int!(i64, u64),
        Kind::F16 => float!(u32, |a: u32| f16_to_f32(a >> shift & 0xffff)),
        Kind::F16Ftz => float!(u32, |a: u32| {
            let bits = a >> shift & 0xffff;
            // A subnormal as zero.
            f16_to_f32(if bits & 0x7c00 == 0 { 0 } else { bits })
        }),
        Kind::Bf16 => float!(u32, |a: u32| bf16_to_f32(a >> shift & 0xffff)),
        Kind::F32 => float!(u32, f32::from_bits),
        Kind::F32Ftz => float!(u32, |a: u32| flush(f32::from_bits(a))),
        Kind::F64 => float!(u64, f64::from_bits),
    }
}
