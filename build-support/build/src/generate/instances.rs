//! The trait that the instances of a template implement, and what each of them is.

use super::bindings::ModuleBindings;
use super::expr::{macro_call, row, text};
use super::generics::angles;
use super::ident::plain;
use super::names::Names;
use super::out::Out;
use super::shared::Shared;
use super::template::{Template, pointee};
use super::types::Types;
use super::variant::variants;
use crate::instance::{Instance, TemplateValue};
use crate::kernel::ParamType;

/// Keeps others from implementing the traits: nobody outside the module can name it.
pub(super) fn seal(out: &mut Out) {
    out.line("");
    out.braced("mod seal", |out| {
        out.line("pub struct Seal;");
        out.line("");
        out.line(
            "pub type Found<'a> = ::core::result::Result<&'a ::gpuk::Function, ::gpuk::LaunchError>;",
        );
    });
}

/// Draws the trait and its implementations.
pub(super) fn instances(
    out: &mut Out,
    bindings: &ModuleBindings,
    names: &Names,
    template: &Template<'_>,
    shared: &Shared,
) {
    let path = template.path();
    out.line("");
    out.docs([
        format!(
            "The instances of the kernel template `{path}`, which [`Kernels::{0}`] launches.",
            shared.names.method
        ),
        String::new(),
        match shared.subject_is_type() {
            true => {
                "Types implement it that the kernel is instantiated for; no other can.".to_owned()
            }
            false => "`Kernels` implements it for each of them.".to_owned(),
        },
    ]);
    unimplemented(out, &bindings.source, template, shared);
    let bound = shared.subject_is_type().then_some("::gpuk::DeviceRepr");
    out.trait_item(&shared.name, &shared.trait_params(), bound, |out| {
        out.docs(["What is known of the instance."]);
        out.line("const INFO: ::gpuk::KernelInfo;");
        out.line("");
        for own in &shared.owned {
            let param = &shared.kernel.params[own.param];
            out.docs([format!("Of `{}`, `{}`.", param.name, param.declared)]);
            let by_value = matches!(param.ty, ParamType::Value(_));
            let bound = if by_value { ": ::gpuk::DeviceRepr" } else { "" };
            out.line(format!("type {}{bound};", own.name));
            out.line("");
        }
        out.line("#[doc(hidden)]");
        out.line("fn function(kernels: &Kernels, _: seal::Seal) -> seal::Found<'_>;");
    });
    let types = Types::code(names);
    for (kernel, instance) in &template.instances {
        let Some(of_kernel) = names.kernel(kernel) else {
            continue;
        };
        out.line("");
        let (of, subject) = implements(template, shared, instance, types);
        out.implementation(&of, &subject, |out| {
            let info = row([text("Kernels::"), text(&of_kernel.constant)]);
            out.assign("const INFO", "::gpuk::KernelInfo", &info);
            out.line("");
            for own in &shared.owned {
                if let Some(ty) = pointee(&kernel.params[own.param].ty) {
                    out.alias(&own.name, &types.rust(ty));
                    out.line("");
                }
            }
            out.braced(
                "fn function(kernels: &Kernels, _: seal::Seal) -> seal::Found<'_>",
                |out| {
                    let method = &of_kernel.method;
                    match variants(bindings, kernel) {
                        None => out.ok("kernels", method),
                        Some(_) => out.chain("kernels", &[method, "get()"]),
                    }
                },
            );
        });
    }
}

/// `Tile<64>`, and `f32`, which implements it.
fn implements(
    template: &Template<'_>,
    shared: &Shared,
    instance: &Instance,
    types: Types<'_>,
) -> (String, String) {
    let mut subject = None;
    let mut others = Vec::new();
    for index in &template.params {
        match &instance.args[*index].value {
            TemplateValue::Type(ty) if subject.is_none() => subject = Some(types.rust(ty)),
            TemplateValue::Type(ty) => others.push(types.rust(ty)),
            TemplateValue::Const(_, number) => others.push(number.clone()),
            TemplateValue::Other => {}
        }
    }
    let subject = subject.unwrap_or_else(|| "Kernels".to_owned());
    let of = format!("{}{}", shared.name, angles(others.into_iter()));
    (of, subject)
}

/// Most instances that a message lists.
const LISTED: usize = 12;

/// What the compiler says where there is no such instance.
fn unimplemented(out: &mut Out, source: &str, template: &Template<'_>, shared: &Shared) {
    // Braces are placeholders there.
    let escaped = |text: &str| text.replace('{', "{{").replace('}', "}}");
    let path = escaped(template.path());
    let subject = shared.params.iter().position(|param| param.of.is_none());
    let args = shared.params.iter().enumerate().map(|(at, param)| {
        let name = if Some(at) == subject {
            "Self"
        } else {
            plain(&param.name)
        };
        format!("{{{name}}}")
    });
    let args: Vec<_> = args.collect();
    let wanted = match args.as_slice() {
        [one] => format!("`{one}`"),
        several => format!("`{}`", several.join(", ")),
    };
    let all = template.instances.iter();
    let mut all: Vec<_> = all
        .map(|(kernel, _)| format!("`{}`", escaped(&kernel.path)))
        .collect();
    if all.len() > LISTED {
        let more = all.len() - LISTED;
        all.truncate(LISTED);
        all.push(format!("{more} more"));
    }
    let name = path.rsplit("::").next().unwrap_or(&path);
    let notes = [
        format!("its instances are {}", all.join(", ")),
        format!(
            "ask for more in the manifest, `instantiate = [\"{path}<…>\"]`, or in `{source}`, \
             `GPUK_INSTANTIATE({name}<…>);`"
        ),
    ];
    let message = format!("kernel `{path}` has no instance for {wanted}");
    let items = [("message", message)]
        .into_iter()
        .chain(notes.map(|note| ("note", note)));
    let items = items.map(|(key, value)| text(format!("{key} = {value:?}")));
    out.statement(
        &macro_call("#[diagnostic::on_unimplemented(", items.collect()),
        "]",
    );
}
