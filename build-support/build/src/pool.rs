//! Runs jobs side by side, within cargo's jobserver where there is one, and within memory where that is limited.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many jobs may run at once.
#[derive(Debug)]
pub struct Tokens {
    limit: usize,
    jobserver: Option<jobserver::Client>,
}

impl Tokens {
    /// A fixed number, at least one.
    #[must_use]
    pub fn fixed(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            jobserver: None,
        }
    }

    /// As many as the machine has processors, and from three on two more, as ninja does: compilers start, read and write for a
    /// part of their time. Two processors are busy without that.
    #[must_use]
    pub fn of_machine() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::fixed(processors + if processors > 2 { 2 } else { 0 })
    }

    /// Those of the jobserver that cargo started this build script with; the machine's without one.
    ///
    /// Must be called before the process opens files of its own: the jobserver is named by numbers of
    /// inherited descriptors.
    #[must_use]
    pub fn of_cargo() -> Self {
        #[expect(unsafe_code, reason = "jobserver::Client::from_env is unsafe")]
        // SAFETY: the descriptors that CARGO_MAKEFLAGS names were inherited from cargo and, as the caller
        // promises, nothing else has taken their numbers.
        let jobserver = unsafe { jobserver::Client::from_env() };
        Self {
            jobserver,
            ..Self::of_machine()
        }
    }

    /// Waits for the right to run one more job; `None` once there is none left to run.
    fn acquire(&self, waiting: impl Fn() -> bool) -> Option<Option<jobserver::Acquired>> {
        let Some(jobserver) = &self.jobserver else {
            return Some(None);
        };
        while waiting() {
            match jobserver.try_acquire() {
                Ok(Some(token)) => return Some(Some(token)),
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                // No way to ask without waiting on this platform: go on with the token one has.
                Err(_) => return None,
            }
        }
        None
    }
}

/// How much memory jobs may take together, and what each is expected to.
pub(crate) struct Room<'r> {
    /// Bytes; `None` is no limit.
    pub(crate) limit: Option<u64>,
    /// Bytes, by job; one that needs none never waits.
    pub(crate) needs: &'r [u64],
    /// Told once of each job that has to wait.
    pub(crate) held: &'r (dyn Fn(usize) + Sync),
}

/// The jobs that have not started yet, and what the running ones take.
struct Line<'r> {
    room: &'r Room<'r>,
    jobs: usize,
    state: Mutex<State>,
    /// A job has started or ended.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: usize,
    running: usize,
    taken: u64,
    /// How many of the jobs were told to wait or did not have to.
    told: usize,
}

/// A job that runs; what it takes is free when this is dropped.
struct Running<'l> {
    line: &'l Line<'l>,
    index: usize,
}

impl Line<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn need(&self, job: usize) -> u64 {
        self.room.needs.get(job).copied().unwrap_or(0)
    }

    fn is_empty(&self) -> bool {
        self.lock().next >= self.jobs
    }

    /// Whether the next job may start: one at least always runs.
    fn fits(&self, state: &State) -> bool {
        let need = self.need(state.next);
        let free = |limit: u64| limit.saturating_sub(state.taken);
        let fits = self.room.limit.is_none_or(|limit| need <= free(limit));
        fits || need == 0 || state.running == 0
    }

    /// Waits until the next job may start; `false` once all have.
    fn wait(&self) -> bool {
        let mut state = self.lock();
        while state.next < self.jobs {
            let next = state.next;
            if self.fits(&state) {
                return true;
            }
            if state.told <= next {
                state.told = next + 1;
                drop(state);
                (self.room.held)(next);
                state = self.lock();
                continue;
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        false
    }

    /// Takes the next job, unless another has come before.
    fn start(&self) -> Option<Running<'_>> {
        let mut state = self.lock();
        let index = state.next;
        if index >= self.jobs || !self.fits(&state) {
            return None;
        }
        state.next += 1;
        state.running += 1;
        state.taken = state.taken.saturating_add(self.need(index));
        self.changed.notify_all();
        Some(Running { line: self, index })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.line.lock();
        state.running -= 1;
        state.taken = state.taken.saturating_sub(self.line.need(self.index));
        self.line.changed.notify_all();
    }
}

/// Runs every job and returns the results in the order of the jobs, which start in that order.
///
/// Who waits for memory holds no token: other build scripts and rustc may have it meanwhile.
pub(crate) fn run<J: Sync, R: Send>(
    jobs: &[J],
    tokens: &Tokens,
    room: &Room<'_>,
    work: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let line = Line {
        room,
        jobs: jobs.len(),
        state: Mutex::default(),
        changed: Condvar::new(),
    };
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    let worker = |implicit: bool| {
        while line.wait() {
            // Cargo gives each build script one token that it need not ask for.
            let token = match implicit {
                true => None,
                false => match tokens.acquire(|| !line.is_empty()) {
                    Some(token) => token,
                    None => return,
                },
            };
            let Some(running) = line.start() else {
                continue;
            };
            let index = running.index;
            let Some(job) = jobs.get(index) else { return };
            let result = work(job);
            drop(token);
            drop(running);
            if let Ok(mut results) = results.lock() {
                results.push((index, result));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..tokens.limit.min(jobs.len()) {
            scope.spawn(|| worker(false));
        }
        worker(true);
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;
