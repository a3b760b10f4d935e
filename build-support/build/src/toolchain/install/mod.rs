//! Fetches NVIDIA's compiler wheels into gpuk's own folder, through the user's own pip or uv.
//!
//! Everything happens in a folder of its own next to the final one, which appears by one rename after the compiler in
//! it has compiled. Whoever installs holds the lock of the folder, which the system releases however the process
//! ends; so a partial folder that is met under the lock is a leftover and is removed.

mod error;
pub(crate) mod installer;
pub(crate) mod verify;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::error::cause;
pub use self::error::{Cause, InstallError};
pub use self::installer::{Installer, Tried, VARIABLE, look};
pub use self::verify::FromSource;
use crate::env::Env;
use crate::fs::{self, FsError};
use crate::toolchain::home;
use crate::toolchain::platform::{NO_COMPILER_FOR_MACOS, Os, Platform};
use crate::toolchain::search::places::newest_first;
use crate::toolchain::version::Version;

/// NVIDIA's own statement of which wheels make up a toolkit; their version numbers do not follow the toolkit's.
const PROJECT: &str = "cuda-toolkit";

/// The parts of it that are installed, about 490 MB on disk. nvrtc is the second way to compile.
const PARTS: [&str; 6] = ["nvcc", "nvvm", "crt", "cudart", "cccl", "nvrtc"];

const MARKER: &str = "gpuk.json";
const LOCK: &str = ".lock";
const PARTIAL: &str = ".partial-";

/// A toolchain in gpuk's own folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Its version, with the build.
    pub version: Version,
    /// Its folder.
    pub path: PathBuf,
    /// The wheels in it: `nvidia_cuda_nvcc-13.0.88`, ….
    pub wheels: Vec<String>,
}

/// How an installation went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// What is there now.
    pub installed: Installed,
    /// Whether it was there before.
    pub was_there: bool,
    /// Whether a kernel could be compiled from its source; not tried again where it was there before.
    pub from_source: Option<FromSource>,
}

/// What an installation is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Another process is installing.
    Waiting,
    /// What an interrupted installation left is removed.
    CleaningUp(PathBuf),
    /// What is there does not work and is replaced.
    Replacing(PathBuf),
    /// Wheels are fetched.
    Fetching {
        /// By which installer: its command and its version.
        installer: String,
        /// The whole command.
        command: String,
    },
    /// This command failed, the next one is tried.
    FellBack(String),
    /// The compiler is tried.
    Verifying,
}

/// Installs a toolchain of `version`, of which `major.minor` count. Does nothing but try the compiler where it is
/// there already.
///
/// # Errors
/// See [`InstallError`]. Nothing is left that a later search would find.
pub fn install(
    version: Version,
    env: &Env,
    progress: &mut dyn FnMut(Step),
) -> Result<Installation, InstallError> {
    let platform = Platform::host();
    let version = version.release();
    refuse(version, &platform)?;
    let folder = home::toolchains(env, &platform).ok_or(InstallError::NoHome)?;
    let path = folder.join(home::folder(version));
    // One that is there is taken without the lock, for its folder may be somebody else's to write.
    if path.is_dir()
        && let Some(there) = there(&path, version, progress)
    {
        return Ok(there);
    }
    let _lock = lock(&folder, progress)?;
    clean_up(&folder, progress);
    if path.is_dir() {
        if let Some(there) = there(&path, version, progress) {
            return Ok(there);
        }
        own(&path)?;
        progress(Step::Replacing(path.clone()));
        discard(&folder, &path)?;
    }
    let partial = partial(&folder);
    let result = fetch(version, &partial, env, &platform, progress).and_then(|fresh| {
        fs::rename(&fresh.root, &path)?;
        Ok(Installation {
            installed: Installed {
                path,
                ..fresh.installed
            },
            was_there: false,
            from_source: Some(fresh.from_source),
        })
    });
    // Whatever is left of it lies under a name that no search takes.
    let _ = fs::remove_dir(&partial);
    result
}

/// The toolchains in gpuk's own folder, the newest first. Those that another program put there are left out.
pub fn installed(env: &Env) -> Vec<Installed> {
    let folder = home::toolchains(env, &Platform::host());
    let paths = folder
        .map(|folder| newest_first(&folder, "cuda-"))
        .unwrap_or_default();
    paths.iter().filter_map(|path| read_marker(path)).collect()
}

/// Removes a toolchain from gpuk's own folder. Says whether it was there.
///
/// # Errors
/// It could not be removed.
pub fn remove(
    version: Version,
    env: &Env,
    progress: &mut dyn FnMut(Step),
) -> Result<bool, InstallError> {
    let folder = home::toolchains(env, &Platform::host()).ok_or(InstallError::NoHome)?;
    let path = folder.join(home::folder(version));
    if !path.is_dir() {
        return Ok(false);
    }
    let _lock = lock(&folder, progress)?;
    clean_up(&folder, progress);
    if !path.is_dir() {
        return Ok(false);
    }
    own(&path)?;
    discard(&folder, &path)?;
    Ok(true)
}

/// Why a version cannot be had, before anything is tried.
fn refuse(version: Version, platform: &Platform) -> Result<(), InstallError> {
    let reason = match (platform.os, version.major) {
        (Os::MacOs, _) => NO_COMPILER_FOR_MACOS,
        (_, 0..13) => {
            "before 13.0 NVIDIA's wheels hold ptxas but no nvcc; install the toolkit from NVIDIA and set `CUDA_HOME`"
        }
        _ => return Ok(()),
    };
    Err(InstallError::Unsupported { version, reason })
}

/// What is installed, if it works.
fn there(path: &Path, version: Version, progress: &mut dyn FnMut(Step)) -> Option<Installation> {
    let installed = read_marker(path)?;
    progress(Step::Verifying);
    let scratch = Scratch::new().ok()?;
    verify::compilers(path, version, &scratch.0).ok()?;
    Some(Installation {
        installed,
        was_there: true,
        from_source: None,
    })
}

struct Fresh {
    root: PathBuf,
    installed: Installed,
    from_source: FromSource,
}

fn fetch(
    version: Version,
    partial: &Path,
    env: &Env,
    platform: &Platform,
    progress: &mut dyn FnMut(Step),
) -> Result<Fresh, InstallError> {
    let tried = look(env, platform);
    let installers: Vec<_> = tried
        .iter()
        .filter_map(|tried| tried.outcome.as_ref().ok())
        .collect();
    if installers.is_empty() {
        return Err(InstallError::NoInstaller(tried));
    }
    let requirement = format!("{PROJECT}[{}]=={version}.*", PARTS.join(","));
    let mut attempts = Vec::new();
    let mut site = None;
    for (index, installer) in installers.iter().enumerate() {
        let target = partial.join(format!("site-{index}"));
        let temporary = partial.join("tmp");
        fs::create_dir(&target)?;
        fs::create_dir(&temporary)?;
        let command = installer.install(&requirement, &target, &temporary);
        progress(Step::Fetching {
            installer: format!("{} ({})", installer.name(), installer.version),
            command: command.to_string(),
        });
        let said = match command.output() {
            Ok(output) if output.status.success() => {
                site = Some(target);
                break;
            }
            Ok(output) => output.stderr,
            Err(error) => error.to_string(),
        };
        attempts.push((installer.name(), said));
        if index + 1 < installers.len() {
            progress(Step::FellBack(installer.name()));
        }
    }
    let site = site.ok_or_else(|| InstallError::Fetch {
        version,
        cause: cause(&attempts),
        attempts,
    })?;
    progress(Step::Verifying);
    let root = newest_first(&site.join("nvidia"), "cu").into_iter().next();
    let root =
        root.ok_or_else(|| InstallError::Verify("the wheels hold no `nvidia/cu13`".to_owned()))?;
    let scratch = partial.join("smoke");
    fs::create_dir(&scratch)?;
    let toolchain = verify::compilers(&root, version, &scratch).map_err(InstallError::Verify)?;
    let from_source = verify::from_source(&toolchain, env, &scratch);
    let installed = Installed {
        version: toolchain.version,
        path: PathBuf::new(),
        wheels: keep_licences(&site, &root)?,
    };
    let marker = serde_json::to_vec_pretty(&installed).unwrap_or_default();
    fs::write_private(&root.join(MARKER), &marker)?;
    Ok(Fresh {
        root,
        installed,
        from_source,
    })
}

/// Takes the wheels' metadata along, which holds NVIDIA's licence; gives the wheels' names.
fn keep_licences(site: &Path, root: &Path) -> Result<Vec<String>, FsError> {
    let kept = root.join("wheels");
    fs::create_dir(&kept)?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(site).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(wheel) = name.to_string_lossy().strip_suffix(".dist-info") {
            names.push(wheel.to_owned());
            fs::rename(&entry.path(), &kept.join(&name))?;
        }
    }
    names.sort();
    Ok(names)
}

fn read_marker(path: &Path) -> Option<Installed> {
    let bytes = fs::read(&path.join(MARKER)).ok()?;
    let installed: Installed = serde_json::from_slice(&bytes).ok()?;
    Some(Installed {
        path: path.to_owned(),
        ..installed
    })
}

fn lock(folder: &Path, progress: &mut dyn FnMut(Step)) -> Result<std::fs::File, FsError> {
    fs::create_dir(folder)?;
    fs::lock(&folder.join(LOCK), || progress(Step::Waiting))
}

/// Removes what interrupted installations left. To be called under the lock.
fn clean_up(folder: &Path, progress: &mut dyn FnMut(Step)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            progress(Step::CleaningUp(entry.path()));
            // A pip that outlived its parent may still write there; the next one removes it.
            let _ = fs::remove_dir(&entry.path());
        }
    }
}

/// Refuses to touch what somebody else put there.
fn own(path: &Path) -> Result<(), InstallError> {
    match path.join(MARKER).is_file() {
        true => Ok(()),
        false => Err(InstallError::Foreign(path.to_owned())),
    }
}

/// Takes a toolchain out of sight at once, and then away.
fn discard(folder: &Path, path: &Path) -> Result<(), FsError> {
    let away = partial(folder);
    fs::rename(path, &away)?;
    fs::remove_dir(&away)
}

fn partial(folder: &Path) -> PathBuf {
    folder.join(format!("{PARTIAL}{}", unique()))
}

fn unique() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!(
        "{}-{}",
        std::process::id(),
        now.map_or(0, |now| now.as_nanos())
    )
}

/// A folder for trying a compiler that is not ours to write into.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, FsError> {
        let path = crate::env::temporary().join(format!("gpuk-{}", unique()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
