//! The places where a CUDA compiler may be, in the order in which they are looked at.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Request;
use crate::env::Env;
use crate::toolchain::home;
use crate::toolchain::platform::{Os, Platform};
use crate::toolchain::version::Version;

/// Variables that name a toolkit's folder, in the order in which they count.
pub(crate) const FOLDER_VARIABLES: [&str; 4] = [
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_ROOT",
    "CUDA_TOOLKIT_ROOT_DIR",
];

/// Why a place is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The setting `toolkit`.
    Setting,
    /// A variable, by its name.
    Variable(String),
    /// The folders of `PATH`.
    Path,
    /// A folder where toolkits are installed by default.
    DefaultFolder,
    /// A toolchain that gpuk installed.
    Installed,
}

impl Origin {
    /// Whether somebody named this very compiler, so that no other may silently take its place.
    pub fn is_explicit(&self) -> bool {
        matches!(self, Self::Setting) || matches!(self, Self::Variable(name) if name == "NVCC")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting => f.write_str("setting `toolkit`"),
            Self::Variable(name) => f.write_str(name),
            Self::Path => f.write_str("PATH"),
            Self::DefaultFolder => f.write_str("default folder"),
            Self::Installed => f.write_str("gpuk's own folder"),
        }
    }
}

/// A place, and the nvcc that would be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) origin: Origin,
    /// None where there is nothing to look at: a variable that is not set, no nvcc on PATH.
    pub(crate) nvcc: Option<PathBuf>,
}

/// All places, best first.
pub(crate) fn all(request: &Request, env: &Env, platform: &Platform) -> Vec<Place> {
    let nvcc_in = |root: &Path| root.join("bin").join(platform.exe("nvcc"));
    let place = |origin, nvcc| Place { origin, nvcc };
    let variable = |name: &str| Origin::Variable(name.to_owned());

    let mut places = Vec::new();
    let setting = request.toolkit.as_ref().map(|path| match path.is_file() {
        true => path.clone(),
        false => nvcc_in(path),
    });
    places.push(place(Origin::Setting, setting));
    let named = env
        .path("NVCC")
        .map(|nvcc| match nvcc.components().count() {
            1 => nvcc
                .to_str()
                .and_then(|name| platform.on_path(name, env))
                .unwrap_or(nvcc),
            _ => nvcc,
        });
    places.push(place(variable("NVCC"), named));
    for name in FOLDER_VARIABLES {
        places.push(place(
            variable(name),
            env.path(name).map(|root| nvcc_in(&root)),
        ));
    }
    places.push(place(Origin::Path, platform.on_path("nvcc", env)));
    for root in default_folders(env, platform) {
        places.push(place(Origin::DefaultFolder, Some(nvcc_in(&root))));
    }
    for (name, is_conda) in [("CONDA_PREFIX", true), ("VIRTUAL_ENV", false)] {
        let roots = env
            .path(name)
            .map(|prefix| environment(&prefix, is_conda, platform));
        places.extend(each(variable(name), roots.unwrap_or_default(), platform));
    }
    places.extend(each(Origin::Installed, installed(env, platform), platform));
    places
}

/// A place for each root, or one with nothing to look at.
fn each(origin: Origin, roots: Vec<PathBuf>, platform: &Platform) -> Vec<Place> {
    let nvccs = roots
        .iter()
        .map(|root| Some(root.join("bin").join(platform.exe("nvcc"))));
    let nvccs: Vec<_> = match roots.is_empty() {
        true => vec![None],
        false => nvccs.collect(),
    };
    nvccs
        .into_iter()
        .map(|nvcc| Place {
            origin: origin.clone(),
            nvcc,
        })
        .collect()
}

fn default_folders(env: &Env, platform: &Platform) -> Vec<PathBuf> {
    match platform.os {
        Os::Windows => {
            let programs = env
                .path("ProgramFiles")
                .unwrap_or_else(|| PathBuf::from(r"C:\Program Files"));
            newest_first(&programs.join("NVIDIA GPU Computing Toolkit/CUDA"), "v")
        }
        Os::Linux | Os::MacOs => {
            let local = platform.absolute("/usr/local");
            let mut folders = vec![local.join("cuda")];
            folders.extend(newest_first(&local, "cuda-"));
            folders.push(platform.absolute("/opt/cuda"));
            folders.extend(newest_first(&platform.absolute("/opt"), "cuda-"));
            folders
        }
    }
}

/// The toolkits that a conda or Python environment may hold: conda's own, and those of NVIDIA's wheels.
fn environment(prefix: &Path, is_conda: bool, platform: &Platform) -> Vec<PathBuf> {
    let (own, packages) = match platform.os {
        Os::Windows => (
            prefix.join("Library"),
            vec![prefix.join("Lib/site-packages")],
        ),
        Os::Linux | Os::MacOs => (
            prefix.to_owned(),
            newest_first(&prefix.join("lib"), "python")
                .into_iter()
                .map(|python| python.join("site-packages"))
                .collect(),
        ),
    };
    let wheels = packages
        .iter()
        .flat_map(|dir| newest_first(&dir.join("nvidia"), "cu"));
    let mut roots: Vec<_> = is_conda.then_some(own).into_iter().chain(wheels).collect();
    if roots.is_empty() {
        roots.extend(packages.first().map(|dir| dir.join("nvidia/cu13")));
    }
    roots
}

fn installed(env: &Env, platform: &Platform) -> Vec<PathBuf> {
    home::toolchains(env, platform)
        .map(|dir| newest_first(&dir, "cuda-"))
        .unwrap_or_default()
}

/// The folders named `<prefix><major>[.<minor>]`, the highest version first.
pub(crate) fn newest_first(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    let number = |path: &Path| -> Option<(u32, u32)> {
        let rest = path.file_name()?.to_str()?.strip_prefix(prefix)?;
        match rest.parse::<Version>() {
            Ok(version) => Some((version.major, version.minor)),
            Err(_) => rest.parse().ok().map(|major| (major, 0)),
        }
    };
    let mut found: Vec<_> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter_map(|path| number(&path).map(|number| (number, path)))
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}
