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

/// A NaN operand comes through, made quiet; an invalid operation gives the default NaN.
#[inline(always)]
pub(super) fn result(value: f64, operands: &[f64]) -> u64 {
    const QUIET: u64 = 1 << 51;
    if !value.is_nan() {
        return value.to_bits();
    }
    let given = operands.iter().find(|operand| operand.is_nan());
    given.map_or(Format::F64.nan(), |operand| operand.to_bits() | QUIET)
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
                result($e, &[$x, $y])
            })
        };
        (|$x:ident, $y:ident, $z:ident| $e:expr) => {
            f.map3(mask, d, (a, b, c), |x: u64, y: u64, z: u64| {
                let ($x, $y, $z) = (f64::from_bits(x), f64::from_bits(y), f64::from_bits(z));
                result($e, &[$x, $y, $z])
            })
        };
    }
    match what {
        What::Add => nearest!(|x, y| x + y),
        What::Sub => nearest!(|x, y| x - y),
        What::Mul => nearest!(|x, y| x * y),
        What::Fma => nearest!(|x, y, z| x.mul_add(y, z)),
        What::Div => nearest!(|x, y| x / y),
        What::Rcp => nearest!(|x| 1.0 / x),
        What::Sqrt => nearest!(|x| x.sqrt()),
        What::Neg => f.map1(mask, d, a, |x: u64| x ^ SIGN),
        What::Abs => f.map1(mask, d, a, |x: u64| x & !SIGN),
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
        (true, true) => result(f64::NAN, &[a]),
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
            let (bits, used) = match what {
                What::Add => (F.add(a, b, rounding), 2),
                What::Sub => (F.sub(a, b, rounding), 2),
                What::Mul => (F.mul(a, b, rounding), 2),
                What::Fma => (F.fma(a, b, c, rounding), 3),
                What::Div => (F.div(a, b, rounding), 2),
                What::Rcp => (F.rcp(a, rounding), 1),
                _ => (F.sqrt(a, rounding), 1),
            };
            result(f64::from_bits(bits), &[a, b, c].map(f64::from_bits)[..used])
        },
    );
}
