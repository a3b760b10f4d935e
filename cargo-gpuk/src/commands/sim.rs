//! Running cargo on the simulator: what it found becomes this command's report and exit code.

use std::path::PathBuf;

use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::run::ToolCommand;
use serde_json::Value;

use super::allowed::Allowlist;
use crate::cli::{Compilation, Selection};
use crate::exit::Exit;
use crate::simulator::Simulator;
use crate::ui::Shell;

/// Runs a command on the simulator, in the foreground, and reports the findings.
///
/// A finding fails the run, whatever the command said: a test can pass over memory that only happens to be right.
pub(super) fn foreground(
    command: ToolCommand,
    env: &Env,
    (selection, compilation): (&Selection, &Compilation),
    shell: &Shell,
) -> Result<(), Exit> {
    let allowed = Allowlist::load(selection, compilation, shell)?;
    let offline = compilation.cargo.is_offline();
    let simulator = Simulator::ready(env, offline, shell).map_err(|error| {
        shell.error(chain(&error));
        Exit::Internal
    })?;
    let report = Report::new();
    let command = allowed.apply(simulator.apply(command, env, &report.path), env);
    if shell.is_verbose() {
        shell.status("Running", &command);
    }
    let status = command.foreground().map_err(|error| {
        shell.error(chain(&error));
        Exit::Internal
    })?;
    let entries = report.read();
    let errors = show(&entries, shell);
    allowed.tell(&entries, status.success(), env, shell);
    match (errors, status.success()) {
        (0, true) => Ok(()),
        (0, false) => Err(Exit::of_program(status)),
        (errors, _) => {
            let noun = if errors == 1 { "finding" } else { "findings" };
            shell.error(format_args!("the simulator has {errors} {noun}"));
            Err(Exit::Findings)
        }
    }
}

/// The file that the simulator appends to; gone with this value.
struct Report {
    path: PathBuf,
}

impl Report {
    fn new() -> Self {
        let name = format!("gpuk-sim-{}.jsonl", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        Self { path }
    }

    /// What it has appended.
    fn read(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        entries.collect()
    }
}

/// Shows what was found; says how much of it are errors. What is allowed is only counted, see `allowed`.
fn show(entries: &[Value], shell: &Shell) -> usize {
    let mut errors = 0;
    for entry in entries {
        let is_error = entry["level"] == "error";
        errors += usize::from(is_error);
        if shell.is_json() {
            let mut entry = entry.clone();
            entry["reason"] = "gpuk-finding".into();
            shell.json(&entry);
            continue;
        }
        let text = entry["text"].as_str().unwrap_or_default();
        let launched = &entry["launched_at"];
        let launched = match (launched["file"].as_str(), launched["line"].as_u64()) {
            (Some(file), Some(line)) => format!("\n   = launched at {file}:{line}"),
            _ => String::new(),
        };
        match entry["level"].as_str() {
            Some("error") => shell.error(format_args!("{text}{launched}\n")),
            Some("allowed") => {}
            _ => shell.warn(format_args!("{text}{launched}\n")),
        }
    }
    errors
}

impl Drop for Report {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
