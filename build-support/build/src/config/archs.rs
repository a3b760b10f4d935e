//! `archs` as it is written: architectures, and words that stand for several.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Arch;

/// What to compile for. What the words stand for depends on the compiler and on the machine; nothing here asks them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<String>", try_from = "Vec<String>")]
pub struct Archs {
    /// Lowest first.
    listed: Vec<Arch>,
    all_major: bool,
    native: bool,
}

/// One item of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchSetting {
    /// This one.
    Listed(Arch),
    /// `all-major`: the first of every major version that the compiler has.
    AllMajor,
    /// `native`: those of the devices of the machine that builds.
    Native,
}

const ALL_MAJOR: &str = "all-major";
const NATIVE: &str = "native";

impl Archs {
    /// Those that are named one by one.
    #[must_use]
    pub fn listed(&self) -> &[Arch] {
        &self.listed
    }

    /// Whether the first of every major version is among them.
    #[must_use]
    pub fn has_all_major(&self) -> bool {
        self.all_major
    }

    /// Whether those of this machine's devices are among them.
    #[must_use]
    pub fn has_native(&self) -> bool {
        self.native
    }

    /// Whether there is nothing to compile for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && !self.all_major && !self.native
    }

    /// As it may be written.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let words = [(ALL_MAJOR, self.all_major), (NATIVE, self.native)];
        let words = words.into_iter().filter(|(_, set)| *set);
        let listed = self.listed.iter().map(ToString::to_string);
        listed
            .chain(words.map(|(word, _)| word.to_owned()))
            .collect()
    }
}

impl Default for Archs {
    fn default() -> Self {
        [ArchSetting::Listed(Arch::DEFAULT)].into_iter().collect()
    }
}

impl FromIterator<ArchSetting> for Archs {
    fn from_iter<I: IntoIterator<Item = ArchSetting>>(items: I) -> Self {
        let mut archs = Self {
            listed: Vec::new(),
            all_major: false,
            native: false,
        };
        for item in items {
            match item {
                ArchSetting::Listed(arch) => archs.listed.push(arch),
                ArchSetting::AllMajor => archs.all_major = true,
                ArchSetting::Native => archs.native = true,
            }
        }
        archs.listed.sort();
        archs.listed.dedup();
        archs
    }
}

impl FromStr for ArchSetting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            ALL_MAJOR => Ok(Self::AllMajor),
            NATIVE => Ok(Self::Native),
            text => text.parse().map(Self::Listed).map_err(
                |_| "an architecture such as `80`, `sm_90` or `90a`, `all-major` or `native`",
            ),
        }
    }
}

impl From<Archs> for Vec<String> {
    fn from(archs: Archs) -> Self {
        archs.names()
    }
}

impl TryFrom<Vec<String>> for Archs {
    type Error = &'static str;

    fn try_from(names: Vec<String>) -> Result<Self, Self::Error> {
        names
            .iter()
            .map(|name| name.parse::<ArchSetting>())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_architectures_stand_in_one_list() {
        let read = |items: &[&str]| -> Result<Archs, &str> {
            items
                .iter()
                .map(|item| item.parse::<ArchSetting>())
                .collect()
        };
        let archs = read(&["native", "90a", "sm_80", "8.0", "all-major"]).unwrap();
        assert_eq!(archs.names(), ["80", "90a", "all-major", "native"]);
        assert!(archs.has_all_major() && archs.has_native());
        // Nothing stands for the machine's device unless it is written.
        let plain = read(&["80"]).unwrap();
        assert!(!plain.has_native() && !plain.has_all_major() && plain == Archs::default());
        for word in ["all", "major", "Native", ""] {
            assert!(read(&[word]).unwrap_err().contains("`all-major`"), "{word}");
        }
    }
}
