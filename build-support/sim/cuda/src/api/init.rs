//! Initialization, versions, errors, the profiler.

use std::ffi::c_char;

use crate::boundary::{Out, exported};
use crate::code::Code;
use crate::driver::{driver, driver_version, init, started};
use crate::refusal::Answer;

/// The version of CUDA that the driver is of.
pub(super) fn version() -> Answer<i32> {
    let version = match started() {
        Some(driver) => Some(driver.profile.driver_version),
        None => driver_version()?,
    };
    Ok(version.map_or(DRIVER_VERSION, u32::cast_signed))
}

/// What it is if nobody says otherwise.
const DRIVER_VERSION: i32 = crate::device::DRIVER_VERSION.cast_signed();

exported! {
    /// Starts the driver.
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("the flags are not 0"));
        }
        init()
    }

    /// The version of CUDA that the driver is of.
    fn cuDriverGetVersion(version: Out<i32>) {
        version.put(self::version()?)
    }

    /// The name of an error.
    fn cuGetErrorName(error: u32, name: Out<*const c_char>) {
        describe(name, Code(error).name())
    }

    /// What an error means.
    fn cuGetErrorString(error: u32, text: Out<*const c_char>) {
        describe(text, Code(error).text())
    }

    /// Starts profiling, which there is none of.
    fn cuProfilerStart() {
        let driver = driver()?;
        driver.current()?;
        driver.captures.permit()
    }

    /// Ends profiling.
    fn cuProfilerStop() {
        let driver = driver()?;
        driver.current()?;
        driver.captures.permit()
    }
}

fn describe(place: Out<*const c_char>, text: Option<&'static std::ffi::CStr>) -> Answer {
    match text {
        Some(text) => place.put(text.as_ptr()),
        None => {
            place.put(std::ptr::null())?;
            Err(Code::INVALID_VALUE.into())
        }
    }
}
