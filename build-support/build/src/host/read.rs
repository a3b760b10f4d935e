//! `HostJob -> Read`: every file that any of nvcc's passes reads, and the text that the functions stand in.
//!
//! The passes differ by `__CUDA_ARCH__`: the host's has none. So all are preprocessed, which takes a small part of the
//! time that compiling does, and the object's key is the content of what they read together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{HostJob, digests};
use crate::config::Arch;
use crate::digest::Digest;
use crate::fs;
use crate::message;
use crate::run::{ToolCommand, ToolOutput};
use crate::source::Declarations;
use crate::unit::{Shop, UnitError};

/// What a source is made of.
pub(super) struct Read {
    /// The device's text for the lowest architecture.
    pub(super) text: Vec<u8>,
    pub(super) declarations: Declarations,
    /// Every file, relative to the package where it lies below it; the toolkit's own left out.
    pub(super) files: Vec<PathBuf>,
}

impl Read {
    /// What the object is made of, wherever the workspace lies. A file that is not of the workspace goes by its path,
    /// for `__FILE__` says that.
    pub(super) fn key(&self, job: &HostJob<'_>, shop: &Shop<'_>) -> Digest {
        let (root, own) = (&shop.package.root, shop.package.include());
        let named = |path: &Path| {
            let path = root.join(path);
            let name = match path.strip_prefix(&own) {
                Ok(name) => name,
                Err(_) if shop.package.is_made(&path) => &path,
                Err(_) => path.strip_prefix(root).unwrap_or(&path),
            };
            name.as_os_str().as_encoded_bytes().to_vec()
        };
        let files = digests(shop, &self.files);
        let files = files.iter().map(|(path, digest)| (named(path), digest));
        let files: BTreeSet<_> = files.collect();
        let parts = files
            .iter()
            .flat_map(|(name, digest)| [name.as_slice(), digest.as_str().as_bytes()]);
        Digest::of_parts([job.recipe.as_str().as_bytes()].into_iter().chain(parts))
    }
}

/// Preprocesses for the host and for every architecture.
pub(super) fn read(job: &HostJob<'_>, shop: &Shop<'_>) -> Result<Read, UnitError> {
    let root = &shop.package.root;
    let of_source = || {
        std::slice::from_ref(&job.source)
            .iter()
            .map(|it| it.to_path_buf())
    };
    let checked = |output: &ToolOutput| {
        if output.status.success() {
            return Ok(());
        }
        let findings = message::findings(&output.stderr, true);
        let files: Vec<_> = of_source().collect();
        Err(UnitError::findings(findings).having_read(&files))
    };
    let output = shop.run(&of_host(job, shop))?;
    checked(&output)?;
    let mut files: BTreeSet<_> = dependencies(&String::from_utf8_lossy(&output.stdout))
        .into_iter()
        .collect();
    let mut lowest = None;
    for arch in shop.tools.archs() {
        let (command, out) = of_device(job, *arch, shop)?;
        let output = shop.run(&command)?;
        checked(&output)?;
        let text = fs::read(&out)?;
        let declarations = Declarations::read(&String::from_utf8_lossy(&text));
        files.extend(declarations.files.iter().cloned());
        lowest.get_or_insert((text, declarations));
    }
    let (text, mut declarations) = lowest.unwrap_or_default();
    let own = |path: &Path| shop.tools.is_own_header(path);
    declarations.functions.retain(|it| !own(&it.place.file));
    let files: BTreeSet<_> = files
        .iter()
        .filter(|path| !own(path))
        .map(|path| path.strip_prefix(root).unwrap_or(path).to_owned())
        .collect();
    Ok(Read {
        text,
        declarations,
        files: files.into_iter().collect(),
    })
}

/// What says which files the host's pass reads.
pub(super) fn of_host(job: &HostJob<'_>, shop: &Shop<'_>) -> ToolCommand {
    let command = shop.tools.nvcc(shop.package).arg("-M").arg(job.source);
    let command = command.dir(&shop.package.root);
    command.temporary(shop.work)
}

/// What preprocesses for an architecture, and the file that it writes.
pub(super) fn of_device(
    job: &HostJob<'_>,
    arch: Arch,
    shop: &Shop<'_>,
) -> Result<(ToolCommand, PathBuf), UnitError> {
    let out = job.scratch(shop, "ii");
    let recipe = shop.tools.recipe(arch, false)?;
    let command = recipe.preprocess(job.source, &out, &shop.package.root);
    Ok((command, out))
}

/// The files of a rule for make: behind the colon, blanks in names escaped, lines joined.
fn dependencies(rule: &str) -> Vec<PathBuf> {
    let rule = rule.replace("\\\r\n", " ").replace("\\\n", " ");
    let Some((_, rest)) = rule.split_once(" :").or_else(|| rule.split_once(": ")) else {
        return Vec::new();
    };
    let (mut files, mut word) = (Vec::new(), String::new());
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some(' ' | '#')) => word.extend(chars.next()),
            '$' if chars.peek() == Some(&'$') => word.extend(chars.next()),
            c if c.is_whitespace() => files.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    files.push(word);
    files.retain(|word| !word.is_empty());
    files.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read() {
        // As nvcc 13.0 prints it.
        let rule = "t.o : k/t.cu \\\n    /usr/include/features.h \\\n    inc/a\\ b.h inc/c$$d.h\n";
        let files = dependencies(rule);
        let expected = [
            "k/t.cu",
            "/usr/include/features.h",
            "inc/a b.h",
            "inc/c$d.h",
        ];
        assert_eq!(files, expected.map(PathBuf::from));
        assert!(dependencies("").is_empty());
    }
}
