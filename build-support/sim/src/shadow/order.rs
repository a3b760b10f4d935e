//! What threads say to each other in memory: a fence and a strong write or an atomic operation on one side, a strong
//! read of the same place on the other (PTX ISA 8.8, release and acquire patterns).
//!
//! For each place there is a list of who said what when. A thread that reads there knows what was said up to then,
//! and what those knew who said it. So to know of a place is two numbers, however many blocks count in it.
//!
//! More leniently than the ISA has it, any strong read acquires, without a fence after it, and what was said at a
//! place is not unsaid by a later write.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::clock::{Known, Release};

/// Places that a thread has read, and how much was said there by then; by rising number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Foreign(Vec<(u32, u32)>);

impl Foreign {
    /// What two know together.
    pub(super) fn join(a: Option<Arc<Self>>, b: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let (Some(a), Some(b)) = (&a, b) else {
            return a.or_else(|| b.cloned());
        };
        if Arc::ptr_eq(a, b) {
            return Some(Arc::clone(a));
        }
        let mut all = Vec::with_capacity(a.0.len().max(b.0.len()));
        let (mut left, mut right) = (a.0.iter().peekable(), b.0.iter().peekable());
        loop {
            all.push(match (left.peek(), right.peek()) {
                (Some((x, m)), Some((y, n))) if x == y => {
                    let both = (*x, *m.max(n));
                    left.next();
                    right.next();
                    both
                }
                (Some(one), Some(other)) if one.0 < other.0 => {
                    let one = **one;
                    left.next();
                    one
                }
                (_, Some(other)) => {
                    let other = **other;
                    right.next();
                    other
                }
                (Some(one), None) => {
                    let one = **one;
                    left.next();
                    one
                }
                (None, None) => break,
            });
        }
        Some(Arc::new(Self(all)))
    }
}

/// A time of threads of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) block: u32,
    /// `None` for one of several, it is not known which.
    pub(super) thread: Option<u32>,
    pub(super) time: u32,
}

/// What was said at a place.
#[derive(Debug, Default)]
struct Spot {
    /// How often something was.
    said: u32,
    /// By block: the count, whether for other blocks too, and what.
    by: HashMap<u32, Vec<(u32, bool, Arc<Known>)>>,
    /// What those knew of other places.
    beyond: Option<Arc<Foreign>>,
    /// What is learnt here now.
    news: Option<Arc<Foreign>>,
}

/// Of how many things that a block says at a place one by one account is kept.
const KEPT: usize = 8;

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<u64, u32>,
    spots: Vec<Spot>,
}

/// The places of a launch.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// How many there are.
    count: AtomicUsize,
    table: Mutex<Table>,
}

impl Order {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread of `block` says at a place what it may; `wide` to other blocks too.
    pub(super) fn say(&self, place: u64, block: u32, wide: bool, what: &Release) {
        let mut table = self.table();
        let next = table.spots.len() as u32;
        let number = *table.numbers.entry(place).or_insert(next);
        if number == next {
            table.spots.push(Spot::default());
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        let spot = &mut table.spots[number as usize];
        spot.said += 1;
        spot.news = None;
        spot.beyond = Foreign::join(spot.beyond.take(), what.foreign.as_ref());
        let by = spot.by.entry(block).or_default();
        if by.len() == KEPT {
            // Taken together, they are heard from the older one on.
            let (at, wide, older) = by.remove(0);
            if let Some(next) = by.first_mut() {
                *next = (at, wide || next.1, Arc::new(older.joined(&next.2)));
            }
        }
        by.push((spot.said, wide, Arc::clone(&what.known)));
    }

    /// What a thread learns that reads at a place.
    #[inline]
    pub(super) fn hear(&self, place: u64) -> Option<Arc<Foreign>> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut table = self.table();
        let number = *table.numbers.get(&place)?;
        let spot = &mut table.spots[number as usize];
        if spot.news.is_none() {
            let own = Arc::new(Foreign(vec![(number, spot.said)]));
            spot.news = Foreign::join(Some(own), spot.beyond.as_ref());
        }
        spot.news.clone()
    }

    /// Whether a thread of block `asks` that knows of these places knows what happened at a moment.
    pub(super) fn knows(&self, known: &Foreign, asks: u32, what: Moment) -> bool {
        let table = self.table();
        known.0.iter().any(|(number, said)| {
            let spot = table.spots.get(*number as usize);
            let by = spot.and_then(|spot| spot.by.get(&what.block));
            by.is_some_and(|by| {
                by.iter().any(|(at, wide, known)| {
                    let until = match what.thread {
                        Some(thread) => known.of(thread),
                        None => known.latest(),
                    };
                    at <= said && (*wide || asks == what.block) && what.time <= until
                })
            })
        })
    }
}
