//! Logic, shifts and bit fields (PTX ISA 9.7.1 and 9.7.8): decoding. Executing them is in `run`.

mod run;

pub(crate) use self::run::execute;

use gpuk_ptx::{Instruction, Operand, Type};

use super::integer::{Int, args};
use crate::decode::{Decoder, Mods};
use crate::program::Args;
use crate::register::{Dst, Pred};

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Shl,
    ShrU,
    ShrS,
    Popc,
    Clz,
    BfindU,
    BfindS,
    BfindShiftU,
    BfindShiftS,
    Brev,
    BfeU,
    BfeS,
    Fns,
    ShfLeftClamp,
    ShfLeftWrap,
    ShfRightClamp,
    ShfRightWrap,
    BmskClamp,
    BmskWrap,
    SzextClampU,
    SzextClampS,
    SzextWrapU,
    SzextWrapS,
}

/// How wide the operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    W16,
    W32,
    W64,
}

/// The mode of a `prmt` (PTX ISA 9.7.8.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permute {
    Bytes,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Plain {
        what: What,
        width: Width,
        args: Args,
    },
    /// Predicates: `and`, `or`, `xor`, `not` and `mov`.
    Predicate {
        what: What,
        d: Dst,
        a: Pred,
        b: Pred,
    },
    /// Any function of three bits; bit `a * 4 + b * 2 + c` of the table.
    Lop3 {
        table: u8,
        args: Args,
    },
    /// `lop3.or` and `lop3.and`: a predicate as well.
    Lop3Test {
        table: u8,
        and: bool,
        p: Dst,
        q: Pred,
        args: Args,
    },
    Prmt {
        mode: Permute,
        args: Args,
    },
    /// Four sources: `b` gets the bits of `a`.
    Bfi {
        wide: bool,
        args: Args,
        len: crate::register::Src,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    match &*i.opcode {
        "and" | "or" | "xor" | "not" | "cnot" => logic(i, d, mods),
        "shl" | "shr" => shift(i, d, mods),
        "shf" => {
            let left = mods.take("l");
            let right = mods.take("r");
            let wrap = mods.take("wrap");
            let clamp = mods.take("clamp");
            (left != right && wrap != clamp).then_some(())?;
            let what = match (left, wrap) {
                (true, false) => What::ShfLeftClamp,
                (true, true) => What::ShfLeftWrap,
                (false, false) => What::ShfRightClamp,
                (false, true) => What::ShfRightWrap,
            };
            plain(what, Type::B32, 3, i, d, mods)
        }
        "lop3" => lop3(i, d, mods),
        "prmt" => {
            let mode = mods.read(|text| {
                Some(match text {
                    "f4e" => Permute::F4e,
                    "b4e" => Permute::B4e,
                    "rc8" => Permute::Rc8,
                    "ecl" => Permute::Ecl,
                    "ecr" => Permute::Ecr,
                    "rc16" => Permute::Rc16,
                    _ => return None,
                })
            });
            (mods.ty()? == Type::B32 && i.operands.len() == 4).then_some(())?;
            mods.done()?;
            Some(Op::Prmt {
                mode: mode.unwrap_or(Permute::Bytes),
                args: args(i, d, Type::B32)?,
            })
        }
        "popc" => count(What::Popc, i, d, mods),
        "clz" => count(What::Clz, i, d, mods),
        "bfind" => {
            let shift = mods.take("shiftamt");
            let signed = matches!(mods.rest(), ["s32"] | ["s64"]);
            let what = match (shift, signed) {
                (false, false) => What::BfindU,
                (false, true) => What::BfindS,
                (true, false) => What::BfindShiftU,
                (true, true) => What::BfindShiftS,
            };
            count(what, i, d, mods)
        }
        "brev" => {
            let ty = mods.ty()?;
            plain(What::Brev, ty, 1, i, d, mods)
        }
        "bfe" => bfe(i, d, mods),
        "bfi" => bfi(i, d, mods),
        "fns" => {
            let ty = mods.ty()?;
            plain(What::Fns, ty, 3, i, d, mods)
        }
        "bmsk" | "szext" => {
            let wrap = mods.take("wrap");
            let clamp = mods.take("clamp");
            let ty = mods.ty()?;
            (wrap != clamp).then_some(())?;
            let what = match (&*i.opcode, wrap, ty) {
                ("bmsk", false, Type::B32) => What::BmskClamp,
                ("bmsk", true, Type::B32) => What::BmskWrap,
                ("szext", false, Type::U32) => What::SzextClampU,
                ("szext", false, Type::S32) => What::SzextClampS,
                ("szext", true, Type::U32) => What::SzextWrapU,
                ("szext", true, Type::S32) => What::SzextWrapS,
                _ => return None,
            };
            plain(what, Type::B32, 2, i, d, mods)
        }
        _ => None,
    }
}

fn width(ty: Type) -> Option<Width> {
    Some(match Int::of(ty)? {
        Int::U16 | Int::S16 => Width::W16,
        Int::U32 | Int::S32 => Width::W32,
        Int::U64 | Int::S64 => Width::W64,
    })
}

fn plain(
    what: What,
    ty: Type,
    sources: usize,
    i: &Instruction,
    d: &mut Decoder<'_>,
    mut mods: Mods<'_>,
) -> Option<Op> {
    // `shf`'s type has not been taken yet.
    if mods.rest() == [ty.as_str()] {
        mods.ty();
    }
    mods.done()?;
    (i.operands.len() == 1 + sources).then_some(())?;
    Some(Op::Plain {
        what,
        width: width(ty)?,
        args: args(i, d, ty)?,
    })
}

fn logic(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let what = match &*i.opcode {
        "and" => What::And,
        "or" => What::Or,
        "xor" => What::Xor,
        "not" => What::Not,
        _ => What::Cnot,
    };
    let unary = matches!(what, What::Not | What::Cnot);
    let ty = mods.ty()?;
    if ty != Type::Pred {
        return plain(what, ty, if unary { 1 } else { 2 }, i, d, mods);
    }
    mods.done()?;
    let (target, a, b) = match (&*i.operands, unary) {
        ([target, a], true) => (target, a, None),
        ([target, a, b], false) => (target, a, Some(b)),
        _ => return None,
    };
    Some(Op::Predicate {
        what,
        d: d.dst_predicate(target)?,
        a: d.predicate(a)?,
        b: b.map_or(Some(Pred::TRUE), |b| d.predicate(b))?,
    })
}

fn shift(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let ty = mods.ty()?;
    mods.done()?;
    let signed = matches!(ty, Type::S16 | Type::S32 | Type::S64);
    let what = match (&*i.opcode, signed) {
        ("shl", _) => What::Shl,
        (_, false) => What::ShrU,
        (_, true) => What::ShrS,
    };
    let [target, a, amount] = &*i.operands else {
        return None;
    };
    let width = width(ty)?;
    let a = d.src(a, ty)?;
    // The amount has 32 bits whatever the type.
    let b = d.src32(amount, Type::U32)?;
    Some(Op::Plain {
        what,
        width,
        args: Args {
            d: d.dst(target, ty)?,
            a,
            b,
            c: a,
        },
    })
}

/// `popc`, `clz`, `bfind`: 32 bits come out.
fn count(what: What, i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let ty = mods.ty()?;
    mods.done()?;
    let [target, a] = &*i.operands else {
        return None;
    };
    let width = width(ty).filter(|width| *width != Width::W16)?;
    let a = d.src(a, ty)?;
    Some(Op::Plain {
        what,
        width,
        args: Args {
            d: d.dst32(target)?,
            a,
            b: a,
            c: a,
        },
    })
}

fn bfe(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let ty = mods.ty()?;
    mods.done()?;
    let what = match ty {
        Type::U32 | Type::U64 => What::BfeU,
        Type::S32 | Type::S64 => What::BfeS,
        _ => return None,
    };
    let [target, a, at, len] = &*i.operands else {
        return None;
    };
    Some(Op::Plain {
        what,
        width: width(ty)?,
        args: Args {
            a: d.src(a, ty)?,
            b: d.src32(at, Type::U32)?,
            c: d.src32(len, Type::U32)?,
            d: d.dst(target, ty)?,
        },
    })
}

fn bfi(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let ty = mods.ty()?;
    mods.done()?;
    matches!(ty, Type::B32 | Type::B64).then_some(())?;
    let [target, a, b, at, len] = &*i.operands else {
        return None;
    };
    Some(Op::Bfi {
        wide: ty == Type::B64,
        args: Args {
            a: d.src(a, ty)?,
            b: d.src(b, ty)?,
            c: d.src32(at, Type::U32)?,
            d: d.dst(target, ty)?,
        },
        len: d.src32(len, Type::U32)?,
    })
}

fn lop3(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let test = mods.read(|text| match text {
        "or" => Some(false),
        "and" => Some(true),
        _ => None,
    });
    (mods.ty()? == Type::B32).then_some(())?;
    mods.done()?;
    let (target, a, b, c, table) = match &*i.operands {
        [target, a, b, c, table] | [target, a, b, c, table, _] => (target, a, b, c, table),
        _ => return None,
    };
    let Operand::Int(table) = table else {
        return None;
    };
    let table = u8::try_from(*table).ok()?;
    let (target, p) = match target {
        Operand::Pair(target, p) => (&**target, Some(&**p)),
        target => (target, None),
    };
    let args = Args {
        a: d.src32(a, Type::B32)?,
        b: d.src32(b, Type::B32)?,
        c: d.src32(c, Type::B32)?,
        d: d.dst32(target)?,
    };
    match (test, p, i.operands.get(5)) {
        (None, None, None) => Some(Op::Lop3 { table, args }),
        (Some(and), Some(p), Some(q)) => Some(Op::Lop3Test {
            table,
            and,
            p: d.dst_predicate(p)?,
            q: d.predicate(q)?,
            args,
        }),
        _ => None,
    }
}
