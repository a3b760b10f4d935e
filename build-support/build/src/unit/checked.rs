//! `Signed -> Checked`: validated, and every check that stays a call made a record on the host's side.

use gpuk_ptx::Span;
use gpuk_ptx::functionalize::{self, Functionalized};

use super::sign::Signed;
use super::{Job, Shop, UnitError, refuse_errors, settle};
use crate::check;
use crate::config::CheckMode;
use crate::diagnostic::Diagnostic;
use crate::kernel::Signatures;
use crate::site::SiteRecord;

/// PTX that honours every check in it.
pub(super) struct Checked {
    pub(super) text: String,
    pub(super) version: (u32, u32),
    /// Where the text has it: the first of all, which no check moves.
    pub(super) version_span: Span,
    pub(super) signatures: Signatures,
    pub(super) sites: Vec<SiteRecord>,
    /// Entries with the hidden parameter.
    pub(super) entries: Vec<String>,
    pub(super) findings: Vec<Diagnostic>,
}

/// Functionalizes by what is set, then applies the rules.
pub(super) fn check(job: &Job<'_>, shop: &Shop<'_>, signed: Signed) -> Result<Checked, UnitError> {
    let Signed {
        module,
        signatures,
        mut findings,
    } = signed;
    let module = settle::settle(job, shop, module, &signatures)?;
    let (version, version_span) = (module.version(), module.version_span());
    // A trap is the driver's own assert: the calls stay what they are.
    let (text, sites, entries) = if shop.package.config.checks == CheckMode::Trap {
        (module.text().to_owned(), Vec::new(), Vec::new())
    } else {
        let options = functionalize::Options {
            asserts: true,
            ahead: true,
        };
        match functionalize::functionalize(&module, &options) {
            Ok(Functionalized {
                text,
                sites,
                entries,
            }) => (text, sites.iter().map(check::site).collect(), entries),
            Err(refusals) => {
                findings.extend(refusals.iter().map(check::refusal));
                return Err(UnitError::findings(findings));
            }
        }
    };
    let checked = Checked {
        text,
        version,
        version_span,
        signatures,
        sites,
        entries,
        findings,
    };
    let subject = check::Subject {
        package: shop.package,
        module: &module,
        source: &job.source.path,
        signatures: &checked.signatures,
        sites: &checked.sites,
    };
    let found = check::rules(&subject);
    let mut findings = checked.findings;
    findings.extend(found);
    Ok(Checked {
        findings: refuse_errors(findings)?,
        ..checked
    })
}
