//! Looks for the CUDA compiler and says, place by place, what was found there.

mod layout;
pub(crate) mod places;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::layout::Layout;
pub use self::places::Origin;
use self::places::Place;
use crate::env::Env;
use crate::run::ToolCommand;
use crate::toolchain::platform::{NO_COMPILER_FOR_MACOS, Os, Platform, is_executable};
use crate::toolchain::stamp::Stamp;
use crate::toolchain::version::Version;
use crate::toolchain::{Identity, Toolchain};

/// Which compiler is wanted.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The setting `toolkit`: a toolkit's folder, or an nvcc.
    pub toolkit: Option<PathBuf>,
    /// The setting `cuda`: the version to take, whichever comes first otherwise.
    pub cuda: Option<Version>,
    /// Toolchains found before. One whose files have not changed is not asked again.
    pub known: Vec<Toolchain>,
}

/// Every place that was looked at, in order, up to the one that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// The version that is pinned.
    pub cuda: Option<Version>,
    /// The places.
    pub looked: Vec<Looked>,
}

/// One place and what was found there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// Why it was looked at.
    pub origin: Origin,
    /// The nvcc that would be there.
    pub nvcc: Option<PathBuf>,
    /// What was found.
    pub outcome: Outcome,
}

/// What was found at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing names a place here: not set, or no nvcc in any folder of PATH.
    NotSet,
    /// There is no such file.
    NoFile,
    /// The file is not a program that may be run.
    NotExecutable,
    /// The same file as at an earlier place.
    Same,
    /// nvcc does not run, or says no version; with what it said instead.
    Broken(String),
    /// It runs, but a part of the toolkit is missing.
    Incomplete(String),
    /// It is of another version than the pinned one.
    OtherVersion(Version),
    /// It was taken.
    Chosen(Version),
}

/// No compiler can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct NotFound {
    /// The places and what was found there.
    pub search: Search,
    /// Whether the search ended at a compiler that was named explicitly and cannot be used.
    pub named: bool,
    /// What to do about it.
    pub remedy: String,
}

/// Finds the compiler.
///
/// The order: [`Request::toolkit`]; `NVCC`; `CUDA_HOME`, `CUDA_PATH`, `CUDA_ROOT`, `CUDA_TOOLKIT_ROOT_DIR`; `PATH`;
/// the default folders; `CONDA_PREFIX` and `VIRTUAL_ENV`; what gpuk installed. No more is started than one
/// `nvcc --version` for each candidate, and none for a [known](Request::known) one.
///
/// # Errors
/// No place has one that can be used, or one that was named explicitly (the setting, `NVCC`) cannot.
pub fn find(request: &Request, env: &Env) -> Result<Toolchain, NotFound> {
    search(request, env, &Platform::host()).1
}

/// As [`find()`], for any platform, and with the list of places whatever the outcome.
pub fn search(
    request: &Request,
    env: &Env,
    platform: &Platform,
) -> (Search, Result<Toolchain, NotFound>) {
    let mut search = Search {
        cuda: request.cuda,
        looked: Vec::new(),
    };
    let mut seen = BTreeSet::new();
    let mut found = None;
    let mut named = false;
    for place in places::all(request, env, platform) {
        let outcome = match look(&place, request, platform, &mut seen) {
            Ok(toolchain) => {
                let version = toolchain.version;
                found = Some(toolchain);
                Outcome::Chosen(version)
            }
            Err(outcome) => outcome,
        };
        // A pin and a toolkit are both settings and must agree; a variable may well be meant for another project.
        named = match outcome {
            Outcome::NotSet | Outcome::Chosen(_) => false,
            Outcome::OtherVersion(_) => place.origin == Origin::Setting,
            _ => place.origin.is_explicit(),
        };
        search.looked.push(Looked {
            origin: place.origin,
            nvcc: place.nvcc,
            outcome,
        });
        if found.is_some() || named {
            break;
        }
    }
    let result = found.ok_or_else(|| NotFound {
        remedy: remedy(request.cuda, named, platform),
        search: search.clone(),
        named,
    });
    (search, result)
}

fn look(
    place: &Place,
    request: &Request,
    platform: &Platform,
    seen: &mut BTreeSet<PathBuf>,
) -> Result<Toolchain, Outcome> {
    let nvcc = place.nvcc.as_deref().ok_or(Outcome::NotSet)?;
    if !nvcc.exists() {
        return Err(Outcome::NoFile);
    }
    if !is_executable(nvcc) {
        return Err(Outcome::NotExecutable);
    }
    let stamp = Stamp::of(nvcc).map_err(|error| Outcome::Broken(error.to_string()))?;
    if !seen.insert(stamp.path.clone()) {
        return Err(Outcome::Same);
    }
    let known = request
        .known
        .iter()
        .find(|known| known.nvcc == nvcc && known.identity.nvcc == stamp);
    let version = match known {
        Some(known) => known.version,
        None => version_of(nvcc).map_err(Outcome::Broken)?,
    };
    if request.cuda.is_some_and(|pinned| !pinned.admits(version)) {
        return Err(Outcome::OtherVersion(version));
    }
    if let Some(known) = known.filter(|known| known.identity.is_current()) {
        let origin = place.origin.clone();
        return Ok(Toolchain {
            origin,
            ..known.clone()
        });
    }
    let layout = Layout::of(nvcc, platform).map_err(Outcome::Incomplete)?;
    let stamp_of = |part: &Path| {
        Stamp::of(part).map_err(|error| Outcome::Incomplete(format!("{}: {error}", part.display())))
    };
    Ok(Toolchain {
        identity: Identity {
            nvcc: stamp,
            cicc: stamp_of(&layout.cicc)?,
            ptxas: stamp_of(&layout.ptxas)?,
        },
        root: layout.root,
        nvcc: nvcc.to_owned(),
        ptxas: layout.ptxas,
        cicc: layout.cicc,
        includes: layout.includes,
        version,
        origin: place.origin.clone(),
    })
}

/// Asks nvcc for its version.
pub(crate) fn version_of(nvcc: &Path) -> Result<Version, String> {
    let output = ToolCommand::new(nvcc)
        .arg("--version")
        .run()
        .map_err(|error| match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    Version::of_nvcc(&text).ok_or_else(|| {
        let said = text.lines().find(|line| !line.trim().is_empty());
        format!(
            "it says no CUDA version but `{}`",
            said.unwrap_or_default().trim()
        )
    })
}

fn remedy(pinned: Option<Version>, named: bool, platform: &Platform) -> String {
    let before_wheels = pinned.filter(|version| version.major < 13);
    match (named, platform.os, before_wheels, pinned) {
        (true, ..) => "correct what names it, or unset it to take another".to_owned(),
        (_, Os::MacOs, ..) => NO_COMPILER_FOR_MACOS.to_owned(),
        (_, _, Some(version), _) => format!(
            "install the CUDA {version} toolkit from NVIDIA and set `CUDA_HOME` to its folder; its wheels hold no nvcc"
        ),
        (.., Some(version)) => format!("cargo gpuk toolchain install {version}"),
        (.., None) => "cargo gpuk toolchain install".to_owned(),
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.named, self.search.cuda) {
            (true, _) => f.write_str("the CUDA compiler that was named cannot be used")?,
            (false, Some(version)) => write!(f, "no CUDA {version} compiler found")?,
            (false, None) => f.write_str("no CUDA compiler found")?,
        }
        writeln!(f, "; looked at")?;
        write!(f, "{}", self.search)?;
        match self.remedy.starts_with("cargo ") {
            true => write!(f, "install one with\n  {}", self.remedy),
            false => f.write_str(&self.remedy),
        }
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.looked.iter().map(|l| l.origin.to_string()).collect();
        let width = names.iter().map(String::len).max().unwrap_or(0);
        for (looked, name) in self.looked.iter().zip(names) {
            write!(f, "  {name:width$}  ")?;
            if let Some(nvcc) = &looked.nvcc {
                write!(f, "{}: ", nvcc.display())?;
            }
            match (&looked.outcome, &looked.origin) {
                (Outcome::NotSet, Origin::Path) => writeln!(f, "no nvcc in any of its folders")?,
                (Outcome::NotSet, Origin::Installed) => writeln!(f, "nothing installed")?,
                (outcome, _) => writeln!(f, "{outcome}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet => f.write_str("not set"),
            Self::NoFile => f.write_str("no such file"),
            Self::NotExecutable => f.write_str("not an executable file"),
            Self::Same => f.write_str("the same as above"),
            Self::Broken(why) => write!(f, "does not work: {}", why.replace('\n', "\n    ")),
            Self::Incomplete(what) => write!(f, "incomplete: {what}"),
            Self::OtherVersion(version) => {
                write!(f, "is {version}, which is not the pinned version")
            }
            Self::Chosen(version) => write!(f, "chosen, {version}"),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
