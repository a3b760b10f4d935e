//! A file's identity by its metadata, enough to know that it need not be asked again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A file with its size and time of change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// Its size, in bytes.
    pub len: u64,
    /// When it was last written, in nanoseconds since 1970; 0 where that is not known.
    pub modified: u64,
}

impl Stamp {
    /// The stamp of a file as it is now.
    ///
    /// # Errors
    /// It is not there, or may not be read.
    pub fn of(file: &Path) -> io::Result<Self> {
        let path = crate::fs::canonical(file)?;
        let data = path.metadata()?;
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok();
        let nanos = |time| since(time).and_then(|age| u64::try_from(age.as_nanos()).ok());
        Ok(Self {
            len: data.len(),
            modified: data.modified().ok().and_then(nanos).unwrap_or(0),
            path,
        })
    }

    /// Whether the file is still the same.
    pub fn is_current(&self) -> bool {
        Self::of(&self.path).is_ok_and(|now| now == *self)
    }
}
