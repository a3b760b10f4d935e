//! The configuration: what a package's manifest, the workspace's and the environment say.
//!
//! `[package.metadata.gpuk]` over `[workspace.metadata.gpuk]` over the defaults here; the environment and
//! the command line go over all of them. `manifest` finds the tables, `read` takes values out of them;
//! neither touches the kernels. `kernel` and `profile` are what can be set for one of either; `allowed` is read on
//! its own, for the simulator.

mod allowed;
mod arch;
mod archs;
mod driver;
mod engine;
mod instance;
mod kernel;
mod manifest;
mod memory;
mod nearest;
mod profile;
mod read;
mod tables;
mod variable;
mod wrapper;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use allowed::Allowed;
pub use arch::Arch;
pub use archs::{ArchSetting, Archs};
pub use driver::MinimumDriver;
pub use engine::Engine;
pub use instance::Instantiation;
pub(crate) use kernel::ALLOWABLE;
pub use kernel::{KernelConfig, Signature, TrapMode};
pub(crate) use manifest::is_published;
pub use manifest::{Manifest, ManifestError};
pub use memory::Memory;
pub use nearest::nearest;
pub use profile::{Profile, ProfileError};
pub(crate) use tables::Tables;
pub use wrapper::{NoWrapper, Wrapper, WrapperOrigin};

use crate::diagnostic::{Code, Diagnostic};
use crate::env::Env;

/// Everything that can be set, with its defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// `kernels`: patterns of the sources, relative to the package.
    pub kernels: Vec<Pattern>,
    /// `host-objects`: patterns of sources whose host functions are compiled, linked and declared, relative to the package.
    pub host_objects: Vec<Pattern>,
    /// `exclude`: patterns of files that are not sources of their own.
    pub exclude: Vec<Pattern>,
    /// `archs`: what to compile for, lowest first; `all-major` and `native` stand for several.
    pub archs: Archs,
    /// `minimum-driver`: the oldest driver to run on: the version of CUDA that it is for, or its own.
    pub minimum_driver: Option<MinimumDriver>,
    /// `include`: folders for `#include`, relative to the package.
    pub include: Vec<PathBuf>,
    /// `include-from`: what dependencies say under `links` whose exported folders are searched too.
    pub include_from: Vec<String>,
    /// `export-include`: folders of headers for packages that depend on this one, relative to the package.
    pub export_include: Vec<PathBuf>,
    /// `flags`: passed on to nvcc.
    pub flags: Vec<String>,
    /// `instantiate`: instances of kernel templates to make in every source that defines the template.
    pub instantiate: Vec<Instantiation>,
    /// `cuda`: the toolkit's version, `major.minor`.
    pub cuda: Option<String>,
    /// `toolkit`: a toolkit's folder.
    pub toolkit: Option<PathBuf>,
    /// `host-compiler`: the C++ compiler that nvcc works with.
    pub host_compiler: Option<PathBuf>,
    /// `engine`: how much of the headers the compiler reads.
    pub engine: Engine,
    /// `wrapper`: what the device compilers are run through: `sccache`.
    pub wrapper: Option<Wrapper>,
    /// `memory`: how much memory compilers that run at once may take, such as `8GiB`, or `none` for any amount; what the machine has left if not set.
    pub memory: Option<Memory>,
    /// `checks`: what becomes of a check.
    pub checks: CheckMode,
    /// `debug-checks`: whether debug checks exist; follows the profile's debug assertions if not set.
    pub debug_checks: Option<bool>,
    /// `line-info`: whether kernels carry line information, as `-lineinfo` makes it; follows the profile's debug
    /// assertions if not set.
    pub line_info: Option<bool>,
    /// `split-compile`: whether the compilers optimize the kernels of a source side by side, in four threads, from CUDA 13.0 on.
    pub split_compile: bool,
    /// `traps`: what becomes of a `trap` that belongs to no `assert`; kept with a warning if not set.
    pub traps: Option<TrapMode>,
    /// `profile.NAME`: `checks`, `debug-checks`, `engine`, `line-info`, `split-compile` and `traps` where the profile stems from `dev` or `release`.
    pub profile: Profile,
    /// `profile.NAME.flags`: passed on to nvcc behind `flags`.
    pub added_flags: Vec<String>,
    /// `link.NAME`: patterns of sources that are compiled apart and linked into one module of that name.
    pub link: BTreeMap<String, Vec<Pattern>>,
    /// `kernel.NAME`: what is set for one kernel.
    pub kernel: BTreeMap<String, KernelConfig>,
}

impl Default for Config {
    fn default() -> Self {
        let patterns = [
            "kernels/**/*.cu",
            "kernels/**/*.ptx",
            "src/**/*.cu",
            "src/**/*.ptx",
        ];
        Self {
            kernels: patterns.map(Pattern::assumed).to_vec(),
            host_objects: Vec::new(),
            exclude: Vec::new(),
            archs: Archs::default(),
            minimum_driver: None,
            include: Vec::new(),
            include_from: Vec::new(),
            export_include: Vec::new(),
            flags: Vec::new(),
            instantiate: Vec::new(),
            cuda: None,
            toolkit: None,
            host_compiler: None,
            engine: Engine::Auto,
            wrapper: None,
            memory: None,
            checks: CheckMode::Functional,
            debug_checks: None,
            line_info: None,
            split_compile: true,
            traps: None,
            profile: Profile::Dev,
            added_flags: Vec::new(),
            link: BTreeMap::new(),
            kernel: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Puts `GPUK_DEBUG_CHECKS` over all that the manifests say of debug checks.
    pub(crate) fn take_environment(&mut self, env: &Env, findings: &mut Vec<Diagnostic>) {
        const VARIABLE: &str = "GPUK_DEBUG_CHECKS";
        let value = env.get(VARIABLE).map(|value| value.to_string_lossy());
        let on = match value.as_deref() {
            None => return,
            Some("0") => false,
            Some("1") => true,
            Some(other) => {
                let message = format!("`{VARIABLE}` is `{other}`, not `0` or `1`");
                return findings.push(Diagnostic::error(Code::BAD_VALUE, message).help(
                    "set it to `0` or `1`, or unset it: then the manifest and the profile decide",
                ));
            }
        };
        self.debug_checks = Some(on);
        for kernel in self.kernel.values_mut() {
            kernel.debug_checks = None;
        }
    }

    /// Puts architectures over the configured ones; none leave those as they are.
    ///
    /// # Errors
    /// One is no architecture.
    pub fn set_archs(&mut self, archs: &[String]) -> Result<(), String> {
        // As an empty variable counts as not set.
        let archs: Vec<_> = archs
            .iter()
            .filter(|arch| !arch.trim().is_empty())
            .collect();
        if archs.is_empty() {
            return Ok(());
        }
        let read = |arch: &String| {
            arch.parse::<ArchSetting>()
                .map_err(|expected| format!("`{arch}` is not {expected}"))
        };
        self.archs = archs.into_iter().map(read).collect::<Result<_, String>>()?;
        Ok(())
    }
}

/// A pattern of files: `*` and `?` within a path's component, `**` over any number of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// As written.
    pub text: String,
    /// Whether a user wrote it; one that matches nothing is then worth a warning.
    pub written: bool,
}

impl Pattern {
    fn assumed(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            written: false,
        }
    }

    /// Whether a path, its components joined by `/`, matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let pattern: Vec<_> = self.text.split('/').filter(|part| *part != ".").collect();
        let path: Vec<_> = path.split('/').collect();
        components_match(&pattern, &path)
    }
}

fn components_match(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            (0..=path.len()).any(|skipped| components_match(rest, &path[skipped..]))
        }
        (Some((first, pattern)), Some((name, path))) => {
            component_matches(first.as_bytes(), name.as_bytes()) && components_match(pattern, path)
        }
        _ => false,
    }
}

/// `*` and `?` in one component, without backtracking further than the last star.
fn component_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// What becomes of a failed check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckMode {
    /// It comes back as a value.
    Functional,
    /// It ends the context, as the driver's own `assert` does.
    Trap,
    /// Checks may not exist.
    Off,
}

impl FromStr for CheckMode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "functional" => Ok(Self::Functional),
            "trap" => Ok(Self::Trap),
            "off" => Ok(Self::Off),
            _ => Err("`functional`, `trap` or `off`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_components() {
        let yes = [
            ("kernels/**/*.cu", "kernels/a.cu"),
            ("kernels/**/*.cu", "kernels/x/y/a.cu"),
            ("./kernels/*.cu", "kernels/a.cu"),
            ("**/moe_*.cu", "src/moe/moe_gguf.cu"),
            ("a?c.cu", "abc.cu"),
            ("a*b*c", "aXbYbc"),
            ("../shared/*.cu", "../shared/k.cu"),
        ];
        for (pattern, path) in yes {
            assert!(Pattern::assumed(pattern).matches(path), "{pattern} {path}");
        }
        let no = [
            ("kernels/*.cu", "kernels/x/a.cu"),
            ("*.cu", "a.cuh"),
            ("a?c.cu", "ac.cu"),
            ("**/*.cu", "a.ptx"),
        ];
        for (pattern, path) in no {
            assert!(!Pattern::assumed(pattern).matches(path), "{pattern} {path}");
        }
    }
}
