//! The method that launches a kernel.

use super::bindings::ModuleBindings;
use super::describe::describe;
use super::expr::{self, Expr, block, call, quoted, row, text, tuple};
use super::kernel::is_checked;
use super::names::{KernelNames, Names};
use super::out::Out;
use super::shared::angles;
use super::template;
use super::types::Types;
use super::variant::variants;
use crate::kernel::{Kernel, Param, ParamType, Signatures, Type};

/// A kernel's Rust signature on one line, as it is called on a stream, its types unqualified.
pub fn signature(signatures: &Signatures, kernel: &Kernel) -> String {
    let all = Names::of(signatures);
    let templates = template::all(signatures);
    let mut shared = templates.iter().zip(all.shared());
    let shared = shared.find(|(template, _)| template.has(kernel));
    let (kernel, names) = match (shared, all.kernel(kernel)) {
        (Some((_, shared)), _) => (&shared.kernel, &shared.names),
        (None, Some(names)) => (kernel, names),
        (None, None) => return kernel.path.clone(),
    };
    let types = Types::short(&all);
    let (of_template, bounds) = match &names.generic {
        Some(generic) => (
            generic.params.as_slice(),
            format!(" where {}", generic.bound),
        ),
        None => (&[][..], String::new()),
    };
    let writes = generics(kernel, names)
        .map(|(name, to)| format!("{name}: {}", bound("", types, "Write", to)));
    let generics = angles(of_template.iter().cloned().chain(writes));
    let inputs = inputs(kernel, names, types, "");
    let inputs: String = inputs.map(|(name, ty)| format!(", {name}: {ty}")).collect();
    let outputs: Vec<_> = names
        .generics
        .iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let outputs = match outputs.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("({})", several.join(", ")),
    };
    format!(
        "unsafe fn {}{generics}(&self, stream: &Arc<CudaStream>, launch: impl Into<Launch>{inputs}) \
         -> Result<(ErrorPayload, {outputs}), LaunchError>{bounds}",
        names.method
    )
}

/// Draws the method.
pub(super) fn launch(
    out: &mut Out,
    bindings: &ModuleBindings,
    types: Types<'_>,
    kernel: &Kernel,
    names: &KernelNames,
) {
    out.docs(describe(bindings, kernel, names));
    out.line("#[track_caller]");
    let outputs: Vec<_> = names.generics.iter().flatten().cloned().collect();

    let method = &names.method;
    let on = &names.on;
    let generic = names.generic.as_ref();
    let of_template = generic.map_or(&[][..], |it| &it.params);
    let types_of = of_template.iter().chain([on]).chain(&outputs);
    let types_of = types_of.map(text).collect();
    let head = expr::generics(format!("pub unsafe fn {method}<"), types_of);
    let mut arguments = vec![
        text("&self"),
        text(format!("on: {on}")),
        text("launch: impl ::core::convert::Into<::gpuk::Launch>"),
    ];
    let kinds = kernel.params.iter();
    arguments.extend(kinds.zip(inputs(kernel, names, types, "::gpuk::")).map(
        |(param, (name, ty))| {
            let mutable = if is_output(param) { "mut " } else { "" };
            match split_bound(&ty) {
                Some((open, item)) => expr::bound(format!("{mutable}{name}: {open}"), text(item)),
                None => text(format!("{mutable}{name}: {ty}")),
            }
        },
    ));
    let result = expr::result(
        ") -> ::core::result::Result<",
        vec![
            expr::generics(format!("{on}::Returned<"), vec![group(&outputs)]),
            text("::gpuk::LaunchError"),
        ],
    );
    let writes = generics(kernel, names)
        .map(|(name, to)| format!("{name}: {},", bound("::gpuk::", types, "Write", to)));
    let of_template = generic.iter().flat_map(|it| {
        let by_value = it.by_value.iter();
        let by_value = by_value.map(|name| format!("{name}: ::gpuk::DeviceRepr,"));
        [format!("{},", it.bound)].into_iter().chain(by_value)
    });
    let bounds = of_template
        .chain([format!("{on}: ::gpuk::On,")])
        .chain(writes);

    out.statement(&row([head, text("(")]), "");
    out.indented(|out| arguments.iter().for_each(|it| out.statement(it, ",")));
    out.statement(&result, "");
    out.line("where");
    out.indented(|out| bounds.for_each(|it| out.bound(&it)));
    out.line("{");
    out.indented(|out| body(out, bindings, kernel, names));
    out.line("}");
}

fn body(out: &mut Out, bindings: &ModuleBindings, kernel: &Kernel, names: &KernelNames) {
    let mut passes: Vec<_> = kernel
        .params
        .iter()
        .zip(&names.params)
        .map(|(param, name)| match param.ty {
            ParamType::Value(_) => call("::gpuk::Pass::value(", vec![text(format!("&{name}"))]),
            ParamType::Pointer { mutable, .. } => {
                let suffix = if mutable { "_mut" } else { "" };
                let argument = format!("&{name}.argument{suffix}(stream)");
                let label = quoted(&param.name);
                call("::gpuk::Pass::buffer(", vec![label, text(argument)])
            }
        })
        .collect();
    if is_checked(bindings, kernel) {
        passes.push(text("::gpuk::Pass::hidden()"));
    }
    let launch = call(
        "::gpuk::Function::launch(",
        vec![
            match (&names.generic, variants(bindings, kernel)) {
                (Some(generic), _) => row([
                    call(
                        generic.function.clone(),
                        vec![text("self"), text("seal::Seal")],
                    ),
                    text("?"),
                ]),
                (None, None) => text(format!("&self.{}", names.method)),
                (None, Some(_)) => text(format!("self.{}.get()?", names.method)),
            },
            text("target"),
            text("launch.into()"),
            call("[", passes),
        ],
    );
    let payload = &names.payload;
    out.line("let target = ::gpuk::On::target(&on);");
    if (kernel.params.iter()).any(|it| matches!(it.ty, ParamType::Pointer { .. })) {
        out.line("let stream = target.stream;");
    }
    out.line("// SAFETY: the arguments are those of the entry; the rest is the caller's promise.");
    out.binding(payload, &block("unsafe {", row([launch, text("?")])));

    let outputs = names.params.iter().zip(&names.generics);
    let outputs = outputs.filter(|(_, generic)| generic.is_some());
    let outputs: Vec<_> = outputs.map(|(name, _)| name.clone()).collect();
    let outputs = match outputs.as_slice() {
        [] => text("()"),
        [one] => text(one),
        several => tuple(several.iter().map(text).collect()),
    };
    let value = vec![text("&on"), text(payload), outputs];
    out.statement(&call("::gpuk::On::returned(", value), "");
}

/// Nothing, one, or several in parentheses.
fn group(names: &[String]) -> Expr {
    match names {
        [] => text("()"),
        [one] => text(one),
        several => call("(", several.iter().map(text).collect()),
    }
}

fn is_output(param: &Param) -> bool {
    matches!(param.ty, ParamType::Pointer { mutable: true, .. })
}

/// Names and types of the parameters.
fn inputs<'a>(
    kernel: &'a Kernel,
    names: &'a KernelNames,
    types: Types<'a>,
    root: &'a str,
) -> impl Iterator<Item = (&'a str, String)> {
    let generics = names.params.iter().zip(&names.generics);
    kernel
        .params
        .iter()
        .zip(generics)
        .map(move |(param, (name, generic))| {
            let ty = match (&param.ty, generic) {
                (_, Some(generic)) => generic.clone(),
                (ParamType::Value(ty), _) => types.rust(ty),
                (ParamType::Pointer { to, .. }, _) => {
                    format!("impl {}", bound(root, types, "Read", to.as_ref()))
                }
            };
            (name.as_str(), ty)
        })
}

/// Type parameters with what they point to.
fn generics<'a>(
    kernel: &'a Kernel,
    names: &'a KernelNames,
) -> impl Iterator<Item = (&'a str, Option<&'a Type>)> {
    let params = kernel.params.iter().zip(&names.generics);
    params.filter_map(|(param, generic)| match &param.ty {
        ParamType::Pointer { to, .. } => Some((generic.as_deref()?, to.as_ref())),
        ParamType::Value(_) => None,
    })
}

fn bound(root: &str, types: Types<'_>, name: &str, to: Option<&Type>) -> String {
    match to {
        Some(ty) => format!("{root}{name}<Item = {}>", types.rust(ty)),
        None => format!("{root}{name}"),
    }
}

/// `impl ::gpuk::Read<Item = f32>` → `impl ::gpuk::Read<` and `Item = f32`.
fn split_bound(ty: &str) -> Option<(&str, &str)> {
    let inner = ty.strip_suffix('>')?;
    let open = inner.find('<')?;
    Some(inner.split_at(open + 1))
}
