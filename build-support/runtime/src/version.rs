//! Versions of drivers, and the PTX that they compile.

use std::fmt;

/// What `cuDriverGetVersion` says: the CUDA version the driver was made for, `12080` for 12.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DriverVersion(pub(crate) u32);

impl DriverVersion {
    /// From this on the driver says where a kernel's parameters lie (`cuFuncGetParamInfo`).
    pub(crate) const PARAM_INFO: Self = Self(12_040);

    pub(crate) const fn major(self) -> u32 {
        self.0 / 1000
    }

    pub(crate) const fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }

    /// The newest PTX ISA the driver compiles (PTX ISA, release notes): the numbers rose together, except that
    /// 8.5 came twice. Drivers newer than the notes are taken to go on as before.
    pub(crate) const fn ptx(self) -> Option<(u32, u32)> {
        match (self.major(), self.minor()) {
            (0..=10, _) => None,
            (12, 6) => Some((8, 5)),
            (12, 7) => Some((8, 6)),
            (12, 8) => Some((8, 7)),
            (12, 9..) => Some((8, 8)),
            (major, minor) => Some((major - 4, minor)),
        }
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

/// The toolkit whose PTX has this version: the inverse of [`DriverVersion::ptx`].
pub(crate) const fn toolkit_of(ptx: (u32, u32)) -> (u32, u32) {
    match ptx {
        (8, 6) => (12, 7),
        (8, 7) => (12, 8),
        (8, 8) => (12, 9),
        (major, minor) => (major + 4, minor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_take_the_ptx_of_their_toolkit() {
        let known = [
            (11_000, (7, 0)),
            (11_010, (7, 1)),
            (11_040, (7, 4)),
            (11_080, (7, 8)),
            (12_000, (8, 0)),
            (12_010, (8, 1)),
            (12_020, (8, 2)),
            (12_030, (8, 3)),
            (12_040, (8, 4)),
            (12_050, (8, 5)),
            (12_060, (8, 5)),
            (12_070, (8, 6)),
            (12_080, (8, 7)),
            (12_090, (8, 8)),
            (13_000, (9, 0)),
            (13_010, (9, 1)),
            (13_020, (9, 2)),
            (13_030, (9, 3)),
            (13_040, (9, 4)),
            (14_000, (10, 0)),
        ];
        for (driver, version) in known {
            assert_eq!(DriverVersion(driver).ptx(), Some(version), "{driver}");
        }
        assert_eq!(DriverVersion(10_020).ptx(), None);
        for (driver, version) in known.into_iter().filter(|(driver, _)| *driver != 12_060) {
            assert_eq!(toolkit_of(version), (driver / 1000, driver % 1000 / 10));
        }
    }

    #[test]
    fn newer_drivers_take_all_older_ones_take() {
        let versions: Vec<_> = (11_000..14_000)
            .step_by(10)
            .filter(|v| v % 1000 < 100)
            .collect();
        for pair in versions.windows(2) {
            assert!(
                DriverVersion(pair[0]).ptx() <= DriverVersion(pair[1]).ptx(),
                "{pair:?}"
            );
        }
    }
}
