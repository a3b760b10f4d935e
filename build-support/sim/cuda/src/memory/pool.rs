//! Memory pools: here an account, since device memory is given back at once.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::code::Code;
use crate::refusal::Answer;

/// What a pool takes from the device at a time.
const CHUNK: u64 = 32 << 20;

/// A pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) handle: usize,
    /// Whether it is the device's own, which cannot be destroyed.
    pub(crate) is_default: bool,
    /// `CU_MEMPOOL_ATTR_REUSE_…`, 1 to 3.
    reuse: [AtomicU64; 3],
    threshold: AtomicU64,
    reserved: AtomicU64,
    reserved_high: AtomicU64,
    used: AtomicU64,
    used_high: AtomicU64,
}

impl Pool {
    pub(crate) fn new(handle: usize, is_default: bool) -> Self {
        Self {
            handle,
            is_default,
            reuse: [const { AtomicU64::new(1) }; 3],
            threshold: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            reserved_high: AtomicU64::new(0),
            used: AtomicU64::new(0),
            used_high: AtomicU64::new(0),
        }
    }

    /// Notes an allocation.
    pub(crate) fn add(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::AcqRel) + bytes;
        self.used_high.fetch_max(used, Ordering::AcqRel);
        let reserved = used.next_multiple_of(CHUNK);
        self.reserved.fetch_max(reserved, Ordering::AcqRel);
        self.reserved_high.fetch_max(reserved, Ordering::AcqRel);
    }

    /// Notes that one was freed.
    pub(crate) fn sub(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Gives back to the device what is not used.
    pub(crate) fn trim(&self, keep: u64) {
        let used = self.used.load(Ordering::Acquire).next_multiple_of(CHUNK);
        let least = used.max(keep.next_multiple_of(CHUNK));
        self.reserved.fetch_min(least, Ordering::AcqRel);
    }

    fn place(&self, attribute: u32) -> Option<&AtomicU64> {
        Some(match attribute {
            1..=3 => self.reuse.get(attribute as usize - 1)?,
            4 => &self.threshold,
            5 => &self.reserved,
            6 => &self.reserved_high,
            7 => &self.used,
            8 => &self.used_high,
            _ => return None,
        })
    }

    /// Whether an attribute's value is a 32-bit number (`CUmemPool_attribute`); the others are 64-bit ones.
    pub(crate) const fn is_narrow(attribute: u32) -> bool {
        matches!(attribute, 1..=3)
    }

    /// An attribute's value.
    pub(crate) fn attribute(&self, attribute: u32) -> Answer<u64> {
        let place = self.place(attribute);
        place
            .map(|place| place.load(Ordering::Acquire))
            .ok_or_else(|| {
                Code::INVALID_VALUE.because(format!("there is no attribute {attribute}"))
            })
    }

    /// Sets an attribute; the high marks only to 0.
    pub(crate) fn set_attribute(&self, attribute: u32, value: u64) -> Answer {
        let place = match attribute {
            1..=4 => self.place(attribute),
            6 | 8 if value == 0 => self.place(attribute),
            _ => None,
        };
        let Some(place) = place else {
            return Err(Code::INVALID_VALUE
                .because(format!("attribute {attribute} cannot be set to {value}")));
        };
        place.store(value, Ordering::Release);
        Ok(())
    }
}
