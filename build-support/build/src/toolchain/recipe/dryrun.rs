//! Asks nvcc what it would do, and reads the answer.
//!
//! `nvcc --dryrun` prints its variables and then its commands to standard error, each line after `#$ `. It compiles
//! nothing, but it runs the host compiler once on a file of its own to learn its version.

use std::collections::BTreeMap;
use std::path::Path;

use super::words::{self, Quoting};
use crate::run::{ToolCommand, ToolError};

/// The stem of the files named to nvcc in place of real ones. They need not exist.
pub(crate) const STEM: &str = "gpuk_source";

/// What nvcc would do with a `.cu` file, up to PTX.
pub(crate) fn of_source(command: ToolCommand) -> Result<String, ToolError> {
    let command = command
        .arg("--dryrun")
        .arg("-ptx")
        .arg(format!("{STEM}.cu"))
        .args(["-o", &format!("{STEM}.ptx")]);
    Ok(command.run()?.stderr)
}

/// What nvcc would do with a PTX file, up to a cubin. Starts no host compiler.
pub(crate) fn of_ptx(
    nvcc: &Path,
    args: &[String],
    env: &[(String, String)],
) -> Result<String, ToolError> {
    let command = env
        .iter()
        .fold(
            ToolCommand::new(nvcc).args(args),
            |command, (name, value)| command.env(name, value),
        )
        .arg("--dryrun")
        .arg("-cubin")
        .arg(format!("{STEM}.ptx"))
        .args(["-o", &format!("{STEM}.cubin")]);
    Ok(command.run()?.stderr)
}

/// The variables that nvcc sets, in order; a later value of the same name replaces an earlier one.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = (&str, &str)> {
    steps(text).filter_map(assignment)
}

/// The commands, each split into words. None where one cannot be split.
pub(crate) fn commands(text: &str, quoting: Quoting) -> Option<Vec<Vec<String>>> {
    let variables: BTreeMap<_, _> = variables(text).collect();
    steps(text)
        .filter(|line| assignment(line).is_none() && !line.trim().is_empty())
        .map(|line| words::split(line, &variables, quoting))
        .collect()
}

/// What nvcc has to say besides: its warnings.
pub(crate) fn remarks(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim_end)
        .filter(|line| !line.starts_with("#$ ") && line.contains("warning"))
}

fn steps(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("#$ "))
}

/// `NAME=value`; a command's first word has no `=` before its first blank or quote.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some((name, value.trim_end()))
}
