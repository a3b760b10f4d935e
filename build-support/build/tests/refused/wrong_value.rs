//! A value of another type than the instance's.
include!("../golden/templates.rs");

/// Nothing calls it.
fn launches(
    stream: &std::sync::Arc<gpuk::CudaStream>,
    kernels: &templates::Kernels,
    floats: gpuk::CudaSlice<f32>,
    doubles: gpuk::CudaSlice<f64>,
) -> Result<(), gpuk::LaunchError> {
    let launch = gpuk::Launch::default();
    let _ = unsafe { kernels.cast::<4, _, _, _, _>(stream, launch, &floats, doubles, 0.0_f32) }?;
    Ok(())
}

fn main() {}
