//! GPUK0001: a non-debug check in a kernel whose mode cannot honour it.
//!
//! After checkify's rule that a check is functionalized or refused, never dropped (checks.md R4).

use crate::check::Subject;
use crate::config::CheckMode;
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::Kernel;

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
    let kernels = subject.signatures.kernels.iter();
    let functional = kernels.filter(|kernel| {
        let own = subject.package.config.kernel.get(&kernel.name);
        own == Some(&CheckMode::Functional)
    });
    let finding = |kernel: &Kernel| {
        let name = &kernel.name;
        let message =
            format!("kernel `{name}` is to be `functional` in a package whose checks trap");
        Diagnostic::error(Code::CHECK_NOT_HONOURED, message)
            .at(kernel.place.clone(), "")
            .help("set `checks = \"functional\"` for the package")
    };
    functional.map(finding).collect()
}

fn of_sites(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let refused = |entry: &str| {
        let kernels = &subject.signatures.kernels;
        let kernel = kernels.iter().find(|kernel| kernel.entry == entry);
        let name = kernel.map_or(entry, |kernel| kernel.name.as_str());
        (subject.package.check_mode(name) == CheckMode::Off).then(|| name.to_owned())
    };
    let lasting = subject.sites.iter().filter(|site| !site.kind.is_debug());
    let mut findings = Vec::new();
    for site in lasting {
        for kernel in site.entries.iter().filter_map(|entry| refused(entry)) {
            let debug = match site.kind.stops() {
                true => "GPUK_DEBUG_CHECK",
                false => "GPUK_DEBUG_EXPECT",
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
                    .help(format!(
                        "or write `{debug}`, which only debug builds compile"
                    )),
            );
        }
    }
    findings
}
