//! Functions of the host in `.cu` files: `HostJob -> Object`, then a library that a build script links.
//!
//! ```text
//! HostJob -> Read -> Object
//! ```
//!
//! A source of `host-objects` is compiled by nvcc itself, for all architectures at once, to one object; its kernels are
//! launched by its own host code and pass no further stage of gpuk. What it declares comes from the same text and probe
//! that kernels are asked by. Objects are kept in the store beside the units, by the content of all that they read.

mod ask;
mod compile;
mod link;
mod read;
mod words;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::digest::Digest;
use crate::emit::Image;
use crate::join::Module;
use crate::kernel::Signatures;
use crate::message;
use crate::peak::Peak;
use crate::recipe::RECIPE;
use crate::run::ToolCommand;
use crate::store::{Trace, sealed, to_json, unsealed};
use crate::unit::{Shop, UnitError, guess, shadow};

pub use link::LinkError;
pub(crate) use link::link;

/// One source of host functions.
#[derive(Debug, Clone)]
pub(crate) struct HostJob<'a> {
    pub(crate) source: &'a Path,
    /// What the object depends on beside the files it reads.
    input: Digest,
    /// The same, beside what the files are: nothing of where the package lies.
    recipe: Digest,
    /// What it read the last times, the latest first.
    traces: Vec<Trace>,
    /// What nvcc and its compilers take in this build.
    peak: Peak,
}

/// A compiled object and what Rust can call in it.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    key: Digest,
    record: ObjectRecord,
    bytes: Vec<u8>,
}

/// An object without its bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ObjectRecord {
    signatures: Signatures,
    findings: Vec<Diagnostic>,
    object: Digest,
}

/// An object, and what it read.
#[derive(Debug)]
pub(crate) struct MadeObject<'a> {
    pub(crate) source: &'a Path,
    object: Object,
    pub(crate) files: Vec<PathBuf>,
}

/// The files of an entry in the store.
const RECORD: &str = "unit.json";
const OBJECT: &str = "host.o";

/// The folder that a process runs in, whichever that is. Line information has absolute names, made with `PWD` where that
/// is the folder: of this one a debugger finds files that runs where nvcc did, and another checkout has the same.
const HERE: &str = "/proc/self/cwd";

/// The folder of the objects, in that of the results.
pub(crate) const FOLDER: &str = "host";

impl<'a> HostJob<'a> {
    pub(crate) fn new(shop: &Shop<'_>, source: &'a Path) -> Self {
        let path = source.to_string_lossy();
        let config = &shop.package.config;
        // Debug information has the folder that the compiler ran in, and line information where that has no other name.
        let debug = |flag: &String| ["-g", "-G", "debug"].iter().any(|it| flag.contains(it));
        let mut flags = shop.package.flags().into_iter();
        let named = config.flags.iter().any(debug)
            || !Path::new(HERE).exists() && flags.any(|flag| flag == "-lineinfo");
        let folder = named.then(|| shop.package.root.to_string_lossy());
        let recipe = Digest::of_parts([
            RECIPE.as_bytes(),
            b"host object",
            path.as_bytes(),
            shop.tools.host_identity().as_bytes(),
            &to_json(&(&config.flags, &config.checks, folder)),
            &[u8::from(shop.package.compiles_debug_checks())],
        ]);
        let searched = shop.package.flags().into_iter();
        let searched: Vec<_> = searched.map(OsString::into_encoded_bytes).collect();
        let parts = [recipe.as_str().as_bytes()].into_iter();
        let input = Digest::of_parts(parts.chain(searched.iter().map(Vec::as_slice)));
        let traces = shop.store.traces(&input);
        Self {
            source,
            input,
            recipe,
            traces,
            peak: Peak::default(),
        }
    }

    /// What it read and became once, if all of that is now as it was then.
    pub(crate) fn key(&self, shop: &Shop<'_>) -> Option<&Trace> {
        let root = &shop.package.root;
        let mut traces = self.traces.iter();
        traces.find(|trace| trace.holds(root, shop.digests))
    }

    /// What it took the last time.
    pub(crate) fn cost(&self) -> u64 {
        self.traces.first().map_or(u64::MAX, |trace| trace.took_ms)
    }

    /// How much memory it takes, in bytes: what it took the last time, else a guess; nothing where it is in the store.
    pub(crate) fn needs(&self, shop: &Shop<'_>) -> u64 {
        if self.is_kept(shop) {
            return 0;
        }
        let known = self.traces.iter().find_map(|trace| trace.peak);
        known.unwrap_or_else(|| guess(&shop.package.root.join(self.source)))
    }

    /// `kernels/sort.cu (host)`.
    pub(crate) fn label(&self) -> String {
        format!("{} (host)", self.source.display())
    }

    /// Makes the object, or takes it from the store.
    pub(crate) fn make(&self, shop: &Shop<'_>) -> Result<MadeObject<'a>, UnitError> {
        if let Some(trace) = self.key(shop)
            && let Some(object) = Object::stored(shop, &trace.content)
        {
            let files = trace.files.iter().map(|(path, _)| path.clone()).collect();
            return Ok(self.made(object, files));
        }
        let label = self.label();
        shop.progress.started(&label);
        let start = Instant::now();
        let made = self.run(shop);
        let took = start.elapsed();
        shop.progress.finished(&label, took, made.is_ok());
        let made = made.map_err(|error| self.placed(error, shop))?;
        let trace = Trace {
            files: digests(shop, &made.files),
            absent: shadow::places(shop, &made.files),
            content: made.object.key.clone(),
            kernels: Vec::new(),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            peak: (self.peak.bytes()).or_else(|| self.traces.iter().find_map(|it| it.peak)),
            fragment: false,
        };
        // What was written meanwhile may have been read before or after: it is read again the next time.
        let certain = |path| shop.digests.is_certain(&shop.package.root.join(path));
        if made.files.iter().all(certain) {
            shop.store.keep_trace(&self.input, trace)?;
        }
        Ok(made)
    }

    fn run(&self, shop: &Shop<'_>) -> Result<MadeObject<'a>, UnitError> {
        words::check(self, shop)?;
        let read = read::read(self, shop)?;
        let key = read.key(self, shop);
        if let Some(object) = Object::stored(shop, &key) {
            return Ok(self.made(object, read.files));
        }
        let compiled =
            compile::compile(self, shop, &read).map_err(|error| error.having_read(&read.files))?;
        let object = Object {
            key,
            record: ObjectRecord {
                signatures: compiled.signatures,
                findings: compiled.findings,
                object: Digest::of(&compiled.bytes),
            },
            bytes: compiled.bytes,
        };
        object.keep(shop);
        Ok(self.made(object, read.files))
    }

    fn made(&self, object: Object, files: Vec<PathBuf>) -> MadeObject<'a> {
        MadeObject {
            source: self.source,
            object,
            files,
        }
    }

    /// Every finding gets a place.
    fn placed(&self, error: UnitError, shop: &Shop<'_>) -> UnitError {
        let mut error = error.told(&[self.source.to_owned()]);
        if let UnitError::Findings { findings, .. } = &mut error {
            message::place(findings, self.source, || {
                let text = std::fs::read(shop.package.root.join(self.source)).unwrap_or_default();
                let lines = String::from_utf8_lossy(&text).lines().count();
                u32::try_from(lines).unwrap_or(u32::MAX).max(1)
            });
        }
        error
    }

    /// nvcc, as it makes the object; its own files stay in the work folder.
    fn nvcc(&self, shop: &Shop<'_>) -> ToolCommand {
        let object = self.scratch(shop, "o");
        let command = shop
            .tools
            .nvcc(shop.package)
            .arg("-c")
            .arg("-o")
            .arg(object);
        let command = command.arg(self.source).dir(&shop.package.root);
        let command = command.temporary(shop.work);
        match Path::new(HERE).exists() {
            true => command.env("PWD", HERE),
            false => command,
        }
    }

    /// Whether the store has its object, as far as can be told without running anything.
    pub(crate) fn is_kept(&self, shop: &Shop<'_>) -> bool {
        (self.key(shop)).is_some_and(|trace| shop.store.has(&trace.content))
    }

    /// The commands that make it; none is run.
    pub(crate) fn commands(&self, shop: &Shop<'_>) -> Result<Vec<ToolCommand>, UnitError> {
        let mut commands = vec![read::of_host(self, shop)];
        for arch in shop.tools.archs() {
            commands.push(read::of_device(self, *arch, shop)?.0);
        }
        commands.push(self.nvcc(shop));
        if let Some(arch) = shop.tools.archs().first() {
            commands.push(self.asking(*arch, shop)?.0);
        }
        Ok(commands)
    }

    /// A file of this object's own in the work folder.
    fn scratch(&self, shop: &Shop<'_>, extension: &str) -> PathBuf {
        let name = Digest::of(self.source.as_os_str().as_encoded_bytes());
        shop.work.join(format!("host-{}.{extension}", name.short()))
    }
}

impl Object {
    fn stored(shop: &Shop<'_>, key: &Digest) -> Option<Self> {
        shop.store.entry(key, |folder| {
            let record: ObjectRecord = unsealed(&folder.join(RECORD))?;
            let bytes = crate::fs::read(&folder.join(OBJECT)).ok()?;
            let whole = Digest::of(&bytes) == record.object;
            whole.then(|| Self {
                key: key.clone(),
                record,
                bytes,
            })
        })
    }

    fn keep(&self, shop: &Shop<'_>) {
        let record = sealed(&self.record);
        let files: [(&str, &[u8]); 2] = [(OBJECT, &self.bytes), (RECORD, &record)];
        shop.store.keep_entry(&self.key, &files);
    }
}

impl MadeObject<'_> {
    /// Warnings of the compilers, and functions without declarations.
    pub(crate) fn findings(&self) -> &[Diagnostic] {
        &self.object.record.findings
    }

    /// The object as a file of the results.
    pub(crate) fn file(&self) -> Image {
        let stem = self.source.file_stem().unwrap_or_default();
        let bytes = self.object.bytes.clone();
        Image::object(&stem.to_string_lossy(), bytes)
    }
}

/// Puts the functions of each source into its module: that of its kernels, or one of its own.
pub(crate) fn join<'a>(modules: &mut Vec<Module<'a>>, objects: &'a [MadeObject<'_>]) {
    for made in objects {
        let new = &made.object.record.signatures;
        let Some(module) = modules.iter_mut().find(|it| it.source == made.source) else {
            modules.push(Module {
                source: made.source,
                signatures: new.clone(),
                facts: Vec::new(),
                images: Vec::new(),
                archs: Vec::new(),
            });
            continue;
        };
        // The same compiler has read the same text: types of one path are one.
        let known = &mut module.signatures;
        known.functions.clone_from(&new.functions);
        for it in &new.structs {
            if !known.structs.iter().any(|known| known.path == it.path) {
                known.structs.push(it.clone());
            }
        }
        for it in &new.enums {
            if !known.enums.iter().any(|known| known.path == it.path) {
                known.enums.push(it.clone());
            }
        }
    }
}

fn digests(shop: &Shop<'_>, files: &[PathBuf]) -> Vec<(PathBuf, Digest)> {
    let digest = |path: &PathBuf| {
        let digest = shop.digests.of(&shop.package.root.join(path))?;
        Some((path.clone(), digest))
    };
    files.iter().filter_map(digest).collect()
}
