//! A kernel that the architectures do not have alike: the constant that says which have it, the question whether the
//! loaded image does.

use super::bindings::{ModuleBindings, Variant};
use super::docs::listed;
use super::expr::{call, chain, field, literal, params, quoted, row, text};
use super::names::KernelNames;
use super::out::Out;
use crate::kernel::Kernel;

/// What the architectures that have the kernel have, where they are not alike.
pub(super) fn variants<'a>(bindings: &'a ModuleBindings, kernel: &Kernel) -> Option<&'a [Variant]> {
    bindings.variants.get(&kernel.entry).map(Vec::as_slice)
}

/// The architectures that have the kernel, where others do not.
pub(super) fn partial<'a>(bindings: &'a ModuleBindings, kernel: &Kernel) -> Option<Vec<&'a str>> {
    let of = variants(bindings, kernel)?;
    let has = |arch: &str| of.iter().any(|variant| variant.arch == arch);
    let lacks = bindings.images.iter().any(|image| !has(&image.arch));
    lacks.then(|| of.iter().map(|variant| variant.arch.as_str()).collect())
}

/// The constant, where there is something to say; `shared` says that the kernel has no method of its own.
pub(super) fn constant(
    out: &mut Out,
    bindings: &ModuleBindings,
    kernel: &Kernel,
    names: &KernelNames,
    shared: bool,
) {
    let Some(of) = variants(bindings, kernel) else {
        return;
    };
    let variant = |it: &Variant| {
        let fields = vec![
            field("arch", quoted(&it.arch)),
            field("checked", text(it.checked.to_string())),
        ];
        literal("::gpuk::Variant {", fields)
    };
    let it = link(kernel, names, shared);
    out.docs([format!("What the architectures have of {it}.")]);
    let name = format!("const {}", names.variants);
    let value = call("[", of.iter().map(variant).collect());
    let value = row([text("&"), value]);
    out.assign(&name, "&'static [::gpuk::Variant]", &value);
    out.line("");
}

/// The question, where some architectures lack the kernel.
pub(super) fn question(
    out: &mut Out,
    bindings: &ModuleBindings,
    kernel: &Kernel,
    names: &KernelNames,
    shared: bool,
) {
    let Some(archs) = partial(bindings, kernel) else {
        return;
    };
    let (method, has) = (&names.method, &names.has);
    let it = link(kernel, names, shared);
    out.line("");
    out.docs([
        format!("Whether the loaded image has {it}."),
        String::new(),
        format!("It was compiled for {} only.", listed(&archs)),
    ]);
    out.line("#[must_use]");
    let head = params(format!("pub const fn {has}("), vec![text("&self")]);
    out.statement(&row([head, text(" -> bool {")]), "");
    let is_some = chain(format!("self.{method}"), "is_some()");
    out.indented(|out| out.statement(&is_some, ""));
    out.line("}");
}

/// The kernel's method, or its C++ name where that is shared with other instances.
fn link(kernel: &Kernel, names: &KernelNames, shared: bool) -> String {
    match shared {
        true => format!("`{}`", kernel.path),
        false => format!("[`{0}`](Self::{0})", names.method),
    }
}
