//! The simulator's driver library: found, or built on first use.
//!
//! A program reaches it through the loader's path, under the names that it tries for a driver. An installed `cargo-gpuk` builds it from the
//! package of its own version; one that runs from a checkout builds the checkout's, each time cargo says so.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use gpuk_build::env::Env;
use gpuk_build::fs::{self, FsError};
use gpuk_build::run::{ToolCommand, ToolError};
use gpuk_build::toolchain::platform::Loader;
use gpuk_build::toolchain::{Platform, home};
use serde_json::Value;

use crate::ui::Shell;

/// A folder with the library.
#[derive(Debug)]
pub(crate) struct Simulator {
    folder: PathBuf,
    loader: Loader,
}

/// No library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimulatorError {
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
    #[error("cargo built no `{name}` in `{}`", folder.display())]
    NoLibrary {
        /// Its name.
        name: &'static str,
        /// Where.
        folder: PathBuf,
    },
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

/// What cargo calls a dynamic library of the crate `cuda` is the name that programs try first.
const CRATE: &str = "cuda";
/// Holds the size of the library once all is in place.
const COMPLETE: &str = "complete";

impl Simulator {
    /// The library of this version, built if it is not there.
    pub(crate) fn ready(env: &Env, offline: bool, shell: &Shell) -> Result<Self, SimulatorError> {
        let platform = Platform::host();
        let loader = platform.loader();
        let home = home::home(env, &platform).ok_or(SimulatorError::NoHome)?;
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("build-support");
        let checkout = checkout.join("sim").join("cuda");
        let of_checkout = checkout.join("Cargo.toml").is_file();
        let base = home.join("sim").join(match of_checkout {
            true => name_of_checkout(&checkout),
            false => env!("CARGO_PKG_VERSION").to_owned(),
        });
        let folder = base.join("lib");
        let there = is_complete(&folder, loader);
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
            build(&base, &dependency, (&folder, loader), env, offline)?;
        }
        Ok(Self { folder, loader })
    }

    /// Puts the library on the loader's path of a command; findings go to `report`.
    pub(crate) fn apply(&self, command: ToolCommand, env: &Env, report: &Path) -> ToolCommand {
        let Loader {
            variable,
            separator,
            ..
        } = self.loader;
        let mut path = OsString::from(&self.folder);
        if let Some(rest) = env.get(variable) {
            path.push(separator.to_string());
            path.push(rest);
        }
        command.env(variable, path).env("GPUK_SIM_REPORT", report)
    }
}

/// The name of a checkout's folder; others have others.
fn name_of_checkout(path: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    format!("checkout-{:08x}", hasher.finish() as u32)
}

/// Whether the library is there as a whole, under all its names.
fn is_complete(folder: &Path, loader: Loader) -> bool {
    let written = std::fs::read_to_string(folder.join(COMPLETE));
    let written = written
        .ok()
        .and_then(|size| size.trim().parse::<u64>().ok());
    let size = |name: &str| {
        std::fs::metadata(folder.join(name))
            .map(|file| file.len())
            .ok()
    };
    written.is_some()
        && [loader.first, loader.driver]
            .into_iter()
            .all(|name| size(name) == written)
}

/// Builds the library in a project of its own, as a dynamic library cannot be installed by itself.
fn build(
    base: &Path,
    dependency: &str,
    (folder, loader): (&Path, Loader),
    env: &Env,
    offline: bool,
) -> Result<(), SimulatorError> {
    fs::create_dir(&base.join("src"))?;
    fs::create_dir(folder)?;
    let manifest = format!(
        "[package]\nname = \"gpuk-simulator\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\nname = \"{CRATE}\"\ncrate-type = [\"cdylib\"]\n\n\
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
    let Loader { first, driver, .. } = loader;
    let built = built(&output.stdout, first).ok_or_else(|| SimulatorError::NoLibrary {
        name: first,
        folder: base.to_owned(),
    })?;
    let library = fs::read(&built)?;
    let path = folder.join(driver);
    fs::write(&path, &library)?;
    if first != driver {
        // One file, so that a program which loads both has one driver.
        fs::alias(&path, first)?;
    }
    fs::write(&folder.join(COMPLETE), library.len().to_string().as_bytes())?;
    Ok(())
}

/// Where cargo says that it put the library; that depends on what the user's configuration says of targets.
fn built(messages: &[u8], library: &str) -> Option<PathBuf> {
    let messages = String::from_utf8_lossy(messages);
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = messages
        .filter_map(|message| message["filenames"].as_array().cloned())
        .flatten();
    let mut files = files.filter_map(|file| file.as_str().map(PathBuf::from));
    files.find(|file| file.file_name().is_some_and(|name| name == library))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpuk_build::toolchain::platform::Os;

    fn loader(os: Os) -> Loader {
        let platform = Platform {
            os,
            ..Platform::host()
        };
        platform.loader()
    }

    #[test]
    fn a_library_that_is_not_whole_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for os in [Os::Linux, Os::Windows, Os::MacOs] {
            let loader = loader(os);
            assert!(!is_complete(folder, loader));
            let driver = folder.join(loader.driver);
            std::fs::write(&driver, "library").unwrap();
            if loader.first != loader.driver {
                fs::alias(&driver, loader.first).unwrap();
            }
            assert!(!is_complete(folder, loader));
            std::fs::write(folder.join(COMPLETE), "7").unwrap();
            assert!(is_complete(folder, loader));
            std::fs::write(&driver, "libr").unwrap();
            assert!(!is_complete(folder, loader));
            std::fs::remove_file(folder.join(COMPLETE)).unwrap();
        }
    }

    #[test]
    #[cfg(unix)]
    fn both_names_are_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let loader = loader(Os::Linux);
        let driver = folder.path().join(loader.driver);
        std::fs::write(&driver, "library").unwrap();
        fs::alias(&driver, loader.first).unwrap();
        let real = |name| folder.path().join(name).canonicalize().unwrap();
        assert_eq!(real(loader.first), real(loader.driver));
    }

    #[test]
    fn each_systems_loader_finds_it_first() {
        let env = Env::from_pairs([
            ("LD_LIBRARY_PATH", "/a:/b"),
            ("DYLD_LIBRARY_PATH", "/c"),
            ("PATH", r"C:\x;D:\y"),
        ]);
        let variable = |os| {
            let simulator = Simulator {
                folder: PathBuf::from("/sim"),
                loader: loader(os),
            };
            let command = simulator.apply(ToolCommand::new("p"), &env, Path::new("r"));
            command.env.first().cloned().unwrap()
        };
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        assert_eq!(variable(Os::Linux), pair("LD_LIBRARY_PATH", "/sim:/a:/b"));
        assert_eq!(variable(Os::MacOs), pair("DYLD_LIBRARY_PATH", "/sim:/c"));
        assert_eq!(variable(Os::Windows), pair("PATH", r"/sim;C:\x;D:\y"));
    }

    #[test]
    fn cargo_says_where_the_library_is() {
        let said =
            b"{\"reason\":\"compiler-artifact\",\"filenames\":[\"/t/libserde.rlib\"]}\nwords\n\
            {\"reason\":\"compiler-artifact\",\"filenames\":[\"/t/x86_64/release/libcuda.so\"]}\n";
        assert_eq!(
            built(said, "libcuda.so"),
            Some(PathBuf::from("/t/x86_64/release/libcuda.so"))
        );
        assert_eq!(built(b"", "libcuda.so"), None);
    }
}
