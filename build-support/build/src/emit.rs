//! Writes the results of a build so that an interrupted one leaves the last good results in force.
//!
//! Images carry their digest in their names and are written first; the wrappers that name them come into
//! force by one rename; what nothing names any more is removed last.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::fs::{self, FsError};
use crate::host;
use crate::report::{BINDINGS, IMAGES, REPORT, Report};
use crate::store::sealed;

/// A file to be embedded.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    /// Relative to the folder of the results.
    pub(crate) file: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl Image {
    /// Names it after its module, architecture and content.
    pub(crate) fn new(module: &str, arch: &str, extension: &str, bytes: Vec<u8>) -> Self {
        let digest = Digest::of(&bytes);
        // Short: Windows' limit on paths is near.
        let module: String = module.chars().take(40).collect();
        let name = format!("{module}-{arch}-{}.{extension}", digest.short());
        Self {
            file: Path::new(IMAGES).join(name),
            bytes,
        }
    }
}

impl Image {
    /// An object of host functions, named likewise.
    pub(crate) fn object(source: &str, bytes: Vec<u8>) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let source: String = source.chars().map(plain).take(40).collect();
        let name = format!("{source}-{}.o", Digest::of(&bytes).short());
        Self {
            file: Path::new(host::FOLDER).join(name),
            bytes,
        }
    }
}

/// Writes images, wrappers and report into `out`.
pub(crate) fn emit(
    out: &Path,
    images: &[Image],
    bindings: &str,
    report: &Report,
) -> Result<(), FsError> {
    fs::create_dir(&out.join(IMAGES))?;
    let folders = images.iter().filter_map(|image| image.file.parent());
    for folder in folders.collect::<BTreeSet<_>>() {
        fs::create_dir(&out.join(folder))?;
    }
    for image in images {
        fs::write(&out.join(&image.file), &image.bytes)?;
    }
    fs::remove_file(&out.join(REPORT))?;
    fs::write(&out.join(BINDINGS), bindings.as_bytes())?;
    fs::write(&out.join(REPORT), &sealed(report))?;
    let named: BTreeSet<_> = images.iter().map(|image| out.join(&image.file)).collect();
    let folders = [IMAGES, host::FOLDER].into_iter();
    let there = folders.flat_map(|folder| std::fs::read_dir(out.join(folder)));
    let there = there.flatten().flatten();
    for entry in there.filter(|entry| !named.contains(&entry.path())) {
        fs::remove_file(&entry.path())?;
    }
    Ok(())
}
