//! Streams.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::capture::Joined;
use crate::context::Context;
use crate::queue::Frontier;
use crate::refusal::Answer;

/// `CU_STREAM_NON_BLOCKING`.
pub(crate) const NON_BLOCKING: u32 = 1;
/// `CU_STREAM_LEGACY`.
pub(crate) const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`.
pub(crate) const PER_THREAD: usize = 2;

/// A stream: what of the device's work waits for what.
#[derive(Debug)]
pub(crate) struct Stream {
    /// What the program calls it: 0 for the legacy default stream.
    pub(crate) handle: usize,
    /// What `cuStreamGetId` gives.
    pub(crate) id: u64,
    pub(crate) context: Arc<Context>,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// `CUsynchronizationPolicy`, of which a device has more to choose from.
    pub(crate) policy: AtomicU32,
    /// What its next work comes after.
    pub(crate) last: Mutex<Frontier>,
    capture: Mutex<Option<Joined>>,
    /// What `cuStreamGetCaptureInfo` has pointed the program to, until the next time.
    list: Mutex<Vec<usize>>,
}

impl Stream {
    pub(crate) fn new(handle: usize, context: Arc<Context>, flags: u32, priority: i32) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        Self {
            handle,
            id: COUNT.fetch_add(1, Ordering::Relaxed),
            context,
            flags,
            priority,
            policy: AtomicU32::new(0),
            last: Mutex::default(),
            capture: Mutex::new(None),
            list: Mutex::default(),
        }
    }

    /// Keeps a list for the program to read.
    pub(crate) fn keep_list(&self, list: Vec<usize>) -> *const usize {
        let mut kept = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = list;
        kept.as_ptr()
    }

    pub(crate) const fn is_legacy(&self) -> bool {
        self.handle == 0
    }

    /// Whether it and the legacy default stream wait for each other.
    pub(crate) const fn is_blocking(&self) -> bool {
        self.flags & NON_BLOCKING == 0
    }

    /// Whether work goes into a graph.
    pub(crate) fn is_captured(&self) -> Answer<bool> {
        match &*self.capture() {
            Some(joined) => joined.capture.check().map(|()| true),
            None => Ok(false),
        }
    }

    /// The capture that the stream takes part in.
    pub(crate) fn capture(&self) -> MutexGuard<'_, Option<Joined>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Key = (usize, Option<ThreadId>);

/// The streams that nobody creates: one a context, and one more for each of its threads.
#[derive(Debug, Default)]
pub(crate) struct Defaults {
    /// By their context's handle, and by thread.
    known: Mutex<HashMap<Key, Arc<Stream>>>,
}

impl Defaults {
    fn get(&self, context: &Arc<Context>, handle: usize, thread: Option<ThreadId>) -> Arc<Stream> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = known
            .entry((context.handle, thread))
            .or_insert_with(|| Arc::new(Stream::new(handle, Arc::clone(context), 0, 0)));
        Arc::clone(stream)
    }

    /// The legacy default stream.
    pub(crate) fn legacy(&self, context: &Arc<Context>) -> Arc<Stream> {
        self.get(context, 0, None)
    }

    /// The calling thread's own default stream.
    pub(crate) fn per_thread(&self, context: &Arc<Context>) -> Arc<Stream> {
        self.get(context, PER_THREAD, Some(thread::current().id()))
    }

    /// Those of a context that is destroyed.
    pub(crate) fn forget(&self, context: &Context) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(handle, _), _| *handle != context.handle);
    }
}
