//! Which launch has which slot.
//!
//! Each context has one pool. A passing launch whose payload is read takes a slot and gives it back, two short
//! critical sections and no driver call. The slot of an unread payload may still be in use by its kernel: it is
//! retired with others of its stream, one event for each [`BATCH`], and looked at when the event is done.
//!
//! The pool belongs to the loaded kernels and the payloads; nothing it holds refers to it. So it goes when they
//! have gone, and the context after it.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaStream, CudaViewMut};

use crate::call::{self, CopyStream, Current, Event, Relaxed};
use crate::driver::DriverError;
use crate::failure::{FailedCheck, Place};
use crate::launched::{By, Launched};
use crate::relay::Relay;
use crate::slot::{Chunk, Slot};
use crate::unread;

/// How many slots are retired by one event.
const BATCH: usize = 64;

/// How many events that are not done end a look around.
const MAX_WAITING: usize = 32;

/// The slots of a context.
#[derive(Debug)]
pub(crate) struct Pool {
    slots: Mutex<Slots>,
    /// Locked after `slots`, or alone.
    copies: Mutex<CopyStream>,
    relay: OnceLock<Relay>,
    context: Arc<CudaContext>,
}

#[derive(Debug, Default)]
struct Slots {
    free: Vec<Slot>,
    /// For launches that take turns.
    pairs: Vec<[Slot; 2]>,
    retired: Vec<Retired>,
    batches: Vec<Batch>,
    /// Events of batches that are done.
    events: Vec<Event>,
    /// Those that never come back: a graph may be launched at any time, and of a lost context nothing is known.
    kept: Vec<(Launched, Of)>,
    chunks: Vec<Chunk>,
}

/// Slots whose payloads were dropped, not yet behind an event.
#[derive(Debug)]
struct Retired {
    /// Kept until the event is recorded.
    stream: Arc<CudaStream>,
    launches: Vec<Launched>,
}

/// Slots of launches that are over when the event is done.
#[derive(Debug)]
struct Batch {
    done: Arc<Event>,
    stream: u64,
    launches: Vec<Launched>,
}

/// The stream of a kept launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// By its id.
    Id(u64),
    /// By its handle: to ask for the id during a capture spoils the capture (seen with driver 580). The handle may
    /// come back for another stream, which then tells of the graph too.
    Handle(usize),
}

/// How it will be known that a launch is over.
#[derive(Debug)]
pub(crate) enum End {
    /// By its place in the stream.
    Stream,
    /// By an event recorded behind it.
    Event(Arc<Event>),
    /// Not at all: it is part of a graph.
    Never,
}

/// The number of a stream, asked for only where there is something to say.
pub(crate) trait Number {
    fn number(self) -> u64;
}

impl Number for u64 {
    fn number(self) -> u64 {
        self
    }
}

/// The stream's context is current.
impl Number for &CudaStream {
    fn number(self) -> u64 {
        call::stream_id(self)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Contexts by handle. A handle is not used again while its pool, which has the context, is alive.
static POOLS: Mutex<Vec<(usize, Weak<Pool>)>> = Mutex::new(Vec::new());

impl Pool {
    /// The context's pool, if it has one.
    pub(crate) fn find(context: &CudaContext) -> Option<Arc<Self>> {
        let handle = context.cu_ctx() as usize;
        let pools = lock(&POOLS);
        let found = pools.iter().filter(|(of, _)| *of == handle);
        found.filter_map(|(_, pool)| pool.upgrade()).next()
    }

    /// The context's pool, with slots in it.
    pub(crate) fn of(context: &Arc<CudaContext>) -> Result<Arc<Self>, DriverError> {
        if let Some(pool) = Self::find(context) {
            return Ok(pool);
        }
        let _current = Current::enter(context)?;
        let _relaxed = Relaxed::enter();
        let pool = Arc::new(Self {
            slots: Mutex::default(),
            copies: Mutex::new(CopyStream::new()?),
            relay: OnceLock::new(),
            context: Arc::clone(context),
        });
        let slot = pool.grow(&mut lock(&pool.slots))?;
        pool.give(slot);
        let handle = context.cu_ctx() as usize;
        let mut pools = lock(&POOLS);
        pools.retain(|(_, pool)| pool.strong_count() > 0);
        // Another thread may have been faster; a second pool would do no harm, but one is enough.
        let other = pools.iter().find(|(of, _)| *of == handle);
        if let Some(other) = other.and_then(|(_, pool)| pool.upgrade()) {
            drop(pools);
            return Ok(other);
        }
        pools.push((handle, Arc::downgrade(&pool)));
        Ok(pool)
    }

    /// A slot for a launch. The context is current.
    pub(crate) fn take(&self) -> Result<Slot, DriverError> {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.free.pop() {
            return Ok(slot);
        }
        let _relaxed = Relaxed::enter();
        let failed = slots.collect(true);
        let slot = match slots.free.pop() {
            Some(slot) => Ok(slot),
            None => self.grow(&mut slots),
        };
        drop(slots);
        self.report(failed);
        slot
    }

    /// Copies a variable of a module; `None` if it has not that size. The context is current.
    pub(crate) fn variable(
        &self,
        variable: &CudaViewMut<'_, u8>,
        bytes: &mut [u8],
    ) -> Result<Option<()>, DriverError> {
        let _relaxed = Relaxed::enter();
        lock(&self.copies).variable(variable, bytes)
    }

    /// Takes back the slot of a launch that passed, or was never launched.
    pub(crate) fn give(&self, slot: Slot) {
        lock(&self.slots).free.push(slot);
    }

    /// Two slots for launches that take turns. The context is current.
    pub(crate) fn take_pair(&self) -> Result<[Slot; 2], DriverError> {
        let mut slots = lock(&self.slots);
        if let Some(pair) = slots.pairs.pop() {
            return Ok(pair);
        }
        let _relaxed = Relaxed::enter();
        let (chunk, pairs) = Chunk::pairs(&lock(&self.copies))?;
        slots.chunks.push(chunk);
        slots.pairs.extend(pairs);
        slots.pairs.pop().ok_or_else(DriverError::out_of_memory)
    }

    /// Takes back all slots of launches that are over, and as new.
    pub(crate) fn give_back(&self, launched: &Launched) {
        lock(&self.slots).give_back(launched);
    }

    /// The kernels that carry outcomes from slot to slot. The context is current.
    pub(crate) fn relay(&self) -> Result<&Relay, DriverError> {
        if let Some(relay) = self.relay.get() {
            return Ok(relay);
        }
        let _relaxed = Relaxed::enter();
        let relay = Relay::load(&self.context)?;
        // Another thread may have been faster; then this one goes.
        Ok(self.relay.get_or_init(|| relay))
    }

    /// Takes back the slot of a launch that may be running, and whose outcome nobody asked for.
    pub(crate) fn retire(&self, launched: Launched, stream: &Arc<CudaStream>, end: End) {
        let mut slots = lock(&self.slots);
        let full = match end {
            End::Never => {
                let of = Of::Handle(stream.cu_stream() as usize);
                slots.kept.push((launched, of));
                false
            }
            End::Event(done) => {
                slots.batches.push(Batch {
                    done,
                    stream: self.stream_id(stream),
                    launches: vec![launched],
                });
                slots.batches.len().is_multiple_of(BATCH)
            }
            End::Stream => slots.retire(launched, stream),
        };
        if !full {
            return;
        }
        let Ok(_current) = Current::enter(&self.context) else {
            return;
        };
        let _relaxed = Relaxed::enter();
        let failed = slots.collect(false);
        drop(slots);
        self.report(failed);
    }

    fn stream_id(&self, stream: &CudaStream) -> u64 {
        let _current = Current::enter(&self.context);
        call::stream_id(stream)
    }

    /// What launches that are over say. Their slots become as new. The context is current.
    pub(crate) fn read(&self, launched: &Launched, stream: impl Number) -> Option<FailedCheck> {
        self.read_slot(launched, stream).0
    }

    /// As [`read`](Self::read), and takes the slot back.
    pub(crate) fn read_and_take_back(
        &self,
        launched: &Launched,
        stream: impl Number,
    ) -> Option<FailedCheck> {
        let (failed, is_new) = self.read_slot(launched, stream);
        if is_new {
            self.give_back(launched);
        }
        failed
    }

    fn read_slot(&self, launched: &Launched, stream: impl Number) -> (Option<FailedCheck>, bool) {
        if launched.is_new() {
            return (None, true);
        }
        let Ok(_current) = Current::enter(&self.context) else {
            return (None, false);
        };
        let _relaxed = Relaxed::enter();
        let copies = lock(&self.copies);
        let found = launched.read(&copies);
        let is_new = launched.reset(&copies).is_ok();
        drop(copies);
        let failed = found.and_then(|found| {
            let any = launched.any_origin()?;
            let place = Place::new(&self.context, stream.number());
            Some(FailedCheck::found(&found, &any, place, None))
        });
        (failed, is_new)
    }

    /// Reports launches that are over and failed.
    fn report(&self, failed: Vec<(Launched, u64)>) {
        for (launched, stream) in failed {
            if let Some(failed) = self.read_and_take_back(&launched, stream) {
                unread::report(&failed);
            }
        }
    }

    /// Adds slots and takes one.
    fn grow(&self, slots: &mut Slots) -> Result<Slot, DriverError> {
        let chunk = Chunk::new(&lock(&self.copies))?;
        let taken = chunk.slot(0);
        let free = (1..Chunk::SLOTS).map(|index| chunk.slot(index));
        slots.free.extend(free);
        slots.chunks.push(chunk);
        Ok(taken)
    }

    fn settle(&self, stream: &CudaStream) -> Result<(), DriverError> {
        let _current = Current::enter(&self.context)?;
        call::synchronize_unless_capturing(stream)?;
        let _relaxed = Relaxed::enter();
        let id = call::stream_id(stream);
        let mut slots = lock(&self.slots);
        let mut failed = slots.take_retired(stream, id);
        failed.extend(slots.collect(false));
        let handle = Of::Handle(stream.cu_stream() as usize);
        let kept = slots.kept.iter();
        let kept = kept.filter(|(_, of)| *of == handle || *of == Of::Id(id));
        let kept: Vec<_> = kept.cloned().collect();
        drop(slots);
        self.report(failed);
        for (launched, _) in kept {
            if let Some(failed) = self.read(&launched, id) {
                unread::report(&failed);
            }
        }
        Ok(())
    }
}

impl Slots {
    fn give_back(&mut self, launched: &Launched) {
        match launched.by {
            By::Chain(second, _) => self.pairs.push([launched.slot, second]),
            By::Launch(_) | By::Replay(_) => self.free.push(launched.slot),
        }
    }

    /// Whether a batch is full.
    fn retire(&mut self, launched: Launched, stream: &Arc<CudaStream>) -> bool {
        let known = self
            .retired
            .iter_mut()
            .find(|retired| retired.stream == *stream);
        let Some(retired) = known else {
            let mut launches = Vec::with_capacity(BATCH);
            launches.push(launched);
            self.retired.push(Retired {
                stream: Arc::clone(stream),
                launches,
            });
            return false;
        };
        retired.launches.push(launched);
        retired.launches.len().is_multiple_of(BATCH)
    }

    /// Those of a stream that was waited for.
    fn take_retired(&mut self, stream: &CudaStream, id: u64) -> Vec<(Launched, u64)> {
        let of_stream = |retired: &mut Retired| *retired.stream == *stream;
        let taken: Vec<_> = self.retired.extract_if(.., of_stream).collect();
        let mut failed = Vec::new();
        for retired in taken {
            self.sort_out(retired.launches, id, &mut failed);
        }
        failed
    }

    /// Puts retired slots behind events, if there are enough of a stream, its user has dropped it, or `all` shall
    /// be; and takes back those whose events are done. Returns the failed ones, which are to be read first.
    ///
    /// The context is current, and captures are not disturbed by queries.
    fn collect(&mut self, all: bool) -> Vec<(Launched, u64)> {
        let is_due = |retired: &mut Retired| {
            let has_reason =
                all || retired.launches.len() >= BATCH || Arc::strong_count(&retired.stream) == 1;
            // An event recorded now would be one of the graph's.
            has_reason && !call::is_capturing(&retired.stream)
        };
        let due: Vec<_> = self.retired.extract_if(.., is_due).collect();
        for Retired { stream, launches } in due {
            let id = call::stream_id(&stream);
            let done = match self.events.pop() {
                Some(event) => event.record_again(&stream),
                None => Event::record(&stream),
            };
            match done {
                Ok(done) => self.batches.push(Batch {
                    done: Arc::new(done),
                    stream: id,
                    launches,
                }),
                Err(_) => self
                    .kept
                    .extend(launches.into_iter().map(|launched| (launched, Of::Id(id)))),
            }
        }
        let mut failed = Vec::new();
        let mut waiting = 0;
        for batch in mem::take(&mut self.batches) {
            // The oldest come first; behind so many that are not done, few will be.
            let asked = if waiting < MAX_WAITING || all {
                batch.done.is_done()
            } else {
                Ok(false)
            };
            match asked {
                Ok(true) => {
                    self.sort_out(batch.launches, batch.stream, &mut failed);
                    self.events.extend(Arc::into_inner(batch.done));
                }
                Ok(false) => {
                    waiting += 1;
                    self.batches.push(batch);
                }
                Err(_) => {
                    let kept = batch.launches.into_iter();
                    self.kept
                        .extend(kept.map(|launched| (launched, Of::Id(batch.stream))));
                }
            }
        }
        failed
    }

    /// Separates launches that are over into passed, whose slots are free, and failed.
    fn sort_out(
        &mut self,
        launches: Vec<Launched>,
        stream: u64,
        failed: &mut Vec<(Launched, u64)>,
    ) {
        for launched in launches {
            if launched.is_new() {
                self.give_back(&launched);
            } else {
                failed.push((launched, stream));
            }
        }
    }
}

impl Drop for Pool {
    /// The last kernels and payloads of the context are gone. What is still unread is reported now.
    fn drop(&mut self) {
        let mut slots = mem::take(&mut *lock(&self.slots));
        let Ok(_current) = Current::enter(&self.context) else {
            // The process is ending, and the driver has gone before.
            mem::forget(slots);
            mem::forget(self.relay.take());
            return;
        };
        let _relaxed = Relaxed::enter();
        let retired = mem::take(&mut slots.retired);
        let of_streams = retired
            .into_iter()
            .flat_map(|Retired { stream, launches }| {
                let id = call::stream_id(&stream);
                launches.into_iter().map(move |launched| (launched, id))
            });
        let batches = mem::take(&mut slots.batches);
        let of_batches = batches.into_iter().flat_map(|batch| {
            let stream = batch.stream;
            batch
                .launches
                .into_iter()
                .map(move |launched| (launched, stream))
        });
        let mut launches: Vec<_> = of_streams.chain(of_batches).collect();
        launches.extend(slots.kept.drain(..).map(|(launched, of)| match of {
            Of::Id(id) => (launched, id),
            Of::Handle(_) => (launched, 0),
        }));
        if !launches.is_empty() {
            // Records in host memory can be read whatever the context says.
            let _ = call::synchronize_context();
        }
        for (launched, stream) in launches {
            if let Some(failed) = self.read(&launched, stream) {
                unread::report(&failed);
            }
        }
    }
}

/// Waits for the stream, and reports the failures of launches on it whose payloads were dropped unread: at the
/// end of a program, or before a stream that cudarc only borrows is destroyed.
///
/// # Errors
///
/// If the driver does, and if the stream is being captured into a graph.
pub fn settle(stream: &CudaStream) -> Result<(), DriverError> {
    match Pool::find(stream.context()) {
        Some(pool) => pool.settle(stream),
        None => {
            let _current = Current::enter(stream.context())?;
            call::synchronize_unless_capturing(stream)
        }
    }
}
