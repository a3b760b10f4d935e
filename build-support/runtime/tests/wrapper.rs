//! A wrapper as it is generated, without a device: it compiles, takes what it should, and fails with values.

#![expect(unsafe_code, reason = "launching kernels")]

use std::sync::Arc;

use gpuk::cudarc::driver::UnifiedSlice;
use gpuk::{
    Address, CudaSlice, CudaStream, CudaView, CudaViewMut, ErrorPayload, LaunchError, LoadError,
    Null, Read, Write,
};

#[allow(dead_code, unreachable_pub, reason = "generated code is public")]
mod kernels;

use kernels::Kernels;

#[test]
fn where_there_is_no_device_there_is_an_error() {
    match gpuk::probe() {
        Err(error) => {
            assert!(error.to_string().contains("driver"));
            assert_eq!(gpuk::device(0).unwrap_err().to_string(), error.to_string());
        }
        Ok(()) => assert!(matches!(
            gpuk::device(1000),
            Err(gpuk::DeviceError::NoDevice { ordinal: 1000, .. })
        )),
    }
}

/// All that a kernel's pointers take.
#[test]
fn buffers_of_all_kinds_are_taken() {
    fn read<T: Read<Item = f32>>() {}
    fn write<T: Write<Item = f32>>() {}
    read::<&CudaSlice<f32>>();
    read::<&mut CudaSlice<f32>>();
    read::<CudaView<'_, f32>>();
    read::<&CudaView<'_, f32>>();
    read::<&CudaViewMut<'_, f32>>();
    read::<&UnifiedSlice<f32>>();
    read::<Null<f32>>();
    read::<Address<f32>>();
    read::<Option<&CudaSlice<f32>>>();
    write::<CudaSlice<f32>>();
    write::<&mut CudaSlice<f32>>();
    write::<CudaViewMut<'_, f32>>();
    write::<&mut CudaViewMut<'_, f32>>();
    write::<UnifiedSlice<f32>>();
    write::<&mut UnifiedSlice<f32>>();
    write::<Null<f32>>();
    write::<Address<f32>>();
    write::<Option<CudaSlice<f32>>>();
    assert_eq!(format!("{:?}", Null::<f32>::new()), "Null(0x0)");
    assert_eq!(
        format!("{:?}", Address::<f32>::new(4096)),
        "Address(0x1000)"
    );
}

/// What a caller writes; the types are the test. Outputs come back as they went in.
fn _launches(
    kernels: &Kernels,
    stream: &Arc<CudaStream>,
    src: &CudaSlice<f32>,
    idx: &CudaView<'_, i32>,
    dst: CudaSlice<f32>,
    other: &mut CudaSlice<f32>,
) -> Result<CudaSlice<f32>, Box<dyn std::error::Error>> {
    let launch = Kernels::GATHER.launch().elements(100);
    // SAFETY: never run.
    let (payload, dst) = unsafe { kernels.gather(stream, launch, src, idx, dst, 100, 10) }?;
    payload.check()?;
    // SAFETY: never run.
    let (payload, dst): (ErrorPayload, CudaSlice<f32>) =
        unsafe { kernels.gather(stream, launch, src.slice(1..), idx, dst, 1, 1) }?;
    payload.check()?;
    // SAFETY: never run.
    let (payload, _): (_, &mut CudaSlice<f32>) =
        unsafe { kernels.gather(stream, Kernels::GATHER, Null::new(), idx, other, 0, 0) }?;
    payload.check()?;
    Ok(dst)
}

#[test]
fn errors_are_small_and_cross_threads() {
    fn crosses<T: std::error::Error + Send + Sync + 'static>() {}
    crosses::<LaunchError>();
    crosses::<LoadError>();
    crosses::<gpuk::DeviceError>();
    crosses::<gpuk::FailedCheck>();
    // clippy's `result_large_err` starts at 128 bytes; wrappers return these.
    assert!(size_of::<LaunchError>() < 128);
    assert!(size_of::<LoadError>() < 128);
    assert!(size_of::<gpuk::FailedCheck>() < 128);
}
