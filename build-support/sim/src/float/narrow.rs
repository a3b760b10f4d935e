//! Conversions between `f16`, `bf16` and `f32` that loops over rows can make wide.

/// The NaN of `f16` and `bf16` instructions.
pub(crate) const NAN16: u32 = 0x7fff;
/// The NaN of `f32` instructions.
pub(crate) const NAN32: u32 = 0x7fff_ffff;

/// `f16` as an `f32`, exactly; a NaN as the `f32` NaN.
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u32) -> f32 {
    let sign = (bits & 0x8000) << 16;
    let magnitude = bits & 0x7fff;
    // As if the exponent had the f32's width, then scaled by the difference of the biases.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
    let special = magnitude >= 0x7c00;
    let infinite = if magnitude > 0x7c00 {
        NAN32
    } else {
        0x7f80_0000
    };
    let magnitude = if special { infinite } else { scaled.to_bits() };
    // A NaN has no sign.
    let sign = if magnitude == NAN32 { 0 } else { sign };
    f32::from_bits(sign | magnitude)
}

/// `f32` rounded to the nearest `f16`, ties to even.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Normal: rebias, round by adding half of the last place less one and its parity.
    let normal = magnitude.wrapping_sub(112 << 23);
    let normal = normal.wrapping_add(0xfff + (normal >> 13 & 1)) >> 13;
    // Subnormal: adding a number whose last place is 2^-24 rounds to it.
    let magic = f32::from_bits((127 - 1) << 23);
    let subnormal = (f32::from_bits(magnitude) + magic)
        .to_bits()
        .wrapping_sub(magic.to_bits());
    let finite = if magnitude < 113 << 23 {
        subnormal
    } else {
        normal
    };
    // 65520 and above round to infinity.
    let rounded = if magnitude >= 0x477f_f000 {
        0x7c00
    } else {
        finite
    };
    if magnitude > 0x7f80_0000 {
        NAN16
    } else {
        sign | rounded
    }
}

/// `bf16` as an `f32`, exactly; a NaN as the `f32` NaN.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u32) -> f32 {
    let wide = bits << 16;
    f32::from_bits(if wide & 0x7fff_ffff > 0x7f80_0000 {
        NAN32
    } else {
        wide
    })
}

/// `f32` rounded to the nearest `bf16`, ties to even.
#[inline(always)]
pub(crate) fn f32_to_bf16(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        NAN16
    } else {
        rounded
    }
}

/// Subnormals as zeros of their sign.
#[inline(always)]
pub(crate) fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    if bits & 0x7f80_0000 == 0 {
        f32::from_bits(bits & 0x8000_0000)
    } else {
        value
    }
}

/// A result with every NaN as the one that instructions give.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> u32 {
    if value.is_nan() {
        NAN32
    } else {
        value.to_bits()
    }
}

/// Rounds to an `f32` such that rounding that once more, to fewer bits, is as rounding once: what is not exact
/// gets an odd last bit.
#[inline(always)]
pub(crate) fn odd_f32(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    let inexact = (back < value) | (back > value);
    // A number that overflowed was above the largest one, which is odd.
    let bits = if near.is_infinite() & value.is_finite() {
        bits - 1
    } else if inexact & (bits & 1 == 0) {
        // Towards the value: the magnitude grows or shrinks by one place.
        if (back.abs() < value.abs()) | (bits & 0x7fff_ffff == 0) {
            // From zero the first step keeps the value's sign.
            bits + 1
        } else {
            bits - 1
        }
    } else {
        bits
    };
    f32::from_bits(bits)
}

/// A sum rounded to odd, as [`odd_f32`] does.
#[inline(always)]
pub(crate) fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let of_b = sum - a;
    let error = (a - (sum - of_b)) + (b - of_b);
    let bits = sum.to_bits();
    let inexact = (error < 0.0) | (error > 0.0);
    let bits = if sum.is_finite() & inexact & (bits & 1 == 0) {
        if (error > 0.0) == (sum > 0.0) {
            bits + 1
        } else {
            bits - 1
        }
    } else {
        bits
    };
    f64::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `f16`, and what lies beside and between it and the next.
    #[test]
    fn f16_both_ways() {
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits);
            let found = f16_to_f32(bits.into());
            if expected.is_nan() {
                assert_eq!(found.to_bits(), NAN32);
                continue;
            }
            assert_eq!(found.to_bits(), expected.to_f32().to_bits(), "{bits:#x}");
            let wide = found.to_bits();
            let half_place = if bits & 0x7c00 == 0 {
                // Subnormals are 2^-24 apart.
                let middle = found.abs() + f32::from_bits((127 - 25) << 23);
                middle.to_bits() - (wide & 0x7fff_ffff)
            } else {
                1 << 12
            };
            for near in [0, 1, half_place - 1, half_place, half_place + 1] {
                for value in [wide.wrapping_add(near), wide.wrapping_sub(near)] {
                    let value = f32::from_bits(value);
                    let expected = half::f16::from_f32(value);
                    let expected = if expected.is_nan() {
                        NAN16
                    } else {
                        expected.to_bits().into()
                    };
                    assert_eq!(f32_to_f16(value), expected, "{value:e}");
                }
            }
        }
    }

    #[test]
    fn bf16_both_ways() {
        for bits in 0..=u16::MAX {
            let expected = half::bf16::from_bits(bits);
            let found = bf16_to_f32(bits.into());
            if expected.is_nan() {
                assert_eq!(found.to_bits(), NAN32);
                continue;
            }
            assert_eq!(found.to_bits(), expected.to_f32().to_bits());
            for near in [0, 1, 0x7fff, 0x8000, 0x8001] {
                let value = f32::from_bits(found.to_bits().wrapping_add(near));
                let expected = half::bf16::from_f32(value);
                let expected = if expected.is_nan() {
                    NAN16
                } else {
                    expected.to_bits().into()
                };
                assert_eq!(f32_to_bf16(value), expected, "{value:e}");
            }
        }
    }
}
