//! `MadeAll -> Vec<Module>`: the units of one source become one module of wrappers.
//!
//! The architectures have to agree about the parameters of every kernel that they share; a kernel that only some of
//! them have is said, and the PTX of those that have other kernels than the lowest is shipped too, as is
//! what has to be in any case.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::config::Arch;
use crate::diagnostic::{Code, Diagnostic, Level, Place};
use crate::discover::Sources;
use crate::emit::Image;
use crate::kernel::{Kernel, Signatures, Struct, Symbol};
use crate::make::MadeUnit;
use crate::resources::Resources;
use crate::site::SiteRecord;
use crate::store::Unit;

/// One source over all architectures.
#[derive(Debug)]
pub(crate) struct Module<'a> {
    pub(crate) source: &'a Path,
    pub(crate) signatures: Signatures,
    /// For each kernel of the signatures, in their order.
    pub(crate) facts: Vec<Facts>,
    pub(crate) images: Vec<ModuleImage>,
    /// What the source was compiled for, lowest first.
    pub(crate) archs: Vec<Arch>,
}

/// What the units say of one kernel.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The architectures that have it, and whether it has checks there.
    pub(crate) archs: Vec<(Arch, bool)>,
    /// What it takes of a multiprocessor, where ptxas said so.
    pub(crate) resources: Vec<(Arch, Resources)>,
    /// Of the first architecture that has the kernel.
    pub(crate) sites: Vec<SiteRecord>,
}

impl Facts {
    /// Whether it has checks for any architecture.
    pub(crate) fn checked(&self) -> bool {
        self.archs.iter().any(|(_, checked)| *checked)
    }

    /// Whether the architectures have it alike.
    pub(crate) fn is_alike(&self, archs: &[Arch]) -> bool {
        let checked = self.checked();
        self.archs.len() == archs.len() && self.archs.iter().all(|(_, it)| *it == checked)
    }
}

/// An image to be embedded and what its records mean.
#[derive(Debug)]
pub(crate) struct ModuleImage {
    pub(crate) image: Image,
    pub(crate) arch: Arch,
    /// The ISA version, for PTX.
    pub(crate) ptx: Option<(u32, u32)>,
    pub(crate) sites: Vec<SiteRecord>,
}

/// Joins the units of every source.
pub(crate) fn join_all<'a>(
    made: &[MadeUnit<'_>],
    sources: &'a Sources,
    ships_ptx: &dyn Fn(Arch) -> bool,
    findings: &mut Vec<Diagnostic>,
) -> Vec<Module<'a>> {
    let alone = sources.files.iter().filter(|file| file.link.is_none());
    let paths = alone.chain(&sources.links).map(|file| &file.path);
    let units_of = |path: &PathBuf| {
        made.iter()
            .filter(|made| made.source == path)
            .collect::<Vec<_>>()
    };
    paths
        .map(|path| join(path, &units_of(path), ships_ptx, findings))
        .collect()
}

/// Joins the units of a source, lowest architecture first.
fn join<'a>(
    source: &'a Path,
    units: &[&MadeUnit<'_>],
    ships_ptx: &dyn Fn(Arch) -> bool,
    findings: &mut Vec<Diagnostic>,
) -> Module<'a> {
    let mut module = Module {
        source,
        signatures: Signatures::default(),
        facts: Vec::new(),
        images: Vec::new(),
        archs: units.iter().map(|made| made.arch).collect(),
    };
    // What the last PTX in has that runs on newer devices.
    let mut forward = None;
    let mut index = BTreeMap::new();
    let mut symbols = Vec::new();
    for MadeUnit { arch, unit, .. } in units.iter().copied() {
        let record = &unit.record;
        for kernel in &record.signatures.kernels {
            let at = *index.entry(kernel.entry.clone()).or_insert_with(|| {
                module.signatures.kernels.push(kernel.clone());
                module.facts.push(Facts::default());
                module.facts.len() - 1
            });
            if !same_kernel(&module.signatures.kernels[at], kernel) {
                findings.push(disagreement(&module.signatures.kernels[at], kernel, *arch));
            }
            let facts = &mut module.facts[at];
            if facts.archs.is_empty() {
                let reached = |site: &&SiteRecord| site.entries.contains(&kernel.entry);
                facts.sites = record.sites.iter().filter(reached).cloned().collect();
            }
            let checked = record.checked.contains(&kernel.entry);
            facts.archs.push((*arch, checked));
            let resources = record.resources.get(&kernel.entry);
            facts.resources.extend(resources.map(|it| (*arch, *it)));
        }
        symbols.push((*arch, &record.signatures.symbols));
        let known = &mut module.signatures;
        for new in &record.signatures.structs {
            match known.structs.iter().find(|it| it.path == new.path) {
                Some(it) if !same_layout(it, new) => {
                    findings.push(other_layout(source, &it.path, *arch));
                }
                Some(_) => {}
                None => known.structs.push(new.clone()),
            }
        }
        for new in &record.signatures.enums {
            match known.enums.iter().find(|it| it.path == new.path) {
                Some(it) if (it.scalar, &it.values) != (new.scalar, &new.values) => {
                    findings.push(other_layout(source, &it.path, *arch));
                }
                Some(_) => {}
                None => known.enums.push(new.clone()),
            }
        }
        for new in &record.signatures.templates {
            module.signatures.see(new);
        }
        let kernels = Some(contents(unit));
        let ptx = module.images.is_empty() || forward != kernels || ships_ptx(*arch);
        if ptx && arch.is_forward() {
            forward = kernels;
        }
        module.images.extend(images(source, *arch, unit, ptx));
    }
    for (kernel, facts) in module.signatures.kernels.iter().zip(&module.facts) {
        let has = |arch: &Arch| facts.archs.iter().any(|(known, _)| known == arch);
        let absent = module.archs.iter().copied();
        let absent: Vec<_> = absent.filter(|arch| !has(arch)).collect();
        if !absent.is_empty() {
            findings.push(partial(kernel, &absent));
        }
    }
    module.signatures.symbols = common(&symbols, findings);
    module
}

/// The variables that every architecture has, and alike.
fn common(of_archs: &[(Arch, &Vec<Symbol>)], findings: &mut Vec<Diagnostic>) -> Vec<Symbol> {
    let mut all: Vec<&Symbol> = Vec::new();
    for symbol in of_archs.iter().flat_map(|(_, symbols)| *symbols) {
        if !all.iter().any(|known| known.symbol == symbol.symbol) {
            all.push(symbol);
        }
    }
    let has = |symbols: &[Symbol], wanted: &Symbol| {
        let mut symbols = symbols.iter();
        symbols.any(|it| it.symbol == wanted.symbol && it.ty == wanted.ty)
    };
    all.retain(|symbol| {
        let other = of_archs.iter().filter(|(_, symbols)| !has(symbols, symbol));
        let other: Vec<_> = other.map(|(arch, _)| arch.sm()).collect();
        if other.is_empty() {
            return true;
        }
        let message = format!("variable `{}` gets no handle", symbol.path);
        let finding = Diagnostic::new(Some(Code::VARIABLE_WITHOUT_HANDLE), Level::Note, message)
            .at(symbol.place.clone(), "")
            .note(format!(
                "it does not exist, or has another type, for {}",
                other.join(", ")
            ))
            .help("declare it alike for every architecture");
        findings.push(finding);
        false
    });
    all.into_iter().cloned().collect()
}

/// The kernels of a unit, and which of them have checks.
fn contents(unit: &Unit) -> BTreeSet<(&str, bool)> {
    let record = &unit.record;
    let kernels = record.signatures.kernels.iter();
    let entries = kernels.map(|kernel| (&*kernel.entry, record.checked.contains(&kernel.entry)));
    entries.collect()
}

/// The cubin, and the PTX where newer devices need it: that of the lowest architecture, of each that has other
/// kernels than the PTX below it, and what is shipped in any case.
fn images(source: &Path, arch: Arch, unit: &Unit, ptx: bool) -> Vec<ModuleImage> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let stem: String = stem.chars().map(plain).collect();
    let image = |extension, bytes: &[u8], ptx| ModuleImage {
        image: Image::new(&stem, &arch.sm(), extension, bytes.to_vec()),
        arch,
        ptx,
        sites: unit.record.sites.clone(),
    };
    let mut images = vec![image("cubin", &unit.cubin, None)];
    if ptx {
        images.push(image("ptx", &unit.ptx, Some(unit.record.ptx_version)));
    }
    images
}

fn same_kernel(a: &Kernel, b: &Kernel) -> bool {
    a.params == b.params
}

fn disagreement(a: &Kernel, b: &Kernel, arch: Arch) -> Diagnostic {
    let types = |kernel: &Kernel| {
        let types = kernel.params.iter().map(|param| param.declared.as_str());
        types.collect::<Vec<_>>().join(", ")
    };
    let message = format!("kernel `{}` has other parameters for {}", a.name, arch.sm());
    Diagnostic::error(Code::LAYOUT_DISAGREES, message)
        .at(b.place.clone(), "")
        .note(format!(
            "one architecture has ({}), the other ({})",
            types(a),
            types(b)
        ))
        .help("give the kernel the same parameters under every `__CUDA_ARCH__`")
}

/// Whether two structs differ in nothing but the name, which depends on the others of their unit.
fn same_layout(a: &Struct, b: &Struct) -> bool {
    (a.size, a.align, &a.fields, &a.views) == (b.size, b.align, &b.fields, &b.views)
}

fn other_layout(source: &Path, ty: &str, arch: Arch) -> Diagnostic {
    let message = format!("`{ty}` is not the same for {}", arch.sm());
    Diagnostic::error(Code::LAYOUT_DISAGREES, message)
        .at(Place::line(source, 1), "")
        .help("give it the same members under every `__CUDA_ARCH__`")
}

fn partial(kernel: &Kernel, absent: &[Arch]) -> Diagnostic {
    let absent: Vec<_> = absent.iter().map(|arch| arch.sm()).collect();
    let message = format!(
        "kernel `{}` does not exist for {}",
        kernel.name,
        absent.join(", ")
    );
    Diagnostic::new(Some(Code::KERNEL_MISSING_FOR_ARCH), Level::Note, message)
        .at(kernel.place.clone(), "")
        .note("on such a device the wrappers load without it, and launching it is an error value")
}
