//! Where the state spaces lie among generic addresses (PTX ISA 5.1 and 10, `cvta`).
//!
//! A host pointer is below 2^48, so nothing that the host allocates lies in any of these ranges.

/// The first address of device memory.
pub const DEVICE: u64 = 1 << 48;
/// Generic address of byte 0 of a block's shared memory.
pub const SHARED: u64 = 1 << 49;
/// Generic address of byte 0 of a thread's local memory.
pub const LOCAL: u64 = SHARED + SIZE;
/// Generic address of byte 0 of a kernel's parameters.
pub const PARAM: u64 = LOCAL + SIZE;
/// Bytes of each of the three windows.
pub const SIZE: u64 = 1 << 32;
/// The first address of a function.
pub const CODE: u64 = PARAM + SIZE;
/// Bytes between two functions' addresses.
pub const CODE_STEP: u64 = 256;

/// Bits of an address in `.shared::cluster` below the block's rank (PTX ISA 5.1.7). A rank field of 0 is the
/// thread's own block, else it is the rank and one.
pub const RANK_SHIFT: u32 = 24;
