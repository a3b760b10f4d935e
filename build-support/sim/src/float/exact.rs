//! Numbers with more bits than any format, and rounding them to one.

use super::{Format, Rounding};

/// `±mantissa × 2^exponent`. The lowest bit of the mantissa also stands for everything below it that was
/// cut off, which rounding must know of and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    pub(crate) mantissa: u128,
    pub(crate) exponent: i32,
}

/// A number of a format, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpacked {
    Nan,
    Infinity {
        negative: bool,
    },
    /// Zero too.
    Finite(Exact),
}

impl Format {
    pub(crate) fn unpack(self, bits: u64) -> Unpacked {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        if self.is_nan(bits) {
            return Unpacked::Nan;
        }
        if magnitude == self.infinity() {
            return Unpacked::Infinity { negative };
        }
        Unpacked::Finite(Exact {
            negative,
            ..self.finite(magnitude)
        })
    }

    /// The positive number of that magnitude, as if every exponent were a number's.
    pub(crate) const fn finite(self, magnitude: u64) -> Exact {
        let field = (magnitude >> self.mantissa) as i32;
        let fraction = magnitude & ((1 << self.mantissa) - 1);
        let hidden = if field == 0 { 0 } else { 1 << self.mantissa };
        let field = if field == 0 { 1 } else { field };
        Exact {
            negative: false,
            mantissa: (fraction | hidden) as u128,
            exponent: field - self.bias() - self.mantissa as i32,
        }
    }

    /// The number of this format that `value` rounds to. What is too large becomes infinity or, where the
    /// rounding is towards zero, the largest finite number.
    pub(crate) fn round(self, value: Exact, rounding: Rounding) -> u64 {
        let sign = if value.negative { self.sign() } else { 0 };
        let bits = self.magnitude(value, rounding);
        if bits >= u128::from(self.infinity()) {
            let towards_zero = match rounding {
                Rounding::Nearest | Rounding::NearestAway => false,
                Rounding::Zero => true,
                Rounding::Down => !value.negative,
                Rounding::Up => value.negative,
            };
            let largest = self.infinity() - u64::from(towards_zero);
            return sign | largest;
        }
        sign | bits as u64
    }

    /// The bits without the sign, as if the exponents went on for ever.
    pub(crate) fn magnitude(self, value: Exact, rounding: Rounding) -> u128 {
        if value.mantissa == 0 {
            return 0;
        }
        let top = 127 - value.mantissa.leading_zeros() as i32;
        let lowest = 1 - self.bias();
        let unit = (value.exponent + top).max(lowest) - self.mantissa as i32;
        let shift = unit - value.exponent;
        let (kept, rest) = if shift <= 0 {
            (value.mantissa << -shift, Rest::None)
        } else {
            cut(value.mantissa, shift.unsigned_abs())
        };
        let up = match rounding {
            Rounding::Nearest => rest == Rest::More || rest == Rest::Half && kept & 1 != 0,
            Rounding::NearestAway => matches!(rest, Rest::Half | Rest::More),
            Rounding::Zero => false,
            Rounding::Down => value.negative && rest != Rest::None,
            Rounding::Up => !value.negative && rest != Rest::None,
        };
        let kept = kept as u64 + u64::from(up);
        let field = unit - (lowest - self.mantissa as i32);
        // The hidden bit of a normal number adds one to the exponent's field.
        let bits = u128::from(field.unsigned_abs()) << self.mantissa;
        bits + u128::from(kept)
    }
}

/// What was cut off, in units of the last place kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    None,
    Less,
    Half,
    More,
}

/// Cuts off the low `by` bits.
pub(crate) fn cut(mantissa: u128, by: u32) -> (u128, Rest) {
    if by == 0 {
        return (mantissa, Rest::None);
    }
    if by > 128 {
        let rest = if mantissa == 0 {
            Rest::None
        } else {
            Rest::Less
        };
        return (0, rest);
    }
    let kept = if by == 128 { 0 } else { mantissa >> by };
    let half = 1_u128 << (by - 1);
    let rest = mantissa & (half | (half - 1));
    let rest = match rest {
        0 => Rest::None,
        rest if rest < half => Rest::Less,
        rest if rest == half => Rest::Half,
        _ => Rest::More,
    };
    (kept, rest)
}

impl Exact {
    /// The same number with its highest bit at `top`; the mantissa must not be zero.
    fn with_top(self, top: u32) -> Self {
        let now = 127 - self.mantissa.leading_zeros();
        if now <= top {
            Self {
                mantissa: self.mantissa << (top - now),
                exponent: self.exponent - (top - now) as i32,
                ..self
            }
        } else {
            self.shifted(now - top)
        }
    }

    /// Shifted right; the lowest bit tells of what is lost.
    fn shifted(self, by: u32) -> Self {
        let (kept, rest) = cut(self.mantissa, by);
        Self {
            mantissa: kept | u128::from(rest != Rest::None),
            exponent: self.exponent.saturating_add_unsigned(by),
            ..self
        }
    }

    /// The sum; a zero sum is positive unless both are negative or `rounding` is down.
    pub(crate) fn add(self, other: Self, rounding: Rounding) -> Self {
        let zero = |negative| Self {
            negative,
            mantissa: 0,
            exponent: 0,
        };
        let cancelled = rounding == Rounding::Down;
        match (self.mantissa, other.mantissa) {
            (0, 0) if self.negative == other.negative => return zero(self.negative),
            (0, 0) => return zero(cancelled),
            (0, _) => return other,
            (_, 0) => return self,
            _ => {}
        }
        const TOP: u32 = 125;
        let (a, b) = (self.with_top(TOP), other.with_top(TOP));
        let (large, small) = if a.exponent >= b.exponent {
            (a, b)
        } else {
            (b, a)
        };
        let small = small.shifted(large.exponent.abs_diff(small.exponent));
        if large.negative == small.negative {
            return Self {
                mantissa: large.mantissa + small.mantissa,
                ..large
            };
        }
        if large.mantissa == small.mantissa {
            return zero(cancelled);
        }
        Self {
            negative: large.negative ^ (small.mantissa > large.mantissa),
            mantissa: large.mantissa.abs_diff(small.mantissa),
            exponent: large.exponent,
        }
    }

    /// The product; the mantissas must have 64 bits or fewer.
    pub(crate) const fn mul(self, other: Self) -> Self {
        Self {
            negative: self.negative ^ other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The quotient; neither mantissa is zero, and both have 53 bits or fewer.
    pub(crate) fn div(self, other: Self) -> Self {
        let dividend = self.with_top(126);
        let (quotient, rest) = (
            dividend.mantissa / other.mantissa,
            dividend.mantissa % other.mantissa,
        );
        Self {
            negative: self.negative ^ other.negative,
            mantissa: quotient | u128::from(rest != 0),
            exponent: dividend.exponent - other.exponent,
        }
    }

    /// The square root of a positive number.
    pub(crate) fn sqrt(self) -> Self {
        let mut value = self.with_top(126);
        if value.exponent % 2 != 0 {
            value.mantissa >>= 1;
            value.exponent += 1;
        }
        let root = value.mantissa.isqrt();
        Self {
            negative: false,
            mantissa: root | u128::from(root * root != value.mantissa),
            exponent: value.exponent / 2,
        }
    }
}
