//! Modules of `gpuk_ptx`: compiled from a source, or PTX as somebody wrote it.

use std::path::Path;

use gpuk_ptx::{Function, Module, Type as PtxType};

use super::entry::{Entry, Slot};
use super::types::Types;
use super::{fit, join, names, symbol};
use crate::ctype::Name;
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::kernel::{Bounds, Kernel, Param, ParamType, Scalar, Signatures, Type};
use crate::probe::{self, Answers, Probe};
use crate::source::Declarations;

/// Joins a module with the source that it was compiled from, and takes the probe's variables out of it.
///
/// In a module with debug information they stay: that names them.
pub(crate) fn of_cuda(
    declarations: &Declarations,
    probe: &Probe,
    module: Module,
    source: &Path,
) -> (Module, Signatures, Vec<Diagnostic>) {
    let variables = module.variables_with_prefix(probe::PREFIX);
    let bytes =
        variables.filter_map(|variable| Some((variable.name.to_string(), variable.bytes()?)));
    let answers = probe.answers(declarations, &bytes.collect());
    let entries: Vec<_> = module.entries().map(entry).collect();
    let (signatures, findings) = join(declarations, &answers, &entries, source);
    (without_probe(module), signatures, findings)
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
            cluster: found.cluster,
        },
    }
}

/// Reads signatures off a module that has no source: types by mangled names, else as far as PTX tells.
///
/// A `.u64` without `.ptr` stays a number, and an aggregate has no counterpart.
pub(crate) fn of_ptx(module: Module, source: &Path) -> (Module, Signatures, Vec<Diagnostic>) {
    let answers = Answers::default();
    let mut types = Types::new(&answers);
    let (mut kernels, mut findings) = (Vec::new(), Vec::new());
    for function in module.entries() {
        let place = Place::line(source, line_of(&module, function));
        match bare_kernel(function, &place, &mut types) {
            Ok(kernel) => kernels.push(kernel),
            Err(finding) => findings.push(finding),
        }
    }
    let (kernels, clashes) = names::name(kernels);
    findings.extend(clashes);
    let structs = Vec::new();
    (module, Signatures { kernels, structs }, findings)
}

fn line_of(module: &Module, function: &Function) -> u32 {
    let before = module
        .text()
        .get(..function.name_span.start)
        .unwrap_or_default();
    before.bytes().filter(|&byte| byte == b'\n').count() as u32 + 1
}

fn bare_kernel(
    function: &Function,
    place: &Place,
    types: &mut Types<'_>,
) -> Result<names::Named, Diagnostic> {
    let entry = entry(function);
    let demangled =
        symbol::function(&entry.name).filter(|it| it.params.len() == entry.params.len());
    let mut params = Vec::new();
    for (at, (param, slot)) in function.params.iter().zip(&entry.params).enumerate() {
        let ty = demangled.as_ref().and_then(|it| it.params.get(at));
        let by_name = ty.and_then(|ty| Some((ty.to_string(), fit::param(types, ty, *slot).ok()?)));
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
    let name = demangled.map_or_else(|| Name::simple(&entry.name), |it| it.name);
    Ok(names::Named {
        kernel: Kernel {
            name: names::plain(&name),
            path: name.path(),
            entry: entry.name,
            docs: Vec::new(),
            place: place.clone(),
            params,
            bounds: entry.bounds,
        },
        name,
        implicit: false,
    })
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
