//! Products of `f64`: a chain of fused multiply-adds in the order of the columns, each rounded to nearest. So an H200
//! has it, bit for bit.

use super::sum::{COLUMNS, ROWS};
use crate::family::double::result;
use crate::register::{Dst, File, LANES, Src, Word};

/// `d = a × b + c`; two registers of `c` and `d` for each 8 rows.
#[inline(always)]
pub(super) fn multiply(
    file: &mut File<'_>,
    (a, b, c, d): (&[u32], &[u32], &[u32], &[u32]),
    halves: usize,
) {
    const DEPTH: usize = 16;
    let mut rows = [[0.0; DEPTH]; ROWS];
    let mut columns = [[0.0; COLUMNS]; DEPTH];
    for (at, register) in a.iter().enumerate().take(4 * halves) {
        let row: &[u64; LANES] = Word::row(file, Src(*register));
        for lane in 0..LANES {
            let column = at / halves * 4 + lane % 4;
            rows[lane / 4 + at % halves * 8][column] = f64::from_bits(row[lane]);
        }
    }
    for (at, register) in b.iter().enumerate().take(4) {
        let row: &[u64; LANES] = Word::row(file, Src(*register));
        for lane in 0..LANES {
            columns[at * 4 + lane % 4][lane / 4] = f64::from_bits(row[lane]);
        }
    }
    let mut sums = [[0.0; COLUMNS]; ROWS];
    for (at, register) in c.iter().enumerate().take(4) {
        let row: &[u64; LANES] = Word::row(file, Src(*register));
        for lane in 0..LANES {
            sums[lane / 4 + at / 2 * 8][lane % 4 * 2 + at % 2] = f64::from_bits(row[lane]);
        }
    }
    for row in 0..8 * halves {
        for k in 0..4 * b.len().min(4) {
            for column in 0..COLUMNS {
                let sum = &mut sums[row][column];
                *sum = fma(rows[row][k], columns[k][column], *sum);
            }
        }
    }
    for (at, register) in d.iter().enumerate().take(4) {
        let row: &mut [u64; LANES] = Word::row_mut(file, Dst(*register));
        for lane in 0..LANES {
            let sum = sums[lane / 4 + at / 2 * 8][lane % 4 * 2 + at % 2];
            row[lane] = sum.to_bits();
        }
    }
}

#[inline(always)]
fn fma(a: f64, b: f64, c: f64) -> f64 {
    f64::from_bits(result(a.mul_add(b, c), &[b, c, a]))
}
