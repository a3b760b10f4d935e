//! Operations on bits of a format, correctly rounded. Each gives the format's own NaN for an invalid
//! operation or a NaN operand.

use super::exact::{Exact, Unpacked};
use super::{Format, Rounding};

impl Format {
    fn infinity_of(self, negative: bool) -> u64 {
        self.infinity() | if negative { self.sign() } else { 0 }
    }

    pub(crate) fn add(self, a: u64, b: u64, rounding: Rounding) -> u64 {
        match (self.unpack(a), self.unpack(b)) {
            (Unpacked::Nan, _) | (_, Unpacked::Nan) => self.nan(),
            (Unpacked::Infinity { negative: a }, Unpacked::Infinity { negative: b }) => {
                if a == b {
                    self.infinity_of(a)
                } else {
                    self.nan()
                }
            }
            (Unpacked::Infinity { negative }, _) | (_, Unpacked::Infinity { negative }) => {
                self.infinity_of(negative)
            }
            (Unpacked::Finite(a), Unpacked::Finite(b)) => self.round(a.add(b, rounding), rounding),
        }
    }

    pub(crate) fn sub(self, a: u64, b: u64, rounding: Rounding) -> u64 {
        self.add(a, b ^ self.sign(), rounding)
    }

    pub(crate) fn mul(self, a: u64, b: u64, rounding: Rounding) -> u64 {
        match self.product(a, b) {
            Unpacked::Nan => self.nan(),
            Unpacked::Infinity { negative } => self.infinity_of(negative),
            Unpacked::Finite(product) => self.round(product, rounding),
        }
    }

    fn product(self, a: u64, b: u64) -> Unpacked {
        match (self.unpack(a), self.unpack(b)) {
            (Unpacked::Nan, _) | (_, Unpacked::Nan) => Unpacked::Nan,
            (Unpacked::Infinity { negative: a }, Unpacked::Infinity { negative: b }) => {
                Unpacked::Infinity { negative: a ^ b }
            }
            (Unpacked::Infinity { negative }, Unpacked::Finite(finite))
            | (Unpacked::Finite(finite), Unpacked::Infinity { negative }) => {
                if finite.mantissa == 0 {
                    Unpacked::Nan
                } else {
                    Unpacked::Infinity {
                        negative: negative ^ finite.negative,
                    }
                }
            }
            (Unpacked::Finite(a), Unpacked::Finite(b)) => Unpacked::Finite(a.mul(b)),
        }
    }

    /// `a * b + c`, rounded once.
    pub(crate) fn fma(self, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
        match (self.product(a, b), self.unpack(c)) {
            (Unpacked::Nan, _) | (_, Unpacked::Nan) => self.nan(),
            (Unpacked::Infinity { negative: a }, Unpacked::Infinity { negative: b }) => {
                if a == b {
                    self.infinity_of(a)
                } else {
                    self.nan()
                }
            }
            (Unpacked::Infinity { negative }, _) | (_, Unpacked::Infinity { negative }) => {
                self.infinity_of(negative)
            }
            (Unpacked::Finite(product), Unpacked::Finite(c)) => {
                self.round(product.add(c, rounding), rounding)
            }
        }
    }

    pub(crate) fn div(self, a: u64, b: u64, rounding: Rounding) -> u64 {
        let negative = (a ^ b) & self.sign() != 0;
        match (self.unpack(a), self.unpack(b)) {
            (Unpacked::Nan, _)
            | (_, Unpacked::Nan)
            | (Unpacked::Infinity { .. }, Unpacked::Infinity { .. }) => self.nan(),
            (Unpacked::Infinity { .. }, _) => self.infinity_of(negative),
            (_, Unpacked::Infinity { .. }) => self.infinity_of(negative) & self.sign(),
            (Unpacked::Finite(a), Unpacked::Finite(b)) => match (a.mantissa, b.mantissa) {
                (0, 0) => self.nan(),
                (_, 0) => self.infinity_of(negative),
                (0, _) => self.infinity_of(negative) & self.sign(),
                _ => self.round(a.div(b), rounding),
            },
        }
    }

    pub(crate) fn sqrt(self, a: u64, rounding: Rounding) -> u64 {
        match self.unpack(a) {
            Unpacked::Infinity { negative: false } => a,
            Unpacked::Finite(Exact { mantissa: 0, .. }) => a,
            Unpacked::Finite(value) if !value.negative => self.round(value.sqrt(), rounding),
            _ => self.nan(),
        }
    }

    pub(crate) fn rcp(self, a: u64, rounding: Rounding) -> u64 {
        let one = (self.infinity() >> 1) & self.infinity();
        self.div(one, a, rounding)
    }

    /// The number of format `to` that `a` rounds to.
    pub(crate) fn convert(self, a: u64, to: Self, rounding: Rounding) -> u64 {
        match self.unpack(a) {
            Unpacked::Nan => to.nan(),
            Unpacked::Infinity { negative } => to.infinity_of(negative),
            Unpacked::Finite(value) => to.round(value, rounding),
        }
    }
}
