//! Writes the folder: images first, then wrappers, the lock last; what nothing names any more is removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{FOLDER, FORMAT, LOCK, Lock, Variant, wrappers};
use crate::config::{ManifestError, Tables};
use crate::digest::Digest;
use crate::discover::discover;
use crate::fs::{self, FsError};
use crate::generate::{ABI, slashed};
use crate::package::Package;
use crate::report::{BINDINGS, IMAGES, Report};

/// One profile's results, in memory: the next profile's build replaces them.
#[derive(Debug)]
pub struct Taken {
    variant: Variant,
    wrappers: Vec<u8>,
    images: BTreeMap<PathBuf, Vec<u8>>,
}

impl Taken {
    /// Takes what a build has just made.
    ///
    /// # Errors
    /// A result or a file that it was made from cannot be read.
    pub fn of(package: &Package, report: &Report) -> Result<Self, FsError> {
        let config = &package.config;
        let wrappers = fs::read(&package.out.join(BINDINGS))?;
        let mut images = BTreeMap::new();
        for image in report.modules.iter().flat_map(|module| &module.images) {
            let name = image.file.strip_prefix(IMAGES).unwrap_or(&image.file);
            images.insert(name.to_owned(), fs::read(&package.out.join(&image.file))?);
        }
        // Another machine has other system headers, and gpuk's own is that of the gpuk which reads this.
        let mut report = report.clone();
        let root = &package.root;
        let ours = |file: &PathBuf| file.is_relative() && !package.is_made(&root.join(file));
        report.files.retain(ours);
        let mut read = Vec::new();
        for file in &report.files {
            let bytes = fs::read(&package.root.join(file))?;
            read.push((slashed(file), Digest::of(&bytes)));
        }
        // Not those of the report, in which several may be one module.
        let sources = discover(package, &mut Vec::new())?.files;
        let sources = sources.iter().map(|source| slashed(&source.path));
        Ok(Self {
            variant: Variant {
                profile: config.profile,
                debug_checks: package.debug_checks(),
                archs: config.archs.names(),
                flags: config.flags.clone(),
                include: config.include.iter().map(|it| slashed(it)).collect(),
                sources: sources.collect(),
                read,
                bindings: Digest::of(&wrappers),
                images: images
                    .iter()
                    .map(|(name, bytes)| (slashed(name), Digest::of(bytes)))
                    .collect(),
                report: serde_json::to_value(report).unwrap_or_default(),
            },
            wrappers,
            images,
        })
    }
}

/// Writes the folder beside the package's manifest, and returns it.
///
/// # Errors
/// It cannot be written, or the manifest not be read.
pub fn write(package: &Package, taken: Vec<Taken>) -> Result<PathBuf, ManifestError> {
    let folder = package.root.join(FOLDER);
    let images = folder.join(IMAGES);
    fs::create_dir(&images)?;
    let tables = Tables::of(&package.manifests)?;
    let mut named = Vec::new();
    for one in &taken {
        for (name, bytes) in &one.images {
            fs::write(&images.join(name), bytes)?;
            named.push(images.join(name));
        }
        let file = folder.join(wrappers(one.variant.profile));
        fs::write(&file, &one.wrappers)?;
        named.push(file);
    }
    let lock = Lock {
        format: FORMAT,
        gpuk: env!("CARGO_PKG_VERSION").to_owned(),
        abi: ABI,
        settings: Digest::of(tables.package.as_bytes()),
        workspace: Digest::of(tables.workspace.unwrap_or_default().as_bytes()),
        variants: taken.into_iter().map(|one| one.variant).collect(),
    };
    let mut text = serde_json::to_vec_pretty(&lock).unwrap_or_default();
    text.push(b'\n');
    fs::write(&folder.join(LOCK), &text)?;
    named.push(folder.join(LOCK));
    for folder in [&folder, &images] {
        remove_others(folder, &named)?;
    }
    Ok(folder)
}

/// Removes the files of a folder that are not named.
fn remove_others(folder: &Path, named: &[PathBuf]) -> Result<(), FsError> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_file() && !named.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
