//! PTX for the oldest driver that is stated: its ISA version is lowered where the assembler still takes the text.
//!
//! A compiler writes the newest version that it knows, whatever a kernel uses of it. The assembler has the table of what came
//! with which version and refuses what is newer than the text says; what it takes becomes the same machine code.

use std::path::Path;

use gpuk_device::driver::DriverVersion;

use super::{Job, Shop};
use crate::diagnostic::{Code, Diagnostic, Level};

/// The version to write instead of a module's own, if the stated driver does not take that one.
pub(super) fn lower(job: &Job<'_>, shop: &Shop<'_>, own: (u32, u32)) -> Option<(u32, u32)> {
    let stated = shop.package.config.minimum_driver?.version().ptx()?;
    // A driver that knows the architecture takes the version that it came with.
    let wanted = stated.max(job.arch.ptx()?);
    (wanted < own).then_some(wanted)
}

/// Something in a text that came with a later version than the text says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Newer {
    /// As the assembler names it: `Feature 'Type .b128'`.
    what: String,
    version: (u32, u32),
}

/// Sorts the assembler's findings: what needs a later version, each once, and the rest.
pub(super) fn newer(findings: &[Diagnostic]) -> Vec<(Newer, &Diagnostic)> {
    let mut all: Vec<(Newer, &Diagnostic)> = Vec::new();
    for finding in findings {
        if let Some(newer) = read(&finding.message)
            && all.iter().all(|(known, _)| known.what != newer.what)
        {
            all.push((newer, finding));
        }
    }
    all
}

/// `Feature 'mov.b128' requires PTX ISA .version 8.3 or later`.
fn read(message: &str) -> Option<Newer> {
    let (what, rest) = message.split_once(" requires PTX ISA .version ")?;
    let (major, minor) = rest.split_whitespace().next()?.split_once('.')?;
    Some(Newer {
        what: what.replace('\'', "`").to_lowercase(),
        version: (major.parse().ok()?, minor.parse().ok()?),
    })
}

/// That the PTX of a source cannot be lowered: an error where the stated driver runs no cubin of the toolkit either.
pub(super) fn finding(
    source: &Path,
    stated: DriverVersion,
    cubin: DriverVersion,
    newer: &[(Newer, &Diagnostic)],
) -> Diagnostic {
    let versions = newer.iter().map(|(newer, _)| newer.version);
    let needed = DriverVersion::of_ptx(versions.max().unwrap_or_default());
    let runs_cubin = cubin <= stated;
    let (level, part) = match runs_cubin {
        true => (Level::Warning, "the PTX of "),
        false => (Level::Error, ""),
    };
    let source = source.display();
    let message = format!(
        "{part}`{source}` needs a driver for CUDA {needed}, and `minimum-driver` is {stated}"
    );
    let mut finding = Diagnostic::new(Some(Code::DRIVER_TOO_OLD), level, message);
    for (newer, said) in newer {
        let (major, minor) = newer.version;
        let text = format!("{} came with PTX {major}.{minor}", newer.what);
        match said.labels.first() {
            Some(label) if !finding.labels.iter().any(|it| it.place == label.place) => {
                finding = finding.at(label.place.clone(), text);
            }
            _ => finding.notes.push(text),
        }
    }
    let finding = match runs_cubin {
        true => {
            finding.note("its cubin runs on that driver; devices that no cubin fits need the PTX")
        }
        false => finding.note(format!(
            "cubins of this toolkit run on drivers for CUDA {cubin} and newer alone"
        )),
    };
    finding.help(format!("set `minimum-driver = \"{needed}\"` if your users have such drivers, or do without what is newer"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Place;

    #[test]
    fn the_assemblers_words_are_read() {
        let of = |message: &str| read(message).map(|newer| (newer.what, newer.version));
        // Said by ptxas 13.0; the last of its other errors.
        assert_eq!(
            of(
                "Feature 'Instruction type .b128 for instruction mov' requires PTX ISA .version 8.3 or later"
            ),
            Some((
                "feature `instruction type .b128 for instruction mov`".to_owned(),
                (8, 3)
            ))
        );
        assert_eq!(
            of("Modifier '.multicast::cluster' requires PTX ISA .version 8.0 or later"),
            Some(("modifier `.multicast::cluster`".to_owned(), (8, 0)))
        );
        assert_eq!(of("Unknown modifier '.b33'"), None);
    }

    #[test]
    fn what_runs_as_a_cubin_is_a_warning() {
        let said = Diagnostic::error(Code::BAD_FLAG, "").at(Place::line("k.cu", 4), "");
        let newer = |what: &str, minor| {
            let what = format!("feature `{what}`");
            let version = (8, minor);
            (Newer { what, version }, &said)
        };
        let newer = [newer("mov.b128", 3), newer("type .b128", 4)];
        let at = |stated| {
            let (stated, cubin) = (DriverVersion(stated), DriverVersion(12_000));
            let finding = finding(Path::new("k.cu"), stated, cubin, &newer);
            format!(
                "{}: {} {:?} {:?}",
                finding.level, finding.message, finding.labels[0].text, finding.notes
            )
        };
        insta::assert_snapshot!(at(12_020), @r#"warning: the PTX of `k.cu` needs a driver for CUDA 12.4, and `minimum-driver` is 12.2 "feature `mov.b128` came with PTX 8.3" ["feature `type .b128` came with PTX 8.4", "its cubin runs on that driver; devices that no cubin fits need the PTX"]"#);
        insta::assert_snapshot!(at(11_080), @r#"error: `k.cu` needs a driver for CUDA 12.4, and `minimum-driver` is 11.8 "feature `mov.b128` came with PTX 8.3" ["feature `type .b128` came with PTX 8.4", "cubins of this toolkit run on drivers for CUDA 12.0 and newer alone"]"#);
    }
}
