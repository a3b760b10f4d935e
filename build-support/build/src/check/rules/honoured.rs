//! GPUK0001: a non-debug check in a kernel whose mode cannot honour it.
//!
//! After checkify's rule that a check is functionalized or refused, never dropped (checks.md R4).

use crate::check::Subject;
use crate::config::CheckMode;
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::Kernel;
use crate::site::SiteKind;

pub(in crate::check) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = of_sites(subject);
    findings.extend(of_settings(subject));
    findings
}

/// A package that traps is compiled so: no kernel of it can have its failures as values.
fn of_settings(subject: &Subject<'_>) -> Vec<Diagnostic> {
    if subject.package.config.checks != CheckMode::Trap {
        return Vec::new();
    }
    let own = |kernel: &Kernel| subject.package.config.kernel.get(&kernel.name).cloned();
    let finding = |kernel: &Kernel, what: &str| {
        let name = &kernel.name;
        let message = format!("kernel `{name}` is to {what} in a package whose checks trap");
        Diagnostic::error(Code::CHECK_NOT_HONOURED, message)
            .at(kernel.place.clone(), "")
            .note("what traps is compiled in for all kernels of a package")
            .help("set `checks = \"functional\"` for the package")
    };
    let debug = subject.package.debug_checks();
    let mut findings = Vec::new();
    for kernel in &subject.signatures.kernels {
        let own = own(kernel).unwrap_or_default();
        if own.checks == Some(CheckMode::Functional) {
            findings.push(finding(kernel, "be `functional`"));
        }
        match own.debug_checks {
            Some(true) if !debug => findings.push(finding(kernel, "have debug checks")),
            Some(false) if debug => findings.push(finding(kernel, "have no debug checks")),
            _ => {}
        }
    }
    findings
}

fn of_sites(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let refused = |entry: &str| {
        let name = subject.name(entry);
        (subject.package.check_mode(name) == CheckMode::Off).then(|| name.to_owned())
    };
    let lasting = subject.sites.iter().filter(|site| !site.kind.is_debug());
    let mut findings = Vec::new();
    for site in lasting {
        for kernel in site.entries.iter().filter_map(|entry| refused(entry)) {
            let instead = match (site.kind, site.kind.stops()) {
                (SiteKind::Trap, _) => {
                    "or set `traps = \"keep\"`: it then ends the context".to_owned()
                }
                (SiteKind::CheckBlock, _) => debug("GPUK_DEBUG_CHECK_BLOCK"),
                (SiteKind::CheckWarp, _) => debug("GPUK_DEBUG_CHECK_WARP"),
                (_, true) => debug("GPUK_DEBUG_CHECK"),
                (_, false) => debug("GPUK_DEBUG_EXPECT"),
            };
            let message = format!(
                "kernel `{kernel}` has a non-debug check, which its mode `off` cannot honour"
            );
            findings.push(
                Diagnostic::error(Code::CHECK_NOT_HONOURED, message)
                    .at(site.place.clone(), format!("`{}` stands here", site.kind))
                    .help(format!(
                        "set `checks = \"functional\"` for `{kernel}`: a failure is then a value"
                    ))
                    .help(instead),
            );
        }
    }
    findings
}

fn debug(instead: &str) -> String {
    format!("or write `{instead}`, which only debug builds compile")
}
