//! Elementary functions of `f32`, in double precision by polynomials: the same on every machine, and exact but
//! for rounding to `f32` (their own error is below 2^-45 of the result where that is not tiny).

/// 2^x.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    // Beyond these the result is zero or infinite; a NaN stays one.
    let wide = f64::from(x).clamp(-200.0, 200.0);
    let whole = (wide + ROUND) - ROUND;
    (exp((wide - whole) * std::f64::consts::LN_2) * power(whole)) as f32
}

/// Adding and subtracting it rounds to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// 2^n of a small integer.
#[inline(always)]
fn power(n: f64) -> f64 {
    // The sum's low bits are the integer.
    let n = (n + ROUND).to_bits();
    f64::from_bits(n.wrapping_add(1023) << 52)
}

/// e^x for |x| up to ln(2)/2.
#[inline(always)]
fn exp(x: f64) -> f64 {
    const C: [f64; 12] = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
        1.0 / 40320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
    ];
    C.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// log2(x).
#[inline(always)]
pub(crate) fn log2(x: f32) -> f32 {
    let wide = f64::from(x);
    let bits = wide.to_bits();
    // The mantissa between sqrt(1/2) and sqrt(2).
    let shifted = bits.wrapping_add(0x3ff0_0000_0000_0000 - SQRT_HALF);
    let exponent = (shifted >> 52) as i64 - 1023;
    let mantissa = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(SQRT_HALF));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    const C: [f64; 10] = [
        1.0,
        1.0 / 3.0,
        1.0 / 5.0,
        1.0 / 7.0,
        1.0 / 9.0,
        1.0 / 11.0,
        1.0 / 13.0,
        1.0 / 15.0,
        1.0 / 17.0,
        1.0 / 19.0,
    ];
    let series = C.iter().rev().fold(0.0, |sum, c| sum * square + c);
    let value = exponent as f64 + 2.0 * s * series * std::f64::consts::LOG2_E;
    let value = value as f32;
    if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 {
        f32::NAN
    } else if x == f32::INFINITY || x.is_nan() {
        x
    } else {
        value
    }
}

/// Bits of sqrt(1/2).
const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// tanh(x).
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let wide = f64::from(x);
    let magnitude = wide.abs().min(20.0);
    // tanh = (e - 1) / (e + 1) with e = e^2x; of small arguments the series.
    let scaled = 2.0 * magnitude * std::f64::consts::LOG2_E;
    let whole = (scaled + ROUND) - ROUND;
    let e = exp((scaled - whole) * std::f64::consts::LN_2) * power(whole);
    let square = wide * wide;
    let small =
        wide * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0 - square * (17.0 / 315.0))));
    let large = ((e - 1.0) / (e + 1.0)).copysign(wide);
    let value = if magnitude < 0.02 { small } else { large };
    if x.is_nan() { x } else { value as f32 }
}

/// A float times `1 / (2 pi)`, a float too, rounded towards zero: what a device does first, so that angles of many
/// turns are off by what this loses.
#[inline(always)]
fn turns(x: f32) -> f64 {
    const PER_TURN: f32 = 0.159_154_94;
    // Exact in double precision; then the bits that a float does not have are cut off.
    let exact = f64::from(x) * f64::from(PER_TURN);
    f64::from_bits(exact.to_bits() & !0x1fff_ffff)
}

#[inline(always)]
fn sine_of(rest: f64) -> f64 {
    const C: [f64; 8] = [
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
    ];
    let square = rest * rest;
    rest * C.iter().rev().fold(0.0, |sum, c| sum * square + c)
}

#[inline(always)]
fn cosine_of(rest: f64) -> f64 {
    const C: [f64; 9] = [
        1.0,
        -1.0 / 2.0,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
    ];
    let square = rest * rest;
    C.iter().rev().fold(0.0, |sum, c| sum * square + c)
}

#[inline(always)]
fn turned(x: f32, quarter: i64) -> f32 {
    let quarters = (turns(x) % 1.0) * 4.0;
    let whole = (quarters + ROUND) - ROUND;
    let rest = (quarters - whole) * std::f64::consts::FRAC_PI_2;
    let turns = whole as i64 + quarter;
    let value = if turns & 1 == 0 {
        sine_of(rest)
    } else {
        cosine_of(rest)
    };
    let value = if turns & 2 == 0 { value } else { -value };
    if x.is_finite() {
        value as f32
    } else {
        f32::NAN
    }
}

/// sin(x).
#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    // Zeros keep their sign.
    if x == 0.0 { x } else { turned(x, 0) }
}

/// cos(x).
#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    turned(x, 1)
}
