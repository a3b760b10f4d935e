//! The commands of a build, in its order, without running one or writing anything.
//!
//! What is up to date has none. Whether the text of a changed source is one that was compiled before is known from the text
//! alone: its commands are all there. A compiler that was not asked before how it works is asked, which compiles nothing.

use crate::diagnostic::Diagnostic;
use crate::digest::FileDigests;
use crate::discover::discover;
use crate::env::Env;
use crate::folders::Folders;
use crate::make::{self, Plan};
use crate::package::Package;
use crate::pipeline::{BuildError, refused, stop_at_errors};
use crate::progress::Silent;
use crate::run::ToolCommand;
use crate::store::Store;
use crate::tools::Tools;
use crate::unit::{Begun, Prefixes, Shop, UnitError};

/// What [`build`](crate::pipeline::build) would run; `findings` are those of the configuration.
///
/// # Errors
/// See [`BuildError`]: those that show before anything is compiled.
pub fn commands(
    package: &Package,
    env: &Env,
    mut findings: Vec<Diagnostic>,
) -> Result<Vec<ToolCommand>, BuildError> {
    let sources = discover(package, &mut findings)?;
    stop_at_errors(&mut findings, &sources, &[])?;
    let tools =
        Tools::found(package, env).or_else(|error| refused(error, &mut findings, &sources))?;
    findings.extend(sources.misfits(tools.archs()));
    stop_at_errors(&mut findings, &sources, &[])?;
    let shop = Shop {
        package,
        tools: &tools,
        folders: &Folders::of(package, &tools),
        store: &Store::at(&package.store.folder, &package.out),
        digests: &FileDigests::new(),
        progress: &Silent,
        headers: Prefixes::default(),
        work: &package.out.join("work"),
    };
    of_plan(&Plan::new(&sources, &shop), &shop).map_err(make::fatal)
}

fn of_plan(plan: &Plan<'_>, shop: &Shop<'_>) -> Result<Vec<ToolCommand>, UnitError> {
    let jobs: Vec<_> = (plan.jobs.iter())
        .filter(|job| !job.is_fragment(shop))
        .collect();
    make::expect(&jobs, shop);
    let mut commands = Vec::new();
    let mut begun = Begun::new();
    for job in jobs.iter().filter(|job| !job.is_kept(shop)) {
        commands.extend(job.commands(shop, &mut begun)?);
    }
    for link in &plan.links {
        let name = link.source.path.to_str();
        let parts = jobs.iter().filter(|job| job.arch == link.arch);
        let parts = parts.filter(|job| job.source.link.as_deref() == name);
        let keys = parts.map(|job| job.key(shop).filter(|_| job.is_kept(shop)));
        let keys: Option<Vec<_>> = keys.collect();
        if !keys.is_some_and(|keys| keys.is_empty() || link.is_linked_of(shop, &keys)) {
            commands.push(link.assembling(shop)?);
        }
    }
    for host in plan.host.iter().filter(|job| !job.is_kept(shop)) {
        commands.extend(host.commands(shop)?);
    }
    Ok(commands)
}
