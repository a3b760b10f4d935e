//! Copies that were issued and have not landed.
//!
//! A device moves the bytes of an asynchronous copy at some time between the instruction that issues it and the one
//! that waits for it. Here they move as late as they may, the same in every run, so that a kernel that does not
//! wait is seen to use what was there before:
//!
//! - Global memory that is copied from is read when the copy is issued. Bytes land in shared memory when the thread
//!   that issued the copy waits for its group (`cp.async.wait_group`, `cp.async.wait_all`), or when anybody
//!   tests the `mbarrier` that the copy is tracked by.
//! - Shared memory that is copied from is read when its thread waits (`cp.async.bulk.wait_group`, with `.read` or
//!   without), or when the `mbarrier` is tested: a kernel that overwrites it too early copies the new bytes.
//!   Bytes land in global memory at a wait without `.read`, or when the thread leaves.
//!
//! What nobody waits for never lands in shared memory. But there is an end to what is kept: when a warp has
//! [`MOST`] copies they all land, and more than that many that an `mbarrier` tracks are a finding.

use crate::register::LANES;
use crate::transfer::Words;

/// Copies that are kept.
pub(crate) const MOST: usize = 1 << 14;

/// Lanes' `cp.async`.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The lanes for which it has not landed.
    pub(crate) mask: u32,
    /// Groups that the lanes had committed before.
    pub(crate) group: u32,
    /// Rises with every one of the block.
    pub(crate) number: u64,
    /// Where it lands in shared memory.
    pub(crate) addresses: [u64; LANES],
    pub(crate) bytes: u32,
    pub(crate) words: Words,
}

/// What a bulk copy copies.
#[derive(Debug)]
pub(crate) enum Source {
    Bytes(Vec<u8>),
    /// Shared memory, to be read.
    Shared(u64),
}

/// A lane's `cp.async.bulk` to global memory, or a reduction there.
#[derive(Debug)]
pub(crate) struct Bulk {
    pub(crate) lane: u32,
    /// Groups that the lane had committed before.
    pub(crate) group: u32,
    pub(crate) source: Source,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// What is done with what is there; nothing for a copy.
    pub(crate) reduce: Option<crate::family::copy::Reduction>,
}

/// What the lanes of a warp issued.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pub(crate) simple: Vec<Copy>,
    /// Groups of `cp.async` that each lane committed.
    pub(crate) committed: [u32; LANES],
    pub(crate) bulk: Vec<Bulk>,
    /// Groups of `cp.async.bulk` that each lane committed.
    pub(crate) bulk_committed: [u32; LANES],
}

/// `cp.async.mbarrier.arrive`: an `mbarrier` of the block tracks copies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tracked {
    /// Where the `mbarrier` lies.
    pub(crate) offset: u64,
    pub(crate) warp: u32,
    pub(crate) mask: u32,
    /// Copies with lower numbers.
    pub(crate) before: u64,
}

/// Bytes on their way to shared memory, which an `mbarrier` counts.
#[derive(Debug)]
pub(crate) struct Flight {
    /// The first block of the cluster.
    pub(crate) cluster: u64,
    /// The `mbarrier`: its block's rank, and where it lies there.
    pub(crate) barrier: (u32, u64),
    pub(crate) source: Source,
    /// Where they land, with the block's rank in the address.
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    pub(crate) reduce: Option<crate::family::copy::Reduction>,
}
