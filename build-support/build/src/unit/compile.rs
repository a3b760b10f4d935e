//! `Preprocessed -> Compiled`: PTX, and the compiler's answers about types.

use std::path::{Path, PathBuf};

use gpuk_ptx::Module;

use super::preprocess::Preprocessed;
use super::{Job, Shop, UnitError, instantiate};
use crate::diagnostic::Diagnostic;
use crate::fs;
use crate::message;
use crate::probe::{self, Probe};
use crate::run::ToolCommand;
use crate::source::{Declarations, annotation};

/// What the compiler made of a source.
pub(super) struct Compiled {
    /// As the compiler printed it, but for what `asked` has of it.
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
    /// The probe's variables, where they are not in the module.
    pub(super) said: Option<Module>,
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
    mut preprocessed: Preprocessed,
) -> Result<Compiled, UnitError> {
    let instances = &shop.package.config.instantiate;
    if let Some(declarations) = &preprocessed.declarations {
        let unknown = instantiate::unknown(declarations);
        if !unknown.is_empty() {
            return Err(UnitError::findings(unknown));
        }
    }
    let Some(declarations) = preprocessed.declarations.take() else {
        let text = String::from_utf8_lossy(&preprocessed.text).into_owned();
        let module = Module::parse(text)
            .map_err(|error| UnitError::unreadable_source(&job.source.path, &error))?;
        return Ok(Compiled {
            module,
            asked: None,
            findings: Vec::new(),
        });
    };
    let (mut command, [text, ptx]) = command(job, shop)?;
    if has_odd_name(&preprocessed.text) {
        command.args.retain(|arg| arg != LINE_INFO);
    }
    let mut probe = Probe::new(&declarations);
    let mut attempts = 0;
    loop {
        let asked = probe.text();
        let read = match preprocessed.pruned(asked) {
            Some(short) => {
                let (short_kb, whole_kb) = (short.len() / 1024, preprocessed.len() / 1024);
                let text = format!("{short_kb} of {whole_kb} KB to read");
                shop.progress.remark(&job.label(), &text);
                short.into_bytes()
            }
            None => preprocessed.whole(),
        };
        let mut probed = annotation::without(&read);
        probed.extend_from_slice(asked.as_bytes());
        fs::write_private(&text, &probed)?;
        let output = shop.compile(&command, &job.peak)?;
        let failed = !output.status.success();
        let said = format!(
            "{}\n{}",
            output.stderr,
            String::from_utf8_lossy(&output.stdout)
        );
        let findings = message::findings(&said, failed).into_iter();
        let findings: Vec<_> = findings.filter(|finding| !is_of_probe(finding)).collect();
        if !failed {
            let text = settle_files(&fs::read(&ptx)?, &shop.package.root, &declarations.files);
            let parted = std::str::from_utf8(&text).ok().and_then(probe::parted);
            let (module, said) = match parted {
                Some((own, said)) => (own.into_bytes(), Some(said.into_bytes())),
                None => (text, None),
            };
            let module = parse(&module, &job.source.path)?;
            let said = said.map(|said| parse(&said, &job.source.path));
            let asked = Some(Asked {
                declarations,
                probe,
                said: said.transpose()?,
            });
            return Ok(Compiled {
                module,
                asked,
                findings,
            });
        }
        let wrong = probe::blamed(&said);
        if wrong.is_empty() {
            let findings = instantiate::retell(findings, &declarations, instances);
            return Err(UnitError::findings(findings));
        }
        attempts += 1;
        probe = match attempts < ATTEMPTS {
            true => probe.without(&wrong),
            false => Probe::none(),
        };
    }
}

/// The command, and the files that it reads and writes.
pub(super) fn command(
    job: &Job<'_>,
    shop: &Shop<'_>,
) -> Result<(ToolCommand, [PathBuf; 2]), UnitError> {
    let (text, ptx) = (job.scratch(shop, "ii"), job.scratch(shop, "ptx"));
    let recipe = shop.tools.recipe(job.arch, job.is_linked())?;
    let command = recipe.compile(&text, &ptx, &job.source.path, &shop.package.root);
    let command = shop.tools.wrapped(command.temporary(shop.work));
    Ok((command, [text, ptx]))
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
///
/// The compiler puts the folder it runs in before a relative name. Where the text comes from a cache, that is the folder of
/// another build, so what follows it has to be one of the names that were read.
fn settle_files(text: &[u8], root: &Path, read: &[PathBuf]) -> Vec<u8> {
    let root = format!("\"{}/", root.display());
    let own = Path::new(gpuk_device::HEADER_NAME);
    let (relative, absolute): (Vec<_>, Vec<_>) = read
        .iter()
        .map(PathBuf::as_path)
        .partition(|path| path.is_relative());
    let absolute: Vec<_> = absolute
        .iter()
        .map(|path| format!("{}\"", path.display()))
        .collect();
    let read = relative.into_iter();
    let read: Vec<_> = read
        .chain([own])
        .map(|path| format!("/{}\"", path.display()))
        .collect();
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii();
        if !(trimmed.starts_with(b".file") && trimmed.ends_with(b"\"")) {
            out.extend_from_slice(line);
            continue;
        }
        let quote = trimmed.iter().position(|byte| *byte == b'"').unwrap_or(0);
        let (before, name) = trimmed.split_at(quote + 1);
        let ends = |path: &&String| trimmed.ends_with(path.as_bytes());
        let name = match name.strip_prefix(&root.as_bytes()[1..]) {
            Some(name) => name,
            None if absolute.iter().any(|path| path.as_bytes() == name) => name,
            None => match read.iter().filter(ends).max_by_key(|path| path.len()) {
                Some(path) => &path.as_bytes()[1..],
                None => name,
            },
        };
        let parts = [b"\t", before, name, b", 1, 1\n"];
        out.extend(parts.into_iter().flatten());
    }
    out
}

/// PTX is ASCII but for names of files and comments.
fn parse(text: &[u8], source: &Path) -> Result<Module, UnitError> {
    Module::parse(String::from_utf8_lossy(text).into_owned())
        .map_err(|error| UnitError::unreadable(source, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_package() {
        let settled = |path: &str| {
            let read = ["k/a.cu", "a.cu", "x.h", "/usr/x.h"].map(PathBuf::from);
            let text = format!("\t.file\t1 \"{path}\"\n");
            let text = settle_files(text.as_bytes(), Path::new("/home/me"), &read);
            String::from_utf8(text).unwrap().trim().to_owned()
        };
        assert_eq!(settled("/home/me/k/a.cu"), ".file\t1 \"k/a.cu\", 1, 1");
        assert_eq!(settled("/other/k/a.cu"), ".file\t1 \"k/a.cu\", 1, 1");
        assert_eq!(settled("/other/gpuk.cuh"), ".file\t1 \"gpuk.cuh\", 1, 1");
        assert_eq!(settled("/usr/x.h"), ".file\t1 \"/usr/x.h\", 1, 1");
    }
}
