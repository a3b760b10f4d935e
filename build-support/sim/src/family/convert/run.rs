//! Executing conversions.

use super::{Float, Number, Op, Spec};
use crate::family::float::saturated;
use crate::float::exact::{Exact, Rest, Unpacked, cut};
use crate::float::narrow::{canonical, f16_to_f32, f32_to_bf16, f32_to_f16, flush};
use crate::float::{Format, Rounding};
use crate::register::{Dst, File, Src, each};
use crate::wide::wide;

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    match *op {
        Op::One {
            spec,
            d,
            a,
            bits,
            wide_source,
        } => {
            if quick(&spec, f, mask, (d, bits), (a, wide_source)) {
                return;
            }
            let raw = if wide_source {
                f.get::<u64>(a)
            } else {
                each(&f.get::<u32>(a), u64::from)
            };
            slow(&spec, f, mask, (d, bits), &raw);
        }
        Op::Two { spec, d, a, b } => {
            let nearest = spec.rounding == Rounding::Nearest;
            match spec.to {
                Number::Float(Float::F16) if nearest && !spec.relu && !spec.finite => {
                    f.map2(mask, d, (a, b), |a: u32, b: u32| {
                        let half = |bits| f32_to_f16(f32::from_bits(bits));
                        half(a) << 16 | half(b)
                    });
                }
                Number::Float(Float::Bf16) if nearest && !spec.relu && !spec.finite => {
                    f.map2(mask, d, (a, b), |a: u32, b: u32| {
                        let half = |bits| f32_to_bf16(f32::from_bits(bits));
                        half(a) << 16 | half(b)
                    });
                }
                _ => f.map2(mask, d, (a, b), |a: u32, b: u32| {
                    let half = |bits: u32| convert(&spec, bits.into()) as u32;
                    half(a) << 16 | half(b)
                }),
            }
        }
        Op::Pack {
            to,
            signed,
            shift,
            d,
            a,
            b,
            c,
        } => f.map3(mask, d, (a, b, c), |a: u32, b: u32, c: u32| {
            let narrow = |value: u32| {
                let (low, high) = if signed {
                    (-1_i64 << (to - 1), (1_i64 << (to - 1)) - 1)
                } else {
                    (0, (1_i64 << to) - 1)
                };
                i64::from(value as i32).clamp(low, high) as u32 & ((1 << to) - 1)
            };
            let both = narrow(a) << to | narrow(b);
            if shift { c << (2 * to) | both } else { both }
        }),
    }
}

/// The conversions that kernels make all the time. Whether this is one.
#[inline(always)]
fn quick(
    spec: &Spec,
    f: &mut File<'_>,
    mask: u32,
    (d, bits): (Dst, u8),
    (a, wide): (Src, bool),
) -> bool {
    if spec.saturate || spec.relu || spec.finite {
        return false;
    }
    let nearest = spec.rounding == Rounding::Nearest;
    let zero = spec.rounding == Rounding::Zero;
    let keep = if bits < 32 { (1 << bits) - 1 } else { u32::MAX };
    macro_rules! to32 {
        ($w:ty, $f:expr) => {{
            let convert = $f;
            f.map1(mask, d, a, |a: $w| convert(a) & keep)
        }};
    }
    macro_rules! to64 {
        ($w:ty, $f:expr) => {
            f.map1(mask, d, a, $f)
        };
    }
    let int = |bits, signed| Number::Int { bits, signed };
    match (spec.from, spec.to, bits == 64, wide) {
        // Integers: the source is extended by its own sign, the result by its.
        (from @ Number::Int { .. }, to @ Number::Int { .. }, false, false) => {
            let (from, to) = (extension(from), extension(to));
            to32!(u32, |a: u32| extend32(extend32(a, from), to));
        }
        (_, to @ Number::Int { .. }, false, true) if matches!(spec.from, Number::Int { .. }) => {
            let to = extension(to);
            let from = extension(spec.from);
            to32!(u64, |a: u64| extend32(extend64(a, from) as u32, to));
        }
        (from @ Number::Int { .. }, to @ Number::Int { .. }, true, false) => {
            let (from, to) = (extension(from), extension(to));
            to64!(u32, |a: u32| extend64(extend64(a.into(), from), to));
        }
        (from @ Number::Int { .. }, to @ Number::Int { .. }, true, true) => {
            let (from, to) = (extension(from), extension(to));
            to64!(u64, |a: u64| extend64(extend64(a, from), to));
        }
        (from, Number::Float(Float::F32), false, false) if nearest && from == int(32, true) => {
            to32!(u32, |a: u32| (a as i32 as f32).to_bits());
        }
        (from, Number::Float(Float::F32), false, false) if nearest && from == int(32, false) => {
            to32!(u32, |a: u32| (a as f32).to_bits());
        }
        (from, Number::Float(Float::F32), false, true) if nearest && from == int(64, true) => {
            to32!(u64, |a: u64| (a as i64 as f32).to_bits());
        }
        (from, Number::Float(Float::F32), false, true) if nearest && from == int(64, false) => {
            to32!(u64, |a: u64| (a as f32).to_bits());
        }
        (from, Number::Float(Float::F64), true, false) if nearest && from == int(32, true) => {
            to64!(u32, |a: u32| f64::from(a as i32).to_bits());
        }
        (from, Number::Float(Float::F64), true, false) if nearest && from == int(32, false) => {
            to64!(u32, |a: u32| f64::from(a).to_bits());
        }
        (Number::Float(Float::F32), to, false, false) if zero && to == int(32, true) => {
            // A subnormal is no integer but zero, flushed or not.
            to32!(u32, |a: u32| f32::from_bits(a) as i32 as u32);
        }
        (Number::Float(Float::F32), to, false, false) if zero && to == int(32, false) => {
            to32!(u32, |a: u32| f32::from_bits(a) as u32);
        }
        (Number::Float(Float::F32), Number::Float(Float::F64), true, false) => {
            let ftz = spec.ftz;
            to64!(u32, |a: u32| {
                let value = f32::from_bits(a);
                let value = if ftz {
                    f32::from_bits(canonical(flush(value)))
                } else {
                    value
                };
                f64::from(value).to_bits()
            });
        }
        (Number::Float(Float::F64), Number::Float(Float::F32), false, true) if nearest => {
            let ftz = spec.ftz;
            to32!(u64, |a: u64| {
                let value = f64::from_bits(a) as f32;
                if value.is_nan() {
                    return narrowed_nan(a, Format::F32) as u32;
                }
                (if ftz { flush(value) } else { value }).to_bits()
            });
        }
        (Number::Float(Float::F16), Number::Float(Float::F32), false, false) => {
            // No f16 is subnormal as an f32.
            to32!(u32, |a: u32| f16_to_f32(a).to_bits());
        }
        (Number::Float(Float::Bf16), Number::Float(Float::F32), false, false) if !spec.ftz => {
            // The bits, those of a NaN too.
            to32!(u32, |a: u32| a << 16);
        }
        (Number::Float(Float::F32), Number::Float(Float::F16), false, false)
            if nearest && !spec.ftz =>
        {
            to32!(u32, |a: u32| f32_to_f16(f32::from_bits(a)));
        }
        (Number::Float(Float::F32), Number::Float(Float::Bf16), false, false)
            if nearest && !spec.ftz =>
        {
            to32!(u32, |a: u32| f32_to_bf16(f32::from_bits(a)));
        }
        _ => return false,
    }
    true
}

/// Bits above a type's own, and whether it is signed.
const fn extension(number: Number) -> (u32, bool) {
    match number {
        Number::Int { bits, signed } => (64 - bits as u32, signed),
        Number::Float(_) => (0, false),
    }
}

#[inline(always)]
fn extend64(value: u64, (above, signed): (u32, bool)) -> u64 {
    let top = value << above;
    if signed {
        (top as i64 >> above) as u64
    } else {
        top >> above
    }
}

/// As `extend64`, of which the low half is wanted.
#[inline(always)]
fn extend32(value: u32, (above, signed): (u32, bool)) -> u32 {
    let above = above.saturating_sub(32);
    let top = value << above;
    if signed {
        (top as i32 >> above) as u32
    } else {
        top >> above
    }
}

#[inline(never)]
fn slow(spec: &Spec, f: &mut File<'_>, mask: u32, (d, bits): (Dst, u8), raw: &[u64; 32]) {
    let out = each(raw, |raw: u64| {
        let value = convert(spec, raw);
        // A register that is wider gets the sign or zeros.
        match spec.to {
            Number::Int { signed: true, .. } => extend64(value, extension(spec.to)),
            _ => value,
        }
    });
    if bits == 64 {
        f.put(d, &out, mask);
    } else {
        let keep = if bits < 32 { (1 << bits) - 1 } else { u32::MAX };
        f.put(d, &each(&out, |value: u64| value as u32 & keep), mask);
    }
}

/// `cvt.rna.tf32`: half of the last place that is kept is added to the magnitude, but for infinities and NaNs.
fn away(spec: &Spec, raw: u32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    let half = if raw & INFINITY == INFINITY {
        0
    } else {
        0x1000
    };
    let bits = (raw + half) & !0x1fff;
    if spec.finite && bits & INFINITY == INFINITY {
        bits - 0x2000
    } else {
        bits
    }
}

/// Converts one value; the result has no bits above the type's own.
pub(crate) fn convert(spec: &Spec, raw: u64) -> u64 {
    match spec.from {
        Number::Int { bits, signed } => {
            let above = 64 - u32::from(bits);
            let value = if signed {
                i128::from((raw << above) as i64 >> above)
            } else {
                i128::from(raw << above >> above)
            };
            match spec.to {
                Number::Int { bits, signed } => {
                    let (low, high) = range(bits, signed);
                    let value = if spec.saturate {
                        value.clamp(low, high)
                    } else {
                        value
                    };
                    value as u64 & mask_of(bits)
                }
                Number::Float(to) => {
                    let exact = Exact {
                        negative: value < 0,
                        mantissa: value.unsigned_abs(),
                        exponent: 0,
                    };
                    finish(spec, to, to.format().round(exact, spec.rounding))
                }
            }
        }
        Number::Float(from) => from_float(spec, from, raw),
    }
}

fn from_float(spec: &Spec, from: Float, raw: u64) -> u64 {
    if spec.to == Number::Float(Float::Tf32) && spec.rounding == Rounding::NearestAway {
        return away(spec, raw as u32).into();
    }
    let format = from.format();
    let raw = raw & mask_of(spec.from.bits());
    // Devices flush nothing on the way to f16.
    let raw = if spec.ftz && from == Float::F32 && spec.to != Number::Float(Float::F16) {
        u64::from(flush(f32::from_bits(raw as u32)).to_bits())
    } else {
        raw
    };
    match spec.to {
        Number::Int { bits, signed } => {
            let (low, high) = range(bits, signed);
            let value = match format.unpack(raw) {
                // What devices give: all zeros only of 32 bits or less from 32 bits or less.
                Unpacked::Nan if bits == 64 || from == Float::F64 => 1 << (bits - 1),
                Unpacked::Nan => 0,
                Unpacked::Infinity { negative: true } => low,
                Unpacked::Infinity { negative: false } => high,
                Unpacked::Finite(value) => integer(value, spec.rounding).clamp(low, high),
            };
            value as u64 & mask_of(bits)
        }
        Number::Float(to) => {
            let target = to.format();
            let bits = match format.unpack(raw) {
                Unpacked::Nan => nan(spec, from, to, raw),
                Unpacked::Finite(value) if spec.integral => {
                    let whole = integral(value, spec.rounding);
                    target.round(whole, Rounding::Nearest)
                }
                _ => format.convert(raw, target, spec.rounding),
            };
            finish(spec, to, bits)
        }
    }
}

/// A NaN's bits of another format: its sign and the bits that fit, made quiet.
fn narrowed_nan(raw: u64, to: Format) -> u64 {
    let sign = raw >> 63 << (to.exponent + to.mantissa);
    let payload = (raw & ((1 << 52) - 1)) >> (52 - to.mantissa);
    sign | to.infinity() | 1 << (to.mantissa - 1) | payload
}

/// What devices make of a NaN. Those of 64 bits keep what fits of it, those of 32 bits do where a move is enough.
fn nan(spec: &Spec, from: Float, to: Float, raw: u64) -> u64 {
    let (source, target) = (from.format(), to.format());
    match (from, to) {
        (Float::F64, Float::F64) if !spec.integral => raw,
        (Float::F64, _) => narrowed_nan(raw, target),
        (Float::F16 | Float::Bf16, Float::F64) => {
            let sign = u64::from(raw & source.sign() != 0) << 63;
            let payload = (raw & ((1 << source.mantissa) - 1)) << (52 - source.mantissa);
            sign | target.infinity() | 1 << 51 | payload
        }
        (Float::F32, Float::F32) if !spec.integral && !spec.ftz => raw,
        _ => target.nan(),
    }
}

/// What is done to a floating-point result.
fn finish(spec: &Spec, to: Float, bits: u64) -> u64 {
    let format = to.format();
    let nan = format.is_nan(bits);
    let negative = bits & format.sign() != 0;
    let mut bits = bits;
    if spec.relu && negative && !nan {
        bits = 0;
    }
    if spec.finite && bits & !format.sign() == format.infinity() {
        bits -= 1;
    }
    if spec.saturate {
        let one = (format.infinity() >> 1) & format.infinity();
        bits = match bits {
            _ if nan || negative => 0,
            bits => bits.min(one),
        };
        if to == Float::F32 {
            bits = saturated(bits as u32).into();
        }
    }
    match to {
        Float::F32 if spec.ftz => flush(f32::from_bits(bits as u32)).to_bits().into(),
        // Stored as an f32 whose low bits are zero.
        Float::Tf32 => bits << 13,
        _ => bits,
    }
}

const fn mask_of(bits: u8) -> u64 {
    u64::MAX >> (64 - bits as u32)
}

const fn range(bits: u8, signed: bool) -> (i128, i128) {
    if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// The magnitude rounded to an integer, and whether it fits 127 bits.
fn magnitude(value: Exact, rounding: Rounding) -> Option<u128> {
    if value.exponent >= 0 {
        // A mantissa has 53 bits at most.
        return (value.exponent < 70).then(|| value.mantissa << value.exponent);
    }
    let (kept, rest) = cut(value.mantissa, value.exponent.unsigned_abs());
    let up = match rounding {
        Rounding::Nearest => rest == Rest::More || rest == Rest::Half && kept & 1 != 0,
        Rounding::NearestAway => matches!(rest, Rest::Half | Rest::More),
        Rounding::Zero => false,
        Rounding::Down => value.negative && rest != Rest::None,
        Rounding::Up => !value.negative && rest != Rest::None,
    };
    Some(kept + u128::from(up))
}

fn integer(value: Exact, rounding: Rounding) -> i128 {
    let magnitude = magnitude(value, rounding);
    let magnitude = magnitude.and_then(|magnitude| i128::try_from(magnitude).ok());
    let magnitude = magnitude.unwrap_or(i128::MAX);
    if value.negative {
        -magnitude
    } else {
        magnitude
    }
}

fn integral(value: Exact, rounding: Rounding) -> Exact {
    match magnitude(value, rounding) {
        Some(mantissa) => Exact {
            mantissa,
            exponent: 0,
            ..value
        },
        None => value,
    }
}
