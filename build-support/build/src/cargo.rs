//! What a build script tells cargo; the only place of this crate that prints.

use std::path::Path;

use crate::diagnostic::{Diagnostic, Level};
use crate::render::Render;

/// Lines to cargo, in its `cargo::` form (1.77 and newer).
#[derive(Debug, Default)]
pub(crate) struct Directives {
    lines: Vec<String>,
}

impl Directives {
    /// Run again when this file or folder changes. It must exist: cargo runs the script at every build
    /// for one that does not.
    pub(crate) fn rerun_if_changed(&mut self, path: &Path) {
        let path = path.to_string_lossy();
        if !path.contains('\n') {
            self.lines.push(format!("rerun-if-changed={path}"));
        }
    }

    /// Run again when this variable changes.
    pub(crate) fn rerun_if_env_changed(&mut self, name: &str) {
        self.lines.push(format!("rerun-if-env-changed={name}"));
    }

    /// Tells the build scripts of packages that depend on this one: `DEP_<LINKS>_<KEY>`.
    pub(crate) fn metadata(&mut self, key: &str, value: &str) {
        if !value.contains('\n') {
            self.lines.push(format!("metadata={key}={value}"));
        }
    }

    /// Look for libraries in this folder.
    pub(crate) fn link_search(&mut self, folder: &Path) {
        let folder = folder.to_string_lossy();
        if !folder.contains('\n') {
            self.lines
                .push(format!("rustc-link-search=native={folder}"));
        }
    }

    /// Link a library: `static=name`, `dylib=name`.
    pub(crate) fn link(&mut self, library: &str) {
        self.lines.push(format!("rustc-link-lib={library}"));
    }

    /// Declares `cfg(gpuk_failed)` and, after a failure, sets it: `gpuk::include_kernels!()` then shows why.
    pub(crate) fn outcome(&mut self, failed: bool) {
        self.lines
            .push("rustc-check-cfg=cfg(gpuk_failed)".to_owned());
        if failed {
            self.lines.push("rustc-cfg=gpuk_failed".to_owned());
        }
    }

    /// One line for a finding that does not fail the build.
    pub(crate) fn warning(&mut self, finding: &Diagnostic) {
        if finding.level == Level::Warning {
            self.lines
                .push(format!("warning={}", Render::short(finding)));
        }
    }

    /// Prints them.
    #[expect(
        clippy::print_stdout,
        reason = "a build script talks to cargo on standard output"
    )]
    pub(crate) fn print(&self) {
        for line in &self.lines {
            println!("cargo::{line}");
        }
    }
}

/// Ends the build script where not even the failure could be written down.
#[expect(
    clippy::print_stderr,
    reason = "cargo shows a failed build script's standard error"
)]
pub(crate) fn abort(error: &dyn std::error::Error) -> ! {
    eprintln!("error: {}", crate::error::chain(error));
    std::process::exit(1)
}
