//! Local memory: bytes that each thread has for itself.
//!
//! As on the device, a row holds the same word of all lanes, so that lanes at the same address lie together.

use crate::register::{ALL, LANES, Row32, lanes_of};

/// The local memory of a warp's threads.
#[derive(Debug, Default)]
pub(crate) struct Local {
    rows: Vec<Row32>,
}

impl Local {
    /// Makes room for `bytes` a thread.
    pub(crate) fn reserve(&mut self, bytes: u32) {
        let rows = bytes.div_ceil(4) as usize;
        if self.rows.len() < rows {
            self.rows.resize(rows, Row32([0; LANES]));
        }
    }

    /// Forgets everything; what is reserved next begins as zeros.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    fn word(&self, address: u64, lane: usize) -> u32 {
        self.rows
            .get((address / 4) as usize)
            .map_or(0, |row| row.0[lane])
    }

    fn set_word(&mut self, address: u64, lane: usize, value: u32, keep: u32) {
        if let Some(row) = self.rows.get_mut((address / 4) as usize) {
            row.0[lane] = row.0[lane] & keep | value;
        }
    }

    /// Loads an element of `bytes` from each lane's address, which is a multiple of it.
    pub(crate) fn load(&self, addresses: &[u64; LANES], bytes: u8, mask: u32) -> [u64; LANES] {
        let mut out = [0; LANES];
        let first = addresses[0];
        if mask == ALL && bytes >= 4 && addresses.iter().all(|address| *address == first) {
            let at = (first / 4) as usize;
            if let Some(low) = self.rows.get(at) {
                out = low.0.map(u64::from);
            }
            if bytes == 8
                && let Some(high) = self.rows.get(at + 1)
            {
                for lane in 0..LANES {
                    out[lane] |= u64::from(high.0[lane]) << 32;
                }
            }
            return out;
        }
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let low = self.word(address, lane);
            out[lane] = match bytes {
                8 => u64::from(self.word(address + 4, lane)) << 32 | u64::from(low),
                4 => low.into(),
                2 => u64::from(low >> (8 * (address & 2)) & 0xffff),
                _ => u64::from(low >> (8 * (address & 3)) & 0xff),
            };
        }
        out
    }

    /// Stores the low `bytes` of each value at its lane's address.
    pub(crate) fn store(
        &mut self,
        addresses: &[u64; LANES],
        bytes: u8,
        values: &[u64; LANES],
        mask: u32,
    ) {
        let first = addresses[0];
        if mask == ALL && bytes >= 4 && addresses.iter().all(|address| *address == first) {
            let at = (first / 4) as usize;
            if let Some(low) = self.rows.get_mut(at) {
                low.0 = values.map(|value| value as u32);
            }
            if bytes == 8
                && let Some(high) = self.rows.get_mut(at + 1)
            {
                high.0 = values.map(|value| (value >> 32) as u32);
            }
            return;
        }
        for lane in lanes_of(mask) {
            let (address, value) = (addresses[lane], values[lane]);
            match bytes {
                8 => {
                    self.set_word(address, lane, value as u32, 0);
                    self.set_word(address + 4, lane, (value >> 32) as u32, 0);
                }
                4 => self.set_word(address, lane, value as u32, 0),
                2 => {
                    let shift = 8 * (address & 2) as u32;
                    let value = (value as u32 & 0xffff) << shift;
                    self.set_word(address, lane, value, !(0xffff << shift));
                }
                _ => {
                    let shift = 8 * (address & 3) as u32;
                    let value = (value as u32 & 0xff) << shift;
                    self.set_word(address, lane, value, !(0xff << shift));
                }
            }
        }
    }

    /// Copies `bytes` from one place to another for the lanes in `mask`; both are multiples of 4.
    pub(crate) fn copy(&mut self, to: u32, from: u32, bytes: u32, mask: u32) {
        for row in 0..bytes.div_ceil(4) {
            let (from, to) = ((from / 4 + row) as usize, (to / 4 + row) as usize);
            let Some(source) = self.rows.get(from).copied() else {
                return;
            };
            if let Some(target) = self.rows.get_mut(to) {
                for lane in lanes_of(mask) {
                    target.0[lane] = source.0[lane];
                }
            }
        }
    }

    /// Reads bytes of one lane; what lies outside is zero.
    pub(crate) fn byte(&self, address: u64, lane: usize) -> u8 {
        (self.word(address, lane) >> (8 * (address & 3))) as u8
    }
}
