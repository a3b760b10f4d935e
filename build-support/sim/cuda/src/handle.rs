//! Handles: what programs hold of the driver's objects.
//!
//! A handle is a number that no memory has as its address and that is never given out again, so a stale one is
//! always told from a live one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::code::Code;
use crate::refusal::{Answer, Refusal};

/// Above every address that a process can have, yet positive as a signed number.
const FIRST: usize = 0x5000_0000_0000_0000;
/// Between two handles of a kind; the kind is in between.
const STEP: usize = 256;

static COUNT: AtomicUsize = AtomicUsize::new(1);

/// What a handle is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Context = 1,
    Stream,
    Event,
    Module,
    Function,
    Library,
    Kernel,
    Graph,
    Node,
    Exec,
    Pool,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Context,
        Self::Stream,
        Self::Event,
        Self::Module,
        Self::Function,
        Self::Library,
        Self::Kernel,
        Self::Graph,
        Self::Node,
        Self::Exec,
        Self::Pool,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Stream => "stream",
            Self::Event => "event",
            Self::Module => "module",
            Self::Function => "function",
            Self::Library => "library",
            Self::Kernel => "kernel",
            Self::Graph => "graph",
            Self::Node => "graph node",
            Self::Exec => "executable graph",
            Self::Pool => "memory pool",
        }
    }

    /// What a number is that is no live handle of this kind.
    fn describe(self, handle: usize) -> String {
        let name = self.name();
        if handle == 0 {
            return format!("the {name} is null");
        }
        let known = handle
            .checked_sub(FIRST)
            .filter(|offset| offset / STEP < COUNT.load(Ordering::Relaxed));
        let kind = known.and_then(|offset| Self::ALL.get((offset % STEP / 16).wrapping_sub(1)));
        match kind {
            Some(kind) if *kind == self => format!("{name} {handle:#x} was destroyed"),
            Some(kind) => format!("{handle:#x} is of another kind: {}, no {name}", kind.name()),
            None => format!("{handle:#x} is no {name}"),
        }
    }
}

/// The live objects of a kind.
#[derive(Debug)]
pub(crate) struct Table<T> {
    kind: Kind,
    live: RwLock<BTreeMap<usize, Arc<T>>>,
}

impl<T> Table<T> {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            live: RwLock::new(BTreeMap::new()),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<usize, Arc<T>>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<usize, Arc<T>>> {
        self.live.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle for the object that `make` makes, which is told it.
    pub(crate) fn insert(&self, make: impl FnOnce(usize) -> T) -> Arc<T> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let handle = FIRST + number * STEP + self.kind as usize * 16;
        let object = Arc::new(make(handle));
        self.write().insert(handle, Arc::clone(&object));
        object
    }

    pub(crate) fn find(&self, handle: usize) -> Option<Arc<T>> {
        self.read().get(&handle).map(Arc::clone)
    }

    /// The object, or `CUDA_ERROR_INVALID_HANDLE`.
    pub(crate) fn get(&self, handle: usize) -> Answer<Arc<T>> {
        self.get_or(handle, Code::INVALID_HANDLE)
    }

    /// The object, or that error.
    pub(crate) fn get_or(&self, handle: usize, code: Code) -> Answer<Arc<T>> {
        self.find(handle).ok_or_else(|| self.stale(handle, code))
    }

    /// Takes an object's handle away.
    pub(crate) fn remove(&self, handle: usize) -> Option<Arc<T>> {
        self.write().remove(&handle)
    }

    /// Takes the handles away from objects of which that is so.
    pub(crate) fn take(&self, is_meant: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut live = self.write();
        let (taken, kept) = std::mem::take(&mut *live)
            .into_iter()
            .partition(|(_, object)| is_meant(object));
        *live = kept;
        let taken: BTreeMap<_, _> = taken;
        taken.into_values().collect()
    }

    /// Objects of which that is so.
    pub(crate) fn select(&self, is_meant: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let live = self.read();
        live.values()
            .filter(|object| is_meant(object))
            .map(Arc::clone)
            .collect()
    }

    /// The failure of a call with a number that is no handle.
    pub(crate) fn stale(&self, handle: usize, code: Code) -> Refusal {
        code.because(self.kind.describe(handle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_handles_are_told_from_others() {
        let events = Table::new(Kind::Event);
        let streams = Table::<usize>::new(Kind::Stream);
        let event = *events.insert(|handle| handle);
        assert_eq!(*events.get(event).unwrap(), event);
        let why = |table: &Table<usize>, handle| table.get(handle).unwrap_err().why;
        assert_eq!(
            why(&streams, event),
            format!("{event:#x} is of another kind: event, no stream")
        );
        events.remove(event);
        assert_eq!(
            why(&events, event),
            format!("event {event:#x} was destroyed")
        );
        assert_eq!(why(&events, 0), "the event is null");
        assert_eq!(why(&events, 0x1234), "0x1234 is no event");
    }
}
