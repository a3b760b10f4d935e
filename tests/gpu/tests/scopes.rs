//! Many launches with one outcome: whose failure it is, and what the launches behind it do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpuk::{
    Category, CudaContext, CudaSlice, CudaStream, ErrorPayload, FailedCheck, Launch, LaunchError,
    Scope, Value,
};
use gpuk_gpu_tests::scopes::Kernels;

/// Cycles of some milliseconds.
const LONG: u64 = 5_000_000;

struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    kernels: Kernels,
    /// What is done with failures that nobody reads is the process's.
    _alone: MutexGuard<'static, ()>,
}

impl Device {
    fn new() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let context = gpuk::device(0).unwrap();
        Self {
            stream: context.new_stream().unwrap(),
            kernels: Kernels::load(&context).unwrap(),
            context,
            _alone: alone,
        }
    }

    /// Fails with that code, unless it is 0.
    #[track_caller]
    fn fail_with<On: gpuk::On>(&self, on: On, code: i32) -> On::Returned<()> {
        // SAFETY: the kernel accesses no memory.
        unsafe { self.kernels.fail_with(on, threads(64), code) }.unwrap()
    }

    /// Takes its time, and fails then.
    #[track_caller]
    fn wait<On: gpuk::On>(&self, on: On, fail: i32) -> On::Returned<()> {
        // SAFETY: the kernel accesses no memory.
        unsafe { self.kernels.wait(on, threads(1), LONG, fail) }.unwrap()
    }

    fn numbers(&self, from: i32) -> CudaSlice<i32> {
        self.stream.clone_htod(&[from; 100]).unwrap()
    }

    /// Adds to a hundred numbers.
    #[track_caller]
    fn add(&self, scope: &Scope, x: &mut CudaSlice<i32>, by: i32, limit: i32) {
        // SAFETY: there are as many.
        unsafe {
            self.kernels
                .add(scope, threads(32).elements(100), x, 100, by, limit)
        }
        .unwrap();
    }

    fn read(&self, x: &CudaSlice<i32>) -> Vec<i32> {
        self.stream.clone_dtoh(x).unwrap()
    }
}

fn threads(count: u32) -> Launch {
    Launch::default().block([count, 1, 1])
}

fn code(failed: &FailedCheck) -> i32 {
    match failed.values[..] {
        [Value::I32(code)] => code,
        _ => panic!("{failed}"),
    }
}

/// The failures reported unread while `run` runs.
fn unread(run: impl FnOnce()) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    gpuk::set_unread_hook(move |_: &FailedCheck| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    run();
    gpuk::clear_unread_hook();
    count.load(Ordering::SeqCst)
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_scope_returns_its_outputs_and_one_payload() {
    let device = Device::new();
    let Device {
        stream, kernels, ..
    } = &device;
    let x = device.numbers(1);
    let launch = threads(32).elements(100);
    let (payload, x) = gpuk::checkify(stream, |scope| -> Result<_, LaunchError> {
        // SAFETY: there are a hundred numbers.
        unsafe {
            let x = kernels.add(scope, launch, x, 100, 2, 10)?;
            let x = kernels.add_unchecked(scope, launch, x, 100, 3)?;
            kernels.add(scope, launch, x, 100, 4, 10)
        }
    })
    .unwrap();
    payload.check().unwrap();
    assert_eq!(device.read(&x), [10; 100]);
    let (payload, ()) = gpuk::checkify(stream, |_| Ok::<_, LaunchError>(())).unwrap();
    assert_eq!(payload.try_check(), Some(Ok(())));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_the_first_launch_that_fails_is_the_scopes_failure() {
    let device = Device::new();
    for _ in 0..20 {
        let mut line = 0;
        let (payload, ()) = gpuk::checkify(&device.stream, |scope| {
            device.fail_with(scope, 0);
            device.wait(scope, 0);
            line = line!() + 1;
            device.fail_with(scope, 3);
            device.fail_with(scope, 0);
            device.fail_with(scope, 5);
            Ok::<_, LaunchError>(())
        })
        .unwrap();
        assert_eq!(payload.try_check(), None);
        let failed = payload.check().unwrap_err();
        assert_eq!((code(&failed), failed.launch), (3, Some(2)));
        assert_eq!(
            (failed.launched_at.line(), failed.failed_threads),
            (line, 1)
        );
        assert!(
            failed.to_string().contains("launch 2 of its scope"),
            "{failed}"
        );
        assert!(failed.function.contains("refuse"), "{failed}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_after_a_failure_launches_do_nothing_if_asked_to() {
    let device = Device::new();
    for launches in 1..6 {
        for fails in 0..=launches {
            let mut x = device.numbers(0);
            let scope = Scope::new(&device.stream).skip_if_failed();
            for number in 0..launches {
                device.add(&scope, &mut x, 1, if number == fails { -1 } else { 100 });
            }
            let payload = scope.finish();
            // Each launch that ran has added one; the failing one stopped all of its threads.
            assert_eq!(device.read(&x), [fails.min(launches); 100]);
            match payload.get() {
                None => assert_eq!(fails, launches),
                Some(failed) => {
                    assert_eq!(failed.launch, Some(fails as u32));
                    assert_eq!(failed.failed_threads, 100);
                    assert_eq!(failed.values, [fails, 1, 0].map(Value::I32));
                }
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_failing_launch_is_not_cut_short_by_its_own_failure() {
    let device = Device::new();
    let mut x = device
        .stream
        .clone_htod(&(0..100).collect::<Vec<_>>())
        .unwrap();
    let scope = Scope::new(&device.stream).skip_if_failed();
    // Of 0 to 99 those from 40 on pass the limit; the block of 32 to 63 has some of both.
    device.add(&scope, &mut x, 1, 40);
    device.add(&scope, &mut x, 1, 1000);
    let failed = scope.finish().check().unwrap_err();
    assert_eq!(
        (failed.block[0], failed.thread[0], failed.failed_threads),
        (1, 8, 60)
    );
    let expected: Vec<_> = (0..100).map(|x| if x < 40 { x + 1 } else { x }).collect();
    assert_eq!(device.read(&x), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_kernels_without_checks_are_not_skipped() {
    let device = Device::new();
    let mut x = device.numbers(0);
    let scope = Scope::new(&device.stream).skip_if_failed();
    device.fail_with(&scope, 9);
    // SAFETY: there are a hundred numbers.
    unsafe {
        device
            .kernels
            .add_unchecked(&scope, threads(100), &mut x, 100, 5)
    }
    .unwrap();
    device.add(&scope, &mut x, 1, 100);
    assert_eq!(code(&scope.finish().check().unwrap_err()), 9);
    assert_eq!(device.read(&x), [5; 100]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_prior_error_wins() {
    let device = Device::new();
    let other = device.context.new_stream().unwrap();
    for (prior, own, expected) in [(4, 6, 4), (4, 0, 4), (0, 6, 6)] {
        // The prior launch is still running, on another stream, when the others are over.
        let (prior, ()) = device.wait(&other, prior);
        let (payload, ()) = Scope::new(&device.stream)
            .after(prior)
            .run(|scope| {
                device.fail_with(scope, own);
                Ok::<_, LaunchError>(())
            })
            .unwrap();
        assert_eq!(code(&payload.check().unwrap_err()), expected);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_after_a_prior_error_launches_do_nothing_if_asked_to() {
    let device = Device::new();
    let other = device.context.new_stream().unwrap();
    let prior = |kind: usize, fail: i32| match kind {
        // In flight, here and on another stream.
        0 => device.wait(&device.stream, fail).0,
        1 => device.wait(&other, fail).0,
        // Known.
        2 => {
            let (prior, ()) = device.fail_with(&other, fail);
            assert_eq!(prior.is_failed(), fail != 0);
            prior
        }
        // Of several, in and out of scopes.
        3 => ErrorPayload::join([
            device.fail_with(&device.stream, 0).0,
            device.wait(&other, fail).0,
            device.fail_with(&device.stream, 0).0,
        ]),
        _ => {
            let scope = Scope::new(&other).after(device.fail_with(&device.stream, 0).0);
            let scope = if kind == 4 {
                scope
            } else {
                scope.skip_if_failed()
            };
            device.wait(&scope, fail);
            device.fail_with(&scope, 0);
            scope.finish()
        }
    };
    for kind in 0..6 {
        for fail in [0, 8] {
            let mut x = device.numbers(0);
            let scope = Scope::new(&device.stream)
                .after(prior(kind, fail))
                .skip_if_failed();
            device.add(&scope, &mut x, 1, 100);
            device.add(&scope, &mut x, 1, -1);
            device.add(&scope, &mut x, 1, 100);
            let failed = scope.finish().check().unwrap_err();
            let (expected, written) = if fail == 0 {
                (vec![1, 1, 0], 1)
            } else {
                (vec![8], 0)
            };
            let expected: Vec<_> = expected.into_iter().map(Value::I32).collect();
            assert_eq!(failed.values, expected, "{kind}: {failed}");
            assert_eq!(device.read(&x), [written; 100], "{kind}");
        }
    }
    // All slots are as new.
    for _ in 0..300 {
        device.fail_with(&device.stream, 0).0.check().unwrap();
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_dropped_prior_is_looked_at_all_the_same() {
    let device = Device::new();
    let other = device.context.new_stream().unwrap();
    let mut x = device.numbers(0);
    let reports = unread(|| {
        let (prior, ()) = device.wait(&other, 8);
        let scope = Scope::new(&device.stream).after(prior).skip_if_failed();
        device.wait(&scope, 0);
        device.add(&scope, &mut x, 1, 100);
        drop(scope);
        // Its slot comes back when the others have looked at it.
        for _ in 0..200 {
            drop(device.fail_with(&other, 0));
        }
        assert_eq!(device.read(&x), [0; 100]);
        gpuk::settle(&other).unwrap();
        gpuk::settle(&device.stream).unwrap();
    });
    assert_eq!(reports, 1);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_payload_takes_its_place_in_a_scope() {
    let device = Device::new();
    let other = device.context.new_stream().unwrap();
    for skips in [false, true] {
        for (before, inner, after, expected) in [
            (1, 2, 3, Some(1)),
            (0, 2, 3, Some(2)),
            (0, 0, 3, Some(3)),
            (0, 0, 0, None),
        ] {
            let (payload, _) = device.wait(&other, inner);
            let scope = Scope::new(&device.stream);
            let scope = if skips { scope.skip_if_failed() } else { scope };
            device.fail_with(&scope, before);
            gpuk::check_error(&scope, payload);
            device.fail_with(&scope, after);
            device.fail_with(&scope, 0);
            let payload = scope.finish();
            assert_eq!(payload.get().as_ref().map(code), expected);
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_payload_behind_a_failure_changes_nothing() {
    let device = Device::new();
    for known in [false, true] {
        let (payload, ()) = device.fail_with(&device.stream, 9);
        if known {
            assert!(payload.is_failed());
        }
        let scope = Scope::new(&device.stream).skip_if_failed();
        for code in [0, 7, 0, 0] {
            device.fail_with(&scope, code);
        }
        gpuk::check_error(&scope, payload);
        for code in [0, 5, 0] {
            device.fail_with(&scope, code);
        }
        let failed = scope.finish().check().unwrap_err();
        assert_eq!((code(&failed), failed.launch), (7, Some(1)));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_joined_payloads_tell_the_first_in_the_order_given() {
    let device = Device::new();
    let context = CudaContext::new_non_primary(0, 0).unwrap();
    let theirs = context.new_stream().unwrap();
    let kernels = Kernels::load(&context).unwrap();
    let there = |code| {
        // SAFETY: the kernel accesses no memory.
        unsafe { kernels.fail_with(&theirs, threads(1), code) }
            .unwrap()
            .0
    };
    let here = |code| device.fail_with(&device.stream, code).0;
    let failed = ErrorPayload::join([here(0), there(2), here(3)])
        .check()
        .unwrap_err();
    assert_eq!(code(&failed), 2);
    let failed = ErrorPayload::join([here(3), there(2)]).check().unwrap_err();
    assert_eq!(code(&failed), 3);
    let none: ErrorPayload = [here(0), there(0)].into_iter().collect();
    none.check().unwrap();
    // What nobody reads is reported, each by itself.
    let reports = unread(|| {
        drop(ErrorPayload::join([here(1), there(2), here(0)]));
        gpuk::settle(&device.stream).unwrap();
        gpuk::settle(&theirs).unwrap();
    });
    assert_eq!(reports, 2);
    // A scope comes after a payload of another context too.
    let mut x = device.numbers(0);
    let scope = Scope::new(&device.stream).after(there(5)).skip_if_failed();
    device.add(&scope, &mut x, 1, 100);
    assert_eq!(code(&scope.finish().check().unwrap_err()), 5);
    assert_eq!(device.read(&x), [0; 100]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_threads_with_scopes_of_their_own_do_not_mix() {
    let device = Device::new();
    let Device {
        context, kernels, ..
    } = &device;
    std::thread::scope(|threads_of| {
        for thread in 1..=8 {
            threads_of.spawn(move || {
                let stream = context.new_stream().unwrap();
                for round in 0..30 {
                    let own = thread * 1000 + round;
                    let fails = round % 5;
                    let scope = Scope::new(&stream);
                    let scope = if round % 2 == 0 {
                        scope
                    } else {
                        scope.skip_if_failed()
                    };
                    for launch in 0..5 {
                        let code = if launch >= fails { own } else { 0 };
                        // SAFETY: the kernel accesses no memory.
                        unsafe { kernels.fail_with(&scope, threads(32), code) }.unwrap();
                    }
                    let failed = scope.finish().check().unwrap_err();
                    assert_eq!((code(&failed), failed.launch), (own, Some(fails as u32)));
                }
            });
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_long_scopes_know_their_first_failure() {
    let device = Device::new();
    for (launches, fails) in [(3000, 40), (3000, 2990), (3000, 3000)] {
        let scope = Scope::new(&device.stream);
        for number in 0..launches {
            device.fail_with(&scope, if number >= fails { 1 + number } else { 0 });
        }
        let failed = scope.finish().get();
        let found = failed.as_ref().map(|failed| (code(failed), failed.launch));
        let expected = (fails < launches).then_some((1 + fails, Some(fails as u32)));
        assert_eq!(found, expected);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_scope_that_ends_early_loses_nothing() {
    let device = Device::new();
    let Device {
        stream, kernels, ..
    } = &device;
    let reports = unread(|| {
        let refused = gpuk::checkify(stream, |scope| {
            device.fail_with(scope, 3);
            // SAFETY: it is not launched.
            unsafe { kernels.fail_with(scope, threads(4096), 0) }
        });
        assert!(
            matches!(refused, Err(LaunchError::BlockAxis { .. })),
            "{refused:?}"
        );
        let scope = Scope::new(stream).skip_if_failed();
        device.fail_with(&scope, 4);
        device.fail_with(&scope, 5);
        drop(scope);
        gpuk::settle(stream).unwrap();
    });
    assert_eq!(reports, 2);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_payload_of_a_scope_crosses_threads() {
    let device = Device::new();
    let stream = device.context.per_thread_stream();
    let scope = Scope::new(&stream);
    device.wait(&scope, 0);
    device.fail_with(&scope, 7);
    let payload = scope.finish();
    let failed = std::thread::spawn(move || payload.check()).join().unwrap();
    let failed = failed.unwrap_err();
    assert_eq!((code(&failed), failed.category), (7, Category::Check));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_to_skip_has_to_be_said_before_the_first_launch() {
    let device = Device::new();
    let scope = Scope::new(&device.stream);
    device.fail_with(&scope, 2);
    device.fail_with(&scope, 0);
    let scope = scope.skip_if_failed().skip_if_failed();
    // SAFETY: the kernel accesses no memory.
    let refused = unsafe { device.kernels.fail_with(&scope, threads(64), 3) };
    let expected = LaunchError::LateSkip {
        kernel: "fail_with",
        launches: 2,
    };
    assert_eq!(refused.unwrap_err(), expected);
    // What ran before is told all the same.
    let failed = scope.finish().check().unwrap_err();
    assert_eq!((code(&failed), failed.launch), (2, Some(0)));
}
