//! What a stream's next work comes after.
//!
//! A stream's work comes after its earlier work and after what events made it wait for. The legacy default stream
//! and the streams that are not created as non-blocking wait for each other besides (CUDA driver API, stream
//! synchronization behavior).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::queue::{Frontier, Queue, Running, Ticket};
use crate::stream::Stream;
use crate::work::Op;

/// Of a context: what its legacy default stream and its blocking streams wait for of each other.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The legacy stream's last work.
    legacy: Frontier,
    /// The last work of every blocking stream, and of the legacy one.
    blocking: Frontier,
}

fn add(frontier: &mut Frontier, tickets: &[Ticket]) {
    for ticket in tickets {
        if !frontier.contains(ticket) {
            frontier.push(*ticket);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stream {
    /// What must be done for the stream to be idle.
    pub(crate) fn frontier(&self) -> Frontier {
        if self.is_legacy() {
            lock(&self.context.order).blocking.clone()
        } else {
            lock(&self.last).clone()
        }
    }

    /// Lets later work come after other work, too.
    pub(crate) fn wait_for(&self, queue: &Queue<Op>, tickets: &[Ticket]) {
        let mut order = lock(&self.context.order);
        let mut last = lock(&self.last);
        queue.prune(&mut last);
        add(&mut last, tickets);
        if self.is_blocking() {
            queue.prune(&mut order.blocking);
            add(&mut order.blocking, tickets);
        }
        if self.is_legacy() {
            queue.prune(&mut order.legacy);
            add(&mut order.legacy, tickets);
        }
    }

    /// Gives the stream work that `issue` issues behind what it is given.
    fn issue<T>(
        &self,
        queue: &Queue<Op>,
        issue: impl FnOnce(Frontier) -> Option<(Ticket, T)>,
    ) -> Option<T> {
        let mut order = lock(&self.context.order);
        let mut last = lock(&self.last);
        queue.prune(&mut order.blocking);
        queue.prune(&mut order.legacy);
        queue.prune(&mut last);
        let mut after = if self.is_legacy() {
            order.blocking.clone()
        } else {
            last.clone()
        };
        if self.is_blocking() {
            add(&mut after, &order.legacy);
        }
        let (ticket, issued) = issue(after)?;
        if self.is_legacy() {
            order.legacy = vec![ticket];
            order.blocking = vec![ticket];
        } else if self.is_blocking() {
            order.blocking.retain(|other| !last.contains(other));
            order.blocking.push(ticket);
        }
        *last = vec![ticket];
        Some(issued)
    }

    /// Enqueues work.
    pub(crate) fn push(&self, queue: &Queue<Op>, op: Op) -> Ticket {
        let hand = op.hand();
        let pushed = self.issue(queue, |after| {
            let ticket = queue.push(op, hand, after);
            Some((ticket, ticket))
        });
        pushed.unwrap_or(0)
    }

    /// Begins work on this thread, if it need not wait.
    pub(crate) fn begin<'a>(&self, queue: &'a Queue<Op>) -> Option<Running<'a, Op>> {
        self.issue(queue, |after| {
            let running = queue.begin(&after)?;
            Some((running.ticket, running))
        })
    }

    /// Enqueues work of a graph, one piece after the other. Gives their tickets.
    pub(crate) fn push_all(self: &Arc<Self>, queue: &Queue<Op>, ops: Vec<Op>) -> Vec<Ticket> {
        let pushed = self.issue(queue, |mut after| {
            let mut tickets = Vec::with_capacity(ops.len());
            for op in ops {
                let hand = op.hand();
                let ticket = queue.push(op, hand, after);
                tickets.push(ticket);
                after = vec![ticket];
            }
            tickets.last().copied().map(|last| (last, tickets))
        });
        pushed.unwrap_or_default()
    }
}
