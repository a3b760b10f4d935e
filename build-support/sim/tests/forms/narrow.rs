//! Rounding to 16 bits by looking for the closest number. (The `half` crate's `from_f64` looks at 32 bits of its
//! operand alone.)

/// A format of 16 bits.
#[derive(Clone, Copy)]
pub(crate) struct Narrow {
    pub(crate) infinity: u16,
    /// What infinity would be if the exponents went on.
    pub(crate) beyond: f64,
    pub(crate) wide: fn(u16) -> f64,
}

pub(crate) const F16: Narrow = Narrow {
    infinity: 0x7c00,
    beyond: 65536.0,
    wide: |bits| half::f16::from_bits(bits).to_f64(),
};

pub(crate) const BF16: Narrow = Narrow {
    infinity: 0x7f80,
    beyond: f64::from_bits((1023 + 128) << 52), // 2^128
    wide: |bits| half::bf16::from_bits(bits).to_f64(),
};

impl Narrow {
    fn value(self, magnitude: u16) -> f64 {
        if magnitude == self.infinity {
            self.beyond
        } else {
            (self.wide)(magnitude)
        }
    }

    /// The largest magnitude that is not above `value`.
    pub(crate) fn below(self, value: f64) -> u16 {
        let value = value.abs();
        let (mut low, mut high) = (0, self.infinity);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.value(middle) <= value {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// The closest number, of two equally close ones the even.
    pub(crate) fn nearest(self, value: f64) -> u16 {
        if value.is_nan() {
            return 0x7fff;
        }
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let below = self.below(value);
        if below == self.infinity {
            return sign | below;
        }
        // Numbers that close have an exact difference.
        let down = value.abs() - self.value(below);
        let up = self.value(below + 1) - value.abs();
        let rounds_up = up < down || up == down && below & 1 == 1;
        sign | (below + u16::from(rounds_up))
    }
}
