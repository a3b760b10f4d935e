//! `Vec<Module> -> Bindings, Report`: the wrappers' text and what there is to say about the kernels.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::Arch;
use crate::diagnostic::Place;
use crate::digest::Digest;
use crate::generate::{self, ImageBinding, ImageKind, ModuleBindings, Variant};
use crate::join::{Facts, Module, ModuleImage};
use crate::kernel::Kernel;
use crate::package::Package;
use crate::report::{
    ArchResources, FunctionReport, ImageReport, KernelReport, ModuleReport, Report,
};
use crate::resources::Resources;
use crate::source::docs;

/// Draws the wrappers of all modules that have kernels or host functions.
pub(crate) fn wrap(package: &Package, modules: &[Module<'_>]) -> (String, Report) {
    let modules: Vec<_> = modules
        .iter()
        .filter(|module| {
            let signatures = &module.signatures;
            !signatures.kernels.is_empty() || !signatures.functions.is_empty()
        })
        .collect();
    let sources: Vec<_> = modules
        .iter()
        .map(|module| slashed(module.source))
        .collect();
    let names = generate::module_names(&sources);
    let named = modules.iter().zip(names);
    let bindings: Vec<_> = named
        .map(|(module, name)| bindings(package, module, name))
        .collect();
    let text = generate::package(&bindings);
    let reports = modules
        .iter()
        .zip(&bindings)
        .map(|(module, bound)| report(module, bound));
    let report = Report {
        fingerprint: None,
        bindings: Digest::of(text.as_bytes()),
        modules: reports.collect(),
        drivers: None,
        objects: Vec::new(),
        findings: Vec::new(),
        files: Vec::new(),
        folders: Vec::new(),
    };
    (text, report)
}

fn bindings(package: &Package, module: &Module<'_>, name: String) -> ModuleBindings {
    let mut signatures = module.signatures.clone();
    for kernel in &mut signatures.kernels {
        kernel.docs = docs_of(package, &kernel.place);
    }
    for symbol in &mut signatures.symbols {
        symbol.docs = docs_of(package, &symbol.place);
    }
    for function in &mut signatures.functions {
        function.docs = docs_of(package, &function.place);
    }
    let kernels = signatures.kernels.iter().zip(&module.facts);
    let checked = kernels.filter(|(_, facts)| facts.checked());
    let digests = module
        .images
        .iter()
        .map(|image| image.image.file.as_os_str().as_encoded_bytes());
    ModuleBindings {
        name,
        source: slashed(module.source),
        digest: Digest::of_parts(digests).to_string(),
        checked: checked.map(|(kernel, _)| kernel.entry.clone()).collect(),
        variants: variants(module),
        images: module.images.iter().map(image).collect(),
        signatures,
    }
}

/// By entry, the kernels that the architectures do not have alike.
fn variants(module: &Module<'_>) -> BTreeMap<String, Vec<Variant>> {
    let variant = |(arch, checked): &(Arch, bool)| Variant {
        arch: arch.sm(),
        checked: *checked,
    };
    let kernels = module.signatures.kernels.iter().zip(&module.facts);
    kernels
        .filter(|(_, facts)| !facts.is_alike(&module.archs))
        .map(|(kernel, facts)| {
            let variants = facts.archs.iter().map(variant).collect();
            (kernel.entry.clone(), variants)
        })
        .collect()
}

fn image(image: &ModuleImage) -> ImageBinding {
    ImageBinding {
        arch: image.arch.sm(),
        kind: match image.ptx {
            None => ImageKind::Cubin,
            Some(version) => ImageKind::Ptx { version },
        },
        file: slashed(&image.image.file),
        sites: image.sites.clone(),
    }
}

fn resources((arch, resources): &(Arch, Resources)) -> ArchResources {
    ArchResources {
        arch: arch.sm(),
        resources: *resources,
    }
}

fn report(module: &Module<'_>, bindings: &ModuleBindings) -> ModuleReport {
    let kernel = |(kernel, facts): (&Kernel, &Facts)| KernelReport {
        signature: generate::signature(&bindings.signatures, kernel),
        kernel: kernel.clone(),
        archs: facts.archs.iter().map(|(arch, _)| arch.sm()).collect(),
        resources: facts.resources.iter().map(resources).collect(),
        sites: facts.sites.clone(),
    };
    let image = |image: &ModuleImage| ImageReport {
        arch: image.arch.sm(),
        file: image.image.file.clone(),
        size: image.image.bytes.len() as u64,
    };
    ModuleReport {
        source: module.source.to_owned(),
        module: bindings.name.clone(),
        kernels: bindings
            .signatures
            .kernels
            .iter()
            .zip(&module.facts)
            .map(kernel)
            .collect(),
        symbols: bindings.signatures.symbols.clone(),
        functions: (bindings.signatures.functions.iter())
            .map(|function| FunctionReport {
                signature: generate::host_signature(&bindings.signatures, function),
                function: function.clone(),
            })
            .collect(),
        images: module.images.iter().map(image).collect(),
    }
}

/// The comment above a definition, from the file itself: the compiler never sees comments.
fn docs_of(package: &Package, place: &Place) -> Vec<String> {
    let text = std::fs::read(package.root.join(&place.file)).unwrap_or_default();
    docs::above(&String::from_utf8_lossy(&text), place.line)
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
