//! The compiler: where it is found, what it is, how it is run and how it is installed.
//!
//! - [`find()`] looks for nvcc in a fixed order and tells every place it looked at; [`Toolchain`] is what it found.
//! - [`host`] is the C++ compiler that nvcc preprocesses with.
//! - [`recipe`] turns flags into the commands that nvcc would run, so that they can be run one by one.
//! - [`install`] fetches NVIDIA's wheels into gpuk's own folder; [`doctor`] reports all of this.
//!
//! Not here: running the commands, caching their results, architectures, and the NVRTC engine.

pub mod doctor;
pub mod home;
pub mod host;
pub mod install;
pub mod platform;
pub mod recipe;
pub mod search;
mod stamp;
pub mod version;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::Arch;
use crate::run::{ToolCommand, ToolError};

pub use platform::Platform;
pub use search::{NotFound, Origin, Request, Search, find};
pub use stamp::Stamp;
pub use version::Version;

/// The version that is installed where none is asked for: the one that gpuk is tested with.
pub const DEFAULT_VERSION: &str = "13.0";

/// A CUDA compiler that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// The toolkit's root: the folder above `bin`.
    pub root: PathBuf,
    /// The compiler driver, as it was found; links are kept, for a wrapper may depend on its name.
    pub nvcc: PathBuf,
    /// The assembler from PTX to cubin.
    pub ptxas: PathBuf,
    /// The compiler proper, from preprocessed text to PTX.
    pub cicc: PathBuf,
    /// The folders of the toolkit's headers that exist, in the order in which nvcc searches them.
    pub includes: Vec<PathBuf>,
    /// Its version, as nvcc itself says it.
    pub version: Version,
    /// Where it was found.
    pub origin: Origin,
    /// The files that it consists of, as they were when the version was read.
    pub identity: Identity,
}

/// What tells a changed toolchain from the same one, without starting a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The compiler driver.
    pub nvcc: Stamp,
    /// The compiler proper.
    pub cicc: Stamp,
    /// The assembler.
    pub ptxas: Stamp,
}

impl Identity {
    /// Whether the files are still those.
    pub fn is_current(&self) -> bool {
        [&self.nvcc, &self.cicc, &self.ptxas]
            .iter()
            .all(|stamp| stamp.is_current())
    }
}

impl Toolchain {
    /// The files that it consists of. Keep the whole toolchain and hand it in again as [`Request::known`]: as long
    /// as these files stay as they are, finding it starts no process.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The architectures that it compiles for, as nvcc lists them: `compute_75`, ….
    ///
    /// # Errors
    /// nvcc does not run.
    pub fn archs(&self) -> Result<Vec<String>, ToolError> {
        install::verify::archs(&self.nvcc)
    }

    /// What it makes cubins for, as its assembler lists it, those with a suffix among them: `75`, `90`, `90a`, …; what
    /// nvcc lists where the assembler does not say.
    #[must_use]
    pub fn assembles(&self) -> Vec<String> {
        let help = ToolCommand::new(&self.ptxas).arg("--help").run();
        let help = help.map_or_else(|_| Vec::new(), |output| output.stdout);
        let mut archs: Vec<Arch> = assembled(&String::from_utf8_lossy(&help));
        if archs.is_empty() {
            let listed = self.archs().unwrap_or_default();
            archs.extend(listed.iter().filter_map(|arch| arch.parse::<Arch>().ok()));
        }
        archs.sort();
        archs.dedup();
        archs.iter().map(ToString::to_string).collect()
    }

    /// What a cache key holds of it: version and sizes, nothing of this machine's folders or clocks.
    pub fn key(&self) -> String {
        let Identity { nvcc, cicc, ptxas } = &self.identity;
        format!(
            "nvcc {} nvcc={} cicc={} ptxas={}",
            self.version, nvcc.len, cicc.len, ptxas.len
        )
    }
}

/// The real architectures in ptxas' help.
fn assembled(help: &str) -> Vec<Arch> {
    let quoted = help.split('\'');
    let real = quoted.filter(|word| word.starts_with("sm_"));
    real.filter_map(|word| word.parse().ok()).collect()
}
