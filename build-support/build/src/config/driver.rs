//! `minimum-driver`: the oldest driver that the results have to run on.

use std::fmt;
use std::str::FromStr;

use gpuk_device::driver::DriverVersion;
use serde::{Deserialize, Serialize};

/// The oldest driver that a user of the program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct MinimumDriver(DriverVersion);

impl MinimumDriver {
    /// As the driver counts.
    pub(crate) const fn version(self) -> DriverVersion {
        self.0
    }
}

impl FromStr for MinimumDriver {
    type Err = &'static str;

    /// Takes the version of CUDA that `nvidia-smi` shows for a driver, `12.2`, and the driver's own, `535` or `535.104.05`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "a driver by the version of CUDA that it is for, such as `12.2`, or by its own, such as \
                                `535`; the oldest is that of CUDA 11.4, `470`";
        let mut parts = text.trim().split('.').map(|part| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| part.parse::<u32>().ok()).flatten()
        });
        let first = parts.next().flatten().ok_or(EXPECTED)?;
        let rest: Option<Vec<_>> = parts.collect();
        let version = match (first, rest.as_deref()) {
            (100.., Some([] | [_] | [_, _])) => DriverVersion::of_branch(first),
            (..100, Some([minor @ ..100])) => Some(DriverVersion::of_cuda(first, *minor)),
            _ => None,
        };
        let version = version.filter(|version| *version >= DriverVersion::OLDEST);
        version.map(Self).ok_or(EXPECTED)
    }
}

impl fmt::Display for MinimumDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<MinimumDriver> for String {
    fn from(driver: MinimumDriver) -> Self {
        driver.to_string()
    }
}

impl TryFrom<String> for MinimumDriver {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_named_in_both_ways() {
        let read = |text: &str| text.parse::<MinimumDriver>().map(|it| it.to_string());
        for (text, cuda) in [
            ("12.2", "12.2"),
            ("535", "12.2"),
            ("535.104.05", "12.2"),
            ("470", "11.4"),
            ("13.0", "13.0"),
            // Of a CUDA to come.
            ("14.1", "14.1"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(cuda), "{text}");
        }
        for text in [
            "", "12", "12.2.1", "11.3", "460", "r535", "535.", "12.+2", "-1",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
