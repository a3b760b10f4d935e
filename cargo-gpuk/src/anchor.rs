//! Where an editor that reads Rust alone can show what is wrong with a kernel.
//!
//! rust-analyzer shows a finding in the files that it knows: Rust, TOML, and what the editor has given it. A `.cu` file
//! is mostly none of them, but the line that takes the kernels in is.

use std::path::{Path, PathBuf};

use cargo_metadata::Package;
use gpuk_build::diagnostic::{Label, Place};

/// What takes the kernels into a crate.
const TAKES_IN: &str = "include_kernels!";

/// Deeper than modules are nested.
const DEPTH: usize = 16;

/// The line that takes a package's kernels in, else the first of its manifest.
pub(crate) fn of(package: &Package) -> Label {
    let roots = package.targets.iter().map(|it| it.src_path.as_std_path());
    let folders = roots.filter_map(Path::parent);
    let place = folders
        .flat_map(|folder| sources(folder, DEPTH))
        .find_map(|file| line(&file));
    let place = place.unwrap_or_else(|| Place::line(package.manifest_path.as_std_path(), 1));
    Label {
        place,
        text: "the kernels of this package".to_owned(),
    }
}

fn line(file: &Path) -> Option<Place> {
    let text = std::fs::read_to_string(file).ok()?;
    let code = |line: &str| !line.trim_start().starts_with("//") && line.contains(TAKES_IN);
    let index = text.lines().position(code)?;
    Some(Place::line(file, u32::try_from(index + 1).ok()?))
}

/// The Rust files of a folder, its own before those of folders in it.
fn sources(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|it| it == "rs");
    let mut found: Vec<_> = files.into_iter().filter(is_rust).collect();
    // Cargo's own folder and other packages are not below `src`, but may be beside a `build.rs`.
    let inner = folders.into_iter().filter(|it| {
        depth > 0 && !it.join("Cargo.toml").exists() && !it.join("CACHEDIR.TAG").exists()
    });
    found.extend(inner.flat_map(|it| sources(&it, depth - 1)));
    found
}
