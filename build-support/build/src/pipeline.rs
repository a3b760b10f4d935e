//! The pipeline of one package, top to bottom.
//!
//!     Package -> Sources -> Tools -> Plan -> Vec<Made> -> Vec<Module> -> Bindings -> Report
//!
//! `build.rs` and `cargo gpuk` are two drivers of [`build`]. What happens to one source for one architecture
//! between *Plan* and *Made* stands on the page `unit`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::diagnostic::{Code, Diagnostic, Level};
use crate::digest::{Digest, FileDigests};
use crate::discover::{Sources, discover};
use crate::emit::emit;
use crate::env::Env;
use crate::fs::{self, FsError};
use crate::join::{Module, join};
use crate::package::Package;
use crate::pool::{self, Tokens};
use crate::progress::Progress;
use crate::report::Report;
use crate::run::ToolError;
use crate::store::{RECIPE, Store, to_json};
use crate::tools::{Tools, ToolsError};
use crate::unit::{Job, Made, Shop, UnitError};
use crate::wrap;

/// How far to go, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Up to validation; nothing but the store is written.
    Check,
    /// All the way.
    Build,
}

/// A build that went well.
#[derive(Debug)]
pub struct Built {
    /// What was made, warnings included.
    pub report: Report,
    /// Whether everything was there already.
    pub fresh: bool,
}

/// A build that did not.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The user's files are at fault.
    #[error("{} kernel findings", failure.findings.len())]
    Findings {
        /// What is wrong, and what was read.
        failure: Box<Failure>,
    },
    /// There is no usable compiler.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// A process could not be started.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file could not be read or written.
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// Why a build failed, and what to watch for the next one.
#[derive(Debug, Default)]
pub struct Failure {
    /// At least one of them an error.
    pub findings: Vec<Diagnostic>,
    /// Files that were read, relative to the package.
    pub files: Vec<PathBuf>,
    /// Folders that were searched.
    pub folders: Vec<PathBuf>,
}

/// Builds the kernels of a package; `findings` are those of its configuration.
///
/// # Errors
/// See [`BuildError`]. The results of the last good build stay as they were.
pub fn build(
    package: &Package,
    env: &Env,
    tokens: &Tokens,
    progress: &dyn Progress,
    depth: Depth,
    mut findings: Vec<Diagnostic>,
) -> Result<Built, BuildError> {
    let sources = discover(package, &mut findings)?;
    stop_at_errors(&mut findings, &sources, &[])?;

    fs::create_dir(&package.out)?;
    let _lock = fs::lock(&package.out.join("lock"), || progress.waiting())?;
    let tools = Tools::ready(package, env)?;
    let store = Store::open(package.out.join("store"))?;
    let shop = Shop {
        package,
        tools: &tools,
        store: &store,
        digests: &FileDigests::default(),
        progress,
        work: &package.out.join("work"),
    };
    let plan = plan(&sources, &shop);

    if let Some(report) = fresh(&plan, &shop, &findings) {
        return Ok(Built {
            report,
            fresh: true,
        });
    }
    let made = make(&plan, &shop, tokens, &mut findings, &sources)?;

    let fingerprint = fingerprint(&made, &shop, &findings);
    let modules = join_all(&made, &sources, &mut findings);
    stop_at_errors(&mut findings, &sources, &made)?;

    let (bindings, mut report) = wrap::wrap(package, &modules, fingerprint);
    report.findings = findings;
    report.files = read_files(&made);
    report.folders = sources.folders.clone();
    if depth == Depth::Build {
        let images: Vec<_> = modules.iter().flat_map(|module| &module.images).collect();
        let images: Vec<_> = images.iter().map(|image| image.image.clone()).collect();
        emit(&package.out, &images, &bindings, &report)?;
    }
    Ok(Built {
        report,
        fresh: false,
    })
}

/// Every source for every architecture.
fn plan<'a>(sources: &'a Sources, shop: &Shop<'_>) -> Vec<Job<'a>> {
    let archs = &shop.package.config.archs;
    let jobs = sources.files.iter().flat_map(|source| archs.iter().map(move |arch| (source, *arch)));
    jobs.map(|(source, arch)| Job::new(shop, source, arch)).collect()
}

/// The last report, if it is of exactly these units.
fn fresh(plan: &[Job<'_>], shop: &Shop<'_>, findings: &[Diagnostic]) -> Option<Report> {
    let keys: Option<Vec<_>> = plan.iter().map(|job| Some(job.key(shop)?.key.clone())).collect();
    let report = Report::of(&shop.package.out)?;
    let same = report.fingerprint == fingerprint_of(keys?, plan, shop, findings);
    same.then_some(report)
}

/// Makes what is not in the store, the longest first; every failure is reported, every success kept.
fn make<'a>(
    plan: &[Job<'a>],
    shop: &Shop<'_>,
    tokens: &Tokens,
    findings: &mut Vec<Diagnostic>,
    sources: &Sources,
) -> Result<Vec<(Job<'a>, Made)>, BuildError> {
    fs::remove_dir(shop.work)?;
    fs::create_dir(shop.work)?;
    shop.store.sweep();
    let mut order: Vec<_> = plan.iter().collect();
    order.sort_by_cached_key(|job| std::cmp::Reverse(job.cost(shop)));
    let to_do = order.iter().filter(|job| job.key(shop).is_none()).count();
    shop.progress.planned(to_do);
    let results = pool::run(&order, tokens, |job| job.make(shop));
    fs::remove_dir(shop.work)?;

    let (mut made, mut failed) = (Vec::new(), Vec::new());
    for (job, result) in order.into_iter().zip(results) {
        match result {
            Ok(unit) => made.push((job.clone(), unit)),
            Err(UnitError::Findings { findings, files }) => failed.push((job, findings, files)),
            Err(UnitError::Tool(error)) => return Err(error.into()),
            Err(UnitError::Fs(error)) => return Err(error.into()),
            Err(UnitError::Recipe(error)) => return Err(ToolsError::from(error).into()),
        }
    }
    made.sort_by(|(a, _), (b, _)| (a.source, a.arch).cmp(&(b.source, b.arch)));
    failed.sort_by(|(a, ..), (b, ..)| (a.source, a.arch).cmp(&(b.source, b.arch)));

    let included: BTreeSet<_> = made
        .iter()
        .flat_map(|(job, unit)| unit.files.iter().filter(|file| **file != job.source.path).cloned())
        .collect();
    let mut files = read_files(&made);
    for (job, wrong, read) in failed {
        files.extend(read);
        match included.contains(&job.source.path) {
            true => push_new(findings, [fragment(job)]),
            false => push_new(findings, wrong),
        }
    }
    let warnings = made.iter().flat_map(|(_, unit)| unit.unit.record.findings.iter().cloned());
    push_new(findings, warnings);
    match findings.iter().any(|finding| finding.level == Level::Error) {
        true => Err(failure(findings, sources, files)),
        false => Ok(made),
    }
}

/// A file that others include and that is no translation unit by itself.
fn fragment(job: &Job<'_>) -> Diagnostic {
    let source = job.source.path.display();
    Diagnostic::new(
        Some(Code::FRAGMENT_SKIPPED),
        Level::Note,
        format!("`{source}` is skipped: other sources include it and it does not compile by itself"),
    )
    .help(format!("name it in `exclude = [\"{source}\"]`, or end its name in `.cuh`"))
}

/// The same finding for another architecture is not said again.
fn push_new(findings: &mut Vec<Diagnostic>, new: impl IntoIterator<Item = Diagnostic>) {
    for finding in new {
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
}

fn join_all<'a>(
    made: &[(Job<'a>, Made)],
    sources: &'a Sources,
    findings: &mut Vec<Diagnostic>,
) -> Vec<Module<'a>> {
    let units_of = |path: &PathBuf| {
        let units = made.iter().filter(|(job, _)| job.source.path == *path);
        units.map(|(job, made)| (job.arch, made.unit.clone())).collect::<Vec<_>>()
    };
    let paths = sources.files.iter().map(|file| &file.path);
    let modules = paths.map(|path| join(path, &units_of(path), findings));
    modules.collect()
}

fn fingerprint(made: &[(Job<'_>, Made)], shop: &Shop<'_>, findings: &[Diagnostic]) -> Digest {
    let keys = made.iter().map(|(_, made)| made.unit.key.clone()).collect();
    let jobs: Vec<_> = made.iter().map(|(job, _)| job.clone()).collect();
    let ours: Vec<_> = findings.iter().filter(|f| f.code == Some(Code::UNUSED_PATTERN)).cloned().collect();
    fingerprint_of(keys, &jobs, shop, &ours)
}

/// Of the units, of the sources (their comments become docs), and of what generates.
fn fingerprint_of(
    keys: Vec<Digest>,
    jobs: &[Job<'_>],
    shop: &Shop<'_>,
    findings: &[Diagnostic],
) -> Digest {
    let source = |job: &Job<'_>| {
        let path = &job.source.path;
        let digest = shop.digests.of(&shop.package.root.join(path));
        (path.clone(), job.arch, digest)
    };
    let sources: Vec<_> = jobs.iter().map(source).collect();
    Digest::of_parts([RECIPE.as_bytes(), &to_json(&(keys, sources, findings))])
}

fn read_files(made: &[(Job<'_>, Made)]) -> Vec<PathBuf> {
    let files = made.iter().flat_map(|(_, unit)| unit.files.iter().cloned());
    files.collect::<BTreeSet<_>>().into_iter().collect()
}

fn stop_at_errors(
    findings: &mut Vec<Diagnostic>,
    sources: &Sources,
    made: &[(Job<'_>, Made)],
) -> Result<(), BuildError> {
    match findings.iter().any(|finding| finding.level == Level::Error) {
        true => Err(failure(findings, sources, read_files(made))),
        false => Ok(()),
    }
}

fn failure(findings: &mut Vec<Diagnostic>, sources: &Sources, files: Vec<PathBuf>) -> BuildError {
    let mut findings = std::mem::take(findings);
    findings.sort_by_key(|finding| finding.level);
    BuildError::Findings {
        failure: Box::new(Failure {
            findings,
            files,
            folders: sources.folders.clone(),
        }),
    }
}
