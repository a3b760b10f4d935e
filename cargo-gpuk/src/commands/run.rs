//! `cargo gpuk run`: the kernels, then the program, where there is a device to run it on.

use gpuk_build::env::Env;
use gpuk_build::pipeline::Depth;
use gpuk_build::toolchain::{self, Request};

use super::{cargo, kernels, list, sim};
use crate::cli::{Run, Work};
use crate::exit::Exit;
use crate::ui::Shell;

/// Builds kernels and program, lists what was generated, and runs the program.
pub(super) fn run(run: &Run, shell: &Shell) -> Exit {
    match steps(run, shell) {
        Ok(()) => Exit::Success,
        Err(exit) => exit,
    }
}

fn steps(run: &Run, shell: &Shell) -> Result<(), Exit> {
    let env = Env::of_process();
    if run.install_toolchain && toolchain::find(&Request::default(), &env).is_err() {
        if run.work.compilation.cargo.is_offline() {
            shell.error("there is no CUDA compiler, and none can be installed without network");
            shell.say("  run `cargo gpuk toolchain install` once, or leave out `--offline` and `--frozen`");
            return Err(Exit::Toolchain);
        }
        shell.status("Installing", "a CUDA compiler, for there is none");
        let version = toolchain::DEFAULT_VERSION;
        match super::toolchain::install(version, &env, shell) {
            Exit::Success => {}
            exit => return Err(exit),
        }
    }
    let workspace = kernels::workspace(&run.work, shell)?;
    let done = kernels::build(&workspace, &run.work, shell, Depth::Check)?;
    list::print(&done, shell);
    kernels::finished(shell, Exit::Success);

    let Work {
        selection,
        compilation,
        display,
    } = &run.work;
    let device = has_device(&env);
    let simulate = run.sim || run.sim_if_no_device && !device;
    let verb = match device || simulate {
        true => "run",
        false => "build",
    };
    let mut command = cargo::command(verb, selection, compilation, display, &env);
    for (flag, name) in [("--bin", &run.bin), ("--example", &run.example)] {
        if let Some(name) = name {
            command = command.args([flag, name]);
        }
    }
    if verb == "run" {
        command = command.arg("--").args(&run.args);
    }
    if simulate {
        return sim::foreground(command, &env, (selection, compilation), shell);
    }
    cargo::foreground(&command, shell)?;
    if device {
        return Ok(());
    }
    shell.warn(
        "the program was built but not run: this machine has no NVIDIA device\n  \
         (`cargo gpuk doctor` says what was looked for; `--sim` runs it in the simulator)",
    );
    Err(Exit::NoDevice)
}

/// Whether a driver is there to be asked; the program itself says what is wrong with it.
fn has_device(env: &Env) -> bool {
    toolchain::doctor::driver_library(env).is_some()
}
