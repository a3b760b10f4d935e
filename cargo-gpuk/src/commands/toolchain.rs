//! `cargo gpuk toolchain install|list|remove`.

use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::toolchain::install::{self, FromSource, InstallError, Step};
use gpuk_build::toolchain::version::Version;

use crate::cli::Toolchain;
use crate::exit::Exit;
use crate::ui::Shell;

/// Runs one of the three.
pub(super) fn toolchain(command: &Toolchain, shell: &Shell) -> Exit {
    let env = Env::of_process();
    match command {
        Toolchain::Install { version, .. } => install(version, &env, shell),
        Toolchain::List { .. } => list(&env, shell),
        Toolchain::Remove { version, .. } => remove(version, &env, shell),
    }
}

/// Installs a version, or finds it there.
pub(super) fn install(version: &str, env: &Env, shell: &Shell) -> Exit {
    let Some(version) = read(version, shell) else {
        return Exit::Usage;
    };
    let result = install::install(version, env, &mut |step| said(&step, shell));
    let installation = match result {
        Ok(installation) => installation,
        Err(error) => return failed(&error, shell),
    };
    let there = installation.installed;
    if shell.is_json() {
        shell.json(&there);
        return Exit::Success;
    }
    let verb = match installation.was_there {
        true => "Found",
        false => "Installed",
    };
    shell.status(
        verb,
        format_args!("CUDA {} in {}", there.version, there.path.display()),
    );
    if let Some(FromSource::NotCompiled(reason)) = installation.from_source {
        shell.warn(format_args!("it was tried on PTX alone: {reason}"));
    }
    Exit::Success
}

fn list(env: &Env, shell: &Shell) -> Exit {
    let installed = install::installed(env);
    for one in &installed {
        match shell.is_json() {
            true => shell.json(one),
            false => shell.data(format_args!("{}  {}", one.version, one.path.display())),
        }
    }
    if installed.is_empty() && !shell.is_json() {
        shell.say("none is installed; `cargo gpuk toolchain install` fetches one");
    }
    Exit::Success
}

fn remove(version: &str, env: &Env, shell: &Shell) -> Exit {
    let Some(version) = read(version, shell) else {
        return Exit::Usage;
    };
    match install::remove(version, env, &mut |step| said(&step, shell)) {
        Ok(true) => shell.status("Removed", format_args!("CUDA {version}")),
        Ok(false) => shell.status(
            "Skipped",
            format_args!("CUDA {version}, which is not installed"),
        ),
        Err(error) => return failed(&error, shell),
    }
    Exit::Success
}

fn read(text: &str, shell: &Shell) -> Option<Version> {
    let version = text.parse();
    if version.is_err() {
        shell.error(format_args!("`{text}` is not a version such as `13.0`"));
    }
    version.ok()
}

fn said(step: &Step, shell: &Shell) {
    match step {
        Step::Waiting => shell.status("Blocking", "waiting for another installation"),
        Step::CleaningUp(path) => {
            shell.status(
                "Removing",
                format_args!("what an interrupted installation left: {}", path.display()),
            );
        }
        Step::Replacing(path) => {
            shell.status(
                "Replacing",
                format_args!("{}, which does not work", path.display()),
            );
        }
        Step::Fetching { installer, command } => {
            shell.status("Fetching", format_args!("about 190 MB through {installer}"));
            if shell.is_verbose() {
                shell.status("Running", command);
            }
        }
        Step::FellBack(command) => shell.warn(format_args!("`{command}` failed, trying the next")),
        Step::Verifying => shell.status("Verifying", "that it compiles"),
    }
}

fn failed(error: &InstallError, shell: &Shell) -> Exit {
    shell.error(chain(error));
    match error {
        InstallError::Fs(_) => Exit::Internal,
        _ => Exit::Toolchain,
    }
}
