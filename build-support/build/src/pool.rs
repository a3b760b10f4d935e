//! Runs jobs side by side, within cargo's jobserver where there is one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
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

    /// As many as the machine has processors.
    #[must_use]
    pub fn of_machine() -> Self {
        Self::fixed(std::thread::available_parallelism().map_or(1, Into::into))
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

/// Runs every job and returns the results in the order of the jobs, which start in that order.
pub(crate) fn run<J: Sync, R: Send>(
    jobs: &[J],
    tokens: &Tokens,
    work: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    let worker = |implicit: bool| {
        let waiting = || next.load(Ordering::Relaxed) < jobs.len();
        while waiting() {
            // Cargo gives each build script one token that it need not ask for.
            let token = match implicit {
                true => None,
                false => match tokens.acquire(waiting) {
                    Some(token) => token,
                    None => return,
                },
            };
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { return };
            let result = work(job);
            drop(token);
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
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_and_the_limit_holds() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let jobs: Vec<_> = (0..50).collect();
        let results = run(&jobs, &Tokens::fixed(3), |job| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
            running.fetch_sub(1, Ordering::SeqCst);
            job * 2
        });
        assert_eq!(results, jobs.iter().map(|job| job * 2).collect::<Vec<_>>());
        assert!(most.into_inner() <= 3);
    }

    #[test]
    fn an_empty_jobserver_leaves_the_implicit_token() {
        let tokens = Tokens {
            limit: 4,
            jobserver: Some(jobserver::Client::new(0).unwrap()),
        };
        assert_eq!(run(&[1, 2, 3], &tokens, |job| *job), [1, 2, 3]);
    }
}
