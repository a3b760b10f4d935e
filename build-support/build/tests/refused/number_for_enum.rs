//! A number that stands for itself in C++ where an enum is wanted.
include!("../golden/members.rs");

/// Nothing calls it.
fn launches(
    stream: &std::sync::Arc<gpuk::CudaStream>,
    kernels: &members::Kernels,
    floats: &gpuk::CudaSlice<f32>,
    doubles: &gpuk::CudaSlice<f64>,
    ints: &gpuk::CudaSlice<i32>,
    out: &mut gpuk::CudaSlice<f32>,
) -> Result<(), gpuk::LaunchError> {
    let launch = gpuk::Launch::default();
    let _ = unsafe {
        kernels.members(
            stream,
            launch,
            Default::default(),
            1,
            gpuk::Null::new(),
            Default::default(),
            gpuk::Null::new(),
            gpuk::Null::new(),
        )
    }?;
    Ok(())
}

fn main() {}
