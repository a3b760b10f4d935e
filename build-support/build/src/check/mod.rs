//! Validation: one file per rule in `rules`, the registry here.
//!
//! A rule looks at a subject and returns findings. Refusals of the functionalizing pass are put into the
//! same form.

mod rules;
mod translate;

use std::path::Path;

pub(crate) use translate::{refusal, site};

use crate::diagnostic::Diagnostic;
use crate::kernel::Signatures;
use crate::package::Package;
use crate::site::SiteRecord;

/// What rules look at: a unit after functionalizing.
pub(crate) struct Subject<'a> {
    pub(crate) package: &'a Package,
    /// Relative to the package's folder.
    pub(crate) source: &'a Path,
    pub(crate) signatures: &'a Signatures,
    pub(crate) sites: &'a [SiteRecord],
}

type Rule = fn(&Subject<'_>) -> Vec<Diagnostic>;

const RULES: &[Rule] = &[rules::honoured::check];

/// Applies every rule.
pub(crate) fn rules(subject: &Subject<'_>) -> Vec<Diagnostic> {
    RULES.iter().flat_map(|rule| rule(subject)).collect()
}
