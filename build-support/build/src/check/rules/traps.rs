//! GPUK0007: a trap ends the context when it is executed.
//!
//! Third parties' headers have traps where they expect never to come, so the default only warns.

use std::collections::BTreeMap;

use gpuk_ptx::functionalize::{Trap, traps};

use crate::check::Subject;
use crate::config::{CheckMode, TrapMode};
use crate::diagnostic::{Code, Diagnostic, Level, Place};

pub(in crate::check) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let text = subject.module.text();
    if !text.contains("trap;") && !text.contains("brkpt;") {
        return Vec::new();
    }
    let mut found: BTreeMap<_, Vec<(String, Trap)>> = BTreeMap::new();
    for trap in traps(subject.module) {
        for entry in &trap.entries {
            let name = subject.name(entry).to_owned();
            let level = match subject.package.trap_mode(&name) {
                Some(TrapMode::Refuse) => Level::Error,
                // Where checks trap, one more trap is what was asked for.
                None if subject.package.check_mode(&name) != CheckMode::Trap => Level::Warning,
                _ => continue,
            };
            let place = trap.place.as_ref();
            let place = place.map(|place| subject.place(place));
            let traps = found.entry((level, place)).or_default();
            if !traps.iter().any(|(known, _)| *known == name) {
                traps.push((name, trap.clone()));
            }
        }
    }
    let found = found.into_iter();
    found
        .map(|((level, place), traps)| finding(subject, level, place, &traps))
        .collect()
}

fn finding(
    subject: &Subject<'_>,
    level: Level,
    place: Option<Place>,
    traps: &[(String, Trap)],
) -> Diagnostic {
    let (first, trap) = match traps.first() {
        Some((name, trap)) => (name.as_str(), Some(trap)),
        None => ("", None),
    };
    let kernels = match traps.len() {
        1 => format!("kernel `{first}` has"),
        2 => format!("kernel `{first}` and another have"),
        count => format!("kernel `{first}` and {} others have", count - 1),
    };
    let what = match trap.is_some_and(|trap| trap.breakpoint) {
        true => "a breakpoint",
        false => "a trap",
    };
    let message = format!("{kernels} {what}, which ends the context when it is reached");
    let finding = Diagnostic::new(Some(Code::TRAP), level, message);
    let finding = match place {
        Some(place) => finding.at(place, "it stands here"),
        None => {
            let entry = trap.and_then(|trap| trap.entries.first());
            let kernel = entry.and_then(|entry| subject.kernel(entry));
            let place = kernel.map(|kernel| kernel.place.clone());
            finding
                .at(place.unwrap_or_else(|| Place::line(subject.source, 1)), "")
                .note("with `line-info = true` its own line is told")
        }
    };
    let finding =
        finding.help("set `traps = \"check\"`: it is then a check, whose failure is a value");
    match level {
        Level::Error => finding.help("or write `GPUK_CHECK(false)` in its place"),
        _ => finding.help("or set `traps = \"keep\"`, if that is meant"),
    }
}
