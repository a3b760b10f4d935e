//! The command line: the commands. Types only; what a command does stands in `commands`, the flags that commands share
//! in `flags`.

use std::ffi::OsString;
use std::path::PathBuf;

use anstyle::{AnsiColor, Effects, Style};
use clap::builder::Styles;
use clap::{Args, Parser, Subcommand, ValueEnum};
use gpuk_build::code::Code;

pub use crate::flags::{Color, Compilation, Display, MessageFormat, Selection};

/// Cargo's own colours (cargo's `style.rs`).
const STYLES: Styles = Styles::styled()
    .header(bold(AnsiColor::Green))
    .usage(bold(AnsiColor::Green))
    .literal(bold(AnsiColor::Cyan))
    .placeholder(AnsiColor::Cyan.on_default())
    .error(bold(AnsiColor::Red))
    .valid(bold(AnsiColor::Cyan))
    .invalid(bold(AnsiColor::Yellow));

const fn bold(colour: AnsiColor) -> Style {
    colour.on_default().effects(Effects::BOLD)
}

/// Compiles, checks and wraps the CUDA kernels of a cargo workspace
#[derive(Debug, Parser)]
#[command(
    name = "cargo gpuk",
    bin_name = "cargo gpuk",
    version,
    propagate_version = true,
    styles = STYLES,
    max_term_width = 100,
    after_help = "Flags belong after `gpuk`: cargo does not pass on those that stand before it."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile the kernels and write artifacts and wrappers
    Build(Build),
    /// Compile and validate the kernels; artifacts and wrappers stay as they are
    Check(Check),
    /// List the kernels with their Rust signatures
    List(Work),
    /// Print the generated wrappers
    Expand(Expand),
    /// Print what a stage of the build made of a source or a kernel
    Inspect(Inspect),
    /// Build the kernels, then `cargo run` the program where there is a device
    Run(Run),
    /// `cargo test`, on the device or in the simulator
    Test(Test),
    /// Run a program or the tests under compute-sanitizer
    Sanitize(Sanitize),
    /// List the instructions that the simulator does not have, without running anything
    SimSupport(SimSupport),
    /// Say what a diagnostic code means and how to mend what it is about
    Explain(Explain),
    /// Say what was looked for, where, what was found and what to do
    Doctor(Display),
    /// Install, list or remove CUDA compilers
    #[command(subcommand)]
    Toolchain(Toolchain),
    /// Write `compile_commands.json` for clangd, into the folder of the results
    CompileCommands(Work),
    /// Keep the compiled kernels with the package, for machines without a CUDA compiler
    Vendor(Vendor),
    /// Remove what the commands here have written
    Clean(Clean),
    /// Print a script that completes the command line
    Completions(Completions),
}

impl Command {
    /// What the command shows.
    pub(crate) fn display(&self) -> &Display {
        match self {
            Self::Build(build) => &build.work.display,
            Self::List(work) | Self::CompileCommands(work) => &work.display,
            Self::Check(check) => &check.work.display,
            Self::Expand(expand) => &expand.work.display,
            Self::Inspect(inspect) => &inspect.work.display,
            Self::Sanitize(sanitize) => &sanitize.display,
            Self::Vendor(vendor) => &vendor.work.display,
            Self::Clean(clean) => &clean.display,
            Self::Completions(completions) => &completions.display,
            Self::Run(run) => &run.work.display,
            Self::Test(test) => &test.display,
            Self::SimSupport(support) => &support.work.display,
            Self::Explain(explain) => &explain.display,
            Self::Doctor(display)
            | Self::Toolchain(
                Toolchain::Install { display, .. }
                | Toolchain::List { display }
                | Toolchain::Remove { display, .. },
            ) => display,
        }
    }
}

/// Selection, configuration and output of the commands that read a workspace.
#[derive(Debug, Clone, Args)]
pub struct Work {
    /// Which packages.
    #[command(flatten)]
    pub selection: Selection,
    /// How they are compiled.
    #[command(flatten)]
    pub compilation: Compilation,
    /// What is shown.
    #[command(flatten)]
    pub display: Display,
}

/// `cargo gpuk build`.
#[derive(Debug, Args)]
pub struct Build {
    /// Which packages, how, and what is shown.
    #[command(flatten)]
    pub work: Work,
    /// Print the commands that would be run, and run none; they run in the package's folder
    #[arg(long)]
    pub dry_run: bool,
}

/// `cargo gpuk check`.
#[derive(Debug, Args)]
pub struct Check {
    /// As of `build`.
    #[command(flatten)]
    pub work: Work,
    /// As of `build`: print the commands that would be run, and run none
    #[arg(long, conflicts_with = "rust")]
    pub dry_run: bool,
    /// Check the Rust code too: runs `cargo check` and passes its messages on, as an editor wants it
    #[arg(long)]
    pub rust: bool,
    /// Arguments of `cargo check`
    #[arg(last = true, value_name = "ARGS", requires = "rust")]
    pub args: Vec<OsString>,
}

/// `cargo gpuk run`.
#[derive(Debug, Args)]
pub struct Run {
    /// As of `build`.
    #[command(flatten)]
    pub work: Work,
    /// The program's binary target
    #[arg(long, value_name = "NAME", help_heading = "Package selection")]
    pub bin: Option<String>,
    /// The program's example target
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "bin",
        help_heading = "Package selection"
    )]
    pub example: Option<String>,
    /// Install a CUDA compiler first, if none is found
    #[arg(long, help_heading = "Compilation")]
    pub install_toolchain: bool,
    /// Run the program in the simulator
    #[arg(long)]
    pub sim: bool,
    /// Run the program in the simulator where there is no device
    #[arg(long, conflicts_with = "sim")]
    pub sim_if_no_device: bool,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// `cargo gpuk test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Which packages.
    #[command(flatten)]
    pub selection: Selection,
    /// How they are compiled.
    #[command(flatten)]
    pub compilation: Compilation,
    /// What is shown.
    #[command(flatten)]
    pub display: Display,
    /// Run the tests in the simulator: no device is needed, every access is checked
    #[arg(long)]
    pub sim: bool,
    /// Arguments of `cargo test`, with a second `--` before those of the tests
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// `cargo gpuk expand`.
#[derive(Debug, Args)]
pub struct Expand {
    /// As of `build`.
    #[command(flatten)]
    pub work: Work,
    /// Items to print instead of all: `gather` (a module), `gather::scale` (a method, a struct)
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
}

/// `cargo gpuk inspect`.
#[derive(Debug, Args)]
#[command(after_help = "`cargo gpuk expand` prints wrappers, `cargo gpuk list` signatures.")]
pub struct Inspect {
    /// As of `build`; of several architectures the lowest is shown.
    #[command(flatten)]
    pub work: Work,
    /// What is printed
    #[arg(long, value_name = "STAGE", default_value = "checked")]
    pub stage: Stage,
    /// Of what, instead of all sources: `kernels/gather.cu`, `gather` (a module), `gather::scale` (a kernel)
    #[arg(value_name = "SOURCE|KERNEL")]
    pub names: Vec<String>,
}

/// The stages of a build, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The text that the device compiler reads, headers and all
    Preprocessed,
    /// The PTX as the compiler prints it
    Compiled,
    /// The PTX that ships, its checks made records
    Checked,
    /// The machine code, by nvdisasm
    Sass,
    /// What each kernel takes of a multiprocessor
    Resources,
}

/// `cargo gpuk sanitize`.
#[derive(Debug, Args)]
pub struct Sanitize {
    /// Which packages.
    #[command(flatten)]
    pub selection: Selection,
    /// How they are compiled.
    #[command(flatten)]
    pub compilation: Compilation,
    /// What is shown.
    #[command(flatten)]
    pub display: Display,
    /// compute-sanitizer's tool
    #[arg(long, value_name = "TOOL", default_value = "memcheck")]
    pub tool: Tool,
    /// Run the tests instead of the program
    #[arg(long, conflicts_with_all = ["bin", "example"])]
    pub tests: bool,
    /// The program's binary target
    #[arg(long, value_name = "NAME", help_heading = "Package selection")]
    pub bin: Option<String>,
    /// The program's example target
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "bin",
        help_heading = "Package selection"
    )]
    pub example: Option<String>,
    /// An option of compute-sanitizer's own; may be given again
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub option: Vec<OsString>,
    /// Arguments of the program, or of `cargo test`
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// compute-sanitizer's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Tool {
    /// Accesses out of bounds or misaligned, and leaks
    Memcheck,
    /// Races in shared memory
    Racecheck,
    /// Reads of memory that nobody wrote
    Initcheck,
    /// Wrong use of barriers
    Synccheck,
}

/// `cargo gpuk vendor`.
#[derive(Debug, Args)]
pub struct Vendor {
    /// As of `build`; `--release` leaves the development profile out.
    #[command(flatten)]
    pub work: Work,
    /// Write nothing; fail if what is there is not current. Needs no compiler
    #[arg(long)]
    pub check: bool,
}

/// `cargo gpuk clean`.
#[derive(Debug, Args)]
pub struct Clean {
    /// Which packages.
    #[command(flatten)]
    pub selection: Selection,
    /// How they are compiled: where the results lie.
    #[command(flatten)]
    pub compilation: Compilation,
    /// What is shown.
    #[command(flatten)]
    pub display: Display,
}

/// `cargo gpuk completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// For which shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
    /// What is shown.
    #[command(flatten)]
    pub display: Display,
}

/// `cargo gpuk explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// Codes such as `GPUK0001`; without any, all are listed
    #[arg(value_name = "CODE")]
    pub codes: Vec<Code>,
    /// What is shown.
    #[command(flatten)]
    pub display: Display,
}

/// `cargo gpuk sim-support`.
#[derive(Debug, Args)]
pub struct SimSupport {
    /// As of `build`.
    #[command(flatten)]
    pub work: Work,
    /// PTX files to look at instead of the packages' kernels
    #[arg(value_name = "PTX")]
    pub files: Vec<PathBuf>,
}

/// `cargo gpuk toolchain`.
#[derive(Debug, Subcommand)]
pub enum Toolchain {
    /// Fetch NVIDIA's compiler wheels through your own pip or uv
    Install {
        /// `13.0`, or another 13.N
        #[arg(id = "which", value_name = "VERSION", default_value = gpuk_build::toolchain::DEFAULT_VERSION)]
        version: String,
        /// What is shown.
        #[command(flatten)]
        display: Display,
    },
    /// The installed ones
    List {
        /// What is shown.
        #[command(flatten)]
        display: Display,
    },
    /// Remove one
    Remove {
        /// `13.0`
        #[arg(id = "which", value_name = "VERSION")]
        version: String,
        /// What is shown.
        #[command(flatten)]
        display: Display,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
