//! Validation: one file per rule in `rules`, the registry here.
//!
//! A rule looks at a subject and returns findings. Refusals of the functionalizing pass are put into the
//! same form.

mod instances;
mod rules;
mod translate;

use std::path::Path;

use gpuk_ptx::Module as PtxModule;

pub(crate) use instances::check as instances;
pub(crate) use translate::{kind, refusal, site};

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::join::Module;
use crate::kernel::{Kernel, Signatures};
use crate::package::Package;
use crate::site::SiteRecord;

/// What rules look at.
pub(crate) struct Subject<'a> {
    pub(crate) package: &'a Package,
    /// As compiled, before functionalizing.
    pub(crate) module: &'a PtxModule,
    /// Relative to the package's folder.
    pub(crate) source: &'a Path,
    pub(crate) signatures: &'a Signatures,
    pub(crate) sites: &'a [SiteRecord],
}

impl Subject<'_> {
    /// The kernel of an entry, if it has a wrapper.
    fn kernel(&self, entry: &str) -> Option<&Kernel> {
        let mut kernels = self.signatures.kernels.iter();
        kernels.find(|kernel| kernel.entry == entry)
    }

    /// A line of the PTX's, which names files of the package by absolute path.
    fn place(&self, place: &gpuk_ptx::functionalize::Place) -> Place {
        let file = Path::new(&place.file);
        Place::line(
            file.strip_prefix(&self.package.root).unwrap_or(file),
            place.line,
        )
    }

    /// The name that a kernel is configured and reported by: a wrapper's, else the entry's.
    fn name<'s>(&'s self, entry: &'s str) -> &'s str {
        self.kernel(entry).map_or(entry, |kernel| &kernel.name)
    }
}

/// A setting for a kernel that no source has, among those of the whole package.
pub(crate) fn unknown_kernels(
    package: &Package,
    modules: &[Module<'_>],
    findings: &mut Vec<Diagnostic>,
) {
    let kernels = modules.iter().flat_map(|module| &module.signatures.kernels);
    let known: Vec<_> = kernels.map(|kernel| kernel.name.as_str()).collect();
    for name in package
        .config
        .kernel
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
    {
        let message = format!(
            "`kernel.{name}` is set, but package `{}` has no such kernel",
            package.name
        );
        findings.push(
            Diagnostic::warning(Code::UNKNOWN_KERNEL, message)
                .help("`cargo gpuk list` prints the names of the kernels"),
        );
    }
}

/// Whether the driver defines a function for every module.
pub(crate) fn is_of_driver(function: &str) -> bool {
    rules::unresolved::OF_DRIVER.contains(&function)
}

type Rule = fn(&Subject<'_>) -> Vec<Diagnostic>;

const RULES: &[Rule] = &[
    rules::honoured::check,
    rules::leaving::check,
    rules::traps::check,
    rules::unresolved::check,
];

/// Applies every rule.
pub(crate) fn rules(subject: &Subject<'_>) -> Vec<Diagnostic> {
    RULES.iter().flat_map(|rule| rule(subject)).collect()
}
