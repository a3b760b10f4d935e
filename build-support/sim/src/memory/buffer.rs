//! Bytes that all cores and the host may touch at once.
//!
//! A kernel's data races are the kernel's, and must stay harmless to the simulator. So every access of an
//! element here is a relaxed atomic one of the element's size, which costs what a plain one does. Bounds and
//! alignment are checked before the first unsafe step; nothing outside this file holds the pointer.
#![expect(
    unsafe_code,
    reason = "memory that several threads and foreign code share cannot be a slice"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::BitOr;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::register::{LANES, lanes_of};

/// A range of bytes at a fixed place.
#[derive(Debug)]
pub(crate) struct Buffer {
    start: NonNull<u8>,
    len: usize,
    /// How it was allocated; `None` for the host's own memory.
    layout: Option<Layout>,
}

// SAFETY: the bytes are reached by atomic accesses alone, which any thread may make; the pointer itself does
// not change.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: `start` came from `alloc_zeroed` with this layout and is freed once.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

/// An element that is accessed as one.
pub(crate) trait Cell: Copy + Default + 'static {
    /// Bytes.
    const BYTES: usize;
    /// # Safety
    ///
    /// `at` must be valid for reads of the element and aligned to it, and reached by atomic accesses alone.
    unsafe fn load(at: *mut u8) -> Self;
    /// # Safety
    ///
    /// As [`load`](Self::load), for writes.
    unsafe fn store(at: *mut u8, value: Self);
}

macro_rules! cell {
    ($type:ty, $atomic:ty) => {
        impl Cell for $type {
            const BYTES: usize = size_of::<$type>();
            #[inline(always)]
            unsafe fn load(at: *mut u8) -> Self {
                // SAFETY: the caller's promise is what `from_ptr` asks for.
                unsafe { <$atomic>::from_ptr(at.cast()) }.load(Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn store(at: *mut u8, value: Self) {
                // SAFETY: the caller's promise is what `from_ptr` asks for.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store(value, Ordering::Relaxed);
            }
        }
    };
}
cell!(u8, AtomicU8);
cell!(u16, AtomicU16);
cell!(u32, AtomicU32);
cell!(u64, AtomicU64);

impl Buffer {
    /// `len` zeros, aligned to `align`; `None` if the host has no such memory.
    pub(crate) fn zeroed(len: usize, align: usize) -> Option<Self> {
        let layout = Layout::from_size_align(len.max(8), align.max(16)).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self {
            start,
            len,
            layout: Some(layout),
        })
    }

    /// The host's own memory.
    ///
    /// # Safety
    ///
    /// The `len` bytes at `start` must stay valid for reads and writes as long as the buffer is.
    pub(crate) unsafe fn borrowed(start: NonNull<u8>, len: usize) -> Self {
        Self {
            start,
            len,
            layout: None,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Whether dropping it frees the bytes.
    pub(crate) const fn is_owned(&self) -> bool {
        self.layout.is_some()
    }

    /// The first byte's address in the host's memory.
    pub(crate) fn host(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    /// Whether the `bytes` at `at` lie inside.
    #[inline(always)]
    fn holds(&self, at: u64, bytes: usize) -> bool {
        bytes <= self.len && at <= (self.len - bytes) as u64
    }

    #[inline(always)]
    fn place(&self, at: u64) -> *mut u8 {
        self.start.as_ptr().wrapping_add(at as usize)
    }

    /// A word for atomic operations; `None` outside or misaligned.
    #[inline(always)]
    pub(crate) fn atomic32(&self, at: u64) -> Option<&AtomicU32> {
        let place = self.place(at);
        let fits = self.holds(at, 4) && place.addr().is_multiple_of(4);
        // SAFETY: it lies inside, is aligned, and lives as long as `self`.
        fits.then(|| unsafe { AtomicU32::from_ptr(place.cast()) })
    }

    /// As [`atomic32`](Self::atomic32).
    #[inline(always)]
    pub(crate) fn atomic64(&self, at: u64) -> Option<&AtomicU64> {
        let place = self.place(at);
        let fits = self.holds(at, 8) && place.addr().is_multiple_of(8);
        // SAFETY: it lies inside, is aligned, and lives as long as `self`.
        fits.then(|| unsafe { AtomicU64::from_ptr(place.cast()) })
    }

    /// As [`atomic32`](Self::atomic32).
    #[inline(always)]
    pub(crate) fn atomic16(&self, at: u64) -> Option<&AtomicU16> {
        let place = self.place(at);
        let fits = self.holds(at, 2) && place.addr().is_multiple_of(2);
        // SAFETY: it lies inside, is aligned, and lives as long as `self`.
        fits.then(|| unsafe { AtomicU16::from_ptr(place.cast()) })
    }

    /// Reads bytes; `None` if they do not all lie inside.
    pub(crate) fn read(&self, at: u64, out: &mut [u8]) -> Option<()> {
        self.holds(at, out.len()).then_some(())?;
        let place = self.place(at);
        let head = place.addr().wrapping_neg() % 8;
        let head = head.min(out.len());
        let (head, rest) = out.split_at_mut(head);
        let mut at = place;
        let (words, tail) = rest.as_chunks_mut::<8>();
        for byte in head {
            // SAFETY: inside, by the check above; a byte is always aligned.
            *byte = unsafe { u8::load(at) };
            at = at.wrapping_add(1);
        }
        for word in words {
            // SAFETY: inside, and aligned by the bytes before.
            *word = unsafe { u64::load(at) }.to_ne_bytes();
            at = at.wrapping_add(8);
        }
        for byte in tail {
            // SAFETY: inside; a byte is always aligned.
            *byte = unsafe { u8::load(at) };
            at = at.wrapping_add(1);
        }
        Some(())
    }

    /// Writes bytes; `None` if they do not all lie inside.
    pub(crate) fn write(&self, at: u64, bytes: &[u8]) -> Option<()> {
        self.holds(at, bytes.len()).then_some(())?;
        let place = self.place(at);
        let head = place.addr().wrapping_neg() % 8;
        let (head, rest) = bytes.split_at(head.min(bytes.len()));
        let mut at = place;
        let (words, tail) = rest.as_chunks::<8>();
        for byte in head {
            // SAFETY: inside, by the check above; a byte is always aligned.
            unsafe { u8::store(at, *byte) };
            at = at.wrapping_add(1);
        }
        for word in words {
            // SAFETY: inside, and aligned by the bytes before.
            unsafe { u64::store(at, u64::from_ne_bytes(*word)) };
            at = at.wrapping_add(8);
        }
        for byte in tail {
            // SAFETY: inside; a byte is always aligned.
            unsafe { u8::store(at, *byte) };
            at = at.wrapping_add(1);
        }
        Some(())
    }

    /// Writes one byte everywhere.
    pub(crate) fn fill(&self, byte: u8) {
        let bytes = [byte; 4096];
        for start in (0..self.len).step_by(bytes.len()) {
            let part = bytes.len().min(self.len - start);
            self.write(start as u64, &bytes[..part]);
        }
    }

    /// The bytes that each lane accesses, if all of them lie inside and at multiples of `bytes`, a power of two.
    ///
    /// `at` holds an offset for every lane, for those that are not meant too.
    #[inline(always)]
    pub(crate) fn lanes<'a, O: Offset>(
        &'a self,
        at: &'a [O; LANES],
        bytes: usize,
    ) -> Option<Lanes<'a, O>> {
        let last = O::of(self.len.checked_sub(bytes)?);
        // In eights, which is how vectors add up.
        let mut outside = [O::default(); 8];
        let mut bits = [O::default(); 8];
        for eight in at.as_chunks::<8>().0 {
            for lane in 0..8 {
                // Negative if the offset is, or if it is above `last`.
                outside[lane] = outside[lane] | eight[lane] | last.minus(eight[lane]);
                bits[lane] = bits[lane] | eight[lane];
            }
        }
        let any = |all: [O; 8]| all.into_iter().fold(O::default(), |any, one| any | one);
        let (outside, bits) = (any(outside), any(bits));
        let aligned = bytes.is_power_of_two()
            && (bits.place() | self.start.as_ptr().addr()) & (bytes - 1) == 0;
        (aligned && !outside.is_negative()).then_some(Lanes {
            buffer: self,
            at,
            bytes,
        })
    }
}

/// An offset of a lane's access. All buffers are smaller than half of what it counts to.
pub(crate) trait Offset: Copy + Default + BitOr<Output = Self> {
    /// The largest, if `value` is larger still.
    fn of(value: usize) -> Self;
    fn minus(self, other: Self) -> Self;
    fn is_negative(self) -> bool;
    fn place(self) -> usize;
}

impl Offset for u32 {
    #[inline(always)]
    fn of(value: usize) -> Self {
        value.min(i32::MAX as usize) as Self
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn is_negative(self) -> bool {
        self >> 31 != 0
    }
    #[inline(always)]
    fn place(self) -> usize {
        self as usize
    }
}

impl Offset for u64 {
    #[inline(always)]
    fn of(value: usize) -> Self {
        value as Self
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn is_negative(self) -> bool {
        self >> 63 != 0
    }
    #[inline(always)]
    fn place(self) -> usize {
        self as usize
    }
}

/// A checked access of every lane.
pub(crate) struct Lanes<'a, O> {
    buffer: &'a Buffer,
    at: &'a [O; LANES],
    bytes: usize,
}

impl<O: Offset> Lanes<'_, O> {
    /// Whether an element of `T` that begins `skip` bytes into the access is inside and aligned, if the access
    /// is.
    #[inline(always)]
    const fn has<T: Cell>(&self, skip: usize) -> bool {
        skip + T::BYTES <= self.bytes && skip.is_multiple_of(T::BYTES)
    }

    #[inline(always)]
    fn place(&self, lane: usize, skip: usize) -> *mut u8 {
        let at = self.at[lane].place() + skip;
        self.buffer.start.as_ptr().wrapping_add(at)
    }

    /// Each lane's element that begins `skip` bytes into its access.
    #[inline(always)]
    pub(crate) fn get<T: Cell>(&self, skip: usize) -> [T; LANES] {
        let mut out = [T::default(); LANES];
        self.get_to(skip, &mut out);
        out
    }

    /// As [`get`](Self::get), to where the elements are wanted. Copying them there would wait for the single stores
    /// to be done.
    #[inline(always)]
    pub(crate) fn get_to<T: Cell>(&self, skip: usize, out: &mut [T; LANES]) {
        if self.has::<T>(skip) {
            for lane in 0..LANES {
                // SAFETY: `lanes` found the whole access inside and aligned to its size, a power of two, which
                // holds the element at a multiple of the element's size.
                out[lane] = unsafe { T::load(self.place(lane, skip)) };
            }
        }
    }

    /// Writes the elements of the lanes in `mask`, lowest lane first.
    #[inline(always)]
    pub(crate) fn set<T: Cell>(&self, skip: usize, values: &[T; LANES], mask: u32) {
        if !self.has::<T>(skip) {
            return;
        }
        if mask == u32::MAX {
            for lane in 0..LANES {
                // SAFETY: as in `get`.
                unsafe { T::store(self.place(lane, skip), values[lane]) };
            }
        } else {
            for lane in lanes_of(mask) {
                // SAFETY: as in `get`.
                unsafe { T::store(self.place(lane, skip), values[lane]) };
            }
        }
    }
}
