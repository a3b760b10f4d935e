//! `Job -> Preprocessed`: the text the device compiler reads, and what stands in it.

use std::path::{Path, PathBuf};

use super::{Job, Shop, UnitError};
use crate::digest::Digest;
use crate::fs;
use crate::message;
use crate::source::Declarations;

/// A source with everything it includes.
pub(super) struct Preprocessed {
    /// The text, in whatever encoding its source is, its annotations in it.
    pub(super) text: Vec<u8>,
    /// The kernels and types in it; none for PTX, which says all by itself.
    pub(super) declarations: Option<Declarations>,
    /// Every file read, relative to the package where it lies below it; the toolkit's own left out.
    pub(super) files: Vec<PathBuf>,
}

impl Preprocessed {
    /// What the unit is made of: this text and all that `input` stands for.
    pub(super) fn key(&self, input: &Digest) -> Digest {
        Digest::of_parts([input.as_str().as_bytes(), &self.text])
    }
}

/// Runs the host preprocessor as nvcc would for the device pass.
pub(super) fn preprocess(job: &Job<'_>, shop: &Shop<'_>) -> Result<Preprocessed, UnitError> {
    let out = job.scratch(shop, "ii");
    let recipe = shop.tools.recipe(job.arch, job.is_linked())?;
    let command = recipe.preprocess(&job.source.path, &out, &shop.package.root);
    let output = command.output()?;
    let findings = message::findings(&output.stderr, !output.status.success());
    if !output.status.success() {
        return Err(
            UnitError::findings(findings).having_read(std::slice::from_ref(&job.source.path))
        );
    }
    let text = fs::read(&out)?;
    let mut declarations = Declarations::read(&String::from_utf8_lossy(&text));
    declarations.locate(|path| {
        let text = std::fs::read(shop.package.root.join(path)).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    });
    let ours = |path: &&PathBuf| !shop.tools.is_own_header(path);
    let files = declarations.files.iter().filter(ours);
    let files = files
        .map(|path| relative(path, &shop.package.root))
        .collect();
    Ok(Preprocessed {
        text,
        declarations: Some(declarations),
        files,
    })
}

/// Takes a PTX source as it is.
pub(super) fn take(job: &Job<'_>, shop: &Shop<'_>) -> Result<Preprocessed, UnitError> {
    Ok(Preprocessed {
        text: fs::read(&shop.package.root.join(&job.source.path))?,
        declarations: None,
        files: vec![job.source.path.clone()],
    })
}

fn relative(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}
