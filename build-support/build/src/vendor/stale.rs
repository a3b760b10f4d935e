//! Whether vendored kernels are what the package's files and settings say now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{FOLDER, FORMAT, LOCK, Lock, Variant, Vendored, wrappers};
use crate::config::{self, Profile, Tables};
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::digest::Digest;
use crate::discover::discover;
use crate::generate::{ABI, slashed};
use crate::package::Package;
use crate::report::IMAGES;

/// Compares; the first difference is the finding.
pub(super) fn judge(
    package: &Package,
    folder: PathBuf,
    lock: Lock,
) -> Result<Vendored, Box<Diagnostic>> {
    let Lock {
        format, abi, gpuk, ..
    } = &lock;
    let foreign = |what: &str| {
        stale(format!(
            "they were made by gpuk {gpuk}, whose {what} this gpuk does not take"
        ))
    };
    if *format != FORMAT {
        return Err(foreign("lock"));
    }
    settings(package, &lock)?;
    let variant = choose(package, &lock.variants)?;
    sources(package, variant)?;
    files(package, variant)?;
    contents(&folder, variant)?;
    if *abi != ABI {
        return Err(foreign("wrappers"));
    }
    let report = serde_json::from_value(variant.report.clone()).map_err(|_| foreign("report"))?;
    Ok(Vendored {
        folder,
        variant: variant.clone(),
        report,
    })
}

pub(super) fn stale(why: impl Into<String>) -> Box<Diagnostic> {
    let message = format!("the kernels in `{FOLDER}` are not current: {}", why.into());
    let finding = Diagnostic::error(Code::VENDORED_STALE, message)
        .at(Place::line(Path::new(FOLDER).join(LOCK), 1), "")
        .help("make them anew with `cargo gpuk vendor`")
        .help("or set `GPUK_VENDORED=0`, and they are compiled instead");
    Box::new(finding)
}

fn settings(package: &Package, lock: &Lock) -> Result<(), Box<Diagnostic>> {
    let tables = Tables::of(&package.manifests).map_err(|error| stale(error.to_string()))?;
    let digest = |text: &str| Digest::of(text.as_bytes());
    if digest(&tables.package) != lock.settings {
        return Err(stale("`[package.metadata.gpuk]` has changed"));
    }
    match &tables.workspace {
        Some(workspace) if digest(workspace) != lock.workspace => {
            Err(stale("`[workspace.metadata.gpuk]` has changed"))
        }
        _ => Ok(()),
    }
}

/// The profile's own, else the release profile's. What the environment or the build script sets must agree, except in a
/// published package: those who build it set things for their own kernels.
fn choose<'v>(package: &Package, variants: &'v [Variant]) -> Result<&'v Variant, Box<Diagnostic>> {
    let config = &package.config;
    let published = config::is_published(&package.root);
    let debug = |variant: &Variant| {
        config
            .debug_checks
            .is_none_or(|it| variant.debug_checks == it)
    };
    let fitting = variants.iter().filter(|variant| {
        let profile = [config.profile, Profile::Release].contains(&variant.profile);
        published || profile && debug(variant)
    });
    let rank = |variant: &&Variant| (debug(variant), variant.profile == config.profile);
    let Some(variant) = fitting.max_by_key(rank) else {
        return Err(stale(match config.debug_checks {
            Some(true) => "none of them has debug checks, which are asked for",
            Some(false) => "all of them have debug checks, which are not wanted",
            None => "they are none of the `release` profile",
        }));
    };
    let text = |items: &[String]| items.join(", ");
    let archs = config.archs.names();
    let include: Vec<_> = config.include.iter().map(|it| slashed(it)).collect();
    let compared = [
        ("architectures", &archs, &variant.archs),
        ("flags", &config.flags, &variant.flags),
        ("`include` folders", &include, &variant.include),
    ];
    for (what, wanted, there) in compared.iter().filter(|_| !published) {
        if wanted != there {
            return Err(stale(format!(
                "their {what} are `{}`, but the build script or the environment asks for `{}`",
                text(there),
                text(wanted)
            )));
        }
    }
    Ok(variant)
}

fn sources(package: &Package, variant: &Variant) -> Result<(), Box<Diagnostic>> {
    let found = discover(package, &mut Vec::new()).map_err(|error| stale(error.to_string()))?;
    let now: BTreeSet<_> = found
        .files
        .iter()
        .map(|source| slashed(&source.path))
        .collect();
    let read: BTreeSet<_> = variant.read.iter().map(|(file, _)| file.clone()).collect();
    if let Some(new) = now.difference(&read).next() {
        return Err(stale(format!("`{new}` is new")));
    }
    let then: BTreeSet<_> = variant.sources.iter().cloned().collect();
    match then.difference(&now).next() {
        Some(gone) => Err(stale(format!("`{gone}` is gone"))),
        None => Ok(()),
    }
}

/// Files outside the package are not in its archive: where they are absent they cannot have changed, and in a published package
/// they are others.
fn files(package: &Package, variant: &Variant) -> Result<(), Box<Diagnostic>> {
    let published = config::is_published(&package.root);
    let outside = |file: &str| file.starts_with("..") || Path::new(file).is_absolute();
    let of_package = |(file, _): &&(String, Digest)| !(published && outside(file));
    for (file, digest) in variant.read.iter().filter(of_package) {
        match std::fs::read(package.root.join(file)) {
            Ok(bytes) if Digest::of(&bytes) == *digest => {}
            Ok(_) => return Err(stale(format!("`{file}` has changed"))),
            Err(_) if outside(file) => {}
            Err(error) => return Err(stale(format!("`{file}` cannot be read: {error}"))),
        }
    }
    Ok(())
}

/// The first variant that this gpuk can read and whose files are whole, whatever it was made from.
pub(super) fn take(folder: &Path, lock: Lock) -> Option<Vendored> {
    let readable = lock.format == FORMAT && lock.abi == ABI;
    let whole = |variant: &Variant| contents(folder, variant).is_ok();
    let variant = lock
        .variants
        .into_iter()
        .find(|variant| readable && whole(variant))?;
    Some(Vendored {
        report: serde_json::from_value(variant.report.clone()).ok()?,
        folder: folder.to_owned(),
        variant,
    })
}

/// A damaged file is never taken.
fn contents(folder: &Path, variant: &Variant) -> Result<(), Box<Diagnostic>> {
    let wrappers = (PathBuf::from(wrappers(variant.profile)), &variant.bindings);
    let images = variant.images.iter();
    let images = images.map(|(image, digest)| (Path::new(IMAGES).join(image), digest));
    for (file, digest) in [wrappers].into_iter().chain(images) {
        let whole =
            std::fs::read(folder.join(&file)).is_ok_and(|bytes| Digest::of(&bytes) == *digest);
        if !whole || slashed(&file).contains("..") {
            return Err(stale(format!(
                "`{}` is not as it was written",
                slashed(&file)
            )));
        }
    }
    Ok(())
}
