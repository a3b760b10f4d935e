//! `cargo gpuk`: compiles, checks and wraps the CUDA kernels of a cargo workspace.
//!
//! Thin: the command line (`cli`), which packages (`workspace`), what is shown (`ui`, `message`), how it ends
//! (`exit`), and one file per command. What is done to kernels stands in `gpuk-build`.

mod anchor;
mod clang;
pub mod cli;
mod commands;
mod exit;
mod flags;
mod headers;
mod message;
mod simulator;
mod spec;
mod ui;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command, CommandFactory, FromArgMatches};

pub use exit::Exit;

/// Runs the program on its own arguments.
#[must_use]
pub fn main_impl() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    // Started by cargo, the first argument is the subcommand's name; started directly, it is absent.
    if arguments.get(1).is_some_and(|first| first == "gpuk") {
        arguments.remove(1);
    }
    let color = flags::Color::asked(&arguments);
    let mut command = named(cli::Cli::command()).color(color.into());
    let matches = command.try_get_matches_from_mut(&arguments);
    let error = match matches.and_then(|matches| cli::Cli::from_arg_matches(&matches)) {
        Ok(cli) => return commands::run(cli.command).into(),
        Err(error) => placed(error, &arguments, &command),
    };
    // Nobody is left to be told where the stream is closed.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Success.into(),
        _ => Exit::Usage.into(),
    }
}

/// Every command has the program's version under the program's name.
fn named(command: Command) -> Command {
    command.display_name("cargo gpuk").mut_subcommands(named)
}

/// Says of a flag that stands before the command, as cargo's own may, where it belongs.
fn placed(mut error: Error, arguments: &[OsString], command: &Command) -> Error {
    let first = arguments.get(1).map(|first| first.to_string_lossy());
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    if error.kind() != ErrorKind::UnknownArgument || !first.is_some_and(|it| it.starts_with('-')) {
        return error;
    }
    let known = |arg: &Arg| {
        let long = arg.get_long().map(|long| format!("--{long}"));
        let short = arg.get_short().map(|short| format!("-{short}"));
        [long, short].iter().flatten().any(|name| name == flag)
    };
    let mut commands = command.get_subcommands();
    if commands.any(|command| command.get_arguments().any(known)) {
        let tip = format!("`{flag}` belongs after the command: cargo gpuk build {flag}");
        error.remove(ContextKind::SuggestedArg);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![StyledStr::from(tip)]),
        );
    }
    error
}
