//! The simulator's driver library: found, or built on first use.
//!
//! A program reaches it through the loader's path, as `libcuda.so.1`. An installed `cargo-gpuk` builds it from the
//! package of its own version; one that runs from a checkout builds the checkout's, each time cargo says so.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use gpuk_build::env::Env;
use gpuk_build::fs::{self, FsError};
use gpuk_build::run::{ToolCommand, ToolError};
use gpuk_build::toolchain::{Platform, home};
use serde_json::Value;

use crate::ui::Shell;

/// A folder with the library.
#[derive(Debug)]
pub(crate) struct Simulator {
    folder: PathBuf,
}

/// No library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimulatorError {
    /// Programs find a driver in another way here.
    #[error("the simulator runs on Linux only: it takes the place of `libcuda.so.1`")]
    Platform,
    /// There is no home folder.
    #[error("no folder to build the simulator in; set `GPUK_HOME`")]
    NoHome,
    /// Cargo could not build it.
    #[error("could not build the simulator in `{}`{}", folder.display(), offline_hint(*.offline))]
    Build {
        /// Where.
        folder: PathBuf,
        /// Whether cargo may not use the network.
        offline: bool,
        /// What it said.
        source: ToolError,
    },
    /// Cargo built it and did not say where.
    #[error("cargo built no `{LIBRARY}` in `{}`", .0.display())]
    NoLibrary(PathBuf),
    /// A file could not be written.
    #[error(transparent)]
    Fs(#[from] FsError),
}

fn offline_hint(offline: bool) -> &'static str {
    match offline {
        true => {
            " without network; run it once without `--offline`, which fetches what it is made of"
        }
        false => "",
    }
}

/// The name that programs link to, and that cudarc tries first.
const LIBRARY: &str = "libcuda.so";
/// The name that drivers have. Both are one file, so that a program which loads both has one driver.
const DRIVER: &str = "libcuda.so.1";
/// Holds the size of the library once all is in place.
const COMPLETE: &str = "complete";

impl Simulator {
    /// The library of this version, built if it is not there.
    pub(crate) fn ready(env: &Env, offline: bool, shell: &Shell) -> Result<Self, SimulatorError> {
        if !cfg!(target_os = "linux") {
            return Err(SimulatorError::Platform);
        }
        let home = home::home(env, &Platform::host()).ok_or(SimulatorError::NoHome)?;
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("build-support");
        let checkout = checkout.join("sim").join("cuda");
        let of_checkout = checkout.join("Cargo.toml").is_file();
        let base = home.join("sim").join(match of_checkout {
            true => name_of_checkout(&checkout),
            false => env!("CARGO_PKG_VERSION").to_owned(),
        });
        let folder = base.join("lib");
        let there = is_complete(&folder);
        if of_checkout || !there {
            if !there {
                shell.status(
                    "Building",
                    format_args!(
                        "the simulator in `{}`, once; this takes a minute or two",
                        base.display()
                    ),
                );
            }
            let dependency = match of_checkout {
                true => format!("{{ path = {:?} }}", checkout.display().to_string()),
                false => format!("\"={}\"", env!("CARGO_PKG_VERSION")),
            };
            build(&base, &dependency, &folder, env, offline)?;
        }
        Ok(Self { folder })
    }

    /// Puts the library on the loader's path of a command; findings go to `report`.
    pub(crate) fn apply(&self, command: ToolCommand, env: &Env, report: &Path) -> ToolCommand {
        let mut path = OsString::from(&self.folder);
        if let Some(rest) = env.get("LD_LIBRARY_PATH") {
            path.push(":");
            path.push(rest);
        }
        command
            .env("LD_LIBRARY_PATH", path)
            .env("GPUK_SIM_REPORT", report)
    }
}

/// The name of a checkout's folder; others have others.
fn name_of_checkout(path: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    format!("checkout-{:08x}", hasher.finish() as u32)
}

/// Whether the library is there as a whole, under both its names.
fn is_complete(folder: &Path) -> bool {
    let written = std::fs::read_to_string(folder.join(COMPLETE));
    let written = written
        .ok()
        .and_then(|size| size.trim().parse::<u64>().ok());
    let size = |name| {
        std::fs::metadata(folder.join(name))
            .map(|file| file.len())
            .ok()
    };
    written.is_some()
        && [LIBRARY, DRIVER]
            .into_iter()
            .all(|name| size(name) == written)
}

/// Builds the library in a project of its own, as a dynamic library cannot be installed by itself.
fn build(
    base: &Path,
    dependency: &str,
    folder: &Path,
    env: &Env,
    offline: bool,
) -> Result<(), SimulatorError> {
    fs::create_dir(&base.join("src"))?;
    fs::create_dir(folder)?;
    let manifest = format!(
        "[package]\nname = \"gpuk-simulator\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\nname = \"cuda\"\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\ngpuk-sim-cuda = {dependency}\n\n[workspace]\n"
    );
    fs::write(&base.join("Cargo.toml"), manifest.as_bytes())?;
    fs::write(&base.join("src/lib.rs"), b"pub use gpuk_sim_cuda::*;\n")?;
    let cargo = env.path("CARGO").unwrap_or_else(|| PathBuf::from("cargo"));
    let mut command = ToolCommand::new(cargo)
        .args(["build", "--release", "--quiet"])
        .arg("--message-format=json-render-diagnostics")
        .arg("--target-dir")
        .arg(base.join("target"))
        .arg("--manifest-path")
        .arg(base.join("Cargo.toml"))
        .dir(base);
    if offline {
        command = command.arg("--offline");
    }
    let output = command.run().map_err(|source| SimulatorError::Build {
        folder: base.to_owned(),
        offline,
        source,
    })?;
    let built = built(&output.stdout).ok_or_else(|| SimulatorError::NoLibrary(base.to_owned()))?;
    let library = fs::read(&built)?;
    let driver = folder.join(DRIVER);
    fs::write(&driver, &library)?;
    fs::alias(&driver, LIBRARY)?;
    fs::write(&folder.join(COMPLETE), library.len().to_string().as_bytes())?;
    Ok(())
}

/// Where cargo says that it put the library; that depends on what the user's configuration says of targets.
fn built(messages: &[u8]) -> Option<PathBuf> {
    let messages = String::from_utf8_lossy(messages);
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = messages
        .filter_map(|message| message["filenames"].as_array().cloned())
        .flatten();
    let mut files = files.filter_map(|file| file.as_str().map(PathBuf::from));
    files.find(|file| file.file_name().is_some_and(|name| name == LIBRARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_whole_is_built_again() {
        let folder = std::env::temp_dir().join(format!("gpuk-simulator-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(!is_complete(&folder));
        let driver = folder.join(DRIVER);
        std::fs::write(&driver, "library").unwrap();
        fs::alias(&driver, LIBRARY).unwrap();
        assert!(!is_complete(&folder));
        std::fs::write(folder.join(COMPLETE), "7").unwrap();
        assert!(is_complete(&folder));
        // One file, whichever name a program loads it by.
        let real = |name| folder.join(name).canonicalize().unwrap();
        assert_eq!(real(LIBRARY), real(DRIVER));
        std::fs::write(&driver, "libr").unwrap();
        assert!(!is_complete(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn cargo_says_where_the_library_is() {
        let said =
            b"{\"reason\":\"compiler-artifact\",\"filenames\":[\"/t/libserde.rlib\"]}\nwords\n\
            {\"reason\":\"compiler-artifact\",\"filenames\":[\"/t/x86_64/release/libcuda.so\"]}\n";
        assert_eq!(
            built(said),
            Some(PathBuf::from("/t/x86_64/release/libcuda.so"))
        );
        assert_eq!(built(b""), None);
    }
}
