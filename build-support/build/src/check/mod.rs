//! Validation: one file per rule in `rules`, the registry here.
//!
//! A rule looks at a subject and returns findings. Refusals of the functionalizing pass are put into the
//! same form.

mod rules;
mod translate;

use std::path::Path;

use gpuk_ptx::Module;

pub(crate) use translate::{refusal, site};

use crate::diagnostic::Diagnostic;
use crate::kernel::Signatures;
use crate::package::Package;
use crate::site::SiteRecord;

/// What rules look at.
pub(crate) struct Subject<'a> {
    pub(crate) package: &'a Package,
    /// As compiled, before functionalizing.
    pub(crate) module: &'a Module,
    /// Relative to the package's folder.
    pub(crate) source: &'a Path,
    pub(crate) signatures: &'a Signatures,
    pub(crate) sites: &'a [SiteRecord],
}

type Rule = fn(&Subject<'_>) -> Vec<Diagnostic>;

const RULES: &[Rule] = &[rules::honoured::check, rules::unresolved::check];

/// Applies every rule.
pub(crate) fn rules(subject: &Subject<'_>) -> Vec<Diagnostic> {
    RULES.iter().flat_map(|rule| rule(subject)).collect()
}
