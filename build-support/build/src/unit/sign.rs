//! `Compiled -> Signed`: every entry of the PTX with its types and names, the probe's variables taken out.

use gpuk_ptx::Module;

use super::compile::{Asked, Compiled};
use super::{Job, Shop, UnitError, refuse_errors};
use crate::diagnostic::{Diagnostic, Place};
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
        }) => signature::of_cuda(&declarations, &probe, module, &job.source.path, settings),
        None => signature::of_ptx(module, &job.source.path, settings),
    };
    findings.extend(found);
    let root = &shop.package.root;
    let mut signatures = signatures;
    let templates = &mut signatures.templates;
    templates.retain(|template| !shop.tools.is_own_header(&template.place.file));
    for Place { file, .. } in templates.iter_mut().map(|template| &mut template.place) {
        if let Ok(below) = file.strip_prefix(root) {
            *file = below.to_owned();
        }
    }
    Ok(Signed {
        module,
        signatures,
        findings: refuse_errors(findings)?,
    })
}
