//! Modules of `gpuk_ptx`: compiled from a source, or PTX as somebody wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gpuk_ptx::{Function, Module, Type as PtxType};

use super::entry::{Entry, Slot};
use super::origin::Origin;
use super::types::Types;
use super::{fit, join, names, symbol, variable};
use crate::annotation::{self, Annotations};
use crate::config::{KernelConfig, Signature};
use crate::ctype::Name;
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::kernel::{Bounds, Kernel, Param, ParamType, Scalar, Signatures, Type};
use crate::probe::{self, Answers, Probe};
use crate::source::Declarations;

/// Joins a module with the source that it was compiled from. The probe's variables are in `said`, or in the module: they
/// are taken out of it then.
///
/// In a module with debug information they stay: that names them.
pub(crate) fn of_cuda(
    declarations: &Declarations,
    probe: &Probe,
    module: Module,
    said: Option<&Module>,
    source: &Path,
    settings: &BTreeMap<String, KernelConfig>,
) -> (Module, Signatures, Vec<Diagnostic>) {
    let variables = said.unwrap_or(&module).variables_with_prefix(probe::PREFIX);
    let bytes =
        variables.filter_map(|variable| Some((variable.name.to_string(), variable.bytes()?)));
    let answers = probe.answers(declarations, &bytes.collect());
    let entries: Vec<_> = module.entries().map(entry).collect();
    let stored = variable::stored(&module);
    let (mut signatures, mut findings) = join(declarations, &answers, &entries, &stored, source);
    for kernel in &mut signatures.kernels {
        let signature = (settings.get(&kernel.name)).and_then(|it| it.signature.as_ref());
        let entry = entries.iter().find(|entry| entry.name == kernel.entry);
        if let Some((signature, entry)) = signature.zip(entry) {
            match contradiction(kernel, signature, entry, &answers) {
                Some(found) => findings.push(found),
                None => findings.extend(annotate(kernel, signature, &Types::new(&answers))),
            }
        }
    }
    let module = match said {
        Some(_) => module,
        None => without_probe(module),
    };
    (module, signatures, findings)
}

/// The declaration of a kernel whose types the compiler knows: it has to be the same.
fn contradiction(
    kernel: &Kernel,
    signature: &Signature,
    entry: &Entry,
    answers: &Answers,
) -> Option<Diagnostic> {
    let origin = Origin::of_signature(signature, &kernel.place);
    let declared = super::kernel(&origin, entry, &mut Types::new(answers));
    let types = |params: &[Param]| params.iter().map(|it| it.ty.clone()).collect::<Vec<_>>();
    if declared.is_ok_and(|declared| types(&declared.params) == types(&kernel.params)) {
        return None;
    }
    let name = &kernel.name;
    let message = format!("kernel `{name}` is not what its `signature` declares");
    let compiled: Vec<_> = kernel
        .params
        .iter()
        .map(|it| it.declared.as_str())
        .collect();
    let finding = Diagnostic::error(Code::LAYOUT_DISAGREES, message)
        .at(kernel.place.clone(), "")
        .note(format!("the compiler has ({})", compiled.join(", ")))
        .help(format!(
            "take `kernel.{name}.signature` out: it is for PTX sources"
        ));
    Some(finding)
}

/// Gives a kernel the annotations of its declaration in the configuration, if it has none of its own.
fn annotate(kernel: &mut Kernel, signature: &Signature, types: &Types<'_>) -> Vec<Diagnostic> {
    if !kernel.annotations.is_empty() {
        return Vec::new();
    }
    let mut declared = signature.declared().annotations.clone();
    for annotation in &mut declared {
        let spots = annotation.tokens.iter_mut();
        let places = spots.map(|spot| &mut spot.place);
        places
            .chain([&mut annotation.place])
            .for_each(|place| *place = kernel.place.clone());
    }
    let names: Vec<_> = (signature.declared().params.iter())
        .map(|it| it.name.clone())
        .collect();
    // Expressions are in the names of this declaration.
    let mut named = kernel.clone();
    for (param, name) in named.params.iter_mut().zip(names) {
        param.name = name.unwrap_or_else(|| param.name.clone());
    }
    let (annotations, findings) = annotation::resolve(&declared, &named, &[], types);
    kernel.annotations = annotations;
    findings
        .into_iter()
        .map(|finding| finding.note("declared by its `signature`"))
        .collect()
}

fn without_probe(module: Module) -> Module {
    let edits = module.removal_of_variables(probe::PREFIX);
    if edits.is_empty() || module.target_options().any(|option| option == "debug") {
        return module;
    }
    let text = edits.apply(module.text()).ok();
    text.and_then(|text| Module::parse(text).ok())
        .unwrap_or(module)
}

fn entry(function: &Function) -> Entry {
    let slots = function.params.iter().map(|param| Slot {
        size: param.size().unwrap_or(0),
        align: param.alignment(),
    });
    let found = function.bounds();
    let threads = |[x, y, z]: [u32; 3]| x.saturating_mul(y).saturating_mul(z);
    Entry {
        name: function.name.to_string(),
        params: slots.collect(),
        bounds: Bounds {
            max_threads: found.max_block.map(threads),
            exact_block: found.exact_block,
            min_blocks: found.min_blocks,
            max_registers: found.max_registers,
            cluster: found.cluster,
            max_cluster: found.max_cluster,
            explicit_cluster: found.explicit_cluster && found.cluster.is_none(),
            grid_of_clusters: found.grid_of_clusters,
        },
    }
}

/// Reads signatures off a module that has no source: types by the configuration's declaration, else by mangled names,
/// else as far as PTX tells.
///
/// A `.u64` without `.ptr` then stays a number, and an aggregate has no counterpart.
pub(crate) fn of_ptx(
    module: Module,
    source: &Path,
    settings: &BTreeMap<String, KernelConfig>,
) -> (Module, Signatures, Vec<Diagnostic>) {
    let answers = Answers::default();
    let mut types = Types::new(&answers);
    let (mut kernels, mut findings) = (Vec::new(), Vec::new());
    for function in module.entries() {
        let place = Place::line(source, line_of(&module, function));
        let Bare { entry, name } = Bare::new(function);
        let plain = names::plain(&name.name);
        let setting = settings.get(&plain);
        let params = match setting.and_then(|setting| setting.signature.as_ref()) {
            Some(signature) => declared(signature, &entry, &place, &mut types),
            None => bare(function, &name, &entry, &place, &mut types).map_err(|found| vec![found]),
        };
        match params {
            Ok(params) => {
                let mut kernel = Kernel {
                    name: plain,
                    path: name.name.path(),
                    entry: entry.name,
                    docs: Vec::new(),
                    place,
                    params,
                    bounds: entry.bounds,
                    instance: None,
                    annotations: Annotations::default(),
                };
                if let Some(signature) = setting.and_then(|setting| setting.signature.as_ref()) {
                    findings.extend(annotate(&mut kernel, signature, &types));
                }
                kernels.push(names::Named {
                    kernel,
                    name: name.name,
                    types: name.params,
                    implicit: false,
                    told: false,
                });
            }
            Err(found) => findings.extend(found),
        }
    }
    let (kernels, clashes) = names::name(kernels);
    findings.extend(clashes);
    let signatures = Signatures {
        kernels,
        ..Signatures::default()
    };
    (module, signatures, findings)
}

/// The names by which the configuration may mean kernels of a module: what they are called in Rust and in the PTX, those
/// without a wrapper too.
pub(crate) fn settable(module: &Module, signatures: &Signatures) -> Vec<String> {
    let named = signatures.kernels.iter().map(|kernel| kernel.name.clone());
    let entries = module.entries().flat_map(|function| {
        let Bare { entry, name } = Bare::new(function);
        [names::plain(&name.name), entry.name]
    });
    let all: BTreeSet<_> = named.chain(entries).collect();
    all.into_iter().collect()
}

fn line_of(module: &Module, function: &Function) -> u32 {
    let before = module
        .text()
        .get(..function.name_span.start)
        .unwrap_or_default();
    before.bytes().filter(|&byte| byte == b'\n').count() as u32 + 1
}

/// An entry, and what its symbol says.
struct Bare {
    entry: Entry,
    name: symbol::Function,
}

impl Bare {
    fn new(function: &Function) -> Self {
        let entry = entry(function);
        let demangled = symbol::function(&entry.name);
        let name = demangled.filter(|it| it.params.len() == entry.params.len());
        let name = name.unwrap_or_else(|| symbol::Function {
            name: Name::simple(&entry.name),
            params: Vec::new(),
            values: Vec::new(),
        });
        Self { entry, name }
    }
}

/// The parameters as the configuration declares them, which the PTX has to confirm.
fn declared(
    signature: &Signature,
    entry: &Entry,
    place: &Place,
    types: &mut Types<'_>,
) -> Result<Vec<Param>, Vec<Diagnostic>> {
    let origin = Origin::of_signature(signature, place);
    let kernel = super::kernel(&origin, entry, types);
    kernel.map(|kernel| kernel.params).map_err(|refusals| {
        let findings = refusals.into_iter().map(|refusal| refusal.finding(&origin));
        findings
            .map(|finding| finding.note("declared by its `signature`"))
            .collect()
    })
}

/// The parameters by their mangled types and what PTX says.
fn bare(
    function: &Function,
    name: &symbol::Function,
    entry: &Entry,
    place: &Place,
    types: &mut Types<'_>,
) -> Result<Vec<Param>, Diagnostic> {
    let mut params = Vec::new();
    for (at, (param, slot)) in function.params.iter().zip(&entry.params).enumerate() {
        let by_name = (name.params.get(at))
            .and_then(|ty| Some((ty.to_string(), fit::param(types, ty, *slot).ok()?)));
        let Some((declared, ty)) = by_name.or_else(|| by_ptx(param)) else {
            let message = format!(
                "parameter {at} of kernel `{}` is an aggregate of {} bytes",
                entry.name, slot.size
            );
            return Err(Diagnostic::warning(Code::TYPE_WITHOUT_COUNTERPART, message)
                .at(place.clone(), "")
                .note("PTX does not say what is in it; the kernel gets no wrapper"));
        };
        let name = format!("param_{at}");
        params.push(Param { name, declared, ty });
    }
    Ok(params)
}

fn by_ptx(param: &gpuk_ptx::Param) -> Option<(String, ParamType)> {
    if param.lanes != 1 || !param.dims.is_empty() {
        return None;
    }
    let ty = match param.pointer {
        Some(_) => ParamType::Pointer {
            to: None,
            mutable: true,
        },
        None => ParamType::Value(Type::Scalar(scalar(param.ty)?)),
    };
    Some((param.ty.to_string(), ty))
}

fn scalar(ty: PtxType) -> Option<Scalar> {
    Some(match ty {
        PtxType::B8 | PtxType::U8 => Scalar::U8,
        PtxType::B16 | PtxType::U16 => Scalar::U16,
        PtxType::B32 | PtxType::U32 => Scalar::U32,
        PtxType::B64 | PtxType::U64 => Scalar::U64,
        PtxType::B128 => Scalar::U128,
        PtxType::S8 => Scalar::I8,
        PtxType::S16 => Scalar::I16,
        PtxType::S32 => Scalar::I32,
        PtxType::S64 => Scalar::I64,
        PtxType::F16 => Scalar::F16,
        PtxType::Bf16 => Scalar::Bf16,
        PtxType::F32 => Scalar::F32,
        PtxType::F64 => Scalar::F64,
        _ => return None,
    })
}
