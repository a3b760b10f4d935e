//! How many blocks fit on a multiprocessor: arithmetic over threads and shared memory, as `cuda_occupancy.h` has it.
//! Registers play no part: there are none.

use crate::code::Code;
use crate::device::Profile;
use crate::refusal::Answer;

/// What a kernel needs of a multiprocessor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs {
    pub(crate) static_shared: u32,
    pub(crate) max_dynamic_shared: u32,
    pub(crate) max_threads: u32,
}

const WARP: u32 = 32;
/// Shared memory is given out in such pieces.
const GRANULE: u64 = 128;

impl Needs {
    /// Blocks of so many threads on a multiprocessor.
    pub(crate) fn blocks(&self, threads: i32, dynamic: u64, profile: &Profile) -> Answer<u32> {
        let threads = positive(threads, "threads")?;
        if threads > profile.threads_per_block || dynamic > u64::from(self.max_dynamic_shared) {
            return Ok(0);
        }
        let by_threads = profile.threads_per_multiprocessor / threads.next_multiple_of(WARP);
        let shared = u64::from(self.static_shared) + dynamic + u64::from(profile.reserved_shared);
        let shared = shared.next_multiple_of(GRANULE);
        let by_shared = u64::from(profile.shared_per_multiprocessor) / shared.max(1);
        let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
        Ok(by_threads
            .min(profile.blocks_per_multiprocessor)
            .min(by_shared))
    }

    /// The size of blocks that fills a multiprocessor best, and how many of them fill the device.
    pub(crate) fn best_block(
        &self,
        dynamic: impl Fn(u32) -> u64,
        limit: i32,
        profile: &Profile,
    ) -> Answer<(u32, u32)> {
        let most = profile.threads_per_block.min(self.max_threads);
        let most = match u32::try_from(limit) {
            Ok(0) => most,
            Ok(limit) => most.min(limit),
            Err(_) => return Err(Code::INVALID_VALUE.because("a negative limit of threads")),
        };
        let mut best = (0, 0, 0);
        let mut aligned = most.next_multiple_of(WARP);
        while aligned > 0 && best.0 < profile.threads_per_multiprocessor {
            let size = aligned.min(most);
            let blocks = self.blocks(size.cast_signed(), dynamic(size), profile)?;
            if size * blocks > best.0 {
                best = (size * blocks, size, blocks);
            }
            aligned -= WARP;
        }
        let (_, size, blocks) = best;
        Ok((blocks * profile.multiprocessors, size))
    }

    /// Bytes of dynamic shared memory that each of so many blocks on a multiprocessor can have.
    pub(crate) fn available(&self, blocks: i32, threads: i32, profile: &Profile) -> Answer<u64> {
        let count = positive(blocks, "blocks")?;
        let too_many = || {
            Code::INVALID_VALUE.because(format!(
                "{blocks} blocks of {threads} threads do not fit on a multiprocessor"
            ))
        };
        let fitting = Self {
            static_shared: 0,
            ..*self
        };
        if fitting.blocks(threads, 0, profile)? < count {
            return Err(too_many());
        }
        let each = profile.shared_per_multiprocessor / count;
        let left = each.checked_sub(self.static_shared).ok_or_else(too_many)?;
        Ok(u64::from(left.min(self.max_dynamic_shared)))
    }
}

fn positive(value: i32, what: &str) -> Answer<u32> {
    let value = u32::try_from(value).ok().filter(|value| *value > 0);
    value.ok_or_else(|| Code::INVALID_VALUE.because(format!("the number of {what} is not above 0")))
}
