//! One file per command.

mod build;
mod doctor;
mod kernels;
mod list;
mod run;
mod toolchain;

use crate::cli::Command;
use crate::exit::Exit;
use crate::ui::Shell;

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> Exit {
    match command {
        Command::Build(work) => build::build(&work, &Shell::new(&work.display)),
        Command::Check(work) => build::check(&work, &Shell::new(&work.display)),
        Command::List(work) => list::list(&work, &Shell::new(&work.display)),
        Command::Run(run) => run::run(&run, &Shell::new(&run.work.display)),
        Command::Doctor(display) => doctor::doctor(&Shell::new(&display)),
        Command::Toolchain(command) => toolchain::toolchain(&command),
    }
}
