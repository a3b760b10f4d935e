//! Products of numbers of 8 bits (`e4m3`, `e5m2`), as code for compute capability 9.0 makes them of `mma`: the
//! factors become `f16`, exactly; a product with nothing added takes the two low numbers of each register, a
//! second one adds the two high ones; `c` is added last, rounded to nearest. (`wgmma` is another matter.)

use super::gather;
use super::multiply::Eight;
use super::sum::{self, COLUMNS, DEPTH, Factor, ROWS, Sum};
use crate::float::narrow::{canonical, f16_to_f32, f32_to_f16};
use crate::register::File;

/// As an `f16`, exactly.
#[inline(always)]
fn widen(bits: u32, from: Eight) -> u32 {
    match from {
        Eight::E5m2 => bits << 8,
        Eight::E4m3 => {
            let magnitude = bits & 0x7f;
            let sign = (bits & 0x80) << 8;
            // The bits of an `f32` whose exponent is 120 too low.
            let value = f32::from_bits(magnitude << 20) * f32::from_bits((127 + 120) << 23);
            if magnitude == 0x7f {
                0x7fff
            } else {
                sign | f32_to_f16(value)
            }
        }
    }
}

/// A product of 16 × 8, which is added to `c`.
#[inline(always)]
pub(super) fn multiply(
    file: &File<'_>,
    (a, b): (&[u32], &[u32]),
    (ea, eb): (Eight, Eight),
    c: &mut [[u32; COLUMNS]; ROWS],
    sum: Sum,
) {
    const ALL: usize = 2 * DEPTH;
    let rows = gather::rows::<8, ALL>(file, a, 2);
    let columns = gather::columns::<8, ALL>(file, b);
    let depth = 8 * b.len().min(2);
    let mut total = [[0; COLUMNS]; ROWS];
    for high in [0, 2] {
        let (mut x, mut y) = ([[0; DEPTH]; ROWS], [[0; COLUMNS]; DEPTH]);
        for k in 0..depth {
            let from = k / 2 * 4 + high + k % 2;
            for row in 0..ROWS {
                x[row][k] = widen(rows[row][from], ea);
            }
            for column in 0..COLUMNS {
                y[k][column] = widen(columns[from][column], eb);
            }
        }
        let formats = (Factor::F16, Factor::F16);
        sum::accumulate((&x, &y), formats, (ROWS, depth), &mut total, sum);
    }
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let (a, b) = (c[row][column], total[row][column]);
            c[row][column] = match sum {
                Sum::F32 => canonical(f32::from_bits(a) + f32::from_bits(b)),
                Sum::F16 => f32_to_f16(f16_to_f32(a) + f16_to_f32(b)),
            };
        }
    }
}
