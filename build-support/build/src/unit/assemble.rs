//! `Checked -> Unit`: ptxas has the last word on PTX, and makes the cubin.

use std::ffi::OsString;

use super::checked::Checked;
use super::mark::mark;
use super::{Job, Shop, UnitError, refuse_errors};
use crate::digest::Digest;
use crate::fs;
use crate::message;
use crate::resources;
use crate::store::{Unit, UnitRecord};

/// Assembles for the job's architecture; what `-ptx` lets pass (unresolved functions, too much shared
/// memory) ends here.
pub(super) fn assemble(
    job: &Job<'_>,
    shop: &Shop<'_>,
    checked: Checked,
    key: Digest,
) -> Result<Unit, UnitError> {
    let (ptx, cubin) = (job.scratch(shop, "checked.ptx"), job.scratch(shop, "cubin"));
    let text = mark(checked.text, &checked.sites);
    fs::write_private(&ptx, text.as_bytes())?;
    let recipe = shop.tools.recipe(job.arch, false)?;
    let verbose = [OsString::from("-v")];
    let command = recipe.assemble(&ptx, &cubin, &job.arch.sm(), &verbose, &shop.package.root)?;
    let output = shop.run(&shop.tools.wrapped(command))?;
    let failed = !output.status.success();
    let said = format!(
        "{}\n{}",
        output.stderr,
        String::from_utf8_lossy(&output.stdout)
    );
    let mut findings = checked.findings;
    findings.extend(message::findings(&said, failed));
    let findings = refuse_errors(findings)?;
    let cubin = fs::read(&cubin)?;
    let ptx = text.into_bytes();
    Ok(Unit {
        key,
        record: UnitRecord {
            signatures: checked.signatures,
            sites: checked.sites,
            checked: checked.entries,
            resources: resources::read(&said),
            ptx_version: checked.version,
            findings,
            ptx: Digest::of(&ptx),
            cubin: Digest::of(&cubin),
        },
        ptx,
        cubin,
    })
}
