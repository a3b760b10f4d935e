//! The compiler of one build: found once, its recipes kept, so that a build with nothing to do starts no
//! process.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use gpuk_device::driver::DriverVersion;
use serde::{Deserialize, Serialize};

use crate::archs::{self, Targets};
use crate::config::{Arch, MinimumDriver, NoWrapper, Wrapper};
use crate::diagnostic::{Code, Diagnostic};
use crate::env::Env;
use crate::fs::{self, FsError};
use crate::package::Package;
use crate::run::{ToolCommand, ToolError};
use crate::store::{sealed, unsealed};
use crate::toolchain::host::{self, HostCompiler, HostRequest, NoHostCompiler};
use crate::toolchain::recipe::{Recipe, RecipeError};
use crate::toolchain::version::Version;
use crate::toolchain::{self, NotFound, Platform, Toolchain};

/// A compiler, its host compiler, and how they are run for each architecture of a package.
#[derive(Debug)]
pub(crate) struct Tools {
    toolchain: Toolchain,
    host: HostCompiler,
    /// What is compiled for.
    targets: Targets,
    recipes: BTreeMap<Arch, Recipe>,
    /// The same, for sources whose functions others may call.
    relocatable: BTreeMap<Arch, Recipe>,
    /// What the compilers are run through.
    wrapper: Option<Wrapper>,
}

/// How many recipes of earlier builds are kept.
const KEPT: usize = 32;

/// What was found for the last build.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Known {
    toolchain: Option<Toolchain>,
    host: Option<HostCompiler>,
    /// The toolchain's own list of architectures, once it was asked for.
    #[serde(default)]
    archs: Vec<String>,
    /// By everything that nvcc's answer depends on.
    recipes: BTreeMap<String, Recipe>,
}

/// No compiler, or one that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// No CUDA compiler; the places that were looked at are in the text.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// No host compiler.
    #[error(transparent)]
    Host(#[from] NoHostCompiler),
    /// The program that the compilers are to be run through is not there.
    #[error(transparent)]
    Wrapper(#[from] NoWrapper),
    /// nvcc cannot be run with these flags, or not for an architecture.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// nvcc does not know an architecture.
    #[error("CUDA {version} does not compile for `{}`", arch.sm())]
    Arch {
        /// The architecture.
        arch: Arch,
        /// The toolkit's version.
        version: Version,
        /// What it compiles for.
        known: Vec<String>,
    },
    /// `native` is asked for where there is no device.
    #[error("`native` is asked for, and no device is found")]
    NoDevice,
    /// nvcc does not say what it compiles for.
    #[error("nvcc does not list its architectures")]
    Silent(#[source] ToolError),
    /// A file could not be written.
    #[error(transparent)]
    Fs(#[from] FsError),
}

impl ToolsError {
    /// The error as a finding about the configuration, where it is one.
    pub(crate) fn finding(&self) -> Option<Diagnostic> {
        match self {
            Self::Arch { known, .. } => {
                let finding = Diagnostic::error(Code::UNKNOWN_ARCH, self.to_string());
                Some(finding.help(format!("set `archs` to some of {}", known.join(", "))))
            }
            Self::NoDevice => {
                let finding = Diagnostic::error(Code::NO_NATIVE_DEVICE, self.to_string());
                let finding = finding.note(
                    "the driver was asked through the toolkit's `__nvcc_device_query`, then `nvidia-smi`",
                );
                Some(finding.help("name architectures in `archs`, such as \"80\", or `all-major`"))
            }
            Self::Recipe(RecipeError::Flag(error)) => {
                let finding = Diagnostic::error(Code::BAD_FLAG, error.to_string());
                Some(finding.note("set by `flags`"))
            }
            Self::Recipe(RecipeError::Nvcc(error)) => {
                let finding = Diagnostic::error(Code::BAD_FLAG, "nvcc does not accept the flags");
                Some(finding.note(error.to_string()))
            }
            Self::Recipe(error @ (RecipeError::Step(_) | RecipeError::Answer { .. })) => {
                let message = error.to_string();
                let message = message.lines().next().unwrap_or_default();
                let finding = Diagnostic::error(Code::BAD_FLAG, message);
                Some(finding.help("leave out the flags of `flags` that change what nvcc runs"))
            }
            _ => None,
        }
    }
}

impl Tools {
    /// Finds the compilers and their recipes for a package.
    pub(crate) fn ready(package: &Package, env: &Env) -> Result<Self, ToolsError> {
        package.write_header()?;
        let (tools, known) = Self::find(package, env)?;
        fs::write(&kept(package), &sealed(&known))?;
        Ok(tools)
    }

    /// The same, and nothing is written.
    pub(crate) fn found(package: &Package, env: &Env) -> Result<Self, ToolsError> {
        Self::find(package, env).map(|(tools, _)| tools)
    }

    fn find(package: &Package, env: &Env) -> Result<(Self, Known), ToolsError> {
        let wrapper = package.config.wrapper.clone();
        if let Some(wrapper) = &wrapper {
            wrapper.find(env, &Platform::host())?;
        }
        let known: Known = unsealed(&kept(package)).unwrap_or_default();
        let toolchain = toolchain::find(&package.toolchain(known.toolchain.clone()), env)?;
        let request = HostRequest {
            setting: package.config.host_compiler.clone(),
            known: known.host,
        };
        let host = host::find(&request, env)?;

        let mut listed = match known.toolchain.as_ref() == Some(&toolchain) {
            true => known.archs,
            false => Vec::new(),
        };
        let targets = archs::targets(&package.config.archs, &toolchain, env, || {
            if listed.is_empty() {
                listed = toolchain.archs().map_err(ToolsError::Silent)?;
            }
            Ok(listed.clone())
        })?;

        let mut flags = package.flags();
        // Only what gpuk preprocesses has annotations in it, which it takes out again.
        flags.push("-DGPUK_ANNOTATIONS=1".into());
        flags.extend(
            package
                .split_compile(toolchain.version, env)
                .map(Into::into),
        );
        let recipe_of = |arch: Arch| {
            let key = Recipe::key(&toolchain, &flags, &arch.sm(), &host, env)?;
            let recipe = match known.recipes.get(&key) {
                Some(recipe) => recipe.clone(),
                None => Recipe::of(&toolchain, &flags, &arch.sm(), &host, env)
                    .map_err(|error| of_arch(error, arch, &toolchain))?,
            };
            Ok::<_, ToolsError>((key, recipe))
        };
        // Each asks nvcc, which takes its time.
        let found = std::thread::scope(|scope| {
            let archs = targets.archs.iter();
            let asked: Vec<_> = archs.map(|arch| scope.spawn(|| recipe_of(*arch))).collect();
            let answers = asked.into_iter().map(|it| it.join());
            answers
                .map(|it| it.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let mut keyed = BTreeMap::new();
        let mut recipes = BTreeMap::new();
        for (arch, (key, recipe)) in targets.archs.iter().zip(found) {
            keyed.insert(key, recipe.clone());
            recipes.insert(*arch, recipe);
        }
        // Those of other profiles and architectures are wanted again.
        let earlier = known.recipes.into_iter();
        for (key, recipe) in earlier.take(KEPT) {
            keyed.entry(key).or_insert(recipe);
        }
        let known = Known {
            toolchain: Some(toolchain.clone()),
            host: Some(host.clone()),
            archs: listed,
            recipes: keyed,
        };
        let relocatable = recipes.iter().map(|(arch, it)| (*arch, it.relocatable()));
        let tools = Self {
            toolchain,
            host,
            targets,
            relocatable: relocatable.collect(),
            recipes,
            wrapper,
        };
        Ok((tools, known))
    }

    /// What is compiled for, lowest first.
    pub(crate) fn archs(&self) -> &[Arch] {
        &self.targets.archs
    }

    /// How to compile for an architecture of the package, a source that is linked with others or one by itself.
    pub(crate) fn recipe(&self, arch: Arch, linked: bool) -> Result<&Recipe, RecipeError> {
        let recipe = self.recipes(linked).get(&arch);
        recipe.ok_or_else(|| RecipeError::Arch(arch.sm()))
    }

    fn recipes(&self, linked: bool) -> &BTreeMap<Arch, Recipe> {
        match linked {
            true => &self.relocatable,
            false => &self.recipes,
        }
    }

    /// What a preprocessed text depends on beside what it reads, and all that is made of it.
    pub(crate) fn identity(&self, arch: Arch, linked: bool) -> String {
        let recipe = self.recipes(linked).get(&arch);
        recipe.map(Recipe::identity).unwrap_or_default()
    }

    /// What a result depends on beside the preprocessed text.
    pub(crate) fn identity_behind(&self, arch: Arch, linked: bool) -> String {
        let recipe = self.recipes(linked).get(&arch);
        recipe.map(Recipe::identity_behind).unwrap_or_default()
    }

    /// The command of a device compiler, run through the wrapper if there is one.
    pub(crate) fn wrapped(&self, mut command: ToolCommand) -> ToolCommand {
        if let Some(wrapper) = &self.wrapper {
            let program = std::mem::replace(&mut command.program, wrapper.program.clone());
            command.args.insert(0, program.into());
        }
        command
    }

    /// What the preprocessor, which is the host compiler's, says its version is.
    pub(crate) fn host_version(&self) -> &str {
        &self.host.version
    }

    /// What an object of host functions depends on beside what it reads and the flags as written.
    pub(crate) fn host_identity(&self) -> String {
        let of_archs = self.recipes.values().map(Recipe::identity_behind);
        of_archs.collect::<Vec<_>>().join("\n")
    }

    /// nvcc as it compiles host functions: for every architecture of a package, and newer devices.
    pub(crate) fn nvcc(&self, package: &Package) -> ToolCommand {
        let mut command = ToolCommand::new(&self.toolchain.nvcc);
        for (nth, arch) in self.archs().iter().enumerate() {
            command = command.arg(format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
            if nth == 0 && arch.is_forward() || self.targets.newest == Some(*arch) {
                command = command.arg(format!("-gencode=arch=compute_{arch},code=compute_{arch}"));
            }
        }
        if let Some(ccbin) = &self.host.ccbin {
            command = command.arg("-ccbin").arg(ccbin);
        }
        if cfg!(unix) {
            // Rust links position-independent programs.
            command = command.arg("-Xcompiler=-fPIC");
        }
        for (name, value) in &self.host.env {
            command = command.env(name, value);
        }
        // nvcc takes an empty one for a compiler without a name.
        command
            .env("NVCC_CCBIN", &self.host.path)
            .args(package.flags())
    }

    /// The host compiler.
    pub(crate) fn host(&self) -> &HostCompiler {
        &self.host
    }

    /// The oldest driver that runs the toolkit's cubins.
    pub(crate) fn cubin_driver(&self) -> DriverVersion {
        DriverVersion::of_cubin(self.toolchain.version.major)
    }

    /// Whether the PTX for an architecture is shipped in any case: it is the newest of `all-major`, or a driver is stated that
    /// runs none of the toolkit's cubins.
    pub(crate) fn ships_ptx(&self, arch: Arch, stated: Option<MinimumDriver>) -> bool {
        let runs_cubins = stated.is_none_or(|stated| stated.version() >= self.cubin_driver());
        !runs_cubins || self.targets.newest == Some(arch)
    }

    /// The toolkit's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.toolchain.root
    }

    /// The toolkit's folders of headers, and its own.
    pub(crate) fn own_folders(&self) -> impl Iterator<Item = &Path> {
        let own = self.toolchain.includes.iter().chain([&self.toolchain.root]);
        own.map(PathBuf::as_path)
    }

    /// Whether a file belongs to the toolkit, for which its identity stands.
    pub(crate) fn is_own_header(&self, path: &Path) -> bool {
        let mut own = self.own_folders();
        own.any(|folder| path.starts_with(folder))
    }
}

/// The file of what was found for the last build.
fn kept(package: &Package) -> PathBuf {
    package.out.join("tools.json")
}

/// Tells an architecture that nvcc does not know from other things that it does not accept.
fn of_arch(error: RecipeError, arch: Arch, toolchain: &Toolchain) -> ToolsError {
    let unknown = matches!(
        &error,
        RecipeError::Nvcc(ToolError::Failed { stderr, .. }) if stderr.contains("gpu architecture")
    );
    match unknown {
        true => ToolsError::Arch {
            arch,
            version: toolchain.version,
            known: toolchain.assembles(),
        },
        false => error.into(),
    }
}
