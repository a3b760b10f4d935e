//! Versions of drivers, and the PTX that they compile.
//!
//! The build chooses PTX by them for the drivers that are stated, the run time images for the driver that is there.

use std::fmt;

/// What `cuDriverGetVersion` says: the CUDA version the driver was made for, `12080` for 12.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverVersion(pub u32);

/// The first version of each branch of drivers, and what `cuDriverGetVersion` says for it (CUDA's release notes).
const BRANCHES: [(u32, u32); 17] = [
    (470, 11_040),
    (495, 11_050),
    (510, 11_060),
    (515, 11_070),
    (520, 11_080),
    (525, 12_000),
    (530, 12_010),
    (535, 12_020),
    (545, 12_030),
    (550, 12_040),
    (555, 12_050),
    (560, 12_060),
    (565, 12_070),
    (570, 12_080),
    (575, 12_090),
    (580, 13_000),
    (590, 13_010),
];

impl DriverVersion {
    /// The oldest that the run time works with.
    pub const OLDEST: Self = Self(11_040);

    /// Of a branch, 535 for all drivers 535.x; one between or after those that are known counts as the known one below it.
    #[must_use]
    pub fn of_branch(branch: u32) -> Option<Self> {
        let mut known = BRANCHES.iter().rev();
        let (_, version) = known.find(|(first, _)| *first <= branch)?;
        Some(Self(*version))
    }

    /// The branch that came with this version of CUDA, where that is known.
    #[must_use]
    pub fn branch(self) -> Option<u32> {
        let mut known = BRANCHES.iter();
        let (branch, _) = known.find(|(_, version)| *version == self.0)?;
        Some(*branch)
    }

    /// That of a version of CUDA: 13.0.
    #[must_use]
    pub const fn of_cuda(major: u32, minor: u32) -> Self {
        Self(major * 1000 + minor * 10)
    }

    /// The oldest that runs machine code of a toolkit: the first of its major version (CUDA's minor version compatibility).
    #[must_use]
    pub const fn of_cubin(toolkit: u32) -> Self {
        Self::of_cuda(toolkit, 0)
    }

    /// The oldest that compiles PTX of this ISA version: the inverse of [`DriverVersion::ptx`].
    #[must_use]
    pub const fn of_ptx(ptx: (u32, u32)) -> Self {
        match ptx {
            (8, 6) => Self(12_070),
            (8, 7) => Self(12_080),
            (8, 8) => Self(12_090),
            (major, minor) => Self::of_cuda(major + 4, minor),
        }
    }

    /// 13 of 13.0.
    #[must_use]
    pub const fn major(self) -> u32 {
        self.0 / 1000
    }

    /// 0 of 13.0.
    #[must_use]
    pub const fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }

    /// The newest PTX ISA the driver compiles (PTX ISA, release notes): the numbers rose together, except that
    /// 8.5 came twice. Drivers newer than the notes are taken to go on as before.
    #[must_use]
    pub const fn ptx(self) -> Option<(u32, u32)> {
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
            assert_eq!(DriverVersion::of_ptx(version), DriverVersion(driver));
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

    #[test]
    fn branches_are_told_apart() {
        let of = |branch| DriverVersion::of_branch(branch).map(|version| version.to_string());
        for (branch, cuda) in [
            (470, "11.4"),
            (525, "12.0"),
            (535, "12.2"),
            // Between two, and after the last that is known: at least what is said.
            (537, "12.2"),
            (580, "13.0"),
            (700, "13.1"),
        ] {
            assert_eq!(of(branch).as_deref(), Some(cuda), "{branch}");
        }
        assert_eq!(of(460), None);
        assert_eq!(DriverVersion(12_020).branch(), Some(535));
        assert_eq!(DriverVersion(13_040).branch(), None);
    }
}
