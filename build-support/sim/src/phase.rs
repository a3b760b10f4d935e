//! The `mbarrier` object (PTX ISA 9.7.13.15): what the 64 bits hold is the implementation's own affair.

/// Arrivals that can be counted.
pub(crate) const MOST: u32 = (1 << 20) - 1;

/// The state of an `mbarrier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phase {
    /// Arrivals of a phase; 0 where no `mbarrier` is.
    pub(crate) expected: u32,
    /// Arrivals that are left of this one.
    pub(crate) pending: u32,
    /// Bytes that are to come; fewer than none if they came before they were expected.
    pub(crate) bytes: i32,
    /// Its number, modulo 8.
    pub(crate) number: u32,
}

/// What cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// More arrivals than are left.
    Arrivals { count: u32, pending: u32 },
    /// Too many bytes to count.
    Bytes(i64),
}

impl Phase {
    pub(crate) const fn new(expected: u32) -> Self {
        Self {
            expected,
            pending: expected,
            bytes: 0,
            number: 0,
        }
    }

    pub(crate) const fn of_bits(bits: u64) -> Self {
        Self {
            expected: bits as u32 & MOST,
            pending: (bits >> 20) as u32 & MOST,
            // 21 bits with a sign.
            bytes: ((bits >> 40) as u32 as i32) << 11 >> 11,
            number: (bits >> 61) as u32,
        }
    }

    pub(crate) const fn bits(self) -> u64 {
        self.expected as u64
            | (self.pending as u64) << 20
            | (self.bytes as u64 & ((1 << 21) - 1)) << 40
            | (self.number as u64) << 61
    }

    /// More bytes are to come, or fewer.
    pub(crate) const fn expect(&mut self, bytes: i64) -> Result<(), Misuse> {
        let sum = self.bytes as i64 + bytes;
        if sum.unsigned_abs() > MOST as u64 {
            return Err(Misuse::Bytes(sum));
        }
        self.bytes = sum as i32;
        Ok(())
    }

    pub(crate) const fn arrive(&mut self, count: u32) -> Result<(), Misuse> {
        if count > self.pending {
            return Err(Misuse::Arrivals {
                count,
                pending: self.pending,
            });
        }
        self.pending -= count;
        Ok(())
    }

    /// Begins the next phase if this one is complete. Whether it is.
    pub(crate) const fn turn(&mut self) -> bool {
        let complete = self.pending == 0 && self.bytes == 0;
        if complete {
            self.pending = self.expected;
            self.number = (self.number + 1) % 8;
        }
        complete
    }
}
