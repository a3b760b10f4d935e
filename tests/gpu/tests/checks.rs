//! A failed check is a value: the first in order, with its values, and the context lives on.

use std::sync::Arc;

use gpuk::half::f16;
use gpuk::{Category, CudaStream, ErrorPayload, FailedCheck, Launch, Value};
use gpuk_gpu_tests::checks::Kernels;

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

    fn gather(&self, idx: &[i32], rows: i32) -> (ErrorPayload, Vec<f32>) {
        let Self { stream, kernels } = self;
        let src: Vec<_> = (0..rows).map(|row| row as f32).collect();
        let src = stream.clone_htod(&src).unwrap();
        let ids = stream.clone_htod(idx).unwrap();
        let dst = stream.clone_htod(&vec![-1.0; idx.len()]).unwrap();
        let launch = Kernels::GATHER.launch().elements(idx.len());
        // SAFETY: the lengths are those of the buffers.
        let launched =
            unsafe { kernels.gather(stream, launch, &src, &ids, dst, idx.len() as i32, rows) };
        let (payload, dst) = launched.unwrap();
        (payload, stream.clone_dtoh(&dst).unwrap())
    }
}

fn block(threads: u32) -> Launch {
    Launch::default().block([threads, 1, 1])
}

fn failed(payload: &ErrorPayload) -> FailedCheck {
    payload.check().unwrap_err()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_failed_check_is_a_value_and_the_next_launch_works() {
    let device = Device::new();
    let mut idx: Vec<i32> = (0..100_000).map(|i| i % 50).collect();
    let (payload, dst) = device.gather(&idx, 50);
    payload.check().unwrap();
    assert!(
        dst.iter()
            .zip(&idx)
            .all(|(found, row)| *found == *row as f32)
    );

    for at in [70_001, 4_321, 99_999] {
        idx[at] = -3;
    }
    for _ in 0..50 {
        let (payload, dst) = device.gather(&idx, 50);
        let failed = failed(&payload);
        assert_eq!(failed.message, "row -3 of 50");
        assert_eq!(failed.values, [Value::I32(-3), Value::I32(50)]);
        assert_eq!(
            (failed.block, failed.thread),
            ([4321 / 256, 0, 0], [4321 % 256, 0, 0])
        );
        assert_eq!(
            (failed.failed_threads, failed.category, failed.line),
            (3, Category::Check, 11)
        );
        assert_eq!(failed.file, "kernels/checks.cu");
        assert_eq!(dst[4321], -1.0, "the thread stopped before its store");
        assert_eq!(dst[4322], idx[4322] as f32, "the others went on");
    }
    idx.retain(|row| *row >= 0);
    device.gather(&idx, 50).0.check().unwrap();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_every_thread_failing_is_counted() {
    let device = Device::new();
    let idx = vec![9; 1 << 20];
    let failed = failed(&device.gather(&idx, 9).0);
    assert_eq!(
        (failed.block, failed.thread, failed.failed_threads),
        ([0; 3], [0; 3], 1 << 20)
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_expect_goes_on_and_counts_a_thread_once() {
    let Device { stream, kernels } = &Device::new();
    let mut x = vec![1.0_f32; 1000];
    for at in [5, 5 + 32, 5 + 64, 7, 900] {
        x[at] = f32::NAN;
    }
    let x = stream.clone_htod(&x).unwrap();
    let seen = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: `x` has 1000 elements.
    let (payload, seen) =
        unsafe { kernels.expect_numbers(stream, block(32), &x, seen, 1000) }.unwrap();
    let failed = failed(&payload);
    // 900 % 32 is thread 4: lower than 5, though it comes to its check later.
    assert_eq!((failed.thread[0], &*failed.message), (4, "NaN at 900"));
    assert_eq!(
        (failed.failed_threads, failed.category),
        (3, Category::Expect)
    );
    assert_eq!(stream.clone_dtoh(&seen).unwrap(), [1000]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_an_assert_is_a_check() {
    let Device { stream, kernels } = &Device::new();
    let x = stream.clone_htod(&[1, 2, 0, -4]).unwrap();
    let y = stream.alloc_zeros::<i32>(4).unwrap();
    // SAFETY: both have an element for each thread.
    let (payload, y) = unsafe { kernels.asserts(stream, block(4), &x, y) }.unwrap();
    let failed = failed(&payload);
    assert_eq!(
        (failed.condition, failed.thread[0], failed.failed_threads),
        ("x[i] > 0", 2, 2)
    );
    assert_eq!(failed.category, Category::Assert);
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [1, 2, 0, 0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_values_keep_their_type_and_sign() {
    let Device { stream, kernels } = &Device::new();
    let out = stream.alloc_zeros::<i32>(1).unwrap();
    let h = f16::from_f32(0.25);
    // SAFETY: `out` has an element.
    let launched = unsafe {
        kernels.captures(
            stream,
            block(1),
            true,
            b'x' as i8,
            -5,
            i64::MIN,
            u64::MAX,
            -0.5,
            1e300,
            h,
            out,
        )
    };
    let failed = failed(&launched.unwrap().0);
    assert_eq!(
        failed.message,
        format!("true x -5 {} {} -0.5 1e300 0.25", i64::MIN, u64::MAX)
    );
    assert_eq!(
        failed.values[3..5],
        [Value::I64(i64::MIN), Value::U64(u64::MAX)]
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_checks_in_device_functions() {
    let Device { stream, kernels } = &Device::new();
    let table = stream.clone_htod(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let run = |extra: i32| {
        let out = stream.alloc_zeros::<i32>(8).unwrap();
        // SAFETY: `out` has an element for each thread, and reads beyond the table are checked.
        let (payload, out) =
            unsafe { kernels.functions(stream, block(8), &table, out, 8, extra) }.unwrap();
        (payload, stream.clone_dtoh(&out).unwrap())
    };
    let (payload, out) = run(0);
    payload.check().unwrap();
    assert_eq!(out, [2, 3, 5, 10, 6, 7, 9, 14]);
    // With 1, thread 7 reads past the table, and thread 3, before it in order, asks for 13!.
    let (payload, _) = run(1);
    let found = failed(&payload);
    assert_eq!(
        (&*found.message, found.thread[0], found.failed_threads),
        ("13! does not fit", 3, 2)
    );
    assert!(found.function.contains("factorial"), "{}", found.function);
    let (payload, _) = run(5);
    let found = failed(&payload);
    assert_eq!((&*found.message, found.thread[0]), ("50! does not fit", 0));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_stopped_thread_does_not_hang_a_barrier() {
    let Device { stream, kernels } = &Device::new();
    let mut x = vec![1; 256];
    x[100] = 1000;
    x[200] = 2000;
    let x = stream.clone_htod(&x).unwrap();
    let sum = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: `x` has an element for each thread.
    let (payload, sum) = unsafe { kernels.barrier(stream, block(256), &x, sum, 10) }.unwrap();
    assert_eq!(failed(&payload).message, "1000 at 100");
    assert_eq!(stream.clone_dtoh(&sum).unwrap(), [254]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_the_first_is_the_lowest_block_then_the_lowest_thread() {
    let Device { stream, kernels } = &Device::new();
    let launch = Launch::default().grid([3, 4, 5]).block([4, 3, 2]);
    for _ in 0..20 {
        // SAFETY: the kernel accesses no memory.
        let (payload, ()) = unsafe { kernels.dimensions(stream, launch, 31, 17) }.unwrap();
        let failed = failed(&payload);
        assert_eq!(failed.message, "block 31 thread 17");
        assert_eq!((failed.block, failed.thread), ([1, 2, 2], [1, 1, 1]));
        assert_eq!(failed.failed_threads, (60 - 31) * (24 - 17));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_debug_checks_are_as_good_as_others() {
    let Device { stream, kernels } = &Device::new();
    // SAFETY: the kernel accesses no memory.
    let (payload, ()) = unsafe { kernels.debug_only(stream, block(1), 0) }.unwrap();
    let failed = failed(&payload);
    assert_eq!(
        (&*failed.message, failed.category),
        ("n is 0", Category::DebugCheck)
    );
    println!("{failed}");
}
