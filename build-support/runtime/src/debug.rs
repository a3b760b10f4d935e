//! The `Debug` of errors, which `main` and `unwrap` show to a person: what they say.

use std::fmt;

use crate::choice::NoImage;
use crate::driver::{DeviceError, DriverError, NoDriver};
use crate::error::LaunchError;
use crate::extent::ExtentError;
use crate::failure::FailedCheck;
use crate::load::LoadError;
use crate::symbol::SymbolError;

macro_rules! as_displayed {
    ($($error:ty),* $(,)?) => {
        $(impl fmt::Debug for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        })*
    };
}

as_displayed!(
    DeviceError,
    DriverError,
    ExtentError,
    FailedCheck,
    LaunchError,
    LoadError,
    NoDriver,
    NoImage,
    SymbolError,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_driver_ends_with_what_to_do() {
        let ended = format!("Error: {:?}", DeviceError::from(NoDriver::Missing));
        assert!(ended.starts_with("Error: no NVIDIA driver: the loader does not find "));
        assert!(ended.contains("\nhelp: install the driver"));
    }
}
