//! Layout of the gate and the record: byte offsets, all little-endian.
//!
//! Every checked launch gets one *gate* in device memory and one *record* in mapped host memory. The
//! kernel's hidden last parameter is the gate's address. A launch that passes writes neither, so both can
//! be used again at once. Of the threads that fail, the one with the lowest [key] is what stands there.
//!
//! There is no lock. A word that says something of one thread is that thread's [key] above
//! [`TAG_BITS`] bits of what it says, and is only ever lowered, by an atomic minimum: whatever the order of
//! the threads, the word of the lowest key stays, and no thread waits for another.

/// The gate, in device memory.
pub mod gate {
    /// Bytes of a gate.
    pub const SIZE: usize = COUNTS + COUNTERS * COUNTER_STRIDE;
    /// `u64`: the lowest key that failed, tagged with its site; [`NO_WORD`](super::NO_WORD) before any did.
    pub const BEST: usize = 0;
    /// `u64`: device address of the launch's record.
    pub const RECORD: usize = 8;
    /// `u32`: of launches that do nothing after a failure ([`SKIP`](super::SKIP)), how many did nothing so far;
    /// with [`PRIOR`](super::PRIOR) where the failure was not one of theirs.
    pub const SKIPPED: usize = 16;
    /// [`COUNTERS`] `u64`, [`COUNTER_STRIDE`] bytes apart: how many threads failed, by the low bits of the
    /// number of the multiprocessor that they ran on. Their sum counts. One address takes one atomic operation a cycle; several, in several
    /// slices of the L2 cache, take as many.
    pub const COUNTS: usize = COUNTER_STRIDE;
    /// How many counters; a power of two.
    pub const COUNTERS: usize = 32;
    /// Bytes from one counter to the next: a cache line.
    pub const COUNTER_STRIDE: usize = 128;

    /// Two gates of launches that take turns differ in this bit of their addresses.
    pub const PAIR: usize = 8192;

    const _: () = assert!(COUNTERS.is_power_of_two());
    const _: () = assert!(PAIR.is_power_of_two() && SIZE <= PAIR);

    /// How many threads failed, from the bytes of a gate from [`COUNTS`] on.
    #[must_use]
    pub fn count(counts: &[u8]) -> u64 {
        let first = |line: &[u8]| {
            line.first_chunk()
                .map_or(0, |word| u64::from_le_bytes(*word))
        };
        counts.chunks(COUNTER_STRIDE).map(first).sum()
    }
}

/// The record, in mapped host memory.
pub mod payload {
    use super::MAX_VALUES;

    /// Bytes of a record; a multiple of its alignment.
    pub const SIZE: usize = 320;
    /// `u32`: where several launches share a record, which of them it is of. Kernels with checks leave it 0.
    pub const LAUNCH: usize = 0;
    /// `u32`: 0 before any thread failed, and not 0 after.
    pub const STATE: usize = BLOCK;
    /// `u64`: the failing thread's key, tagged with the index of its site in the image's site table.
    pub const FIRST: usize = 8;
    /// `2 × u32`: `gridDim.x` and `.y`.
    pub const GRID: usize = 16;
    /// `2 × u32`: `blockDim.x` and `.y`, behind [`GRID`] for one store of both.
    pub const BLOCK: usize = GRID + 8;
    /// `8 × 4 × u64`: the captured values, each [`PARTS`] words, lowest bits first, tagged with them. A type
    /// of fewer bits has fewer words; the rest, and those of values that the site does not capture, are of
    /// other keys or of none.
    pub const VALUES: usize = 64;
    /// Words of a value.
    pub const PARTS: usize = 4;

    const _: () = assert!(VALUES + 8 * PARTS * MAX_VALUES <= SIZE && GRID.is_multiple_of(16));
}

/// How many values a check can capture.
pub const MAX_VALUES: usize = 8;

/// Added to the gate's address in the hidden argument: the launch does nothing if the one before it failed or did
/// nothing. Such launches take two gates in turn ([`gate::PAIR`]); each looks at the other one, of the launch before.
pub const SKIP: u64 = 1;

/// In [`gate::SKIPPED`]: there was a failure elsewhere, which the launches were told to come after.
pub const PRIOR: u32 = 1 << 31;

/// Threads in the largest block (CUDA programming guide, compute capabilities).
pub const BLOCK_THREADS: u64 = 1024;

/// Bits of a word below the key: of a site, or of a part of a value.
pub const TAG_BITS: u32 = 16;

/// What the words of `FIRST` and `VALUES` and the gate's `BEST` hold before any thread failed.
pub const NO_WORD: u64 = u64::MAX;

/// The order in which failures count as first: linear block, then linear thread.
///
/// `linear_block` is `x + gridDim.x * (y + gridDim.y * z)`, `linear_thread` likewise and below
/// [`BLOCK_THREADS`]. A word has room for the keys of 2^38 blocks.
#[must_use]
pub const fn key(linear_block: u64, linear_thread: u64) -> u64 {
    linear_block
        .wrapping_mul(BLOCK_THREADS)
        .wrapping_add(linear_thread)
}

/// A word: `key` with `tag` below it.
#[must_use]
pub const fn word(key: u64, tag: u16) -> u64 {
    key << TAG_BITS | tag as u64
}

/// The key and the tag of a word.
#[must_use]
pub const fn split(word: u64) -> (u64, u16) {
    (word >> TAG_BITS, (word & 0xffff) as u16)
}

/// `blockIdx` or `threadIdx` from a linear index and the first two of the dimensions.
#[must_use]
pub const fn coordinates(linear: u64, [x, y]: [u32; 2]) -> [u32; 3] {
    let (x, y) = (
        if x == 0 { 1 } else { x as u64 },
        if y == 0 { 1 } else { y as u64 },
    );
    [
        (linear % x) as u32,
        (linear / x % y) as u32,
        (linear / x / y) as u32,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_coordinates_can_be_read_back() {
        assert_eq!(split(word(key(7, 1023), 0xfffe)), (7 * 1024 + 1023, 0xfffe));
        let linear = 3 + 5 * (2 + 7 * 4);
        assert_eq!(coordinates(linear, [5, 7]), [3, 2, 4]);
        assert_eq!(coordinates(9, [0, 0]), [0, 0, 9]);
    }
}
