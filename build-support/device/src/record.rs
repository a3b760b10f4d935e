//! Layout of the gate and the record: byte offsets, all little-endian.
//!
//! Every checked launch gets one *gate* in device memory and one *record* in mapped host memory. The
//! kernel's hidden last parameter is the gate's address. A launch that passes writes neither, so both can
//! be used again at once. Of the threads that fail, the one with the lowest [key](key) writes the record.

/// The gate, in device memory.
pub mod gate {
    /// Bytes of a gate; also its alignment.
    pub const SIZE: usize = 64;
    /// `u64`: the lowest key that failed; [`NO_KEY`] before any did.
    pub const BEST: usize = 0;
    /// `u32`: 1 while a thread writes the record, else 0.
    pub const LOCK: usize = 8;
    /// `u64`: how many threads failed.
    pub const COUNT: usize = 16;
    /// `u64`: device address of the launch's record.
    pub const RECORD: usize = 24;

    /// The value of `BEST` before any thread failed.
    pub const NO_KEY: u64 = u64::MAX;
}

/// The record, in mapped host memory. All zero before any thread failed.
pub mod payload {
    use super::MAX_VALUES;

    /// Bytes of a record; also its alignment.
    pub const SIZE: usize = 128;
    /// `u32`: 1 once a record was written.
    pub const STATE: usize = 0;
    /// `u32`: index of the site in the image's site table.
    pub const SITE: usize = 4;
    /// `u64`: the failing thread's [key](super::key).
    pub const KEY: usize = 8;
    /// `3 × u32`: `blockIdx` of the failing thread.
    pub const BLOCK: usize = 16;
    /// `3 × u32`: `threadIdx` of the failing thread.
    pub const THREAD: usize = 28;
    /// `8 × u64`: the bits of the captured values, sign-extended where the type is signed.
    pub const VALUES: usize = 48;

    const _: () = assert!(VALUES + 8 * MAX_VALUES <= SIZE);
}

/// How many values a check can capture.
pub const MAX_VALUES: usize = 8;

/// Threads in the largest block (CUDA programming guide, compute capabilities).
pub const BLOCK_THREADS: u64 = 1024;

/// The order in which failures count as first: linear block, then linear thread.
///
/// `linear_block` is `x + gridDim.x * (y + gridDim.y * z)`, `linear_thread` likewise and below
/// [`BLOCK_THREADS`].
#[must_use]
pub const fn key(linear_block: u64, linear_thread: u64) -> u64 {
    linear_block
        .wrapping_mul(BLOCK_THREADS)
        .wrapping_add(linear_thread)
}
