//! The driver for `build.rs`: one package, into `OUT_DIR`.

use std::path::{Path, PathBuf};

use crate::cargo::Directives;
use crate::config::{Config, Manifest, ManifestError, Profile};
use crate::diagnostic::Level;
use crate::discover::discover;
use crate::env::Env;
use crate::explain;
use crate::fs::{self, FsError};
use crate::headers;
use crate::host::{self, LinkError};
use crate::outline;
use crate::package::Package;
use crate::pipeline::{self, BuildError, Built, Depth, Failure};
use crate::pool::Tokens;
use crate::progress::Silent;
use crate::render::Render;
use crate::report::BINDINGS;
use crate::unit::is_killed;
use crate::vendor::{self, Stale, Vendored};

/// Builds the kernels of the package whose build script calls this, as its manifest configures them.
///
/// The whole of a build script is `fn main() { gpuk_build::main() }`. A failure is shown where the crate says
/// `gpuk::include_kernels!()`, in the compiler's own words.
pub fn main() {
    Build::new().run();
}

/// For build scripts that set things by themselves; what is set here goes over the manifest.
#[derive(Debug, Default)]
pub struct Build {
    archs: Vec<String>,
    flags: Vec<String>,
    include: Vec<PathBuf>,
}

/// A build script that cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Not run by cargo.
    #[error("`{0}` is not set: this belongs into a build script, which cargo runs")]
    NotCargo(&'static str),
    /// An architecture that is none.
    #[error("architecture {0}")]
    Arch(String),
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The kernels cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Host functions cannot be linked.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The wrappers or the failure's text cannot be written.
    #[error(transparent)]
    Fs(#[from] FsError),
}

impl Build {
    /// Nothing set yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles for this architecture; the first call takes the place of the manifest's list.
    #[must_use]
    pub fn arch(mut self, arch: impl Into<String>) -> Self {
        self.archs.push(arch.into());
        self
    }

    /// Passes a flag to nvcc, after the manifest's.
    #[must_use]
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Adds a folder for `#include`, absolute or relative to the package.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include.push(folder.into());
        self
    }

    /// Builds; a failure is left for `gpuk::include_kernels!()` to show, so that the build script succeeds
    /// and the error stands in the crate, where editors see it.
    pub fn run(self) {
        // Before anything opens a file: the jobserver is named by descriptors.
        let tokens = Tokens::of_cargo();
        let env = Env::of_process();
        let mut directives = Directives::default();
        let outcome = Script::new(&env).and_then(|script| {
            let mut watched = vec![script.manifest.clone()];
            let result = self.build(&script, &env, &tokens, &mut watched);
            let result = result.and_then(|built| {
                if let Some(toolkit) = &built.toolkit {
                    host::link(&built.report, &script.out, toolkit, &env, &mut directives)?;
                }
                Ok(built)
            });
            if let Some(folders) = headers::exported(&script.manifest) {
                directives.metadata(headers::KEY, &folders);
            }
            watched
                .iter()
                .for_each(|path| directives.rerun_if_changed(path));
            script.tell(&result, &mut directives)
        });
        for variable in env.read() {
            if !set_by_cargo(&variable) {
                directives.rerun_if_env_changed(&variable);
            }
        }
        directives.print();
        if let Err(error) = outcome {
            crate::cargo::abort(&error);
        }
    }

    /// Builds and returns what was made; tells cargo nothing.
    ///
    /// # Errors
    /// See [`ScriptError`].
    pub fn try_run(self) -> Result<Built, ScriptError> {
        let env = Env::of_process();
        let tokens = Tokens::of_machine();
        self.build(&Script::new(&env)?, &env, &tokens, &mut Vec::new())
    }

    /// Says in `watched` what the configuration was read from.
    fn build(
        self,
        script: &Script,
        env: &Env,
        tokens: &Tokens,
        watched: &mut Vec<PathBuf>,
    ) -> Result<Built, ScriptError> {
        let mut findings = Vec::new();
        let Script {
            manifest,
            out,
            profile,
        } = script;
        let mut package = Package::read(manifest, out.clone(), *profile, env, &mut findings)?;
        watched.clone_from(&package.manifests);
        let archs = match env.get("GPUK_ARCHS") {
            Some(list) => list
                .to_string_lossy()
                .split(',')
                .map(str::to_owned)
                .collect(),
            None => self.archs,
        };
        package
            .config
            .set_archs(&archs)
            .map_err(ScriptError::Arch)?;
        if package.config.archs.has_native() {
            // No file tells of another device: cargo runs the script again at each build.
            watched.push(out.join("never"));
        }
        package.config.flags.extend(self.flags);
        package.config.include.extend(self.include);
        if let Some(reason) = outline::reason(env) {
            return Ok(outline::build(&package, env, reason)?);
        }
        if let Some(vendored) = vendor::of(&package, env) {
            return taken(&package, vendored);
        }
        let is_wrong = findings.iter().any(|it| it.level == Level::Error);
        if !asks_for_kernels(&package.config) && !is_wrong {
            return Ok(pipeline::nothing(&package, findings)?);
        }
        headers::take(&mut package, env, &mut findings);
        let built = pipeline::build(&package, env, tokens, &Silent, Depth::Build, findings);
        Ok(built?)
    }
}

/// The package's own compiled kernels in place of a build.
fn taken(package: &Package, vendored: Result<Vendored, Box<Stale>>) -> Result<Built, ScriptError> {
    match vendored {
        Ok(vendored) => Ok(Built {
            report: vendored.install(package)?,
            fresh: false,
            toolkit: None,
        }),
        Err(stale) => {
            let folders = discover(package, &mut Vec::new()).map(|sources| sources.folders);
            let failure = Failure {
                findings: vec![stale.finding],
                files: stale.files,
                folders: folders.unwrap_or_default(),
            };
            Err(BuildError::Findings {
                failure: Box::new(failure),
            }
            .into())
        }
    }
}

/// What cargo says about the package and the place for results.
struct Script {
    manifest: PathBuf,
    out: PathBuf,
    profile: Profile,
}

impl Script {
    fn new(env: &Env) -> Result<Self, ScriptError> {
        let path = |name| env.path(name).ok_or(ScriptError::NotCargo(name));
        Ok(Self {
            manifest: path("CARGO_MANIFEST_DIR")?.join("Cargo.toml"),
            out: path("OUT_DIR")?.join("gpuk"),
            // Cargo tells a build script nothing of debug assertions but what the profile stems from.
            profile: match env.get("PROFILE").is_some_and(|profile| profile == "debug") {
                true => Profile::Dev,
                false => Profile::Release,
            },
        })
    }

    /// Whether kernels may come: see [`asks_for_kernels`].
    fn may_have_kernels(&self) -> bool {
        let read = Manifest::read(&self.manifest, self.profile, &mut Vec::new());
        read.is_ok_and(|manifest| asks_for_kernels(&manifest.config))
    }

    /// Turns the result into directives, and a failure into the text that the crate shows.
    fn tell(
        &self,
        result: &Result<Built, ScriptError>,
        directives: &mut Directives,
    ) -> Result<(), ScriptError> {
        let root = self.manifest.parent().unwrap_or(Path::new(""));
        directives.outcome(result.is_err());
        let (findings, files, folders): (&[_], &[_], &[_]) = match result {
            Ok(Built { report, .. }) => (&report.findings, &report.files, &report.folders),
            Err(ScriptError::Build(BuildError::Findings { failure })) => {
                (&failure.findings, &failure.files, &failure.folders)
            }
            Err(_) => (&[], &[], &[]),
        };
        let paths = files.iter().chain(folders).map(|path| root.join(path));
        // What this script itself wrote is newer than cargo's record of its run: it would run once more.
        for path in paths.filter(|path| !path.starts_with(&self.out)) {
            directives.rerun_if_changed(&path);
        }
        if files.is_empty() && result.is_ok() && self.may_have_kernels() {
            // The first kernel may come in a folder that does not exist yet.
            directives.rerun_if_changed(&self.out.join("never"));
        }
        findings
            .iter()
            .for_each(|finding| directives.warning(finding));
        if let Err(error) = result {
            let of_sources = matches!(error, ScriptError::Build(BuildError::Findings { .. }));
            if !of_sources || findings.iter().any(is_killed) {
                // What is missing may come from anywhere: cargo runs the script again at each build.
                directives.rerun_if_changed(&self.out.join("never"));
            }
            fs::create_dir(&self.out)?;
            fs::write(
                &self.out.join("errors.txt"),
                failure(error, root).as_bytes(),
            )?;
            // The last good wrappers keep the names resolved; without any, an empty file keeps the error the first.
            let bindings = self.out.join(BINDINGS);
            if !bindings.exists() {
                fs::write(&bindings, b"")?;
            }
        }
        Ok(())
    }
}

/// Whether there is a pattern of kernels at all: a package may export headers alone.
fn asks_for_kernels(config: &Config) -> bool {
    !config.kernels.is_empty() || !config.host_objects.is_empty()
}

/// The failure as the crate shows it.
fn failure(error: &ScriptError, root: &Path) -> String {
    let ScriptError::Build(BuildError::Findings { failure }) = error else {
        return crate::error::chain(error);
    };
    let mut render = Render::new(root, false);
    let errors = failure
        .findings
        .iter()
        .filter(|finding| finding.level == Level::Error);
    let mut drawn: Vec<_> = errors.clone().map(|finding| render.full(finding)).collect();
    drawn.extend(explain::pointer(
        &errors.filter_map(|finding| finding.code).collect(),
    ));
    format!("the kernels do not build\n\n{}", drawn.join("\n\n"))
}

/// Variables that cargo sets for every build script, and `PATH`, which editors change at will.
fn set_by_cargo(variable: &str) -> bool {
    variable.starts_with("CARGO_")
        || variable.starts_with("DEP_")
        || ["HOST", "OUT_DIR", "PROFILE", "PATH", "TARGET"].contains(&variable)
}
