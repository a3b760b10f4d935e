//! `Plan -> MadeAll`: every source for every architecture, side by side.
//!
//! What happens to one of them stands in `unit`. Here: the order, what failed, and which failures are none.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::budget;
use crate::config::Arch;
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::discover::{KernelSource, Sources};
use crate::host::{HostJob, MadeObject};
use crate::pipeline::{BuildError, Failure};
use crate::pool::{self, Room, Tokens};
use crate::store::Unit;
use crate::tools::ToolsError;
use crate::unit::{Job, Made, Part, Shop, UnitError};
use crate::work;

/// What has to be there at the end.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// By source, then by architecture, lowest first.
    pub(crate) jobs: Vec<Job<'a>>,
    /// Of the modules that several sources are linked into.
    pub(crate) links: Vec<Job<'a>>,
    /// Of the sources of host functions.
    pub(crate) host: Vec<HostJob<'a>>,
}

/// Everything that could be made.
#[derive(Debug, Default)]
pub(crate) struct MadeAll<'a> {
    /// By source, then by architecture, lowest first.
    pub(crate) units: Vec<MadeUnit<'a>>,
    /// By source.
    pub(crate) objects: Vec<MadeObject<'a>>,
    /// Every file that was read, also for what failed; sorted.
    pub(crate) files: Vec<PathBuf>,
}

/// One of it.
#[derive(Debug)]
pub(crate) struct MadeUnit<'a> {
    pub(crate) source: &'a PathBuf,
    pub(crate) arch: Arch,
    pub(crate) unit: Unit,
}

impl<'a> Plan<'a> {
    /// Every source for every architecture.
    pub(crate) fn new(sources: &'a Sources, shop: &Shop<'_>) -> Self {
        let archs = shop.tools.archs();
        let jobs = |sources: &'a [KernelSource]| {
            let pairs = sources
                .iter()
                .flat_map(|source| archs.iter().map(move |arch| (source, *arch)));
            let pairs = pairs.filter(|(source, arch)| source.is_for(*arch));
            pairs
                .map(|(source, arch)| Job::new(shop, source, arch))
                .collect()
        };
        Self {
            jobs: jobs(&sources.files),
            links: jobs(&sources.links),
            host: (sources.host.iter())
                .map(|source| HostJob::new(shop, source))
                .collect(),
        }
    }
}

/// Makes what is not in the store, the longest first. Every failure is a finding, every success is kept.
pub(crate) fn make<'a>(
    plan: &Plan<'a>,
    shop: &Shop<'_>,
    tokens: &Tokens,
    findings: &mut Vec<Diagnostic>,
) -> Result<MadeAll<'a>, BuildError> {
    work::begin(shop.work)?;
    let (fragments, jobs): (Vec<_>, Vec<_>) =
        plan.jobs.iter().partition(|job| job.is_fragment(shop));
    let to_do = expect(&jobs, shop);
    let host = plan.host.iter().filter(|job| job.key(shop).is_none());
    shop.progress.planned(to_do + host.count());

    let mut outcome = Outcome::default();
    outcome.run(jobs, shop, tokens)?;
    // Once a fragment, always one, unless nobody includes it any more.
    let included = outcome.included();
    let (fragments, alone): (Vec<_>, Vec<_>) = fragments
        .into_iter()
        .partition(|job| included.contains(&job.source.path));
    outcome.run(alone, shop, tokens)?;

    let mut files: BTreeSet<_> = outcome
        .made
        .iter()
        .flat_map(|(_, made)| made.files.clone())
        .collect();
    push_new(findings, fragments.into_iter().map(fragment));
    outcome
        .failed
        .sort_by(|(a, ..), (b, ..)| (a.source, a.arch).cmp(&(b.source, b.arch)));
    for (job, wrong, read) in outcome.failed {
        if included.contains(&job.source.path) {
            job.keep_fragment(shop, &read)?;
            push_new(findings, [fragment(job)]);
        } else {
            push_new(findings, wrong);
        }
        files.extend(read);
    }
    outcome
        .made
        .sort_by(|(a, _), (b, _)| (a.source, a.arch).cmp(&(b.source, b.arch)));
    let warnings = outcome
        .made
        .iter()
        .flat_map(|(_, made)| made.unit.record.findings.clone());
    push_new(findings, warnings);
    let mut units = link(plan, &outcome.made, shop, tokens, findings)?;
    let objects = objects(plan, shop, tokens, findings, &mut files)?;
    work::end(shop.work)?;
    let alone = outcome.made.into_iter();
    let alone = alone.filter(|(job, _)| job.source.link.is_none());
    units.extend(alone.map(|(job, made)| MadeUnit {
        source: &job.source.path,
        arch: job.arch,
        unit: made.unit,
    }));
    Ok(MadeAll {
        units,
        objects,
        files: files.into_iter().collect(),
    })
}

/// Says what is to be made, on which it depends how sources are preprocessed; how many they are.
pub(crate) fn expect(jobs: &[&Job<'_>], shop: &Shop<'_>) -> usize {
    let to_do = jobs.iter().filter(|job| job.key(shop).is_none()).count();
    shop.headers.expect(to_do / shop.tools.archs().len().max(1));
    to_do
}

/// Links the modules whose parts could all be made.
fn link<'a>(
    plan: &Plan<'a>,
    made: &[(&Job<'a>, Made)],
    shop: &Shop<'_>,
    tokens: &Tokens,
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<MadeUnit<'a>>, BuildError> {
    if findings.iter().any(|finding| finding.level == Level::Error) {
        return Ok(Vec::new());
    }
    let needs = |job: &Job<'_>| (job.label(), job.needs(shop));
    let results = side_by_side(&plan.links, (shop, tokens), needs, |job| {
        let name = job.source.path.to_str();
        let parts = made
            .iter()
            .filter(|(part, _)| part.arch == job.arch && part.source.link.as_deref() == name);
        let parts: Vec<_> = parts
            .map(|(part, made)| Part {
                source: &part.source.path,
                unit: &made.unit,
            })
            .collect();
        match parts.is_empty() {
            true => Ok(None),
            false => job.link(shop, &parts).map(Some),
        }
    });
    let mut units = Vec::new();
    for (job, result) in plan.links.iter().zip(results) {
        match result {
            Ok(None) => {}
            Ok(Some(unit)) => {
                push_new(findings, unit.record.findings.clone());
                units.push(MadeUnit {
                    source: &job.source.path,
                    arch: job.arch,
                    unit,
                });
            }
            Err(UnitError::Findings {
                findings: wrong, ..
            }) => push_new(findings, wrong),
            Err(error) => return Err(fatal(error)),
        }
    }
    Ok(units)
}

/// Compiles the sources of host functions, those of which nothing is known and the longest first.
fn objects<'a>(
    plan: &Plan<'a>,
    shop: &Shop<'_>,
    tokens: &Tokens,
    findings: &mut Vec<Diagnostic>,
    files: &mut BTreeSet<PathBuf>,
) -> Result<Vec<MadeObject<'a>>, BuildError> {
    let mut jobs: Vec<_> = plan.host.iter().collect();
    jobs.sort_by_key(|job| std::cmp::Reverse(job.cost()));
    let mut objects = Vec::new();
    let needs = |job: &&HostJob<'_>| (job.label(), job.needs(shop));
    for result in side_by_side(&jobs, (shop, tokens), needs, |job| job.make(shop)) {
        match result {
            Ok(made) => {
                files.extend(made.files.iter().cloned());
                push_new(findings, made.findings().iter().cloned());
                objects.push(made);
            }
            Err(UnitError::Findings {
                findings: wrong,
                files: read,
            }) => {
                files.extend(read);
                push_new(findings, wrong);
            }
            Err(error) => return Err(fatal(error)),
        }
    }
    objects.sort_by_key(|made| made.source);
    Ok(objects)
}

/// One unit of the plan, with those that are linked into it.
pub(crate) fn one(plan: &Plan<'_>, job: &Job<'_>, shop: &Shop<'_>) -> Result<Unit, BuildError> {
    if !plan.links.iter().any(|link| link.source == job.source) {
        return Ok(job.make(shop).map_err(fatal)?.unit);
    }
    let mut units = Vec::new();
    let name = job.source.path.to_str();
    for part in &plan.jobs {
        if part.arch == job.arch && part.source.link.as_deref() == name {
            let made = part.make(shop).map_err(fatal)?;
            units.push((&part.source.path, made.unit));
        }
    }
    let parts: Vec<_> = units
        .iter()
        .map(|(source, unit)| Part { source, unit })
        .collect();
    job.link(shop, &parts).map_err(fatal)
}

/// Runs jobs as far as processors and memory reach; `needs` says what a job is called and how many bytes it takes.
fn side_by_side<J: Sync, R: Send>(
    jobs: &[J],
    (shop, tokens): (&Shop<'_>, &Tokens),
    needs: impl Fn(&J) -> (String, u64),
    work: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let (labels, needs): (Vec<_>, Vec<_>) = jobs.iter().map(needs).unzip();
    let held = |job: usize| {
        if let (Some(label), Some(bytes)) = (labels.get(job), needs.get(job)) {
            shop.progress.held(label, *bytes);
        }
    };
    let room = Room {
        limit: budget::limit(shop.package.config.memory),
        needs: &needs,
        held: &held,
    };
    pool::run(jobs, tokens, &room, work)
}

/// The error of a build that a unit alone decides.
pub(crate) fn fatal(error: UnitError) -> BuildError {
    match error {
        UnitError::Tool(error) => error.into(),
        UnitError::Fs(error) => error.into(),
        UnitError::Recipe(error) => ToolsError::from(error).into(),
        killed @ UnitError::Killed(_) => fatal(killed.told(&[])),
        UnitError::Findings { findings, files } => BuildError::Findings {
            failure: Box::new(Failure {
                findings,
                files,
                folders: Vec::new(),
            }),
        },
    }
}

/// What came of some jobs.
#[derive(Default)]
struct Outcome<'p, 'a> {
    made: Vec<(&'p Job<'a>, Made)>,
    failed: Vec<(&'p Job<'a>, Vec<Diagnostic>, Vec<PathBuf>)>,
}

impl<'p, 'a> Outcome<'p, 'a> {
    fn run(
        &mut self,
        mut jobs: Vec<&'p Job<'a>>,
        shop: &Shop<'_>,
        tokens: &Tokens,
    ) -> Result<(), BuildError> {
        jobs.sort_by_cached_key(|job| std::cmp::Reverse(job.cost(shop)));
        let needs = |job: &&Job<'_>| (job.label(), job.needs(shop));
        let results = side_by_side(&jobs, (shop, tokens), needs, |job| job.make(shop));
        for (job, result) in jobs.into_iter().zip(results) {
            match result {
                Ok(made) => self.made.push((job, made)),
                Err(UnitError::Findings { findings, files }) => {
                    self.failed.push((job, findings, files))
                }
                Err(error) => return Err(fatal(error)),
            }
        }
        Ok(())
    }

    /// Sources that others include. One that fails counts as including only if nobody includes it: of two that
    /// include each other, one at least has to tell why it fails.
    fn included(&self) -> BTreeSet<PathBuf> {
        let others = |job: &Job<'_>, read: &[PathBuf]| {
            let others = read.iter().filter(|file| **file != job.source.path);
            others.cloned().collect::<Vec<_>>()
        };
        let made = self.made.iter();
        let made: BTreeSet<_> = made
            .flat_map(|(job, made)| others(job, &made.files))
            .collect();
        let failed = self.failed.iter();
        let failed: Vec<_> = failed
            .map(|(job, _, read)| (job, others(job, read)))
            .collect();
        let first = |path: &PathBuf| {
            !made.contains(path) && failed.iter().all(|(_, read)| !read.contains(path))
        };
        let of_first = failed.iter().filter(|(job, _)| first(&job.source.path));
        let of_first = of_first.flat_map(|(_, read)| read.clone());
        of_first.chain(made.iter().cloned()).collect()
    }
}

/// A file that others include and that is no translation unit by itself.
fn fragment(job: &Job<'_>) -> Diagnostic {
    let source = job.source.path.display();
    let message = format!(
        "`{source}` is skipped: other sources include it and it does not compile by itself"
    );
    Diagnostic::new(Some(Code::FRAGMENT_SKIPPED), Level::Note, message).help(format!(
        "name it in `exclude = [\"{source}\"]`, or end its name in `.cuh`"
    ))
}

/// The same finding for another architecture is not said again.
fn push_new(findings: &mut Vec<Diagnostic>, new: impl IntoIterator<Item = Diagnostic>) {
    for finding in new {
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
}
