//! A toolkit's version. No table of known ones: a version of tomorrow is a version.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A CUDA compiler's version, such as 13.0.88.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version {
    /// 13 of 13.0.88.
    pub major: u32,
    /// 0 of 13.0.88.
    pub minor: u32,
    /// 88 of 13.0.88; a pinned version has none.
    pub build: Option<u32>,
}

/// A text that is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no CUDA version; write `major.minor`, such as `13.0`")]
pub struct BadVersion(String);

impl Version {
    /// Reads `major.minor` or `major.minor.build`.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    /// Reads the output of `nvcc --version`.
    pub fn of_nvcc(output: &str) -> Option<Self> {
        let line = output.lines().find(|line| line.contains("release "))?;
        let after = |mark: &str| {
            line.split_once(mark)
                .and_then(|(_, rest)| rest.split([',', ' ']).next())
                .and_then(|text| text.parse::<Self>().ok())
        };
        let release = after("release ")?;
        // The long form carries the build: "release 13.0, V13.0.88".
        Some(
            after(", V")
                .filter(|long| release.admits(*long))
                .unwrap_or(release),
        )
    }

    /// Whether `other` is of this version: the same major and minor, and the same build where one is asked for.
    pub fn admits(self, other: Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
            && self.build.is_none_or(|build| other.build == Some(build))
    }

    /// `major.minor`.
    pub fn release(self) -> Self {
        Self {
            build: None,
            ..self
        }
    }
}

impl FromStr for Version {
    type Err = BadVersion;

    fn from_str(text: &str) -> Result<Self, BadVersion> {
        let bad = || BadVersion(text.to_owned());
        let number = |part: &str| match part.bytes().all(|b| b.is_ascii_digit()) {
            true => part.parse::<u32>().map_err(|_| bad()),
            false => Err(bad()),
        };
        let mut parts = text.split('.');
        let (major, minor) = (parts.next(), parts.next());
        let version = Self {
            major: number(major.unwrap_or_default())?,
            minor: number(minor.unwrap_or_default())?,
            build: parts.next().map(number).transpose()?,
        };
        match parts.next() {
            Some(_) => Err(bad()),
            None => Ok(version),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.build.map_or(Ok(()), |build| write!(f, ".{build}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVCC_13_0: &str = "nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2025 NVIDIA Corporation
Built on Wed_Aug_20_01:58:59_PM_PDT_2025
Cuda compilation tools, release 13.0, V13.0.88
Build cuda_13.0.r13.0/compiler.36424714_0
";

    #[test]
    fn nvcc_says_its_version() {
        let read = |text: &str| Version::of_nvcc(text).map(|version| version.to_string());
        assert_eq!(read(NVCC_13_0).as_deref(), Some("13.0.88"));
        let of_tomorrow = "Cuda compilation tools, release 99.1, V99.1.7\n";
        assert_eq!(read(of_tomorrow).as_deref(), Some("99.1.7"));
        assert_eq!(read("tools, release 14.2\n").as_deref(), Some("14.2"));
        assert_eq!(read("gcc (Debian 12.2.0-14) 12.2.0\n"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn a_pin_admits_every_build() {
        let pin: Version = "13.0".parse().unwrap();
        assert!(pin.admits("13.0.88".parse().unwrap()));
        assert!(!pin.admits("13.1.2".parse().unwrap()));
        for bad in ["", "13", "13.", "13.x", "+13.0", "13.0.1.2", "v13.0"] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }
}
