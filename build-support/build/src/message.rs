//! Reads what the compilers print: nvcc's front end, the host preprocessor and ptxas, as findings.
//!
//! EDG writes `file(line): error: text`, the preprocessor `file:line:column: error: text`, ptxas
//! `ptxas file.ptx, line 12; error : text` or `ptxas error : text`. EDG's caret stands under expanded text
//! (`__global__` is shown as an attribute), so only its line is kept. What is missing at the end of a source
//! has no place at all (`At end of source: error: text`); a note may say what it belongs to.

use std::path::Path;

use crate::capture;
use crate::diagnostic::{Diagnostic, Label, Level, Place};

/// The findings in a tool's output; text that belongs to none is kept as a finding of its own when the
/// tool failed and nothing else says why.
pub(crate) fn findings(output: &str, failed: bool) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for line in output.lines() {
        let finding = edg(line)
            .or_else(|| at_end(line))
            .or_else(|| gnu(line))
            .or_else(|| ptxas(line));
        if let Some(finding) = finding {
            findings.push(finding);
        } else if let Some(finding) = findings.last_mut()
            && let Some(label) = note(line)
        {
            finding.labels.push(label);
        } else if let Some(finding) = findings.last_mut()
            && let Some(note) = continuation(line)
        {
            finding.notes.push(note);
        }
    }
    // ptxas sums its errors up in one more.
    let sums_up = |it: &Diagnostic| it.message == "Ptx assembly aborted due to errors";
    if findings
        .iter()
        .any(|it| it.level == Level::Error && !sums_up(it))
    {
        findings.retain(|it| !sums_up(it));
    }
    let mut findings = capture::retell(findings);
    let errors = findings.iter().any(|finding| finding.level == Level::Error);
    if failed && !errors {
        findings.push(Diagnostic::new(None, Level::Error, output.trim()));
    }
    findings
}

/// Gives findings about the end of a source their place, and names the source in those without any.
pub(crate) fn place(findings: &mut [Diagnostic], source: &Path, lines: impl Fn() -> u32) {
    for finding in findings {
        if finding.level == Level::Error && finding.labels.is_empty() {
            finding.notes.push(format!("in `{}`", source.display()));
        }
        for label in &mut finding.labels {
            if label.place.line == END {
                label.place = Place::line(source, lines());
            }
        }
    }
}

/// Stands for a source's last line, which messages do not tell.
const END: u32 = 0;

/// `kernels/a.cu(12): error: identifier "x" is undefined`, `… warning #177-D: …`.
fn edg(line: &str) -> Option<Diagnostic> {
    let (file, number, rest) = edg_place(line)?;
    let (level, text) = level(rest)?;
    let mut finding = Diagnostic::new(None, level, text);
    finding.labels.push(label(file, number, None));
    Some(finding)
}

fn edg_place(line: &str) -> Option<(&str, u32, &str)> {
    line.match_indices('(').find_map(|(open, _)| {
        let (number, rest) = line[open + 1..].split_once("): ")?;
        Some((&line[..open], number.parse().ok()?, rest))
    })
}

/// `At end of source: error: expected a "}"`.
fn at_end(line: &str) -> Option<Diagnostic> {
    let (level, text) = level(line.strip_prefix("At end of source: ")?)?;
    let mut finding = Diagnostic::new(None, level, text);
    finding.labels.push(label("", END, None));
    Some(finding)
}

/// `kernels/a.cu(2): note #3196-D: to match this "{"`, below a message.
fn note(line: &str) -> Option<Label> {
    let (file, number, rest) = edg_place(line)?;
    let (_, text) = rest.strip_prefix("note #")?.split_once(": ")?;
    Some(Label {
        text: text.trim().to_owned(),
        ..label(file, number, None)
    })
}

/// `kernels/a.cu:3:10: fatal error: no.cuh: No such file or directory`.
fn gnu(line: &str) -> Option<Diagnostic> {
    let at = [": fatal error: ", ": error: ", ": warning: "]
        .iter()
        .find_map(|word| line.find(word))?;
    let (place, rest) = (&line[..at], &line[at + 2..]);
    let (level, text) = level(rest)?;
    let mut finding = Diagnostic::new(None, level, text);
    let mut parts = place.rsplitn(3, ':');
    let (last, middle, file) = (parts.next()?, parts.next(), parts.next());
    if let (Some(file), Some(Ok(number)), Ok(column)) = (file, middle.map(str::parse), last.parse())
    {
        finding.labels.push(label(file, number, Some(column)));
    } else if let (Some(file), Ok(number)) = (middle, last.parse()) {
        finding.labels.push(label(file, number, None));
    }
    Some(finding)
}

/// `ptxas /tmp/x.ptx, line 5; error   : Unexpected instruction`, `ptxas error   : Entry function …`.
fn ptxas(line: &str) -> Option<Diagnostic> {
    let rest = line.strip_prefix("ptxas ")?;
    let (before, text) = rest.split_once(" : ")?;
    let word = before.trim_end().rsplit([' ', ';']).next()?;
    let level = match word {
        "error" | "fatal" => Level::Error,
        "warning" => Level::Warning,
        // Said of code that runs much slower than it looks: `(C7510) Potential Performance Loss: …`.
        "info" if text.contains("Potential Performance Loss") => Level::Warning,
        _ => return None,
    };
    let mut finding = Diagnostic::new(None, level, text.trim());
    if let Some((file, number)) = before.rsplit_once(", line ") {
        let number = number.split(';').next()?.trim().parse().ok()?;
        finding.labels.push(label(file, number, None));
    }
    Some(finding)
}

fn level(text: &str) -> Option<(Level, &str)> {
    for (word, level) in [
        ("fatal error", Level::Error),
        ("catastrophic error", Level::Error),
        ("error", Level::Error),
        ("warning", Level::Warning),
        ("remark", Level::Note),
    ] {
        let Some(rest) = text.strip_prefix(word) else {
            continue;
        };
        let number_ends = rest.find(": ")?;
        let number = &rest[..number_ends];
        if number.is_empty() || number.starts_with(" #") {
            return Some((level, rest[number_ends + 2..].trim()));
        }
    }
    None
}

/// Context that EDG prints below a message: "detected during …", the candidates of an overload.
fn continuation(line: &str) -> Option<String> {
    let text = line.trim();
    let context = [
        "detected during",
        "instantiation of",
        "argument types are",
        "object type is",
        "function ",
        "In file included",
    ];
    let said = context.iter().any(|start| text.starts_with(start));
    said.then(|| text.to_owned())
}

fn label(file: &str, line: u32, column: Option<u32>) -> Label {
    Label {
        place: Place {
            file: Path::new(file).to_owned(),
            line,
            column,
        },
        text: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> Vec<String> {
        let show = |finding: &Diagnostic| {
            let place = finding
                .labels
                .first()
                .map(|label| format!("{} ", label.place));
            let notes = finding.notes.iter().map(|note| format!(" [{note}]"));
            format!(
                "{}: {}{}{}",
                finding.level,
                place.unwrap_or_default(),
                finding.message,
                notes.collect::<String>()
            )
        };
        findings(output, true).iter().map(show).collect()
    }

    #[test]
    fn every_shape_is_read() {
        let output = "\
kernels/a b(1)/k.cu(3): error: identifier \"y\" is undefined
    y[i] = 1;
    ^

kernels/k.cu(7): warning #177-D: variable \"unused\" was declared but never referenced
    int unused;
        ^

Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"

k.cuh(9): error: no instance of overloaded function \"f\" matches the argument list
            argument types are: (int)
          detected during instantiation of \"void g<T>() [with T=int]\" at line 12

1 error detected in the compilation of \"k.cu\".
k.cu:1:10: fatal error: missing.cuh: No such file or directory
ptxas /tmp/k.ptx, line 31; error   : Unknown modifier '.b33'
ptxas error   : Entry function 'big' uses too much shared data (0x13880 bytes, 0xc000 max)
ptxas fatal   : Unresolved extern function '_Z6helperf'
ptxas info    : Used 12 registers";
        insta::assert_debug_snapshot!(shown(output), @r#"
        [
            "error: kernels/a b(1)/k.cu:3 identifier \"y\" is undefined",
            "warning: kernels/k.cu:7 variable \"unused\" was declared but never referenced",
            "error: k.cuh:9 no instance of overloaded function \"f\" matches the argument list [argument types are: (int)] [detected during instantiation of \"void g<T>() [with T=int]\" at line 12]",
            "error: k.cu:1:10 missing.cuh: No such file or directory",
            "error: /tmp/k.ptx:31 Unknown modifier '.b33'",
            "error: Entry function 'big' uses too much shared data (0x13880 bytes, 0xc000 max)",
            "error: Unresolved extern function '_Z6helperf'",
        ]
        "#);
    }

    #[test]
    fn the_end_of_a_source_is_a_place() {
        let output = "At end of source: error: expected a \"}\"\nkernels/k.cu(2): note #3196-D: to match this \"{\"\n  namespace a {\n              ^\n";
        let mut found = findings(output, true);
        place(&mut found, Path::new("kernels/k.cu"), || 9);
        let labels = found[0].labels.iter();
        let labels: Vec<_> = labels
            .map(|label| format!("{} {}", label.place, label.text))
            .collect();
        assert_eq!(
            labels,
            ["kernels/k.cu:9 ", "kernels/k.cu:2 to match this \"{\""]
        );
        assert_eq!(found.len(), 1);

        let mut found = findings("ptxas fatal   : Unresolved extern function 'f'", true);
        place(&mut found, Path::new("kernels/k.cu"), || 9);
        assert_eq!(found[0].notes, ["in `kernels/k.cu`"]);
    }

    #[test]
    fn a_failure_without_words_is_still_a_finding() {
        assert_eq!(shown("Segmentation fault\n"), ["error: Segmentation fault"]);
    }
}
