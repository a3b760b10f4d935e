//! One source for one architecture, through the stages that need a compiler.
//!
//! ```text
//! Job -> Preprocessed -> Compiled -> Signed -> Checked -> Unit
//! ```
//!
//! The unit of a source that is linked with others holds what is *Signed*; `link` joins those to one that goes on.
//!
//! Each type is made by the function of the stage before it alone. Nothing here knows other units.

mod advice;
mod assemble;
mod assembler;
mod checked;
mod commands;
mod compile;
mod driver;
mod headers;
mod inspect;
mod instantiate;
mod key;
mod link;
mod mark;
mod memory;
mod preprocess;
mod settle;
pub(crate) mod shadow;
mod sign;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
mod text;

pub(crate) use instantiate::help_for;

use std::path::{Path, PathBuf};
use std::time::Instant;

use gpuk_ptx::ParseError;

pub(crate) use commands::Begun;
pub(crate) use headers::Prefixes;
pub(crate) use key::settled;
pub(crate) use memory::{guess, is_killed};

use crate::config::Arch;
use crate::diagnostic::{Diagnostic, Level, Place};
use crate::digest::{Digest, FileDigests};
use crate::discover::{KernelSource, Language};
use crate::folders::Folders;
use crate::fs::{self, FsError};
use crate::message;
use crate::package::Package;
use crate::peak::Peak;
use crate::progress::Progress;
use crate::recipe::RECIPE;
use crate::run::ToolError;
use crate::signature;
use crate::store::{Store, Trace, Unit, to_json};
use crate::toolchain::recipe::{Recipe, RecipeError};
use crate::tools::Tools;

pub(crate) use link::Part;
use sign::Signed;

/// What every unit of a package shares.
pub(crate) struct Shop<'a> {
    pub(crate) package: &'a Package,
    pub(crate) tools: &'a Tools,
    pub(crate) folders: &'a Folders,
    pub(crate) store: &'a Store,
    pub(crate) digests: &'a FileDigests,
    pub(crate) progress: &'a dyn Progress,
    /// What all sources begin with.
    pub(crate) headers: Prefixes,
    /// A folder of this build's own for the compilers' files.
    pub(crate) work: &'a Path,
}

/// One source for one architecture.
#[derive(Debug, Clone)]
pub(crate) struct Job<'a> {
    pub(crate) source: &'a KernelSource,
    pub(crate) arch: Arch,
    /// What the unit depends on beside the files it reads and what is set for its kernels.
    input: Digest,
    /// The same, beside the preprocessed text: nothing of where the package lies.
    recipe: Digest,
    /// What it read the last times, the latest first.
    traces: Vec<Trace>,
    /// What its compilers take in this build.
    peak: Peak,
}

/// A unit, and what it read.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) unit: Unit,
    pub(crate) files: Vec<PathBuf>,
    /// The key of the unit but for what is set for these kernels.
    content: Digest,
    kernels: Vec<String>,
}

/// A unit that was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnitError {
    /// The source's fault: compilers' messages or gpuk's findings, and what was read until then.
    #[error("{} findings", findings.len())]
    Findings {
        findings: Vec<Diagnostic>,
        files: Vec<PathBuf>,
    },
    /// A compiler that somebody has killed; becomes a finding once it is known what was read.
    #[error("`{0}` was killed")]
    Killed(String),
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error(transparent)]
    Recipe(#[from] RecipeError),
}

impl<'a> Job<'a> {
    pub(crate) fn new(shop: &Shop<'_>, source: &'a KernelSource, arch: Arch) -> Self {
        let path = source.path.to_string_lossy();
        let config = &shop.package.config;
        let debug = shop.package.debug_checks();
        let linked = source.link.is_some();
        let names_folder = (shop.tools.recipe(arch, linked)).is_ok_and(Recipe::names_folder);
        let folder = names_folder.then(|| shop.package.root.to_string_lossy());
        let recipe = Digest::of_parts([
            RECIPE.as_bytes(),
            path.as_bytes(),
            arch.sm().as_bytes(),
            shop.tools.identity_behind(arch, linked).as_bytes(),
            &to_json(&(
                &config.checks,
                &config.traps,
                debug,
                config.minimum_driver,
                folder,
            )),
            source.link.as_deref().unwrap_or_default().as_bytes(),
        ]);
        // Not where they stand: that changes no unit.
        let asked: Vec<_> = config.instantiate.iter().map(|it| &it.text).collect();
        let input = Digest::of_parts([
            recipe.as_str().as_bytes(),
            shop.tools.identity(arch, linked).as_bytes(),
            &to_json(&asked),
        ]);
        let traces = shop.store.traces(&input);
        Self {
            source,
            arch,
            input,
            recipe,
            traces,
            peak: Peak::default(),
        }
    }

    /// Whether its module is made of several sources.
    fn is_linked(&self) -> bool {
        self.source.link.is_some()
    }

    /// The key of its unit, if all that went into that is now as it was once.
    pub(crate) fn key(&self, shop: &Shop<'_>) -> Option<Digest> {
        let Trace {
            content, kernels, ..
        } = self.trace(shop)?;
        Some(settled(content, kernels, &shop.package.config.kernel))
    }

    /// What it read and became once, if all of that is now as it was then.
    fn trace(&self, shop: &Shop<'_>) -> Option<&Trace> {
        let root = &shop.package.root;
        let mut traces = self.traces.iter();
        traces.find(|trace| trace.holds(root, shop.digests))
    }

    /// How long it takes: what it took the last time, else a guess from its size.
    pub(crate) fn cost(&self, shop: &Shop<'_>) -> u64 {
        let size = || {
            let file = std::fs::metadata(shop.package.root.join(&self.source.path));
            file.map_or(0, |file| file.len() / 100)
        };
        self.traces.first().map_or_else(size, |trace| trace.took_ms)
    }

    /// How much memory it takes, in bytes: what it took the last time, else a guess; nothing where it is in the store.
    pub(crate) fn needs(&self, shop: &Shop<'_>) -> u64 {
        if self.is_kept(shop) {
            return 0;
        }
        let known = self.traces.iter().find_map(|trace| trace.peak);
        known.unwrap_or_else(|| guess(&shop.package.root.join(&self.source.path)))
    }

    /// `kernels/gather.cu (sm_80)`.
    pub(crate) fn label(&self) -> String {
        format!("{} ({})", self.source.path.display(), self.arch.sm())
    }

    /// Makes the unit, or takes it from the store.
    pub(crate) fn make(&self, shop: &Shop<'_>) -> Result<Made, UnitError> {
        if let Some(trace) = self.trace(shop)
            && !trace.fragment
            && let Some(unit) = self.stored(shop, &trace.content, &trace.kernels)
        {
            return Ok(Made {
                unit,
                files: trace.files.iter().map(|(path, _)| path.clone()).collect(),
                content: trace.content.clone(),
                kernels: trace.kernels.clone(),
            });
        }
        let label = self.label();
        shop.progress.started(&label);
        let start = Instant::now();
        let made = self.run(shop);
        self.clear(shop);
        let took = start.elapsed();
        shop.progress.finished(&label, took, made.is_ok());
        let made = made.map_err(|error| error.of_source(self, shop))?;
        let trace = Trace {
            files: self.digests(shop, &made.files),
            absent: shadow::places(shop, &made.files),
            content: made.content.clone(),
            kernels: made.kernels.clone(),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            // A unit that another folder's build had made says nothing new.
            peak: (self.peak.bytes()).or_else(|| self.traces.iter().find_map(|it| it.peak)),
            fragment: false,
        };
        // What was written meanwhile may have been read before or after: it is read again the next time.
        let certain = |path| shop.digests.is_certain(&shop.package.root.join(path));
        if made.files.iter().all(certain) {
            shop.store.keep_trace(&self.input, trace)?;
        }
        Ok(made)
    }

    /// Whether it was a fragment the last time, and nothing that it read has changed.
    pub(crate) fn is_fragment(&self, shop: &Shop<'_>) -> bool {
        self.trace(shop).is_some_and(|trace| trace.fragment)
    }

    /// Remembers that it is a fragment, so that it is not tried again.
    pub(crate) fn keep_fragment(&self, shop: &Shop<'_>, read: &[PathBuf]) -> Result<(), FsError> {
        let trace = Trace {
            files: self.digests(shop, read),
            absent: shadow::places(shop, read),
            content: Digest::of(b"fragment"),
            kernels: Vec::new(),
            took_ms: 0,
            peak: None,
            fragment: true,
        };
        shop.store.keep_trace(&self.input, trace)
    }

    fn digests(&self, shop: &Shop<'_>, files: &[PathBuf]) -> Vec<(PathBuf, Digest)> {
        let digest = |path: &PathBuf| {
            let digest = shop.digests.of(&shop.package.root.join(path))?;
            Some((path.clone(), digest))
        };
        files.iter().filter_map(digest).collect()
    }

    fn run(&self, shop: &Shop<'_>) -> Result<Made, UnitError> {
        let preprocessed = match self.source.language {
            Language::Cuda => preprocess::preprocess(self, shop)?,
            Language::Ptx => preprocess::take(self, shop)?,
        };
        let files = preprocessed.files.clone();
        let content = preprocessed.content(&self.recipe);
        if let Some(kernels) = key::kernels(shop, &content)
            && let Some(unit) = self.stored(shop, &content, &kernels)
        {
            return Ok(Made {
                unit,
                files,
                content,
                kernels,
            });
        }
        let is_behind = preprocessed.behind.is_some();
        let compiled = match compile::compile(self, shop, preprocessed) {
            // The error is the source's, or something was left out that it needs: the whole says which.
            Err(UnitError::Findings { .. }) if is_behind => {
                let text = "once more with all of the headers";
                shop.progress.remark(&self.label(), text);
                compile::compile(self, shop, preprocess::whole(self, shop)?)
            }
            compiled => compiled,
        };
        let signed = compiled.and_then(|compiled| sign::sign(self, shop, compiled));
        let made = signed.and_then(|signed| self.keep(shop, signed, &content, !self.is_linked()));
        let (unit, kernels) = made.map_err(|error| error.having_read(&files))?;
        Ok(Made {
            unit,
            files,
            content,
            kernels,
        })
    }

    fn stored(&self, shop: &Shop<'_>, content: &Digest, kernels: &[String]) -> Option<Unit> {
        let key = settled(content, kernels, &shop.package.config.kernel);
        shop.store.unit(&key)
    }

    /// Goes on with what is signed, as far as to an image or to a part of one, and keeps that.
    fn keep(
        &self,
        shop: &Shop<'_>,
        signed: Signed,
        content: &Digest,
        image: bool,
    ) -> Result<(Unit, Vec<String>), UnitError> {
        let kernels = signature::settable(&signed.module, &signed.signatures);
        let key = settled(content, &kernels, &shop.package.config.kernel);
        let unit = match image {
            true => assemble::assemble(self, shop, checked::check(self, shop, signed)?, key)?,
            false => link::part(signed, key),
        };
        shop.store.keep(&unit);
        key::keep(shop, content, &kernels);
        Ok((unit, kernels))
    }

    /// Makes the unit of a module that several sources' parts are linked into, or takes it from the store.
    pub(crate) fn link(&self, shop: &Shop<'_>, parts: &[Part<'_>]) -> Result<Unit, UnitError> {
        let content = self.link_content(parts.iter().map(|part| &part.unit.key));
        if let Some(kernels) = key::kernels(shop, &content)
            && let Some(unit) = self.stored(shop, &content, &kernels)
        {
            return Ok(unit);
        }
        let label = self.label();
        shop.progress.started(&label);
        let start = Instant::now();
        let made = link::link(parts).and_then(|signed| self.keep(shop, signed, &content, true));
        shop.progress
            .finished(&label, start.elapsed(), made.is_ok());
        let (unit, _) = made.map_err(|error| error.of_source(self, shop))?;
        Ok(unit)
    }

    /// Removes what its compilers wrote, at once, so that nobody waits for it at the end. What is in the way stays.
    fn clear(&self, shop: &Shop<'_>) {
        for extension in ["ii", "ptx", "cubin"] {
            let _ = fs::remove_file(&self.scratch(shop, extension));
        }
    }

    /// A file of this unit's own in the work folder.
    fn scratch(&self, shop: &Shop<'_>, extension: &str) -> PathBuf {
        let name = Digest::of(self.label().as_bytes());
        shop.work.join(format!("{}.{extension}", name.short()))
    }
}

impl UnitError {
    pub(crate) fn findings(findings: Vec<Diagnostic>) -> Self {
        Self::Findings {
            findings,
            files: Vec::new(),
        }
    }

    /// Of PTX that the compiler or gpuk made: its lines are in no file of the user's.
    pub(crate) fn unreadable(source: &Path, error: &ParseError) -> Self {
        let message = format!("the PTX of `{}` cannot be read: {error}", source.display());
        Self::findings(vec![Diagnostic::new(None, Level::Error, message)])
    }

    /// Of a source that is PTX itself.
    fn unreadable_source(source: &Path, error: &ParseError) -> Self {
        let ParseError {
            position,
            expected,
            found,
        } = error;
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        let place = Place {
            file: source.to_owned(),
            line: number(position.line),
            column: Some(number(position.column)),
        };
        let message = format!("expected {expected}, found {found}");
        Self::findings(vec![
            Diagnostic::new(None, Level::Error, message).at(place, ""),
        ])
    }

    /// Every finding gets a place.
    fn of_source(self, job: &Job<'_>, shop: &Shop<'_>) -> Self {
        let path = &job.source.path;
        let mut error = self.told(std::slice::from_ref(path));
        if let Self::Findings { findings, .. } = &mut error {
            message::place(findings, path, || {
                let text = std::fs::read(shop.package.root.join(path)).unwrap_or_default();
                let lines = String::from_utf8_lossy(&text).lines().count();
                u32::try_from(lines).unwrap_or(u32::MAX).max(1)
            });
            for finding in findings {
                advice::advise(finding, job.arch, shop.tools.host());
            }
        }
        error
    }

    /// A compiler that was killed as a finding.
    pub(crate) fn told(self, read: &[PathBuf]) -> Self {
        match self {
            Self::Killed(program) => Self::Findings {
                findings: vec![memory::killed(&program)],
                files: read.to_vec(),
            },
            other => other,
        }
    }

    pub(crate) fn having_read(self, read: &[PathBuf]) -> Self {
        match self.told(read) {
            Self::Findings { findings, .. } => Self::Findings {
                findings,
                files: read.to_vec(),
            },
            other => other,
        }
    }
}

/// Goes on with the warnings, or stops where there is an error among the findings.
fn refuse_errors(findings: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, UnitError> {
    match findings.iter().any(|finding| finding.level == Level::Error) {
        true => Err(UnitError::findings(findings)),
        false => Ok(findings),
    }
}
