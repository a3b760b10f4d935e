//! Why a toolchain could not be installed, read from what pip or uv said.

use std::fmt;
use std::path::PathBuf;

use super::installer::{Tried, VARIABLE};
use crate::fs::FsError;
use crate::toolchain::version::Version;

/// Why a fetch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The index could not be reached.
    Network,
    /// The disk is full.
    DiskFull,
    /// The index has other versions, or none for this machine.
    NoVersion,
    /// The index gave nothing at all, which pip does not tell from an index that cannot be reached.
    Nothing,
    /// Something else.
    Other,
}

/// A toolchain could not be installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The version's wheels hold no compiler.
    #[error("CUDA {version} cannot be installed from wheels: {reason}")]
    Unsupported {
        /// The version.
        version: Version,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// There is no home folder.
    #[error("no folder to install into; set `GPUK_HOME`")]
    NoHome,
    /// Neither pip nor uv works.
    #[error("{}", no_installer(.0))]
    NoInstaller(Vec<Tried>),
    /// The wheels could not be fetched.
    #[error("could not fetch CUDA {version}: {cause}{}", said(.attempts))]
    Fetch {
        /// The version.
        version: Version,
        /// Why.
        cause: Cause,
        /// Each command and what it said.
        attempts: Vec<(String, String)>,
    },
    /// Something else lies where the toolchain belongs.
    #[error("`{}` was not installed by gpuk; move it away", .0.display())]
    Foreign(PathBuf),
    /// What was fetched does not compile.
    #[error("what was fetched does not work and was not installed: {0}")]
    Verify(String),
    /// A file could not be written.
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// What the last attempt's text tells; pip and uv have no exit codes for it.
pub(crate) fn cause(attempts: &[(String, String)]) -> Cause {
    let text = attempts
        .last()
        .map(|(_, said)| said.to_lowercase())
        .unwrap_or_default();
    let has = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    // A pip that reaches no index then also says that it found no version, so the order counts.
    if has(&[
        "no space left",
        "disk quota",
        "not enough space",
        "os error 28",
        "os error 112",
    ]) {
        return Cause::DiskFull;
    }
    if has(&[
        "newconnectionerror",
        "name resolution",
        "dns error",
        "could not connect",
        "connection refused",
        "connection reset",
        "network is unreachable",
        "timed out",
        "proxyerror",
        "tunnel",
        "sslerror",
        "certificate",
        "error sending request",
        "max retries",
        "failed to fetch",
        "connecttimeout",
    ]) {
        return Cause::Network;
    }
    if has(&["from versions: none"]) {
        return Cause::Nothing;
    }
    if has(&[
        "no matching distribution",
        "could not find a version",
        "no solution found",
        "not found in the",
    ]) {
        return Cause::NoVersion;
    }
    Cause::Other
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network => "the package index cannot be reached",
            Self::DiskFull => "the disk is full (about 900 MB are needed while installing)",
            Self::NoVersion => "the package index has no such version for this machine",
            Self::Nothing => {
                "the package index cannot be reached, or has no such wheels for this machine"
            }
            Self::Other => "the installer failed",
        })
    }
}

fn no_installer(tried: &[Tried]) -> String {
    let lines = tried.iter().map(|Tried { command, outcome }| {
        let outcome = outcome
            .as_ref()
            .map_or_else(String::as_str, |found| &found.version);
        format!("\n  {command}: {outcome}")
    });
    let lines: String = lines.collect();
    match tried.len() {
        1 => format!("`{VARIABLE}` names no uv and no pip that works{lines}"),
        _ => format!(
            "neither uv nor pip works{lines}\ninstall one (Debian, Ubuntu: `apt install python3-pip`; others: \
             docs.astral.sh/uv), or name one with `{VARIABLE}`"
        ),
    }
}

fn said(attempts: &[(String, String)]) -> String {
    let texts = attempts.iter().map(|(command, said)| {
        let lines: Vec<_> = said
            .trim()
            .lines()
            .map(|line| format!("\n    {line}"))
            .collect();
        format!("\n  `{command}` said{}", lines.concat())
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_read_from_what_pip_says() {
        let cause = |text: &str| cause(&[("pip".to_owned(), text.to_owned())]);
        let none = "ERROR: Could not find a version that satisfies the requirement nvidia-cuda-nvcc==13.0.* (from versions: none)";
        assert_eq!(cause(none), Cause::Nothing);
        assert_eq!(
            cause(&none.replace("none", "13.0.48, 13.0.88")),
            Cause::NoVersion
        );
        let offline = "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(…)': /simple/x/";
        assert_eq!(cause(&format!("{offline}\n{none}")), Cause::Network);
        assert_eq!(
            cause("OSError: [Errno 28] No space left on device"),
            Cause::DiskFull
        );
        assert_eq!(cause("Traceback"), Cause::Other);
    }
}
