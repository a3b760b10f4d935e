//! Findings, one JSON object a line in the file that `GPUK_SIM_REPORT` names, or drawn on standard error.
//!
//! Each has `level` (`error`; `warning` for what need not be wrong, such as memory that is left when the process
//! ends, or several threads that write the same; `allowed` for what the user allows, which is not drawn), `kind`, `text`, the finding as a person reads it, and, where there are such, `code`, the driver's error
//! number that the program gets, `kernel`, `launched_at`, the program's line, `place` in the source of the kernel,
//! `thread`, and `finding` with everything that the simulator knows.

use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;

use gpuk_sim::{AccessError, Fault, Finding, Kind, Place, Thread};
use serde::Serialize;

use crate::leak::Leak;
use crate::origin::{Line, Origin};

/// The level of what the user allows.
const ALLOWED: &str = "allowed";

#[derive(Debug, Serialize)]
struct Entry<'a> {
    level: &'static str,
    kind: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launched_at: Option<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<&'a Thread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<&'a Finding>,
}

impl<'a> Entry<'a> {
    fn new(level: &'static str, kind: &'static str, text: String) -> Self {
        Self {
            level,
            kind,
            text,
            code: None,
            kernel: None,
            launched_at: None,
            place: None,
            thread: None,
            finding: None,
        }
    }

    /// What is known of a finding.
    fn of(finding: &'a Finding) -> Self {
        let level = match finding.kind {
            Kind::SameValueRace => "warning",
            _ => "error",
        };
        Self {
            kernel: Some(&finding.kernel),
            place: finding.place.as_ref(),
            thread: Some(&finding.thread),
            finding: Some(finding),
            ..Self::new(level, finding.kind.name(), finding.to_string())
        }
    }

    fn write(mut self, origin: Option<&Origin>) {
        self.launched_at = origin.and_then(Origin::line);
        match file() {
            Some(mut file) => {
                if let Ok(mut line) = serde_json::to_string(&self) {
                    line.push('\n');
                    // In one piece, since other processes write too. There is nobody to tell of a failure.
                    let _ = file.write_all(line.as_bytes()).and_then(|()| file.flush());
                }
            }
            None => self.draw(),
        }
    }

    fn draw(&self) {
        if self.level == ALLOWED {
            return;
        }
        let mut drawn = format!("gpuk-sim: {}: {}\n", self.level, self.text);
        if let Some(line) = &self.launched_at {
            drawn.push_str(&format!("  launched at {line}\n"));
        }
        let _ = std::io::stderr().write_all(drawn.as_bytes());
    }
}

fn file() -> Option<&'static File> {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let open = || {
        let path = std::env::var_os("GPUK_SIM_REPORT").filter(|path| !path.is_empty())?;
        File::options().append(true).create(true).open(path).ok()
    };
    FILE.get_or_init(open).as_ref()
}

/// What a launch went on after.
pub(crate) fn finding(finding: &Finding, origin: &Origin) {
    Entry::of(finding).write(Some(origin));
}

/// What the user allows.
pub(crate) fn allowed(finding: &Finding, origin: &Origin) {
    let entry = Entry {
        level: ALLOWED,
        ..Entry::of(finding)
    };
    entry.write(Some(origin));
}

/// Findings that a launch did not keep.
pub(crate) fn more(count: u64, kernel: &str) {
    let text = format!("{count} more findings in this launch of kernel `{kernel}`");
    let mut entry = Entry::new("error", "more", text);
    entry.kernel = Some(kernel);
    entry.write(None);
}

/// What ended a launch.
pub(crate) fn fault(fault: &Fault, origin: &Origin) {
    let mut entry = match fault {
        Fault::Finding(finding) => Entry::of(finding),
        _ => Entry::new("error", kind(fault), fault.to_string()),
    };
    match fault {
        Fault::Trap(site)
        | Fault::Assert { site, .. }
        | Fault::Unsupported(site)
        | Fault::BadCall { site, .. }
        | Fault::Stack { site, .. } => {
            entry.kernel = Some(&site.kernel);
            entry.place = site.place.as_ref();
            entry.thread = Some(&site.thread);
        }
        Fault::Deadlock(deadlock) => entry.kernel = Some(&deadlock.kernel),
        Fault::Budget { kernel, .. } | Fault::Launch { kernel, .. } => entry.kernel = Some(kernel),
        Fault::Finding(_) => {}
    }
    entry.code = Some(fault.code());
    entry.write(Some(origin));
}

const fn kind(fault: &Fault) -> &'static str {
    match fault {
        // It is reported as what it is.
        Fault::Finding(_) => "finding",
        Fault::Trap(_) => "trap",
        Fault::Assert { .. } => "assert",
        Fault::Unsupported(_) => "unsupported",
        Fault::BadCall { .. } => "bad-call",
        Fault::Stack { .. } => "stack",
        Fault::Deadlock(_) => "deadlock",
        Fault::Budget { .. } => "budget",
        Fault::Launch { .. } => "launch",
    }
}

/// A copy or memset of memory that was freed before its turn came.
pub(crate) fn access(what: &str, error: &AccessError) {
    let mut entry = Entry::new("error", "use-after-free", format!("{what}: {error}"));
    entry.code = Some(700);
    entry.write(None);
}

/// The simulator is wrong, not the program.
pub(crate) fn panicked() {
    let text =
        "the simulator has panicked while it did a piece of work; please report it".to_owned();
    let mut entry = Entry::new("error", "panic", text);
    entry.code = Some(999);
    entry.write(None);
}

/// Memory that is not freed when its context goes, or only when the process does.
pub(crate) fn leak(left: &[Leak], level: &'static str, at_exit: bool) {
    let bytes: u64 = left.iter().map(|leak| leak.info.bytes).sum();
    let when = if at_exit {
        "the process ends"
    } else {
        "its context is destroyed"
    };
    let plural = if left.len() == 1 { "" } else { "s" };
    let count = left.len();
    let mut text =
        format!("leak: {count} allocation{plural}, {bytes} bytes, not freed when {when}");
    const SHOWN: usize = 8;
    for leak in left.iter().take(SHOWN) {
        let info = &leak.info;
        text.push_str(&format!(
            "\n  {} bytes at {:#x}, allocation {}",
            info.bytes, info.address, info.number
        ));
        if let Some(line) = leak.line() {
            text.push_str(&format!(", allocated at {line}"));
        }
    }
    if count > SHOWN {
        text.push_str(&format!("\n  and {} more", count - SHOWN));
    }
    Entry::new(level, "leak", text).write(None);
}
