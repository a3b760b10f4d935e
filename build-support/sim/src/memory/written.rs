//! Which bytes were written since memory was taken: one bit each.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Bits of a word.
const WORD: u64 = u64::BITS as u64;

/// A bit for each byte, set by whoever writes it first. All threads may set and ask at once.
#[derive(Debug)]
pub struct Written {
    words: Box<[AtomicU64]>,
    /// Bytes that nobody has written.
    left: AtomicUsize,
}

impl Written {
    /// Nothing is written yet.
    pub(crate) fn new(bytes: usize) -> Self {
        let words = (0..bytes.div_ceil(WORD as usize)).map(|_| AtomicU64::new(0));
        Self {
            words: words.collect(),
            left: AtomicUsize::new(bytes),
        }
    }

    /// Whether every byte is.
    #[inline(always)]
    pub(crate) fn is_complete(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// The words that the bytes lie in, and their bits there.
    fn parts(at: u64, bytes: u64) -> impl Iterator<Item = (usize, u64)> {
        let end = at + bytes;
        (at / WORD..end.div_ceil(WORD)).map(move |word| {
            let from = at.max(word * WORD) - word * WORD;
            let to = end.min((word + 1) * WORD) - word * WORD;
            let low = u64::MAX >> (WORD - (to - from));
            (word as usize, low << from)
        })
    }

    /// Bytes are written.
    #[inline]
    pub(crate) fn set(&self, at: u64, bytes: u64) {
        if bytes == 0 || self.is_complete() {
            return;
        }
        for (word, bits) in Self::parts(at, bytes) {
            self.set_bits(word, bits);
        }
    }

    #[inline]
    fn set_bits(&self, word: usize, bits: u64) {
        let Some(word) = self.words.get(word) else {
            return;
        };
        if word.load(Ordering::Relaxed) & bits == bits {
            return;
        }
        let before = word.fetch_or(bits, Ordering::Relaxed);
        let new = (bits & !before).count_ones() as usize;
        self.left.fetch_sub(new, Ordering::Relaxed);
    }

    /// The first byte of the range that nobody has written, and how many of the range are not.
    #[inline]
    pub(crate) fn missing(&self, at: u64, bytes: u64) -> Option<(u64, u32)> {
        if bytes == 0 || self.is_complete() {
            return None;
        }
        let mut first = None;
        let mut count = 0;
        for (word, bits) in Self::parts(at, bytes) {
            let found =
                (self.words.get(word)).map_or(u64::MAX, |word| word.load(Ordering::Relaxed));
            let missing = bits & !found;
            if missing != 0 {
                let at = word as u64 * WORD + u64::from(missing.trailing_zeros());
                first.get_or_insert(at);
                count += missing.count_ones();
            }
        }
        first.map(|first| (first, count))
    }

    /// Forgets a range, then takes for written what is in `source` from `from` on; all of it without a source.
    pub(crate) fn copy(&self, at: u64, source: Option<&Self>, from: u64, bytes: u64) {
        let Some(source) = source.filter(|source| !source.is_complete()) else {
            self.set(at, bytes);
            return;
        };
        // Both may be the same, and the ranges may overlap.
        let written: Vec<bool> = (from..from + bytes)
            .map(|byte| source.missing(byte, 1).is_none())
            .collect();
        let mut at = at;
        for run in written.chunk_by(|a, b| a == b) {
            let len = run.len() as u64;
            if run[0] {
                self.set(at, len);
            } else {
                self.forget(at, len);
            }
            at += len;
        }
    }

    fn forget(&self, at: u64, bytes: u64) {
        for (word, bits) in Self::parts(at, bytes) {
            let Some(word) = self.words.get(word) else {
                return;
            };
            let before = word.fetch_and(!bits, Ordering::Relaxed);
            let gone = (bits & before).count_ones() as usize;
            self.left.fetch_add(gone, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_apart() {
        let written = Written::new(200);
        assert_eq!(written.missing(0, 200), Some((0, 200)));
        written.set(0, 70);
        written.set(72, 128);
        assert_eq!(written.missing(60, 20), Some((70, 2)));
        assert_eq!(written.missing(0, 70), None);
        assert!(!written.is_complete());
        written.set(64, 64);
        assert!(written.is_complete());
        assert_eq!(written.missing(0, 200), None);
    }

    #[test]
    fn copies_carry_the_state_along() {
        let (source, target) = (Written::new(100), Written::new(100));
        source.set(10, 5);
        target.set(0, 100);
        target.copy(20, Some(&source), 8, 10);
        assert_eq!(target.missing(20, 10), Some((20, 5)));
        assert_eq!(target.missing(22, 5), None);
        assert_eq!(target.missing(27, 3), Some((27, 3)));
        // Overlapping, from itself.
        target.copy(21, Some(&target), 20, 9);
        assert_eq!(target.missing(23, 5), None);
        assert_eq!(target.missing(21, 2), Some((21, 2)));
        target.copy(0, None, 0, 100);
        assert!(target.is_complete());
    }
}
