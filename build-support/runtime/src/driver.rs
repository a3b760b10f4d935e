//! Whether there is a driver and a device, said as values.
//!
//! cudarc panics when the driver's library is missing, even when one of its errors is printed. What is here
//! never does: call [`device`] instead of `CudaContext::new`.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUresult;
use thiserror::Error;

use crate::{call, library};

/// What the driver answered (CUDA driver API, `CUresult`).
///
/// Unlike cudarc's error it can be printed where there is no driver.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DriverError(CUresult);

impl DriverError {
    pub(crate) fn check(result: CUresult) -> Result<(), Self> {
        match result {
            CUresult::CUDA_SUCCESS => Ok(()),
            error => Err(Self(error)),
        }
    }

    pub(crate) const fn out_of_memory() -> Self {
        Self(CUresult::CUDA_ERROR_OUT_OF_MEMORY)
    }

    pub(crate) const fn capturing() -> Self {
        Self(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
    }

    pub(crate) const fn is_invalid_value(self) -> bool {
        matches!(self.0, CUresult::CUDA_ERROR_INVALID_VALUE)
    }

    /// Whether it only says that a stream is being captured into a graph.
    pub(crate) const fn is_capture(self) -> bool {
        matches!(self.code(), 900..=908)
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0 as u32
    }

    /// Whether the context is lost: every further call in it fails, and only a new process helps.
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        matches!(self.code(), 214 | 220 | 700 | 702 | 710 | 714..=719 | 721)
    }

    /// What it means, where the name says too little.
    const fn meaning(self) -> Option<&'static str> {
        Some(match self.code() {
            2 => "the device has too little free memory",
            3 | 4 => "the driver is not initialized, or the process is ending",
            34 => {
                "the toolkit's stub library was loaded instead of the driver; remove `stubs` from the library path"
            }
            100 => {
                "the driver sees no device; is one there, and does CUDA_VISIBLE_DEVICES name it?"
            }
            200 => "the image is damaged, or no image",
            209 => "the image has no code for this device",
            218 => "the driver's compiler refused the PTX",
            222 => "the PTX is newer than the driver",
            700 => "a kernel accessed memory that is not there; the context is lost",
            701 => {
                "the kernel's registers, threads and shared memory together exceed a multiprocessor"
            }
            702 => "a kernel ran into the display's time limit; the context is lost",
            710 => {
                "an `assert` failed in a kernel that does not report checks; the context is lost"
            }
            716 => "a kernel used a misaligned address; the context is lost",
            720 => "a cooperative grid must fit on the device as a whole",
            715 | 717..=719 | 214 | 220 | 714 | 721 => "the context is lost",
            802 | 803 => "the driver's parts do not fit together; restart after an update",
            804 => "the forward compatibility package does not serve this device",
            _ if self.is_capture() => "the stream is being captured into a graph",
            _ => return None,
        })
    }
}

impl From<cudarc::driver::DriverError> for DriverError {
    fn from(error: cudarc::driver::DriverError) -> Self {
        Self(error.0)
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({})", self.0, self.code())?;
        match self.meaning() {
            Some(meaning) => write!(f, ": {meaning}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DriverError {}

/// There is no driver, or none that works.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoDriver {
    /// The loader does not find the library.
    #[error(
        "no NVIDIA driver: the loader does not find `{}`\n\
         help: install the driver, or make its folder known to the loader (in a container: `--gpus all`); \
         `cargo gpuk run --sim` needs none",
        library::names(std::env::consts::OS).last().unwrap_or(&"")
    )]
    Missing,
    /// The library lacks a function.
    #[error(
        "the NVIDIA driver is too old, or not one: its library has no `{function}`\n\
         help: install a driver for CUDA 11.4 or newer"
    )]
    Incomplete {
        /// Its name.
        function: &'static str,
    },
    /// The driver does not start.
    #[error("the NVIDIA driver does not start: {0}")]
    Init(#[source] DriverError),
}

/// Whether the driver can be used. Says nothing about devices; see [`device`].
///
/// # Errors
///
/// If there is no driver library, if it lacks functions, or if it does not start.
pub fn probe() -> Result<(), NoDriver> {
    if !library::is_present() {
        return Err(NoDriver::Missing);
    }
    if let Some(function) = library::missing() {
        return Err(NoDriver::Incomplete { function });
    }
    match call::init() {
        // Without a device there is no initialization either, but the driver is there.
        Err(error) if error.0 != CUresult::CUDA_ERROR_NO_DEVICE => Err(NoDriver::Init(error)),
        _ => Ok(()),
    }
}

/// There is no such device.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is no driver.
    #[error(transparent)]
    NoDriver(#[from] NoDriver),
    /// The machine has fewer devices.
    #[error(
        "there is no device {ordinal}: the driver sees {count}, counted from 0 (CUDA_VISIBLE_DEVICES hides devices)"
    )]
    NoDevice {
        /// The one asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The device's context cannot be had.
    #[error("device {ordinal} cannot be used: {error}")]
    Driver {
        /// The one asked for.
        ordinal: usize,
        /// What the driver said.
        #[source]
        error: DriverError,
    },
}

/// The primary context of a device, the first being 0.
///
/// # Errors
///
/// If there is no driver, no such device, or the driver refuses.
pub fn device(ordinal: usize) -> Result<Arc<CudaContext>, DeviceError> {
    probe()?;
    let driver = |error: cudarc::driver::DriverError| DeviceError::Driver {
        ordinal,
        error: error.into(),
    };
    let count = match CudaContext::device_count() {
        Err(error) if error.0 == CUresult::CUDA_ERROR_NO_DEVICE => 0,
        count => usize::try_from(count.map_err(driver)?).unwrap_or(0),
    };
    if ordinal >= count {
        return Err(DeviceError::NoDevice { ordinal, count });
    }
    CudaContext::new(ordinal).map_err(driver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: CUresult) -> DriverError {
        DriverError::check(code).unwrap_err()
    }

    #[test]
    fn errors_are_printed_without_a_driver() {
        assert_eq!(DriverError::check(CUresult::CUDA_SUCCESS), Ok(()));
        let illegal = error(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(
            illegal.to_string(),
            "CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel accessed memory that is not there; the context is lost"
        );
        assert!(illegal.is_sticky());
        let handle = error(CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(handle.to_string(), "CUDA_ERROR_INVALID_HANDLE (400)");
        assert!(!handle.is_sticky());
    }

    #[test]
    fn no_driver_says_what_to_do() {
        insta::assert_snapshot!(NoDriver::Missing, @"
        no NVIDIA driver: the loader does not find `libcuda.so.1`
        help: install the driver, or make its folder known to the loader (in a container: `--gpus all`); `cargo gpuk run --sim` needs none
        ");
        insta::assert_snapshot!(NoDriver::Incomplete { function: "cuLaunchKernel" }, @"
        the NVIDIA driver is too old, or not one: its library has no `cuLaunchKernel`
        help: install a driver for CUDA 11.4 or newer
        ");
        insta::assert_snapshot!(NoDriver::Init(error(CUresult::CUDA_ERROR_STUB_LIBRARY)), @"the NVIDIA driver does not start: CUDA_ERROR_STUB_LIBRARY (34): the toolkit's stub library was loaded instead of the driver; remove `stubs` from the library path");
        insta::assert_snapshot!(DeviceError::NoDevice { ordinal: 2, count: 1 }, @"there is no device 2: the driver sees 1, counted from 0 (CUDA_VISIBLE_DEVICES hides devices)");
    }
}
