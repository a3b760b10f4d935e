//! `cargo gpuk check`: the kernels; with `--rust` the Rust code too, as the check command of an editor.
//!
//! An editor starts one command for all. rust-analyzer reads cargo's messages from it, so these are passed on as they
//! are but for two: the last one, which stands for both, and what a build script's crate says of kernels whose findings
//! were told already.

use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::pipeline::Depth;
use serde_json::Value;

use super::{build, cargo, dry, kernels};
use crate::cli::{Check, Work};
use crate::exit::Exit;
use crate::ui::Shell;

/// The macro that shows a failed build script's findings.
const SHOWS: &str = "gpuk::include_kernels!";

/// Compiles and validates; writes nothing but the store that the next build draws on.
pub(super) fn check(check: &Check, shell: &Shell) -> Exit {
    if check.dry_run {
        return dry::dry(&check.work, shell);
    }
    if !check.rust {
        return build::through(&check.work, shell, Depth::Check);
    }
    shell.begin_part();
    let of_kernels = match build::through(&check.work, shell, Depth::Check) {
        // Rust code is there to be checked all the same.
        Exit::NothingSelected => Exit::Success,
        exit => exit,
    };
    let of_rust = rust(check, shell);
    shell.end_part();
    let exit = match of_kernels {
        Exit::Success => of_rust,
        exit => exit,
    };
    kernels::finished(shell, exit)
}

/// Runs `cargo check`.
fn rust(check: &Check, shell: &Shell) -> Exit {
    let Work {
        selection,
        compilation,
        display,
    } = &check.work;
    let env = Env::of_process();
    let command = cargo::command("check", selection, compilation, display, &env);
    let format = shell.message_format();
    let command = command
        .args(["--message-format", &format])
        .args(&check.args);
    if !shell.is_json() {
        return cargo::foreground(&command, shell)
            .err()
            .unwrap_or(Exit::Success);
    }
    if shell.is_verbose() {
        shell.status("Running", &command);
    }
    let status = command.lines(|line| {
        if !is_ours(line, shell) {
            shell.data(line);
        }
    });
    match status {
        Ok(status) if status.success() => Exit::Success,
        Ok(status) => Exit::of_program(status),
        Err(error) => {
            shell.error(chain(&error));
            Exit::Internal
        }
    }
}

/// Whether a message says what this command says by itself.
fn is_ours(line: &str, shell: &Shell) -> bool {
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return false;
    };
    let shown = |span: &Value| span["expansion"]["macro_decl_name"] == SHOWS;
    match message["reason"].as_str() {
        Some("build-finished") => true,
        Some("compiler-message") => {
            let spans = message["message"]["spans"].as_array();
            let package = message["package_id"].as_str().unwrap_or_default();
            spans.is_some_and(|spans| spans.iter().any(shown)) && shell.has_errors_of(package)
        }
        _ => false,
    }
}
