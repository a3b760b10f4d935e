//! Status lines and findings to standard error, requested data to standard output.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use cargo_metadata::Package;
use clap::ValueEnum;
use gpuk_build::diagnostic::{Code, Diagnostic, Level};
use gpuk_build::explain;
use gpuk_build::render::Render;
use serde::Serialize;

use crate::anchor;
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
    /// Whether what is said is a part of what a command does.
    part: AtomicBool,
    /// Ids of the packages of which errors were told.
    wrong: Mutex<BTreeSet<String>>,
    /// Errors that are told once however many packages have them.
    told: Mutex<BTreeSet<String>>,
    /// The workspace's folder, which places are named from, as rustc does.
    base: OnceLock<PathBuf>,
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
            quiet: display.quiet || display.verbose == 0 && is_true("CARGO_TERM_QUIET"),
            verbose: display.verbose > 0 || !display.quiet && is_true("CARGO_TERM_VERBOSE"),
            choice: match display.color {
                Color::Auto => ColorChoice::Auto,
                Color::Always => ColorChoice::Always,
                Color::Never => ColorChoice::Never,
            },
            closed: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            part: AtomicBool::new(false),
            wrong: Mutex::default(),
            told: Mutex::default(),
            base: OnceLock::new(),
            drawn: Mutex::default(),
        }
    }

    /// Whether messages are JSON.
    #[must_use]
    pub(crate) fn is_json(&self) -> bool {
        !matches!(self.format, MessageFormat::Human | MessageFormat::Short)
    }

    /// Places are to be named from this folder.
    pub(crate) fn set_base(&self, folder: &Path) {
        // There is one workspace in a run.
        let _ = self.base.set(folder.to_owned());
    }

    /// The form of the messages, as cargo names it.
    #[must_use]
    pub(crate) fn message_format(&self) -> String {
        let value = self.format.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// What follows is a part of what the command does: the last message comes later.
    pub(crate) fn begin_part(&self) {
        self.part.store(true, Ordering::Relaxed);
    }

    /// The part is done.
    pub(crate) fn end_part(&self) {
        self.part.store(false, Ordering::Relaxed);
    }

    /// Whether what is said is a part of what the command does.
    #[must_use]
    pub(crate) fn is_part(&self) -> bool {
        self.part.load(Ordering::Relaxed)
    }

    /// Whether errors of a package were told.
    #[must_use]
    pub(crate) fn has_errors_of(&self, package: &str) -> bool {
        let wrong = self.wrong.lock();
        wrong.is_ok_and(|wrong| wrong.contains(package))
    }

    /// Whether more is wanted.
    #[must_use]
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether a progress bar may be drawn: an interactive terminal that nobody asked to be quiet; as
    /// `CARGO_TERM_PROGRESS_WHEN` says, else not in continuous integration.
    #[must_use]
    pub(crate) fn draws_progress(&self) -> bool {
        let plain = |name| std::env::var_os(name).is_some_and(|value| value != "false");
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let when = std::env::var_os("CARGO_TERM_PROGRESS_WHEN").unwrap_or_default();
        let wanted = match when.to_str() {
            Some("never") => false,
            Some("always") => true,
            _ => !dumb && !plain("CI"),
        };
        io::stderr().is_terminal() && !self.quiet && !self.is_json() && wanted
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

    /// An error that is no package's own: told once.
    pub(crate) fn error_of_all(&self, text: String) {
        let first = self
            .told
            .lock()
            .is_ok_and(|mut told| told.insert(text.clone()));
        if first {
            self.error(text);
        }
    }

    /// A text on standard error, as it is.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        self.to_stderr(|stream| writeln!(stream, "{text}"));
    }

    /// Findings, in the form that was asked for; JSON goes to standard output.
    pub(crate) fn findings(&self, package: &Package, root: &Path, findings: &[Diagnostic]) {
        let base = self.base.get().map_or(root, PathBuf::as_path);
        let mut render = Render::new(base, true);
        for finding in findings {
            let finding = &from(base, root, finding);
            if finding.level == Level::Error
                && let Ok(mut wrong) = self.wrong.lock()
            {
                wrong.insert(package.id.repr.clone());
            }
            if self.quiet && finding.level != Level::Error && !self.is_json() {
                continue;
            }
            match self.format {
                MessageFormat::Human | MessageFormat::JsonRenderDiagnostics => {
                    self.say(format_args!("{}\n", render.full(finding)));
                    if finding.level != Level::Note
                        && let (Some(code), Ok(mut drawn)) = (finding.code, self.drawn.lock())
                    {
                        drawn.insert(code);
                    }
                }
                MessageFormat::Short => self.say(Render::short(finding)),
                MessageFormat::Json => {
                    let drawn = Render::new(base, false).full(finding);
                    self.message(package, base, finding, &drawn);
                }
                MessageFormat::JsonDiagnosticRenderedAnsi => {
                    self.message(package, base, finding, &render.full(finding));
                }
                MessageFormat::JsonDiagnosticShort => {
                    self.message(package, base, finding, &Render::short(finding));
                }
            }
        }
    }

    fn message(&self, package: &Package, root: &Path, finding: &Diagnostic, drawn: &str) {
        let anchor = match self.is_part() {
            true => Some(anchor::of(package)),
            false => None,
        };
        // Drawn on several lines, rustc sets an empty one behind.
        let end = if drawn.contains('\n') { "\n\n" } else { "\n" };
        let rendered = format!("{drawn}{end}");
        let message = CompilerMessage::new(package, root, finding, anchor.as_ref(), rendered);
        self.json(&message);
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

/// A finding whose places are relative to `root`, with places relative to `base`.
fn from(base: &Path, root: &Path, finding: &Diagnostic) -> Diagnostic {
    let mut finding = finding.clone();
    for label in &mut finding.labels {
        let file = root.join(&label.place.file);
        label.place.file = file.strip_prefix(base).map(Path::to_owned).unwrap_or(file);
    }
    finding
}

fn is_true(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "true")
}

fn bold(colour: AnsiColor) -> Style {
    colour.on_default().bold()
}
