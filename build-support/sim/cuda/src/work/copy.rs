//! Copies between device and host memory: lines, planes and volumes.

#![expect(unsafe_code, reason = "host memory that programs point to")]

use std::sync::Arc;

use gpuk_sim::{AccessError, Memory};

/// Host memory that the program has promised to keep for as long as a copy needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostPointer(*mut u8);

// SAFETY: it is used by whoever does the copy, under the program's promise.
unsafe impl Send for HostPointer {}
// SAFETY: as above.
unsafe impl Sync for HostPointer {}

impl HostPointer {
    pub(crate) fn new(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(
            usize::try_from(address).unwrap_or(0),
        ))
    }

    fn at(self, offset: u64) -> *mut u8 {
        self.0
            .wrapping_add(usize::try_from(offset).unwrap_or(usize::MAX))
    }

    /// The bytes as they are now.
    pub(crate) fn read(self, offset: u64, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        // SAFETY: the program's promise of so many bytes; ours are new.
        unsafe {
            self.at(offset)
                .copy_to_nonoverlapping(out.as_mut_ptr(), bytes)
        };
        out
    }

    fn write(self, offset: u64, bytes: &[u8]) {
        // SAFETY: the program's promise of so many bytes; what is written from is ours.
        unsafe {
            self.at(offset)
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }
}

/// Where bytes are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// At an address that kernels use.
    Device(u64),
    /// In the program's memory.
    Host(HostPointer),
    /// Taken from the program's memory when the copy was asked for.
    Taken(Arc<[u8]>),
}

/// A side of a copy: where its first byte is, and how far its lines and planes are apart in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub(crate) place: Place,
    pub(crate) offset: u64,
    pub(crate) pitch: u64,
    pub(crate) plane: u64,
}

impl Side {
    /// From the first byte of `shape` to behind the last.
    pub(crate) const fn extent(&self, shape: &Shape) -> u64 {
        if shape.is_empty() {
            return 0;
        }
        let planes = self.plane.saturating_mul(shape.depth - 1);
        let lines = self.pitch.saturating_mul(shape.height - 1);
        planes.saturating_add(lines).saturating_add(shape.width)
    }

    const fn at(&self, line: u64, plane: u64) -> u64 {
        self.offset + line * self.pitch + plane * self.plane
    }
}

/// How much is copied: bytes of a line, lines, planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) width: u64,
    pub(crate) height: u64,
    pub(crate) depth: u64,
}

impl Shape {
    pub(crate) const fn line(bytes: u64) -> Self {
        Self {
            width: bytes,
            height: 1,
            depth: 1,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// A copy.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    pub(crate) from: Side,
    pub(crate) to: Side,
    pub(crate) shape: Shape,
}

impl Copy {
    /// Does it.
    pub(crate) fn run(&self, memory: &Memory) -> Result<(), AccessError> {
        let Shape {
            width,
            height,
            depth,
        } = self.shape;
        for plane in 0..depth {
            for line in 0..height {
                let (from, to) = (self.from.at(line, plane), self.to.at(line, plane));
                self.line(memory, from, to, width)?;
            }
        }
        Ok(())
    }

    fn line(&self, memory: &Memory, from: u64, to: u64, bytes: u64) -> Result<(), AccessError> {
        if bytes == 0 {
            return Ok(());
        }
        if let (Place::Device(source), Place::Device(target)) = (&self.from.place, &self.to.place) {
            return memory.copy(target + to, source + from, bytes);
        }
        // In pieces, so that a huge copy does not need as much again.
        const PIECE: u64 = 4 << 20;
        let mut at = 0;
        while at < bytes {
            let piece = (bytes - at).min(PIECE);
            let len = usize::try_from(piece).unwrap_or(usize::MAX);
            let taken = match &self.from.place {
                Place::Device(source) => {
                    let mut taken = vec![0; len];
                    memory.read(source + from + at, &mut taken)?;
                    taken
                }
                Place::Host(source) => source.read(from + at, len),
                Place::Taken(all) => {
                    let start = usize::try_from(from + at).unwrap_or(usize::MAX);
                    let taken = all.get(start..).and_then(|rest| rest.get(..len));
                    taken.map(<[u8]>::to_vec).unwrap_or_default()
                }
            };
            match &self.to.place {
                Place::Device(target) => memory.write(target + to + at, &taken)?,
                Place::Host(target) => target.write(to + at, &taken),
                // Nothing is copied to what was taken.
                Place::Taken(_) => {}
            }
            at += piece;
        }
        Ok(())
    }
}
