//! Which kind of profile is built.

use serde::{Deserialize, Serialize};

/// What the profile stems from. Cargo tells a build script nothing more of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// `dev`, with debug assertions.
    #[default]
    Dev,
    /// `release`, without.
    Release,
}

impl Profile {
    /// All.
    pub(crate) const ALL: [Self; 2] = [Self::Dev, Self::Release];

    /// As the manifest writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }
}
