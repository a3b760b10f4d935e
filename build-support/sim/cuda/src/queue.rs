//! The device's work, in the order in which it was given.
//!
//! One thread does all of it, whatever stream it was given to, in the order in which it was enqueued. Everything
//! that work may wait for, in its own stream or through an event, was enqueued before it; so that order is one of
//! those that a device may choose. It is the same in each run of a program that enqueues in the same order, and
//! the caller still has the asynchronous behaviour of a device: a launch returns at once, a query may say that
//! work is not done. Blocks of a kernel run on all cores (`gpuk_sim`).
//!
//! Work has a ticket, its place in that order, so whether some work is done is a comparison of two numbers.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A place in the order of work. Work with ticket 0 is always done.
pub(crate) type Ticket = u64;

struct State<T> {
    work: VecDeque<T>,
    issued: Ticket,
    done: Ticket,
}

/// Work that is not done.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    /// There is work.
    more: Condvar,
    /// Some work is done.
    less: Condvar,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                work: VecDeque::new(),
                issued: 0,
                done: 0,
            }),
            more: Condvar::new(),
            less: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work.
    pub(crate) fn push(&self, work: T) -> Ticket {
        let mut state = self.state();
        state.work.push_back(work);
        state.issued += 1;
        self.more.notify_one();
        state.issued
    }

    /// Does work on this thread as if it had been pushed, if no other work is waiting or under way, or gives it
    /// back. It saves waking two threads for what takes less time than that.
    pub(crate) fn run_if_idle(&self, work: T, run: impl FnOnce(T)) -> Result<Ticket, T> {
        let mut state = self.state();
        if state.done != state.issued {
            return Err(work);
        }
        state.issued += 1;
        let ticket = state.issued;
        drop(state);
        let _finish = Finish(self);
        run(work);
        Ok(ticket)
    }

    /// The ticket of the last work given.
    pub(crate) fn last(&self) -> Ticket {
        self.state().issued
    }

    pub(crate) fn is_done(&self, ticket: Ticket) -> bool {
        self.state().done >= ticket
    }

    /// Waits until that work is done.
    pub(crate) fn wait(&self, ticket: Ticket) {
        let mut state = self.state();
        while state.done < ticket {
            state = self
                .less
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until that work is done, but not for ever. Returns whether it is.
    pub(crate) fn wait_for(&self, ticket: Ticket, most: Duration) -> bool {
        let end = Instant::now() + most;
        let mut state = self.state();
        while state.done < ticket {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return false;
            };
            let waited = self.less.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Does work as it comes, for ever.
    pub(crate) fn serve(&self, run: impl Fn(T)) -> ! {
        loop {
            let mut state = self.state();
            let work = loop {
                let waiting = state.work.len() as u64;
                // Work that `run_if_idle` does comes first.
                if state.done + waiting == state.issued
                    && let Some(work) = state.work.pop_front()
                {
                    break work;
                }
                state = self
                    .more
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            };
            drop(state);
            let _finish = Finish(self);
            run(work);
        }
    }
}

/// Counts work as done when it ends, however it ends.
struct Finish<'a, T>(&'a Queue<T>);

impl<T> Drop for Finish<'_, T> {
    fn drop(&mut self) {
        self.0.state().done += 1;
        self.0.less.notify_all();
        // The thread may have found work that had to wait for this.
        self.0.more.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn work_is_done_in_the_order_it_was_given_in() {
        let queue = Arc::new(Queue::<u64>::new());
        let done = Arc::new(Mutex::new(Vec::new()));
        let server = (Arc::clone(&queue), Arc::clone(&done));
        std::thread::spawn(move || {
            server.0.serve(|work| {
                if work == 0 {
                    std::thread::sleep(Duration::from_millis(50));
                }
                server.1.lock().unwrap().push(work);
            })
        });
        let first = queue.push(0);
        assert!(!queue.is_done(first));
        assert_eq!(queue.run_if_idle(7, |_| ()), Err(7));
        for work in 1..100 {
            queue.push(work);
        }
        assert!(!queue.wait_for(first, Duration::ZERO));
        let last = queue.last();
        queue.wait(last);
        assert_eq!(*done.lock().unwrap(), (0..100).collect::<Vec<_>>());
        let ticket = queue.run_if_idle(100, |work| done.lock().unwrap().push(work));
        assert_eq!(ticket, Ok(last + 1));
        assert!(queue.is_done(last + 1));
    }
}
