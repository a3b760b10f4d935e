//! What a device does for its streams and graphs.
//!
//! - `copy`, `fill`: memory
//! - `kernel`: launches
//! - `run`: doing it

pub(crate) mod copy;
pub(crate) mod fill;
pub(crate) mod kernel;
pub(crate) mod run;

use std::ffi::c_void;
use std::sync::Arc;

pub(crate) use self::copy::Copy;
pub(crate) use self::fill::Fill;
pub(crate) use self::kernel::Kernel;
use crate::event::{Event, Stamp};
use crate::graph::memory::GraphMemory;
use crate::queue::Hand;

/// A piece of work.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// A node that only orders others.
    Nothing,
    Kernel(Arc<Kernel>),
    Copy(Arc<Copy>),
    Fill(Fill),
    Host(HostFunction),
    Callback(Callback),
    /// Gives memory back.
    Free(u64),
    /// Notes the time.
    Stamp(Stamp),
    /// A graph's node that records an event outside of it.
    Record(Arc<Event>),
    /// A graph's node that waits for an event outside of it: what that was recorded behind came before.
    Wait,
    /// A graph's memory begins to be there.
    Allocate(Arc<GraphMemory>),
    /// A graph's memory is there no more.
    Release(Arc<GraphMemory>),
}

impl Op {
    /// Who does it.
    pub(crate) const fn hand(&self) -> Hand {
        match self {
            Self::Host(_) | Self::Callback(_) => Hand::Host,
            _ => Hand::Device,
        }
    }
}

/// A function of the program's that a stream calls (`cuLaunchHostFunc`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostFunction {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    pub(crate) data: Opaque,
}

/// A function of the program's that a stream calls with what has become of its work (`cuStreamAddCallback`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callback {
    pub(crate) function: unsafe extern "C" fn(usize, u32, *mut c_void),
    pub(crate) stream: usize,
    pub(crate) data: Opaque,
}

/// A pointer that is given back as it came.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Opaque(pub(crate) *mut c_void);

#[expect(unsafe_code, reason = "a pointer that nobody here follows")]
mod shared {
    // SAFETY: it is only handed to the function that it came with, whose business it is.
    unsafe impl Send for super::Opaque {}
    // SAFETY: as above.
    unsafe impl Sync for super::Opaque {}
}
