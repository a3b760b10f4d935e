//! Copies and sets as programs ask for them: what is checked before they are enqueued.
//!
//! What the host may do with its memory after an asynchronous copy was asked for depends on the memory (CUDA
//! driver API, API synchronization behavior): page-locked memory is read or written in the stream's turn; other
//! memory is read before the call returns, and a copy to it is done when the call returns.

use std::sync::Arc;

use crate::code::Code;
use crate::driver::Driver;
use crate::memory::{How, check_range, describe, is_device_address};
use crate::refusal::{Answer, Refusal};
use crate::work::copy::{Copy, HostPointer, Place, Shape, Side};
use crate::work::{Fill, Op};

/// What a caller says an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Host,
    Device,
    /// Whatever it is (`CU_MEMORYTYPE_UNIFIED`).
    Any,
}

/// A side of a copy as a program gives it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) pitch: u64,
    pub(crate) plane: u64,
}

impl End {
    pub(crate) const fn line(space: Space, address: u64) -> Self {
        Self {
            space,
            address,
            offset: 0,
            pitch: 0,
            plane: 0,
        }
    }
}

/// A copy that can be enqueued.
pub(crate) struct Planned {
    copy: Copy,
    /// Whether the program may change the source as soon as the call returns.
    takes: bool,
    /// Whether the call returns only when it is done.
    pub(crate) waits: bool,
}

impl Planned {
    /// The copy, from where its source is.
    pub(crate) fn op(&self) -> Op {
        Op::Copy(Arc::new(self.copy.clone()))
    }

    /// The copy, from what its source is now, if the program may change it before the copy's turn comes.
    pub(crate) fn taken(mut self) -> Answer<Op> {
        let from = &mut self.copy.from;
        if let Place::Host(pointer) = from.place
            && self.takes
        {
            let bytes = usize::try_from(from.extent(&self.copy.shape));
            let bytes = bytes.map_err(|_| refuse("the source goes beyond memory"))?;
            from.place = Place::Taken(Arc::from(pointer.read(from.offset, bytes)));
            from.offset = 0;
        }
        Ok(Op::Copy(Arc::new(self.copy)))
    }
}

fn refuse(what: impl Into<String>) -> Refusal {
    Code::INVALID_VALUE.because(what.into())
}

impl Driver {
    /// Where one side of a copy is, and whether it is memory that the host may change at once.
    fn side(&self, end: End, shape: &Shape, in_graph: bool, what: &str) -> Answer<(Side, bool)> {
        let mut side = Side {
            place: Place::Device(end.address),
            offset: end.offset,
            pitch: end.pitch,
            plane: end.plane,
        };
        if end.pitch < shape.width && shape.height > 1 {
            return Err(refuse(format!(
                "lines of {} bytes do not fit into the pitch of {} bytes of the {what}",
                shape.width, end.pitch
            )));
        }
        if end.plane < end.pitch.saturating_mul(shape.height) && shape.depth > 1 {
            return Err(refuse(format!("planes of the {what} overlap")));
        }
        let first = end.address.saturating_add(end.offset);
        let known = self.allocations.find(first);
        let is_known = known.is_some() || is_device_address(first);
        match end.space {
            Space::Device => {}
            Space::Any if is_known => {}
            Space::Host if is_device_address(first) => {
                return Err(refuse(format!(
                    "the {what} is given as host memory, but {first:#x} is a device address"
                )));
            }
            Space::Host | Space::Any => {
                if end.address == 0 {
                    return Err(refuse(format!("the {what} is null")));
                }
                side.place = Place::Host(HostPointer::new(end.address));
                let is_locked = known.is_some_and(|known| known.how.is_host());
                return Ok((side, !is_locked));
            }
        }
        let bytes = side.extent(shape);
        let memory = self.device.memory();
        check_range(&self.allocations, memory, first, bytes, in_graph).map_err(|refusal| {
            Refusal {
                why: format!("the {what}: {}", refusal.why).into(),
                ..refusal
            }
        })?;
        Ok((side, false))
    }

    /// A copy, checked. `None` if there is nothing to copy.
    pub(crate) fn plan_copy(
        &self,
        from: End,
        to: End,
        shape: Shape,
        captured: bool,
    ) -> Answer<Option<Planned>> {
        if shape.is_empty() {
            return Ok(None);
        }
        let (source, takes) = self.side(from, &shape, captured, "source")?;
        let (target, waits) = self.side(to, &shape, captured, "destination")?;
        Ok(Some(Planned {
            copy: Copy {
                from: source,
                to: target,
                shape,
            },
            // A graph reads and writes when it is launched.
            takes: takes && !captured,
            waits: waits && !captured,
        }))
    }

    /// A memset, checked. `None` if there is nothing to set.
    pub(crate) fn plan_fill(&self, fill: Fill, captured: bool) -> Answer<Option<Op>> {
        let Fill {
            address,
            element,
            pitch,
            width,
            height,
            ..
        } = fill;
        if width == 0 || height == 0 {
            return Ok(None);
        }
        let line = width.checked_mul(u64::from(element));
        let line = line.ok_or_else(|| refuse(format!("{width} elements of {element} bytes")))?;
        if !address.is_multiple_of(u64::from(element)) {
            return Err(refuse(format!(
                "{address:#x} is no multiple of the {element} bytes of an element"
            )));
        }
        if height > 1 && (!pitch.is_multiple_of(u64::from(element)) || pitch < line) {
            return Err(refuse(format!(
                "lines of {line} bytes do not fit into a pitch of {pitch} bytes"
            )));
        }
        let memory = self.device.memory();
        check_range(&self.allocations, memory, address, fill.extent(), captured)?;
        Ok(Some(Op::Fill(fill)))
    }

    /// Why an address cannot be freed.
    pub(crate) fn refuse_free(&self, address: u64) -> Refusal {
        let why = match self.allocations.find(address) {
            Some(found) if found.base != address => format!(
                "{address:#x} is inside the {} bytes at {:#x}, not their start",
                found.bytes, found.base
            ),
            Some(found) => match found.how {
                How::Host(_) => format!("{address:#x} is host memory: use `cuMemFreeHost`"),
                How::Registered(_) => {
                    format!("{address:#x} is registered memory: use `cuMemHostUnregister`")
                }
                _ => format!("{address:#x} is not freed by this function"),
            },
            None => describe(&self.allocations, self.device.memory(), address),
        };
        Code::INVALID_VALUE.because(why)
    }
}
