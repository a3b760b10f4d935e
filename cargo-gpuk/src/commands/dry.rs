//! `--dry-run` of `build` and `check`: the commands that would be run.

use gpuk_build::commands::commands;
use gpuk_build::env::Env;

use super::kernels;
use crate::cli::Work;
use crate::exit::Exit;
use crate::ui::Shell;

/// Prints them, as a shell would take them, for every selected package.
pub(super) fn dry(work: &Work, shell: &Shell) -> Exit {
    let printed = kernels::workspace(work, shell).and_then(|workspace| {
        let env = Env::of_process();
        let mut with_kernels = false;
        for member in workspace.packages() {
            let mut findings = Vec::new();
            let compilation = &work.compilation;
            let read =
                kernels::package(&workspace, member, compilation, &env, shell, &mut findings)?;
            let Some(package) = read else {
                continue;
            };
            with_kernels = true;
            let commands = commands(&package, &env, findings)
                .map_err(|error| kernels::report(member, &package.root, &error, shell))?;
            commands.iter().for_each(|command| shell.data(command));
        }
        match with_kernels {
            true => Ok(()),
            false => Err(kernels::nothing_selected(shell)),
        }
    });
    printed.err().unwrap_or(Exit::Success)
}
