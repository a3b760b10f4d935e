//! What PTX computes approximately (PTX ISA 9.7.3).
//!
//! A device computes these from tables that are not published. Here they are within half a unit in the last
//! place of the exact value, computed in double precision by polynomials, so that they are the same on every
//! machine. Where the ISA gives the result for an operand, it is that. What a device gives may lie apart by:
//!
//! | instruction | at most |
//! |---|---|
//! | `rcp.f32`, `sqrt.f32` | 1 unit in the last place |
//! | `rsqrt.f32`, `ex2.f32`, `div.approx`, `div.full` | 2 units |
//! | `lg2.f32` | 1 unit, or 2^-22 |
//! | `sin.f32`, `cos.f32` | 1 unit, or 2^-21 |
//! | `tanh.f32` | 134 units, which is 2^-16.4 of the result |
//! | `ex2`, `tanh` of `f16` and `bf16` | 1 unit |
//! | `rcp.ftz.f64`, `rsqrt.ftz.f64` | 1 unit of the upper 32 bits |
//! | `rsqrt.f64` | 1 unit |
//!
//! Those of one `f32` operand but for the quotients were measured over all mantissas of an octave or more on compute
//! capability 9.0; `tests/forms` holds all of them to recorded samples.

use gpuk_ptx::{Instruction, Type};

use crate::decode::{Decoder, Mods};
use crate::float::narrow::{bf16_to_f32, canonical, f16_to_f32, f32_to_bf16, f32_to_f16, flush};
use crate::float::transcendental::{cos, exp2, log2, sin, tanh};
use crate::register::{Dst, File, Src};
use crate::wide::wide;

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    /// `div.approx`: `a * (1 / b)`.
    Div,
    /// `div.full`: over the full range.
    DivFull,
}

/// What the operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    F32,
    F64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    what: What,
    kind: Kind,
    ftz: bool,
    d: Dst,
    a: Src,
    b: Src,
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    let approx = mods.take("approx");
    let full = mods.take("full");
    (approx != full).then_some(())?;
    let what = match (&*i.opcode, full) {
        ("rcp", false) => What::Rcp,
        ("sqrt", false) => What::Sqrt,
        ("rsqrt", false) => What::Rsqrt,
        ("sin", false) => What::Sin,
        ("cos", false) => What::Cos,
        ("lg2", false) => What::Lg2,
        ("ex2", false) => What::Ex2,
        ("tanh", false) => What::Tanh,
        ("div", false) => What::Div,
        ("div", true) => What::DivFull,
        _ => return None,
    };
    let ftz = mods.take("ftz");
    let ty = mods.ty()?;
    mods.done()?;
    let kind = match (ty, what) {
        (Type::F32, _) => Kind::F32,
        (Type::F64, What::Rcp) if ftz => Kind::F64,
        (Type::F64, What::Rsqrt) => Kind::F64,
        (Type::F16, What::Ex2 | What::Tanh) => Kind::F16,
        (Type::F16x2, What::Ex2 | What::Tanh) => Kind::F16x2,
        (Type::Bf16, What::Ex2 | What::Tanh) => Kind::Bf16,
        (Type::Bf16x2, What::Ex2 | What::Tanh) => Kind::Bf16x2,
        _ => return None,
    };
    let (target, a, b) = match (&*i.operands, what) {
        ([target, a, b], What::Div | What::DivFull) => (target, a, b),
        ([_, _], What::Div | What::DivFull) => return None,
        ([target, a], _) => (target, a, a),
        _ => return None,
    };
    Some(Op {
        what,
        kind,
        ftz,
        a: d.src(a, ty)?,
        b: d.src(b, ty)?,
        d: d.dst(target, ty)?,
    })
}

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    let Op {
        what, ftz, d, a, b, ..
    } = *op;
    match op.kind {
        Kind::F32 => {
            macro_rules! single {
                ($f:expr) => {{
                    let compute = $f;
                    if ftz {
                        f.map1(mask, d, a, |a: u32| {
                            canonical(flush(compute(flush(f32::from_bits(a)))))
                        });
                    } else {
                        f.map1(mask, d, a, |a: u32| canonical(compute(f32::from_bits(a))));
                    }
                }};
            }
            match what {
                What::Rcp => single!(|x: f32| 1.0 / x),
                What::Sqrt => single!(|x: f32| x.sqrt()),
                What::Rsqrt => single!(rsqrt),
                What::Sin => single!(sin),
                What::Cos => single!(cos),
                What::Lg2 => single!(log2),
                What::Ex2 => single!(exp2),
                What::Tanh => single!(tanh),
                What::Div | What::DivFull => {
                    let full = what == What::DivFull;
                    let flushed = |bits| {
                        let value = f32::from_bits(bits);
                        if ftz { flush(value) } else { value }
                    };
                    f.map2(mask, d, (a, b), |a: u32, b: u32| {
                        let (a, b) = (flushed(a), flushed(b));
                        let large = (b.abs() > two_to(126)) & b.is_finite() & !full;
                        let value = match large {
                            true if a.is_infinite() => f32::NAN,
                            true if !a.is_nan() => 0.0_f32.copysign(a * b),
                            _ => a / b,
                        };
                        canonical(if ftz { flush(value) } else { value })
                    });
                }
            }
        }
        Kind::F64 => f.map1(mask, d, a, |a: u64| double(what, ftz, a)),
        kind => {
            let bf16 = matches!(kind, Kind::Bf16 | Kind::Bf16x2);
            let packed = matches!(kind, Kind::F16x2 | Kind::Bf16x2);
            let half = |bits: u32| {
                let value = if bf16 {
                    bf16_to_f32(bits)
                } else {
                    f16_to_f32(bits)
                };
                // No f16 is subnormal as an f32; of bf16 the instruction flushes.
                let value = if ftz { flush(value) } else { value };
                let value = if what == What::Ex2 {
                    exp2(value)
                } else {
                    tanh(value)
                };
                let value = if ftz { flush(value) } else { value };
                if bf16 {
                    f32_to_bf16(value)
                } else {
                    f32_to_f16(value)
                }
            };
            f.map1(mask, d, a, |a: u32| {
                let low = half(a & 0xffff);
                if packed {
                    half(a >> 16) << 16 | low
                } else {
                    low
                }
            });
        }
    }
}

const fn two_to(exponent: u32) -> f32 {
    f32::from_bits((127 + exponent) << 23)
}

#[inline(always)]
fn rsqrt(x: f32) -> f32 {
    let wide = f64::from(x);
    let value = (1.0 / wide.sqrt()) as f32;
    if x == 0.0 {
        f32::INFINITY.copysign(x)
    } else {
        value
    }
}

/// `rsqrt.approx.f64` is as precise as a double. Of `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` the upper
/// 32 bits of the operand count, and the lower 32 of the result are zero.
fn double(what: What, ftz: bool, bits: u64) -> u64 {
    let kept = if ftz { 0xffff_ffff_0000_0000 } else { u64::MAX };
    let operand = f64::from_bits(bits & kept);
    let flushed = |value: f64| {
        if ftz && value.is_subnormal() {
            0.0_f64.copysign(value)
        } else {
            value
        }
    };
    let operand = flushed(operand);
    let value = match what {
        What::Rcp => 1.0 / operand,
        _ if operand == 0.0 => f64::INFINITY.copysign(operand),
        _ => 1.0 / operand.sqrt(),
    };
    if value.is_nan() {
        return match what {
            _ if ftz => 0x7fff_ffff_0000_0000,
            _ if operand.is_nan() => bits | 1 << 51,
            _ => crate::float::Format::F64.nan(),
        };
    }
    flushed(value).to_bits() & kept
}
