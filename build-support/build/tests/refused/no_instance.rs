//! Types and numbers that a template has no instance for: the message names those that it has.
include!("../golden/templates.rs");

/// Nothing calls it.
fn launches(
    stream: &std::sync::Arc<gpuk::CudaStream>,
    kernels: &templates::Kernels,
    bytes: gpuk::CudaSlice<u8>,
    floats: gpuk::CudaSlice<f32>,
    doubles: gpuk::CudaSlice<f64>,
) -> Result<(), gpuk::LaunchError> {
    let launch = gpuk::Launch::default();
    let _ = unsafe { kernels.scale(stream, launch, bytes, 1, (), gpuk::Null::new(), 1) }?;
    let _ = unsafe { kernels.cast::<5, f32, f64, _, _>(stream, launch, &floats, doubles, 0.0) }?;
    let _ = unsafe { kernels.fill::<true, 2, _, _>(stream, launch, floats) }?;
    Ok(())
}

fn main() {}
