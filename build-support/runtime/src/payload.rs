//! What a launch returns: whether its checks passed, to be known when asked.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use cudarc::driver::CudaStream;

use crate::call::{self, Current, Event};
use crate::driver::DriverError;
use crate::failure::{FailedCheck, Origin, Place};
use crate::pool::{End, Launched, Pool};
use crate::slot::Slot;

/// Whether the checks of a launch passed.
///
/// Making one costs nothing and waits for nothing. Asking it waits for the launch's stream, once; then the
/// answer stays. Dropped unasked, it waits for nothing either, and a failure is reported later
/// ([`set_unread_hook`](crate::set_unread_hook)).
///
/// A launch that is captured into a graph answers for the graph's launches, on the stream it was captured on: each
/// question waits for that stream and tells of the failures since the one before.
#[must_use = "a check may have failed: ask with `check()`, or drop it to have failures reported on stderr"]
pub struct ErrorPayload {
    launch: Option<InFlight>,
    outcome: Mutex<Outcome>,
}

/// A launch that may be running.
struct InFlight {
    stream: Arc<CudaStream>,
    origin: Origin,
    /// `None` if the kernel has no checks.
    slot: Option<(Arc<Pool>, Slot)>,
    /// Recorded right after the launch if the stream cannot tell when it is over.
    done: Option<Event>,
    captured: bool,
}

#[derive(Debug)]
enum Outcome {
    Open,
    Passed,
    Failed(FailedCheck),
}

impl ErrorPayload {
    /// Of a launch that there was no need for.
    pub(crate) const fn passed() -> Self {
        Self {
            launch: None,
            outcome: Mutex::new(Outcome::Passed),
        }
    }

    /// Of a launch that was given to the driver just now.
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        origin: Origin,
        slot: Option<(&Arc<Pool>, Slot)>,
        captured: bool,
    ) -> Self {
        let needs_event = !captured && call::is_per_thread(stream);
        Self {
            launch: Some(InFlight {
                stream: Arc::clone(stream),
                origin,
                slot: slot.map(|(pool, slot)| (Arc::clone(pool), slot)),
                done: needs_event.then(|| Event::record(stream).ok()).flatten(),
                captured,
            }),
            outcome: Mutex::new(Outcome::Open),
        }
    }

    /// Waits for the launch; the first failed check is the error.
    ///
    /// # Errors
    ///
    /// If a check failed, or the launch did: see [`Category`](crate::Category).
    pub fn check(&self) -> Result<(), FailedCheck> {
        self.get().map_or(Ok(()), Err)
    }

    /// Waits for the launch; the first failed check, if one failed.
    #[must_use]
    pub fn get(&self) -> Option<FailedCheck> {
        self.ask(true).flatten()
    }

    /// Waits for the launch; whether a check failed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.get().is_some()
    }

    /// As [`check`](Self::check), without waiting: `None` while the stream has work.
    #[must_use]
    pub fn try_check(&self) -> Option<Result<(), FailedCheck>> {
        Some(self.ask(false)?.map_or(Ok(()), Err))
    }

    /// `None` if the answer is not there yet.
    fn ask(&self, wait: bool) -> Option<Option<FailedCheck>> {
        let mut outcome = match self.outcome.try_lock() {
            Ok(outcome) => outcome,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread is waiting for the launch.
            Err(TryLockError::WouldBlock) if !wait => return None,
            Err(TryLockError::WouldBlock) => {
                self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
            }
        };
        match &*outcome {
            Outcome::Open => {}
            Outcome::Passed => return Some(None),
            Outcome::Failed(failed) => return Some(Some(failed.clone())),
        }
        let Some(launch) = &self.launch else {
            return Some(None);
        };
        let (failed, stays) = match launch.is_over(wait) {
            Ok(false) => return None,
            Ok(true) => (launch.read(), !launch.captured),
            Err(error) => (Some(launch.fault(error)), !error.is_capture()),
        };
        if stays {
            *outcome = match &failed {
                None => Outcome::Passed,
                Some(failed) => Outcome::Failed(failed.clone()),
            };
        }
        Some(failed)
    }
}

impl InFlight {
    fn is_over(&self, wait: bool) -> Result<bool, DriverError> {
        let _current = Current::enter(self.stream.context())?;
        match (&self.done, wait) {
            (Some(done), true) => done.synchronize()?,
            (Some(done), false) => return done.is_done(),
            (None, _) if call::is_capturing(&self.stream) => return Err(DriverError::capturing()),
            (None, false) => return call::is_idle(&self.stream),
            (None, true) if call::is_per_thread(&self.stream) => call::synchronize_context()?,
            (None, true) => call::synchronize(&self.stream)?,
        }
        Ok(true)
    }

    fn launched(&self) -> Option<(&Arc<Pool>, Launched)> {
        let (pool, slot) = self.slot.as_ref()?;
        let launched = Launched {
            slot: *slot,
            origin: self.origin,
        };
        Some((pool, launched))
    }

    /// The launch is over.
    fn read(&self) -> Option<FailedCheck> {
        let (pool, launched) = self.launched()?;
        let stream = call::stream_id(&self.stream);
        if self.captured {
            pool.read(&launched, stream)
        } else {
            pool.read_and_take_back(&launched, stream)
        }
    }

    /// The launch cannot be waited for. A check that failed before is in host memory all the same.
    fn fault(&self, error: DriverError) -> FailedCheck {
        // To ask a stream for its id while it is being captured spoils the capture.
        let stream = match error.is_capture() {
            true => 0,
            false => call::stream_id(&self.stream),
        };
        let place = Place::new(self.stream.context(), stream);
        let record = self.slot.as_ref().and_then(|(_, slot)| slot.read());
        match record {
            Some(record) if !error.is_capture() => {
                FailedCheck::new(&self.origin, place, &record, 0, Some(error))
            }
            _ => FailedCheck::fault(&self.origin, place, error),
        }
    }
}

impl Drop for ErrorPayload {
    fn drop(&mut self) {
        let outcome = self
            .outcome
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if !matches!(outcome, Outcome::Open) {
            return;
        }
        let Some(launch) = &mut self.launch else {
            return;
        };
        let end = match (launch.captured, launch.done.take()) {
            (true, _) => End::Never,
            (false, Some(done)) => End::Event(done),
            (false, None) => End::Stream,
        };
        if let Some((pool, launched)) = launch.launched() {
            pool.retire(launched, &launch.stream, end);
        }
    }
}

impl fmt::Debug for ErrorPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ErrorPayload");
        if let Some(launch) = &self.launch {
            debug.field("kernel", &launch.origin.info.name);
            debug.field("launched_at", &launch.origin.launched_at);
        }
        debug.field("outcome", &self.outcome);
        debug.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_launch_has_passed() {
        let payload = ErrorPayload::passed();
        assert!(!payload.is_failed());
        assert_eq!(payload.try_check(), Some(Ok(())));
        assert_eq!(payload.check(), Ok(()));
    }

    #[test]
    fn payloads_cross_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<ErrorPayload>();
    }
}
