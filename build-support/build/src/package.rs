//! The package whose kernels are built: who it is, where it lies, how it is configured.

use std::path::{Path, PathBuf};

use crate::config::{CheckMode, Config, Manifest, ManifestError};
use crate::diagnostic::Diagnostic;
use crate::fs::FsError;

/// A package with its configuration, ready to be built.
#[derive(Debug, Clone)]
pub struct Package {
    /// As cargo knows it.
    pub name: String,
    /// The folder of its manifest; sources and findings are named relative to it.
    pub root: PathBuf,
    /// Every manifest that the configuration was read from.
    pub manifests: Vec<PathBuf>,
    /// The configuration, defaults filled in.
    pub config: Config,
    /// Whether the profile has debug assertions on.
    pub debug_assertions: bool,
    /// Where results go; nothing is written elsewhere.
    pub out: PathBuf,
}

impl Package {
    /// Reads the package at `manifest`; what is wrong in the configuration goes to `findings`.
    ///
    /// # Errors
    /// A manifest cannot be read or is not TOML.
    pub fn read(
        manifest: &Path,
        out: PathBuf,
        debug_assertions: bool,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Self, ManifestError> {
        let manifest = std::path::absolute(manifest).map_err(|source| FsError {
            action: "find",
            path: manifest.to_owned(),
            source,
        })?;
        let root = manifest.parent().map(Path::to_owned).unwrap_or_default();
        let Manifest {
            name, read, config, ..
        } = Manifest::read(&manifest, findings)?;
        Ok(Self {
            name,
            root,
            manifests: read,
            config,
            debug_assertions,
            out,
        })
    }

    /// Whether `GPUK_DEBUG_CHECK` and `GPUK_DEBUG_EXPECT` exist: the setting, else like `debug_assert!`.
    #[must_use]
    pub fn debug_checks(&self) -> bool {
        self.config.debug_checks.unwrap_or(self.debug_assertions)
    }

    /// The check mode of one kernel.
    #[must_use]
    pub fn check_mode(&self, kernel: &str) -> CheckMode {
        let own = self.config.kernel.get(kernel);
        own.copied().unwrap_or(self.config.checks)
    }
}
