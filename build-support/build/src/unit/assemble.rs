//! `Checked -> Unit`: ptxas has the last word on PTX, and makes the cubin.

use std::ffi::OsString;
use std::path::PathBuf;

use gpuk_device::driver::DriverVersion;

use super::checked::Checked;
use super::mark::mark;
use super::{Job, Shop, UnitError, assembler, driver, refuse_errors};
use crate::config::MinimumDriver;
use crate::diagnostic::Diagnostic;
use crate::digest::Digest;
use crate::fs;
use crate::kernel::Signatures;
use crate::resources;
use crate::run::ToolCommand;
use crate::store::{Unit, UnitRecord};

/// Assembles for the job's architecture; what `-ptx` lets pass (unresolved functions, too much shared
/// memory) ends here. Where an older driver than the toolkit's is stated, the PTX is made for that one if it can be.
pub(super) fn assemble(
    job: &Job<'_>,
    shop: &Shop<'_>,
    checked: Checked,
    key: Digest,
) -> Result<Unit, UnitError> {
    let mut findings = checked.findings;
    let mut version = checked.version;
    let mut text = mark(checked.text, &checked.sites);
    let mut assembled = None;
    if let Some(lower) = driver::lower(job, shop, version) {
        let mut lowered = text.clone();
        lowered.replace_range(
            checked.version_span.range(),
            &format!("{}.{}", lower.0, lower.1),
        );
        let tried = run(job, shop, &lowered, &checked.signatures)?;
        let newer = driver::newer(&tried.findings);
        if newer.is_empty() {
            (text, version) = (lowered, lower);
            assembled = Some(tried);
        } else {
            let source = &job.source.path;
            let stated = shop.package.config.minimum_driver;
            let stated = stated.map_or(DriverVersion::OLDEST, MinimumDriver::version);
            let cubin = shop.tools.cubin_driver();
            findings.push(driver::finding(source, stated, cubin, &newer));
            findings = refuse_errors(findings)?;
        }
    }
    let assembled = match assembled {
        Some(assembled) => assembled,
        None => run(job, shop, &text, &checked.signatures)?,
    };
    findings.extend(assembled.findings);
    let findings = refuse_errors(findings)?;
    let cubin = fs::read(&job.scratch(shop, "cubin"))?;
    let ptx = text.into_bytes();
    Ok(Unit {
        key,
        record: UnitRecord {
            signatures: checked.signatures,
            sites: checked.sites,
            checked: checked.entries,
            resources: resources::read(&assembled.said),
            ptx_version: version,
            findings,
            ptx: Digest::of(&ptx),
            cubin: Digest::of(&cubin),
        },
        ptx,
        cubin,
    })
}

/// What came of a run.
struct Assembled {
    said: String,
    findings: Vec<Diagnostic>,
}

fn run(
    job: &Job<'_>,
    shop: &Shop<'_>,
    text: &str,
    signatures: &Signatures,
) -> Result<Assembled, UnitError> {
    let (command, ptx) = command(job, shop)?;
    fs::write_private(&ptx, text.as_bytes())?;
    let output = shop.compile(&command, &job.peak)?;
    let failed = !output.status.success();
    let said = format!(
        "{}\n{}",
        output.stderr,
        String::from_utf8_lossy(&output.stdout)
    );
    let findings = assembler::findings(&said, failed, &ptx, text, (job, shop, signatures));
    Ok(Assembled { said, findings })
}

/// The command, and the file that it reads.
pub(super) fn command(job: &Job<'_>, shop: &Shop<'_>) -> Result<(ToolCommand, PathBuf), UnitError> {
    let (ptx, cubin) = (job.scratch(shop, "ptx"), job.scratch(shop, "cubin"));
    let recipe = shop.tools.recipe(job.arch, false)?;
    let verbose = [OsString::from("-v")];
    let command = recipe.assemble(&ptx, &cubin, &job.arch.sm(), &verbose, &shop.package.root)?;
    let command = shop.tools.wrapped(command.temporary(shop.work));
    Ok((command, ptx))
}
