//! Checks in device functions: where they say that they stand, and how often they count.

use std::sync::Arc;

use gpuk::{CudaStream, FailedCheck, FailureReport, Launch};
use gpuk_gpu_tests::functions::Kernels;

struct Device {
    stream: Arc<CudaStream>,
    kernels: Kernels,
}

impl Device {
    fn new() -> Self {
        let context = gpuk::device(0).unwrap();
        Self {
            stream: context.new_stream().unwrap(),
            kernels: Kernels::load(&context).unwrap(),
        }
    }

    /// The failure of 32 threads of which one takes that way, past the end of the array, and those before it another,
    /// within.
    fn inlined(&self, thread: usize, way: i32) -> FailedCheck {
        let Self { stream, kernels } = self;
        let mut ways = [3; 32];
        ways[thread] = way;
        let p = stream.clone_htod(&[0; 16]).unwrap();
        let ways = stream.clone_htod(&ways).unwrap();
        let out = stream.alloc_zeros::<i32>(32).unwrap();
        let block = Launch::default().block([32, 1, 1]);
        // SAFETY: `ways` and `out` have an element for each thread, and the index into `p` is checked.
        let launched = unsafe { kernels.inlined(stream, block, &p, &ways, out, 3) };
        launched.unwrap().0.check().unwrap_err()
    }
}

/// The lines of the calls, as `22` or `11, in third < 25`.
fn chain(failed: &FailedCheck) -> String {
    let calls = failed.calls.iter().map(|call| {
        assert_eq!(call.file, "kernels/functions.cu");
        let lines: Vec<_> = call.lines.iter().map(u32::to_string).collect();
        let within = match call.function {
            "" => String::new(),
            function => format!(", in {function}"),
        };
        lines.join("|") + &within
    });
    calls.collect::<Vec<_>>().join(" < ")
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_failure_names_the_calls_that_its_check_was_inlined_through() {
    let device = Device::new();
    let direct = device.inlined(5, 0);
    assert_eq!((direct.thread[0], chain(&direct)), (5, "21".to_owned()));
    let once = device.inlined(9, 1);
    assert_eq!(chain(&once), "10, in third < 22");
    let again = device.inlined(8, 2);
    assert_eq!((again.thread[0], &*again.message), (8, "3 of 3"));
    assert_eq!(chain(&again), "10, in third < 23");
    // The chain ends at a function that is called.
    let called = device.inlined(9, 3);
    assert_eq!(chain(&called), "10, in third < 14, in apart");
    for failed in [&direct, &once, &again, &called] {
        assert_eq!((failed.line, failed.function), (5, "at"));
        assert_eq!(failed.site, direct.site, "one check");
    }
    assert!(
        once.to_string().contains(
            "--> kernels/functions.cu:5, in `at`\n   = called from kernels/functions.cu:10, in `third`\n   \
             = called from kernels/functions.cu:22\n"
        ),
        "{once}"
    );
    let json = serde_json::to_value(&once).unwrap();
    assert_eq!(
        json["calls"][0],
        serde_json::json!({ "function": "third", "file": "kernels/functions.cu", "lines": [10] })
    );
    let read: FailureReport = serde_json::from_value(json).unwrap();
    assert_eq!(read.calls[1].lines, [22]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_thread_that_fails_in_many_calls_counts_once() {
    let Device { stream, kernels } = &Device::new();
    let block = Launch::default().block([64, 1, 1]);
    let x: Vec<i32> = (0..64).collect();
    let dx = stream.clone_htod(&x).unwrap();
    let out = stream.alloc_zeros::<i32>(64).unwrap();
    // Thread `i` fails in the rounds from `i` on: 0 to 19 do, one of them twenty times.
    // SAFETY: both buffers have an element for each thread.
    let (payload, out) = unsafe { kernels.rounds_apart(stream, block, &dx, out, 20) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!((failed.failed_threads, failed.thread[0]), (20, 0));
    assert_eq!(failed.message, "0 is not positive");
    let expected = x
        .iter()
        .map(|x| (0..20).map(|round| (x - round).max(1)).sum::<i32>());
    assert_eq!(
        stream.clone_dtoh(&out).unwrap(),
        expected.collect::<Vec<_>>()
    );

    // Of depths 1 to 10, thread `i` fails in those above `i`: 0 to 9 do.
    // SAFETY: as before.
    let (payload, _) = unsafe { kernels.deep(stream, block, &dx, out, 10) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!((failed.failed_threads, failed.thread[0]), (10, 0));
    assert_eq!(failed.message, "-10 at depth 10");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_failures_of_kernel_and_functions_behind_pointers_are_of_one_thread() {
    let Device { stream, kernels } = &Device::new();
    let block = Launch::default().block([64, 1, 1]);
    let run = |x: &[i32], which: &[i32], limit: i32| {
        let x = stream.clone_htod(x).unwrap();
        let which_at = stream.clone_htod(which).unwrap();
        let out = stream.alloc_zeros::<i32>(64).unwrap();
        // SAFETY: `x` and `out` have an element for each thread, and `which` has as many as are said.
        let launched = unsafe {
            kernels.stepping(stream, block, &x, &which_at, out, which.len() as i32, limit)
        };
        let (payload, out) = launched.unwrap();
        (payload.get(), stream.clone_dtoh(&out).unwrap())
    };
    let x: Vec<i32> = (0..64).collect();
    // The odd ones fail in `halve`, from 40 on all fail before; a thread of both counts once.
    let (failed, out) = run(&x, &[0, 1, 2], 40);
    let failed = failed.unwrap();
    assert_eq!(
        (failed.thread[0], &*failed.message),
        (0, "0 is not positive")
    );
    // Not positive: 0, which is then 1 and odd. Odd: 32. Even from 40 on: 12. Thread 16 ends at 7 and stops.
    assert_eq!(failed.failed_threads, 1 + 32 + 12 + 1);
    let expected = x.iter().map(|x| match (x.max(&1) / 2) - 1 {
        7 => 0,
        v => v,
    });
    assert_eq!(out, expected.collect::<Vec<_>>());
    let (failed, _) = run(
        &x[..32]
            .repeat(2)
            .iter()
            .map(|x| 2 * x + 40)
            .collect::<Vec<_>>(),
        &[1],
        500,
    );
    assert_eq!(failed, None);
}
