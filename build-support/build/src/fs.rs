//! The only place that writes files. Every error names the file and what was being done to it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

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
        // An empty folder in the file's place is nobody's.
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            context(std::fs::remove_dir(path), "remove", path)
        }
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
    let now = SystemTime::now();
    let file = std::fs::OpenOptions::new().append(true).open(path);
    context(file.and_then(|file| file.set_modified(now)), "touch", path)
}

/// Whether a file was written, replaced or moved here since a moment of this machine's clock.
///
/// Where the system keeps the time of a file's change apart, that is asked: nobody can set it, so a file that is dated into the
/// past or the future, or that another took the place of with its time kept, tells the truth.
pub(crate) fn changed_since(path: &Path, moment: SystemTime) -> bool {
    /// What files are stamped by may lag behind the clock.
    const LAG: Duration = Duration::from_millis(10);
    let Ok(file) = std::fs::metadata(path) else {
        return true;
    };
    #[cfg(unix)]
    let changed = {
        use std::os::unix::fs::MetadataExt;
        let seconds = u64::try_from(file.ctime()).unwrap_or(0);
        let nanos = u32::try_from(file.ctime_nsec()).unwrap_or(0);
        Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
    };
    #[cfg(not(unix))]
    let changed = file.modified().ok();
    changed.is_none_or(|changed| changed + LAG >= moment)
}

/// Renames; fails where the target is a folder that is not empty.
///
/// Windows refuses while another process, a scanner of viruses for one, has the target open without sharing it; that
/// passes, so it is tried again for a second.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), FsError> {
    let wait = |pause| std::thread::sleep(pause);
    let result = again(cfg!(windows), || std::fs::rename(from, to), wait);
    context(result, "move into place", to)
}

/// Tries an action up to eleven times where others' open files may be in its way.
fn again<T>(
    patient: bool,
    mut action: impl FnMut() -> io::Result<T>,
    mut wait: impl FnMut(Duration),
) -> io::Result<T> {
    let mut left = if patient { 10 } else { 0 };
    loop {
        match action() {
            Err(error) if left > 0 && error.kind() == io::ErrorKind::PermissionDenied => {
                left -= 1;
                wait(Duration::from_millis(100));
            }
            result => return result,
        }
    }
}

/// A path without links, in the form that compilers take: Windows' verbatim form (`\\?\C:\x`), which they do not,
/// becomes the usual one where that means the same.
///
/// # Errors
/// It is not there.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let path = path.canonicalize()?;
    let plain = path.to_str().and_then(without_prefix).map(PathBuf::from);
    Ok(plain.unwrap_or(path))
}

/// The usual form of a verbatim path; none where it has another or none. The usual form ends at 260 characters, takes
/// `.`, `..` and `/` for more than names, drops blanks and dots at a name's end, and has names for devices.
fn without_prefix(path: &str) -> Option<String> {
    let rest = path.strip_prefix(r"\\?\")?;
    let (plain, names) = match rest.strip_prefix(r"UNC\") {
        Some(share) => (format!(r"\\{share}"), share),
        None => {
            let drive = rest.as_bytes();
            let is_drive =
                drive.len() > 2 && drive[0].is_ascii_alphabetic() && &drive[1..3] == b":\\";
            (is_drive.then(|| rest.to_owned())?, &rest[3..])
        }
    };
    let plain_name =
        |name: &str| !name.contains('/') && !name.ends_with(['.', ' ']) && !is_device(name);
    let sound = plain.len() < 260
        && names
            .split('\\')
            .filter(|it| !it.is_empty())
            .all(plain_name);
    sound.then_some(plain)
}

/// Whether Windows takes a file's name for a device, whatever its extension (`con.cu`).
pub(crate) fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let numbered = |word: &str| {
        let rest = stem
            .get(..3)
            .filter(|start| start.eq_ignore_ascii_case(word));
        rest.is_some() && matches!(stem.as_bytes()[3..], [b'1'..=b'9'])
    };
    let named = ["con", "prn", "aux", "nul"];
    named.iter().any(|word| stem.eq_ignore_ascii_case(word)) || numbered("com") || numbered("lpt")
}

/// Writes a file that lies in a folder of one's own, where nobody reads it before a rename.
pub(crate) fn write_private(path: &Path, contents: &[u8]) -> Result<(), FsError> {
    context(std::fs::write(path, contents), "write", path)
}

/// Writes a file by rename, and only if its contents change. Says whether they did.
///
/// Nobody waits for the disk, as cargo and rustc do not: for a hundred small files that takes 40 to 90 ms (ext4). A process that
/// is killed leaves the old file or the new one; what a machine loses with its power, readers tell by lengths and digests.
///
/// # Errors
/// It cannot be written; the old one is then as it was.
pub fn write(path: &Path, contents: &[u8]) -> Result<bool, FsError> {
    if std::fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(false);
    }
    let temporary = sibling(path);
    let result = std::fs::write(&temporary, contents);
    // An empty folder in the file's place is nobody's.
    let _ = std::fs::remove_dir(path);
    let written = context(result, "write", &temporary).and_then(|()| rename(&temporary, path));
    if let Err(error) = written {
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbatim_paths_become_usual_ones_where_they_mean_the_same() {
        let plain = |path: &str| without_prefix(path);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(plain(r"\\?\C:\a b\k.cu"), some(r"C:\a b\k.cu"));
        assert_eq!(plain(r"\\?\UNC\host\share\k"), some(r"\\host\share\k"));
        let long = format!(r"\\?\C:\{}", "a".repeat(260));
        for kept in [
            r"C:\a",
            r"\\?\Volume{0}\a",
            r"\\?\C:\a.\b",
            r"\\?\C:\con.cu",
            r"\\?\C:\a/b",
            &long,
            "/usr/x",
        ] {
            assert_eq!(plain(kept), None, "{kept}");
        }
    }

    #[test]
    fn devices_are_known_by_their_names() {
        for name in ["con", "CON.cu", "aux.tar.gz", "Com1.cu", "lpt9", "nul .cu"] {
            assert!(is_device(name), "{name}");
        }
        for name in ["cone.cu", "com0", "com10.cu", "a.con", "", "lpt", "é1.cu"] {
            assert!(!is_device(name), "{name}");
        }
    }

    #[test]
    fn what_others_hold_open_is_waited_for() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let run = |patient, succeeds_at: u32, error: fn() -> io::Error| {
            let (mut tries, mut waits) = (0, 0);
            let result = again(
                patient,
                || {
                    tries += 1;
                    if tries >= succeeds_at {
                        Ok(())
                    } else {
                        Err(error())
                    }
                },
                |_| waits += 1,
            );
            (result.is_ok(), tries, waits)
        };
        assert_eq!(run(true, 3, denied), (true, 3, 2));
        assert_eq!(run(true, 99, denied), (false, 11, 10));
        assert_eq!(run(false, 3, denied), (false, 1, 0));
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(run(true, 3, full), (false, 1, 0));
    }
}
