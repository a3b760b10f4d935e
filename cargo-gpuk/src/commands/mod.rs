//! One file per command.

mod allowed;
mod build;
mod cargo;
mod check;
mod clean;
mod completions;
mod database;
mod doctor;
mod dry;
mod expand;
mod explain;
mod inspect;
mod kernels;
mod list;
mod run;
mod sanitize;
mod sim;
mod summary;
mod support;
mod test;
mod toolchain;
mod vendor;

use crate::cli::Command;
use crate::exit::Exit;
use crate::ui::Shell;

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> Exit {
    let shell = Shell::new(command.display());
    let exit = match &command {
        Command::Build(build) => build::build(build, &shell),
        Command::Check(check) => check::check(check, &shell),
        Command::List(work) => list::list(work, &shell),
        Command::Expand(expand) => expand::expand(expand, &shell),
        Command::Inspect(inspect) => inspect::inspect(inspect, &shell),
        Command::Run(run) => run::run(run, &shell),
        Command::Test(test) => test::test(test, &shell),
        Command::Sanitize(sanitize) => sanitize::sanitize(sanitize, &shell),
        Command::SimSupport(support) => support::support(support, &shell),
        Command::Explain(explain) => explain::explain(explain, &shell),
        Command::Doctor(_) => doctor::doctor(&shell),
        Command::Toolchain(command) => toolchain::toolchain(command, &shell),
        Command::CompileCommands(work) => database::database(work, &shell),
        Command::Vendor(vendor) => vendor::vendor(vendor, &shell),
        Command::Clean(clean) => clean::clean(clean, &shell),
        Command::Completions(completions) => completions::completions(completions, &shell),
    };
    shell.end(exit)
}
