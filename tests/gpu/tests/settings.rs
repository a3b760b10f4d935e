//! What the manifest makes of kernels: a trap that is a check, and PTX with declared types.

use gpuk::{Category, Launch};
use gpuk_gpu_tests::{axpy, traps};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_trap_comes_back_as_a_value_and_the_context_lives_on() {
    let context = gpuk::device(0).unwrap();
    let stream = context.new_stream().unwrap();
    let kernels = traps::Kernels::load(&context).unwrap();
    let launch = || Launch::default().grid([2, 1, 1]).block([64, 1, 1]);
    let y = stream.clone_htod(&[1.0_f32; 128]).unwrap();
    // SAFETY: the length is that of the buffer.
    let (payload, y) = unsafe { kernels.scale_by_power(&stream, launch(), y, 6, 128) }.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.category, Category::Trap);
    assert_eq!((failed.block, failed.thread), ([1, 0, 0], [13, 0, 0]));
    assert_eq!(failed.message, "trap reached: `__trap()`");
    assert_eq!(
        (failed.file, failed.failed_threads),
        ("kernels/traps.cu", 1)
    );
    assert!(
        failed
            .to_string()
            .starts_with("trap reached in kernel `scale_by_power`: `__trap()`")
    );

    // SAFETY: as before.
    let (payload, y) = unsafe { kernels.scale_by_power(&stream, launch(), y, 8, 128) }.unwrap();
    payload.check().unwrap();
    let y = stream.clone_dtoh(&y).unwrap();
    let expected = |i| if i == 77 { 8.0 } else { 48.0 };
    assert!(
        y.iter().enumerate().all(|(i, found)| *found == expected(i)),
        "{y:?}"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_ptx_written_by_hand_runs_through_its_wrapper() {
    let context = gpuk::device(0).unwrap();
    let stream = context.new_stream().unwrap();
    let kernels = axpy::Kernels::load(&context).unwrap();
    let numbers: Vec<f32> = (0..1000_u16).map(f32::from).collect();
    let x = stream.clone_htod(&numbers).unwrap();
    let y = stream.clone_htod(&vec![0.5_f32; 1000]).unwrap();
    // SAFETY: the kernel stays in the extents that its `signature` says.
    let (payload, out) = unsafe { kernels.axpy(&stream, 3.0, &x, &y) }.unwrap();
    payload.check().unwrap();
    let out = stream.clone_dtoh(&out).unwrap();
    let expected = numbers.iter().map(|x| 3.0 * x + 0.5);
    assert!(out.iter().copied().eq(expected));
}
