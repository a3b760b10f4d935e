//! The flags that commands share. Types, and what of them cargo is told.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use gpuk_build::config::{Engine, Memory};

/// Which packages, as cargo selects them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Package selection")]
pub struct Selection {
    /// Package to work on: `name`, `name@version`, or a pattern with `*`, `?` and `[ab]`
    #[arg(short, long, value_name = "SPEC")]
    pub package: Vec<String>,
    /// All packages of the workspace
    #[arg(long, alias = "all")]
    pub workspace: bool,
    /// Leave a package out
    #[arg(long, value_name = "SPEC", requires = "workspace")]
    pub exclude: Vec<String>,
    /// Path of the `Cargo.toml`
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
}

/// How kernels are compiled.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Compilation")]
pub struct Compilation {
    /// Architectures instead of the configured: `80`, `sm_90`, `90a`, `all-major`, `native`
    #[arg(long, value_name = "ARCHS", value_delimiter = ',', env = "GPUK_ARCHS")]
    pub arch: Vec<String>,
    /// Whether the compiler reads all of the headers (`nvcc`) or what is named of them (`auto`)
    #[arg(long, value_name = "ENGINE", env = "GPUK_ENGINE")]
    pub engine: Option<Engine>,
    /// Without debug checks, as a release profile builds
    #[arg(short, long, conflicts_with = "profile")]
    pub release: bool,
    /// As the cargo profile that this one stems from, `dev` or `release`, builds
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// How many compilers run at once [default: the processors, from three on two more]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// How much memory they may take together: `8GiB`, `512MiB`, or `none` for any amount [default: what is left]
    #[arg(long, value_name = "SIZE", env = "GPUK_MEMORY")]
    pub memory: Option<Memory>,
    /// Folder of the results [default: cargo's target folder]
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
    /// Which features cargo is told of.
    #[command(flatten)]
    pub features: Features,
    /// What else cargo is told.
    #[command(flatten)]
    pub cargo: Cargo,
}

/// Features of the Rust code: kernels do not depend on them, but dependencies and the program do.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Feature selection")]
pub struct Features {
    /// Features to activate, with spaces or commas between
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// All features
    #[arg(long)]
    pub all_features: bool,
    /// Not the `default` feature
    #[arg(long)]
    pub no_default_features: bool,
}

impl Features {
    /// As cargo takes them.
    pub(crate) fn flags(&self) -> Vec<String> {
        let named = self.features.iter();
        let mut flags: Vec<_> = named
            .flat_map(|list| ["--features".to_owned(), list.clone()])
            .collect();
        let switches = [
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
        ];
        flags.extend(set(&switches));
        flags
    }
}

/// What cargo is told wherever it is called.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Manifest options")]
pub struct Cargo {
    /// Take `Cargo.lock` as it is
    #[arg(long)]
    pub locked: bool,
    /// Without network
    #[arg(long)]
    pub offline: bool,
    /// Both of the two
    #[arg(long)]
    pub frozen: bool,
    /// A setting of cargo, `KEY=VALUE`, or a file of settings
    #[arg(long, value_name = "KEY=VALUE|PATH")]
    pub config: Vec<String>,
}

impl Cargo {
    /// As cargo takes it.
    pub(crate) fn flags(&self) -> Vec<String> {
        let switches = [
            ("--locked", self.locked),
            ("--offline", self.offline),
            ("--frozen", self.frozen),
        ];
        let settings = self.config.iter();
        let settings = settings.flat_map(|it| ["--config".to_owned(), it.clone()]);
        set(&switches).into_iter().chain(settings).collect()
    }

    /// Whether nothing may be fetched.
    pub(crate) fn is_offline(&self) -> bool {
        self.offline || self.frozen
    }
}

fn set(switches: &[(&str, bool)]) -> Vec<String> {
    let set = switches.iter().filter(|(_, set)| *set);
    set.map(|(flag, _)| (*flag).to_owned()).collect()
}

/// What is shown.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Display")]
pub struct Display {
    /// Form of the messages; JSON goes to standard output, one object a line
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// Short for `--message-format json`
    #[arg(long, conflicts_with = "message_format")]
    pub json: bool,
    /// Show nothing but errors [env: `CARGO_TERM_QUIET`]
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: each command that is run; twice, of cargo too [env: `CARGO_TERM_VERBOSE`]
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
    /// When to colour
    #[arg(
        long,
        value_name = "WHEN",
        env = Color::VARIABLE,
        default_value = "auto"
    )]
    pub color: Color,
}

/// Form of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// As rustc draws them
    Human,
    /// One line each
    Short,
    /// One JSON object a line
    Json,
    /// The same, with findings in one line each in `rendered`
    JsonDiagnosticShort,
    /// The same, with colours in `rendered`
    JsonDiagnosticRenderedAnsi,
    /// JSON of all but findings, which are drawn
    JsonRenderDiagnostics,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Cargo's variable for it.
    const VARIABLE: &str = "CARGO_TERM_COLOR";

    /// What the arguments and the environment ask for, before either is understood: help and errors of the command
    /// line are coloured by it.
    pub(crate) fn asked(arguments: &[OsString]) -> Self {
        let ours = arguments.iter().take_while(|word| *word != "--");
        let mut words = ours.map(|word| word.to_string_lossy());
        let mut asked = std::env::var(Self::VARIABLE).ok();
        while let Some(word) = words.next() {
            match word.strip_prefix("--color") {
                Some("") => asked = words.next().map(|value| value.into_owned()),
                Some(value) => asked = value.strip_prefix('=').map(str::to_owned).or(asked),
                None => {}
            }
        }
        let asked = asked.and_then(|value| Self::from_str(&value, true).ok());
        asked.unwrap_or(Self::Auto)
    }
}

impl From<Color> for clap::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}
