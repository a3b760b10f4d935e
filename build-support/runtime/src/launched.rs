//! Which launches a slot speaks for, and what it says of them.

use std::sync::Arc;

use crate::call::CopyStream;
use crate::driver::DriverError;
use crate::failure::Origin;
use crate::slot::{Record, Slot};

/// A slot and the launches that have it.
#[derive(Debug, Clone)]
pub(crate) struct Launched {
    pub(crate) slot: Slot,
    pub(crate) by: By,
}

/// Who reports through a slot.
#[derive(Debug, Clone)]
pub(crate) enum By {
    /// One launch.
    Launch(Origin),
    /// Launches that do nothing after a failure. They take the slot and its second in turn.
    Chain(Slot, Arc<Chain>),
    /// The launches of a graph, after a replay: `relay` put what they say into this slot.
    Replay(Arc<Chain>),
}

/// The launches that share slots, in order.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) origins: Vec<Origin>,
    /// Whether they do nothing after a failure.
    pub(crate) skips: bool,
    /// Whether they may have done nothing because of a failure elsewhere.
    pub(crate) has_prior: bool,
}

/// A failure.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) record: Record,
    /// How often a check failed; 0 if that is not known.
    pub(crate) count: u64,
    /// `None` if it is not known which launch it was.
    pub(crate) origin: Option<Origin>,
}

impl Launched {
    /// The slot or slots.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        let second = match &self.by {
            By::Chain(second, _) => Some(*second),
            By::Launch(_) | By::Replay(_) => None,
        };
        [self.slot].into_iter().chain(second)
    }

    /// The record, and the slot it is in. The launches are over, or what is read may be of any moment.
    pub(crate) fn record(&self) -> Option<(Slot, Record)> {
        self.slots()
            .find_map(|slot| slot.read().map(|record| (slot, record)))
    }

    /// Whether the slots are as new without being made so. The launches are over.
    pub(crate) fn is_new(&self) -> bool {
        let is_marked = matches!(&self.by, By::Chain(_, chain) if chain.has_prior);
        !is_marked && self.record().is_none()
    }

    /// What the slots say. The launches are over, and no copy of them runs.
    pub(crate) fn read(&self, copies: &CopyStream) -> Option<Found> {
        let (slot, record) = self.record()?;
        let (mut count, mut skipped) = (0, Some(0));
        for each in self.slots() {
            match each.counts(copies) {
                Ok(counts) => {
                    if each == slot {
                        count = counts.failed;
                    }
                    // Each counts on from the one before it.
                    skipped = skipped.map(|most: u32| most.max(counts.skipped));
                }
                Err(_) => skipped = None,
            }
        }
        let origin = match &self.by {
            By::Launch(origin) => Some(*origin),
            By::Replay(chain) if !chain.skips => chain.origins.get(record.launch as usize).copied(),
            By::Chain(_, chain) | By::Replay(chain) => {
                skipped.and_then(|skipped| chain.skipped_by(skipped))
            }
        };
        Some(Found {
            record,
            count,
            origin,
        })
    }

    /// Makes the slots as new. The launches are over.
    pub(crate) fn reset(&self, copies: &CopyStream) -> Result<(), DriverError> {
        self.slots().try_for_each(|slot| slot.reset(copies))
    }

    /// The launch to name where it is not known which.
    pub(crate) fn any_origin(&self) -> Option<Origin> {
        match &self.by {
            By::Launch(origin) => Some(*origin),
            By::Chain(_, chain) | By::Replay(chain) => chain.origins.first().copied(),
        }
    }
}

impl Chain {
    /// The launch after which so many did nothing.
    fn skipped_by(&self, skipped: u32) -> Option<Origin> {
        let before = usize::try_from(skipped).ok()?.checked_add(1)?;
        let index = self.origins.len().checked_sub(before)?;
        self.origins.get(index).copied()
    }
}
