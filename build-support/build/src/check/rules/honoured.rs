//! GPUK0001: a non-debug check in a kernel whose mode cannot honour it.
//!
//! After checkify's rule that a check is functionalized or refused, never dropped (checks.md R4).

use crate::check::Subject;
use crate::config::CheckMode;
use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
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
                    .help(format!("or write `{debug}`, which only debug builds compile")),
            );
        }
    }
    findings
}
