//! Events.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::capture::Joined;
use crate::context::Context;
use crate::queue::Frontier;

/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const DISABLE_TIMING: u32 = 2;

/// When some work was done, once it is.
pub(crate) type Stamp = Arc<OnceLock<Instant>>;

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: Arc<Context>,
    pub(crate) flags: u32,
    recorded: Mutex<Recorded>,
}

/// What an event was last recorded behind.
#[derive(Debug, Clone, Default)]
pub(crate) enum Recorded {
    /// Nothing yet.
    #[default]
    Never,
    /// Work.
    Work {
        /// Its tickets.
        after: Frontier,
        /// When it was done, unless the event is not for timing.
        stamp: Option<Stamp>,
    },
    /// Nodes of a graph that is or was being captured.
    Captured(Joined),
}

impl Event {
    pub(crate) fn new(context: Arc<Context>, flags: u32) -> Self {
        Self {
            context,
            flags,
            recorded: Mutex::new(Recorded::Never),
        }
    }

    pub(crate) const fn is_timed(&self) -> bool {
        self.flags & DISABLE_TIMING == 0
    }

    pub(crate) fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
