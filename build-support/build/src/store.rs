//! The content-addressed store of compiled units.
//!
//! A *unit* is one source for one architecture. Its key is what went into the compiler: the preprocessed
//! text and the recipe. What a source read the last time (its *trace*) says without running anything
//! whether the key still holds.
//!
//! ```text
//! units/<key>/{unit.json, module.ptx, module.cubin}    never changed once there, moved in whole
//! traces/<input>.json                                  replaced by rename
//! ```
//!
//! An entry that does not read back as it was written counts as not there and is removed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::digest::{Digest, FileDigests};
use crate::fs::{self, FsError};
use crate::kernel::Signatures;
use crate::site::SiteRecord;

/// A compiled unit without its images.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UnitRecord {
    /// Kernels and structs, docs left out: those are read from the source each time.
    pub(crate) signatures: Signatures,
    /// Checks, in the order of their ids.
    pub(crate) sites: Vec<SiteRecord>,
    /// Entries that got the hidden parameter.
    pub(crate) checked: Vec<String>,
    /// The ISA version of the PTX.
    pub(crate) ptx_version: (u32, u32),
    /// Warnings of the compilers and gpuk's own.
    pub(crate) findings: Vec<Diagnostic>,
    /// Digest of the PTX.
    pub(crate) ptx: Digest,
    /// Digest of the cubin.
    pub(crate) cubin: Digest,
}

/// What a source read when it was last preprocessed, and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// Every file read, the source among them; the toolkit's own are left to its identity.
    pub(crate) files: Vec<(PathBuf, Digest)>,
    /// Where a new file would be included instead of one of these.
    #[serde(default)]
    pub(crate) absent: Vec<PathBuf>,
    /// The unit.
    pub(crate) key: Digest,
    /// How long the unit took to compile, in milliseconds: the longest starts first.
    pub(crate) took_ms: u64,
    /// It does not compile by itself, and another source included it: there is no unit.
    #[serde(default)]
    pub(crate) fragment: bool,
}

impl Trace {
    /// Whether every file is still what it was, and none is in the way of another.
    pub(crate) fn holds(&self, root: &Path, digests: &FileDigests) -> bool {
        let same = |(path, digest): &(PathBuf, Digest)| {
            digests.of(&root.join(path)).as_ref() == Some(digest)
        };
        self.files.iter().all(same) && !self.absent.iter().any(|path| root.join(path).exists())
    }
}

/// A unit as read back.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) key: Digest,
    pub(crate) record: UnitRecord,
    pub(crate) ptx: Vec<u8>,
    pub(crate) cubin: Vec<u8>,
}

/// The store in one folder.
#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
}

impl Store {
    pub(crate) fn open(dir: PathBuf) -> Result<Self, FsError> {
        for part in ["units", "traces"] {
            fs::create_dir(&dir.join(part))?;
        }
        Ok(Self { dir })
    }

    /// What a source read the last time, if that is known and undamaged.
    pub(crate) fn trace(&self, input: &Digest) -> Option<Trace> {
        let trace: Trace = read_json(&self.trace_path(input))?;
        trace.key.is_sound().then_some(trace)
    }

    /// Keeps what a source read.
    pub(crate) fn keep_trace(&self, input: &Digest, trace: &Trace) -> Result<(), FsError> {
        fs::write(&self.trace_path(input), &to_json(trace)).map(drop)
    }

    /// A unit that reads back whole.
    pub(crate) fn unit(&self, key: &Digest) -> Option<Unit> {
        let dir = self.unit_path(key);
        if !dir.is_dir() {
            return None;
        }
        let unit = read_unit(&dir, key);
        if unit.is_none() {
            // Damaged: out of the way, so that it is made again.
            let _ = fs::remove_dir(&dir);
        }
        unit
    }

    /// Keeps a unit; one that another process kept first stays.
    pub(crate) fn keep(&self, unit: &Unit) -> Result<(), FsError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = self
            .dir
            .join(format!("new-{}-{unique}", std::process::id()));
        fs::create_dir(&temporary)?;
        let written = fs::write_private(&temporary.join("module.ptx"), &unit.ptx)
            .and_then(|()| fs::write_private(&temporary.join("module.cubin"), &unit.cubin))
            .and_then(|()| fs::write_private(&temporary.join("unit.json"), &to_json(&unit.record)))
            .and_then(|()| {
                let place = self.unit_path(&unit.key);
                fs::rename(&temporary, &place).or_else(|error| match place.is_dir() {
                    true => Ok(()),
                    false => Err(error),
                })
            });
        let _ = fs::remove_dir(&temporary);
        written
    }

    /// Removes what interrupted builds left; only for a caller that holds the lock of the folder.
    pub(crate) fn sweep(&self) {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        for entry in entries {
            if entry.file_name().as_encoded_bytes().starts_with(b"new-") {
                let _ = fs::remove_dir(&entry.path());
            }
        }
    }

    fn trace_path(&self, input: &Digest) -> PathBuf {
        self.dir.join("traces").join(format!("{input}.json"))
    }

    fn unit_path(&self, key: &Digest) -> PathBuf {
        self.dir.join("units").join(key.as_str())
    }
}

fn read_unit(dir: &Path, key: &Digest) -> Option<Unit> {
    let record: UnitRecord = read_json(&dir.join("unit.json"))?;
    let ptx = fs::read(&dir.join("module.ptx")).ok()?;
    let cubin = fs::read(&dir.join("module.cubin")).ok()?;
    let whole = Digest::of(&ptx) == record.ptx && Digest::of(&cubin) == record.cubin;
    whole.then(|| Unit {
        key: key.clone(),
        record,
        ptx,
        cubin,
    })
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Our own records hold nothing that JSON cannot.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> Unit {
        let (ptx, cubin) = (b".version 9.0".to_vec(), b"\x7fELF".to_vec());
        Unit {
            key: Digest::of(b"key"),
            record: UnitRecord {
                signatures: Signatures::default(),
                sites: vec![],
                checked: vec![],
                ptx_version: (9, 0),
                findings: vec![],
                ptx: Digest::of(&ptx),
                cubin: Digest::of(&cubin),
            },
            ptx,
            cubin,
        }
    }

    #[test]
    fn a_unit_reads_back_and_a_damaged_one_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        let unit = unit();
        assert!(store.unit(&unit.key).is_none());
        store.keep(&unit).unwrap();
        store.keep(&unit).unwrap();
        assert_eq!(store.unit(&unit.key).unwrap().ptx, unit.ptx);
        for file in ["module.ptx", "module.cubin", "unit.json"] {
            let path = store.unit_path(&unit.key).join(file);
            let whole = std::fs::read(&path).unwrap();
            std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
            assert!(store.unit(&unit.key).is_none(), "{file}");
            assert!(!store.unit_path(&unit.key).exists());
            store.keep(&unit).unwrap();
        }
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "nothing temporary stays");
    }

    #[test]
    fn a_trace_holds_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store")).unwrap();
        let header = folder.path().join("h.cuh");
        std::fs::write(&header, "one").unwrap();
        let trace = Trace {
            files: vec![(PathBuf::from("h.cuh"), Digest::of(b"one"))],
            absent: vec![PathBuf::from("nearer/h.cuh")],
            key: Digest::of(b"k"),
            took_ms: 5,
            fragment: false,
        };
        let input = Digest::of(b"input");
        store.keep_trace(&input, &trace).unwrap();
        let trace = store.trace(&input).unwrap();
        assert!(trace.holds(folder.path(), &FileDigests::default()));
        let nearer = folder.path().join("nearer");
        std::fs::create_dir(&nearer).unwrap();
        std::fs::write(nearer.join("h.cuh"), "one").unwrap();
        assert!(!trace.holds(folder.path(), &FileDigests::default()));
        std::fs::remove_dir_all(nearer).unwrap();
        assert!(trace.holds(folder.path(), &FileDigests::default()));
        std::fs::write(&header, "two").unwrap();
        assert!(!trace.holds(folder.path(), &FileDigests::default()));
        std::fs::remove_file(&header).unwrap();
        assert!(!trace.holds(folder.path(), &FileDigests::default()));
    }
}
