//! `Job -> Preprocessed`: the text the device compiler reads, and what stands in it. Files have their names in it
//! (`folders`), and the instances that the configuration asks for stand at its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::headers::{self, Prefix};
use super::{Job, Shop, UnitError, instantiate};
use crate::digest::Digest;
use crate::fs;
use crate::message;
use crate::prune::prune;
use crate::run::ToolCommand;
use crate::source::{Declarations, Files};

/// A source with everything it includes.
pub(super) struct Preprocessed {
    /// The text, in whatever encoding its source is, its annotations in it; what `behind` says stands in front of it.
    pub(super) text: Vec<u8>,
    /// The headers that all sources begin with, where they were read apart.
    pub(super) behind: Option<Arc<Prefix>>,
    /// The kernels and types in it; none for PTX, which says all by itself.
    pub(super) declarations: Option<Declarations>,
    /// Every file read, relative to the package where it lies below it; the toolkit's own left out.
    pub(super) files: Vec<PathBuf>,
}

impl Preprocessed {
    /// What the unit is made of: this text and all that `recipe` stands for.
    pub(super) fn content(&self, recipe: &Digest) -> Digest {
        if self.declarations.is_none() {
            return Digest::of_parts([recipe.as_str().as_bytes(), &self.text]);
        }
        let mut content = self
            .behind
            .as_ref()
            .map(|prefix| prefix.content.clone())
            .unwrap_or_default();
        content.add(&self.text);
        Digest::of_parts([
            recipe.as_str().as_bytes(),
            content.digest().as_str().as_bytes(),
        ])
    }

    /// Names files, reads what is declared and which files were read, and asks for instances.
    fn read(text: Vec<u8>, behind: Option<Arc<Prefix>>, shop: &Shop<'_>) -> Self {
        let (text, called) = shop.folders.rename(text);
        let mut read = Self {
            text,
            behind,
            declarations: None,
            files: Vec::new(),
        };
        let root = &shop.package.root;
        let file = |name: &Path| root.join(called.get(name).map_or(name, PathBuf::as_path));
        let headers = read.behind.as_ref().map(|prefix| prefix.files.clone());
        let text = String::from_utf8_lossy(&read.text);
        let mut declarations = Declarations::read_behind(headers.unwrap_or_default(), &text);
        drop(text);
        declarations.locate(|name| {
            let text = std::fs::read(file(name)).ok()?;
            Some(String::from_utf8_lossy(&text).into_owned())
        });
        let ours = |name: &&PathBuf| !shop.folders.is_toolkits(name);
        let files = declarations.files.iter().filter(ours);
        let files = files.map(|name| called.get(name).unwrap_or(name));
        read.files = files.map(|path| relative(path, root)).collect();
        let instances = &shop.package.config.instantiate;
        instantiate::add(instances, &mut declarations, &mut read.text);
        read.declarations = Some(declarations);
        read
    }

    /// How many bytes all of it is.
    pub(super) fn len(&self) -> usize {
        let headers = self.behind.as_ref().and_then(|prefix| prefix.headers());
        headers.map_or(0, |headers| headers.text().len()) + self.text.len()
    }

    /// The text with the headers that it stands behind. The marker of the source comes first: the compiler takes what it
    /// names for the source, and what is entered from there for headers.
    pub(super) fn whole(&self) -> Vec<u8> {
        let Some(headers) = self.behind.as_ref().and_then(|prefix| prefix.headers()) else {
            return self.text.clone();
        };
        let first = self.text.iter().position(|byte| *byte == b'\n');
        let first = first.map_or(&self.text[..], |end| &self.text[..=end]);
        [first, headers.text().as_bytes(), &self.text].concat()
    }

    /// The same with those declarations of the headers alone that the text or what will stand behind it needs.
    pub(super) fn pruned(&self, behind: &str) -> Option<String> {
        let headers = self.behind.as_ref()?.headers()?;
        prune(headers, std::str::from_utf8(&self.text).ok()?, behind)
    }
}

/// Runs the host preprocessor as nvcc would for the device pass.
pub(super) fn preprocess(job: &Job<'_>, shop: &Shop<'_>) -> Result<Preprocessed, UnitError> {
    if let Some(prefix) = shop.headers.of(job, shop)
        && let Some(preprocessed) = behind(job, shop, prefix)?
    {
        return Ok(preprocessed);
    }
    whole(job, shop)
}

/// As [`preprocess`], all headers with the source.
pub(super) fn whole(job: &Job<'_>, shop: &Shop<'_>) -> Result<Preprocessed, UnitError> {
    let (command, out) = whole_command(job, shop)?;
    let output = shop.run(&command)?;
    let findings = message::findings(&output.stderr, !output.status.success());
    if !output.status.success() {
        return Err(
            UnitError::findings(findings).having_read(std::slice::from_ref(&job.source.path))
        );
    }
    Ok(Preprocessed::read(fs::read(&out)?, None, shop))
}

/// The command of [`whole`], and the file that it writes.
pub(super) fn whole_command(
    job: &Job<'_>,
    shop: &Shop<'_>,
) -> Result<(ToolCommand, PathBuf), UnitError> {
    let out = job.scratch(shop, "ii");
    let recipe = shop.tools.recipe(job.arch, job.is_linked())?;
    let command = recipe.preprocess(&job.source.path, &out, &shop.package.root);
    Ok((naming(command, shop), out))
}

/// The command of [`behind`], and the file that it writes. None where the host compiler has no such option.
pub(super) fn behind_command(
    job: &Job<'_>,
    shop: &Shop<'_>,
    macros: &[PathBuf; 2],
) -> Result<Option<(ToolCommand, PathBuf)>, UnitError> {
    let out = job.scratch(shop, "ii");
    let recipe = shop.tools.recipe(job.arch, job.is_linked())?;
    let command = recipe.preprocess_behind(macros, &job.source.path, &out, &shop.package.root);
    Ok(command.map(|command| (naming(command, shop), out)))
}

/// With the options by which `__FILE__` says names.
fn naming(mut command: ToolCommand, shop: &Shop<'_>) -> ToolCommand {
    let options = shop.folders.options(shop.tools.host_version());
    let options = options.into_iter().map(Into::into);
    command.args.splice(0..0, options);
    command
}

/// Preprocesses the source behind the macros of the headers that all begin with. None where that does not give what
/// the headers themselves would, or where anything is wrong: the whole then says what.
fn behind(
    job: &Job<'_>,
    shop: &Shop<'_>,
    prefix: Arc<Prefix>,
) -> Result<Option<Preprocessed>, UnitError> {
    let Some((command, out)) = behind_command(job, shop, &prefix.macros)? else {
        return Ok(None);
    };
    let output = shop.run(&command)?;
    // Of a source that it cannot preprocess, the compiler leaves no file.
    if !output.status.success() || !output.stderr.trim().is_empty() {
        return Ok(None);
    }
    let text = fs::read(&out)?;
    let start = headers::behind_command_line(&String::from_utf8_lossy(&text));
    let Some(start) = start.and_then(|start| text.get(start..)) else {
        return Ok(None);
    };
    let read = Files::of(&String::from_utf8_lossy(start));
    if !shop.headers.holds(&prefix, &read.named, &shop.package.root) {
        return Ok(None);
    }
    let text = start.to_vec();
    Ok(Some(Preprocessed::read(text, Some(prefix), shop)))
}

/// Takes a PTX source as it is.
pub(super) fn take(job: &Job<'_>, shop: &Shop<'_>) -> Result<Preprocessed, UnitError> {
    Ok(Preprocessed {
        text: fs::read(&shop.package.root.join(&job.source.path))?,
        behind: None,
        declarations: None,
        files: vec![job.source.path.clone()],
    })
}

fn relative(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}
