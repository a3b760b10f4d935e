//! Launches in a CUDA graph: each of the graph's launches has an outcome of its own.

use std::sync::Arc;

use gpuk::{
    CaptureError, CudaSlice, CudaStream, ErrorPayload, FailedCheck, Launch, LaunchError, Scope,
    Value,
};
use gpuk_gpu_tests::scopes::Kernels;

struct Device {
    stream: Arc<CudaStream>,
    kernels: Kernels,
}

impl Device {
    fn new() -> Self {
        let context = gpuk::device(0).unwrap();
        // What is recorded before a capture may not be waited for in it.
        // SAFETY: one stream has all work.
        unsafe { context.disable_event_tracking() };
        Self {
            stream: context.new_stream().unwrap(),
            kernels: Kernels::load(&context).unwrap(),
        }
    }

    fn numbers(&self, from: i32) -> CudaSlice<i32> {
        self.stream.clone_htod(&[from; 100]).unwrap()
    }

    /// Adds one to a hundred numbers.
    #[track_caller]
    fn add(&self, scope: &Scope, x: &mut CudaSlice<i32>, limit: i32) -> Result<(), LaunchError> {
        let launch = Launch::default().block([32, 1, 1]).elements(100);
        // SAFETY: there are as many, and stay until the last launch of the graph is over.
        unsafe { self.kernels.add(scope, launch, x, 100, 1, limit) }?;
        Ok(())
    }
}

fn place(failed: &FailedCheck) -> (Value, Option<u32>) {
    (failed.values[0], failed.launch)
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_each_launch_of_a_graph_has_its_own_payload() {
    let device = Device::new();
    let mut x = device.numbers(0);
    // Two of three, each time: the second may go up to 7, the third has no limit.
    let captured = gpuk::capture(&device.stream, |scope| {
        device.add(scope, &mut x, 1000)?;
        device.add(scope, &mut x, 7)?;
        device.add(scope, &mut x, 1000)
    });
    let (mut graph, ()) = captured.unwrap();
    // Nothing ran yet.
    assert_eq!(device.stream.clone_dtoh(&x).unwrap(), [0; 100]);
    let payloads: Vec<_> = (0..40).map(|_| graph.launch().unwrap()).collect();
    // Asked last first: each says what happened in its own launch alone.
    let (mut value, mut expected) = (0, Vec::new());
    for _ in 0..40 {
        let before = value + 1;
        let passes = before < 7;
        value = before + i32::from(passes) + 1;
        expected.push((!passes).then_some((Value::I32(before), Some(1))));
    }
    for (payload, expected) in payloads.iter().zip(&expected).rev() {
        assert_eq!(payload.get().as_ref().map(place), *expected);
    }
    assert_eq!(device.stream.clone_dtoh(&x).unwrap(), [value; 100]);
    assert_eq!(expected.iter().flatten().count(), 38);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_graph_is_as_new_after_a_failure() {
    let device = Device::new();
    let Device { stream, .. } = &device;
    let mut x = device.numbers(0);
    for skips in [false, true] {
        let scope = Scope::new(stream);
        let scope = if skips { scope.skip_if_failed() } else { scope };
        let captured = scope.capture(|scope| {
            device.add(scope, &mut x, 100)?;
            device.add(scope, &mut x, 100)?;
            device.add(scope, &mut x, 100)
        });
        let (mut graph, ()) = captured.unwrap();
        for (from, fails) in [
            (0, None),
            (98, Some(2)),
            (100, Some(0)),
            (3, None),
            (99, Some(1)),
            (97, None),
        ] {
            stream.memcpy_htod(&[from; 100], &mut x).unwrap();
            let payload = graph.launch().unwrap();
            let ran = fails.unwrap_or(3);
            assert_eq!(stream.clone_dtoh(&x).unwrap(), [from + ran; 100]);
            let expected = fails.map(|fails| (Value::I32(100), Some(fails as u32)));
            assert_eq!(payload.get().as_ref().map(place), expected);
            assert!(
                payload
                    .get()
                    .is_none_or(|failed| failed.failed_threads == 100)
            );
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_graph_of_many_launches() {
    let device = Device::new();
    let mut x = device.numbers(0);
    // More than one launch of the kernel that collects outcomes takes.
    let captured = gpuk::capture(&device.stream, |scope| {
        (0..1000).try_for_each(|number| {
            device.add(scope, &mut x, if number < 900 { 100_000 } else { 1899 })
        })
    });
    let (mut graph, ()) = captured.unwrap();
    graph.launch().unwrap().check().unwrap();
    let failed = graph.launch().unwrap().check().unwrap_err();
    assert_eq!(place(&failed), (Value::I32(1900), Some(900)));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_payloads_of_a_graph_can_be_joined_dropped_and_outlive_it() {
    let device = Device::new();
    let Device { stream, .. } = &device;
    let mut x = device.numbers(5);
    let (mut graph, ()) = gpuk::capture(stream, |scope| device.add(scope, &mut x, 6)).unwrap();
    let first = graph.launch().unwrap();
    let second = graph.launch().unwrap();
    drop(graph.launch().unwrap());
    let joined = ErrorPayload::join([first, second]);
    drop(graph);
    assert_eq!(joined.check().unwrap_err().values[0], Value::I32(6));
    gpuk::settle(stream).unwrap();
    // The slots are free again, and as new.
    for _ in 0..3 {
        stream.memcpy_htod(&[0; 100], &mut x).unwrap();
        let (mut graph, ()) = gpuk::capture(stream, |scope| device.add(scope, &mut x, 6)).unwrap();
        graph.launch().unwrap().check().unwrap();
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_what_cannot_be_captured_is_refused_and_leaves_the_stream_usable() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let mut x = device.numbers(0);
    let launch = Launch::default();
    // SAFETY: the kernel accesses no memory.
    let (prior, ()) = unsafe { kernels.fail_with(stream, launch, 0) }.unwrap();
    let refused = Scope::new(stream)
        .after(prior)
        .capture(|scope| device.add(scope, &mut x, 6));
    assert!(matches!(refused, Err(CaptureError::Outside)), "{refused:?}");
    let refused = gpuk::capture(stream, |scope| {
        device.add(scope, &mut x, 6)?;
        // SAFETY: it is not launched.
        unsafe { kernels.fail_with(scope, launch.block([4096, 1, 1]), 0) }
    });
    let Err(CaptureError::Run(LaunchError::BlockAxis { .. })) = refused else {
        panic!("{refused:?}");
    };
    let legacy = gpuk::device(0).unwrap().default_stream();
    let refused = gpuk::capture(&legacy, |_| Ok::<_, LaunchError>(()));
    let Err(error @ CaptureError::Begin(_)) = refused else {
        panic!("{refused:?}");
    };
    println!("{error}");
    // SAFETY: the kernel accesses no memory.
    let (payload, ()) = unsafe { kernels.fail_with(stream, launch, 3) }.unwrap();
    assert_eq!(payload.check().unwrap_err().values, [Value::I32(3)]);
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [0; 100]);
}
