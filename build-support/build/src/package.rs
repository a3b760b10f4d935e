//! The package whose kernels are built: who it is, where it lies, how it is configured.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::config::{CheckMode, Config, Manifest, ManifestError, Profile, TrapMode};
use crate::diagnostic::{Code, Diagnostic};
use crate::env::Env;
use crate::folders;
use crate::fs::{self, FsError};
use crate::headers;
use crate::store::LIMIT;
use crate::toolchain::{Request, Toolchain, Version};

/// Flags that leave out all optimization, and have line information among what they make.
const DEBUG: [&str; 2] = ["-G", "--device-debug"];

/// Flags for line information.
const LINE_INFO: [&str; 2] = ["-lineinfo", "--generate-line-info"];

/// A package with its configuration, ready to be built.
#[derive(Debug, Clone)]
pub struct Package {
    /// As cargo knows it.
    pub name: String,
    /// The folder of its manifest; sources and findings are named relative to it.
    pub root: PathBuf,
    /// Every manifest that the configuration was read from.
    pub manifests: Vec<PathBuf>,
    /// The configuration, defaults filled in.
    pub config: Config,
    /// Folders of headers that dependencies export, absolute; see [`crate::headers`].
    pub headers: Vec<PathBuf>,
    /// The folder that cargo gives a build script for what it generates, where one builds.
    pub generated: Option<PathBuf>,
    /// Where results go; but for the store, nothing is written elsewhere.
    pub out: PathBuf,
    /// Where compiled units are kept.
    pub store: StoreFolder,
}

/// Where a store lies, and how large it may get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFolder {
    /// Its folder.
    pub folder: PathBuf,
    /// Bytes that its units may take together.
    pub limit: u64,
}

impl StoreFolder {
    /// `GPUK_STORE` and `GPUK_STORE_MIB`, else [`Self::NAME`] in the folder that cargo builds in, which `CACHEDIR.TAG`
    /// marks as such, else in the folder of the results.
    fn new(env: &Env, out: &Path, findings: &mut Vec<Diagnostic>) -> Self {
        const FOLDER: &str = "GPUK_STORE";
        const SIZE: &str = "GPUK_STORE_MIB";
        let cargos = out
            .ancestors()
            .find(|folder| folder.join("CACHEDIR.TAG").is_file());
        let named = env.path(FOLDER);
        if let Some(named) = named.as_ref().filter(|named| !named.is_absolute()) {
            // Each package's build script runs in a folder of its own.
            let message = format!("`{FOLDER}` is `{}`, not an absolute path", named.display());
            findings.push(
                Diagnostic::error(Code::BAD_VALUE, message)
                    .help("name the folder from the root, or unset it"),
            );
        }
        let folder = named.or_else(|| Some(cargos?.join(Self::NAME)));
        let limit = env
            .get(SIZE)
            .map(|text| text.to_string_lossy().into_owned());
        let limit = limit.map_or(Some(LIMIT), |text| {
            let limit = text
                .parse()
                .ok()
                .and_then(|mib: u64| mib.checked_mul(1 << 20));
            if limit.is_none() {
                let message = format!("`{SIZE}` is `{text}`, not a number of mebibytes");
                findings.push(
                    Diagnostic::error(Code::BAD_VALUE, message)
                        .help("set it to a number such as `1024`, or unset it"),
                );
            }
            limit
        });
        Self {
            folder: folder.unwrap_or_else(|| out.join("store")),
            limit: limit.unwrap_or(LIMIT),
        }
    }

    /// Of a workspace's own store, in cargo's folder.
    pub const NAME: &str = "gpuk/.store";
}

impl Package {
    /// Reads the package at `manifest`, and `GPUK_DEBUG_CHECKS`; what is wrong in them goes to `findings`.
    ///
    /// # Errors
    /// A manifest cannot be read or is not TOML.
    pub fn read(
        manifest: &Path,
        out: PathBuf,
        profile: Profile,
        env: &Env,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Self, ManifestError> {
        let manifest = std::path::absolute(manifest).map_err(|source| FsError {
            action: "find",
            path: manifest.to_owned(),
            source,
        })?;
        let root = manifest.parent().map(Path::to_owned).unwrap_or_default();
        let Manifest {
            name,
            links,
            read,
            mut config,
            ..
        } = Manifest::read(&manifest, profile, findings)?;
        findings.extend(headers::unlinked(&config, links.as_deref()));
        config.take_environment(env, findings);
        config.take_engine(env, findings);
        config.take_wrapper(env);
        config.take_memory(env, findings);
        let store = StoreFolder::new(env, &out, findings);
        Ok(Self {
            store,
            name,
            root,
            manifests: read,
            config,
            headers: Vec::new(),
            generated: env.path("OUT_DIR").filter(|folder| out.starts_with(folder)),
            out,
        })
    }

    /// Which toolchain its settings ask for; `known` is what was found before.
    #[must_use]
    pub fn toolchain(&self, known: Option<Toolchain>) -> Request {
        let cuda = self.config.cuda.as_deref();
        Request {
            toolkit: self.config.toolkit.clone(),
            cuda: cuda.and_then(|version| version.parse().ok()),
            known: known.into_iter().collect(),
        }
    }

    /// Writes `gpuk.cuh` where [`Self::flags`] lets `#include` find it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_header(&self) -> Result<(), FsError> {
        let folder = self.include();
        fs::create_dir(&folder)?;
        let header = folder.join(gpuk_device::HEADER_NAME);
        fs::write(&header, gpuk_device::HEADER.as_bytes()).map(drop)
    }

    /// Whether a file is made by the build, and lies where cargo has it lie.
    pub(crate) fn is_made(&self, path: &Path) -> bool {
        path.starts_with(self.generated.as_ref().unwrap_or(&self.out))
    }

    /// The folder of `gpuk.cuh`.
    pub(crate) fn include(&self) -> PathBuf {
        self.out.join("include")
    }

    /// The folders that are searched for headers, as a compiler that runs in the package's folder finds them.
    pub(crate) fn searched(&self) -> Vec<PathBuf> {
        let folders = self.config.include.iter().chain(&self.headers);
        folders.map(|it| folders::searched(self, it)).collect()
    }

    /// What nvcc is given, the architecture left out; it runs in the package's folder.
    #[must_use]
    pub fn flags(&self) -> Vec<OsString> {
        let config = &self.config;
        let mut flags: Vec<OsString> = config.flags.iter().map(OsString::from).collect();
        for folder in self.searched().into_iter().chain([self.include()]) {
            flags.extend([OsString::from("-I"), folder.into_os_string()]);
        }
        if self.line_info() {
            flags.push("-lineinfo".into());
        }
        if self.compiles_debug_checks() {
            flags.push("-DGPUK_DEBUG_CHECKS=1".into());
        }
        if config.checks == CheckMode::Trap {
            flags.push("-DGPUK_CHECK_TRAP=1".into());
        }
        flags
    }

    /// Whether debug checks are compiled: some kernel has them.
    #[must_use]
    pub fn compiles_debug_checks(&self) -> bool {
        let mut kernels = self.config.kernel.values();
        self.debug_checks() || kernels.any(|kernel| kernel.debug_checks == Some(true))
    }

    /// Whether kernels of which nothing is said have debug checks: the setting, else like `debug_assert!`.
    pub(crate) fn debug_checks(&self) -> bool {
        let by_profile = self.config.profile == Profile::Dev;
        self.config.debug_checks.unwrap_or(by_profile)
    }

    /// Whether kernels carry line information: the setting, else where debug assertions are. It changes no
    /// instruction; what the flags ask for in any case is not asked for twice.
    pub(crate) fn line_info(&self) -> bool {
        let asks = |flag: &str| LINE_INFO.contains(&flag) || DEBUG.contains(&flag);
        let asked = |flag: &String| asks(flag);
        let by_profile = self.config.profile == Profile::Dev;
        self.config.line_info.unwrap_or(by_profile) && !self.config.flags.iter().any(asked)
    }

    /// The flag for nvcc that has its compilers optimize kernels side by side; `None` where the settings, the flags, nvcc's
    /// own variables or the toolkit are against it. Kernels are the same for every number from 2 on, but the cubin names it, so it is one number on all
    /// machines. Older toolkits have not been tried.
    pub(crate) fn split_compile(&self, toolkit: Version, env: &Env) -> Option<&'static str> {
        let against = |flag: &str| flag.contains("split-compile") || DEBUG.contains(&flag);
        let in_variable = |name: &&str| {
            let flags = env.get(name).unwrap_or_default().to_string_lossy();
            flags.split_whitespace().any(against)
        };
        let variables = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"];
        let flags = self.config.flags.iter();
        let tried = toolkit.major >= 13;
        let wanted = self.config.split_compile
            && !flags.map(String::as_str).any(against)
            && !variables.iter().any(in_variable);
        (tried && wanted).then_some("-split-compile=4")
    }

    /// Whether a kernel has debug checks.
    #[must_use]
    pub fn has_debug_checks(&self, kernel: &str) -> bool {
        let own = self.config.kernel.get(kernel);
        own.and_then(|own| own.debug_checks)
            .unwrap_or_else(|| self.debug_checks())
    }

    /// The check mode of one kernel.
    #[must_use]
    pub fn check_mode(&self, kernel: &str) -> CheckMode {
        let own = self.config.kernel.get(kernel);
        own.and_then(|own| own.checks).unwrap_or(self.config.checks)
    }

    /// What becomes of a kernel's traps; `None` where nobody has said.
    #[must_use]
    pub fn trap_mode(&self, kernel: &str) -> Option<TrapMode> {
        let own = self.config.kernel.get(kernel);
        own.and_then(|own| own.traps).or(self.config.traps)
    }
}
