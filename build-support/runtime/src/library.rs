//! The driver's library as the loader finds it, and the functions only newer drivers have.
//!
//! cudarc loads the same library, but panics when it or a function is missing; so what may be missing is
//! looked up here. It also does not matter here whether cudarc was told to link or to load the driver.

#![expect(unsafe_code, reason = "loading a library and calling its functions")]

use std::ffi::c_ulonglong;
use std::sync::OnceLock;

use cudarc::driver::sys::{CUfunction, CUresult, CUstream};
use libloading::Library;

use crate::driver::DriverError;

/// The library's names on an operating system, in cudarc's order; the last is the one that drivers have.
///
/// The simulator takes the first, so that it is found where there is a driver too: Windows looks for NVIDIA's name in
/// its own folder before `PATH`. For macOS there is no driver but the simulator.
pub(crate) fn names(os: &str) -> &'static [&'static str] {
    match os {
        "windows" => &["cuda.dll", "nvcuda.dll"],
        "macos" => &["libcuda.dylib"],
        _ => &["libcuda.so", "libcuda.so.1"],
    }
}

/// What gpuk, and cudarc on its behalf, call in any case.
const FUNCTIONS: [&str; 39] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuStreamIsCapturing",
    "cuThreadExchangeStreamCaptureMode",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuEventDestroy_v2",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostGetDevicePointer_v2",
    "cuMemFreeHost",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuModuleGetGlobal_v2",
    "cuModuleUnload",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuGetErrorString",
];

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let find = || {
        // SAFETY: initializing NVIDIA's driver library has no precondition; whoever puts another library of
        // that name on the loader's path chose to run it.
        names(std::env::consts::OS)
            .iter()
            .find_map(|name| unsafe { Library::new(*name) }.ok())
    };
    LIBRARY.get_or_init(find).as_ref()
}

/// Whether there is a driver library.
pub(crate) fn is_present() -> bool {
    library().is_some()
}

/// The first function the library lacks of those that will be called.
pub(crate) fn missing() -> Option<&'static str> {
    let library = library()?;
    FUNCTIONS.into_iter().find(|name| {
        // SAFETY: only the address is looked at.
        unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err()
    })
}

type ParamInfo = unsafe extern "C" fn(CUfunction, usize, *mut usize, *mut usize) -> CUresult;

/// Offset and size in bytes of a kernel's parameter; `None` if the driver cannot tell.
///
/// # Safety
///
/// `function` is loaded.
pub(crate) unsafe fn param_info(
    function: CUfunction,
    index: usize,
) -> Option<Result<(usize, usize), DriverError>> {
    static FUNCTION: OnceLock<Option<ParamInfo>> = OnceLock::new();
    let get = FUNCTION.get_or_init(|| {
        // SAFETY: the type is that of cuda.h since CUDA 12.4, where the function first appears.
        let symbol = unsafe { library()?.get::<ParamInfo>(b"cuFuncGetParamInfo") };
        symbol.ok().map(|symbol| *symbol)
    });
    let (mut offset, mut size) = (0, 0);
    // SAFETY: the caller has the function loaded; the driver checks the index.
    let result = unsafe { get.as_ref()?(function, index, &raw mut offset, &raw mut size) };
    Some(DriverError::check(result).map(|()| (offset, size)))
}

type StreamId = unsafe extern "C" fn(CUstream, *mut c_ulonglong) -> CUresult;

/// The number that tools show for a stream; its handle if the driver is older than CUDA 12.0.
///
/// # Safety
///
/// `stream` exists, and its context is current.
pub(crate) unsafe fn stream_id(stream: CUstream) -> u64 {
    static FUNCTION: OnceLock<Option<StreamId>> = OnceLock::new();
    let get = FUNCTION.get_or_init(|| {
        // SAFETY: the type is that of cuda.h since CUDA 12.0, where the function first appears.
        let symbol = unsafe { library()?.get::<StreamId>(b"cuStreamGetId") };
        symbol.ok().map(|symbol| *symbol)
    });
    let mut id = 0;
    // SAFETY: the caller has the stream.
    match get.map(|get| unsafe { get(stream, &raw mut id) }) {
        Some(CUresult::CUDA_SUCCESS) => id,
        _ => stream as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_name_is_last_and_cudarc_tries_the_same() {
        for (os, prefix, suffix, driver) in [
            ("linux", "lib", ".so", "libcuda.so.1"),
            ("freebsd", "lib", ".so", "libcuda.so.1"),
            ("windows", "", ".dll", "nvcuda.dll"),
            ("macos", "lib", ".dylib", "libcuda.dylib"),
        ] {
            assert_eq!(names(os).last(), Some(&driver), "{os}");
            assert_eq!(names(os)[0], format!("{prefix}cuda{suffix}"), "{os}");
        }
        // Of this system cudarc can be asked.
        let cudarcs = cudarc::get_lib_name_candidates("cuda");
        let cudarcs = [cudarcs, cudarc::get_lib_name_candidates("nvcuda")].concat();
        let places: Vec<_> = names(std::env::consts::OS)
            .iter()
            .map(|name| cudarcs.iter().position(|other| other == name))
            .collect();
        assert!(places.iter().all(Option::is_some), "{places:?}");
        assert!(places.is_sorted(), "{places:?}");
    }
}
