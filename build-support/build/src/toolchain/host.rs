//! The C++ compiler whose preprocessor nvcc uses. Its flags are never taken over, only its path.
//!
//! PTX does not depend on the target of the Rust build, so this is always a compiler for the machine that builds.

mod msvc;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::msvc::Finder;
use super::platform::{Os, Platform, is_executable};
use super::recipe::NVCC_VARIABLES;
use super::stamp::Stamp;
use crate::env::Env;
use crate::run::ToolCommand;

/// Which host compiler is wanted.
#[derive(Debug, Clone, Default)]
pub struct HostRequest {
    /// The setting `host-compiler`.
    pub setting: Option<PathBuf>,
    /// The one found before. Where nothing that names it has changed, it is taken without starting a process.
    pub known: Option<HostCompiler>,
}

/// A host compiler that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCompiler {
    /// The program.
    pub path: PathBuf,
    /// The first line in which it says its version.
    pub version: String,
    /// What names it.
    pub origin: HostOrigin,
    /// What to pass to nvcc as `-ccbin`; none where nvcc takes it by itself.
    pub ccbin: Option<PathBuf>,
    /// Variables that it needs; Visual Studio's tools do not work without theirs.
    pub env: Vec<(String, String)>,
    pub(super) stamp: Option<Stamp>,
    pub(super) asked: Vec<(String, Option<String>)>,
}

/// What names a host compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostOrigin {
    /// The setting `host-compiler`.
    Setting,
    /// A variable, by its name.
    Variable(String),
    /// Visual Studio, through its own registration.
    VisualStudio,
    /// nvcc's default, on PATH.
    Default,
}

/// There is no host compiler, or the one named is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found}; {remedy}")]
pub struct NoHostCompiler {
    /// What was found instead.
    pub found: String,
    /// What to do about it.
    pub remedy: String,
}

/// Finds the host compiler: `NVCC_CCBIN`; a `-ccbin` in `NVCC_PREPEND_FLAGS` or `NVCC_APPEND_FLAGS`; the setting;
/// `CXX_<triple>`, `HOST_CXX`, `CXX`; Visual Studio; gcc on PATH.
///
/// # Errors
/// There is none, or the one named is not there.
pub fn find(request: &HostRequest, env: &Env) -> Result<HostCompiler, NoHostCompiler> {
    find_on(request, env, &Platform::host())
}

pub(crate) fn find_on(
    request: &HostRequest,
    env: &Env,
    platform: &Platform,
) -> Result<HostCompiler, NoHostCompiler> {
    let asked = asked(request, env, platform);
    if let Some(known) = &request.known
        && known.asked == asked
        && known.stamp.as_ref().is_some_and(Stamp::is_current)
    {
        return Ok(known.clone());
    }
    let Named {
        path,
        origin,
        pass,
        variables,
    } = named(request, env, platform, &msvc::find)?;
    let mut variables = variables;
    msvc::complete(&mut variables, &path, env, platform, &msvc::find);
    let version = version_of(&path, &variables).ok_or_else(|| NoHostCompiler {
        found: format!("the host compiler `{}` does not run", path.display()),
        remedy: remedy(&origin, platform),
    })?;
    Ok(HostCompiler {
        ccbin: pass.then(|| path.clone()),
        stamp: Stamp::of(&path).ok(),
        path,
        version,
        origin,
        env: variables,
        asked,
    })
}

struct Named {
    path: PathBuf,
    origin: HostOrigin,
    pass: bool,
    variables: Vec<(String, String)>,
}

fn named(
    request: &HostRequest,
    env: &Env,
    platform: &Platform,
    visual_studio: Finder<'_>,
) -> Result<Named, NoHostCompiler> {
    let here = |word: &OsStr, origin: HostOrigin, pass| match locate(Path::new(word), env, platform)
    {
        Some(path) => Ok(Named {
            path,
            origin,
            pass,
            variables: Vec::new(),
        }),
        None => Err(NoHostCompiler {
            found: format!("there is no host compiler `{}`", Path::new(word).display()),
            remedy: remedy(&origin, platform),
        }),
    };
    if let Some(word) = env.get("NVCC_CCBIN") {
        return here(word, HostOrigin::Variable("NVCC_CCBIN".to_owned()), false);
    }
    for name in ["NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS"] {
        if let Some(word) = env
            .get(name)
            .and_then(|flags| ccbin_in(&flags.to_string_lossy()))
        {
            return here(word.as_ref(), HostOrigin::Variable(name.to_owned()), false);
        }
    }
    if let Some(setting) = &request.setting {
        return here(setting.as_os_str(), HostOrigin::Setting, true);
    }
    let variable = cxx_names(platform)
        .into_iter()
        .find_map(|name| env.get(&name).map(|value| (name.clone(), value)));
    if let Some((name, value)) = variable {
        return here(compiler_of(value), HostOrigin::Variable(name), true);
    }
    if platform.os == Os::Windows
        && let Some(found) = visual_studio(&platform.triple())
        && found.path.is_absolute()
    {
        return Ok(Named {
            path: found.path,
            origin: HostOrigin::VisualStudio,
            pass: true,
            variables: found.variables,
        });
    }
    let default = default_compiler(platform);
    platform
        .on_path(default, env)
        .map(|path| Named {
            path,
            origin: HostOrigin::Default,
            pass: false,
            variables: Vec::new(),
        })
        .ok_or_else(|| NoHostCompiler {
            found: format!("there is no C++ compiler: nvcc needs `{default}`"),
            remedy: remedy(&HostOrigin::Default, platform),
        })
}

/// What nvcc takes by itself.
pub(crate) fn default_compiler(platform: &Platform) -> &'static str {
    match platform.os {
        Os::Linux => "gcc",
        Os::MacOs => "clang",
        Os::Windows => "cl",
    }
}

/// A compiler by path, by name on PATH, or by its folder, as `-ccbin` takes all three.
fn locate(word: &Path, env: &Env, platform: &Platform) -> Option<PathBuf> {
    if word.is_dir() {
        let inside = word.join(platform.exe(default_compiler(platform)));
        return is_executable(&inside).then_some(inside);
    }
    match word.components().count() {
        1 => platform.on_path(word.to_str()?, env),
        _ => is_executable(word).then(|| word.to_owned()),
    }
}

/// The value of `-ccbin` among flags; the last one counts.
fn ccbin_in(flags: &str) -> Option<String> {
    let mut found = None;
    let mut words = flags.split_whitespace();
    while let Some(word) = words.next() {
        for name in ["-ccbin", "--compiler-bindir"] {
            match word.strip_prefix(name) {
                Some("") => found = words.next(),
                Some(rest) => found = rest.strip_prefix('=').or(found),
                None => continue,
            }
        }
    }
    found.map(|value| value.trim_matches(['"', '\'']).to_owned())
}

fn cxx_names(platform: &Platform) -> Vec<String> {
    let triple = platform.triple();
    let plain = triple.replace('-', "_");
    vec![
        format!("CXX_{triple}"),
        format!("CXX_{plain}"),
        "HOST_CXX".to_owned(),
        "CXX".to_owned(),
    ]
}

/// The compiler of a `CXX`, by the rule of the `cc` crate: the whole value where that is a file, else its first word,
/// or the second where the first is a caching wrapper. Flags are left behind: nvcc knows few of them.
fn compiler_of(value: &OsStr) -> &OsStr {
    const WRAPPERS: [&str; 7] = [
        "ccache",
        "sccache",
        "distcc",
        "icecc",
        "cachepot",
        "buildcache",
        "kache",
    ];
    let text = match value.to_str() {
        Some(text) if !Path::new(text).is_file() => text,
        _ => return value,
    };
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let stem = Path::new(first)
        .file_stem()
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    let is_wrapper = WRAPPERS
        .iter()
        .any(|wrapper| stem.eq_ignore_ascii_case(wrapper));
    OsStr::new(words.next().filter(|_| is_wrapper).unwrap_or(first))
}

fn asked(request: &HostRequest, env: &Env, platform: &Platform) -> Vec<(String, Option<String>)> {
    let setting = request
        .setting
        .as_ref()
        .map(|path| path.display().to_string());
    let variables = cxx_names(platform)
        .into_iter()
        .chain(NVCC_VARIABLES.map(str::to_owned))
        .chain(["PATH".to_owned()])
        .map(|name| {
            let value = env
                .get(&name)
                .map(|value| value.to_string_lossy().into_owned());
            (name, value)
        });
    std::iter::once(("host-compiler".to_owned(), setting))
        .chain(variables)
        .collect()
}

fn version_of(path: &Path, variables: &[(String, String)]) -> Option<String> {
    let is_cl = msvc::is_cl(path);
    let command = match is_cl {
        // It says its version when it is given nothing to do.
        true => ToolCommand::new(path),
        false => ToolCommand::new(path).arg("--version"),
    };
    let command = variables
        .iter()
        .fold(command, |command, (name, value)| command.env(name, value));
    let output = command.output().ok()?;
    let text = match is_cl {
        true => output.stderr,
        false if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        false => return None,
    };
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_owned())
}

fn remedy(origin: &HostOrigin, platform: &Platform) -> String {
    match (origin, platform.os) {
        (HostOrigin::Setting, _) => "correct the setting `host-compiler`".to_owned(),
        (HostOrigin::Variable(name), _) => format!("correct or unset `{name}`"),
        (_, Os::Windows) => {
            "install Visual Studio's Build Tools with `Desktop development with C++`".to_owned()
        }
        (_, Os::MacOs) => "run `xcode-select --install`".to_owned(),
        (_, Os::Linux) => {
            "install g++ (Debian, Ubuntu: `apt install g++`; Fedora: `dnf install gcc-c++`; \
                           Arch: `pacman -S gcc`), or name one with the setting `host-compiler`"
                .to_owned()
        }
    }
}

impl fmt::Display for HostOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting => f.write_str("setting `host-compiler`"),
            Self::Variable(name) => f.write_str(name),
            Self::VisualStudio => f.write_str("Visual Studio"),
            Self::Default => f.write_str("nvcc's default, on PATH"),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
