//! Global memory: allocations, each with exact bounds.
//!
//! - here: allocating, freeing and the host's accesses
//! - `buffer`: the bytes
//! - `view`: what a launch sees of it
//! - `written`: which bytes were written, if reads of others are looked for
//!
//! Shared, local and parameter memory belong to blocks and warps, not here; [`window`] says where their
//! addresses lie among the generic ones.

pub(crate) mod buffer;
pub(crate) mod view;
pub mod window;
pub(crate) mod written;

use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) use self::buffer::Buffer;
pub(crate) use self::view::View;
pub use self::written::Written;

use crate::options::Uninitialised;
use crate::shadow::Space;

/// What memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Device memory; its addresses mean nothing to the host.
    Device,
    /// Page-locked host memory; an address is the host's pointer.
    Pinned,
    /// Host memory that kernels see; an address is the host's pointer.
    Mapped,
    /// Memory of host and device; an address is the host's pointer.
    Managed,
    /// A module's `.global` variable.
    Global,
    /// A module's `.const` variable; kernels cannot write it.
    Constant,
    /// Taken by a thread with `malloc`.
    Heap,
}

impl Kind {
    const fn is_host(self) -> bool {
        matches!(self, Self::Pinned | Self::Mapped | Self::Managed)
    }
}

/// There is no memory left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes do not fit into {free} bytes of free memory")]
pub struct OutOfMemory {
    /// What was asked for.
    pub bytes: u64,
    /// What is free.
    pub free: u64,
}

/// An address that is not freed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FreeError {
    /// It is no allocation's first byte.
    #[error("{address:#x} is no allocation's first byte{}", lies_in(.inside.as_ref()))]
    NotAllocated {
        /// The address.
        address: u64,
        /// The allocation it lies in.
        inside: Option<AllocationInfo>,
    },
    /// It was freed before.
    #[error("{address:#x} was freed before")]
    Freed {
        /// The address.
        address: u64,
    },
}

fn lies_in(info: Option<&AllocationInfo>) -> String {
    info.map_or_else(String::new, |info| {
        format!(
            "; it lies in the {} bytes at {:#x}",
            info.bytes, info.address
        )
    })
}

/// An access of the host outside every allocation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at {address:#x} are not inside an allocation{}", close_to(.near.as_ref()))]
pub struct AccessError {
    /// The first byte's address.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// The allocation concerned.
    pub near: Option<AllocationInfo>,
}

fn close_to(info: Option<&AllocationInfo>) -> String {
    info.map_or_else(String::new, |info| {
        let freed = if info.freed { "freed " } else { "" };
        format!("; {freed}{} bytes begin at {:#x}", info.bytes, info.address)
    })
}

/// What is known of an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocationInfo {
    /// Rises with every allocation of a device.
    pub number: u64,
    /// Its first byte.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// What it is for.
    pub kind: Kind,
    /// The variable's name, if it is one of a module.
    pub name: Option<String>,
    /// Whether it was freed.
    pub freed: bool,
}

/// A live allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) number: u64,
    pub(crate) base: u64,
    pub(crate) kind: Kind,
    pub(crate) name: Option<String>,
    pub(crate) buffer: Buffer,
    /// Which bytes were written; `None` if all count as written.
    pub(crate) written: Option<Written>,
}

impl Allocation {
    pub(crate) fn bytes(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Whether kernels may write it.
    #[inline(always)]
    pub(crate) fn is_writable(&self) -> bool {
        self.kind != Kind::Constant
    }

    /// The space that a shadow sees it in.
    pub(crate) const fn space(&self) -> Space {
        match self.kind {
            Kind::Constant => Space::Const,
            _ => Space::Global,
        }
    }

    pub(crate) fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes().max(1)
    }

    /// The host wrote bytes.
    fn note_written(&self, at: u64, bytes: u64) {
        if let Some(written) = &self.written {
            written.set(at, bytes);
        }
    }

    fn info(&self) -> AllocationInfo {
        AllocationInfo {
            number: self.number,
            address: self.base,
            bytes: self.bytes(),
            kind: self.kind,
            name: self.name.clone(),
            freed: false,
        }
    }
}

/// How many freed allocations are remembered.
const REMEMBERED: usize = 4096;
/// The alignment of an allocation, as `cuMemAlloc` gives it.
const ALIGNMENT: u64 = 512;
/// Addresses that are left free behind an allocation, so that going past its end meets no other.
const GAP: u64 = 1 << 20;

#[derive(Debug)]
struct Map {
    live: BTreeMap<u64, Arc<Allocation>>,
    freed: VecDeque<AllocationInfo>,
    next: u64,
    number: u64,
    used: u64,
}

/// The global memory of a device. All threads may use it at once.
#[derive(Debug)]
pub struct Memory {
    map: RwLock<Map>,
    generation: AtomicU64,
    limit: u64,
    /// What reads of bytes that nobody wrote do.
    uninitialised: Uninitialised,
    /// Bytes that threads have taken with `malloc`.
    heap: AtomicU64,
    /// The view that was made last.
    seen: Mutex<View>,
}

impl Memory {
    /// Memory of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self::with(limit, Uninitialised::Off)
    }

    /// Memory that keeps account of what was written, if reads of other bytes are looked for.
    pub(crate) fn with(limit: u64, uninitialised: Uninitialised) -> Self {
        Self {
            map: RwLock::new(Map {
                live: BTreeMap::new(),
                freed: VecDeque::new(),
                next: window::DEVICE,
                number: 0,
                used: 0,
            }),
            generation: AtomicU64::new(0),
            limit,
            uninitialised,
            heap: AtomicU64::new(0),
            seen: Mutex::default(),
        }
    }

    fn map(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn map_mut(&self) -> RwLockWriteGuard<'_, Map> {
        self.map.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that can be allocated, and of those how many are free.
    #[must_use]
    pub fn total_and_free(&self) -> (u64, u64) {
        (self.limit, self.limit.saturating_sub(self.map().used))
    }

    /// Takes memory, which begins as zeros, or as ones if reads of bytes that nobody wrote give these. Its address is a number of the device's for [`Kind::Device`] and
    /// the host's pointer for those that the host sees.
    ///
    /// # Errors
    ///
    /// If there is not so much left.
    pub fn alloc(&self, bytes: u64, kind: Kind) -> Result<u64, OutOfMemory> {
        self.alloc_named(bytes, kind, 0, None)
    }

    pub(crate) fn alloc_named(
        &self,
        bytes: u64,
        kind: Kind,
        align: u64,
        name: Option<String>,
    ) -> Result<u64, OutOfMemory> {
        let mut map = self.map_mut();
        let free = self.limit.saturating_sub(map.used);
        let error = OutOfMemory { bytes, free };
        if bytes > free {
            return Err(error);
        }
        let len = usize::try_from(bytes).map_err(|_| error)?;
        let host_align = if kind.is_host() { 4096 } else { 64 };
        let buffer = Buffer::zeroed(len, host_align).ok_or(error)?;
        let base = if kind.is_host() {
            buffer.host()
        } else {
            let align = align.max(ALIGNMENT).next_power_of_two();
            let base = map.next.next_multiple_of(align);
            let gap = bytes.next_power_of_two().clamp(GAP, GAP << 10);
            map.next = base + bytes + gap;
            base
        };
        map.used += bytes;
        self.insert(&mut map, base, kind, name, buffer);
        Ok(base)
    }

    fn insert(&self, map: &mut Map, base: u64, kind: Kind, name: Option<String>, buffer: Buffer) {
        map.number += 1;
        let number = map.number;
        // Host memory that was freed comes back at the same address.
        let end = base + buffer.len() as u64;
        map.freed
            .retain(|freed| freed.address >= end || freed.address + freed.bytes <= base);
        // What the host sees it may write without anybody noticing; a module's variables begin as something.
        let looked_at =
            matches!(kind, Kind::Device | Kind::Heap) && self.uninitialised != Uninitialised::Off;
        if looked_at && self.uninitialised == Uninitialised::Nan {
            buffer.fill(u8::MAX);
        }
        let allocation = Allocation {
            number,
            base,
            kind,
            name,
            written: looked_at.then(|| Written::new(buffer.len())),
            buffer,
        };
        map.live.insert(base, Arc::new(allocation));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Lets kernels reach memory that is the host's own (`cuMemHostRegister`). Its address is the pointer.
    ///
    /// # Safety
    ///
    /// The bytes must stay valid for reads and writes until [`free`](Self::free) is called on the address and
    /// every launch that was under way then has ended.
    ///
    /// # Errors
    ///
    /// If some of it is known already.
    #[expect(
        unsafe_code,
        reason = "only the caller can know how long its memory lives"
    )]
    pub unsafe fn register_host(&self, pointer: *mut u8, bytes: u64) -> Result<(), AccessError> {
        let address = pointer.expose_provenance() as u64;
        let error = |near| AccessError {
            address,
            bytes,
            near,
        };
        let (Some(start), Ok(len)) = (NonNull::new(pointer), usize::try_from(bytes)) else {
            return Err(error(None));
        };
        let mut map = self.map_mut();
        let end = address.checked_add(bytes).ok_or_else(|| error(None))?;
        let before = map.live.range(..end).next_back();
        if let Some((_, known)) = before
            && known.base + known.bytes() > address
        {
            return Err(error(Some(known.info())));
        }
        // SAFETY: the caller's promise.
        let buffer = unsafe { Buffer::borrowed(start, len) };
        self.insert(&mut map, address, Kind::Mapped, None, buffer);
        Ok(())
    }

    /// Gives memory back. Launches under way keep theirs until they end.
    ///
    /// # Errors
    ///
    /// If the address is no allocation's first byte, or was freed before.
    pub fn free(&self, address: u64) -> Result<(), FreeError> {
        let mut map = self.map_mut();
        let Some(allocation) = map.live.remove(&address) else {
            if map.freed.iter().any(|freed| freed.address == address) {
                return Err(FreeError::Freed { address });
            }
            let inside = find(&map.live, address).map(|found| found.info());
            return Err(FreeError::NotAllocated { address, inside });
        };
        if allocation.buffer.is_owned() {
            map.used -= allocation.bytes();
        }
        if map.freed.len() == REMEMBERED {
            map.freed.pop_front();
        }
        map.freed.push_back(AllocationInfo {
            freed: true,
            ..allocation.info()
        });
        // It holds on to what it has seen.
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = View::default();
        self.generation.fetch_add(1, Ordering::Release);
        Ok(())
    }

    fn inside(&self, address: u64, bytes: u64) -> Result<(Arc<Allocation>, u64), AccessError> {
        let found = find(&self.map().live, address).map(Arc::clone);
        match found {
            Some(found) if bytes <= found.bytes() - (address - found.base).min(found.bytes()) => {
                let at = address - found.base;
                Ok((found, at))
            }
            _ => Err(AccessError {
                address,
                bytes,
                near: self.near(address),
            }),
        }
    }

    /// Copies bytes out.
    ///
    /// # Errors
    ///
    /// If they are not all inside one allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), AccessError> {
        if out.is_empty() {
            return Ok(());
        }
        let (allocation, at) = self.inside(address, out.len() as u64)?;
        allocation.buffer.read(at, out);
        Ok(())
    }

    /// Copies bytes in.
    ///
    /// # Errors
    ///
    /// If they are not all inside one allocation.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (allocation, at) = self.inside(address, bytes.len() as u64)?;
        allocation.buffer.write(at, bytes);
        allocation.note_written(at, bytes.len() as u64);
        Ok(())
    }

    /// Writes `pattern` `count` times, one after the other.
    ///
    /// # Errors
    ///
    /// If the bytes are not all inside one allocation.
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), AccessError> {
        let bytes = (pattern.len() as u64).saturating_mul(count);
        if bytes == 0 {
            return Ok(());
        }
        let (allocation, mut at) = self.inside(address, bytes)?;
        allocation.note_written(at, bytes);
        let repeats = (4096 / pattern.len()).max(1);
        let chunk = pattern.repeat(repeats);
        let mut left = bytes;
        while left > 0 {
            let part = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
            allocation.buffer.write(at, &chunk[..part]);
            at += part as u64;
            left -= part as u64;
        }
        Ok(())
    }

    /// Copies `bytes` from `source` to `target`, which may overlap. Bytes that nobody wrote are such at the target
    /// too.
    ///
    /// # Errors
    ///
    /// If one of the ranges is not inside one allocation; nothing is copied then.
    pub fn copy(&self, target: u64, source: u64, bytes: u64) -> Result<(), AccessError> {
        if bytes == 0 {
            return Ok(());
        }
        let (from, mut at) = self.inside(source, bytes)?;
        let (to, mut to_at) = self.inside(target, bytes)?;
        if let Some(written) = &to.written {
            written.copy(to_at, from.written.as_ref(), at, bytes);
        }
        let overlap = Arc::ptr_eq(&from, &to) && at < to_at + bytes && to_at < at + bytes;
        let mut chunk = vec![0; usize::try_from(bytes.min(1 << 20)).unwrap_or(1 << 20)];
        if overlap && at < to_at {
            let mut left = bytes;
            while left > 0 {
                let part = left.min(chunk.len() as u64);
                left -= part;
                let part = usize::try_from(part).unwrap_or(chunk.len());
                from.buffer.read(at + left, &mut chunk[..part]);
                to.buffer.write(to_at + left, &chunk[..part]);
            }
            return Ok(());
        }
        let mut left = bytes;
        while left > 0 {
            let part = left.min(chunk.len() as u64);
            let len = usize::try_from(part).unwrap_or(chunk.len());
            from.buffer.read(at, &mut chunk[..len]);
            to.buffer.write(to_at, &chunk[..len]);
            at += part;
            to_at += part;
            left -= part;
        }
        Ok(())
    }

    /// The live allocation that holds `address`.
    #[must_use]
    pub fn allocation(&self, address: u64) -> Option<AllocationInfo> {
        find(&self.map().live, address).map(|found| found.info())
    }

    /// The live allocations, in the order in which they were made.
    #[must_use]
    pub fn live(&self) -> Vec<AllocationInfo> {
        let mut all: Vec<_> = self.map().live.values().map(|found| found.info()).collect();
        all.sort_by_key(|info| info.number);
        all
    }

    /// The allocation that an address outside every live one belongs to or follows: a freed one that held
    /// it, else the closest live one below.
    #[must_use]
    pub fn near(&self, address: u64) -> Option<AllocationInfo> {
        let map = self.map();
        if let Some(found) = find(&map.live, address) {
            return Some(found.info());
        }
        let freed = map.freed.iter().rev();
        let held = |info: &&AllocationInfo| address.wrapping_sub(info.address) < info.bytes.max(1);
        if let Some(freed) = freed.clone().find(held) {
            return Some(freed.clone());
        }
        const CLOSE: u64 = 1 << 30;
        let below = map.live.range(..=address).next_back();
        let below = below
            .map(|(_, found)| found)
            .filter(|found| address - (found.base + found.bytes()) < CLOSE);
        let above = map.live.range(address..).next().map(|(_, found)| found);
        let above = above.filter(|found| found.base - address < 4096);
        above.or(below).map(|found| found.info())
    }

    /// The live allocation that holds `address`.
    pub(crate) fn holder(&self, address: u64) -> Option<Arc<Allocation>> {
        find(&self.map().live, address).map(Arc::clone)
    }

    /// Rises with every change of what is allocated.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Takes bytes of the heap's `limit`, if there are so many left.
    pub(crate) fn take_heap(&self, bytes: u64, limit: u64) -> bool {
        let take = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= limit);
        (self.heap)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }

    /// Gives bytes of the heap back.
    pub(crate) fn give_heap(&self, bytes: u64) {
        self.heap.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// What is allocated now.
    pub(crate) fn view(&self) -> View {
        let map = self.map();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.generation != self.generation() {
            let live = map.live.values().map(Arc::clone).collect();
            *seen = View::new(self.generation(), live);
        }
        seen.clone()
    }
}

fn find(live: &BTreeMap<u64, Arc<Allocation>>, address: u64) -> Option<&Arc<Allocation>> {
    let (_, found) = live.range(..=address).next_back()?;
    found.holds(address).then_some(found)
}
