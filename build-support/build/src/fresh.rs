//! Whether the last build's results are this build's, told without running anything.

use crate::diagnostic::Diagnostic;
use crate::digest::Digest;
use crate::make::Plan;
use crate::recipe::RECIPE;
use crate::report::Report;
use crate::store::to_json;
use crate::unit::Shop;

/// The last report, if everything that went into it is as it was.
pub(crate) fn report(plan: &Plan<'_>, shop: &Shop<'_>, findings: &[Diagnostic]) -> Option<Report> {
    let report = Report::of(&shop.package.out)?;
    let now = fingerprint(plan, shop, findings)?;
    (report.fingerprint.as_ref() == Some(&now)).then_some(report)
}

/// Of the units, of the sources (their comments become docs), of the findings about the configuration, and of
/// what generates. `None` while a unit's last key does not hold.
pub(crate) fn fingerprint(
    plan: &Plan<'_>,
    shop: &Shop<'_>,
    findings: &[Diagnostic],
) -> Option<Digest> {
    let mut units = Vec::new();
    for job in &plan.jobs {
        let path = &job.source.path;
        let source = shop.digests.of(&shop.package.root.join(path))?;
        units.push((path, job.arch, source, job.key(shop)?));
    }
    let mut objects = Vec::new();
    for job in &plan.host {
        let source = shop.digests.of(&shop.package.root.join(job.source))?;
        objects.push((job.source, source, &job.key(shop)?.content));
    }
    // Settings that are of no unit may yet name something that is not there.
    let config = &shop.package.config;
    let asked: Vec<_> = config.instantiate.iter().map(|it| &it.text).collect();
    let named = (&config.kernel, asked);
    Some(Digest::of_parts([
        RECIPE.as_bytes(),
        &to_json(&(units, objects, findings, named)),
    ]))
}
