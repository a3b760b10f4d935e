//! Memory that a program does not free.
//!
//! `GPUK_SIM_LEAKS` says what becomes of it:
//!
//! - not set: an error when its context is destroyed, a warning when the process ends, as what lives as long as the
//!   process need not be wrong
//! - `off`: nothing
//! - `report`: a warning, which says where the memory was allocated
//! - `error`: an error, which says the same

use std::sync::OnceLock;

use gpuk_sim::AllocationInfo;

use crate::code::Code;
use crate::origin::{Line, Origin};
use crate::refusal::Answer;
use crate::report;

/// Memory that is left.
#[derive(Debug)]
pub(crate) struct Leak {
    pub(crate) info: AllocationInfo,
    pub(crate) origin: Option<Origin>,
}

impl Leak {
    /// The program's line that allocated it, if that was kept.
    pub(crate) fn line(&self) -> Option<Line> {
        self.origin.as_ref()?.line()
    }
}

/// What becomes of leaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Usual,
    Off,
    Report,
    Error,
}

impl Mode {
    fn of(value: Option<&str>) -> Answer<Self> {
        Ok(match value {
            None | Some("") => Self::Usual,
            Some("off") => Self::Off,
            Some("report") => Self::Report,
            Some("error") => Self::Error,
            Some(other) => {
                return Err(Code::INVALID_VALUE.because(format!(
                    "`GPUK_SIM_LEAKS` is `{other}`; it takes `off`, `report` or `error`"
                )));
            }
        })
    }

    const fn level(self, at_exit: bool) -> Option<&'static str> {
        match (self, at_exit) {
            (Self::Off, _) => None,
            (Self::Report, _) | (Self::Usual, true) => Some("warning"),
            (Self::Error, _) | (Self::Usual, false) => Some("error"),
        }
    }
}

static MODE: OnceLock<Mode> = OnceLock::new();

/// Reads the variable, once.
pub(crate) fn init() -> Answer {
    let mode = Mode::of(std::env::var("GPUK_SIM_LEAKS").ok().as_deref())?;
    MODE.get_or_init(|| mode);
    Ok(())
}

fn mode() -> Mode {
    MODE.get().copied().unwrap_or(Mode::Usual)
}

/// The calls that lead to an allocation, if leaks are to name them. Taking them costs some microseconds.
pub(crate) fn origin() -> Option<Origin> {
    matches!(mode(), Mode::Report | Mode::Error).then(Origin::here)
}

/// Says what is left when a context is destroyed, or when the process ends.
pub(crate) fn tell(left: &[Leak], at_exit: bool) {
    if let Some(level) = mode().level(at_exit)
        && !left.is_empty()
    {
        report::leak(left, level, at_exit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_says_how_bad_a_leak_is() {
        let level = |value, at_exit| Mode::of(value).unwrap().level(at_exit);
        assert_eq!(level(None, false), Some("error"));
        assert_eq!(level(None, true), Some("warning"));
        assert_eq!(level(Some("off"), false), None);
        assert_eq!(level(Some("report"), false), Some("warning"));
        assert_eq!(level(Some("error"), true), Some("error"));
        assert!(Mode::of(Some("on")).is_err());
    }
}
