//! Compiled kernels that are kept with the package, for machines without a compiler.
//!
//! ```text
//! gpuk-vendor/lock.json            what they were made from, by content
//! gpuk-vendor/{dev,release}.rs     the wrappers of each profile
//! gpuk-vendor/images/…             PTX and cubins, shared by the profiles
//! ```
//!
//! `cargo gpuk vendor` writes the folder (`write`), a build script takes the kernels from it as long as it is
//! current (`stale`). It is committed and packaged like any source. Nothing here compiles.

mod stale;
mod unfit;
mod write;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Profile;
use crate::diagnostic::{Diagnostic, Level};
use crate::digest::Digest;
use crate::env::Env;
use crate::fs::{self, FsError};
use crate::package::Package;
use crate::report::{BINDINGS, IMAGES, Report};

pub use write::{Taken, write};

/// The folder, beside the manifest.
pub const FOLDER: &str = "gpuk-vendor";
const LOCK: &str = "lock.json";
/// Of the lock's own form.
const FORMAT: u32 = 1;

/// What the folder holds and what it was made from.
#[derive(Debug, Serialize, Deserialize)]
struct Lock {
    format: u32,
    /// Who wrote it.
    gpuk: String,
    /// What the wrappers and the run time agree on.
    abi: u32,
    /// `[package.metadata.gpuk]`.
    settings: Digest,
    /// `[workspace.metadata.gpuk]`; a published package has no workspace, and is not asked.
    workspace: Digest,
    variants: Vec<Variant>,
}

/// The kernels as one profile has them.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Variant {
    profile: Profile,
    debug_checks: bool,
    archs: Vec<String>,
    flags: Vec<String>,
    include: Vec<String>,
    /// Sources, in order.
    sources: Vec<String>,
    /// Every file that was read, the sources among them.
    read: Vec<(String, Digest)>,
    bindings: Digest,
    images: Vec<(String, Digest)>,
    /// As the build made it; read only by the gpuk that knows its form.
    report: Value,
}

/// Current kernels, ready to be taken.
#[derive(Debug)]
pub(crate) struct Vendored {
    folder: PathBuf,
    variant: Variant,
    report: Report,
}

/// Vendored kernels that cannot be taken.
#[derive(Debug)]
pub(crate) struct Stale {
    /// What differs.
    pub(crate) finding: Diagnostic,
    /// What may change it, relative to the package.
    pub(crate) files: Vec<PathBuf>,
}

/// The package's vendored kernels; `None` where there are none or `GPUK_VENDORED=0` passes over them.
pub(crate) fn of(package: &Package, env: &Env) -> Option<Result<Vendored, Box<Stale>>> {
    if env.get("GPUK_VENDORED").is_some_and(|value| value == "0") {
        return None;
    }
    let folder = package.root.join(FOLDER);
    let text = std::fs::read(folder.join(LOCK)).ok()?;
    let mut files = vec![PathBuf::from(FOLDER)];
    if let Some(finding) = unfit::finding(package) {
        return Some(Err(Box::new(Stale { finding, files })));
    }
    let judged = match serde_json::from_slice::<Lock>(&text) {
        Err(error) => Err(stale::stale(format!("`{LOCK}` cannot be read: {error}"))),
        Ok(lock) => {
            let read = lock.variants.iter().flat_map(|variant| &variant.read);
            let there = |file: &PathBuf| package.root.join(file).exists();
            files.extend(read.map(|(file, _)| PathBuf::from(file)).filter(there));
            stale::judge(package, folder, lock)
        }
    };
    Some(judged.map_err(|finding| {
        Box::new(Stale {
            finding: *finding,
            files,
        })
    }))
}

/// Why nothing of the package can be vendored, if it is so.
#[must_use]
pub fn unfit(package: &Package) -> Option<Diagnostic> {
    unfit::finding(package)
}

/// What is wrong with the package's vendored kernels, if it has some and they are not current.
#[must_use]
pub fn finding(package: &Package, env: &Env) -> Option<Diagnostic> {
    Some(of(package, env)?.err()?.finding)
}

/// The package's vendored kernels, current or not, where nothing may fail; `None` where there are none that can be read.
///
/// # Errors
/// The results cannot be written.
pub(crate) fn whatever(package: &Package, env: &Env) -> Result<Option<Report>, FsError> {
    let folder = package.root.join(FOLDER);
    if let Some(Ok(vendored)) = of(package, env) {
        return vendored.install(package).map(Some);
    }
    let lock = std::fs::read(folder.join(LOCK)).ok();
    let lock = lock.and_then(|text| serde_json::from_slice::<Lock>(&text).ok());
    let taken = lock.and_then(|lock| stale::take(&folder, lock));
    taken.map(|vendored| vendored.install(package)).transpose()
}

impl Vendored {
    /// Puts them where the build's results go. The images are compared once more while they are copied.
    pub(crate) fn install(self, package: &Package) -> Result<Report, FsError> {
        let Self {
            folder,
            variant,
            mut report,
        } = self;
        fs::create_dir(&package.out.join(IMAGES))?;
        let _lock = fs::lock(&package.out.join("lock"), || ())?;
        for (image, _) in &variant.images {
            let image = Path::new(IMAGES).join(image);
            fs::write(&package.out.join(&image), &fs::read(&folder.join(&image))?)?;
        }
        let bindings = fs::read(&folder.join(wrappers(variant.profile)))?;
        fs::write(&package.out.join(BINDINGS), &bindings)?;
        let said = format!(
            "nothing was compiled: the kernels are those of `{FOLDER}`, for {}",
            report.archs().join(", ")
        );
        report
            .findings
            .push(Diagnostic::new(None, Level::Warning, said));
        // A file that is not there would have cargo run the build script each time.
        let there = |path: &PathBuf| package.root.join(path).exists();
        report.files.retain(there);
        report.folders.retain(there);
        report.files.push(FOLDER.into());
        Ok(report)
    }
}

/// The wrappers' file.
fn wrappers(profile: Profile) -> &'static str {
    match profile {
        Profile::Dev => "dev.rs",
        Profile::Release => "release.rs",
    }
}
