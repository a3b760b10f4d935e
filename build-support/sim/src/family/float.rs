//! Single precision (PTX ISA 9.7.3), but for what is approximate.

use gpuk_ptx::{Instruction, Type};

use super::integer::args;
use crate::decode::{Decoder, Mods};
use crate::float::narrow::{NAN32, canonical, flush};
use crate::float::{Format, Rounding};
use crate::program::Args;
use crate::register::{Dst, File, each};
use crate::wide::wide;

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
    Sqrt,
    Neg,
    Abs,
    Min,
    Max,
    CopySign,
}

/// How `min` and `max` differ from the plain ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Extreme {
    /// `.NaN`: a NaN operand makes a NaN.
    pub(crate) nan: bool,
    /// `.xorsign`: the sign is that of the product.
    pub(crate) xorsign: bool,
    /// `.abs`: magnitudes are compared.
    pub(crate) abs: bool,
    /// Three operands.
    pub(crate) three: bool,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    pub(crate) what: What,
    pub(crate) rounding: Rounding,
    pub(crate) ftz: bool,
    pub(crate) saturate: bool,
    pub(crate) extreme: Extreme,
    /// `.f32x2`: two numbers in a register of 64 bits.
    pub(crate) pair: bool,
    pub(crate) args: Args,
}

/// The operation of an opcode, and how many sources it has.
pub(crate) fn what(opcode: &str) -> Option<(What, usize)> {
    Some(match opcode {
        "add" => (What::Add, 2),
        "sub" => (What::Sub, 2),
        "mul" => (What::Mul, 2),
        "fma" | "mad" => (What::Fma, 3),
        "div" => (What::Div, 2),
        "rcp" => (What::Rcp, 1),
        "sqrt" => (What::Sqrt, 1),
        "neg" => (What::Neg, 1),
        "abs" => (What::Abs, 1),
        "min" => (What::Min, 2),
        "max" => (What::Max, 2),
        "copysign" => (What::CopySign, 2),
        _ => return None,
    })
}

/// Whether the operation rounds, and whether it must say how.
pub(crate) const fn rounds(what: What) -> (bool, bool) {
    match what {
        What::Add | What::Sub | What::Mul => (true, false),
        What::Fma | What::Div | What::Rcp | What::Sqrt => (true, true),
        _ => (false, false),
    }
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    let (what, sources) = what(&i.opcode)?;
    let rounding = mods.read(Rounding::from_name);
    let ftz = mods.take("ftz");
    let saturate = mods.take("sat");
    let extreme = extreme(&mut mods, what, i.operands.len())?;
    let pair = mods.take("f32x2");
    (pair || mods.ty()? == Type::F32).then_some(())?;
    // `add.f32.f16`: one operand is a half, or of `fma` two are.
    let half = mods.ty();
    mods.done()?;
    let sources = sources + usize::from(extreme.three);
    (i.operands.len() == 1 + sources).then_some(())?;
    let (may, must) = rounds(what);
    let rounding = match rounding {
        Some(Rounding::NearestAway) => return None,
        Some(rounding) => may.then_some(rounding)?,
        None => (!must).then_some(Rounding::Nearest)?,
    };
    (!saturate || matches!(what, What::Add | What::Sub | What::Mul | What::Fma)).then_some(())?;
    (!ftz || what != What::CopySign).then_some(())?;
    let arithmetic = matches!(what, What::Add | What::Sub | What::Mul | What::Fma);
    (!pair || arithmetic && !saturate && half.is_none()).then_some(())?;
    let args = match half {
        Some(half) => mixed(i, d, what, half).filter(|_| !ftz)?,
        None if pair => args(i, d, Type::B64)?,
        None => args(i, d, Type::F32)?,
    };
    Some(Op {
        what,
        rounding,
        ftz,
        saturate,
        extreme,
        pair,
        args,
    })
}

/// The rows of an instruction that widens halves: the first source of `add` and `sub`, the factors of `fma`.
fn mixed(i: &Instruction, d: &mut Decoder<'_>, what: What, half: Type) -> Option<Args> {
    let [target, sources @ ..] = &*i.operands else {
        return None;
    };
    let halves = match what {
        What::Add | What::Sub => 1,
        What::Fma => 2,
        _ => return None,
    };
    let mut rows = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        rows.push(if at < halves {
            let a = d.src32(source, half)?;
            let wide = d.scratch32();
            let op = super::convert::widen(half, wide, a)?;
            d.emit(crate::program::Op::Convert(op));
            wide.src()
        } else {
            d.src32(source, Type::F32)?
        });
    }
    Some(Args {
        a: *rows.first()?,
        b: *rows.get(1)?,
        c: *rows.get(2).or(rows.first())?,
        d: d.dst32(target)?,
    })
}

/// The modifiers of `min` and `max`; the plain form for everything else.
pub(crate) fn extreme(mods: &mut Mods<'_>, what: What, operands: usize) -> Option<Extreme> {
    if !matches!(what, What::Min | What::Max) {
        return Some(Extreme::default());
    }
    let nan = mods.take("NaN");
    let xorsign = mods.take("xorsign");
    let abs = mods.take("abs");
    let three = operands == 4;
    // `.xorsign` goes with `.abs`; `.abs` alone is for three operands.
    (if three { !xorsign } else { xorsign == abs }).then_some(Extreme {
        nan,
        xorsign,
        abs,
        three,
    })
}

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    let Op {
        what,
        rounding,
        ftz,
        saturate,
        args,
        ..
    } = *op;
    if op.pair {
        pairs(op, f, mask);
        return;
    }
    if rounding != Rounding::Nearest {
        directed(op, f, mask);
        return;
    }
    let Args { d, a, b, c } = args;
    // Each operation twice: with subnormals flushed before and after, and without.
    macro_rules! nearest {
        (|$x:ident| $e:expr) => {
            if ftz {
                f.map1(mask, d, a, |x: u32| {
                    let $x = flush(f32::from_bits(x));
                    canonical(flush($e))
                })
            } else {
                f.map1(mask, d, a, |x: u32| {
                    let $x = f32::from_bits(x);
                    canonical($e)
                })
            }
        };
        (|$x:ident, $y:ident| $e:expr) => {
            if ftz {
                f.map2(mask, d, (a, b), |x: u32, y: u32| {
                    let ($x, $y) = (flush(f32::from_bits(x)), flush(f32::from_bits(y)));
                    canonical(flush($e))
                })
            } else {
                f.map2(mask, d, (a, b), |x: u32, y: u32| {
                    let ($x, $y) = (f32::from_bits(x), f32::from_bits(y));
                    canonical($e)
                })
            }
        };
        (|$x:ident, $y:ident, $z:ident| $e:expr) => {
            if ftz {
                f.map3(mask, d, (a, b, c), |x: u32, y: u32, z: u32| {
                    let ($x, $y) = (flush(f32::from_bits(x)), flush(f32::from_bits(y)));
                    let $z = flush(f32::from_bits(z));
                    canonical(flush($e))
                })
            } else {
                f.map3(mask, d, (a, b, c), |x: u32, y: u32, z: u32| {
                    let ($x, $y) = (f32::from_bits(x), f32::from_bits(y));
                    let $z = f32::from_bits(z);
                    canonical($e)
                })
            }
        };
    }
    match what {
        What::Add => nearest!(|x, y| x + y),
        What::Sub => nearest!(|x, y| x - y),
        What::Mul | What::Fma | What::Div if ftz => flushed(op, f, mask),
        What::Mul => nearest!(|x, y| x * y),
        What::Fma => nearest!(|x, y, z| x.mul_add(y, z)),
        What::Div => nearest!(|x, y| x / y),
        What::Rcp => nearest!(|x| 1.0 / x),
        What::Sqrt => nearest!(|x| x.sqrt()),
        What::Neg => nearest!(|x| -x),
        What::Abs => nearest!(|x| x.abs()),
        What::Min | What::Max => {
            let (max, extreme) = (what == What::Max, op.extreme);
            if extreme.three {
                f.map3(mask, d, (a, b, c), |x: u32, y: u32, z: u32| {
                    let first = pick(x, y, max, ftz, extreme);
                    pick(first, z, max, ftz, extreme)
                });
            } else {
                f.map2(mask, d, (a, b), |x: u32, y: u32| {
                    pick(x, y, max, ftz, extreme)
                });
            }
        }
        // The sign of the first, the magnitude of the second.
        What::CopySign => f.map2(mask, d, (a, b), |x: u32, y: u32| {
            x & 0x8000_0000 | y & 0x7fff_ffff
        }),
    }
    if saturate {
        clamp(f, d, mask);
    }
}

/// Operations that round what is subnormal: it is flushed even where
/// fewer bits than a normal number has make it normal, as devices have it.
#[inline(always)]
fn flushed(op: &Op, f: &mut File<'_>, mask: u32) {
    let Args { d, a, b, c } = op.args;
    let rows: [[u32; 32]; 3] = [f.get(a), f.get(b), f.get(c)];
    let values = rows.map(|row| each(&row, |bits: u32| flush(f32::from_bits(bits))));
    let [x, y, z] = &values;
    let mut out = [0_u32; 32];
    macro_rules! all {
        (|$at:ident| $e:expr) => {
            for ($at, out) in out.iter_mut().enumerate() {
                *out = canonical(flush($e));
            }
        };
    }
    match op.what {
        What::Mul => all!(|at| x[at] * y[at]),
        What::Fma => all!(|at| x[at].mul_add(y[at], z[at])),
        _ => all!(|at| x[at] / y[at]),
    }
    let least = f32::MIN_POSITIVE.to_bits();
    if out.iter().any(|bits| bits & 0x7fff_ffff == least) {
        for (at, out) in out.iter_mut().enumerate() {
            *out = one(op, rows[0][at], rows[1][at], rows[2][at]);
        }
    }
    f.put(d, &out, mask);
}

/// To [0, 1]; a NaN becomes zero.
#[inline(always)]
pub(crate) fn clamp(f: &mut File<'_>, d: Dst, mask: u32) {
    f.map1(mask, d, d.src(), saturated);
}

/// To [0, 1]; a NaN becomes zero.
#[inline(always)]
pub(crate) fn saturated(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    // Both comparisons fail for a NaN; minus zero becomes plus zero.
    let above = if value > 0.0 { value } else { 0.0 };
    if above < 1.0 {
        above.to_bits()
    } else {
        1.0_f32.to_bits()
    }
}

/// The smaller or larger; zeros are ordered by sign, and a NaN gives way to a number.
#[inline(always)]
fn pick(x: u32, y: u32, max: bool, ftz: bool, extreme: Extreme) -> u32 {
    let prepare = |bits: u32| {
        let value = f32::from_bits(bits);
        let value = if ftz { flush(value) } else { value };
        if extreme.abs { value.abs() } else { value }
    };
    let (a, b) = (prepare(x), prepare(y));
    let sign = if extreme.xorsign {
        (x ^ y) & 0x8000_0000
    } else {
        0
    };
    // Integers in the order of the numbers.
    let key = |value: f32| {
        let bits = value.to_bits() as i32;
        bits ^ ((bits >> 31) as u32 >> 1) as i32
    };
    let first = (key(a) < key(b)) != max;
    let chosen = if first { a } else { b };
    let chosen = if a.is_nan() { b } else { chosen };
    let chosen = if b.is_nan() { a } else { chosen };
    let any = a.is_nan() | b.is_nan();
    let both = a.is_nan() & b.is_nan();
    if both | (extreme.nan & any) {
        NAN32
    } else {
        chosen.to_bits() | sign
    }
}

/// What the machine does not do: other roundings than to nearest.
#[inline(never)]
fn directed(op: &Op, f: &mut File<'_>, mask: u32) {
    let args = op.args;
    f.map3(mask, args.d, (args.a, args.b, args.c), |a, b, c| {
        one(op, a, b, c)
    });
    if op.saturate {
        clamp(f, args.d, mask);
    }
}

/// An operation with any rounding.
fn one(op: &Op, a: u32, b: u32, c: u32) -> u32 {
    const F: Format = Format::F32;
    let (rounding, ftz) = (op.rounding, op.ftz);
    let flushed = |bits: u32| {
        if ftz {
            flush(f32::from_bits(bits)).to_bits()
        } else {
            bits
        }
    };
    let [a, b, c] = [a, b, c].map(|bits| u64::from(flushed(bits)));
    let rounded = |format: Format, [a, b, c]: [u64; 3]| match op.what {
        What::Add => format.add(a, b, rounding),
        What::Sub => format.sub(a, b, rounding),
        What::Mul => format.mul(a, b, rounding),
        What::Fma => format.fma(a, b, c, rounding),
        What::Div => format.div(a, b, rounding),
        What::Rcp => format.rcp(a, rounding),
        _ => format.sqrt(a, rounding),
    };
    let bits = rounded(F, [a, b, c]) as u32;
    if ftz && bits & 0x7fff_ffff == f32::MIN_POSITIVE.to_bits() {
        // As if exponents went on below: whether it rounds to less than the least normal number.
        const WIDE: Format = Format {
            exponent: 11,
            mantissa: 23,
        };
        const LEAST: u64 = (1023 - 126) << 23;
        let wide = [a, b, c].map(|bits| F.convert(bits, WIDE, Rounding::Zero));
        if rounded(WIDE, wide) & !WIDE.sign() < LEAST {
            return bits & 0x8000_0000;
        }
    }
    flushed(bits)
}

/// Two operations in each lane.
#[inline(always)]
fn pairs(op: &Op, f: &mut File<'_>, mask: u32) {
    let args = op.args;
    macro_rules! nearest {
        (|$x:ident, $y:ident, $z:ident| $e:expr) => {
            f.map3(
                mask,
                args.d,
                (args.a, args.b, args.c),
                |a: u64, b: u64, c: u64| {
                    let half = |shift: u32| {
                        let part = |row: u64| {
                            let value = f32::from_bits((row >> shift) as u32);
                            if op.ftz { flush(value) } else { value }
                        };
                        let ($x, $y, $z) = (part(a), part(b), part(c));
                        let value: f32 = $e;
                        canonical(if op.ftz { flush(value) } else { value })
                    };
                    u64::from(half(0)) | u64::from(half(32)) << 32
                },
            )
        };
    }
    match op.what {
        What::Add if op.rounding == Rounding::Nearest => nearest!(|x, y, _z| x + y),
        What::Sub if op.rounding == Rounding::Nearest => nearest!(|x, y, _z| x - y),
        What::Mul if op.rounding == Rounding::Nearest => nearest!(|x, y, _z| x * y),
        What::Fma if op.rounding == Rounding::Nearest => nearest!(|x, y, z| x.mul_add(y, z)),
        _ => f.map3(
            mask,
            args.d,
            (args.a, args.b, args.c),
            |a: u64, b: u64, c: u64| {
                let half = |shift: u32| {
                    let [a, b, c] = [a, b, c].map(|row| (row >> shift) as u32);
                    u64::from(one(op, a, b, c))
                };
                half(0) | half(32) << 32
            },
        ),
    }
}
