//! Slots: what a checked launch reports its first failure through.
//!
//! A slot is a gate in device memory, whose address the kernel gets, and a record in host memory, in which
//! what the thread with the lowest key wrote stays (`gpuk_device::record`). Which launch has which slot is `pool`'s business.

#![expect(unsafe_code, reason = "reading memory that kernels write")]

use std::ptr::NonNull;
use std::sync::atomic::{Ordering, fence};

use cudarc::driver::sys::CUdeviceptr;
use gpuk_device::record::{
    BLOCK_THREADS, MAX_VALUES, NO_WORD, PRIOR, TAG_BITS, coordinates, gate, payload, split,
};

use crate::call::{CopyStream, DeviceMemory, MappedMemory};
use crate::driver::DriverError;

/// A gate and its record; lives as long as its [`Chunk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    gate: CUdeviceptr,
    record: NonNull<[u8; payload::SIZE]>,
    /// The record's address for kernels.
    mapped: CUdeviceptr,
}

/// What a gate counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    /// Threads that failed.
    pub(crate) failed: u64,
    /// Launches that did nothing, up to the last that has the gate.
    pub(crate) skipped: u32,
}

// SAFETY: the record is shared with kernels anyway; one launch has the slot at a time, and its owner moves.
unsafe impl Send for Slot {}
// SAFETY: the record is only read through this, and word by word.
unsafe impl Sync for Slot {}

impl Slot {
    /// The kernel's hidden argument.
    pub(crate) const fn gate(&self) -> CUdeviceptr {
        self.gate
    }

    /// Where kernels find the record, those of other contexts too.
    pub(crate) const fn mapped(&self) -> CUdeviceptr {
        self.mapped
    }

    /// What the failing thread left, if one failed. The launch is over, or what is read may be of any moment.
    pub(crate) fn read(&self) -> Option<Record> {
        let words = self.record.cast::<u32>();
        let word = |at: usize| {
            // SAFETY: within the record, which its chunk keeps; kernels write it, hence volatile.
            unsafe { words.add(at / 4).read_volatile() }
        };
        if word(payload::STATE) == 0 {
            return None;
        }
        fence(Ordering::Acquire);
        let mut bytes = [0; payload::SIZE];
        for (at, four) in bytes.chunks_exact_mut(4).enumerate() {
            four.copy_from_slice(&word(at * 4).to_ne_bytes());
        }
        Some(Record::parse(&bytes))
    }

    /// What the gate counted.
    pub(crate) fn counts(&self, copies: &CopyStream) -> Result<Counts, DriverError> {
        let mut bytes = [0; gate::SIZE];
        // SAFETY: within the gate.
        unsafe { copies.to_host(&mut bytes, self.gate) }?;
        let mut skipped = [0; 4];
        skipped.copy_from_slice(&bytes[gate::SKIPPED..][..4]);
        Ok(Counts {
            failed: gate::count(&bytes[gate::COUNTS..]),
            skipped: u32::from_le_bytes(skipped) & !PRIOR,
        })
    }

    /// Makes the slot as new after a failure. The launch is over, or its next failure may be lost.
    pub(crate) fn reset(&self, copies: &CopyStream) -> Result<(), DriverError> {
        // SAFETY: within the gate, which no kernel uses.
        unsafe { copies.to_device(self.gate, &fresh_gate(self.mapped)) }?;
        // SAFETY: within the record, which no reference points to.
        unsafe { self.record.write(fresh_record()) };
        Ok(())
    }
}

/// A gate before any failure.
fn fresh_gate(record: CUdeviceptr) -> [u8; gate::SIZE] {
    let mut bytes = [0; gate::SIZE];
    bytes[gate::BEST..][..8].copy_from_slice(&NO_WORD.to_le_bytes());
    bytes[gate::RECORD..][..8].copy_from_slice(&record.to_le_bytes());
    bytes
}

/// A record before any failure.
fn fresh_record() -> [u8; payload::SIZE] {
    let mut bytes = [0; payload::SIZE];
    bytes[payload::FIRST..][..8].copy_from_slice(&NO_WORD.to_le_bytes());
    for word in bytes[payload::VALUES..].chunks_exact_mut(8) {
        word.copy_from_slice(&NO_WORD.to_le_bytes());
    }
    bytes
}

/// The memory of some slots.
#[derive(Debug)]
pub(crate) struct Chunk {
    _gates: DeviceMemory,
    records: MappedMemory,
    /// The first gate.
    first: CUdeviceptr,
    /// Bytes from one gate to the next.
    stride: usize,
}

impl Chunk {
    /// Slots of a chunk.
    pub(crate) const SLOTS: usize = 256;

    /// Pairs of a chunk of pairs.
    const PAIRS: usize = 32;

    /// In the current context.
    pub(crate) fn new(copies: &CopyStream) -> Result<Self, DriverError> {
        Self::with(copies, Self::SLOTS, gate::SIZE, 1)
    }

    /// Pairs of slots, for launches that take turns, and their memory. In the current context.
    pub(crate) fn pairs(copies: &CopyStream) -> Result<(Self, Vec<[Slot; 2]>), DriverError> {
        let chunk = Self::with(copies, 2 * Self::PAIRS, gate::PAIR, 2 * gate::PAIR)?;
        let pair = |index: usize| [chunk.slot(2 * index), chunk.slot(2 * index + 1)];
        let pairs = (0..Self::PAIRS).map(pair).collect();
        Ok((chunk, pairs))
    }

    fn with(
        copies: &CopyStream,
        slots: usize,
        stride: usize,
        align: usize,
    ) -> Result<Self, DriverError> {
        let gates = DeviceMemory::new(slots * stride + align - 1)?;
        let first = gates.address().next_multiple_of(align as u64);
        let chunk = Self {
            _gates: gates,
            records: MappedMemory::new(slots * payload::SIZE)?,
            first,
            stride,
        };
        let mut gates = vec![0; slots * stride];
        for (slot, gate) in gates.chunks_exact_mut(stride).enumerate() {
            let slot = chunk.slot(slot);
            gate[..gate::SIZE].copy_from_slice(&fresh_gate(slot.mapped));
            // SAFETY: within the allocation, and no kernel knows it yet.
            unsafe { slot.record.write(fresh_record()) };
        }
        // SAFETY: just allocated with this size; no kernel knows it yet.
        unsafe { copies.to_device(first, &gates) }?;
        Ok(chunk)
    }

    /// A slot of this chunk, by a number below that of its slots.
    pub(crate) fn slot(&self, index: usize) -> Slot {
        let records = self.records.host().cast::<[u8; payload::SIZE]>();
        Slot {
            gate: self.first + (index * self.stride) as u64,
            // SAFETY: within the allocation.
            record: unsafe { records.add(index) },
            mapped: self.records.device() + (index * payload::SIZE) as u64,
        }
    }
}

/// A written record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) site: u32,
    /// Which of the launches that share the record.
    pub(crate) launch: u32,
    pub(crate) block: [u32; 3],
    pub(crate) thread: [u32; 3],
    pub(crate) values: [u64; MAX_VALUES],
}

impl Record {
    fn parse(bytes: &[u8; payload::SIZE]) -> Self {
        let u32_at = |at: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[at..at + 4]);
            u32::from_le_bytes(four)
        };
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let dimensions = |at: usize| [u32_at(at), u32_at(at + 4)];
        let (key, site) = split(u64_at(payload::FIRST));
        let part = |value: usize, part: usize| {
            let (of, bits) = split(u64_at(
                payload::VALUES + 8 * (payload::PARTS * value + part),
            ));
            // A word of another key is of a site that captures more.
            if of == key {
                u64::from(bits) << (TAG_BITS * part as u32)
            } else {
                0
            }
        };
        Self {
            site: site.into(),
            launch: u32_at(payload::LAUNCH),
            block: coordinates(key / BLOCK_THREADS, dimensions(payload::GRID)),
            thread: coordinates(key % BLOCK_THREADS, dimensions(payload::BLOCK)),
            values: std::array::from_fn(|value| {
                (0..payload::PARTS).map(|index| part(value, index)).sum()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_where_the_device_writes_them() {
        use gpuk_device::record::{key, word};
        let mut bytes = fresh_record();
        let mut put = |at: usize, word: &[u8]| bytes[at..][..word.len()].copy_from_slice(word);
        let (first, other) = (key(3 + 5 * (2 + 7 * 4), 6 + 8 * (1 + 2 * 9)), key(9999, 0));
        put(payload::STATE, &1_u32.to_le_bytes());
        put(payload::LAUNCH, &3_u32.to_le_bytes());
        put(payload::GRID, &[5, 0, 0, 0, 7, 0, 0, 0]);
        put(payload::BLOCK, &[8, 0, 0, 0, 2, 0, 0, 0]);
        put(payload::FIRST, &word(first, 7).to_le_bytes());
        let values = [u64::MAX, 0x0123_4567_89ab_cdef, 42];
        for (value, bits) in values.into_iter().enumerate() {
            for part in 0..payload::PARTS {
                let tag = (bits >> (16 * part)) as u16;
                let at = payload::VALUES + 8 * (payload::PARTS * value + part);
                // The third value is of 16 bits; what stands above it is another thread's.
                let of = if value == 2 && part > 0 { other } else { first };
                let tag = if of == other { 0xaaaa } else { tag };
                put(at, &word(of, tag).to_le_bytes());
            }
        }
        let record = Record::parse(&bytes);
        assert_eq!(
            (record.site, record.launch, record.block, record.thread),
            (7, 3, [3, 2, 4], [6, 1, 9])
        );
        let [first, second, third, rest @ ..] = record.values;
        assert_eq!([first, second, third], values);
        assert_eq!(rest, [0; 5]);
    }

    #[test]
    fn a_fresh_gate_knows_its_record_and_no_key() {
        let bytes = fresh_gate(0x1234_5678_9abc);
        assert_eq!(bytes[gate::BEST..][..8], [0xff; 8]);
        assert_eq!(gate::count(&bytes[gate::COUNTS..]), 0);
        assert_eq!(
            bytes[gate::RECORD..][..8],
            0x1234_5678_9abc_u64.to_le_bytes()
        );
        const { assert!(gate::RECORD >= gate::BEST + 8 && gate::COUNTS >= gate::SKIPPED + 8) };
    }
}
