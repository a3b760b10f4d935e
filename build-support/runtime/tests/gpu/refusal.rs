//! Launches and buffers that are refused before the driver sees them, and those at the edge that are not.

use gpuk::{CudaContext, CudaSlice, Launch, LaunchError, Null};

use crate::Device;
use crate::kernels::Kernels;

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
