//! What launches return: outputs, failures, slots, streams and captures.

use std::time::Instant;

use gpuk::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use gpuk::{Category, Launch, Value};

use crate::kernels::Kernels;
use crate::{Device, LONG, unread};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_passing_launch_returns_its_outputs() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let (payload, dst) = device.gather(&stream, &[3, 0, 2]);
    payload.check().unwrap();
    assert_eq!(payload.try_check(), Some(Ok(())));
    assert_eq!(stream.clone_dtoh(&dst).unwrap(), [13.0, 10.0, 12.0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_the_first_failure_is_a_value() {
    let device = Device::new();
    let stream = device.context.new_stream().unwrap();
    let mut idx = vec![0; 1000];
    idx[937] = -7;
    idx[70] = 4;
    idx[999] = 5;
    let line = line!() + 1;
    let (payload, dst) = device.gather(&stream, &idx);
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.category, Category::Check);
    assert_eq!(failed.message, "row 4 of 4");
    assert_eq!(failed.values, [Value::I32(4), Value::I32(4)]);
    assert_eq!((failed.block, failed.thread), ([2, 0, 0], [6, 0, 0]));
    assert_eq!(failed.failed_threads, 3);
    assert_eq!((failed.file, failed.line), ("kernels.cu", 8));
    assert_eq!((failed.kernel, failed.function), ("gather", "gather"));
    assert_eq!((failed.device, failed.fault), (0, None));
    assert!(!failed.device_name.is_empty());
    // `Device::gather` is `#[track_caller]` too, up to the closure-free call of the wrapper in it.
    assert_eq!(failed.launched_at.line(), line);
    println!("{failed}");
    assert_eq!(payload.get().as_ref(), Some(&failed));
    // The context lives, and the threads that did not fail have done their work.
    let dst = stream.clone_dtoh(&dst).unwrap();
    assert_eq!((dst[69], dst[70], dst[71]), (10.0, 0.0, 10.0));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_slots_are_as_new_after_a_failure() {
    let device = Device::new();
    let stream = device.context.default_stream();
    for round in 0..600 {
        let (good, _) = device.gather(&stream, &[1, 2]);
        let (bad, _) = device.gather(&stream, &[0, 4 + round]);
        let failed = bad.check().unwrap_err();
        assert_eq!(failed.values[0], Value::I32(4 + round));
        assert_eq!(failed.failed_threads, 1);
        good.check().unwrap();
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_many_launches_in_flight_have_their_own_slots() {
    let device = Device::new();
    let stream = device.context.new_stream().unwrap();
    let payloads: Vec<_> = (0..700)
        .map(|index| {
            device
                .gather(&stream, &[if index % 100 == 99 { -1 } else { 0 }])
                .0
        })
        .collect();
    let failed: Vec<_> = (0..700)
        .filter(|index| payloads[*index].is_failed())
        .collect();
    assert_eq!(failed, [99, 199, 299, 399, 499, 599, 699]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_threads_launch_side_by_side() {
    let device = Device::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let device = &device;
            scope.spawn(move || {
                let stream = device.context.new_stream().unwrap();
                for round in 0..200 {
                    let bad = thread * 1000 + round + 4;
                    let (payload, _) = device.gather(&stream, &[0, bad]);
                    if round % 3 == 0 {
                        let failed = payload.check().unwrap_err();
                        assert_eq!(failed.values[0], Value::I32(bad));
                    } else {
                        assert!(payload.is_failed());
                    }
                }
            });
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_asking_without_waiting() {
    let device = Device::new();
    let stream = device.context.new_stream().unwrap();
    let payload = device.spin(&stream, LONG, true);
    assert_eq!(payload.try_check(), None);
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.category, Category::Expect);
    assert_eq!(failed.message, "expectation not met: `!fail`");
    assert!(matches!(payload.try_check(), Some(Err(_))));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_dropping_does_not_wait_and_reports_once() {
    let device = Device::new();
    let stream = device.context.new_stream().unwrap();
    let count = unread(|| {
        let start = Instant::now();
        drop(device.spin(&stream, LONG, true));
        let dropped = start.elapsed();
        stream.synchronize().unwrap();
        assert!(
            dropped * 4 < start.elapsed(),
            "{dropped:?} of {:?}",
            start.elapsed()
        );
        gpuk::settle(&stream).unwrap();
        gpuk::settle(&stream).unwrap();
    });
    assert_eq!(count, 1);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_unread_failures_are_found_in_batches() {
    let device = Device::new();
    let stream = device.context.new_stream().unwrap();
    let count = unread(|| {
        for index in 0..1000 {
            drop(device.spin(&stream, 0, index % 10 == 0));
        }
        gpuk::settle(&stream).unwrap();
    });
    assert_eq!(count, 100);
    // All slots are as new.
    for _ in 0..1000 {
        device.spin(&stream, 0, false).check().unwrap();
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_unread_failures_outlive_stream_and_kernels() {
    let device = Device::new();
    let count = unread(|| {
        let stream = device.context.new_stream().unwrap();
        drop(device.spin(&stream, LONG / 10, true));
        drop(stream);
        let other = device.context.new_stream().unwrap();
        // A full batch makes the pool look around, a second one finds what has ended since.
        for _ in 0..2 {
            for _ in 0..64 {
                drop(device.spin(&other, 0, false));
            }
            device.context.synchronize().unwrap();
        }
    });
    assert_eq!(count, 1);
    // The device stays locked: the hook is of the whole process.
    let Device {
        context,
        kernels,
        _alone,
    } = device;
    let count = unread(|| {
        let other = Kernels::load(&context).unwrap();
        let stream = context.new_stream().unwrap();
        // SAFETY: the kernel accesses nothing.
        drop(unsafe { other.spin(&stream, Launch::default(), LONG / 10, true) }.unwrap());
        drop(other);
        drop(stream);
    });
    assert_eq!(count, 0, "`kernels` still has the pool");
    let count = unread(|| {
        drop(kernels);
        drop(context);
    });
    assert_eq!(count, 1);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_the_threads_own_stream_is_waited_for_from_elsewhere() {
    let device = Device::new();
    let stream = device.context.per_thread_stream();
    let payload = device.spin(&stream, LONG, true);
    let failed = std::thread::spawn(move || payload.check()).join().unwrap();
    assert!(failed.is_err());
    let count = unread(|| {
        drop(device.spin(&stream, LONG, true));
        stream.synchronize().unwrap();
        gpuk::settle(&stream).unwrap();
    });
    assert_eq!(count, 1);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_captured_launch_answers_for_each_replay() {
    let device = Device::new();
    // As cudarc's own capture test does: events recorded before the capture may not be waited for in it.
    // SAFETY: one stream has all work.
    unsafe { device.context.disable_event_tracking() };
    let stream = device.context.new_stream().unwrap();
    let src = stream.clone_htod(&[10.0_f32, 11.0, 12.0, 13.0]).unwrap();
    let mut idx = stream.clone_htod(&[0, 1]).unwrap();
    let mut dst = stream.alloc_zeros(2).unwrap();
    let launch = Launch::default().block([2, 1, 1]);
    let before = device.spin(&stream, 0, false);
    let other = device.context.new_stream().unwrap();

    stream
        .begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL)
        .unwrap();
    // SAFETY: the buffers have two items, and stay until after the last replay.
    let (payload, _) = unsafe {
        device
            .kernels
            .gather(&stream, launch, &src, &idx, &mut dst, 2, 4)
    }
    .unwrap();
    // Questions and drops during the capture do not spoil it.
    assert_eq!(payload.check().unwrap_err().category, Category::Fault);
    assert_eq!(before.check().unwrap_err().category, Category::Fault);
    drop(device.spin(&stream, 0, true));
    let slots: Vec<_> = (0..300).map(|_| device.spin(&stream, 0, false)).collect();
    drop(slots);
    for _ in 0..200 {
        drop(device.spin(&other, 0, false));
    }
    let graph = stream
        .end_capture(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
        .unwrap()
        .unwrap();

    before.check().unwrap();
    graph.launch().unwrap();
    payload.check().unwrap();
    stream.memcpy_htod(&[0, 9], &mut idx).unwrap();
    for _ in 0..3 {
        graph.launch().unwrap();
        assert_eq!(payload.check().unwrap_err().message, "row 9 of 4");
    }
    stream.memcpy_htod(&[0, 2], &mut idx).unwrap();
    graph.launch().unwrap();
    payload.check().unwrap();
    // What nobody kept the payload of is reported when asked for, once for what happened since.
    let settle = || gpuk::settle(&stream).unwrap();
    assert_eq!(unread(settle), 1);
    assert_eq!(unread(settle), 0);
    graph.launch().unwrap();
    assert_eq!(unread(settle), 1);
    // SAFETY: as it was.
    unsafe { device.context.enable_event_tracking() };
}
