//! Visual Studio's compiler, and the variables without which it finds neither headers nor its own parts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::toolchain::platform::{Os, Platform};

/// cl.exe as Visual Studio registers it.
pub(super) struct Msvc {
    pub(super) path: PathBuf,
    /// `INCLUDE`, `LIB`, `PATH`; none in a shell of Visual Studio, which has them.
    pub(super) variables: Vec<(String, String)>,
}

/// What looks for it, given the triple that is compiled for.
pub(super) type Finder<'a> = &'a dyn Fn(&str) -> Option<Msvc>;

/// Lets the `cc` crate look for it.
pub(super) fn find(triple: &str) -> Option<Msvc> {
    let tool = cc::Build::new()
        .cpp(true)
        .cargo_metadata(false)
        .cargo_warnings(false)
        .cargo_output(false)
        .target(triple)
        .host(triple)
        .opt_level(0)
        .try_get_compiler()
        .ok()?;
    let text = |value: &OsStr| value.to_string_lossy().into_owned();
    let variables = tool
        .get_envs()
        .map(|(name, value)| (text(name), text(value)));
    Some(Msvc {
        path: tool.path().to_owned(),
        variables: variables.collect(),
    })
}

/// What a compiler on Windows needs beside what Visual Studio said of it: its variables, where something else names a
/// cl.exe outside Visual Studio's shell, and a `PATH` without quotation marks, which some installers leave and which
/// break Visual Studio's scripts.
pub(super) fn complete(
    variables: &mut Vec<(String, String)>,
    path: &Path,
    env: &Env,
    platform: &Platform,
    finder: Finder<'_>,
) {
    if platform.os != Os::Windows {
        return;
    }
    if variables.is_empty() && is_cl(path) && env.get("INCLUDE").is_none() {
        let found = finder(&platform.triple());
        variables.extend(found.map(|it| it.variables).unwrap_or_default());
    }
    let is_path = |name: &str| name.eq_ignore_ascii_case("PATH");
    if !variables.iter().any(|(name, _)| is_path(name)) {
        let path = env.get("PATH").map(|path| path.to_string_lossy());
        variables.extend(path.map(|path| ("PATH".to_owned(), path.into_owned())));
        variables.retain(|(name, value)| !is_path(name) || value.contains('"'));
    }
    for (_, value) in variables.iter_mut().filter(|(name, _)| is_path(name)) {
        *value = value.replace('"', "");
    }
}

/// Whether a compiler is Visual Studio's.
pub(super) fn is_cl(path: &Path) -> bool {
    path.file_stem()
        .is_some_and(|stem| stem.eq_ignore_ascii_case("cl"))
}
