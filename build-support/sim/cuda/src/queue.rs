//! The device's work: what of it is done, and what is next.
//!
//! All work on memory, kernels among it, is done by one thread, and always the oldest of that which waits for
//! nothing that is not done. As long as no host function is under way that is the order in which it was enqueued,
//! whatever the stream: what work waits for, in its own stream or through an event, was enqueued before it. So a
//! program that enqueues in the same order gets the same results, and still sees the asynchronous behaviour of a
//! device: a launch returns at once, a query may say that work is not done. Host functions have a thread of their
//! own, so that one that waits for the program holds up its stream alone. Blocks of a kernel run on all cores
//! (`gpuk_sim`).
//!
//! Work has a ticket, its place in the order of enqueuing.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A piece of work, by its place in the order of enqueuing.
pub(crate) type Ticket = u64;

/// Work that other work comes after.
pub(crate) type Frontier = Vec<Ticket>;

/// Who does a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hand {
    /// The thread that touches memory.
    Device,
    /// The thread that calls the program's functions.
    Host,
}

struct Pending<T> {
    ticket: Ticket,
    hand: Hand,
    after: Frontier,
    work: T,
}

struct State<T> {
    /// By ticket.
    pending: VecDeque<Pending<T>>,
    /// How much of it is host functions.
    host: usize,
    issued: Ticket,
    /// All up to this are done,
    low: Ticket,
    /// and these above it.
    done: BTreeSet<Ticket>,
    /// Whether the device does something now.
    is_busy: bool,
}

impl<T> State<T> {
    fn is_done(&self, ticket: Ticket) -> bool {
        ticket <= self.low || self.done.contains(&ticket)
    }

    fn are_done(&self, tickets: &[Ticket]) -> bool {
        tickets.iter().all(|ticket| self.is_done(*ticket))
    }

    /// The oldest work for a thread that waits for nothing.
    fn ready(&self, hand: Hand) -> Option<usize> {
        if hand == Hand::Host && self.host == 0 {
            return None;
        }
        self.pending
            .iter()
            .position(|pending| pending.hand == hand && self.are_done(&pending.after))
    }

    fn finish(&mut self, ticket: Ticket) {
        self.done.insert(ticket);
        while self.done.remove(&(self.low + 1)) {
            self.low += 1;
        }
    }
}

/// Work that is not done.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    /// Something was enqueued or done.
    changed: Condvar,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                pending: VecDeque::new(),
                host: 0,
                issued: 0,
                low: 0,
                done: BTreeSet::new(),
                is_busy: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues work that comes after other work.
    pub(crate) fn push(&self, work: T, hand: Hand, after: Frontier) -> Ticket {
        let mut state = self.state();
        state.issued += 1;
        let ticket = state.issued;
        state.host += usize::from(hand == Hand::Host);
        state.pending.push_back(Pending {
            ticket,
            hand,
            after,
            work,
        });
        self.changed.notify_all();
        ticket
    }

    /// Begins work of the device on this thread, if it waits for nothing and no other is ready: waking two threads
    /// takes longer than short work. It is done when what this returns is dropped.
    pub(crate) fn begin(&self, after: &[Ticket]) -> Option<Running<'_, T>> {
        let mut state = self.state();
        if state.is_busy || !state.are_done(after) || state.ready(Hand::Device).is_some() {
            return None;
        }
        state.is_busy = true;
        state.issued += 1;
        Some(Running {
            queue: self,
            ticket: state.issued,
            hand: Hand::Device,
        })
    }

    pub(crate) fn are_done(&self, tickets: &[Ticket]) -> bool {
        self.state().are_done(tickets)
    }

    /// Takes out what is done.
    pub(crate) fn prune(&self, tickets: &mut Frontier) {
        let state = self.state();
        tickets.retain(|ticket| !state.is_done(*ticket));
    }

    fn wait_until(&self, is_so: impl Fn(&State<T>) -> bool) {
        let mut state = self.state();
        while !is_so(&state) {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until that is done.
    pub(crate) fn wait(&self, tickets: &[Ticket]) {
        self.wait_until(|state| state.are_done(tickets));
    }

    /// Waits until all is done that was enqueued so far.
    pub(crate) fn wait_for_all(&self) {
        let last = self.state().issued;
        self.wait_until(|state| state.low >= last);
    }

    /// As [`wait_for_all`](Self::wait_for_all), but not for ever. Returns whether it is done.
    pub(crate) fn wait_at_most(&self, most: Duration) -> bool {
        let end = Instant::now() + most;
        let mut state = self.state();
        let last = state.issued;
        while state.low < last {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return false;
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Does one thread's work as it comes, for ever.
    pub(crate) fn serve(&self, hand: Hand, run: impl Fn(T)) -> ! {
        loop {
            let mut state = self.state();
            let pending = loop {
                let is_free = hand == Hand::Host || !state.is_busy;
                let ready = is_free.then(|| state.ready(hand)).flatten();
                if let Some(pending) = ready.and_then(|index| state.pending.remove(index)) {
                    break pending;
                }
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            };
            match hand {
                Hand::Device => state.is_busy = true,
                Hand::Host => state.host -= 1,
            }
            drop(state);
            let _running = Running {
                queue: self,
                ticket: pending.ticket,
                hand,
            };
            run(pending.work);
        }
    }
}

/// Work under way. It counts as done when this is dropped, however it ended.
pub(crate) struct Running<'a, T> {
    queue: &'a Queue<T>,
    pub(crate) ticket: Ticket,
    hand: Hand,
}

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        if self.hand == Hand::Device {
            state.is_busy = false;
        }
        state.finish(self.ticket);
        drop(state);
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc;

    use super::*;

    type Work = Box<dyn FnOnce() + Send>;

    fn served() -> Arc<Queue<Work>> {
        let queue = Arc::new(Queue::<Work>::new());
        for hand in [Hand::Device, Hand::Host] {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || queue.serve(hand, |work| work()));
        }
        queue
    }

    #[test]
    fn work_is_done_in_the_order_it_was_given_in() {
        let queue = served();
        let done = Arc::new(Mutex::new(Vec::new()));
        let (release, gate) = mpsc::channel::<()>();
        let first = queue.push(Box::new(move || gate.recv().unwrap()), Hand::Device, vec![]);
        for number in 1..100 {
            let done = Arc::clone(&done);
            // Each of a stream of its own.
            let work = Box::new(move || done.lock().unwrap().push(number));
            queue.push(work, Hand::Device, vec![]);
        }
        assert!(!queue.are_done(&[first]));
        assert!(queue.begin(&[]).is_none());
        assert!(!queue.wait_at_most(Duration::ZERO));
        release.send(()).unwrap();
        queue.wait_for_all();
        assert_eq!(*done.lock().unwrap(), (1..100).collect::<Vec<_>>());
        let running = queue.begin(&[first]).unwrap();
        let ticket = running.ticket;
        assert!(!queue.are_done(&[ticket]));
        drop(running);
        assert!(queue.are_done(&[ticket]));
    }

    #[test]
    fn a_host_function_holds_up_its_own_stream_alone() {
        let queue = served();
        let (release, gate) = mpsc::channel::<()>();
        let held = queue.push(Box::new(move || gate.recv().unwrap()), Hand::Host, vec![]);
        let behind = queue.push(Box::new(|| ()), Hand::Device, vec![held]);
        let other = queue.push(Box::new(|| ()), Hand::Device, vec![]);
        queue.wait(&[other]);
        assert!(!queue.are_done(&[behind]));
        // What waits for the host function does not keep others from being done at once.
        assert!(queue.begin(&[other]).is_some());
        assert!(queue.begin(&[behind]).is_none());
        release.send(()).unwrap();
        queue.wait(&[behind]);
        let mut tickets = vec![held, behind, other, 1000];
        queue.prune(&mut tickets);
        assert_eq!(tickets, [1000]);
    }
}
