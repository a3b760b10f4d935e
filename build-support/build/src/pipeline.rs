//! The pipeline of one package, top to bottom.
//!
//! ```text
//! Package -> Sources -> Tools -> Plan -> MadeAll -> Vec<Module> -> Bindings, Report
//! ```
//!
//! `build.rs` and `cargo gpuk` are two drivers of [`build`]. What happens to one source for one architecture
//! between *Plan* and *Made* stands on the page `unit`.

use std::path::PathBuf;

use crate::check;
use crate::diagnostic::{Diagnostic, Level};
use crate::digest::FileDigests;
use crate::discover::{Sources, discover};
use crate::emit::emit;
use crate::env::Env;
use crate::folders::Folders;
use crate::fresh;
use crate::fs::{self, FsError};
use crate::host::{self, MadeObject};
use crate::join::join_all;
use crate::make::{MadeAll, Plan, make};
use crate::package::Package;
use crate::pool::Tokens;
use crate::progress::Progress;
use crate::report::{Drivers, ObjectReport, Report};
use crate::run::ToolError;
use crate::store::Store;
use crate::tools::{Tools, ToolsError};
use crate::unit::{Prefixes, Shop};
use crate::work;
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
    /// The toolkit that made it; `None` where nothing was compiled.
    pub(crate) toolkit: Option<PathBuf>,
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
    with_shop(
        (package, env, progress),
        &sources,
        findings,
        |shop, findings| {
            let mut built = compiled(&sources, shop, tokens, depth, findings)?;
            shop.folders.show(&mut built.report.findings);
            Ok(built)
        },
    )
}

/// Does what takes compilers, under the lock of the package's results; findings get the names that files go by.
pub(crate) fn with_shop<T>(
    (package, env, progress): (&Package, &Env, &dyn Progress),
    sources: &Sources,
    mut findings: Vec<Diagnostic>,
    work: impl FnOnce(&Shop<'_>, Vec<Diagnostic>) -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    stop_at_errors(&mut findings, sources, &[])?;

    fs::create_dir(&package.out)?;
    let _lock = fs::lock(&package.out.join("lock"), || progress.waiting())?;
    let tools =
        Tools::ready(package, env).or_else(|error| refused(error, &mut findings, sources))?;
    findings.extend(sources.misfits(tools.archs()));
    stop_at_errors(&mut findings, sources, &[])?;
    let store = Store::open(&package.store.folder, &package.out)?;
    let folders = Folders::of(package, &tools);
    let shop = Shop {
        package,
        tools: &tools,
        folders: &folders,
        store: &store,
        digests: &FileDigests::new(),
        progress,
        headers: Prefixes::default(),
        work: &work::folder(&package.out),
    };
    let mut done = work(&shop, findings);
    if let Err(BuildError::Findings { failure }) = &mut done {
        folders.show(&mut failure.findings);
    }
    done
}

/// The results of a package that asks for no kernels, for which no compiler is needed.
pub(crate) fn nothing(package: &Package, findings: Vec<Diagnostic>) -> Result<Built, BuildError> {
    fs::create_dir(&package.out)?;
    let _lock = fs::lock(&package.out.join("lock"), || ())?;
    let (bindings, mut report) = wrap::wrap(package, &[]);
    report.findings = findings;
    emit(&package.out, &[], &bindings, &report)?;
    Ok(Built {
        report,
        fresh: false,
        toolkit: None,
    })
}

/// Everything behind the tools; findings have the names that files go by.
fn compiled(
    sources: &Sources,
    shop: &Shop<'_>,
    tokens: &Tokens,
    depth: Depth,
    mut findings: Vec<Diagnostic>,
) -> Result<Built, BuildError> {
    let built = |report, fresh| Built {
        report,
        fresh,
        toolkit: Some(shop.tools.root().to_owned()),
    };
    let plan = Plan::new(sources, shop);

    let of_configuration = findings.clone();
    if let Some(report) = fresh::report(&plan, shop, &of_configuration) {
        return Ok(built(report, true));
    }
    let made = make(&plan, shop, tokens, &mut findings)?;
    let report = std::thread::scope(|scope| {
        scope.spawn(|| shop.store.collect(shop.package.store.limit));
        bound(sources, shop, depth, made, &of_configuration, findings)
    })?;
    Ok(built(report, false))
}

/// Everything behind the compilers.
fn bound(
    sources: &Sources,
    shop: &Shop<'_>,
    depth: Depth,
    made: MadeAll<'_>,
    of_configuration: &[Diagnostic],
    mut findings: Vec<Diagnostic>,
) -> Result<Report, BuildError> {
    let package = shop.package;
    findings.extend(shop.store.lost());
    stop_at_errors(&mut findings, sources, &made.files)?;

    let stated = package.config.minimum_driver;
    let ships_ptx = |arch| shop.tools.ships_ptx(arch, stated);
    let mut modules = join_all(&made.units, sources, &ships_ptx, &mut findings);
    host::join(&mut modules, &made.objects);
    check::unknown_kernels(package, &modules, &mut findings);
    check::instances(package, &modules, &mut findings);
    stop_at_errors(&mut findings, sources, &made.files)?;

    let (bindings, mut report) = wrap::wrap(package, &modules);
    report.fingerprint = fresh::fingerprint(&Plan::new(sources, shop), shop, of_configuration);
    report.drivers = Drivers::of(&modules, shop.tools);
    report.findings = findings;
    let objects: Vec<_> = made.objects.iter().map(MadeObject::file).collect();
    report.objects = (objects.iter())
        .map(|object| ObjectReport {
            file: object.file.clone(),
            size: object.bytes.len() as u64,
        })
        .collect();
    report.files = made.files;
    report.folders = sources.folders.clone();
    if depth == Depth::Build {
        let images: Vec<_> = modules.iter().flat_map(|module| &module.images).collect();
        let images = images.iter().map(|image| image.image.clone());
        let files: Vec<_> = images.chain(objects).collect();
        emit(&package.out, &files, &bindings, &report)?;
    }
    Ok(report)
}

/// A compiler that refuses the configuration is a finding.
pub(crate) fn refused(
    error: ToolsError,
    findings: &mut Vec<Diagnostic>,
    sources: &Sources,
) -> Result<Tools, BuildError> {
    match error.finding() {
        None => Err(error.into()),
        Some(finding) => {
            findings.push(finding);
            Err(failure(findings, sources, &[]))
        }
    }
}

pub(crate) fn stop_at_errors(
    findings: &mut Vec<Diagnostic>,
    sources: &Sources,
    read: &[PathBuf],
) -> Result<(), BuildError> {
    match findings.iter().any(|finding| finding.level == Level::Error) {
        true => Err(failure(findings, sources, read)),
        false => Ok(()),
    }
}

fn failure(findings: &mut Vec<Diagnostic>, sources: &Sources, read: &[PathBuf]) -> BuildError {
    let mut findings = std::mem::take(findings);
    findings.sort_by_key(|finding| finding.level);
    BuildError::Findings {
        failure: Box::new(Failure {
            findings,
            files: read.to_vec(),
            folders: sources.folders.clone(),
        }),
    }
}
