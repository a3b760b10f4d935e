//! A shared buffer where the kernel writes.
include!("../golden/gather.rs");

/// Nothing calls it.
fn launches(
    stream: &std::sync::Arc<gpuk::CudaStream>,
    kernels: &gather::Kernels,
    floats: &gpuk::CudaSlice<f32>,
    doubles: &gpuk::CudaSlice<f64>,
    ints: &gpuk::CudaSlice<i32>,
    out: &mut gpuk::CudaSlice<f32>,
) -> Result<(), gpuk::LaunchError> {
    let launch = gpuk::Launch::default();
    let _ = unsafe { kernels.gather(stream, launch, floats, ints, floats, 10, 5) }?;
    Ok(())
}

fn main() {}
