//! `memory`: how much memory compilers that run side by side may take.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Config, variable};
use crate::diagnostic::Diagnostic;
use crate::env::Env;

/// How much memory compilers that run side by side may take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Memory {
    /// So many mebibytes.
    Mebibytes(u64),
    /// Any amount: nothing waits.
    Any,
}

impl FromStr for Memory {
    type Err = &'static str;

    /// Takes `8GiB` and `512MiB`; `none` and `0` are any amount.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "an amount of memory such as `8GiB` or `512MiB`, or `none`";
        let text = text.trim();
        if ["none", "0"].contains(&text) {
            return Ok(Self::Any);
        }
        let (number, unit) = match (text.strip_suffix("GiB"), text.strip_suffix("MiB")) {
            (Some(number), _) => (number, 1024),
            (_, Some(number)) => (number, 1),
            _ => return Err(EXPECTED),
        };
        let number = number.trim_end();
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.then(|| number.parse::<u64>().ok()).flatten();
        let mebibytes = number.and_then(|number| number.checked_mul(unit));
        // As bytes it has to be a number too.
        match mebibytes {
            Some(0) => Ok(Self::Any),
            Some(mebibytes) if mebibytes <= u64::MAX >> 20 => Ok(Self::Mebibytes(mebibytes)),
            _ => Err(EXPECTED),
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mebibytes(mebibytes) => write!(f, "{mebibytes}MiB"),
            Self::Any => f.write_str("none"),
        }
    }
}

impl From<Memory> for String {
    fn from(memory: Memory) -> Self {
        memory.to_string()
    }
}

impl TryFrom<String> for Memory {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl Config {
    /// Puts `GPUK_MEMORY` over what the manifests say.
    pub(crate) fn take_memory(&mut self, env: &Env, findings: &mut Vec<Diagnostic>) {
        if let Some(memory) = variable::read("GPUK_MEMORY", env, findings) {
            self.memory = Some(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        let read = |text: &str| text.parse::<Memory>().map(|it| it.to_string());
        for (text, shown) in [
            ("8GiB", "8192MiB"),
            (" 512 MiB", "512MiB"),
            ("none", "none"),
            ("0", "none"),
            ("0GiB", "none"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(shown), "{text}");
        }
        for text in [
            "",
            "8",
            "8GB",
            "8G",
            "GiB",
            "+8GiB",
            "1.5GiB",
            "-1MiB",
            "18446744073709551615MiB",
            "99999999999999999GiB",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_environment_goes_over_the_manifest() {
        let mut config = Config {
            memory: Some(Memory::Any),
            ..Config::default()
        };
        let mut findings = Vec::new();
        let mut take = |value: &str| {
            config.take_memory(&Env::from_pairs([("GPUK_MEMORY", value)]), &mut findings);
            config.memory
        };
        assert_eq!(take(""), Some(Memory::Any));
        assert_eq!(take("2GiB"), Some(Memory::Mebibytes(2048)));
        assert_eq!(take("2G"), Some(Memory::Mebibytes(2048)));
        assert!(
            findings[0]
                .message
                .starts_with("`GPUK_MEMORY` is `2G`, not an amount"),
            "{findings:?}"
        );
    }
}
