//! What a launch returns: whether its checks passed, to be known when asked.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::call::Event;
use crate::failure::FailedCheck;
use crate::flight::Flight;
use crate::unread;

/// Whether the checks of a launch passed, or of the launches of a [scope](crate::checkify).
///
/// Making one costs nothing and waits for nothing. Asking it waits for the launch's stream, once; then the
/// answer stays. Dropped unasked, it waits for nothing either, and a failure is reported later
/// ([`set_unread_hook`](crate::set_unread_hook)).
///
/// A launch that is captured into a graph answers for the graph's launches, on the stream it was captured on: each
/// question waits for that stream and tells of the failures since the one before. [`capture`](crate::capture) gives
/// each of the graph's launches a payload of its own.
#[must_use = "a check may have failed: ask with `check()`, or drop it to have failures reported on stderr"]
pub struct ErrorPayload {
    source: Source,
    outcome: Mutex<Outcome>,
    /// Whether somebody asked, and was answered.
    is_told: AtomicBool,
}

/// Whose outcome it is.
enum Source {
    /// Nothing was launched.
    Nothing,
    /// Launches that may be running.
    Flight(Flight),
    /// Several, the first that failed being the outcome.
    Joined(Vec<ErrorPayload>),
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
        Self::of(Source::Nothing, Outcome::Passed)
    }

    const fn of(source: Source, outcome: Outcome) -> Self {
        Self {
            source,
            outcome: Mutex::new(outcome),
            is_told: AtomicBool::new(false),
        }
    }

    /// Of launches that were given to the driver just now.
    pub(crate) const fn new(flight: Flight) -> Self {
        Self::of(Source::Flight(flight), Outcome::Open)
    }

    /// One for several, of any streams and devices: the first that failed, in the order given, is its failure.
    ///
    /// Asking it waits for all of them.
    ///
    /// ```
    /// # use gpuk::ErrorPayload;
    /// let none = ErrorPayload::join([]);
    /// assert_eq!(none.check(), Ok(()));
    /// ```
    pub fn join(payloads: impl IntoIterator<Item = Self>) -> Self {
        Self::of(
            Source::Joined(payloads.into_iter().collect()),
            Outcome::Open,
        )
    }

    /// Waits for the launches; the first failed check is the error.
    ///
    /// # Errors
    ///
    /// If a check failed, or the launch did: see [`Category`](crate::Category).
    pub fn check(&self) -> Result<(), FailedCheck> {
        self.get().map_or(Ok(()), Err)
    }

    /// Waits for the launches; the first failed check, if one failed.
    #[must_use]
    pub fn get(&self) -> Option<FailedCheck> {
        self.tell(true).flatten()
    }

    /// Waits for the launches; whether a check failed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.get().is_some()
    }

    /// As [`check`](Self::check), without waiting: `None` while a stream has work.
    #[must_use]
    pub fn try_check(&self) -> Option<Result<(), FailedCheck>> {
        Some(self.tell(false)?.map_or(Ok(()), Err))
    }

    /// Answers whoever holds the payload.
    fn tell(&self, wait: bool) -> Option<Option<FailedCheck>> {
        let answer = self.ask(wait)?;
        if answer.is_some() {
            self.mark_told();
        }
        Some(answer)
    }

    /// Takes note that its failure, and those of what it is of, are not to be reported.
    pub(crate) fn mark_told(&self) {
        self.is_told.store(true, Ordering::Relaxed);
        match &self.source {
            Source::Nothing => {}
            Source::Flight(flight) => flight.mark_told(),
            Source::Joined(payloads) => payloads.iter().for_each(Self::mark_told),
        }
    }

    /// What it says, to the run time alone: nobody is told of a failure by that. `None` if the answer is not there yet.
    pub(crate) fn ask(&self, wait: bool) -> Option<Option<FailedCheck>> {
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
        let (failed, stays) = match &self.source {
            Source::Nothing => (None, true),
            Source::Flight(flight) => match flight.is_over(wait) {
                Ok(false) => return None,
                Ok(true) => (flight.read(), !flight.captured),
                Err(error) => (flight.fault(error), !error.is_capture()),
            },
            Source::Joined(payloads) => {
                // All, for what one of them says may rest on others being over.
                let answers: Option<Vec<_>> = payloads.iter().map(|it| it.ask(wait)).collect();
                (answers?.into_iter().flatten().next(), self.is_final())
            }
        };
        if stays {
            *outcome = match &failed {
                None => Outcome::Passed,
                Some(failed) => Outcome::Failed(failed.clone()),
            };
        }
        Some(failed)
    }

    /// Whether an answer stays; not while a stream is being captured, nor if a graph can be launched again.
    fn is_final(&self) -> bool {
        match &self.source {
            Source::Nothing => true,
            Source::Flight(flight) => !flight.captured && !matches!(&*self.lock(), Outcome::Open),
            Source::Joined(payloads) => payloads.iter().all(Self::is_final),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every flight in it that is not known to be over.
    pub(crate) fn open<'a>(&'a self, flights: &mut Vec<&'a Flight>) {
        if !matches!(&*self.lock(), Outcome::Open) {
            return;
        }
        match &self.source {
            Source::Nothing => {}
            Source::Flight(flight) => flight.open(flights),
            Source::Joined(payloads) => payloads.iter().for_each(|it| it.open(flights)),
        }
    }

    /// Has it taken for over only when this event is.
    pub(crate) fn end_with(&mut self, done: &Arc<Event>) {
        match &mut self.source {
            Source::Nothing => {}
            Source::Flight(flight) => flight.end_with(done),
            Source::Joined(payloads) => payloads.iter_mut().for_each(|it| it.end_with(done)),
        }
    }
}

impl FromIterator<ErrorPayload> for ErrorPayload {
    /// As [`join`](Self::join).
    fn from_iter<I: IntoIterator<Item = Self>>(payloads: I) -> Self {
        Self::join(payloads)
    }
}

impl Drop for ErrorPayload {
    fn drop(&mut self) {
        let outcome = self
            .outcome
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        match (outcome, &mut self.source) {
            (Outcome::Open, Source::Flight(flight)) => flight.retire(),
            (Outcome::Failed(failed), Source::Flight(flight)) if !*self.is_told.get_mut() => {
                flight.mark_told();
                unread::report(failed);
            }
            // The others see to themselves.
            _ => {}
        }
    }
}

impl fmt::Debug for ErrorPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ErrorPayload");
        match &self.source {
            Source::Nothing => {}
            Source::Flight(flight) => {
                if let Some(origin) = &flight.origin {
                    debug.field("kernel", &origin.info.name);
                    debug.field("launched_at", &origin.launched_at);
                }
            }
            Source::Joined(payloads) => {
                debug.field("joined", payloads);
            }
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
