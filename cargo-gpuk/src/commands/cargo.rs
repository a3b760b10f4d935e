//! Calling cargo back: the flags that are passed on, and running it in the foreground.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::run::ToolCommand;

use crate::cli::{Color, Compilation, Display, Selection};
use crate::exit::Exit;
use crate::ui::Shell;

/// The cargo that started this command, for `verb`, with what was selected and set.
pub(super) fn command(
    verb: &str,
    selection: &Selection,
    compilation: &Compilation,
    display: &Display,
    env: &Env,
) -> ToolCommand {
    let program = env.path("CARGO").unwrap_or_else(|| PathBuf::from("cargo"));
    let mut command = ToolCommand::new(program).arg(verb);
    command.args.extend(flags(selection, compilation, display));
    if !compilation.arch.is_empty() {
        // The program's build script reads no flags of ours.
        command = command.env("GPUK_ARCHS", compilation.arch.join(","));
    }
    if let Some(engine) = compilation.engine {
        command = command.env("GPUK_ENGINE", engine.as_str());
    }
    if let Some(memory) = compilation.memory {
        command = command.env("GPUK_MEMORY", memory.to_string());
    }
    command
}

fn flags(selection: &Selection, compilation: &Compilation, display: &Display) -> Vec<OsString> {
    let mut flags = Vec::new();
    let mut pair = |flag: &str, value: &OsStr| flags.extend([flag.into(), value.to_owned()]);
    if let Some(path) = &selection.manifest_path {
        pair("--manifest-path", path.as_os_str());
    }
    for package in &selection.package {
        pair("--package", package.as_ref());
    }
    for package in &selection.exclude {
        pair("--exclude", package.as_ref());
    }
    if let Some(jobs) = compilation.jobs {
        pair("--jobs", jobs.to_string().as_ref());
    }
    if let Some(folder) = &compilation.target_dir {
        pair("--target-dir", folder.as_os_str());
    }
    if let Some(profile) = &compilation.profile {
        pair("--profile", profile.as_ref());
    }
    let switches = [
        ("--workspace", selection.workspace),
        ("--release", compilation.release),
        ("--quiet", display.quiet),
    ];
    let set = switches.iter().filter(|(_, set)| *set);
    flags.extend(set.map(|(flag, _)| (*flag).into()));
    let verbose = usize::from(display.verbose);
    flags.extend(std::iter::repeat_n("--verbose".into(), verbose));
    // Cargo reads `CARGO_TERM_COLOR` by itself.
    match display.color {
        Color::Auto => {}
        Color::Always => flags.extend(["--color".into(), "always".into()]),
        Color::Never => flags.extend(["--color".into(), "never".into()]),
    }
    let told = compilation.features.flags().into_iter();
    flags.extend(told.chain(compilation.cargo.flags()).map(Into::into));
    flags
}

/// Runs cargo in the foreground; its failure is this command's.
pub(super) fn foreground(command: &ToolCommand, shell: &Shell) -> Result<(), Exit> {
    if shell.is_verbose() {
        shell.status("Running", command);
    }
    match command.foreground() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Exit::of_program(status)),
        Err(error) => {
            shell.error(chain(&error));
            Err(Exit::Internal)
        }
    }
}
