//! One architecture, as CUDA names it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An architecture to compile for: `80`, `90a`, `100f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Arch {
    number: u16,
    suffix: Option<Suffix>,
}

/// Code for an exact architecture (`a`) or its family (`f`); never implied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Suffix {
    Family,
    Exact,
}

impl Arch {
    /// What is compiled for where nothing is said: Ampere; newer devices take its PTX.
    pub const DEFAULT: Self = Self {
        number: 80,
        suffix: None,
    };

    /// Whether PTX for `target` can be assembled for this (PTX ISA 11.1.2, `.target`; held against ptxas 13.0).
    #[must_use]
    pub fn takes(self, target: Self) -> bool {
        match target.suffix {
            None => self.number >= target.number,
            Some(Suffix::Exact) => self == target,
            Some(Suffix::Family) => {
                self.number / 10 == target.number / 10 && self.number >= target.number
            }
        }
    }

    /// 9 of `90a`, 12 of `120`.
    pub(crate) fn major(self) -> u16 {
        self.number / 10
    }

    /// Whether newer devices run its PTX.
    pub(crate) fn is_forward(self) -> bool {
        self.suffix.is_none()
    }

    /// The first version of the PTX ISA that has it (PTX ISA 11.1.2, `.target`; held against ptxas 13.0); none of one that is not
    /// known here.
    pub(crate) fn ptx(self) -> Option<(u32, u32)> {
        use Suffix::{Exact, Family};
        Some(match (self.number, self.suffix) {
            (..=75, None) => (6, 3),
            (80, None) => (7, 0),
            (86, None) => (7, 1),
            (87, None) => (7, 4),
            (89 | 90, None) => (7, 8),
            (90, Some(Exact)) => (8, 0),
            (100 | 101, None | Some(Exact)) => (8, 6),
            (120, None | Some(Exact)) => (8, 7),
            (100 | 120, Some(Family)) => (8, 8),
            (103 | 121, _) => (8, 8),
            (88, None) | (110, _) => (9, 0),
            _ => return None,
        })
    }

    /// `sm_90a`, as ptxas takes it.
    #[must_use]
    pub fn sm(self) -> String {
        format!("sm_{self}")
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)?;
        f.write_str(match self.suffix {
            None => "",
            Some(Suffix::Family) => "f",
            Some(Suffix::Exact) => "a",
        })
    }
}

impl FromStr for Arch {
    type Err = &'static str;

    /// Takes `80`, `8.0`, `sm_80`, `compute_80`, and the suffixes `a` and `f`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "an architecture such as `80`, `sm_90` or `90a`";
        let text = text.trim();
        let text = text
            .strip_prefix("sm_")
            .or_else(|| text.strip_prefix("compute_"))
            .unwrap_or(text);
        let (digits, suffix) = match text.strip_suffix('a') {
            Some(digits) => (digits, Some(Suffix::Exact)),
            None => match text.strip_suffix('f') {
                Some(digits) => (digits, Some(Suffix::Family)),
                None => (text, None),
            },
        };
        let digits = match digits.split_once('.') {
            Some((major, minor)) if minor.len() == 1 => format!("{major}{minor}"),
            Some(_) => return Err(EXPECTED),
            None => digits.to_owned(),
        };
        let number: u16 = digits.parse().map_err(|_| EXPECTED)?;
        if !(20..1000).contains(&number) {
            return Err(EXPECTED);
        }
        Ok(Self { number, suffix })
    }
}

impl From<Arch> for String {
    fn from(arch: Arch) -> Self {
        arch.to_string()
    }
}

impl TryFrom<String> for Arch {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_runs_where_its_assembler_says() {
        let arch = |text: &str| text.parse::<Arch>().unwrap();
        // What ptxas 13.0 does with a module for the first, assembled for the second.
        let yes = "35 80, 80 90, 90a 90a, 90 90a, 100f 100a, 100f 103a, 100f 103f, 100f 103, 100f 100, 100f 100f, \
                   120f 121f, 101 110";
        let no = "90 80, 90a 90, 90a 100a, 100f 120f, 100a 100f, 100f 110f";
        for (pairs, taken) in [(yes, true), (no, false)] {
            for pair in pairs.split(", ") {
                let (target, to) = pair.split_once(' ').unwrap();
                assert_eq!(arch(to).takes(arch(target)), taken, "{pair}");
            }
        }
    }

    #[test]
    fn architectures_keep_only_written_suffixes() {
        for (text, shown) in [
            ("80", "80"),
            ("sm_90", "90"),
            ("compute_90a", "90a"),
            ("8.9", "89"),
            ("100f", "100f"),
            ("12.0a", "120a"),
        ] {
            assert_eq!(
                text.parse::<Arch>().map(|arch| arch.to_string()),
                Ok(shown.to_owned())
            );
        }
        for text in ["", "sm_", "9", "80b", "8.10", "native", "80 90", "-1"] {
            assert!(text.parse::<Arch>().is_err(), "{text}");
        }
    }

    #[test]
    #[ignore = "needs nvcc"]
    fn nvcc_architectures_came_with_the_ptx_that_the_assembler_says() {
        let env = crate::env::Env::of_process();
        let toolchain = crate::toolchain::find(&Default::default(), &env).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let ptx = folder.path().join("k.ptx");
        let takes = |arch: Arch, (major, minor): (u32, u32)| {
            let text = format!(
                ".version {major}.{minor}\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}\n",
                arch.sm()
            );
            std::fs::write(&ptx, text).unwrap();
            let command = crate::run::ToolCommand::new(&toolchain.ptxas)
                .arg(format!("-arch={}", arch.sm()))
                .arg(&ptx)
                .dir(folder.path());
            command.output().unwrap().status.success()
        };
        let before = |(major, minor): (u32, u32)| match minor {
            0 => (major - 1, 8),
            _ => (major, minor - 1),
        };
        let mut known = 0;
        for name in toolchain.assembles() {
            let arch: Arch = name.parse().unwrap();
            let Some(version) = arch.ptx() else { continue };
            known += 1;
            assert!(takes(arch, version), "{name}");
            // It takes this one with text of before it came, too.
            assert!(name == "88" || !takes(arch, before(version)), "{name}");
        }
        assert!(known > 10, "{known}");
    }
}
