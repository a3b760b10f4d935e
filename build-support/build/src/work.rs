//! The folder in which a build's compilers find and leave their files, one for each build: the compilers of a build that was
//! killed may go on, and write into theirs while the next one runs.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::fs::{self, FsError};

/// The name of a folder that no other build has, in the folder of a package's results.
pub(crate) fn folder(out: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default();
    // Short: Windows' limit on paths is near.
    let unique = format!("{:x}-{:x}", std::process::id(), now.as_millis() & 0xff_ffff);
    out.join("work").join(unique)
}

/// Makes it, and removes what builds that were killed left, as far as nobody writes there any more. The caller has the lock of
/// the results.
pub(crate) fn begin(folder: &Path) -> Result<(), FsError> {
    if let Some(all) = folder.parent() {
        let _ = fs::remove_dir(all);
    }
    fs::create_dir(folder)
}

/// Removes it.
pub(crate) fn end(folder: &Path) -> Result<(), FsError> {
    fs::remove_dir(folder)?;
    if let Some(all) = folder.parent() {
        // Another build's compilers may still have theirs in it.
        let _ = std::fs::remove_dir(all);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_has_a_folder_of_its_own() {
        let out = tempfile::tempdir().unwrap();
        let left = folder(out.path()).with_file_name("1-2");
        std::fs::create_dir_all(&left).unwrap();
        std::fs::write(left.join("a.ptx"), "").unwrap();
        let own = folder(out.path());
        begin(&own).unwrap();
        assert!(own.is_dir() && !left.exists());
        // A compiler of the build before ends now.
        std::fs::create_dir_all(&left).unwrap();
        std::fs::write(left.join("a.ptx"), "").unwrap();
        end(&own).unwrap();
        assert!(!own.exists() && left.exists());
        std::fs::remove_dir_all(&left).unwrap();
        begin(&own).unwrap();
        end(&own).unwrap();
        assert!(!out.path().join("work").exists());
    }
}
