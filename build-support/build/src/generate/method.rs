//! The method that launches a kernel.

use super::annotated::{Outputs, allocated, allocates, is_length, prologue};
use super::bindings::ModuleBindings;
use super::describe::describe;
use super::expr::{self, Expr, block, call, chain, member, quoted, row, text, tuple};
use super::generics::{angles, path};
use super::kernel::is_checked;
use super::names::{KernelNames, Names};
use super::out::Out;
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
    let outputs = Outputs::Allocated;
    let writes = generics(kernel, names, outputs)
        .map(|(name, to)| format!("{name}: {}", bound("", types, "Write", to)));
    let generics = angles(of_template.iter().cloned().chain(writes));
    let inputs = inputs(kernel, names, types, "", outputs);
    let inputs: String = inputs
        .map(|(_, name, ty)| format!(", {name}: {ty}"))
        .collect();
    let returned = returned(kernel, names, types, "", outputs);
    let returned = match returned.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    };
    let launch = match kernel.annotations.shape {
        Some(_) => "",
        None => ", launch: impl Into<Launch>",
    };
    format!(
        "unsafe fn {}{generics}(&self, stream: &Arc<CudaStream>{launch}{inputs}) \
         -> Result<(ErrorPayload, {returned}), LaunchError>{bounds}",
        names.method
    )
}

/// Draws the method; two where it allocates outputs and another is passed them.
pub(super) fn launch(
    out: &mut Out,
    bindings: &ModuleBindings,
    types: Types<'_>,
    kernel: &Kernel,
    names: &KernelNames,
) {
    if allocates(kernel) {
        form(out, bindings, types, (kernel, names), Outputs::Allocated);
        out.line("");
    }
    form(out, bindings, types, (kernel, names), Outputs::Passed);
}

fn form(
    out: &mut Out,
    bindings: &ModuleBindings,
    types: Types<'_>,
    (kernel, names): (&Kernel, &KernelNames),
    outputs: Outputs,
) {
    out.docs(describe(bindings, kernel, names, outputs));
    out.line("#[track_caller]");
    let returned = returned(kernel, names, types, "::gpuk::", outputs);
    let written = generics(kernel, names, outputs).map(|(name, _)| name.to_owned());

    let method = match outputs {
        Outputs::Passed if allocates(kernel) => &names.into,
        _ => &names.method,
    };
    let on = &names.on;
    let generic = names.generic.as_ref();
    let of_template = generic.map_or(&[][..], |it| &it.params);
    let types_of = of_template.iter().cloned().chain([on.clone()]);
    let types_of = types_of.chain(written).map(text).collect();
    let head = expr::generics(format!("pub unsafe fn {method}<"), types_of);
    let mut arguments = vec![text("&self"), text(format!("on: {on}"))];
    let place = match kernel.annotations.shape {
        Some(_) => "Shaped",
        None => {
            let ty = "::core::convert::Into<::gpuk::Launch>";
            arguments.push(text(format!("launch: impl {ty}")));
            "On"
        }
    };
    let inputs = inputs(kernel, names, types, "::gpuk::", outputs);
    arguments.extend(inputs.map(|(param, name, ty)| {
        let mutable = if is_output(param) { "mut " } else { "" };
        match split_bound(&ty) {
            Some((open, item)) => expr::bound(format!("{mutable}{name}: {open}"), path(item)),
            None => row([text(format!("{mutable}{name}: ")), path(&ty)]),
        }
    }));
    let result = expr::result(
        ") -> ::core::result::Result<",
        vec![
            expr::generics(format!("{on}::Returned<"), vec![group(&returned)]),
            text("::gpuk::LaunchError"),
        ],
    );
    let writes = generics(kernel, names, outputs)
        .map(|(name, to)| format!("{name}: {},", bound("::gpuk::", types, "Write", to)));
    let of_template = generic.iter().flat_map(|it| {
        let by_value = it.by_value.iter();
        let by_value = by_value.map(|name| format!("{name}: ::gpuk::DeviceRepr,"));
        [format!("{},", it.bound)].into_iter().chain(by_value)
    });
    let bounds = of_template
        .chain([format!("{on}: ::gpuk::{place},")])
        .chain(writes);

    out.statement(&row([head, text("(")]), "");
    out.indented(|out| arguments.iter().for_each(|it| out.statement(it, ",")));
    out.statement(&result, "");
    out.line("where");
    out.indented(|out| bounds.for_each(|it| out.bound(&it)));
    out.line("{");
    out.indented(|out| body(out, bindings, types, (kernel, names), outputs));
    out.line("}");
}

fn body(
    out: &mut Out,
    bindings: &ModuleBindings,
    types: Types<'_>,
    (kernel, names): (&Kernel, &KernelNames),
    outputs: Outputs,
) {
    let params = kernel.params.iter().zip(&names.params).enumerate();
    let mut passes: Vec<_> = params
        .map(|(at, (param, name))| match param.ty {
            ParamType::Value(_) => call("::gpuk::Pass::value(", vec![text(format!("&{name}"))]),
            ParamType::Pointer { mutable, .. } => {
                let suffix = if mutable { "_mut" } else { "" };
                let argument = match outputs.allocates(kernel, at) {
                    true => {
                        let of = vec![text(format!("&mut {name}")), text("stream")];
                        row([text("&"), call("::gpuk::Write::argument_mut(", of)])
                    }
                    false => member(&format!("&{name}"), &format!("argument{suffix}(stream)")),
                };
                let label = quoted(&param.name);
                call("::gpuk::Pass::buffer(", vec![label, argument])
            }
        })
        .collect();
    if is_checked(bindings, kernel) {
        passes.push(text("::gpuk::Pass::hidden()"));
    }
    let is_annotated = !kernel.annotations.is_empty();
    let launch = call(
        "::gpuk::Function::launch(",
        vec![
            function(bindings, kernel, names),
            text("target"),
            text(if is_annotated {
                "launch"
            } else {
                "launch.into()"
            }),
            call("[", passes),
        ],
    );
    let payload = &names.payload;
    let place = match kernel.annotations.shape {
        Some(_) => "Shaped",
        None => "On",
    };
    out.line(format!("let target = ::gpuk::{place}::target(&on);"));
    if (kernel.params.iter()).any(|it| matches!(it.ty, ParamType::Pointer { .. })) {
        out.line("let stream = target.stream;");
    }
    if is_annotated {
        prologue(out, bindings, types, (kernel, names), outputs);
    }
    out.line("// SAFETY: the arguments are those of the entry; the rest is the caller's promise.");
    out.binding(payload, &block("unsafe {", row([launch, text("?")])));

    let written = names.params.iter().zip(&names.generics);
    let written = written.filter(|(_, generic)| generic.is_some());
    let written: Vec<_> = written.map(|(name, _)| name.clone()).collect();
    let written = match written.as_slice() {
        [] => text("()"),
        [one] => text(one),
        several => tuple(several.iter().map(text).collect()),
    };
    let value = vec![text("&on"), text(payload), written];
    out.statement(&call(format!("::gpuk::{place}::returned("), value), "");
}

/// The function that the method launches.
pub(super) fn function(bindings: &ModuleBindings, kernel: &Kernel, names: &KernelNames) -> Expr {
    match (&names.generic, variants(bindings, kernel)) {
        (Some(generic), _) => {
            let mut pieces = match path(&generic.function) {
                Expr::Row(pieces) => pieces,
                whole => vec![whole],
            };
            pieces.push(call("(", vec![text("self"), text("seal::Seal")]));
            pieces.push(text("?"));
            row(pieces)
        }
        (None, None) => member("&self", &names.method),
        (None, Some(_)) => chain(format!("self.{}", names.method), "get()?"),
    }
}

/// Nothing, one, or several in parentheses.
fn group(names: &[String]) -> Expr {
    match names {
        [] => text("()"),
        [one] => path(one),
        several => call("(", several.iter().map(|it| path(it)).collect()),
    }
}

fn is_output(param: &Param) -> bool {
    matches!(param.ty, ParamType::Pointer { mutable: true, .. })
}

/// The parameters that are passed, with their names and types.
fn inputs<'a>(
    kernel: &'a Kernel,
    names: &'a KernelNames,
    types: Types<'a>,
    root: &'a str,
    outputs: Outputs,
) -> impl Iterator<Item = (&'a Param, &'a str, String)> {
    let generics = names.params.iter().zip(&names.generics);
    let params = kernel.params.iter().zip(generics).enumerate();
    let passed =
        params.filter(move |(at, _)| !(outputs.allocates(kernel, *at) || is_length(kernel, *at)));
    passed.map(move |(_, (param, (name, generic)))| {
        let ty = match (&param.ty, generic) {
            (_, Some(generic)) => generic.clone(),
            (ParamType::Value(ty), _) => types.rust(ty),
            (ParamType::Pointer { to, .. }, _) => {
                format!("impl {}", bound(root, types, "Read", to.as_ref()))
            }
        };
        (param, name.as_str(), ty)
    })
}

/// Type parameters with what they point to.
fn generics<'a>(
    kernel: &'a Kernel,
    names: &'a KernelNames,
    outputs: Outputs,
) -> impl Iterator<Item = (&'a str, Option<&'a Type>)> {
    let params = kernel.params.iter().zip(&names.generics).enumerate();
    params.filter_map(move |(at, (param, generic))| match &param.ty {
        ParamType::Pointer { to, .. } if !outputs.allocates(kernel, at) => {
            Some((generic.as_deref()?, to.as_ref()))
        }
        _ => None,
    })
}

/// Types of what is returned, in the order of the parameters.
fn returned(
    kernel: &Kernel,
    names: &KernelNames,
    types: Types<'_>,
    root: &str,
    outputs: Outputs,
) -> Vec<String> {
    let params = kernel.params.iter().zip(&names.generics).enumerate();
    let types = params.filter_map(|(at, (param, generic))| match &param.ty {
        ParamType::Pointer { to, .. } if outputs.allocates(kernel, at) => {
            Some(allocated(types, to.as_ref(), root))
        }
        _ => generic.clone(),
    });
    types.collect()
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
