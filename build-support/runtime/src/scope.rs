//! Many launches with one outcome.
//!
//! Each launch has a slot of its own, so its failures are told from those of the others whatever runs side by side, and
//! the slots are read in the order of the calls. Launches that do nothing after a failure have two slots between them,
//! which they take in turn: each looks at the slot of the one before it, and counts itself in its own if it does
//! nothing (`gpuk_device::record`).

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaStream;
use gpuk_device::record::SKIP;

use crate::call::{self, Current, Event};
use crate::driver::DriverError;
use crate::failure::Origin;
use crate::flight::{Flight, Part, Parts};
use crate::launched::{By, Chain, Launched};
use crate::payload::ErrorPayload;
use crate::pool::Pool;
use crate::slot::Slot;

/// After so many launches of a scope it is looked whether earlier ones are over, so that not each needs a slot to
/// itself until the end.
const ROUND: usize = 256;

/// Of so many times [`ROUND`] launches the first are likely to be over: a stream takes about a thousand.
const ROUNDS: usize = 4;

/// Runs launches on a stream as one: those that are given the scope, instead of the stream.
///
/// The payload says whether the checks of all of them passed. The first failure is that of the first launch in the
/// order of the calls, in it of the lowest block, in it of the lowest thread, in it the first executed. Nothing waits.
///
/// ```ignore
/// let (payload, y) = gpuk::checkify(&stream, |scope| {
///     let y = unsafe { kernels.gather(scope, launch, &src, &idx, y, n, rows) }?;
///     unsafe { kernels.scale(scope, launch, y, 2.0, n) }
/// })?;
/// payload.check()?;
/// ```
///
/// [`Scope`] has what else there is: errors to come after, and launches that do nothing after a failure.
///
/// # Errors
///
/// The closure's. What it launched before runs; failures in that are reported as those of a dropped payload are.
pub fn checkify<T, E>(
    stream: &Arc<CudaStream>,
    run: impl FnOnce(&Scope) -> Result<T, E>,
) -> Result<(ErrorPayload, T), E> {
    Scope::new(stream).run(run)
}

/// Makes the failure of a payload one of the scope's, as if it were a launch at this place: it comes behind the
/// launches before and in front of those to come.
///
/// Neither this nor the launches wait, even if the payload's launches run on another stream or device. Of a scope with
/// [`skip_if_failed`](Scope::skip_if_failed) the launches to come wait for them on the device, and do nothing if
/// one failed.
///
/// What is done once in a context is the exception: its first launch allocates, and its first launch that has to know of a
/// payload loads code. The driver may wait for that until all devices are idle (seen with two H200), so let both happen
/// before it matters.
pub fn check_error(scope: &Scope, payload: ErrorPayload) {
    let mut state = scope.lock();
    let before = state.launches;
    state.parts.push(Part::Payload(before, payload));
    state.unfolded += 1;
}

/// Launches on a stream with one outcome; see [`checkify`].
///
/// ```ignore
/// let (payload, y) = gpuk::Scope::new(&stream).after(prior).skip_if_failed().run(|scope| {
///     unsafe { kernels.scale(scope, launch, y, 2.0, n) }
/// })?;
/// ```
///
/// Scopes of several streams and devices become one by their payloads: `gpuk::check_error(&scope, other.finish())` makes
/// the other's failure this one's, and [`ErrorPayload::join`] makes one outcome of several.
///
/// Several threads may launch in one; the order of their calls is then up to them. Dropped without
/// [`finish`](Self::finish), it reports failures as a dropped payload does.
pub struct Scope {
    stream: Arc<CudaStream>,
    skips: bool,
    /// How many launches there were when that was set.
    before_skips: u32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many so far.
    launches: u32,
    /// One of them.
    origin: Option<Origin>,
    pool: Option<Arc<Pool>>,
    parts: Vec<Part>,
    /// The latest launches with slots of their own.
    latest: Vec<Launched>,
    /// Those before them, each with an event behind it.
    before: VecDeque<(Event, Vec<Launched>)>,
    /// How many of the payloads, from the last part back, the launches to come do not know of.
    unfolded: usize,
    /// Of launches that do nothing after a failure.
    pair: Option<[Slot; 2]>,
    chain: Chain,
    captured: bool,
    /// Whether a launch that was looked at failed; of later ones it does not matter.
    has_failed: bool,
}

impl Scope {
    /// Without launches so far.
    #[must_use]
    pub fn new(stream: &Arc<CudaStream>) -> Self {
        Self {
            stream: Arc::clone(stream),
            skips: false,
            before_skips: 0,
            state: Mutex::default(),
        }
    }

    /// An error to come after: if it failed, its failure is the scope's, whatever the launches do.
    #[must_use]
    pub fn after(self, prior: ErrorPayload) -> Self {
        check_error(&self, prior);
        self
    }

    /// Has launches do nothing if one before them failed, or an error that the scope comes after.
    ///
    /// That goes for kernels with checks; those without have nothing to look at, and run. To be called before the first
    /// launch: behind one, the next is refused with [`LaunchError::LateSkip`](crate::LaunchError::LateSkip).
    #[must_use]
    pub fn skip_if_failed(mut self) -> Self {
        if !self.skips {
            self.skips = true;
            let launches = self.lock().launches;
            self.before_skips = launches;
        }
        self
    }

    /// The stream that it launches on.
    #[must_use]
    pub const fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// As [`checkify`].
    ///
    /// # Errors
    ///
    /// The closure's.
    pub fn run<T, E>(
        self,
        run: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<(ErrorPayload, T), E> {
        let outputs = run(&self)?;
        Ok((self.finish(), outputs))
    }

    /// The outcome of the launches so far.
    pub fn finish(self) -> ErrorPayload {
        let flight = self.take();
        if flight.origin.is_none() && !flight.has_payloads() {
            return ErrorPayload::passed();
        }
        ErrorPayload::new(flight)
    }

    /// The launches so far; none are left.
    pub(crate) fn take(&self) -> Flight {
        let State {
            launches: _,
            origin,
            pool,
            mut parts,
            latest,
            before,
            unfolded: _,
            pair,
            chain,
            captured,
            has_failed: _,
        } = mem::take(&mut *self.lock());
        let before = before.into_iter().flat_map(|(_, launched)| launched);
        parts.extend(before.chain(latest).map(Part::Launched));
        if let Some([slot, second]) = pair {
            let by = By::Chain(second, Arc::new(chain));
            parts.push(Part::Launched(Launched { slot, by }));
        }
        let _current = Current::enter(self.stream.context());
        Flight::new(&self.stream, origin, pool, Parts::Scope(parts), captured)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next launch, as long as this is held.
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn {
            scope: self,
            state: self.lock(),
            slot: None,
        }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.take().retire();
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("stream", &self.stream.cu_stream())
            .field("skips", &self.skips)
            .field("launches", &self.lock().launches)
            .finish_non_exhaustive()
    }
}

/// A launch in a scope that is being made.
pub(crate) struct Turn<'a> {
    scope: &'a Scope,
    state: MutexGuard<'a, State>,
    slot: Option<Slot>,
}

impl Turn<'_> {
    /// Its number in the scope.
    pub(crate) fn number(&self) -> u32 {
        self.state.launches
    }

    /// How many launches there were before the scope was told to skip: none, where it is used as it is to be.
    pub(crate) const fn late(&self) -> u32 {
        self.scope.before_skips
    }

    /// The hidden argument of a kernel with checks. The context is current.
    pub(crate) fn gate(&mut self, pool: &Arc<Pool>, captured: bool) -> Result<u64, DriverError> {
        let pool = Arc::clone(self.state.pool.get_or_insert_with(|| Arc::clone(pool)));
        self.state.captured |= captured;
        if !self.scope.skips {
            let slot = pool.take()?;
            self.slot = Some(slot);
            return Ok(slot.gate());
        }
        let pair = match self.state.pair {
            Some(pair) => pair,
            None => *self.state.pair.insert(pool.take_pair()?),
        };
        self.state.chain.skips = true;
        let [first, second] = pair;
        let is_even = self.state.chain.origins.len().is_multiple_of(2);
        let (own, other) = if is_even {
            (first, second)
        } else {
            (second, first)
        };
        self.fold(&pool, other)?;
        Ok(own.gate() + SKIP)
    }

    /// Lets the launch know of the payloads that it comes after.
    fn fold(&mut self, pool: &Pool, before: Slot) -> Result<(), DriverError> {
        let stream = &self.scope.stream;
        let State {
            parts,
            unfolded,
            chain,
            ..
        } = &mut *self.state;
        if *unfolded == 0 {
            return Ok(());
        }
        if call::is_capturing(stream) {
            // Of the graph's launches each would come after a payload of the past.
            return Err(DriverError::capturing());
        }
        let mut left = *unfolded;
        for part in parts.iter_mut().rev() {
            let Part::Payload(_, payload) = part else {
                continue;
            };
            if left == 0 {
                break;
            }
            left -= 1;
            match payload.ask(false) {
                Some(None) => continue,
                Some(Some(_)) => pool.relay()?.fold_failure(stream, before)?,
                None => {
                    let mut flights = Vec::new();
                    payload.open(&mut flights);
                    let mut elsewhere = false;
                    for flight in &flights {
                        elsewhere |= flight.come_after(stream)?;
                    }
                    let slots: Vec<_> = flights.iter().flat_map(|flight| flight.slots()).collect();
                    pool.relay()?.fold(stream, &slots, before)?;
                    if elsewhere {
                        // Its slots are not to be used again before this has looked at them.
                        payload.end_with(&Arc::new(Event::record(stream)?));
                    }
                }
            }
            chain.has_prior = true;
        }
        *unfolded = 0;
        Ok(())
    }

    /// It was launched, by a kernel with checks or one without; or there was no need for it.
    pub(crate) fn launched(mut self, launched: Option<(Origin, bool)>) {
        let slot = self.slot.take();
        let state = &mut *self.state;
        state.launches += 1;
        let Some((origin, is_checked)) = launched else {
            return;
        };
        state.origin.get_or_insert(origin);
        match slot {
            Some(slot) => {
                let by = By::Launch(origin);
                state.latest.push(Launched { slot, by });
                if state.latest.len() == ROUND && !state.captured {
                    state.look_back(&self.scope.stream);
                }
            }
            None if is_checked => state.chain.origins.push(origin),
            None => {}
        }
    }
}

impl State {
    /// Reads the oldest launches if they are over, and gives their slots back. The stream's context is current.
    fn look_back(&mut self, stream: &CudaStream) {
        let Ok(done) = Event::record(stream) else {
            return;
        };
        let latest = mem::replace(&mut self.latest, Vec::with_capacity(ROUND));
        self.before.push_back((done, latest));
        let (Some(pool), true) = (&self.pool, self.before.len() > ROUNDS) else {
            return;
        };
        let Some((done, launched)) = self.before.pop_front() else {
            return;
        };
        if !matches!(done.is_done(), Ok(true)) {
            self.before.push_front((done, launched));
            return;
        }
        for launched in &launched {
            let failed = pool.read_and_take_back(launched, stream);
            if let (Some(failed), false) = (failed, self.has_failed) {
                self.has_failed = true;
                self.parts.push(Part::Failed(failed));
            }
        }
    }
}

impl Drop for Turn<'_> {
    /// It was not launched.
    fn drop(&mut self) {
        if let (Some(slot), Some(pool)) = (self.slot.take(), &self.state.pool) {
            pool.give(slot);
        }
    }
}
