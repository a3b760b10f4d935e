//! A kernel that there is not.
include!("../golden/templates.rs");

/// Nothing calls it.
fn launches(
    stream: &std::sync::Arc<gpuk::CudaStream>,
    kernels: &templates::Kernels,
    floats: gpuk::CudaSlice<f32>,
) -> Result<(), gpuk::LaunchError> {
    let launch = gpuk::Launch::default();
    let _ = unsafe { kernels.fil::<true, 0, _, _>(stream, launch, floats) }?;
    Ok(())
}

fn main() {}
