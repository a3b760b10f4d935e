//! `Archs -> Targets`: the words in `archs` become architectures.
//!
//! A list needs nothing. `all-major` is what nvcc means by it: of the architectures that it has, the first of each major
//! version, and the PTX of the highest (nvcc's manual, `--gpu-architecture`). `native` asks the driver, as nvcc does, by the toolkit's own program, else by `nvidia-smi`; unlike nvcc it
//! takes nothing instead where there is no device.

use std::collections::BTreeMap;

use crate::config::{Arch, Archs};
use crate::env::Env;
use crate::run::ToolCommand;
use crate::toolchain::{Platform, Toolchain};
use crate::tools::ToolsError;

/// What is compiled for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Targets {
    /// Lowest first.
    pub(crate) archs: Vec<Arch>,
    /// The one whose PTX is shipped beside the lowest's.
    pub(crate) newest: Option<Arch>,
}

/// What the words in `archs` stand for. `listed` is the compiler's own list; it is asked for with `all-major` alone.
pub(crate) fn targets(
    archs: &Archs,
    toolchain: &Toolchain,
    env: &Env,
    listed: impl FnOnce() -> Result<Vec<String>, ToolsError>,
) -> Result<Targets, ToolsError> {
    let mut all = archs.listed().to_vec();
    let mut newest = None;
    if archs.has_all_major() {
        let major = all_major(&listed()?);
        newest = major.last().copied();
        all.extend(major);
    }
    if archs.has_native() {
        all.extend(native(toolchain, env)?);
    }
    all.sort();
    all.dedup();
    Ok(Targets { archs: all, newest })
}

/// The first of each major version.
fn all_major(listed: &[String]) -> Vec<Arch> {
    let archs = listed.iter().filter_map(|arch| arch.parse::<Arch>().ok());
    let mut first = BTreeMap::new();
    for arch in archs.filter(|arch| arch.is_forward()) {
        let known = first.entry(arch.major()).or_insert(arch);
        *known = arch.min(*known);
    }
    first.into_values().collect()
}

/// nvcc's own program for this; it prints nothing but numbers.
const QUERY: &str = "__nvcc_device_query";

fn native(toolchain: &Toolchain, env: &Env) -> Result<Vec<Arch>, ToolsError> {
    let name = format!("{QUERY}{}", std::env::consts::EXE_SUFFIX);
    let own = toolchain.ptxas.with_file_name(name);
    let own = own.is_file().then(|| ToolCommand::new(own));
    let smi = Platform::host().on_path("nvidia-smi", env).map(|smi| {
        ToolCommand::new(smi).args(["--query-gpu=compute_cap", "--format=csv,noheader"])
    });
    let answers = own.into_iter().chain(smi).filter_map(|ask| ask.run().ok());
    let mut devices = answers.map(|answer| capabilities(&String::from_utf8_lossy(&answer.stdout)));
    let found = devices.find(|archs| !archs.is_empty());
    found.ok_or(ToolsError::NoDevice)
}

/// `86`, `90,120`, `8.6` a line; whatever is no capability is left out.
fn capabilities(answer: &str) -> Vec<Arch> {
    let words = answer.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(archs: &[Arch]) -> String {
        let names: Vec<_> = archs.iter().map(ToString::to_string).collect();
        names.join(" ")
    }

    /// The first is what `nvcc -arch=all-major --dryrun` makes images for, CUDA 13.0.
    #[test]
    fn all_major_is_what_nvcc_means() {
        let major = |list: &str| {
            let listed: Vec<_> = list.split(' ').map(|it| format!("compute_{it}")).collect();
            names(&all_major(&listed))
        };
        let of_13 = "75 80 86 87 88 89 90 100 110 103 120 121";
        assert_eq!(major(of_13), "75 80 90 100 110 120");
        let of_12 = "50 52 53 60 61 62 70 72 75 80 86 87 89 90 100 101 120";
        assert_eq!(major(of_12), "50 60 70 80 90 100 120");
        assert_eq!(major("35 37 50 90 90a"), "35 50 90");
    }

    #[test]
    fn both_programs_answers_are_read() {
        for (answer, archs) in [
            ("86", "86"),
            ("90,120", "90 120"),
            ("8.6\n12.0\n", "86 120"),
            ("", ""),
            ("[N/A]\n", ""),
            ("No devices were found\n", ""),
        ] {
            assert_eq!(names(&capabilities(answer)), archs, "{answer:?}");
        }
    }
}
