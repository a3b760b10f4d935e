//! What makes an entry an instance of a template, to Rust.

use super::origin::{OfTemplate, Origin};
use super::types::Types;
use crate::ctype::{Arg, CType, Qualifiers};
use crate::diagnostic::Place;
use crate::instance::{Depends, Instance, Spelling, TemplateArg, TemplateValue};
use crate::kernel::{Scalar, Template};
use crate::source::{Declarations, DeclaredKernel, DeclaredParam, TemplateParam};

/// The instance that an origin tells of; nothing for what is none, or is one of a template with a pack.
pub(super) fn instance(origin: &Origin<'_>, types: &mut Types<'_>) -> Option<Instance> {
    let OfTemplate { declared, values } = origin.template.as_ref()?;
    let header = declared.template.as_ref()?;
    let args = origin.name.last()?.args.as_ref()?;
    let packs = header.iter().any(|param| param.pack) || declared.params.iter().any(|it| it.pack);
    if packs || header.len() != args.len() || args.len() != values.len() {
        return None;
    }
    let args = header.iter().zip(args).zip(values);
    Some(Instance {
        template: declared.path(),
        place: declared.place.clone(),
        args: args
            .map(|((param, arg), ty)| argument(param, arg, ty.as_ref(), types))
            .collect(),
        params: declared
            .params
            .iter()
            .map(|param| spelling(param, header))
            .collect(),
    })
}

/// The templates that a source defines; `instantiated` are the places of those that have an instance.
pub(super) fn defined(declarations: &Declarations, instantiated: &[Place]) -> Vec<Template> {
    let templates = declarations.kernels.iter().filter(|kernel| {
        kernel.defined && kernel.template.as_ref().is_some_and(|it| !it.is_empty())
    });
    let template = |kernel: &DeclaredKernel| Template {
        path: kernel.path(),
        instantiated: instantiated.contains(&kernel.place),
        place: kernel.place.clone(),
    };
    templates.map(template).collect()
}

fn argument(
    param: &TemplateParam,
    arg: &Arg,
    value: Option<&CType>,
    types: &mut Types<'_>,
) -> TemplateArg {
    let (kind, text, value) = match (arg, value) {
        (Arg::Value(text), Some(ty)) => (ty.to_string(), text.clone(), number(text, ty, types)),
        (Arg::Value(text), None) => ("auto".to_owned(), text.clone(), None),
        (Arg::Type(ty), _) => {
            let plain =
                matches!(ty, CType::Named(_, qualifiers) if *qualifiers == Qualifiers::default());
            let to = plain.then(|| types.value(ty).ok()).flatten();
            let value = to.map(TemplateValue::Type);
            ("class".to_owned(), ty.to_string(), value)
        }
    };
    TemplateArg {
        name: param.name.clone(),
        kind,
        text,
        value: value.unwrap_or(TemplateValue::Other),
    }
}

/// A value that a const generic can have.
fn number(text: &str, ty: &CType, types: &mut Types<'_>) -> Option<TemplateValue> {
    let ty = types.value(ty).ok()?;
    let scalar = types.number(&ty)?;
    // An enumerator: `(ns::Mode)2`.
    let number = match text.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?.1,
        None => text,
    };
    let valid = match scalar {
        Scalar::Bool => matches!(number, "true" | "false"),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::I128 => {
            number.parse::<i128>().is_ok()
        }
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::U128 => {
            number.parse::<u128>().is_ok()
        }
        Scalar::F32
        | Scalar::F64
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::F8E4M3
        | Scalar::F8E5M2
        | Scalar::F4E2M1
        | Scalar::F4E2M1x2
        | Scalar::C32
        | Scalar::C64 => false,
    };
    valid.then(|| TemplateValue::Const(scalar, number.to_owned()))
}

fn spelling(param: &DeclaredParam, header: &[TemplateParam]) -> Spelling {
    let named = |word: &str| {
        let mut header = header.iter();
        header.position(|param| param.name.as_deref() == Some(word))
    };
    let parsed: Option<CType> = param.text.parse().ok();
    let whole = parsed.as_ref().and_then(|ty| match ty {
        CType::Pointer(to, _) | CType::Array(to, _) => to.as_word(),
        other => other.as_word(),
    });
    let depends = match whole.and_then(named) {
        Some(index) => Depends::Argument(index),
        None if param.text.split(' ').any(|word| named(word).is_some()) => Depends::Arguments,
        None => Depends::Nothing,
    };
    Spelling {
        text: parsed.map_or_else(|| unspaced(&param.text), |ty| ty.to_string()),
        depends,
    }
}

/// `typename T :: x` as people write it.
fn unspaced(text: &str) -> String {
    let text = text.replace(" :: ", "::");
    text.replace(" < ", "<")
        .replace(" >", ">")
        .replace(" , ", ", ")
}
