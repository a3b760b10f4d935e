//! The only place that writes files. Every error names the file and what was being done to it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file or folder that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} `{}`", path.display())]
pub struct FsError {
    /// What was being done, as in "could not read".
    pub action: &'static str,
    /// To which file or folder.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

fn context<T>(result: io::Result<T>, action: &'static str, path: &Path) -> Result<T, FsError> {
    result.map_err(|source| FsError {
        action,
        path: path.to_owned(),
        source,
    })
}

/// Reads a whole file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, FsError> {
    context(std::fs::read(path), "read", path)
}

/// Reads a whole UTF-8 file.
pub(crate) fn read_to_string(path: &Path) -> Result<String, FsError> {
    context(std::fs::read_to_string(path), "read", path)
}

/// Makes a folder and those above it.
///
/// # Errors
/// One cannot be made.
pub fn create_dir(path: &Path) -> Result<(), FsError> {
    context(std::fs::create_dir_all(path), "make the folder", path)
}

/// Removes a file; one that is not there is fine.
pub(crate) fn remove_file(path: &Path) -> Result<(), FsError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => context(result, "remove", path),
    }
}

/// Removes a folder and all in it; one that is not there is fine.
///
/// # Errors
/// Something in it cannot be removed.
pub fn remove_dir(path: &Path) -> Result<(), FsError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => context(result, "remove the folder", path),
    }
}

/// Gives a file the present time as its time of change.
pub(crate) fn touch(path: &Path) -> Result<(), FsError> {
    let now = std::time::SystemTime::now();
    let file = std::fs::OpenOptions::new().append(true).open(path);
    context(file.and_then(|file| file.set_modified(now)), "touch", path)
}

/// Renames; fails where the target is a folder that is not empty.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), FsError> {
    context(std::fs::rename(from, to), "move into place", to)
}

/// Writes a file that lies in a folder of one's own, where nobody reads it before a rename.
pub(crate) fn write_private(path: &Path, contents: &[u8]) -> Result<(), FsError> {
    context(std::fs::write(path, contents), "write", path)
}

/// Writes a file by rename, and only if its contents change. Says whether they did.
///
/// # Errors
/// It cannot be written; the old one is then as it was.
pub fn write(path: &Path, contents: &[u8]) -> Result<bool, FsError> {
    if std::fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(false);
    }
    let temporary = sibling(path);
    let result = std::fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_data()
    });
    if let Err(error) = context(result, "write", &temporary) {
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    rename(&temporary, path)?;
    Ok(true)
}

/// Gives a file a second name in its folder, by rename: a link where the file system has links, else a copy.
///
/// # Errors
/// It cannot be written.
pub fn alias(original: &Path, name: &str) -> Result<(), FsError> {
    let path = original.with_file_name(name);
    let temporary = sibling(&path);
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(original.file_name().unwrap_or_default(), &temporary);
    #[cfg(not(unix))]
    let linked = std::fs::hard_link(original, &temporary);
    let made = linked
        .or_else(|_| std::fs::hard_link(original, &temporary))
        .or_else(|_| std::fs::copy(original, &temporary).map(drop));
    context(made, "write", &temporary)?;
    rename(&temporary, &path)
}

/// Opens a lock file and locks it; waits for another process that holds it, after telling so.
pub(crate) fn lock(path: &Path, waiting: impl FnOnce()) -> Result<std::fs::File, FsError> {
    let file = context(
        std::fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path),
        "open the lock",
        path,
    )?;
    if file.try_lock().is_err() {
        waiting();
        context(file.lock(), "lock", path)?;
    }
    Ok(file)
}

/// A name next to `path` that no other process or thread uses.
fn sibling(path: &Path) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".gpuk-{}-{unique}.tmp", std::process::id()))
}
