//! Launches on a device. `cargo test -p gpuk --test gpu -- --ignored gpu_`
//!
//! The tests that begin otherwise are run one by one: `alone_` leaves the device's context unusable, `measure_`
//! prints times.

#![expect(unsafe_code, reason = "launching kernels")]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gpuk::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use gpuk::cudarc::driver::{LaunchConfig, PushKernelArg};
use gpuk::{
    Address, Category, Count, CudaContext, CudaSlice, CudaStream, ErrorPayload, FailedCheck, Image,
    KernelInfo, Launch, LaunchError, LoadError, Module, Null, ParamInfo, Site, Value,
};

#[allow(dead_code, unreachable_pub, reason = "generated code is public")]
mod kernels;

use kernels::Kernels;

/// A device with the kernels on it, for one test at a time: the hook is the process's.
struct Device {
    context: Arc<CudaContext>,
    kernels: Kernels,
    _alone: MutexGuard<'static, ()>,
}

impl Device {
    fn new() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let context = gpuk::device(0).unwrap();
        Self {
            kernels: Kernels::load(&context).unwrap(),
            context,
            _alone: alone,
        }
    }

    /// Gathers from four rows by these indices; those out of range fail.
    #[track_caller]
    fn gather(&self, stream: &Arc<CudaStream>, idx: &[i32]) -> (ErrorPayload, CudaSlice<f32>) {
        let src = stream.clone_htod(&[10.0_f32, 11.0, 12.0, 13.0]).unwrap();
        let idx = stream.clone_htod(idx).unwrap();
        let dst = stream.alloc_zeros(idx.len()).unwrap();
        let launch = Launch::default().block([32, 1, 1]).elements(idx.len());
        let n = i32::try_from(idx.len()).unwrap();
        // SAFETY: the buffers have as many items.
        unsafe { self.kernels.gather(stream, launch, &src, &idx, dst, n, 4) }.unwrap()
    }

    /// Occupies the stream for a while.
    #[track_caller]
    fn spin(&self, stream: &Arc<CudaStream>, cycles: u64, fail: bool) -> ErrorPayload {
        // SAFETY: the kernel accesses nothing.
        unsafe { self.kernels.spin(stream, Launch::default(), cycles, fail) }
            .unwrap()
            .0
    }
}

/// Some hundredths of a second.
const LONG: u64 = 50_000_000;

/// Counts the failures reported unread while `run` runs.
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

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_launches_that_cannot_be_are_refused() {
    let device = Device::new();
    let Device {
        context, kernels, ..
    } = &device;
    let stream = context.default_stream();
    let spin = |launch: Launch| {
        // SAFETY: the kernel accesses nothing.
        unsafe { kernels.spin(&stream, launch, 0, true) }.map(|(payload, ())| payload.check())
    };
    // Empty grids are none.
    assert_eq!(spin(Launch::default().elements(0)), Ok(Ok(())));
    let refusal = |launch| spin(launch).unwrap_err();
    let block = |x, y, z| Launch::default().block([x, y, z]);
    assert!(matches!(
        refusal(block(0, 1, 1)),
        LaunchError::EmptyBlock { .. }
    ));
    assert!(matches!(
        refusal(block(1, 1, 65)),
        LaunchError::BlockAxis { axis: 'z', .. }
    ));
    assert!(matches!(
        refusal(block(1024, 2, 1)),
        LaunchError::Threads { found: 2048, .. }
    ));
    let grid = Launch::default().grid([1, 65_536, 1]);
    assert!(matches!(
        refusal(grid),
        LaunchError::GridAxis { axis: 'y', .. }
    ));
    let shared = Launch::default().shared(1 << 30);
    assert!(matches!(refusal(shared), LaunchError::Shared { .. }));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_buffers_that_cannot_be_are_refused() {
    let device = Device::new();
    let Device {
        context, kernels, ..
    } = &device;
    let stream = context.default_stream();
    let src = stream.alloc_zeros::<f32>(8).unwrap();
    let mut bytes = stream.alloc_zeros::<u8>(8).unwrap();
    let idx = stream.alloc_zeros::<i32>(1).unwrap();
    let mut odd = bytes.slice_mut(1..);
    // SAFETY: seven bytes have room for one.
    let odd = unsafe { odd.transmute_mut::<f32>(1) }.unwrap();
    let launch = Launch::default();
    // SAFETY: there is room for one.
    let refused = unsafe { kernels.gather(&stream, launch, &src, &idx, odd, 1, 4) };
    let Err(LaunchError::Misaligned {
        parameter: "dst",
        align: 4,
        ..
    }) = refused
    else {
        panic!("{:?}", refused.map(|(payload, _)| payload));
    };

    let other = CudaContext::new_non_primary(0, 0).unwrap();
    let theirs = other.default_stream();
    let buffer = theirs.alloc_zeros::<f32>(1).unwrap();
    // SAFETY: there is room for one.
    let refused = unsafe { kernels.gather(&stream, launch, &src, &idx, buffer, 1, 4) };
    let Err(
        error @ LaunchError::ForeignBuffer {
            parameter: "dst", ..
        },
    ) = refused
    else {
        panic!("{:?}", refused.map(|(payload, _)| payload));
    };
    println!("{error}");
    // SAFETY: the kernel accesses nothing.
    let refused = unsafe { kernels.spin(&theirs, launch, 0, false) };
    assert!(matches!(refused, Err(LaunchError::ForeignStream { .. })));
    // No error waits for the next caller.
    other.check_err().unwrap();
    context.check_err().unwrap();
    // The same kernels in the other context have their own pool.
    let kernels = Kernels::load(&other).unwrap();
    // SAFETY: the kernel accesses nothing.
    let (payload, ()) = unsafe { kernels.spin(&theirs, launch, 0, true) }.unwrap();
    assert!(payload.is_failed());
    device.spin(&stream, 0, false).check().unwrap();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_dynamic_shared_memory_is_raised_when_asked_for() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let mut bytes = stream.alloc_zeros::<u32>(1).unwrap();
    for ask in [1024, 48 << 10, 96 << 10, 64 << 10] {
        let launch = Launch::default().shared(ask);
        // SAFETY: there is an item, and a byte for the thread.
        let (payload, _) =
            unsafe { device.kernels.shared_bytes(&stream, launch, &mut bytes) }.unwrap();
        payload.check().unwrap();
        assert_eq!(stream.clone_dtoh(&bytes).unwrap(), [ask]);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_null_pointers_arrive_as_null() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let some = stream.alloc_zeros::<u64>(1).unwrap();
    let mut answer = stream.alloc_zeros::<bool>(1).unwrap();
    let mut ask = |null: Option<&CudaSlice<u64>>| {
        let launch = Launch::default();
        // SAFETY: there is an item.
        let (payload, _) =
            unsafe { device.kernels.is_null(&stream, launch, null, &mut answer) }.unwrap();
        payload.check().unwrap();
        stream.clone_dtoh(&answer).unwrap()[0]
    };
    assert!(ask(None));
    assert!(!ask(Some(&some)));
    let mut answer = stream.alloc_zeros::<bool>(1).unwrap();
    let launch = Launch::default();
    // SAFETY: there is an item.
    let (payload, _) = unsafe {
        device
            .kernels
            .is_null(&stream, launch, Null::new(), &mut answer)
    }
    .unwrap();
    payload.check().unwrap();
    assert_eq!(stream.clone_dtoh(&answer).unwrap(), [true]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_an_image_that_does_not_load_gives_way_to_the_next() {
    const fn damaged(arch: &'static str) -> Image {
        Image::Cubin {
            arch,
            bytes: b"not machine code\0",
            sites: &[],
        }
    }
    let device = Device::new();
    let mut images = ["sm_80", "sm_90", "sm_100", "sm_110", "sm_120"]
        .map(damaged)
        .to_vec();
    let damaged = images.clone().leak();
    images.extend(device.kernels.images());
    let module = Module::load(&device.context, images.leak()).unwrap();
    assert!(matches!(module.image(), Image::Ptx { .. }));
    let refused = Module::load(&device.context, damaged).unwrap_err();
    println!("{refused}");
    assert!(matches!(refused, LoadError::Refused(_)));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_an_image_of_other_checks_than_its_table_is_not_loaded() {
    let device = Device::new();
    let [
        Image::Ptx {
            arch,
            version,
            bytes,
            sites,
        },
    ] = *device.kernels.images()
    else {
        panic!("{:?}", device.kernels.images());
    };
    let load = |bytes, sites: Vec<Site>| {
        let image = Image::Ptx {
            arch,
            version,
            bytes,
            sites: sites.leak(),
        };
        Module::load(&device.context, vec![image].leak()).map(|_| ())
    };
    load(bytes, sites.to_vec()).unwrap();
    let refused = |bytes, sites| match load(bytes, sites).unwrap_err() {
        LoadError::Table {
            expected, found, ..
        } => (expected, found),
        other => panic!("{other}"),
    };
    // A table of an older source, in which one check stood a line above; of another order; and a shorter one.
    let mut older = sites.to_vec();
    older[1].line -= 1;
    assert_eq!(refused(bytes, older), (2, Some(2)));
    let swapped = sites.iter().rev().copied().collect();
    assert_eq!(refused(bytes, swapped), (2, Some(2)));
    assert_eq!(refused(bytes, sites[..1].to_vec()), (1, Some(2)));
    // An image that says nothing of its checks, or says it in another way.
    let text = std::str::from_utf8(bytes).unwrap();
    let silent: String = (text.lines().filter(|line| !line.contains("__gpuk_table")))
        .flat_map(|line| [line, "\n"])
        .collect();
    let other = text.replace("__gpuk_table[16] = {2,", "__gpuk_table[16] = {1,");
    for text in [silent, other] {
        assert_ne!(text, *std::str::from_utf8(bytes).unwrap());
        let bytes = text.into_bytes().leak();
        assert_eq!(refused(bytes, sites.to_vec()), (2, None));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_ptx_that_does_not_compile_says_why() {
    static IMAGES: [Image; 1] = [Image::Ptx {
        arch: "sm_75",
        version: (7, 0),
        bytes: b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() { call nothing; ret; }\n",
        sites: &[],
    }];
    let device = Device::new();
    let refused = Module::load(&device.context, &IMAGES).unwrap_err();
    println!("{refused}");
    let LoadError::Refused(refusals) = refused else {
        panic!("{refused:?}");
    };
    assert!(refusals[0].log.as_ref().unwrap().contains("nothing"));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_wrappers_are_compared_with_their_kernels() {
    const fn of(entry: &'static str, checked: bool, params: &'static [ParamInfo]) -> KernelInfo {
        KernelInfo {
            entry,
            checked,
            params,
            ..Kernels::GATHER
        }
    }
    static SPIN: KernelInfo = of("spin", true, Kernels::SPIN.params);
    static FEWER: KernelInfo = of("spin", false, Kernels::SPIN.params);
    static MORE: KernelInfo = of("is_null", true, Kernels::IS_NULL.params);
    static OTHER: KernelInfo = of("spin", true, Kernels::IS_NULL.params);
    static NONE: KernelInfo = of("nothing", true, &[]);
    let device = Device::new();
    let module = Module::load(&device.context, device.kernels.images()).unwrap();
    let refusal = |info| module.function(info).map(|_| ()).unwrap_err();
    module.function(&SPIN).unwrap();
    assert!(matches!(
        refusal(&FEWER),
        LoadError::ParameterCount {
            expected: 2,
            found: Count::More,
            ..
        }
    ));
    assert!(matches!(
        refusal(&MORE),
        LoadError::ParameterCount {
            expected: 3,
            found: Count::Exactly(2),
            ..
        }
    ));
    assert!(matches!(
        refusal(&OTHER),
        LoadError::Parameter {
            parameter: "answer",
            size: 1,
            ..
        }
    ));
    assert!(matches!(
        refusal(&NONE),
        LoadError::NoKernel {
            entry: "nothing",
            ..
        }
    ));
}

#[test]
#[ignore = "needs an NVIDIA GPU, and makes its context unusable"]
fn alone_a_fault_is_an_error_value() {
    let device = Device::new();
    let stream = device.context.new_stream().unwrap();
    let unread_before = device.spin(&stream, 0, true);
    let src = stream.alloc_zeros::<f32>(4).unwrap();
    let idx = stream.alloc_zeros::<i32>(1).unwrap();
    let nowhere = Address::<f32>::new(0x10);
    // SAFETY: none; that is the test.
    let (payload, _) = unsafe {
        device
            .kernels
            .gather(&stream, Launch::default(), &src, &idx, nowhere, 1, 4)
    }
    .unwrap();
    let failed = payload.check().unwrap_err();
    println!("{failed}");
    assert_eq!(failed.category, Category::Fault);
    assert_eq!(failed.fault.map(gpuk::DriverError::code), Some(700));
    // A check that failed before is still told.
    let failed = unread_before.check().unwrap_err();
    println!("{failed}");
    assert_eq!(failed.category, Category::Expect);
    assert_eq!(failed.fault.map(gpuk::DriverError::code), Some(700));
    // SAFETY: the kernel accesses nothing.
    let refused = unsafe { device.kernels.spin(&stream, Launch::default(), 0, false) };
    assert!(matches!(refused, Err(LaunchError::Driver { .. })));
}

/// What a launch costs the host, as the median over rounds of 100 launches, waiting after each round.
#[test]
#[ignore = "needs an NVIDIA GPU, and prints times"]
fn measure_launches() {
    const LAUNCHES: u32 = 100;
    let device = Device::new();
    let Device {
        context, kernels, ..
    } = &device;
    for (name, stream) in [
        ("default stream", context.default_stream()),
        ("two streams, events tracked", context.new_stream().unwrap()),
    ] {
        let src = stream.alloc_zeros::<f32>(4).unwrap();
        let idx = stream.alloc_zeros::<i32>(1).unwrap();
        let mut dst = stream.alloc_zeros::<f32>(1).unwrap();
        let measure = |what: &str, launch: &mut dyn FnMut()| {
            let mut rounds: Vec<_> = (0..300)
                .map(|_| {
                    let start = Instant::now();
                    for _ in 0..LAUNCHES {
                        launch();
                    }
                    let time = start.elapsed() / LAUNCHES;
                    stream.synchronize().unwrap();
                    time
                })
                .collect();
            rounds.sort();
            println!("{name}: {what}: {:?}", rounds[rounds.len() / 2]);
        };
        let raw = Module::load(context, kernels.images()).unwrap();
        let function = raw.cudarc().load_function("shared_bytes").unwrap();
        let mut bytes = stream.alloc_zeros::<u32>(1).unwrap();
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (1, 1, 1),
            shared_mem_bytes: 64,
        };
        measure("cudarc's builder, one buffer", &mut || {
            // SAFETY: there is an item, and a byte for the thread.
            unsafe {
                stream
                    .launch_builder(&function)
                    .arg(&mut bytes)
                    .launch(config)
            }
            .unwrap();
        });
        measure("unchecked, one buffer, dropped", &mut || {
            // SAFETY: there is an item, and a byte for the thread.
            drop(unsafe { kernels.shared_bytes(&stream, config, &mut bytes) }.unwrap());
        });
        let gather = raw.cudarc().load_function("gather").unwrap();
        let none = 0_u64;
        measure("cudarc's builder, gather", &mut || {
            let (n, rows) = (0_i32, 4_i32);
            let mut builder = stream.launch_builder(&gather);
            builder
                .arg(&src)
                .arg(&idx)
                .arg(&mut dst)
                .arg(&n)
                .arg(&rows)
                .arg(&none);
            // SAFETY: with `n = 0` the kernel accesses nothing.
            unsafe { builder.launch(config) }.unwrap();
        });
        measure("checked, gather, dropped", &mut || {
            // SAFETY: with `n = 0` the kernel accesses nothing.
            drop(unsafe { kernels.gather(&stream, config, &src, &idx, &mut dst, 0, 4) }.unwrap());
        });
        let mut payloads = Vec::with_capacity(LAUNCHES as usize);
        measure("checked, gather, kept and asked after 100", &mut || {
            // SAFETY: with `n = 0` the kernel accesses nothing.
            let launched = unsafe { kernels.gather(&stream, config, &src, &idx, &mut dst, 0, 4) };
            payloads.push(launched.unwrap().0);
            if payloads.len() == LAUNCHES as usize {
                payloads
                    .drain(..)
                    .for_each(|payload| payload.check().unwrap());
            }
        });
        measure("checked, gather, asked at once", &mut || {
            // SAFETY: with `n = 0` the kernel accesses nothing.
            let launched = unsafe { kernels.gather(&stream, config, &src, &idx, &mut dst, 0, 4) };
            launched.unwrap().0.check().unwrap();
        });
        measure("cudarc's builder, gather, waited for at once", &mut || {
            let (n, rows) = (0_i32, 4_i32);
            let mut builder = stream.launch_builder(&gather);
            builder
                .arg(&src)
                .arg(&idx)
                .arg(&mut dst)
                .arg(&n)
                .arg(&rows)
                .arg(&none);
            // SAFETY: with `n = 0` the kernel accesses nothing.
            unsafe { builder.launch(config) }.unwrap();
            stream.synchronize().unwrap();
        });
    }
}
