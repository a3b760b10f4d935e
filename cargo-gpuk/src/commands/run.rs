//! `cargo gpuk run`: the kernels, then the program, where there is a device to run it on.

use std::path::PathBuf;

use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::pipeline::Depth;
use gpuk_build::run::ToolCommand;
use gpuk_build::toolchain::{self, Request};

use super::{kernels, list};
use crate::cli::Run;
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

    let cargo = env.path("CARGO").unwrap_or_else(|| PathBuf::from("cargo"));
    let mut command = ToolCommand::new(cargo).args(["run"]);
    command.args.extend(flags(run));
    if !run.work.compilation.arch.is_empty() {
        // The program's build script reads no flags of ours.
        command = command.env("GPUK_ARCHS", run.work.compilation.arch.join(","));
    }
    if !has_device(&env) {
        command.args[0] = "build".into();
        status(command, shell)?;
        shell.warn(
            "the program was built but not run: this machine has no NVIDIA device\n  \
             (no libcuda.so.1, or no /dev/nvidiactl; `cargo gpuk doctor` says what was looked for)",
        );
        return match run.if_device {
            true => Ok(()),
            false => Err(Exit::NoDevice),
        };
    }
    command.args.push("--".into());
    command.args.extend(run.args.iter().cloned());
    status(command, shell)
}

fn flags(run: &Run) -> Vec<std::ffi::OsString> {
    let mut flags = Vec::new();
    let mut pair =
        |flag: &str, value: &std::ffi::OsStr| flags.extend([flag.into(), value.to_owned()]);
    if let Some(path) = &run.work.selection.manifest_path {
        pair("--manifest-path", path.as_os_str());
    }
    for package in &run.work.selection.package {
        pair("--package", package.as_ref());
    }
    for (flag, name) in [("--bin", &run.bin), ("--example", &run.example)] {
        if let Some(name) = name {
            pair(flag, name.as_ref());
        }
    }
    let compilation = &run.work.compilation;
    if let Some(jobs) = compilation.jobs {
        pair("--jobs", jobs.to_string().as_ref());
    }
    if let Some(folder) = &compilation.target_dir {
        pair("--target-dir", folder.as_os_str());
    }
    let switches = [
        ("--release", compilation.release),
        ("--locked", compilation.locked),
        ("--offline", compilation.offline),
        ("--frozen", compilation.frozen),
        ("--quiet", run.work.display.quiet),
    ];
    flags.extend(
        switches
            .iter()
            .filter(|(_, set)| *set)
            .map(|(flag, _)| (*flag).into()),
    );
    flags
}

/// Runs cargo in the foreground; its failure is this command's.
fn status(command: ToolCommand, shell: &Shell) -> Result<(), Exit> {
    if shell.is_verbose() {
        shell.status("Running", &command);
    }
    match command.foreground() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Exit::Program(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        )),
        Err(error) => {
            shell.error(chain(&error));
            Err(Exit::Internal)
        }
    }
}

/// Whether a driver is there to be asked; the program itself says what is wrong with it.
fn has_device(env: &Env) -> bool {
    toolchain::doctor::driver_library(env).is_some()
}
