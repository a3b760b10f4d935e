//! Launches that may be running, of which one outcome is asked.

use std::mem;
use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::call::{self, Current, Event};
use crate::driver::DriverError;
use crate::failure::{FailedCheck, Origin, Place};
use crate::launched::{By, Chain, Found, Launched};
use crate::payload::ErrorPayload;
use crate::pool::{End, Pool};
use crate::slot::Slot;
use crate::unread;

/// Launches on a stream, and payloads among them.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) stream: Arc<CudaStream>,
    /// One of the launches; `None` if there are but payloads.
    pub(crate) origin: Option<Origin>,
    /// Of the launches with checks.
    pub(crate) pool: Option<Arc<Pool>>,
    pub(crate) parts: Parts,
    /// Recorded behind the launches if the stream cannot tell when they are over.
    pub(crate) done: Option<Arc<Event>>,
    /// Whether they are part of a graph.
    pub(crate) captured: bool,
}

/// What a flight consists of.
#[derive(Debug)]
pub(crate) enum Parts {
    /// Nothing with checks.
    Nothing,
    /// One launch.
    One(Launched),
    /// A scope.
    Scope(Vec<Part>),
}

/// A part of a scope's outcome.
#[derive(Debug)]
pub(crate) enum Part {
    /// Launches.
    Launched(Launched),
    /// A payload that was made the scope's, before the launch of this number.
    Payload(u32, ErrorPayload),
    /// The first of launches that were looked at already.
    Failed(FailedCheck),
}

impl Flight {
    /// Of launches that were given to the driver just now. The stream's context is current.
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        origin: Option<Origin>,
        pool: Option<Arc<Pool>>,
        parts: Parts,
        captured: bool,
    ) -> Self {
        let needs_event = !captured && origin.is_some() && call::is_per_thread(stream);
        let done = needs_event.then(|| Event::record(stream).ok()).flatten();
        Self {
            stream: Arc::clone(stream),
            origin,
            pool,
            parts,
            done: done.map(Arc::new),
            captured,
        }
    }

    /// Whether all of it is over.
    pub(crate) fn is_over(&self, wait: bool) -> Result<bool, DriverError> {
        if self.origin.is_some() && !self.is_done(wait)? {
            return Ok(false);
        }
        let Parts::Scope(parts) = &self.parts else {
            return Ok(true);
        };
        Ok(parts.iter().all(|part| match part {
            Part::Payload(_, payload) => payload.ask(wait).is_some(),
            Part::Launched(_) | Part::Failed(_) => true,
        }))
    }

    fn is_done(&self, wait: bool) -> Result<bool, DriverError> {
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

    /// Has what is given to the stream now come after this, on the device. Whether that is another stream than its
    /// own. The stream's context is current.
    pub(crate) fn come_after(&self, stream: &Arc<CudaStream>) -> Result<bool, DriverError> {
        if self.stream == *stream && self.done.is_none() {
            return Ok(false);
        }
        let mut recorded = None;
        let done = match &self.done {
            Some(done) => done,
            None => {
                let _current = Current::enter(self.stream.context())?;
                if call::is_capturing(&self.stream) {
                    return Err(DriverError::capturing());
                }
                &*recorded.insert(Arc::new(Event::record(&self.stream)?))
            }
        };
        done.wait_on(stream)?;
        Ok(true)
    }

    /// The first failure. All of it is over.
    pub(crate) fn read(&self) -> Option<FailedCheck> {
        match &self.parts {
            Parts::Nothing => None,
            Parts::One(launched) => self.read_launched(launched),
            Parts::Scope(parts) => {
                let failed = parts.iter().filter_map(|part| self.read_part(part));
                let first = failed.min_by_key(|(place, _)| *place);
                first.map(|(_, failed)| failed)
            }
        }
    }

    /// A failure and its place in the scope: a payload comes before the launch of its number.
    fn read_part(&self, part: &Part) -> Option<((u32, bool), FailedCheck)> {
        let (place, failed) = match part {
            Part::Launched(launched) => (None, self.read_launched(launched)?),
            Part::Payload(before, payload) => {
                (Some((*before, false)), payload.ask(true).flatten()?)
            }
            Part::Failed(failed) => (None, failed.clone()),
        };
        let place = place.unwrap_or((failed.launch.unwrap_or(0), true));
        Some((place, failed))
    }

    fn read_launched(&self, launched: &Launched) -> Option<FailedCheck> {
        let pool = self.pool.as_ref()?;
        if self.captured {
            pool.read(launched, &*self.stream)
        } else {
            pool.read_and_take_back(launched, &*self.stream)
        }
    }

    /// The launches cannot be waited for. A check that failed before is in host memory all the same.
    pub(crate) fn fault(&self, error: DriverError) -> Option<FailedCheck> {
        let origin = self.origin?;
        // To ask a stream for its id while it is being captured spoils the capture.
        let stream = match error.is_capture() {
            true => 0,
            false => call::stream_id(&self.stream),
        };
        let place = Place::new(self.stream.context(), stream);
        let record = |launched: &Launched| {
            let (_, record) = launched.record()?;
            Some(Found {
                origin: match &launched.by {
                    By::Launch(origin) => Some(*origin),
                    By::Chain(..) | By::Replay(_) => None,
                },
                record,
                count: 0,
            })
        };
        let found = match &self.parts {
            _ if error.is_capture() => None,
            Parts::Nothing => None,
            Parts::One(launched) => record(launched),
            Parts::Scope(parts) => parts.iter().find_map(|part| match part {
                Part::Launched(launched) => record(launched),
                Part::Payload(..) | Part::Failed(_) => None,
            }),
        };
        Some(match found {
            Some(found) => FailedCheck::found(&found, &origin, place, Some(error)),
            None => FailedCheck::fault(&origin, place, error),
        })
    }

    /// Has everything of it, also the payloads in it, taken for over only when this event is.
    pub(crate) fn end_with(&mut self, done: &Arc<Event>) {
        self.done = Some(Arc::clone(done));
        if let Parts::Scope(parts) = &mut self.parts {
            for part in parts {
                if let Part::Payload(_, payload) = part {
                    payload.end_with(done);
                }
            }
        }
    }

    /// Takes note that failures of the payloads in it are not to be reported.
    pub(crate) fn mark_told(&self) {
        if let Parts::Scope(parts) = &self.parts {
            for part in parts {
                if let Part::Payload(_, payload) = part {
                    payload.mark_told();
                }
            }
        }
    }

    /// This flight if it has launches with checks, and those of the payloads in it that are not known to be over.
    pub(crate) fn open<'a>(&'a self, flights: &mut Vec<&'a Self>) {
        if self.pool.is_some() {
            flights.push(self);
        }
        if let Parts::Scope(parts) = &self.parts {
            for part in parts {
                if let Part::Payload(_, payload) = part {
                    payload.open(flights);
                }
            }
        }
    }

    /// Whether it has payloads, which are none of its launches'.
    pub(crate) fn has_payloads(&self) -> bool {
        match &self.parts {
            Parts::Nothing | Parts::One(_) => false,
            Parts::Scope(parts) => parts.iter().any(|part| matches!(part, Part::Payload(..))),
        }
    }

    /// Its launches' slots.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        match &self.parts {
            Parts::Nothing => Vec::new(),
            Parts::One(launched) => launched.slots().collect(),
            Parts::Scope(parts) => (parts.iter())
                .filter_map(|part| match part {
                    Part::Launched(launched) => Some(launched.slots()),
                    Part::Payload(..) | Part::Failed(_) => None,
                })
                .flatten()
                .collect(),
        }
    }

    /// The launches that have the slots, in the order of the slots.
    pub(crate) fn chain(&self) -> Chain {
        let mut chain = Chain::default();
        let mut add = |launched: &Launched| match &launched.by {
            By::Launch(origin) => chain.origins.push(*origin),
            By::Chain(_, other) | By::Replay(other) => {
                chain.origins.extend(other.origins.iter().copied());
                chain.skips = other.skips;
            }
        };
        match &self.parts {
            Parts::Nothing => {}
            Parts::One(launched) => add(launched),
            Parts::Scope(parts) => parts.iter().for_each(|part| {
                if let Part::Launched(launched) = part {
                    add(launched);
                }
            }),
        }
        chain
    }

    /// Gives the slots back when the launches are over, without waiting, to have failures reported.
    pub(crate) fn retire(&mut self) {
        let Some(pool) = &self.pool else {
            return;
        };
        let retire = |launched: Launched| {
            let end = match (self.captured, &self.done) {
                (true, _) => End::Never,
                (false, Some(done)) => End::Event(Arc::clone(done)),
                (false, None) => End::Stream,
            };
            pool.retire(launched, &self.stream, end);
        };
        match mem::replace(&mut self.parts, Parts::Nothing) {
            Parts::Nothing => {}
            Parts::One(launched) => retire(launched),
            Parts::Scope(parts) => {
                for part in parts {
                    match part {
                        Part::Launched(launched) => retire(launched),
                        Part::Failed(failed) => unread::report(&failed),
                        // Its own business.
                        Part::Payload(_, payload) => drop(payload),
                    }
                }
            }
        }
    }
}
