//! `cargo gpuk`: compiles, checks and wraps the CUDA kernels of a cargo workspace.
//!
//! Thin: the command line (`cli`), which packages (`workspace`), what is shown (`ui`, `message`), how it ends
//! (`exit`), and one file per command. What is done to kernels stands in `gpuk-build`.

mod clang;
pub mod cli;
mod commands;
mod exit;
mod headers;
mod message;
mod simulator;
mod ui;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

pub use exit::Exit;

/// Runs the program on its own arguments.
#[must_use]
pub fn main_impl() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    // Started by cargo, the first argument is the subcommand's name; started directly, it is absent.
    if arguments.get(1).is_some_and(|first| first == "gpuk") {
        arguments.remove(1);
    }
    match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => commands::run(cli.command).into(),
        Err(error) => {
            // Nobody is left to be told where the stream is closed.
            let _ = error.print();
            match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Success.into(),
                _ => Exit::Usage.into(),
            }
        }
    }
}
