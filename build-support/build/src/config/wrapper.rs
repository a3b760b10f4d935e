//! `wrapper`: what the device compilers are run through, and who says so.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Config;
use crate::diagnostic::Place;
use crate::env::Env;
use crate::toolchain::Platform;
use crate::toolchain::platform::is_executable;

/// A program such as sccache, which is given a compiler's command as its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapper {
    /// The program: an absolute path, or a name that is looked up on `PATH`.
    pub program: PathBuf,
    /// Who names it.
    pub origin: WrapperOrigin,
}

/// Who names a wrapper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrapperOrigin {
    /// The setting `wrapper`, where it stands.
    Setting(Place),
    /// A variable, by its name.
    Variable(String),
}

/// The program is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no program `{}`, which {} names as the compilers' wrapper\n  {}", .0.program.display(), .0.origin, .0.remedy())]
pub struct NoWrapper(pub Wrapper);

impl Wrapper {
    /// The one that variables name: `GPUK_WRAPPER`, and after the manifests `RUSTC_WRAPPER`, if it is one that knows the
    /// device compilers. `none` is told as a program of that name.
    fn of(variable: &str, env: &Env) -> Option<Self> {
        let program = env.path(variable)?;
        // Compilers run in the package's folder.
        let program = match program.components().count() {
            1 => program,
            _ => std::path::absolute(&program).unwrap_or(program),
        };
        Some(Self {
            program,
            origin: WrapperOrigin::Variable(variable.to_owned()),
        })
    }

    /// What the environment alone asks for.
    pub(crate) fn of_environment(env: &Env) -> Option<Self> {
        let mut config = Config::default();
        config.take_wrapper(env);
        config.wrapper
    }

    /// The file that will run.
    ///
    /// # Errors
    /// There is none that can be run.
    pub(crate) fn find(&self, env: &Env, platform: &Platform) -> Result<PathBuf, NoWrapper> {
        let found = match (self.program.components().count(), self.program.to_str()) {
            (1, Some(name)) => platform.on_path(name, env),
            _ => is_executable(&self.program).then(|| self.program.clone()),
        };
        found.ok_or_else(|| NoWrapper(self.clone()))
    }

    /// What to do where it is not there.
    pub(crate) fn remedy(&self) -> String {
        match &self.origin {
            WrapperOrigin::Setting(_) => {
                "name one that is there, or write `wrapper = \"none\"`, or set `GPUK_WRAPPER=none` for this machine"
                    .to_owned()
            }
            WrapperOrigin::Variable(name) if name == "GPUK_WRAPPER" => {
                "correct or unset `GPUK_WRAPPER`, or set it to `none`".to_owned()
            }
            WrapperOrigin::Variable(name) => format!(
                "correct or unset `{name}`, or write `wrapper = \"none\"` under `[package.metadata.gpuk]`"
            ),
        }
    }

    fn is_none(&self) -> bool {
        self.program == Path::new("none")
    }
}

impl fmt::Display for WrapperOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(place) => write!(f, "the setting `wrapper` at {place}"),
            Self::Variable(name) => write!(f, "`{name}`"),
        }
    }
}

impl Config {
    /// Puts `GPUK_WRAPPER` over what the manifests say, and takes `RUSTC_WRAPPER` where nobody says anything, if it is one
    /// that knows the device compilers.
    pub(crate) fn take_wrapper(&mut self, env: &Env) {
        let of_rustc = || {
            let wrapper = Wrapper::of("RUSTC_WRAPPER", env)?;
            let stem = wrapper.program.file_stem();
            stem.is_some_and(|stem| stem == "sccache")
                .then_some(wrapper)
        };
        let wrapper = Wrapper::of("GPUK_WRAPPER", env).or_else(|| self.wrapper.take());
        self.wrapper = wrapper.or_else(of_rustc).filter(|it| !it.is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(set: Option<&str>) -> Config {
        Config {
            wrapper: set.map(|program| Wrapper {
                program: program.into(),
                origin: WrapperOrigin::Setting(Place::line("/w/Cargo.toml", 9)),
            }),
            ..Config::default()
        }
    }

    #[test]
    fn the_environment_goes_over_the_manifest() {
        let wrapper = |set: Option<&str>, pairs: &[(&str, &str)]| {
            let mut config = config(set);
            config.take_wrapper(&Env::from_pairs(pairs.iter().copied()));
            let wrapper = config.wrapper?;
            Some(format!("{} {}", wrapper.program.display(), wrapper.origin))
        };
        let (gpuk, rustc) = (("GPUK_WRAPPER", "/x/own"), ("RUSTC_WRAPPER", "/x/sccache"));
        let of = |set, pairs: &[_]| wrapper(set, pairs).unwrap();
        assert_eq!(of(Some("set"), &[gpuk, rustc]), "/x/own `GPUK_WRAPPER`");
        assert_eq!(
            of(Some("set"), &[rustc]),
            "set the setting `wrapper` at /w/Cargo.toml:9"
        );
        assert_eq!(of(None, &[rustc]), "/x/sccache `RUSTC_WRAPPER`");
        assert_eq!(wrapper(None, &[("RUSTC_WRAPPER", "/x/other")]), None);
        assert_eq!(wrapper(Some("none"), &[rustc]), None);
        assert_eq!(wrapper(Some("set"), &[("GPUK_WRAPPER", "none")]), None);
    }

    #[test]
    #[cfg(unix)]
    fn a_program_is_one_that_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, "").unwrap();
        let on_path = folder.path().display().to_string();
        let env = Env::from_pairs([("PATH", on_path.as_str())]);
        let find = |program: &str| {
            let wrapper = config(Some(program)).wrapper.unwrap();
            wrapper.find(&env, &Platform::host())
        };
        let text = file.display().to_string();
        assert!(find(&text).is_err() && find("text").is_err());
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).unwrap();
        assert_eq!(find(&text).unwrap(), file);
        assert_eq!(find("text").unwrap(), file);
        assert_eq!(
            find("/no/such/sccache").unwrap_err().to_string(),
            "there is no program `/no/such/sccache`, which the setting `wrapper` at /w/Cargo.toml:9 names as the \
             compilers' wrapper\n  name one that is there, or write `wrapper = \"none\"`, or set `GPUK_WRAPPER=none` \
             for this machine"
        );
    }
}
