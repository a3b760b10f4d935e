//! Products of whole numbers and of bits: exact, and wrapping unless they are to be held in range.

use super::gather;
use super::multiply::Whole;
use super::sum::{COLUMNS, ROWS};
use crate::register::File;

/// Whole numbers of `BITS` bits.
#[inline(always)]
pub(super) fn whole<const BITS: u32, const DEPTH: usize>(
    file: &File<'_>,
    (a, b): (&[u32], &[u32]),
    (signed_a, signed_b): (bool, bool),
    halves: usize,
    c: &mut [[u32; COLUMNS]; ROWS],
    saturate: bool,
) {
    let rows = gather::rows::<BITS, DEPTH>(file, a, halves);
    let columns = gather::columns::<BITS, DEPTH>(file, b);
    let widen = |bits: u32, signed: bool| {
        let wide = (bits << (32 - BITS)).cast_signed() >> (32 - BITS);
        if signed { wide } else { bits.cast_signed() }
    };
    let mut factors = [[0; COLUMNS]; DEPTH];
    for k in 0..DEPTH {
        for column in 0..COLUMNS {
            factors[k][column] = widen(columns[k][column], signed_b);
        }
    }
    for row in 0..8 * halves {
        // 64 products of 15 bits: far from overflow.
        let mut total = [0_i32; COLUMNS];
        for k in 0..DEPTH {
            let a = widen(rows[row][k], signed_a);
            for column in 0..COLUMNS {
                total[column] += a * factors[k][column];
            }
        }
        for column in 0..COLUMNS {
            let addend = c[row][column].cast_signed();
            let sum = if saturate {
                addend.saturating_add(total[column])
            } else {
                addend.wrapping_add(total[column])
            };
            c[row][column] = sum.cast_unsigned();
        }
    }
}

/// The product of whole numbers of some width.
#[inline(always)]
pub(super) fn multiply(
    file: &File<'_>,
    (a, b): (&[u32], &[u32]),
    (wa, wb): (Whole, Whole),
    halves: usize,
    c: &mut [[u32; COLUMNS]; ROWS],
    saturate: bool,
) {
    let signed = (wa.signed, wb.signed);
    match (wa.bits, b.len()) {
        (8, 1) => whole::<8, 16>(file, (a, b), signed, halves, c, saturate),
        (8, _) => whole::<8, 32>(file, (a, b), signed, halves, c, saturate),
        (_, 1) => whole::<4, 32>(file, (a, b), signed, halves, c, saturate),
        _ => whole::<4, 64>(file, (a, b), signed, halves, c, saturate),
    }
}

/// Counts the bits that both factors have, or that one of them has.
#[inline(always)]
pub(super) fn bits(
    file: &File<'_>,
    (a, b): (&[u32], &[u32]),
    and: bool,
    halves: usize,
    c: &mut [[u32; COLUMNS]; ROWS],
) {
    let rows = gather::rows::<32, 8>(file, a, halves);
    let columns = gather::columns::<32, 8>(file, b);
    for row in 0..8 * halves {
        for column in 0..COLUMNS {
            let count = (0..4 * b.len().min(2)).map(|k| {
                let (a, b) = (rows[row][k], columns[k][column]);
                (if and { a & b } else { a ^ b }).count_ones()
            });
            c[row][column] = c[row][column].wrapping_add(count.sum());
        }
    }
}
