//! The only place that spawns processes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use crate::peak;
use crate::response;

/// A command as data; `Display` shows it as a shell would take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables set for it.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub dir: Option<PathBuf>,
}

impl ToolCommand {
    /// A command without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            dir: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((key.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Sets the folder of temporary files: `cicc` leaves one behind for each source that does not compile (CUDA 13.0).
    #[must_use]
    pub(crate) fn temporary(self, folder: &Path) -> Self {
        // Python looks for the first of them on Windows too.
        let names: &[&str] = match cfg!(windows) {
            true => &["TMPDIR", "TEMP", "TMP"],
            false => &["TMPDIR"],
        };
        names
            .iter()
            .fold(self, |command, name| command.env(name, folder))
    }

    /// Sets the working directory.
    #[must_use]
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = Some(dir.as_ref().to_owned());
        self
    }

    /// Runs it to its end with both streams caught, whatever its exit status.
    ///
    /// # Errors
    /// It could not be started.
    pub fn output(&self) -> Result<ToolOutput, ToolError> {
        let shortened = match cfg!(windows) {
            true => response::shorten(self).map_err(|source| self.not_started(source))?,
            false => None,
        };
        let command = shortened.as_ref().map_or(self, |short| &short.command);
        let mut process = command.process();
        process.stdin(Stdio::null());
        process.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = process.spawn();
        let child = child.map_err(|source| self.not_started(source))?;
        let (output, peak) = peak::watched(child.id(), || child.wait_with_output());
        let output = output.map_err(|source| self.not_started(source))?;
        Ok(ToolOutput {
            status: output.status,
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            peak,
        })
    }

    /// Runs it to its end on the caller's own terminal and streams.
    ///
    /// # Errors
    /// It could not be started.
    pub fn foreground(&self) -> Result<ExitStatus, ToolError> {
        let status = self.process().status();
        status.map_err(|source| self.not_started(source))
    }

    /// Runs it to its end, its standard output taken line by line, all else the caller's own.
    ///
    /// # Errors
    /// It could not be started, or its output not be read.
    pub fn lines(&self, mut line: impl FnMut(&str)) -> Result<ExitStatus, ToolError> {
        let child = self.process().stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|source| self.not_started(source))?;
        for read in child
            .stdout
            .take()
            .into_iter()
            .flat_map(|it| io::BufReader::new(it).lines())
        {
            // What is no text ends nothing.
            line(&read.unwrap_or_default());
        }
        child.wait().map_err(|source| self.not_started(source))
    }

    fn process(&self) -> std::process::Command {
        #[expect(clippy::disallowed_methods, reason = "this is the place")]
        let mut command = std::process::Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
    }

    fn not_started(&self, source: io::Error) -> ToolError {
        ToolError::Start {
            command: self.to_string(),
            source,
        }
    }

    /// Runs it and takes any exit status but success for an error.
    ///
    /// # Errors
    /// It could not be started, or failed.
    pub fn run(&self) -> Result<ToolOutput, ToolError> {
        let output = self.output()?;
        if output.status.success() {
            return Ok(output);
        }
        Err(ToolError::Failed {
            command: self.to_string(),
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: output.stderr,
        })
    }
}

impl fmt::Display for ToolCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in &self.env {
            write!(f, "{}={} ", key.to_string_lossy(), quoted(value))?;
        }
        f.write_str(&quoted(self.program.as_os_str()))?;
        self.args
            .iter()
            .try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

fn quoted(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What a finished process left.
#[derive(Debug)]
pub struct ToolOutput {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, invalid UTF-8 replaced.
    pub stderr: String,
    /// The most memory that it and those that it started took, in bytes, as far as it was seen; on Linux alone.
    pub peak: Option<u64>,
}

/// A process that could not be started or failed.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It could not be started.
    #[error("could not start `{command}`")]
    Start {
        /// As a shell would take it.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// It ran and failed.
    #[error("`{command}` failed ({status}){}", streams(.stdout, .stderr))]
    Failed {
        /// As a shell would take it.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it printed.
        stdout: String,
        /// What it complained of.
        stderr: String,
    },
}

fn streams(stdout: &str, stderr: &str) -> String {
    let mut text = String::new();
    for (name, stream) in [("stdout", stdout), ("stderr", stderr)] {
        if !stream.trim().is_empty() {
            text += &format!("\n--- {name}\n{}", stream.trim_end());
        }
    }
    text
}
