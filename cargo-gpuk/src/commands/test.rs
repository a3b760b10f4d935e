//! `cargo gpuk test`: `cargo test` on the device, or in the simulator.

use gpuk_build::env::Env;

use super::{cargo, kernels, sim};
use crate::cli::Test;
use crate::exit::Exit;
use crate::ui::Shell;

/// Runs `cargo test` for the selected packages.
pub(super) fn test(test: &Test, shell: &Shell) -> Exit {
    let Test {
        selection,
        compilation,
        display,
        ..
    } = test;
    let env = Env::of_process();
    let command = cargo::command("test", selection, compilation, display, &env).args(&test.args);
    let done = match test.sim {
        true => sim::foreground(command, &env, (selection, compilation), shell),
        false => cargo::foreground(&command, shell),
    };
    kernels::finished(shell, done.err().unwrap_or(Exit::Success))
}
