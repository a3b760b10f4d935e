//! What checks promise, one by one. `book/src/reference/checkify.md` lists these and those of the other files.

use std::sync::Arc;

use gpuk::{Category, CudaStream, FailedCheck, FailureReport, Launch, Value};
use gpuk_gpu_tests::behaviours::Kernels;

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
}

fn grid(blocks: u32, threads: u32) -> Launch {
    Launch::default()
        .grid([blocks, 1, 1])
        .block([threads, 1, 1])
}

/// What two runs say is the same, except where they were launched.
fn said(failed: &FailedCheck) -> String {
    format!(
        "{:?} {} {:?} {:?} {}",
        failed.site, failed.message, failed.block, failed.thread, failed.failed_threads
    )
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_01_a_failed_check_says_its_values_and_outputs_come_back() {
    let Device { stream, kernels } = &Device::new();
    let out = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: `out` has an element.
    let (payload, out) = unsafe { kernels.positive(stream, grid(1, 1), -1, out) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.message, "-1 must be positive");
    assert_eq!(failed.values, [Value::I32(-1)]);
    assert_eq!(
        (failed.failed_threads, failed.category),
        (1, Category::Check)
    );
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [1]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_02_a_passing_check_says_nothing() {
    let Device { stream, kernels } = &Device::new();
    let out = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: `out` has an element.
    let (payload, out) = unsafe { kernels.positive(stream, grid(1, 1), 5, out) }.unwrap();
    assert_eq!(payload.get(), None);
    assert_eq!(payload.try_check(), Some(Ok(())));
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [5]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_03_in_a_thread_the_first_executed_wins() {
    let Device { stream, kernels } = &Device::new();
    let out = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: `out` has an element.
    let (payload, out) = unsafe { kernels.twice(stream, grid(1, 1), -2, out) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!(
        (&*failed.message, failed.category),
        ("first -2", Category::Expect)
    );
    // Counted once, though it failed twice; the second check stopped it.
    assert_eq!(failed.failed_threads, 1);
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [-2]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_04_neither_source_order_nor_types_make_a_check_first() {
    let Device { stream, kernels } = &Device::new();
    let run = |first, second| {
        // SAFETY: the kernel accesses no memory.
        let (payload, ()) =
            unsafe { kernels.rounds(stream, grid(1, 1), 8, first, second) }.unwrap();
        payload.get().map(|failed| failed.message.clone())
    };
    assert_eq!(run(5, 1).as_deref(), Some("B failed at 1 of 8"));
    assert_eq!(run(1, 5).as_deref(), Some("A failed at 1"));
    assert_eq!(run(3, 3).as_deref(), Some("A failed at 3"));
    assert_eq!(run(8, 8), None);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_09_values_have_all_their_bits() {
    let Device { stream, kernels } = &Device::new();
    let index = stream.clone_htod(&[(1_i64 << 32) + 2]).unwrap();
    let out = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: both have an element.
    let (payload, _) = unsafe { kernels.look_up(stream, grid(1, 1), &index, out, 4) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.message, "index 4294967298 of 4");
    // In a log too, and read back from it.
    let json = serde_json::to_string(&failed).unwrap();
    let read: FailureReport = serde_json::from_str(&json).unwrap();
    assert_eq!(read, FailureReport::from(&failed));
    assert_eq!(read.values, [Value::I64((1 << 32) + 2), Value::I64(4)]);
    assert_eq!(read.to_string(), failed.to_string());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_10_of_many_threads_the_lowest_wins_and_all_are_counted() {
    let Device { stream, kernels } = &Device::new();
    let index = stream.clone_htod(&[1_i64, 9, 7]).unwrap();
    let out = stream.alloc_zeros::<i32>(3).unwrap();
    // SAFETY: both have an element for each thread.
    let (payload, out) = unsafe { kernels.look_up(stream, grid(1, 3), &index, out, 4) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.values, [Value::I64(9), Value::I64(4)]);
    assert_eq!((failed.thread, failed.failed_threads), ([1, 0, 0], 2));
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [1, 0, 0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_11_one_thread_of_many_blocks_is_named() {
    let Device { stream, kernels } = &Device::new();
    let mut told = Vec::new();
    for _ in 0..3 {
        let line = line!() + 2;
        // SAFETY: the kernel accesses no memory.
        let (payload, ()) = unsafe { kernels.one(stream, grid(1024, 128), 937, 29) }.unwrap();
        let failed = payload.check().unwrap_err();
        assert_eq!((failed.block, failed.thread), ([937, 0, 0], [29, 0, 0]));
        assert_eq!((failed.kernel, failed.failed_threads), ("one", 1));
        let launched_at = failed.launched_at;
        assert_eq!((launched_at.file(), launched_at.line()), (file!(), line));
        assert!(
            failed
                .to_string()
                .contains(&format!("stream {}", failed.stream))
        );
        told.push(said(&failed));
    }
    told.dedup();
    assert_eq!(told.len(), 1);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_21_threads_past_the_end_are_caught() {
    let Device { stream, kernels } = &Device::new();
    let x = stream.clone_htod(&[-1; 18]).unwrap();
    // SAFETY: what lies past the end is checked.
    let (payload, x) = unsafe { kernels.ragged(stream, grid(3, 8), x, 18) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.message, "18 of 18");
    assert_eq!((failed.block, failed.thread), ([2, 0, 0], [2, 0, 0]));
    assert_eq!(failed.failed_threads, 6);
    assert_eq!(stream.clone_dtoh(&x).unwrap(), (0..18).collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_behaviour_15_threads_that_stop_do_not_hang_the_barrier_of_a_cluster() {
    let Device { stream, kernels } = &Device::new();
    // Clusters of two blocks of 64. In the first, single threads and a warp fail; in the second, a whole block.
    let mut x = vec![1; 256];
    for at in [3, 70].into_iter().chain(32..64).chain(128..192) {
        x[at] = 100;
    }
    let dx = stream.clone_htod(&x).unwrap();
    let sum = stream.alloc_zeros::<i32>(2).unwrap();
    let seen = stream.alloc_zeros::<i32>(256).unwrap();
    // SAFETY: there is an element for each thread, and a sum for each cluster.
    let launched =
        unsafe { kernels.cluster_barrier(stream, grid(4, 64), &dx, sum, seen, 10) }.unwrap();
    let (payload, (sum, seen)) = launched;
    let failed = payload.check().unwrap_err();
    assert_eq!((failed.thread[0], failed.failed_threads), (3, 2 + 32 + 64));
    // All that were left added theirs before any of them read.
    assert_eq!(stream.clone_dtoh(&sum).unwrap(), [94, 64]);
    let expected = x.iter().enumerate().map(|(at, x)| match (*x, at < 128) {
        (100, _) => 0,
        (_, true) => 94,
        (_, false) => 64,
    });
    assert_eq!(
        stream.clone_dtoh(&seen).unwrap(),
        expected.collect::<Vec<_>>()
    );
}
