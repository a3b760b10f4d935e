//! What the run time knows of a kernel: the associated constant `KernelInfo`.

use super::bindings::ModuleBindings;
use super::expr::{Expr, call, field, literal, quoted, row, text};
use super::ident::plain;
use super::image::slashed;
use super::layout::Layout;
use super::names::KernelNames;
use super::out::Out;
use super::types::Types;
use crate::kernel::{Kernel, Param, ParamType};

/// Draws the constant; `shared` says that the kernel has no method of its own.
pub(super) fn info(
    out: &mut Out,
    bindings: &ModuleBindings,
    types: Types<'_>,
    kernel: &Kernel,
    names: &KernelNames,
    shared: bool,
) {
    let number = |number: Option<u32>| option(number.map(|it| it.to_string()));
    let shape = |shape: Option<[u32; 3]>| option(shape.map(|it| format!("{it:?}")));
    let bounds = &kernel.bounds;
    let params = kernel.params.iter();
    let params = params.map(|it| param(bindings, types, it));
    let value = literal(
        "::gpuk::KernelInfo {",
        vec![
            field("name", quoted(plain(&names.method))),
            field("entry", quoted(&kernel.entry)),
            field("source", quoted(&place(kernel))),
            field("checked", text(is_checked(bindings, kernel).to_string())),
            field("max_threads", number(bounds.max_threads)),
            field("exact_block", shape(bounds.exact_block)),
            field("min_blocks", number(bounds.min_blocks)),
            field("cluster", shape(bounds.cluster)),
            field(
                "grid_of_clusters",
                text(bounds.grid_of_clusters.to_string()),
            ),
            field("params", row([text("&"), call("[", params.collect())])),
        ],
    );
    out.docs([match shared {
        true => format!("What is known of `{}`.", kernel.path),
        false => format!("What is known of [`{0}`](Self::{0}).", names.method),
    }]);
    let name = format!("pub const {}", names.constant);
    out.assign(&name, "::gpuk::KernelInfo", &value);
}

fn param(bindings: &ModuleBindings, types: Types<'_>, param: &Param) -> Expr {
    let layout = match &param.ty {
        ParamType::Pointer { .. } => Some(Layout::POINTER),
        ParamType::Value(ty) => Layout::of(&bindings.signatures, ty),
    };
    let (size, align) = match (layout, &param.ty) {
        (None, ParamType::Value(ty)) => {
            let of = |what| format!("::core::mem::{what}::<{}>()", types.rust(ty));
            (of("size_of"), of("align_of"))
        }
        (layout, _) => {
            let layout = layout.unwrap_or(Layout::POINTER);
            (layout.size.to_string(), layout.align.to_string())
        }
    };
    literal(
        "::gpuk::ParamInfo {",
        vec![
            field("name", quoted(&param.name)),
            field("size", text(size)),
            field("align", text(align)),
        ],
    )
}

fn option(value: Option<String>) -> Expr {
    text(value.map_or_else(|| "None".to_owned(), |it| format!("Some({it})")))
}

/// Whether failed checks of the kernel are reported.
pub(super) fn is_checked(bindings: &ModuleBindings, kernel: &Kernel) -> bool {
    bindings.checked.contains(&kernel.entry)
}

/// `kernels/gather.cu:12`.
pub(super) fn place(kernel: &Kernel) -> String {
    format!("{}:{}", slashed(&kernel.place.file), kernel.place.line)
}
