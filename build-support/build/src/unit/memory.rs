//! What a unit is expected to need of memory, and what is said of a compiler that the system killed for it.

use std::path::Path;

use super::{Shop, UnitError};
use crate::diagnostic::{Diagnostic, Level};
use crate::peak::Peak;
use crate::run::{ToolCommand, ToolOutput};

/// A small source of which nothing is known yet, in bytes, and how much more a byte of it makes.
const SMALL: u64 = 256 << 20;
const BY_BYTE: u64 = 4 << 10;

/// The end of what is said of a killed compiler.
const KILLED: &str = "was killed, probably for want of memory";

/// What a source needs that was not compiled here yet.
pub(crate) fn guess(source: &Path) -> u64 {
    let size = std::fs::metadata(source).map_or(0, |file| file.len());
    SMALL.saturating_add(size.saturating_mul(BY_BYTE))
}

impl Shop<'_> {
    /// Runs a compiler to its end, whatever its exit status.
    ///
    /// # Errors
    /// It could not be started, or was killed.
    pub(crate) fn run(&self, command: &ToolCommand) -> Result<ToolOutput, UnitError> {
        self.progress.running(command);
        ended(command, command.output()?)
    }

    /// As [`run`](Self::run), one that decides what the unit needs: what it took is noted.
    pub(crate) fn compile(
        &self,
        command: &ToolCommand,
        peak: &Peak,
    ) -> Result<ToolOutput, UnitError> {
        self.progress.running(command);
        let output = command.output()?;
        // A wrapper's compilers run elsewhere.
        if let Some(bytes) = output.peak
            && self.package.config.wrapper.is_none()
        {
            peak.note(bytes);
        }
        ended(command, output)
    }
}

/// What a compiler left, unless it, or one that it started, was killed.
fn ended(command: &ToolCommand, output: ToolOutput) -> Result<ToolOutput, UnitError> {
    if !was_killed(&output) {
        return Ok(output);
    }
    let program = command.program.file_name().unwrap_or_default();
    Err(UnitError::Killed(program.to_string_lossy().into_owned()))
}

/// Nobody but the kernel kills compilers one by one. nvcc and gcc tell of their children in words, shells by a number.
fn was_killed(output: &ToolOutput) -> bool {
    const OF_SHELL: i32 = 128 + 9;
    const OF_CHILD: [&str; 2] = ["died due to signal 9 ", "Killed signal terminated program"];
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    #[cfg(not(unix))]
    let signal = None;
    signal == Some(9)
        || output.status.code() == Some(OF_SHELL)
        || !output.status.success() && OF_CHILD.iter().any(|it| output.stderr.contains(it))
}

/// The finding about a compiler that was killed.
pub(super) fn killed(program: &str) -> Diagnostic {
    Diagnostic::new(None, Level::Error, format!("`{program}` {KILLED}"))
        .help("let fewer compilers run at once: `memory = \"4GiB\"` in the manifest, `GPUK_MEMORY` or `--memory` says how much they may take together")
        .help("or divide the source, if the machine has not enough for it alone")
}

/// Whether a finding may be gone at the next build though nothing has changed.
pub(crate) fn is_killed(finding: &Diagnostic) -> bool {
    finding.code.is_none() && finding.message.ends_with(KILLED)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_compiler_is_told_from_one_that_fails() {
        let end = |script: &str| {
            let shell = ToolCommand::new("/bin/sh").args(["-c", script]);
            match ended(&shell, shell.output().unwrap()) {
                Ok(output) => format!("{:?}", output.status.code()),
                Err(UnitError::Killed(program)) => format!("{program} was killed"),
                Err(error) => format!("{error}"),
            }
        };
        assert_eq!(end("kill -KILL $$"), "sh was killed");
        assert_eq!(end("sh -c 'kill -KILL $$'; exit $?"), "sh was killed");
        // As nvcc 13.0 and gcc 13 say it.
        let nvcc = "echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\" >&2; exit 9";
        assert_eq!(end(nvcc), "sh was killed");
        let gcc = "echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1";
        assert_eq!(end(gcc), "sh was killed");
        assert_eq!(end("kill -TERM $$"), "None");
        assert_eq!(end("exit 9"), "Some(9)");
        assert_eq!(
            end("echo 'x died due to signal 9 (Kill signal)' >&2"),
            "Some(0)"
        );
        assert!(is_killed(&killed("cicc")));
    }
}
