//! `cargo gpuk doctor`: what was looked for, where, what was found and what to do.

use anstyle::{AnsiColor, Style};
use gpuk_build::env::Env;
use gpuk_build::toolchain::Request;
use gpuk_build::toolchain::doctor::{self, Health};
use gpuk_build::toolchain::host::HostRequest;

use crate::exit::Exit;
use crate::ui::Shell;

/// Looks at everything; a missing compiler is this command's failure.
pub(super) fn doctor(shell: &Shell) -> Exit {
    let report = doctor::report(
        &Request::default(),
        &HostRequest::default(),
        &Env::of_process(),
    );
    if shell.is_json() {
        shell.json(&report);
    } else {
        shell.data(format_args!("{}\n", report.search));
        for line in &report.lines {
            let (word, colour) = match line.health {
                Health::Ok => ("ok", AnsiColor::Green),
                Health::Warn => ("warn", AnsiColor::Yellow),
                Health::Missing => ("missing", AnsiColor::Red),
            };
            let style: Style = colour.on_default().bold();
            shell.data(format_args!(
                "{style}{word:>8}{style:#} {}: {}",
                line.subject, line.found
            ));
            if let Some(remedy) = &line.remedy {
                shell.data(format_args!("         {remedy}"));
            }
        }
    }
    match report.toolchain {
        Some(_) => Exit::Success,
        None => Exit::Toolchain,
    }
}
