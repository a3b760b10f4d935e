//! What the generator is given.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::Signatures;
use crate::site::SiteRecord;

/// One source file's kernels, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleBindings {
    /// Name of the Rust module, from [`module_names`](super::module_names).
    pub name: String,
    /// The source, relative to the package's folder, with `/`.
    pub source: String,
    /// Digest of all that went into the images.
    pub digest: String,
    /// Its kernels and the structs they take.
    pub signatures: Signatures,
    /// The entries that take the hidden parameter, whose failed checks are reported.
    pub checked: BTreeSet<String>,
    /// The entries that the architectures do not have alike, and what those that have them have.
    pub variants: BTreeMap<String, Vec<Variant>>,
    /// What it was compiled to; none where the wrappers are built without a compiler.
    pub images: Vec<ImageBinding>,
}

impl ModuleBindings {
    /// Whether all that it has is functions of the host: nothing to load.
    pub(super) fn is_host(&self) -> bool {
        let signatures = &self.signatures;
        signatures.kernels.is_empty()
            && signatures.symbols.is_empty()
            && !signatures.functions.is_empty()
    }
}

/// What one architecture has of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// `sm_90`.
    pub arch: String,
    /// Whether failed checks are reported.
    pub checked: bool,
}

/// One compiled image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageBinding {
    /// The architecture it was compiled for: `sm_90`.
    pub arch: String,
    /// What it is.
    pub kind: ImageKind,
    /// Its file, relative to the generated one.
    pub file: String,
    /// Its site table: a record's site is an index into it.
    pub sites: Vec<SiteRecord>,
}

/// What an image holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// Machine code.
    Cubin,
    /// PTX text, which the driver compiles.
    Ptx {
        /// The PTX ISA version of its `.version` directive.
        version: (u32, u32),
    },
}
