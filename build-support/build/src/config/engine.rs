//! `engine`: how a source gets to PTX.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Config, variable};
use crate::diagnostic::Diagnostic;
use crate::env::Env;

/// How a source gets to PTX. Both give the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// nvcc's steps, without the declarations of headers that a source does not name, where that is faster.
    Auto,
    /// nvcc's steps as they are.
    Nvcc,
}

impl Engine {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Nvcc => "nvcc",
        }
    }

    /// Whether declarations that nobody names may be left out.
    #[must_use]
    pub fn prunes(self) -> bool {
        self == Self::Auto
    }
}

impl FromStr for Engine {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "nvcc" => Ok(Self::Nvcc),
            "nvrtc" => Err(
                "`auto` or `nvcc`; NVRTC is not used, `auto` is as fast and gives what nvcc gives",
            ),
            _ => Err("`auto` or `nvcc`"),
        }
    }
}

impl Config {
    /// Puts `GPUK_ENGINE` over what the manifests say.
    pub(crate) fn take_engine(&mut self, env: &Env, findings: &mut Vec<Diagnostic>) {
        if let Some(engine) = variable::read("GPUK_ENGINE", env, findings) {
            self.engine = engine;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_goes_over_the_manifest() {
        let mut config = Config::default();
        let mut findings = Vec::new();
        config.take_engine(&Env::from_pairs([("GPUK_ENGINE", "nvcc")]), &mut findings);
        assert_eq!((config.engine, findings.len()), (Engine::Nvcc, 0));
        config.take_engine(&Env::from_pairs([("GPUK_ENGINE", "nvrtc")]), &mut findings);
        assert!(
            findings[0].message.contains("NVRTC is not used"),
            "{findings:?}"
        );
    }
}
