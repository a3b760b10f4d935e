//! What the assembler says, as findings in the source.
//!
//! It knows the PTX alone: lines of it, and entries by their names. Line information leads from there to the source; without
//! any, the kernel that a function belongs to does.

use std::path::Path;

use super::Job;
use super::Shop;
use crate::diagnostic::{Diagnostic, Label, Place};
use crate::kernel::{Kernel, Signatures};
use crate::message;

/// The findings about a text, `ptx` being its file.
pub(super) fn findings(
    said: &str,
    failed: bool,
    ptx: &Path,
    text: &str,
    (job, shop, signatures): (&Job<'_>, &Shop<'_>, &Signatures),
) -> Vec<Diagnostic> {
    let mut findings = message::findings(said, failed);
    for finding in &mut findings {
        let in_ptx = finding
            .labels
            .iter()
            .position(|label| label.place.file == ptx);
        let line = in_ptx.map(|at| finding.labels.remove(at).place.line);
        let mut kernels = signatures.kernels.iter();
        let function = line.and_then(|line| function(text, line));
        let names = |kernel: &&Kernel| match function {
            Some(function) => function == kernel.entry,
            None => finding.message.contains(&format!("'{}'", kernel.entry)),
        };
        let kernel = kernels.find(names);
        if let Some(kernel) = kernel {
            let entry = format!("'{}'", kernel.entry);
            finding.message = finding
                .message
                .replace(&entry, &format!("`{}`", kernel.name));
        }
        let place = line.and_then(|line| place(text, line, &shop.package.root));
        let place = place.or_else(|| Some(kernel?.place.clone()));
        match (place, line) {
            (Some(place), _) => finding.labels.push(Label {
                place,
                text: String::new(),
            }),
            (None, Some(line)) => {
                let source = job.source.path.display();
                let note = format!("at line {line} of the PTX of `{source}`");
                finding.notes.push(note);
            }
            (None, None) => {}
        }
    }
    // What is said of one line of the source for several of the PTX is said once.
    let mut once: Vec<Diagnostic> = Vec::new();
    for finding in findings {
        if !once.contains(&finding) {
            once.push(finding);
        }
    }
    once
}

/// The lines of a text up to one, the last first, as long as they are of one function; the one that names it is the last.
fn before(text: &str, line: u32) -> impl Iterator<Item = &str> {
    let count = usize::try_from(line).unwrap_or(usize::MAX);
    let lines: Vec<_> = text.lines().take(count).collect();
    let mut ended = false;
    lines.into_iter().rev().take_while(move |line| {
        let go_on = !ended;
        ended = name(line).is_some();
        go_on
    })
}

/// The function that a line begins: `.visible .entry _Z5scalePf(`.
fn name(line: &str) -> Option<&str> {
    let mut words = line
        .split([' ', '\t', '(', ')', ','])
        .filter(|word| !word.is_empty());
    words.find(|word| [".entry", ".func"].contains(word))?;
    // The value that a function returns stands before its name.
    words.rfind(|word| !word.starts_with('.') && !word.starts_with("func_retval"))
}

fn function(text: &str, line: u32) -> Option<&str> {
    before(text, line).find_map(name)
}

/// Where line information says that a line comes from.
fn place(text: &str, line: u32, root: &Path) -> Option<Place> {
    let loc = before(text, line).find_map(|line| line.trim_start().strip_prefix(".loc"))?;
    let mut numbers = loc.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let (file, line) = (numbers.next()?, numbers.next()?.parse().ok()?);
    let mut files = text.lines().filter_map(|line| {
        line.strip_prefix('\t')
            .unwrap_or(line)
            .strip_prefix(".file")
    });
    let file = files.find(|text| text.split_whitespace().next() == Some(file))?;
    let file = Path::new(file.split('"').nth(1)?);
    (line > 0).then(|| Place::line(file.strip_prefix(root).unwrap_or(file), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.version 9.0
.target sm_80
.address_size 64
.func  (.param .b32 func_retval0) _Z4helpi(
\t.param .b32 _Z4helpi_param_0
)
{
\tret;
}
.visible .entry scale(
\t.param .u64 scale_param_0
)
{
\t.loc\t1 3 0
\tmov.b32 \t%r1, 1;
\t.loc\t2 9 5, function_name $L__info_string0, inlined_at 1 4 2
\tmov.b33 \t%r1, 1;
\tret;
}
\t.file\t1 \"/home/me/p/kernels/k.cu\", 1, 1
\t.file\t2 \"kernels/deep.cuh\", 1, 1
";

    #[test]
    fn lines_of_the_ptx_lead_to_the_source() {
        let place =
            |line| place(TEXT, line, Path::new("/home/me/p")).map(|place| place.to_string());
        assert_eq!(place(15).as_deref(), Some("kernels/k.cu:3"));
        assert_eq!(place(17).as_deref(), Some("kernels/deep.cuh:9"));
        // Before the first, and in a function without any.
        assert_eq!((place(12), place(8)), (None, None));
        assert_eq!(function(TEXT, 17), Some("scale"));
        assert_eq!(function(TEXT, 8), Some("_Z4helpi"));
        assert_eq!(function(TEXT, 2), None);
    }
}
