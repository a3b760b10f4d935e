//! The user's own pip or uv, with their own configuration: nothing here names an index, a proxy or a cache.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::run::ToolCommand;
use crate::toolchain::platform::Platform;

/// The variable that names the installer: a program, or a command such as `python3.12 -m pip`.
pub const VARIABLE: &str = "GPUK_PIP";

/// The oldest pip that knows the tags of NVIDIA's wheels.
const OLDEST_PIP: (u32, u32) = (20, 3);

/// A program that installs wheels into a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installer {
    program: PathBuf,
    args: Vec<String>,
    is_uv: bool,
    /// What it says of its version: `pip 23.2.1`, `uv 0.9.2`.
    pub version: String,
}

/// An installer that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The command.
    pub command: String,
    /// Why it cannot be used, or its version.
    pub outcome: Result<Installer, String>,
}

impl Installer {
    /// The command, without what is installed.
    pub fn name(&self) -> String {
        let program = [self.program.display().to_string()];
        let words: Vec<_> = program
            .iter()
            .chain(&self.args)
            .map(String::as_str)
            .collect();
        words.join(" ")
    }

    /// Installs a requirement with what it depends on into a folder, which it may fill with its temporary files too.
    pub(crate) fn install(
        &self,
        requirement: &str,
        target: &Path,
        temporary: &Path,
    ) -> ToolCommand {
        let command = ToolCommand::new(&self.program).args(&self.args);
        let command = match self.is_uv {
            true => command.args(["pip", "install", "--only-binary", ":all:"]),
            false => command
                .args(["install", "--only-binary=:all:", "--no-compile"])
                .args(["--disable-pip-version-check", "--no-input"])
                // Both would forbid a target that harms neither.
                .env("PIP_USER", "0")
                .env("PIP_REQUIRE_VIRTUALENV", "0"),
        };
        command
            .temporary(temporary)
            .arg("--target")
            .arg(target)
            .arg(requirement)
    }
}

/// Looks for installers, best first: `GPUK_PIP` alone where it is set; else uv, then the first pip that works.
pub fn look(env: &Env, platform: &Platform) -> Vec<Tried> {
    if let Some(named) = env.get(VARIABLE) {
        let whole = Path::new(named);
        let words: Vec<_> = match (whole.is_file(), named.to_str()) {
            (false, Some(text)) => text.split_whitespace().map(OsString::from).collect(),
            _ => vec![named.to_owned()],
        };
        return vec![attempt(&words, env, platform)];
    }
    let mut tried = vec![attempt(&["uv".into()], env, platform)];
    let pips: [&[&str]; 4] = [
        &["python3", "-m", "pip"],
        &["python", "-m", "pip"],
        &["pip3"],
        &["pip"],
    ];
    for pip in pips {
        let words: Vec<_> = pip.iter().map(OsString::from).collect();
        tried.push(attempt(&words, env, platform));
        if tried.last().is_some_and(|tried| tried.outcome.is_ok()) {
            break;
        }
    }
    tried
}

fn attempt(words: &[OsString], env: &Env, platform: &Platform) -> Tried {
    let text: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    Tried {
        command: text.join(" "),
        outcome: usable(words, env, platform),
    }
}

fn usable(words: &[OsString], env: &Env, platform: &Platform) -> Result<Installer, String> {
    let (program, args) = words.split_first().ok_or("it is empty")?;
    let path = Path::new(program);
    let program = match path.components().count() {
        1 => program
            .to_str()
            .and_then(|name| platform.on_path(name, env)),
        _ => path.is_file().then(|| path.to_owned()),
    };
    let program = program.ok_or("not found")?;
    let args: Vec<_> = args
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let output = ToolCommand::new(&program)
        .args(&args)
        .arg("--version")
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = output
            .stderr
            .lines()
            .last()
            .unwrap_or("it fails")
            .trim()
            .to_owned();
        return Err(said);
    }
    let words: Vec<_> = text.split_whitespace().take(2).collect();
    let version = words.join(" ");
    let is_uv = match words.first() {
        Some(&"uv") => true,
        Some(&"pip") => false,
        _ => return Err(format!("it is neither pip nor uv: `{version}`")),
    };
    if !is_uv && is_too_old(words.get(1).copied().unwrap_or_default()) {
        let (major, minor) = OLDEST_PIP;
        return Err(format!("{version} is too old, {major}.{minor} is needed"));
    }
    Ok(Installer {
        program,
        args,
        is_uv,
        version,
    })
}

fn is_too_old(pip: &str) -> bool {
    let mut numbers = pip.split('.').map(|part| part.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version < OLDEST_PIP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pips_have_an_age() {
        assert!(is_too_old("9.0.1") && is_too_old("20.2.4") && is_too_old(""));
        assert!(!is_too_old("20.3") && !is_too_old("23.2.1") && !is_too_old("25.0b1"));
    }
}
