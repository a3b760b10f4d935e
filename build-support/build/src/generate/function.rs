//! Declarations of the host functions that are linked in.

use std::collections::BTreeMap;

use super::docs::markdown;
use super::expr::{params, row, text};
use super::ident::{ident, plain};
use super::image::slashed;
use super::names::{Names, Scope, VALUES};
use super::out::Out;
use super::types::Types;
use crate::function::{Function, HostType};
use crate::kernel::Signatures;

/// Draws the block of declarations, where there are any.
pub(super) fn functions(out: &mut Out, signatures: &Signatures, names: &Names) {
    if signatures.functions.is_empty() {
        return;
    }
    let types = Types::code(names);
    let given = given(signatures, names);
    out.line("#[allow(improper_ctypes, reason = \"layouts are asserted\")]");
    out.braced("unsafe extern \"C\"", |out| {
        for (nth, function) in signatures.functions.iter().enumerate() {
            if nth > 0 {
                out.line("");
            }
            let name = given.get(function.name.as_str());
            declaration(out, types, function, name.unwrap_or(&function.name));
        }
    });
}

/// The declaration of a host function as people read it.
#[must_use]
pub fn host_signature(signatures: &Signatures, function: &Function) -> String {
    let names = Names::of(signatures);
    let types = Types::short(&names);
    let given = given(signatures, &names);
    let name = given.get(function.name.as_str());
    let name = name.unwrap_or(&function.name);
    let passed = passed(types, function).join(", ");
    format!("unsafe fn {name}({passed}){}", returned(types, function))
}

/// Rust's names of the functions: their own, unless Rust or a type that is a function too has them.
fn given<'f>(signatures: &'f Signatures, names: &Names) -> BTreeMap<&'f str, String> {
    let mut scope = Scope::new(VALUES);
    for it in &signatures.enums {
        scope.claim(names.structure(&it.path));
    }
    let functions = signatures.functions.iter();
    let given = functions.map(|it| (it.name.as_str(), scope.claim(ident(&it.name))));
    given.collect()
}

fn declaration(out: &mut Out, types: Types<'_>, function: &Function, name: &str) {
    let mut docs = markdown(&function.docs);
    if docs.is_empty() {
        docs.push(format!("The host function `{}`.", function.name));
    }
    let declared: Vec<_> = function.params.iter().map(|it| &*it.declared).collect();
    let returns = function.returns.as_ref();
    docs.extend([
        String::new(),
        format!(
            "`{} {}({})`, defined at `{}:{}`.",
            returns.map_or("void", |(declared, _)| declared),
            function.name,
            declared.join(", "),
            slashed(&function.place.file),
            function.place.line
        ),
    ]);
    out.docs(docs);
    if plain(name) != function.name {
        out.line(format!("#[link_name = {:?}]", function.name));
    }
    let passed = passed(types, function).into_iter().map(text).collect();
    let head = params(format!("pub fn {name}("), passed);
    let returned = text(returned(types, function));
    out.statement(&row([head, returned]), ";");
}

/// `x: *mut f32` for each parameter.
fn passed(types: Types<'_>, function: &Function) -> Vec<String> {
    let mut scope = Scope::new(VALUES);
    let passed = function.params.iter().map(|param| {
        let name = scope.claim(ident(&param.name));
        format!("{name}: {}", host(types, &param.ty))
    });
    passed.collect()
}

/// ` -> i32`, or nothing.
fn returned(types: Types<'_>, function: &Function) -> String {
    let returns = function.returns.as_ref();
    returns.map_or(String::new(), |(_, ty)| format!(" -> {}", host(types, ty)))
}

fn host(types: Types<'_>, ty: &HostType) -> String {
    match ty {
        HostType::Value(ty) => types.rust(ty),
        HostType::Handle(handle) => types.path(&format!("cudarc::driver::sys::{}", handle.name())),
        HostType::Pointer { to, mutable } => {
            let to = to.as_ref().map(|to| host(types, to));
            let to = to.unwrap_or_else(|| "::core::ffi::c_void".to_owned());
            format!("*{} {to}", if *mutable { "mut" } else { "const" })
        }
    }
}
