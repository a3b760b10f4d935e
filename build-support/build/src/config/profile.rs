//! Which kind of profile is built.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ManifestError;
use super::manifest::{parse, table};
use crate::fs;

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

    /// What the profile `name` stems from, by the manifest of the workspace: cargo's own four, and those that inherit
    /// from them. Profiles that only a configuration file of cargo's defines are not seen.
    ///
    /// # Errors
    /// The manifest cannot be read, or the profile leads to none of cargo's own.
    pub fn named(name: &str, workspace: &Path) -> Result<Self, ProfileError> {
        let text = fs::read_to_string(workspace).map_err(ManifestError::from)?;
        let document = parse(&text, workspace)?;
        let mut current = name;
        let mut seen = Vec::new();
        loop {
            match current {
                "dev" | "test" => return Ok(Self::Dev),
                "release" | "bench" => return Ok(Self::Release),
                _ => {}
            }
            if seen.contains(&current) {
                return Err(ProfileError::Circle(name.to_owned()));
            }
            seen.push(current);
            let inherits =
                table(&document, &["profile", current]).and_then(|it| it.get("inherits"));
            current = inherits
                .and_then(|inherits| inherits.get_ref().as_str())
                .ok_or_else(|| ProfileError::Unknown(current.to_owned()))?;
        }
    }
}

/// A profile that leads to neither.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Nothing says what it inherits from.
    #[error(
        "the workspace's `Cargo.toml` does not say what the profile `{0}` inherits from\n  profiles of cargo's configuration files are not seen here; give `--release` or none instead"
    )]
    Unknown(String),
    /// It inherits from itself.
    #[error("the profile `{0}` inherits from itself")]
    Circle(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_lead_to_one_of_cargos_own() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        let text = "[profile.a]\ninherits = 'b'\n[profile.b]\ninherits = 'release'\n[profile.c]\ninherits = 'c'\n[profile.d]\nlto = true\n[profile.e]\ninherits = 'test'\n";
        std::fs::write(&manifest, text).unwrap();
        let of = |name| Profile::named(name, &manifest).map_err(|error| error.to_string());
        assert_eq!(of("bench"), Ok(Profile::Release));
        assert_eq!(of("a"), Ok(Profile::Release));
        assert_eq!(of("e"), Ok(Profile::Dev));
        assert!(of("c").unwrap_err().contains("inherits from itself"));
        for unknown in ["d", "x"] {
            assert!(
                of(unknown)
                    .unwrap_err()
                    .contains(&format!("`{unknown}` inherits from"))
            );
        }
    }
}
