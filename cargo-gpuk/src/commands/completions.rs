//! `cargo gpuk completions`: for the program's own name, `cargo-gpuk`.
//!
//! Cargo completes its own commands and asks nobody about others, so `cargo gpuk b<Tab>` is out of reach.

use clap::CommandFactory;

use crate::cli::{Cli, Completions};
use crate::exit::Exit;
use crate::ui::Shell;

/// Prints the script.
pub(super) fn completions(completions: &Completions, shell: &Shell) -> Exit {
    let mut script = Vec::new();
    let mut command = Cli::command().bin_name("cargo-gpuk");
    clap_complete::generate(completions.shell, &mut command, "cargo-gpuk", &mut script);
    shell.data(String::from_utf8_lossy(&script).trim_end());
    Exit::Success
}
