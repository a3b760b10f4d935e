//! `Compiled -> Signed`: every entry of the PTX with its types and names, the probe's variables taken out.

use gpuk_ptx::Module;

use super::compile::{Asked, Compiled};
use super::{Job, Shop, UnitError, refuse_errors};
use crate::diagnostic::Diagnostic;
use crate::kernel::Signatures;
use crate::signature;

/// PTX whose kernels are known to Rust.
pub(super) struct Signed {
    pub(super) module: Module,
    pub(super) signatures: Signatures,
    pub(super) findings: Vec<Diagnostic>,
}

/// Joins source, answers and PTX.
pub(super) fn sign(
    job: &Job<'_>,
    shop: &Shop<'_>,
    compiled: Compiled,
) -> Result<Signed, UnitError> {
    let Compiled {
        module,
        asked,
        mut findings,
    } = compiled;
    let settings = &shop.package.config.kernel;
    let (module, signatures, found) = match asked {
        Some(Asked {
            declarations,
            probe,
            said,
        }) => signature::of_cuda(
            &declarations,
            &probe,
            module,
            said.as_ref(),
            &job.source.path,
            settings,
        ),
        None => signature::of_ptx(module, &job.source.path, settings),
    };
    findings.extend(found);
    let mut signatures = signatures;
    let templates = &mut signatures.templates;
    templates.retain(|template| !shop.folders.is_toolkits(&template.place.file));
    Ok(Signed {
        module,
        signatures,
        findings: refuse_errors(findings)?,
    })
}
