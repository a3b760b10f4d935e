//! A reference to a number for the number.
include!("../golden/shapes.rs");

/// Nothing calls it.
fn launches(
    stream: &std::sync::Arc<gpuk::CudaStream>,
    kernels: &shapes::Kernels,
    floats: &gpuk::CudaSlice<f32>,
    doubles: &gpuk::CudaSlice<f64>,
    ints: &gpuk::CudaSlice<i32>,
    out: &mut gpuk::CudaSlice<f32>,
) -> Result<(), gpuk::LaunchError> {
    let launch = gpuk::Launch::default();
    let _ = unsafe { kernels.axpy(stream, launch, &2.0, floats, out, 10) }?;
    Ok(())
}

fn main() {}
