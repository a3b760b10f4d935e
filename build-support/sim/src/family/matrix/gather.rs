//! Which lane holds which element (PTX ISA 9.7.15.5, the figures of `mma.m16n8k16` and its like).
//!
//! They all follow one rule. Lane `4 g + t` holds of a matrix of 16 rows the elements of rows `g` and `g + 8`, a
//! register for each in turn; along the other dimension, registers hold neighbours that begin at `t` times what a
//! register holds, and the next pair of registers goes on where four lanes' registers end. A matrix of 8 rows
//! has row `g` alone. `b` is held as `a` is, with its columns for rows. Of the sum, lane `4 g + t` has columns `2 t`
//! and `2 t + 1` of rows `g` and `g + 8`.

use super::sum::{COLUMNS, ROWS};
use crate::register::{Dst, File, LANES, Src, Word};

/// Rows of a matrix, `BITS` of a register each element. `halves` is 2 for 16 rows and 1 for 8.
#[inline(always)]
pub(super) fn rows<const BITS: u32, const DEPTH: usize>(
    file: &File<'_>,
    registers: &[u32],
    halves: usize,
) -> [[u32; DEPTH]; ROWS] {
    let mut out = [[0; DEPTH]; ROWS];
    let per = (32 / BITS) as usize;
    let mask = u32::MAX >> (32 - BITS);
    for (at, register) in registers.iter().enumerate() {
        let row: &[u32; LANES] = Word::row(file, Src(*register));
        let (half, chunk) = (at % halves, at / halves);
        let first = chunk * 4 * per;
        if first + 4 * per > DEPTH || half > 1 {
            break;
        }
        for g in 0..8 {
            for t in 0..4 {
                let value = row[4 * g + t];
                for part in 0..per {
                    let bits = value >> (BITS * part as u32) & mask;
                    out[g + 8 * half][first + t * per + part] = bits;
                }
            }
        }
    }
    out
}

/// Columns of a matrix, with the dimension that is summed over first.
#[inline(always)]
pub(super) fn columns<const BITS: u32, const DEPTH: usize>(
    file: &File<'_>,
    registers: &[u32],
) -> [[u32; COLUMNS]; DEPTH] {
    let mut out = [[0; COLUMNS]; DEPTH];
    let per = (32 / BITS) as usize;
    let mask = u32::MAX >> (32 - BITS);
    for (chunk, register) in registers.iter().enumerate() {
        let row: &[u32; LANES] = Word::row(file, Src(*register));
        let first = chunk * 4 * per;
        if first + 4 * per > DEPTH {
            break;
        }
        for g in 0..8 {
            for t in 0..4 {
                let value = row[4 * g + t];
                for part in 0..per {
                    out[first + t * per + part][g] = value >> (BITS * part as u32) & mask;
                }
            }
        }
    }
    out
}

/// The sums that registers of 32 bits hold, two registers for each 8 rows.
#[inline(always)]
pub(super) fn sums(file: &File<'_>, registers: &[u32]) -> [[u32; COLUMNS]; ROWS] {
    let mut out = [[0; COLUMNS]; ROWS];
    for (at, register) in registers.iter().enumerate().take(4) {
        let row: &[u32; LANES] = Word::row(file, Src(*register));
        for lane in 0..LANES {
            out[lane / 4 + at / 2 * 8][lane % 4 * 2 + at % 2] = row[lane];
        }
    }
    out
}

/// Writes what [`sums`] reads.
#[inline(always)]
pub(super) fn put_sums(file: &mut File<'_>, registers: &[u32], sums: &[[u32; COLUMNS]; ROWS]) {
    for (at, register) in registers.iter().enumerate().take(4) {
        let row: &mut [u32; LANES] = Word::row_mut(file, Dst(*register));
        for lane in 0..LANES {
            row[lane] = sums[lane / 4 + at / 2 * 8][lane % 4 * 2 + at % 2];
        }
    }
}

/// The sums that registers hold in halves, a register for each 8 rows.
#[inline(always)]
pub(super) fn half_sums(file: &File<'_>, registers: &[u32]) -> [[u32; COLUMNS]; ROWS] {
    let mut out = [[0; COLUMNS]; ROWS];
    for (at, register) in registers.iter().enumerate().take(2) {
        let row: &[u32; LANES] = Word::row(file, Src(*register));
        for lane in 0..LANES {
            let pair = &mut out[lane / 4 + at * 8];
            pair[lane % 4 * 2] = row[lane] & 0xffff;
            pair[lane % 4 * 2 + 1] = row[lane] >> 16;
        }
    }
    out
}

/// Writes what [`half_sums`] reads.
#[inline(always)]
pub(super) fn put_half_sums(file: &mut File<'_>, registers: &[u32], sums: &[[u32; COLUMNS]; ROWS]) {
    for (at, register) in registers.iter().enumerate().take(2) {
        let row: &mut [u32; LANES] = Word::row_mut(file, Dst(*register));
        for lane in 0..LANES {
            let pair = &sums[lane / 4 + at * 8];
            row[lane] = pair[lane % 4 * 2] | pair[lane % 4 * 2 + 1] << 16;
        }
    }
}
