//! The content-addressed store of compiled units.
//!
//! A *unit* is one source for one architecture. Its key is what went into the compiler, the preprocessed
//! text and the recipe, with what is set for its kernels (`unit/key.rs`). Nothing in it says where the package lies
//! (`folders`). What a source read the last time (its *trace*) says without running anything
//! whether the key still holds.
//!
//! ```text
//! units/<key>/{unit.json, module.ptx, module.cubin}    never changed once there, moved in whole
//! units/<key>/{unit.json, host.o}                      the same, of a source of host functions
//! units/<key>/unit.json                                the same, the names of the kernels of a source
//! traces/<input>.json                                  replaced by rename
//! ```
//!
//! Units are shared: by the profiles and packages of a workspace, and by whoever names the same folder in `GPUK_STORE`.
//! Nobody holds a lock on them: a unit appears by rename, and one that another process removes meanwhile is made anew.
//! Traces are a package's own, under its lock. An entry that does not read back as it was written counts as not there and
//! is removed; [`Store::collect`] removes what was not used for longest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Level};
use crate::digest::{Digest, FileDigests};
use crate::fs::{self, FsError};
use crate::kernel::Signatures;
use crate::resources::Resources;
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
    /// By entry, what it takes of a multiprocessor.
    pub(crate) resources: BTreeMap<String, Resources>,
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
    /// What the unit is made of, but for what is set for its kernels: its key is made of both.
    pub(crate) content: Digest,
    /// The names by which its kernels may be set.
    pub(crate) kernels: Vec<String>,
    /// How long the unit took to compile, in milliseconds: the longest starts first.
    pub(crate) took_ms: u64,
    /// The most memory that a compiler took for the unit, in bytes, where that was seen.
    #[serde(default)]
    pub(crate) peak: Option<u64>,
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

/// How much the units may take, in bytes, if nothing else is said.
pub(crate) const LIMIT: u64 = 4 << 30;

/// How many traces of a source are kept.
const TRACES: usize = 8;

/// What is used again within this time is not marked as used again: a mark is a write.
const MARKED: Duration = Duration::from_secs(3600);

/// A unit that is not moved into place for so long never will be.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// The units of one folder and the traces of another.
#[derive(Debug)]
pub(crate) struct Store {
    units: PathBuf,
    traces: PathBuf,
    /// Why a unit could not be kept, the first time.
    lost: Mutex<Option<FsError>>,
}

impl Store {
    /// Units in `shared`, traces in `own`.
    ///
    /// # Errors
    /// The folder of the traces cannot be made. Units that cannot be kept are made again; see [`Self::lost`].
    pub(crate) fn open(shared: &Path, own: &Path) -> Result<Self, FsError> {
        let store = Self::at(shared, own);
        fs::create_dir(&store.traces)?;
        Ok(store)
    }

    /// The same, to be read alone: nothing is made.
    pub(crate) fn at(shared: &Path, own: &Path) -> Self {
        Self {
            units: shared.join("units"),
            traces: own.join("traces"),
            lost: Mutex::default(),
        }
    }

    /// Why a unit could not be kept, if one could not.
    pub(crate) fn lost(&self) -> Option<Diagnostic> {
        let lost = self.lost.lock().ok()?.take()?;
        let said = format!(
            "compiled kernels are not kept: {}",
            crate::error::chain(&lost)
        );
        let finding = Diagnostic::new(None, Level::Warning, said);
        Some(finding.help("make the folder writable, or name another in `GPUK_STORE`"))
    }

    /// What a source read the last times, the latest first, as far as that is known and undamaged.
    pub(crate) fn traces(&self, input: &Digest) -> Vec<Trace> {
        let traces: Vec<Trace> = unsealed(&self.trace_path(input)).unwrap_or_default();
        let sound = traces.into_iter().filter(|trace| trace.content.is_sound());
        sound.collect()
    }

    /// Keeps what a source read, and what it read before: a branch may be switched back.
    pub(crate) fn keep_trace(&self, input: &Digest, trace: Trace) -> Result<(), FsError> {
        let mut traces = self.traces(input);
        traces.retain(|old| old.files != trace.files || old.absent != trace.absent);
        traces.insert(0, trace);
        traces.truncate(TRACES);
        fs::write(&self.trace_path(input), &sealed(&traces)).map(drop)
    }

    /// A unit that reads back whole.
    pub(crate) fn unit(&self, key: &Digest) -> Option<Unit> {
        self.entry(key, |dir| read_unit(dir, key))
    }

    /// Whether there is a unit, damaged or not.
    pub(crate) fn has(&self, key: &Digest) -> bool {
        self.unit_path(key).is_dir()
    }

    /// What `read` makes of an entry's folder; an entry of which it makes nothing is damaged.
    pub(crate) fn entry<T>(
        &self,
        key: &Digest,
        read: impl FnOnce(&Path) -> Option<T>,
    ) -> Option<T> {
        let dir = self.unit_path(key);
        if !dir.is_dir() {
            // A file or a link to nothing would be in the way.
            let _ = fs::remove_file(&dir);
            return None;
        }
        let entry = read(&dir);
        match entry {
            Some(_) => mark(&dir),
            // Out of the way, so that it is made again.
            None => self.remove(&dir),
        }
        entry
    }

    /// Keeps a unit, if the folder can be written to; one that another process kept first stays.
    pub(crate) fn keep(&self, unit: &Unit) {
        let record = sealed(&unit.record);
        let files: [(&str, &[u8]); 3] = [
            ("module.ptx", &unit.ptx),
            ("module.cubin", &unit.cubin),
            ("unit.json", &record),
        ];
        self.keep_entry(&unit.key, &files);
    }

    /// Keeps the files of an entry, as [`keep`](Self::keep) does a unit's; the last is `unit.json`.
    pub(crate) fn keep_entry(&self, key: &Digest, files: &[(&str, &[u8])]) {
        if let Err(error) = self.try_keep(key, files)
            && let Ok(mut lost) = self.lost.lock()
        {
            lost.get_or_insert(error);
        }
    }

    fn try_keep(&self, key: &Digest, files: &[(&str, &[u8])]) -> Result<(), FsError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = self
            .units
            .join(format!("new-{}-{unique}", std::process::id()));
        fs::create_dir(&temporary)?;
        let mut files = files.iter();
        let written = files
            .try_for_each(|(name, bytes)| fs::write_private(&temporary.join(name), bytes))
            .and_then(|()| {
                let place = self.unit_path(key);
                fs::rename(&temporary, &place).or_else(|error| match place.is_dir() {
                    true => Ok(()),
                    false => Err(error),
                })
            });
        let _ = fs::remove_dir(&temporary);
        written
    }

    /// Removes the units that were not used for longest until the others fit into `limit` bytes, and what interrupted
    /// builds left. Best effort: what cannot be removed stays.
    pub(crate) fn collect(&self, limit: u64) {
        let now = SystemTime::now();
        let mut units = Vec::new();
        for entry in std::fs::read_dir(&self.units)
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            let is_unit = !entry.file_name().as_encoded_bytes().contains(&b'-');
            // The folder's own time is that of its last rename; a clock that jumped makes nothing old.
            let used = std::fs::metadata(path.join(USED)).and_then(|file| file.modified());
            let used = used
                .or_else(|_| entry.metadata()?.modified())
                .unwrap_or(now);
            let age = now.duration_since(used).unwrap_or_default();
            match is_unit {
                true => units.push((age, size(&path), path)),
                false if age > ABANDONED => drop(fs::remove_dir(&path)),
                false => {}
            }
        }
        let mut total: u64 = units.iter().map(|(_, size, _)| size).sum();
        units.sort();
        while total > limit
            && let Some((_, size, path)) = units.pop()
        {
            self.remove(&path);
            total -= size;
        }
    }

    /// Takes a unit out of sight in one step, then apart.
    fn remove(&self, unit: &Path) {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
        let aside = self
            .units
            .join(format!("old-{}-{unique}", std::process::id()));
        let aside = match fs::rename(unit, &aside) {
            Ok(()) => aside,
            Err(_) => unit.to_owned(),
        };
        let _ = fs::remove_dir(&aside);
    }

    fn trace_path(&self, input: &Digest) -> PathBuf {
        self.traces.join(format!("{input}.json"))
    }

    fn unit_path(&self, key: &Digest) -> PathBuf {
        self.units.join(key.as_str())
    }
}

/// The file of a unit whose time says when it was used last.
const USED: &str = "unit.json";

/// Notes that a unit was used. A store that cannot be written to stays as it is.
fn mark(unit: &Path) {
    let file = unit.join(USED);
    let used = std::fs::metadata(&file).and_then(|file| file.modified());
    if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > MARKED)) {
        let _ = fs::touch(&file);
    }
}

/// Bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    sizes.sum()
}

fn read_unit(dir: &Path, key: &Digest) -> Option<Unit> {
    let record: UnitRecord = unsealed(&dir.join("unit.json"))?;
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

/// A record with the digest of its text on the line before: one that was damaged into another sound one is told, too.
pub(crate) fn sealed<T: Serialize>(record: &T) -> Vec<u8> {
    let text = to_json(record);
    [Digest::of(&text).as_str().as_bytes(), b"\n", &text].concat()
}

/// A record as it was sealed.
pub(crate) fn unsealed<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let sealed = fs::read(path).ok()?;
    let end = sealed.iter().position(|byte| *byte == b'\n')?;
    let (seal, text) = (&sealed[..end], &sealed[end + 1..]);
    let whole = Digest::of(text).as_str().as_bytes() == seal;
    whole.then(|| serde_json::from_slice(text).ok())?
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
                resources: BTreeMap::new(),
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
        let store = Store::open(folder.path(), folder.path()).unwrap();
        let unit = unit();
        assert!(store.unit(&unit.key).is_none());
        store.keep(&unit);
        store.keep(&unit);
        assert_eq!(store.unit(&unit.key).unwrap().ptx, unit.ptx);
        for file in ["module.ptx", "module.cubin", "unit.json"] {
            let path = store.unit_path(&unit.key).join(file);
            let whole = std::fs::read(&path).unwrap();
            let mut other = whole.clone();
            // A bit of a number or a letter: it is still JSON.
            let last = other.iter().rposition(u8::is_ascii_alphanumeric).unwrap();
            other[last] ^= 1;
            for damaged in [&whole[..whole.len() / 2], &other] {
                std::fs::write(&path, damaged).unwrap();
                assert!(store.unit(&unit.key).is_none(), "{file}");
                assert!(!store.unit_path(&unit.key).exists());
                store.keep(&unit);
            }
        }
        assert_eq!(store.lost(), None);
        let left = std::fs::read_dir(folder.path().join("units"))
            .unwrap()
            .count();
        assert_eq!(left, 1, "nothing temporary stays");
    }

    #[test]
    fn what_was_not_used_for_longest_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), folder.path()).unwrap();
        let keys: Vec<_> = (0..4_u8).map(|index| Digest::of(&[index])).collect();
        for (key, days) in keys.iter().zip([30, 10, 20, 1]) {
            store.keep(&Unit {
                key: key.clone(),
                ..unit()
            });
            age(&store.unit_path(key).join(USED), days);
        }
        let abandoned = folder.path().join("units/new-1-1");
        let begun = folder.path().join("units/new-1-2");
        for (path, days) in [(&abandoned, 2), (&begun, 0)] {
            std::fs::create_dir(path).unwrap();
            age(path, days);
        }
        // Used: it is the newest then.
        assert!(store.unit(&keys[0]).is_some());
        let one = size(&store.unit_path(&keys[0]));
        store.collect(2 * one);
        let there = |key: &&Digest| store.unit_path(key).is_dir();
        let left: Vec<_> = keys.iter().filter(there).collect();
        assert_eq!(left, [&keys[0], &keys[3]]);
        assert!(!abandoned.exists() && begun.exists());
        store.collect(0);
        assert!(!keys.iter().any(|key| there(&key)));
    }

    fn age(path: &Path, days: u64) {
        let time = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        let file = std::fs::File::open(path).unwrap();
        file.set_modified(time).unwrap();
    }

    #[test]
    fn a_trace_holds_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store");
        let store = Store::open(&place, &place).unwrap();
        let header = folder.path().join("h.cuh");
        std::fs::write(&header, "one").unwrap();
        let trace = Trace {
            files: vec![(PathBuf::from("h.cuh"), Digest::of(b"one"))],
            absent: vec![PathBuf::from("nearer/h.cuh")],
            content: Digest::of(b"k"),
            kernels: vec![],
            took_ms: 5,
            peak: None,
            fragment: false,
        };
        let input = Digest::of(b"input");
        store.keep_trace(&input, trace).unwrap();
        let trace = store.traces(&input).remove(0);
        assert!(trace.holds(folder.path(), &FileDigests::new()));
        let nearer = folder.path().join("nearer");
        std::fs::create_dir(&nearer).unwrap();
        std::fs::write(nearer.join("h.cuh"), "one").unwrap();
        assert!(!trace.holds(folder.path(), &FileDigests::new()));
        std::fs::remove_dir_all(nearer).unwrap();
        assert!(trace.holds(folder.path(), &FileDigests::new()));
        std::fs::write(&header, "two").unwrap();
        assert!(!trace.holds(folder.path(), &FileDigests::new()));
        std::fs::remove_file(&header).unwrap();
        assert!(!trace.holds(folder.path(), &FileDigests::new()));
    }
}
