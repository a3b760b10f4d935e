//! The simulator's driver library: found, or built on first use.
//!
//! A program reaches it through the loader's path, as `libcuda.so.1`. An installed `cargo-gpuk` builds it from the
//! package of its own version; one that runs from a checkout builds the checkout's, each time cargo says so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpuk_build::env::Env;
use gpuk_build::fs::{self, FsError};
use gpuk_build::run::{ToolCommand, ToolError};
use gpuk_build::toolchain::{Platform, home};

use crate::ui::Shell;

/// A folder with the library.
#[derive(Debug)]
pub(crate) struct Simulator {
    folder: PathBuf,
}

/// No library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimulatorError {
    /// There is no home folder.
    #[error("no folder to build the simulator in; set `GPUK_HOME`")]
    NoHome,
    /// Cargo could not build it.
    #[error("could not build the simulator{}", if *.offline { " without network; run once without `--offline`" } else { "" })]
    Build {
        /// Whether cargo may not use the network.
        offline: bool,
        /// What it said.
        source: ToolError,
    },
    /// A file could not be written.
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// The names that programs look for (cudarc tries both).
const NAMES: [&str; 2] = ["libcuda.so", "libcuda.so.1"];

impl Simulator {
    /// The library of this version, built if it is not there.
    pub(crate) fn ready(env: &Env, offline: bool, shell: &Shell) -> Result<Self, SimulatorError> {
        let home = home::home(env, &Platform::host()).ok_or(SimulatorError::NoHome)?;
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("build-support");
        let checkout = checkout.join("sim").join("cuda");
        let of_checkout = checkout.join("Cargo.toml").is_file();
        let name = match of_checkout {
            true => "checkout",
            false => env!("CARGO_PKG_VERSION"),
        };
        let base = home.join("sim").join(name);
        let folder = base.join("lib");
        let there = NAMES.iter().all(|name| folder.join(name).is_file());
        if of_checkout || !there {
            if !there {
                shell.status("Building", "the simulator, once");
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
    let target = base.join("target");
    let mut command = ToolCommand::new(cargo)
        .args(["build", "--release", "--quiet", "--target-dir"])
        .arg(&target)
        .arg("--manifest-path")
        .arg(base.join("Cargo.toml"))
        .dir(base);
    if offline {
        command = command.arg("--offline");
    }
    command
        .run()
        .map_err(|source| SimulatorError::Build { offline, source })?;
    let library = fs::read(&target.join("release").join("libcuda.so"))?;
    for name in NAMES {
        fs::write(&folder.join(name), &library)?;
    }
    Ok(())
}
