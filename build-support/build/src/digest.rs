//! Content digests: what decides whether anything is built again.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::fs;

/// 128 bits of BLAKE3, as hexadecimal text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Digest(String);

impl Digest {
    /// Of some bytes.
    #[must_use]
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let hash = blake3::hash(bytes).to_hex();
        Self(hash.as_str().chars().take(32).collect())
    }

    /// Of parts, such that moving a byte from one part to the next changes it.
    pub(crate) fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&part.len().to_le_bytes()).update(part);
        }
        Self(
            hasher
                .finalize()
                .to_hex()
                .as_str()
                .chars()
                .take(32)
                .collect(),
        )
    }

    /// The hexadecimal text, 32 characters.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it to keep files of one name apart.
    #[must_use]
    pub(crate) fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }

    /// Whether it has the form of a digest; one read from a damaged file may not.
    pub(crate) fn is_sound(&self) -> bool {
        self.0.len() == 32 && self.0.bytes().all(|c| c.is_ascii_hexdigit())
    }
}

/// A digest of what comes bit by bit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hasher(blake3::Hasher);

impl Hasher {
    /// Takes more.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest so far.
    pub(crate) fn digest(&self) -> Digest {
        let hash = self.0.finalize().to_hex();
        Digest(hash.as_str().chars().take(32).collect())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The digests of files, each read once in a build: a thousand sources share their headers.
#[derive(Debug)]
pub(crate) struct FileDigests {
    known: Mutex<HashMap<PathBuf, Option<Digest>>>,
    since: SystemTime,
}

impl FileDigests {
    /// None read yet.
    pub(crate) fn new() -> Self {
        Self {
            known: Mutex::default(),
            since: SystemTime::now(),
        }
    }

    /// Whether a digest is that of what a compiler read: nothing was written to the file since the build began.
    pub(crate) fn is_certain(&self, path: &Path) -> bool {
        !fs::changed_since(path, self.since)
    }

    /// `None` for a file that cannot be read.
    pub(crate) fn of(&self, path: &Path) -> Option<Digest> {
        if let Ok(known) = self.known.lock()
            && let Some(digest) = known.get(path)
        {
            return digest.clone();
        }
        let digest = std::fs::read(path).ok().map(|bytes| Digest::of(&bytes));
        if let Ok(mut known) = self.known.lock() {
            known.insert(path.to_owned(), digest.clone());
        }
        digest
    }
}
