//! Findings that the manifests allow: handed to the simulator, and counted when it is done.

use std::fmt::Write;

use cargo_metadata::Package;
use gpuk_build::config::{Allowed, Pattern};
use gpuk_build::diagnostic::{Diagnostic, Level};
use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::run::ToolCommand;
use serde_json::Value;

use crate::cli::{Compilation, Selection};
use crate::exit::Exit;
use crate::ui::Shell;
use crate::workspace::Workspace;

/// The variable that the simulator reads.
const VARIABLE: &str = "GPUK_SIM_ALLOW";

/// What the workspace and all its packages allow: a test may launch a kernel of any of them.
#[derive(Debug, Default)]
pub(super) struct Allowlist(Vec<Allowed>);

impl Allowlist {
    /// Reads the manifests. What is wrong in them is reported and fails the run.
    pub(super) fn load(
        selection: &Selection,
        compilation: &Compilation,
        shell: &Shell,
    ) -> Result<Self, Exit> {
        let workspace = Workspace::load(selection, compilation).map_err(|error| {
            shell.error(&error);
            Exit::Metadata
        })?;
        shell.set_base(workspace.root());
        let mut all = Self::default();
        let mut said = Vec::new();
        for package in workspace.members() {
            all.add(package, &mut said, shell)?;
        }
        match said.iter().any(|found| found.level == Level::Error) {
            true => Err(Exit::Build),
            false => Ok(all),
        }
    }

    /// Adds a package's entries. Those of the workspace come with each of them.
    fn add(
        &mut self,
        package: &Package,
        said: &mut Vec<Diagnostic>,
        shell: &Shell,
    ) -> Result<(), Exit> {
        let path = package.manifest_path.as_std_path();
        let mut findings = Vec::new();
        let entries = Allowed::read(path, &mut findings).map_err(|error| {
            shell.error(chain(&error));
            Exit::Metadata
        })?;
        findings.retain(|found| !said.contains(found));
        shell.findings(package, path.parent().unwrap_or(path), &findings);
        said.append(&mut findings);
        for entry in entries {
            if !self.0.contains(&entry) {
                self.0.push(entry);
            }
        }
        Ok(())
    }

    /// Hands the entries to the simulator, beside what the variable says already.
    pub(super) fn apply(&self, command: ToolCommand, env: &Env) -> ToolCommand {
        if self.0.is_empty() {
            return command;
        }
        let mut value = env
            .get(VARIABLE)
            .map_or_else(String::new, |value| value.to_string_lossy().into_owned());
        for entry in &self.0 {
            // A string takes everything.
            let _ = write!(value, ";{}:{}", entry.kernel, entry.finding);
        }
        command.env(VARIABLE, value)
    }

    /// Says how many findings each entry allowed, and which entries none, though the check was on and the command
    /// came to its end: one that failed to compile finds nothing either.
    pub(super) fn tell(&self, report: &[Value], ended: bool, env: &Env, shell: &Shell) {
        for entry in &self.0 {
            let Allowed {
                kernel,
                finding,
                reason,
            } = entry;
            let count = report.iter().filter(|found| is_of(found, entry)).count();
            let plural = if count == 1 { "" } else { "s" };
            if count > 0 {
                let text = format!("{count} finding{plural} `{finding}` in `{kernel}`: {reason}");
                shell.status("Allowed", text);
            } else if ended && is_on(finding, env) {
                shell.warn(format_args!(
                    "`sim.allow` has an entry for `{finding}` in `{kernel}`, of which this run found none"
                ));
            }
        }
    }
}

fn is_of(found: &Value, entry: &Allowed) -> bool {
    let kernel = Pattern {
        text: entry.kernel.clone(),
        written: true,
    };
    found["level"] == "allowed"
        && found["kind"] == entry.finding.as_str()
        && (found["kernel"].as_str()).is_some_and(|name| kernel.matches(name))
}

/// Whether findings of a kind are looked for.
fn is_on(finding: &str, env: &Env) -> bool {
    let (variable, wanted) = match finding {
        "uninitialised" => ("GPUK_SIM_UNINITIALISED", ""),
        "write-to-non-coherent" => ("GPUK_SIM_RACES", "all"),
        _ => ("GPUK_SIM_RACES", ""),
    };
    let value = env
        .get(variable)
        .map(|value| value.to_string_lossy().trim().to_owned());
    value.is_some_and(|value| match wanted {
        "" => !matches!(&*value, "" | "off"),
        wanted => value == wanted,
    })
}
