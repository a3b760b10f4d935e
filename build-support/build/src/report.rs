//! What a build made: kept beside the wrappers, shown by `list`, the proof that nothing has to be done.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Code, Diagnostic};
use crate::digest::Digest;
pub use crate::drivers::Drivers;
use crate::function::Function;
use crate::kernel::{Kernel, Symbol};
use crate::resources::Resources;
use crate::site::SiteRecord;
use crate::store::unsealed;

/// Everything about one package's kernels.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// Of all that went in: sources, headers, configuration, compiler, gpuk itself. `None` if something changed
    /// while it was built.
    pub(crate) fingerprint: Option<Digest>,
    /// The generated file's digest.
    pub(crate) bindings: Digest,
    /// By source.
    pub modules: Vec<ModuleReport>,
    /// What drivers run the images; `None` where there are none.
    #[serde(default)]
    pub drivers: Option<Drivers>,
    /// The objects of host functions, by source.
    #[serde(default)]
    pub objects: Vec<ObjectReport>,
    /// Findings that did not fail the build.
    pub findings: Vec<Diagnostic>,
    /// What to watch: every file that was read (the toolkit's own left out), relative to the package.
    pub files: Vec<PathBuf>,
    /// Where a new source would be found.
    pub folders: Vec<PathBuf>,
}

/// One source's kernels.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModuleReport {
    /// Relative to the package's folder.
    pub source: PathBuf,
    /// Name of the Rust module.
    pub module: String,
    /// Its kernels.
    pub kernels: Vec<KernelReport>,
    /// The variables that have handles.
    pub symbols: Vec<Symbol>,
    /// The host functions that have declarations.
    #[serde(default)]
    pub functions: Vec<FunctionReport>,
    /// Its images.
    pub images: Vec<ImageReport>,
}

/// One kernel.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KernelReport {
    /// What the wrapper is made from.
    pub kernel: Kernel,
    /// The wrapper's signature.
    pub signature: String,
    /// What it was compiled for.
    pub archs: Vec<String>,
    /// What it takes of a multiprocessor, by architecture.
    pub resources: Vec<ArchResources>,
    /// The checks it reaches.
    pub sites: Vec<SiteRecord>,
}

/// One host function.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FunctionReport {
    /// What the declaration is made from.
    pub function: Function,
    /// The declaration.
    pub signature: String,
}

/// What a kernel takes, compiled for one architecture.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ArchResources {
    /// `sm_80`.
    pub arch: String,
    /// What it takes.
    #[serde(flatten)]
    pub resources: Resources,
}

/// One image.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageReport {
    /// `sm_80`.
    pub arch: String,
    /// The file, relative to the folder of the results.
    pub file: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// One object of host functions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ObjectReport {
    /// The file, relative to the folder of the results.
    pub file: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// Names of the files in a package's folder of results.
pub(crate) const REPORT: &str = "report.json";
pub(crate) const BINDINGS: &str = "kernels.rs";
pub(crate) const IMAGES: &str = "images";

impl Report {
    /// The files of the results, the generated one first.
    pub fn artifacts(&self, out: &Path) -> Vec<PathBuf> {
        let images = self.modules.iter().flat_map(|module| &module.images);
        let images = images.map(|image| out.join(&image.file));
        let objects = self.objects.iter().map(|object| out.join(&object.file));
        let wrappers = [Self::wrappers(out)].into_iter();
        wrappers.chain(images).chain(objects).collect()
    }

    /// The generated file.
    #[must_use]
    pub fn wrappers(out: &Path) -> PathBuf {
        out.join(BINDINGS)
    }

    /// What was compiled for, each architecture once.
    #[must_use]
    pub fn archs(&self) -> Vec<String> {
        let mut archs: Vec<String> = Vec::new();
        for image in self.modules.iter().flat_map(|module| &module.images) {
            if !archs.contains(&image.arch) {
                archs.push(image.arch.clone());
            }
        }
        archs
    }

    /// How many kernels got no wrapper.
    #[must_use]
    pub fn refused(&self) -> usize {
        let refusals = [
            Code::TYPE_WITHOUT_COUNTERPART,
            Code::REFERENCE_PARAMETER,
            Code::CLASS_NOT_PLAIN,
            Code::ENTRY_NOT_IN_SOURCE,
        ];
        let coded =
            |finding: &&Diagnostic| finding.code.is_some_and(|code| refusals.contains(&code));
        self.findings.iter().filter(coded).count()
    }

    /// The report of the last build in `out`, if its results are all still there.
    pub(crate) fn of(out: &Path) -> Option<Self> {
        let report: Self = unsealed(&out.join(REPORT))?;
        let bindings = crate::fs::read(&out.join(BINDINGS)).ok()?;
        let images = report.modules.iter().flat_map(|module| &module.images);
        let images = images.map(|image| (&image.file, image.size));
        let objects = report.objects.iter().map(|it| (&it.file, it.size));
        let whole = Digest::of(&bindings) == report.bindings
            && images.chain(objects).all(|(file, size)| {
                let file = std::fs::metadata(out.join(file));
                file.is_ok_and(|file| file.len() == size)
            });
        whole.then_some(report)
    }
}
