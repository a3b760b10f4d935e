//! Double precision (PTX ISA 9.7.3).

use gpuk_ptx::{Instruction, Type};

use super::float::{Extreme, What, extreme, rounds, what};
use super::integer::args;
use crate::decode::{Decoder, Mods};
use crate::float::{Format, Rounding};
use crate::program::Args;
use crate::register::File;
use crate::wide::wide;

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    what: What,
    rounding: Rounding,
    args: Args,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    let (what, sources) = what(&i.opcode)?;
    let rounding = mods.read(Rounding::from_name);
    let extreme = extreme(&mut mods, what, i.operands.len())?;
    (mods.ty()? == Type::F64).then_some(())?;
    mods.done()?;
    (extreme == Extreme::default() && i.operands.len() == 1 + sources).then_some(())?;
    let (may, must) = rounds(what);
    let rounding = match rounding {
        Some(Rounding::NearestAway) => return None,
        Some(rounding) => may.then_some(rounding)?,
        None => (!must).then_some(Rounding::Nearest)?,
    };
    Some(Op {
        what,
        rounding,
        args: args(i, d, Type::F64)?,
    })
}

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

const SIGN: u64 = 1 << 63;

const QUIET: u64 = 1 << 51;

/// A NaN operand comes through, made quiet, the first of these if there are several; an invalid operation gives the
/// default NaN.
#[inline(always)]
pub(super) fn result(value: f64, operands: &[f64]) -> u64 {
    if !value.is_nan() {
        return value.to_bits();
    }
    let given = operands.iter().find(|operand| operand.is_nan());
    given.map_or(Format::F64.nan(), |operand| operand.to_bits() | QUIET)
}

/// The sign of a number changed; a NaN keeps its sign and becomes quiet.
#[inline(always)]
fn signed(x: u64, change: impl Fn(u64) -> u64) -> u64 {
    if f64::from_bits(x).is_nan() {
        x | QUIET
    } else {
        change(x)
    }
}

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    let Op {
        what,
        rounding,
        args,
        ..
    } = *op;
    let Args { d, a, b, c } = args;
    if rounding != Rounding::Nearest {
        directed(op, f, mask);
        return;
    }
    macro_rules! nearest {
        (|$x:ident| $e:expr) => {
            f.map1(mask, d, a, |x: u64| {
                let $x = f64::from_bits(x);
                result($e, &[$x])
            })
        };
        (|$x:ident, $y:ident| $e:expr) => {
            f.map2(mask, d, (a, b), |x: u64, y: u64| {
                let ($x, $y) = (f64::from_bits(x), f64::from_bits(y));
                result($e, &[$y, $x])
            })
        };
        (|$x:ident, $y:ident, $z:ident| $e:expr) => {
            f.map3(mask, d, (a, b, c), |x: u64, y: u64, z: u64| {
                let ($x, $y, $z) = (f64::from_bits(x), f64::from_bits(y), f64::from_bits(z));
                result($e, &[$y, $z, $x])
            })
        };
    }
    match what {
        What::Add => nearest!(|x, y| x + y),
        What::Sub => nearest!(|x, y| x - y),
        What::Mul => nearest!(|x, y| x * y),
        What::Fma => nearest!(|x, y, z| x.mul_add(y, z)),
        // The dividend first.
        What::Div => f.map2(mask, d, (a, b), |x: u64, y: u64| {
            let (x, y) = (f64::from_bits(x), f64::from_bits(y));
            result(x / y, &[x, y])
        }),
        What::Rcp => nearest!(|x| 1.0 / x),
        What::Sqrt => nearest!(|x| x.sqrt()),
        What::Neg => f.map1(mask, d, a, |x: u64| signed(x, |x| x ^ SIGN)),
        What::Abs => f.map1(mask, d, a, |x: u64| signed(x, |x| x & !SIGN)),
        What::Min => f.map2(mask, d, (a, b), |x: u64, y: u64| pick(x, y, false)),
        What::Max => f.map2(mask, d, (a, b), |x: u64, y: u64| pick(x, y, true)),
        What::CopySign => f.map2(mask, d, (a, b), |x: u64, y: u64| x & SIGN | y & !SIGN),
    }
}

/// The smaller or larger; zeros are ordered by sign, and a NaN gives way to a number.
#[inline(always)]
fn pick(x: u64, y: u64, max: bool) -> u64 {
    let (a, b) = (f64::from_bits(x), f64::from_bits(y));
    let key = |bits: u64| {
        let bits = bits as i64;
        bits ^ ((bits >> 63) as u64 >> 1) as i64
    };
    match (a.is_nan(), b.is_nan()) {
        (true, true) => result(f64::NAN, &[b]),
        (true, false) => y,
        (false, true) => x,
        _ if (key(x) < key(y)) != max => x,
        _ => y,
    }
}

/// What the machine does not do: other roundings than to nearest.
#[inline(never)]
fn directed(op: &Op, f: &mut File<'_>, mask: u32) {
    const F: Format = Format::F64;
    let Op {
        what,
        rounding,
        args,
        ..
    } = *op;
    f.map3(
        mask,
        args.d,
        (args.a, args.b, args.c),
        |a: u64, b: u64, c: u64| {
            let [x, y, z] = [a, b, c].map(f64::from_bits);
            let (bits, operands): (u64, &[f64]) = match what {
                What::Add => (F.add(a, b, rounding), &[y, x]),
                What::Sub => (F.sub(a, b, rounding), &[y, x]),
                What::Mul => (F.mul(a, b, rounding), &[y, x]),
                What::Fma => (F.fma(a, b, c, rounding), &[y, z, x]),
                What::Div => (F.div(a, b, rounding), &[x, y]),
                What::Rcp => (F.rcp(a, rounding), &[x]),
                _ => (F.sqrt(a, rounding), &[x]),
            };
            result(f64::from_bits(bits), operands)
        },
    );
}
