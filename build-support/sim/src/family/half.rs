//! Half precision and bfloat16, single and packed (PTX ISA 9.7.4).

use gpuk_ptx::{Instruction, Type};

use super::float::{Extreme, What, extreme, what};
use super::integer::args;
use crate::decode::{Decoder, Mods};
use crate::float::Rounding;
use crate::float::narrow::{
    NAN16, add_odd, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, odd_f32,
};
use crate::program::Args;
use crate::register::File;
use crate::wide::wide;

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    what: What,
    bf16: bool,
    packed: bool,
    ftz: bool,
    saturate: bool,
    relu: bool,
    /// `.oob`: a factor that stands for a place out of bounds makes zero.
    oob: bool,
    extreme: Extreme,
    args: Args,
}

/// The NaN that stands for a place out of bounds, with either sign.
const OUT_OF_BOUNDS: u32 = 0x7ff7;

/// The least normal number of `f16`, which alone is flushed; a scale by which it is far from subnormal ones, and what
/// that adds to its bits.
const LEAST: u32 = 0x0400;
const SCALE: f64 = 1024.0;
const SCALED: u32 = 10 << 10;

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    let (what, sources) = what(&i.opcode)?;
    matches!(
        what,
        What::Add
            | What::Sub
            | What::Mul
            | What::Fma
            | What::Neg
            | What::Abs
            | What::Min
            | What::Max
    )
    .then_some(())?;
    (&*i.opcode != "mad").then_some(())?;
    let rounding = mods.read(Rounding::from_name);
    let ftz = mods.take("ftz");
    let saturate = mods.take("sat");
    let oob = mods.take("oob");
    let relu = mods.take("relu");
    let extreme = extreme(&mut mods, what, i.operands.len())?;
    let ty = mods.ty()?;
    mods.done()?;
    let (bf16, packed) = match ty {
        Type::F16 => (false, false),
        Type::F16x2 => (false, true),
        Type::Bf16 => (true, false),
        Type::Bf16x2 => (true, true),
        _ => return None,
    };
    let arithmetic = matches!(what, What::Add | What::Sub | What::Mul | What::Fma);
    let sources = sources + usize::from(extreme.three);
    (i.operands.len() == 1 + sources && !extreme.three).then_some(())?;
    match rounding {
        None => (what != What::Fma).then_some(())?,
        Some(Rounding::Nearest) => arithmetic.then_some(())?,
        Some(_) => return None,
    }
    (!saturate || arithmetic && !bf16).then_some(())?;
    (!relu || what == What::Fma && !saturate).then_some(())?;
    (!ftz || !bf16).then_some(())?;
    (!oob || what == What::Fma && !ftz && !saturate).then_some(())?;
    Some(Op {
        what,
        bf16,
        packed,
        ftz,
        saturate,
        relu,
        oob,
        extreme,
        args: args(i, d, ty)?,
    })
}

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    let args = op.args;
    macro_rules! one {
        ($half:expr) => {{
            let half = $half;
            if op.packed {
                f.map3(
                    mask,
                    args.d,
                    (args.a, args.b, args.c),
                    |a: u32, b: u32, c: u32| {
                        let low = half(a & 0xffff, b & 0xffff, c & 0xffff);
                        half(a >> 16, b >> 16, c >> 16) << 16 | low
                    },
                );
            } else {
                f.map3(
                    mask,
                    args.d,
                    (args.a, args.b, args.c),
                    |a: u32, b: u32, c: u32| half(a & 0xffff, b & 0xffff, c & 0xffff),
                );
            }
        }};
    }
    let plain = !op.ftz && !op.saturate && !op.relu && !op.oob;
    match (op.what, op.bf16) {
        (What::Add, false) if plain => one!(|a, b, _| f32_to_f16(f16_to_f32(a) + f16_to_f32(b))),
        (What::Sub, false) if plain => one!(|a, b, _| f32_to_f16(f16_to_f32(a) - f16_to_f32(b))),
        (What::Mul, false) if plain => one!(|a, b, _| f32_to_f16(f16_to_f32(a) * f16_to_f32(b))),
        (What::Fma, false) if plain => one!(|a, b, c| {
            let product = f64::from(f16_to_f32(a)) * f64::from(f16_to_f32(b));
            f32_to_f16(odd_f32(add_odd(product, f16_to_f32(c).into())))
        }),
        (What::Fma, true) if plain => one!(|a, b, c| {
            let product = f64::from(bf16_to_f32(a)) * f64::from(bf16_to_f32(b));
            f32_to_bf16(odd_f32(add_odd(product, bf16_to_f32(c).into())))
        }),
        (What::Neg, bf16) if plain => {
            let infinity = infinity(bf16);
            one!(|a: u32, _, _| signed(a, a ^ 0x8000, infinity));
        }
        (What::Abs, bf16) if plain => {
            let infinity = infinity(bf16);
            one!(|a: u32, _, _| signed(a, a & 0x7fff, infinity));
        }
        _ => {
            let op = *op;
            one!(move |a, b, c| half(&op, a, b, c));
        }
    }
}

const fn infinity(bf16: bool) -> u32 {
    if bf16 { 0x7f80 } else { 0x7c00 }
}

/// A number whose sign was changed; of a NaN the one that instructions give.
#[inline(always)]
fn signed(a: u32, changed: u32, infinity: u32) -> u32 {
    if a & 0x7fff > infinity {
        NAN16
    } else {
        changed
    }
}

/// One operation on numbers of 16 bits.
#[inline(always)]
fn half(op: &Op, a: u32, b: u32, c: u32) -> u32 {
    let flush = |bits: u32| {
        if op.ftz && bits & 0x7c00 == 0 {
            bits & 0x8000
        } else {
            bits
        }
    };
    let outside = |bits: u32| bits & 0x7fff == OUT_OF_BOUNDS;
    if op.oob && (outside(a) || outside(b)) {
        return 0;
    }
    let [a, b, c] = [a, b, c].map(flush);
    let wide = |bits| {
        if op.bf16 {
            bf16_to_f32(bits)
        } else {
            f16_to_f32(bits)
        }
    };
    let exact = |bits| f64::from(wide(bits));
    let value = match op.what {
        What::Add => exact(a) + exact(b),
        What::Sub => exact(a) - exact(b),
        What::Mul => exact(a) * exact(b),
        What::Fma => add_odd(exact(a) * exact(b), exact(c)),
        What::Neg => return signed(a, a ^ 0x8000, infinity(op.bf16)),
        What::Abs => return signed(a, a & 0x7fff, infinity(op.bf16)),
        _ => return pick(op, a, b),
    };
    // A sum of two numbers is exact enough in 53 bits but for its last one.
    let value = match op.what {
        What::Add => add_odd(exact(a), exact(b)),
        What::Sub => add_odd(exact(a), -exact(b)),
        _ => value,
    };
    let narrow = odd_f32(value);
    let bits = if op.bf16 {
        f32_to_bf16(narrow)
    } else {
        f32_to_f16(narrow)
    };
    // What rounds to a subnormal number as if exponents went on below is flushed, as devices have it.
    let tiny = op.ftz
        && bits & 0x7fff == LEAST
        && f32_to_f16(odd_f32(value * SCALE)) & 0x7fff < LEAST + SCALED;
    let bits = if tiny { bits & 0x8000 } else { flush(bits) };
    let nan = bits & 0x7fff > infinity(op.bf16);
    let negative = bits & 0x8000 != 0;
    if op.saturate {
        // To [0, 1]; a NaN becomes zero.
        const ONE: u32 = 0x3c00;
        return if nan || negative { 0 } else { bits.min(ONE) };
    }
    if op.relu && negative && !nan { 0 } else { bits }
}

/// The smaller or larger; zeros are ordered by sign, and a NaN gives way to a number.
#[inline(always)]
fn pick(op: &Op, a: u32, b: u32) -> u32 {
    let extreme = op.extreme;
    let infinity = infinity(op.bf16);
    let sign = if extreme.xorsign { (a ^ b) & 0x8000 } else { 0 };
    let (a, b) = if extreme.xorsign {
        (a & 0x7fff, b & 0x7fff)
    } else {
        (a, b)
    };
    let (a_nan, b_nan) = (a & 0x7fff > infinity, b & 0x7fff > infinity);
    let key = |bits: u32| {
        let signed = i32::from(bits as u16 as i16);
        signed ^ (signed >> 31 & 0x7fff)
    };
    let first = (key(a) < key(b)) != (op.what == What::Max);
    match (a_nan, b_nan) {
        (true, true) => NAN16,
        (true, false) | (false, true) if extreme.nan => NAN16,
        (true, false) => b | sign,
        (false, true) => a | sign,
        _ if first => a | sign,
        _ => b | sign,
    }
}

/// What an atomic operation makes of two values.
pub(crate) fn combined(what: What, bf16: bool, packed: bool, a: u32, b: u32) -> u32 {
    let op = Op {
        what,
        bf16,
        packed,
        ftz: false,
        saturate: false,
        relu: false,
        oob: false,
        extreme: Extreme::default(),
        args: Args {
            d: crate::register::Dst(0),
            a: crate::register::Src(0),
            b: crate::register::Src(0),
            c: crate::register::Src(0),
        },
    };
    let low = half(&op, a & 0xffff, b & 0xffff, 0);
    if packed {
        half(&op, a >> 16, b >> 16, 0) << 16 | low
    } else {
        low
    }
}
