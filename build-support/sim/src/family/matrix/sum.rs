//! Sums of products of small floating-point numbers, as the tensor cores of compute capability 9.0 make them.
//!
//! PTX leaves the rounding open (PTX ISA 9.7.15.5 "at least single precision"). What is done here was found by
//! comparing with recorded results of an H200, which it gives bit for bit (`tests/device/mma.txt`), and agrees with
//! Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021), and Khattak and
//! Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (2025):
//!
//! - Products are exact. They are not normalised: the exponent of a product is the sum of its factors' exponents,
//!   and a subnormal factor has the exponent of the smallest normal one.
//! - The products of an instruction, up to 16, and the accumulator are added at once. Each is cut off
//!   towards zero at 2^-25 of the largest exponent among them; the cut numbers add up exactly.
//! - The sum is cut off towards zero to an `f32`, or rounded to nearest to an `f16`.
//!
//! So sums of whole numbers are exact as long as they and their terms stay below 2^24. Devices of other
//! capabilities cut off elsewhere: results differ in the last bits from device to device.

use crate::float::narrow::{NAN16, NAN32, f16_to_f32, f32_to_f16, odd_f32};

/// Rows of a tile.
pub(super) const ROWS: usize = 16;
/// Columns of a tile.
pub(super) const COLUMNS: usize = 8;
/// Products that are added at once.
pub(super) const DEPTH: usize = 16;

/// Bits below the largest exponent that take part in a sum.
const KEPT: i32 = 25;
/// Stored bits of a factor's mantissa.
const FRACTION: i32 = 10;
/// The exponent of zero: below every other's.
const NONE: i32 = -1000;

/// A format of factors, none with more than 10 stored bits of mantissa.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    F16,
    Bf16,
    /// `f32` whose low 13 bits are not looked at.
    Tf32,
}

/// The format that is summed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    F16,
    F32,
}

/// Numbers taken apart: `mantissa × 2^(exponent - 10)`.
#[derive(Debug, Clone, Copy)]
struct Parts<const R: usize, const C: usize> {
    mantissa: [[i32; C]; R],
    exponent: [[i32; C]; R],
    /// Whether some number is an infinity or a NaN.
    special: bool,
}

#[inline(always)]
fn split<const R: usize, const C: usize>(
    bits: &[[u32; C]; R],
    rows: usize,
    factor: Factor,
) -> Parts<R, C> {
    match factor {
        Factor::F16 => split_as::<5, 10, R, C>(bits, rows, 0),
        Factor::Bf16 => split_as::<8, 7, R, C>(bits, rows, 0),
        Factor::Tf32 => split_as::<8, 10, R, C>(bits, rows, 13),
    }
}

#[inline(always)]
fn split_as<const E: u32, const M: u32, const R: usize, const C: usize>(
    bits: &[[u32; C]; R],
    rows: usize,
    skip: u32,
) -> Parts<R, C> {
    let mut parts = Parts {
        mantissa: [[0; C]; R],
        exponent: [[NONE; C]; R],
        special: false,
    };
    let bias = (1 << (E - 1)) - 1;
    let mut special = 0;
    for row in 0..rows.min(R) {
        for column in 0..C {
            let bits = bits[row][column] >> skip;
            let field = bits >> M & ((1 << E) - 1);
            let fraction = bits & ((1 << M) - 1);
            let hidden = u32::from(field != 0) << M;
            let magnitude = ((fraction | hidden) << (FRACTION as u32 - M)) as i32;
            let sign = -((bits >> (E + M) & 1) as i32);
            parts.mantissa[row][column] = (magnitude ^ sign) - sign;
            let exponent = (field.max(1)) as i32 - bias;
            parts.exponent[row][column] = if magnitude == 0 { NONE } else { exponent };
            special |= u32::from(field == (1 << E) - 1);
        }
    }
    parts.special = special != 0;
    parts
}

/// The accumulator of a row: mantissas as they are added before they are cut off.
#[inline(always)]
fn start(c: &[u32; COLUMNS], sum: Sum) -> ([i32; COLUMNS], [i32; COLUMNS], bool) {
    let (mut mantissa, mut exponent) = ([0; COLUMNS], [NONE; COLUMNS]);
    let mut special = 0;
    let (e, m) = match sum {
        Sum::F32 => (8, 23),
        Sum::F16 => (5, 10),
    };
    for column in 0..COLUMNS {
        let bits = c[column];
        let field = bits >> m & ((1 << e) - 1);
        let fraction = bits & ((1 << m) - 1);
        let hidden = u32::from(field != 0) << m;
        let magnitude = ((fraction | hidden) << (KEPT as u32 - m)) as i32;
        let sign = -((bits >> (e + m) & 1) as i32);
        mantissa[column] = (magnitude ^ sign) - sign;
        let bias = (1 << (e - 1)) - 1;
        exponent[column] = if magnitude == 0 {
            NONE
        } else {
            field.max(1) as i32 - bias
        };
        special |= u32::from(field == (1 << e) - 1);
    }
    (mantissa, exponent, special != 0)
}

/// Cuts a number off below 2^-25 of the largest exponent.
#[inline(always)]
fn cut(value: i32, by: i32) -> i32 {
    let sign = value >> 31;
    let magnitude = ((value ^ sign) - sign) as u32;
    let kept = (magnitude >> by.clamp(0, 31) as u32) as i32;
    (kept ^ sign) - sign
}

/// Adds the products of `depth` columns of `a` and rows of `b` to `c`, whose rows beyond `rows` stay as they are.
#[inline(always)]
pub(super) fn accumulate(
    (a, b): (&[[u32; DEPTH]; ROWS], &[[u32; COLUMNS]; DEPTH]),
    (fa, fb): (Factor, Factor),
    (rows, depth): (usize, usize),
    c: &mut [[u32; COLUMNS]; ROWS],
    sum: Sum,
) {
    let pa = split(a, rows, fa);
    let pb = split(b, depth, fb);
    for row in 0..rows.min(ROWS) {
        let (addend, exponent, special) = start(&c[row], sum);
        if special | pa.special | pb.special && with_special((a, b), (fa, fb), (row, depth), c, sum)
        {
            continue;
        }
        let mut top = exponent;
        for k in 0..depth.min(DEPTH) {
            for column in 0..COLUMNS {
                let exponent = pa.exponent[row][k] + pb.exponent[k][column];
                top[column] = top[column].max(exponent);
            }
        }
        // Eight products stay below 2^31, sixteen do not.
        let low = part(&pa, &pb, row, 0..depth.min(DEPTH / 2), &top);
        let high = part(&pa, &pb, row, DEPTH / 2..depth.min(DEPTH), &top);
        let mut total = [0.0_f64; COLUMNS];
        for column in 0..COLUMNS {
            let addend = cut(addend[column], top[column] - exponent[column]);
            let sum = f64::from(low[column]) + f64::from(high[column]) + f64::from(addend);
            // Whole numbers below 2^33 and a power of two: exact.
            let scale = (top[column].max(-600) - KEPT + 1023) as u64;
            total[column] = sum * f64::from_bits(scale << 52);
        }
        c[row] = match sum {
            Sum::F32 => truncated(&total),
            Sum::F16 => total.map(|total| f32_to_f16(odd_f32(total))),
        };
    }
}

/// Some products of a row, cut off.
#[inline(always)]
fn part(
    a: &Parts<ROWS, DEPTH>,
    b: &Parts<DEPTH, COLUMNS>,
    row: usize,
    columns: std::ops::Range<usize>,
    top: &[i32; COLUMNS],
) -> [i32; COLUMNS] {
    let mut part = [0_i32; COLUMNS];
    for k in columns {
        let (mantissa, exponent) = (a.mantissa[row][k], a.exponent[row][k]);
        for column in 0..COLUMNS {
            let product = mantissa * b.mantissa[k][column];
            let by = top[column] - (exponent + b.exponent[k][column]);
            part[column] += cut(product << (KEPT - 2 * FRACTION), by);
        }
    }
    part
}

/// The smallest normal `f32`.
const SMALLEST: f64 = 1.0 / (1_u128 << 126) as f64;

/// Cuts off towards zero; what is too large becomes infinity.
#[inline(always)]
fn truncated(total: &[f64; COLUMNS]) -> [u32; COLUMNS] {
    let mut out = [0; COLUMNS];
    let mut small = false;
    for column in 0..COLUMNS {
        // 52 - 23 bits of the mantissa go.
        let cut = f64::from_bits(total[column].to_bits() >> 29 << 29);
        out[column] = (cut as f32).to_bits();
        small |= (cut.abs() < SMALLEST) & (cut.abs() > 0.0);
    }
    if small {
        subnormal(total, &mut out);
    }
    out
}

/// Where the last place stays where it is.
#[cold]
fn subnormal(total: &[f64; COLUMNS], out: &mut [u32; COLUMNS]) {
    const PLACE: f64 = SMALLEST / (1_u64 << 23) as f64;
    for (total, out) in total.iter().zip(out) {
        if total.abs() < SMALLEST {
            *out = (((total / PLACE).trunc() * PLACE) as f32).to_bits();
        }
    }
}

fn value(bits: u32, factor: Factor) -> f32 {
    match factor {
        Factor::F16 => f16_to_f32(bits),
        Factor::Bf16 => f32::from_bits(bits << 16),
        Factor::Tf32 => f32::from_bits(bits & !0x1fff),
    }
}

/// A row in which infinities or NaNs may take part. Gives whether they did, in which case no column is left to do;
/// else nothing is done.
#[cold]
fn with_special(
    (a, b): (&[[u32; DEPTH]; ROWS], &[[u32; COLUMNS]; DEPTH]),
    (fa, fb): (Factor, Factor),
    (row, depth): (usize, usize),
    c: &mut [[u32; COLUMNS]; ROWS],
    sum: Sum,
) -> bool {
    let mut result = [None; COLUMNS];
    for column in 0..COLUMNS {
        let addend = match sum {
            Sum::F32 => f32::from_bits(c[row][column]),
            Sum::F16 => f16_to_f32(c[row][column]),
        };
        // What is finite changes nothing.
        let mut total = if addend.is_finite() { 0.0 } else { addend };
        let mut found = !addend.is_finite();
        for k in 0..depth.min(DEPTH) {
            let (a, b) = (value(a[row][k], fa), value(b[k][column], fb));
            if !a.is_finite() || !b.is_finite() {
                found = true;
                total += a * b;
            }
        }
        if found {
            result[column] = Some(match sum {
                Sum::F32 if total.is_nan() => NAN32,
                Sum::F16 if total.is_nan() => NAN16,
                Sum::F32 => total.to_bits(),
                Sum::F16 => f32_to_f16(total),
            });
        }
    }
    if result.iter().all(Option::is_none) {
        return false;
    }
    // The other columns of the row, without what is not finite.
    let mut rest = [[0; COLUMNS]; ROWS];
    let (mut finite_a, mut finite_b) = ([[0; DEPTH]; ROWS], [[0; COLUMNS]; DEPTH]);
    for column in 0..COLUMNS {
        if result[column].is_none() {
            rest[0][column] = c[row][column];
            for k in 0..depth.min(DEPTH) {
                finite_b[k][column] = b[k][column];
            }
        }
    }
    for k in 0..depth.min(DEPTH) {
        let used = (0..COLUMNS).any(|column| result[column].is_none());
        if used && value(a[row][k], fa).is_finite() {
            finite_a[0][k] = a[row][k];
        }
    }
    accumulate((&finite_a, &finite_b), (fa, fb), (1, depth), &mut rest, sum);
    for column in 0..COLUMNS {
        c[row][column] = result[column].unwrap_or(rest[0][column]);
    }
    true
}
