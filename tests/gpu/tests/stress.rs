//! Many failing launches: no slot is lost, no failure is told of another launch, and nothing grows.
//!
//! `GPUK_STRESS` is how many, 4000 without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gpuk::cudarc::driver::result;
use gpuk::{CudaStream, ErrorPayload, FailedCheck, Launch, Scope, Value};
use gpuk_gpu_tests::scopes::Kernels;

const THREADS: u32 = 8;
const STREAMS: u32 = 4;
/// Launches in flight of each thread.
const ROUND: u32 = 50;

fn code(failed: &FailedCheck) -> i32 {
    match failed.values[..] {
        [Value::I32(code)] => code,
        _ => panic!("{failed}"),
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_stress_failing_launches_of_eight_threads_on_four_streams() {
    let launches = match std::env::var("GPUK_STRESS") {
        Ok(launches) => launches.parse().unwrap(),
        Err(_) => 4000_u32,
    };
    let context = gpuk::device(0).unwrap();
    let kernels = &Kernels::load(&context).unwrap();
    let streams: Vec<_> = (0..STREAMS)
        .map(|_| context.new_stream().unwrap())
        .collect();
    let unread = AtomicU64::new(0);
    // Failures that are dropped unread, of the right launches: what they say is the sum of their codes.
    static REPORTED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    gpuk::set_unread_hook(|failed: &FailedCheck| {
        REPORTED[0].fetch_add(1, Ordering::Relaxed);
        REPORTED[1].fetch_add(code(failed) as u64, Ordering::Relaxed);
    });
    let dropped = &AtomicU64::new(0);
    let run = |thread: u32, rounds: std::ops::Range<u32>| {
        let stream = &streams[(thread % STREAMS) as usize];
        for round in rounds {
            let code_of = |launch: u32| (1 + (round * ROUND + launch) * THREADS + thread) as i32;
            let launch_with = |launch: u32, on: &Arc<CudaStream>| {
                // SAFETY: the kernel accesses no memory.
                let launched = unsafe {
                    kernels.fail_with(on, Launch::default().block([32, 1, 1]), code_of(launch))
                };
                launched.unwrap().0
            };
            let payloads: Vec<ErrorPayload> = (0..ROUND)
                .map(|launch| launch_with(launch, stream))
                .collect();
            for (launch, payload) in (0..).zip(payloads) {
                match launch % 10 {
                    9 => {
                        unread.fetch_add(1, Ordering::Relaxed);
                        dropped.fetch_add(code_of(launch) as u64, Ordering::Relaxed);
                    }
                    _ => {
                        let failed = payload.check().unwrap_err();
                        assert_eq!((code(&failed), failed.failed_threads), (code_of(launch), 1));
                    }
                }
            }
            // And some in scopes, with what comes behind them.
            let scope = Scope::new(stream);
            let scope = if round % 2 == 0 {
                scope
            } else {
                scope.skip_if_failed()
            };
            for launch in 0..4 {
                let code = if launch == 0 { 0 } else { code_of(launch) };
                // SAFETY: the kernel accesses no memory.
                unsafe { kernels.fail_with(&scope, Launch::default().block([32, 1, 1]), code) }
                    .unwrap();
            }
            let failed = scope.finish().check().unwrap_err();
            assert_eq!((code(&failed), failed.launch), (code_of(1), Some(1)));
        }
    };
    let free = || {
        for stream in &streams {
            gpuk::settle(stream).unwrap();
        }
        result::mem_get_info().unwrap().0
    };
    let all = |rounds: std::ops::Range<u32>| {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (run, rounds) = (&run, rounds.clone());
                scope.spawn(move || run(thread, rounds));
            }
        });
        free()
    };
    let rounds = launches.div_ceil(THREADS * ROUND).max(4);
    // After a quarter the pool is as large as it needs to be, but for what happens to be in flight.
    let before = all(0..rounds / 4);
    let after = all(rounds / 4..rounds);
    let grown = before.saturating_sub(after);
    assert!(grown <= 4 << 20, "{grown} bytes of device memory more");
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    assert_eq!(REPORTED.each_ref().map(of), [of(&unread), of(dropped)]);
    gpuk::clear_unread_hook();
    println!(
        "{} launches",
        u64::from(rounds) * u64::from(THREADS) * u64::from(ROUND + 4)
    );
    // The context is alive.
    // SAFETY: the kernel accesses no memory.
    let (payload, ()) = unsafe { kernels.fail_with(&streams[0], Launch::default(), 0) }.unwrap();
    payload.check().unwrap();
}
