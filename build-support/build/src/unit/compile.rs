//! `Preprocessed -> Compiled`: PTX, and the compiler's answers about types.

use std::path::Path;

use gpuk_ptx::Module;

use super::preprocess::Preprocessed;
use super::{Job, Shop, UnitError};
use crate::diagnostic::Diagnostic;
use crate::fs;
use crate::message;
use crate::probe::{self, Probe};
use crate::source::{Declarations, annotation};

/// What the compiler made of a source.
pub(super) struct Compiled {
    /// As the compiler printed it, the probe's variables among the rest.
    pub(super) module: Module,
    /// What was asked, for a source in CUDA C++.
    pub(super) asked: Option<Asked>,
    /// The compiler's warnings.
    pub(super) findings: Vec<Diagnostic>,
}

/// The declarations of a source and the questions put to the compiler about them.
pub(super) struct Asked {
    pub(super) declarations: Declarations,
    pub(super) probe: Probe,
}

/// How often questions that do not compile are taken back before all are.
const ATTEMPTS: usize = 8;

/// What asks the compiler for line information.
const LINE_INFO: &str = "-generate-line-info";

/// Runs the device compiler over the text with the probe behind it.
///
/// A question the compiler rejects (a private type, say) is taken back: its kernel's types then come from
/// its mangled name, or it gets no wrapper.
pub(super) fn compile(
    job: &Job<'_>,
    shop: &Shop<'_>,
    preprocessed: Preprocessed,
) -> Result<Compiled, UnitError> {
    let Some(declarations) = preprocessed.declarations else {
        let module = parse(&preprocessed.text, &job.source.path)?;
        return Ok(Compiled {
            module,
            asked: None,
            findings: Vec::new(),
        });
    };
    let (text, ptx) = (job.scratch(shop, "probed.ii"), job.scratch(shop, "ptx"));
    let recipe = shop.tools.recipe(job.arch, job.is_linked())?;
    let mut command = recipe.compile(&text, &ptx, &job.source.path, &shop.package.root);
    if has_odd_name(&preprocessed.text) {
        command.args.retain(|arg| arg != LINE_INFO);
    }
    let mut probe = Probe::new(&declarations);
    let mut attempts = 0;
    loop {
        let mut probed = annotation::without(&preprocessed.text);
        probed.extend_from_slice(probe.text().as_bytes());
        fs::write_private(&text, &probed)?;
        let output = command.output()?;
        let failed = !output.status.success();
        let said = format!(
            "{}\n{}",
            output.stderr,
            String::from_utf8_lossy(&output.stdout)
        );
        let findings = message::findings(&said, failed).into_iter();
        let findings: Vec<_> = findings.filter(|finding| !is_of_probe(finding)).collect();
        if !failed {
            let text = settle_files(&fs::read(&ptx)?, &shop.package.root);
            let module = parse(&text, &job.source.path)?;
            let asked = Some(Asked {
                declarations,
                probe,
            });
            return Ok(Compiled {
                module,
                asked,
                findings,
            });
        }
        let wrong = probe::blamed(&said);
        if wrong.is_empty() {
            return Err(UnitError::findings(findings));
        }
        attempts += 1;
        probe = match attempts < ATTEMPTS {
            true => probe.without(&wrong),
            false => Probe::none(),
        };
    }
}

fn is_of_probe(finding: &Diagnostic) -> bool {
    finding
        .labels
        .first()
        .is_some_and(|label| label.place.file == Path::new(probe::FILE))
}

/// Whether a line marker names a file with a quotation mark or a control character, which the preprocessor escapes
/// and the compiler does not: no assembler reads its `.file` (CUDA 13.0).
fn has_odd_name(text: &[u8]) -> bool {
    let markers = text
        .split(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"# "));
    let odd = |pair: &[u8]| pair[0] == b'\\' && (pair[1] == b'"' || pair[1].is_ascii_digit());
    markers.flat_map(|line| line.windows(2)).any(odd)
}

/// Gives the files of line information names and stamps that are the same on every machine: the package's own are
/// named from its root, and all have a time and a size (PTX ISA 11.5), without which ptxas writes those it finds on the
/// disk into the cubin.
fn settle_files(text: &[u8], root: &Path) -> Vec<u8> {
    let root = format!("\"{}/", root.display());
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii();
        if !(trimmed.starts_with(b".file") && trimmed.ends_with(b"\"")) {
            out.extend_from_slice(line);
            continue;
        }
        let mut places = trimmed.windows(root.len());
        let (before, after) = match places.position(|at| at == root.as_bytes()) {
            Some(at) => (&trimmed[..=at], &trimmed[at + root.len()..]),
            None => (trimmed, &[][..]),
        };
        let parts = [b"\t", before, after, b", 1, 1\n"];
        out.extend(parts.into_iter().flatten());
    }
    out
}

/// PTX is ASCII but for names of files and comments.
fn parse(text: &[u8], source: &Path) -> Result<Module, UnitError> {
    Module::parse(String::from_utf8_lossy(text).into_owned())
        .map_err(|error| UnitError::unreadable(source, &error))
}
