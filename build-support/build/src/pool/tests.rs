//! The pool with jobs that only count.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use super::{Room, Tokens, run};

/// What came of jobs that note what they take.
struct Seen {
    results: Vec<usize>,
    /// The most that ran at once, and the most that they took together.
    most: (usize, u64),
    /// In the order in which they started.
    started: Vec<usize>,
    held: Vec<usize>,
}

fn seen(tokens: &Tokens, limit: Option<u64>, needs: &[u64]) -> Seen {
    let (running, taken) = (AtomicUsize::new(0), AtomicU64::new(0));
    let (most, most_taken) = (AtomicUsize::new(0), AtomicU64::new(0));
    let (started, held) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let jobs: Vec<_> = (0..needs.len()).collect();
    let room = Room {
        limit,
        needs,
        held: &|job| held.lock().unwrap().push(job),
    };
    let results = run(&jobs, tokens, &room, |job| {
        started.lock().unwrap().push(*job);
        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let now = taken.fetch_add(needs[*job], Ordering::SeqCst) + needs[*job];
        most_taken.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(1));
        taken.fetch_sub(needs[*job], Ordering::SeqCst);
        running.fetch_sub(1, Ordering::SeqCst);
        job * 2
    });
    assert_eq!(results, jobs.iter().map(|job| job * 2).collect::<Vec<_>>());
    Seen {
        results,
        most: (most.into_inner(), most_taken.into_inner()),
        started: started.into_inner().unwrap(),
        held: held.into_inner().unwrap(),
    }
}

#[test]
fn results_keep_the_order_and_the_limit_holds() {
    let seen = seen(&Tokens::fixed(3), None, &[9; 50]);
    assert_eq!(seen.results.len(), 50);
    assert!(seen.most.0 <= 3, "{:?}", seen.most);
    assert!(seen.held.is_empty());
}

#[test]
fn an_empty_jobserver_leaves_the_implicit_token() {
    let tokens = Tokens {
        limit: 4,
        jobserver: Some(jobserver::Client::new(0).unwrap()),
    };
    // Each of them is more than there is.
    assert_eq!(seen(&tokens, Some(2), &[1, 5, 2]).started, [0, 1, 2]);
}

#[test]
fn what_runs_together_fits_into_memory() {
    let needs: Vec<u64> = (0..60).map(|job| job * 7 % 11).collect();
    let seen = seen(&Tokens::fixed(8), Some(10), &needs);
    assert!(seen.most.1 <= 10, "{:?}", seen.most);
}

#[test]
fn what_fits_runs_together() {
    // Three that take a third each meet; were one held back, the others would wait for it for ever.
    let meet = Barrier::new(3);
    let room = Room {
        limit: Some(9),
        needs: &[3; 3],
        held: &|job| panic!("{job} is held back"),
    };
    run(&[(); 3], &Tokens::fixed(3), &room, |()| meet.wait());
}

#[test]
fn those_that_are_too_large_run_one_by_one() {
    let (running, held) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let room = Room {
        limit: Some(10),
        needs: &[50, 20, 11, 40],
        held: &|job| held.lock().unwrap().push(job),
    };
    run(&[0, 1, 2, 3], &Tokens::fixed(4), &room, |job| {
        assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
        // The next one has come and waits for this one.
        while *job < 3 && held.lock().unwrap().len() <= *job {
            std::thread::yield_now();
        }
        running.fetch_sub(1, Ordering::SeqCst);
    });
    assert_eq!(held.into_inner().unwrap(), [1, 2, 3]);
}

#[test]
fn what_is_stored_passes_a_large_one() {
    // The second ends the first: it has to start while that runs.
    let meet = Barrier::new(2);
    let room = Room {
        limit: Some(10),
        needs: &[50, 0],
        held: &|job| panic!("{job} is held back"),
    };
    run(&[(); 2], &Tokens::fixed(2), &room, |()| meet.wait());
}

#[test]
fn a_job_that_panics_leaves_its_memory() {
    let room = Room {
        limit: Some(1),
        needs: &[1; 3],
        held: &|_| {},
    };
    let ran = AtomicUsize::new(0);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        run(&[0, 1, 2], &Tokens::fixed(3), &room, |job| {
            ran.fetch_add(1, Ordering::SeqCst);
            assert_ne!(*job, 0);
        });
    }));
    assert!(outcome.is_err());
    assert_eq!(ran.into_inner(), 3);
}

/// In a process of its own, for a jobserver that can be asked without waiting is one that was inherited.
#[test]
#[cfg(target_os = "linux")]
fn who_waits_for_memory_holds_no_token() {
    let client = jobserver::Client::new(1).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the jobserver is handed down by it"
    )]
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let scenario = "pool::tests::scenario_of_one_token";
    command.args(["--exact", scenario, "--ignored", "--test-threads=1"]);
    client.configure(&mut command);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

/// The only token can be had again while a job waits for memory.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs a jobserver of one token"]
fn scenario_of_one_token() {
    let tokens = Tokens {
        limit: 2,
        ..Tokens::of_cargo()
    };
    let client = tokens.jobserver.clone().unwrap();
    // Until the first job runs, so that it runs on the token that need not be asked for.
    let taken = Mutex::new(Some(client.acquire().unwrap()));
    let (told, hears) = std::sync::mpsc::channel();
    let hears = Mutex::new(hears);
    let room = Room {
        limit: Some(10),
        needs: &[10, 10],
        held: &|job| told.send(job).unwrap(),
    };
    // Who held it while it waits would wait for this job to end, and not give it back before.
    let is_free = || {
        (0..1000).any(|_| {
            let token = client.try_acquire().unwrap();
            std::thread::sleep(Duration::from_millis(if token.is_some() { 0 } else { 10 }));
            token.is_some()
        })
    };
    let caller = std::thread::current().id();
    let free = run(&[0, 1], &tokens, &room, |job| {
        if *job == 1 {
            return true;
        }
        assert_eq!(std::thread::current().id(), caller);
        drop(taken.lock().unwrap().take());
        let held = hears.lock().unwrap().recv_timeout(Duration::from_secs(60));
        held == Ok(1) && is_free()
    });
    assert_eq!(free, [true, true]);
}
