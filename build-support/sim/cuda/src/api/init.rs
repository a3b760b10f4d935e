//! Initialization, versions, errors, the profiler.

use std::ffi::c_char;

use crate::boundary::{Out, exported};
use crate::code::Code;
use crate::driver::{driver, init};

/// CUDA 13.0, which the functions here are of.
pub(crate) const VERSION: i32 = 13_000;

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
        version.put(VERSION)
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

fn describe(
    place: Out<*const c_char>,
    text: Option<&'static std::ffi::CStr>,
) -> crate::refusal::Answer {
    match text {
        Some(text) => place.put(text.as_ptr()),
        None => {
            place.put(std::ptr::null())?;
            Err(Code::INVALID_VALUE.into())
        }
    }
}
