//! The log: what was wrong with a call, one line each.
//!
//! `GPUK_SIM_LOG` is a level, and after a colon the file that the lines are appended to instead of standard error:
//!
//! - `off`
//! - `error`, the default: calls that no correct program makes
//! - `info`: also what a correct program may meet, such as machine code that is refused
//! - `trace`: also every call with what it returned

use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Nothing.
    Off,
    /// Misuse.
    Error,
    /// What a correct program may meet.
    Info,
    /// Every call.
    Trace,
}

struct Log {
    level: Level,
    file: Option<File>,
}

impl Log {
    fn from_variable(value: &str) -> Self {
        let (level, path) = match value.split_once(':') {
            Some((level, path)) => (level, Some(path)),
            None => (value, None),
        };
        let level = match level.trim() {
            "off" | "0" => Level::Off,
            "info" => Level::Info,
            "trace" => Level::Trace,
            _ => Level::Error,
        };
        let open = |path: &str| File::options().append(true).create(true).open(path);
        let file = path.filter(|path| !path.is_empty()).map(open);
        Self {
            level,
            // Where a file cannot be had, standard error can.
            file: file.and_then(Result::ok),
        }
    }
}

fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| Log::from_variable(&std::env::var("GPUK_SIM_LOG").unwrap_or_default()))
}

/// Whether lines of this level are wanted.
pub(crate) fn wants(level: Level) -> bool {
    level <= log().level
}

/// Writes a line. Failing to is no reason to fail a call.
pub(crate) fn line(level: Level, text: &str) {
    let log = log();
    if level > log.level || level == Level::Off {
        return;
    }
    let name = match level {
        Level::Off | Level::Error => "error",
        Level::Info => "info",
        Level::Trace => "trace",
    };
    let line = format!("gpuk-sim: {name}: {text}\n");
    // In one piece, since other threads and processes write too.
    let _ = match &log.file {
        Some(file) => {
            let mut file: &File = file;
            file.write_all(line.as_bytes())
        }
        None => std::io::stderr().write_all(line.as_bytes()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_a_level_and_a_file() {
        let level = |value| Log::from_variable(value).level;
        assert_eq!(level(""), Level::Error);
        assert_eq!(level("off"), Level::Off);
        assert_eq!(level("info"), Level::Info);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = Log::from_variable(&format!("trace:{}", path.display()));
        assert_eq!(log.level, Level::Trace);
        assert!(log.file.is_some() && path.exists());
    }
}
