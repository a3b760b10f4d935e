//! Status lines and findings to standard error, requested data to standard output.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use cargo_metadata::Package;
use gpuk_build::diagnostic::{Code, Diagnostic, Level};
use gpuk_build::explain;
use gpuk_build::render::Render;
use serde::Serialize;

use crate::cli::{Color, Display, MessageFormat};
use crate::exit::Exit;
use crate::message::CompilerMessage;

/// Where everything a command says goes.
#[derive(Debug)]
pub(crate) struct Shell {
    format: MessageFormat,
    quiet: bool,
    verbose: bool,
    choice: ColorChoice,
    closed: AtomicBool,
    lost: AtomicBool,
    /// Codes of the errors and warnings that were drawn in full.
    drawn: Mutex<BTreeSet<Code>>,
}

impl Shell {
    /// By the flags and the environment.
    #[must_use]
    pub(crate) fn new(display: &Display) -> Self {
        Self {
            format: match display.json {
                true => MessageFormat::Json,
                false => display.message_format,
            },
            // A flag goes over the other's variable.
            quiet: display.quiet || !display.verbose && is_true("CARGO_TERM_QUIET"),
            verbose: display.verbose || !display.quiet && is_true("CARGO_TERM_VERBOSE"),
            choice: match display.color {
                Color::Auto => ColorChoice::Auto,
                Color::Always => ColorChoice::Always,
                Color::Never => ColorChoice::Never,
            },
            closed: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            drawn: Mutex::default(),
        }
    }

    /// Whether messages are JSON.
    #[must_use]
    pub(crate) fn is_json(&self) -> bool {
        self.format == MessageFormat::Json
    }

    /// Whether more is wanted.
    #[must_use]
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether a progress bar may be drawn: an interactive terminal that nobody asked to be quiet, not in
    /// continuous integration.
    #[must_use]
    pub(crate) fn draws_progress(&self) -> bool {
        let plain = |name| std::env::var_os(name).is_some_and(|value| value != "false");
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        io::stderr().is_terminal() && !self.quiet && !self.is_json() && !dumb && !plain("CI")
    }

    /// Whether what is drawn may be coloured.
    #[must_use]
    pub(crate) fn colours(&self) -> bool {
        let choice = match self.choice {
            ColorChoice::Auto => AutoStream::choice(&io::stderr()),
            choice => choice,
        };
        choice != ColorChoice::Never
    }

    /// `   Compiling kernels/gather.cu`, as cargo sets it.
    pub(crate) fn status(&self, verb: &str, text: impl std::fmt::Display) {
        if !self.quiet {
            self.line(verb, AnsiColor::Green, text);
        }
    }

    /// A status that calls for attention.
    pub(crate) fn warn(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            self.prefixed("warning", AnsiColor::Yellow, text);
        }
    }

    /// An error that no source line caused.
    pub(crate) fn error(&self, text: impl std::fmt::Display) {
        self.prefixed("error", AnsiColor::Red, text);
    }

    /// A text on standard error, as it is.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        self.to_stderr(|stream| writeln!(stream, "{text}"));
    }

    /// Findings, in the form that was asked for; JSON goes to standard output.
    pub(crate) fn findings(&self, package: &Package, root: &Path, findings: &[Diagnostic]) {
        let mut render = Render::new(root, true);
        for finding in findings {
            if self.quiet && finding.level != Level::Error && !self.is_json() {
                continue;
            }
            match self.format {
                MessageFormat::Human => {
                    self.say(format_args!("{}\n", render.full(finding)));
                    if finding.level != Level::Note
                        && let (Some(code), Ok(mut drawn)) = (finding.code, self.drawn.lock())
                    {
                        drawn.insert(code);
                    }
                }
                MessageFormat::Short => self.say(Render::short(finding)),
                MessageFormat::Json => {
                    let rendered = Render::new(root, false).full(finding);
                    self.json(&CompilerMessage::new(package, root, finding, rendered));
                }
            }
        }
    }

    /// One JSON object on a line of standard output.
    pub(crate) fn json(&self, message: &impl Serialize) {
        if let Ok(line) = serde_json::to_string(message) {
            self.data(line);
        }
    }

    /// Requested data on standard output.
    pub(crate) fn data(&self, text: impl std::fmt::Display) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        let mut stream = AutoStream::new(io::stdout().lock(), self.choice);
        if let Err(error) = writeln!(stream, "{text}") {
            self.closed.store(true, Ordering::Relaxed);
            // A reader that has seen enough (`| head`) is no error.
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.lost.store(true, Ordering::Relaxed);
                self.error(format_args!("could not write to standard output: {error}"));
            }
        }
    }

    /// How a command ends: with a pointer to the pages of the codes that were shown; not well if what it printed
    /// was lost.
    #[must_use]
    pub(crate) fn end(&self, exit: Exit) -> Exit {
        let drawn = self.drawn.lock().map(|drawn| explain::pointer(&drawn));
        if let Ok(Some(pointer)) = drawn {
            self.say(pointer);
        }
        match exit {
            Exit::Success if self.lost.load(Ordering::Relaxed) => Exit::Internal,
            exit => exit,
        }
    }

    fn line(&self, verb: &str, colour: AnsiColor, text: impl std::fmt::Display) {
        let style = bold(colour);
        self.to_stderr(|stream| writeln!(stream, "{style}{verb:>12}{style:#} {text}"));
    }

    fn prefixed(&self, word: &str, colour: AnsiColor, text: impl std::fmt::Display) {
        let style = bold(colour);
        self.to_stderr(|stream| writeln!(stream, "{style}{word}{style:#}: {text}"));
    }

    fn to_stderr(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.choice);
        // Nobody is left to be told.
        let _ = write(&mut stream);
    }
}

fn is_true(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "true")
}

fn bold(colour: AnsiColor) -> Style {
    colour.on_default().bold()
}
