//! `Job -> Preprocessed`: the text the device compiler reads, and what stands in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::headers::{self, Prefix};
use super::{Job, Shop, UnitError};
use crate::digest::Digest;
use crate::fs;
use crate::message;
use crate::source::Declarations;

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
    /// What the unit is made of: this text and all that `input` stands for.
    pub(super) fn key(&self, input: &Digest) -> Digest {
        if self.declarations.is_none() {
            return Digest::of_parts([input.as_str().as_bytes(), &self.text]);
        }
        let mut content = self
            .behind
            .as_ref()
            .map(|prefix| prefix.content.clone())
            .unwrap_or_default();
        content.add(&self.text);
        Digest::of_parts([
            input.as_str().as_bytes(),
            content.digest().as_str().as_bytes(),
        ])
    }

    /// Reads what is declared, and which files were read.
    fn read(&mut self, shop: &Shop<'_>) {
        let whole = self.whole();
        let mut declarations = Declarations::read(&String::from_utf8_lossy(&whole));
        declarations.locate(|path| {
            let text = std::fs::read(shop.package.root.join(path)).ok()?;
            Some(String::from_utf8_lossy(&text).into_owned())
        });
        let ours = |path: &&PathBuf| !shop.tools.is_own_header(path);
        let files = declarations.files.iter().filter(ours);
        self.files = files
            .map(|path| relative(path, &shop.package.root))
            .collect();
        self.declarations = Some(declarations);
    }

    /// The text with the headers that it stands behind. The marker of the source comes first: the compiler takes what it
    /// names for the source, and what is entered from there for headers.
    pub(super) fn whole(&self) -> Vec<u8> {
        let Some(prefix) = &self.behind else {
            return self.text.clone();
        };
        let first = self.text.iter().position(|byte| *byte == b'\n');
        let first = first.map_or(&self.text[..], |end| &self.text[..=end]);
        [first, prefix.headers.text().as_bytes(), &self.text].concat()
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
    let out = job.scratch(shop, "ii");
    let recipe = shop.tools.recipe(job.arch, job.is_linked())?;
    let command = recipe.preprocess(&job.source.path, &out, &shop.package.root);
    let output = shop.run(&command)?;
    let findings = message::findings(&output.stderr, !output.status.success());
    if !output.status.success() {
        return Err(
            UnitError::findings(findings).having_read(std::slice::from_ref(&job.source.path))
        );
    }
    let mut preprocessed = Preprocessed {
        text: fs::read(&out)?,
        behind: None,
        declarations: None,
        files: Vec::new(),
    };
    preprocessed.read(shop);
    Ok(preprocessed)
}

/// Preprocesses the source behind the macros of the headers that all begin with. None where that does not give what
/// the headers themselves would, or where anything is wrong: the whole then says what.
fn behind(
    job: &Job<'_>,
    shop: &Shop<'_>,
    prefix: Arc<Prefix>,
) -> Result<Option<Preprocessed>, UnitError> {
    let out = job.scratch(shop, "ii");
    let recipe = shop.tools.recipe(job.arch, job.is_linked())?;
    let command =
        recipe.preprocess_behind(&prefix.macros, &job.source.path, &out, &shop.package.root);
    let Some(command) = command else {
        return Ok(None);
    };
    let output = shop.run(&command)?;
    let text = fs::read(&out)?;
    let start = headers::behind_command_line(&String::from_utf8_lossy(&text));
    let start = match start.and_then(|start| text.get(start..)) {
        Some(start) if output.status.success() && output.stderr.trim().is_empty() => start,
        _ => return Ok(None),
    };
    let declared = Declarations::read(&String::from_utf8_lossy(start));
    if !shop
        .headers
        .holds(&prefix, &declared.files, &shop.package.root)
    {
        return Ok(None);
    }
    let mut preprocessed = Preprocessed {
        text: start.to_vec(),
        behind: Some(prefix),
        declarations: None,
        files: Vec::new(),
    };
    preprocessed.read(shop);
    Ok(Some(preprocessed))
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
