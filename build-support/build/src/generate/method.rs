//! The method that launches a kernel.

use super::bindings::ModuleBindings;
use super::docs::{listed, markdown};
use super::ident::plain;
use super::image::quoted;
use super::kernel::{is_checked, place};
use super::names::{KernelNames, Names};
use super::out::{self, Expr, Out, block, call, row, text, tuple};
use super::structure::holds_address;
use super::types::Types;
use crate::kernel::{Kernel, Param, ParamType, Signatures, Type};

/// A kernel's Rust signature on one line, its types unqualified.
pub fn signature(signatures: &Signatures, kernel: &Kernel) -> String {
    let all = Names::of(signatures);
    let Some(names) = all.kernel(kernel) else {
        return kernel.path.clone();
    };
    let types = Types::short(&all);
    let generics = generics(kernel, names)
        .map(|(name, to)| format!("{name}: {}", bound("", types, "Write", to)));
    let generics: Vec<_> = generics.collect();
    let generics = match generics.as_slice() {
        [] => String::new(),
        some => format!("<{}>", some.join(", ")),
    };
    let inputs = inputs(kernel, names, types, "");
    let inputs: String = inputs.map(|(name, ty)| format!(", {name}: {ty}")).collect();
    let outputs = group(&names.generics.iter().flatten().cloned().collect::<Vec<_>>());
    let outputs = outputs.flat().unwrap_or_default();
    format!(
        "unsafe fn {}{generics}(&self, stream: &Arc<CudaStream>, launch: impl Into<Launch>{inputs}) \
         -> Result<(ErrorPayload, {outputs}), LaunchError>",
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
    document(out, bindings, kernel, names);
    out.line("#[track_caller]");
    let outputs: Vec<_> = names.generics.iter().flatten().cloned().collect();

    let method = &names.method;
    let head = match outputs.as_slice() {
        [] => text(format!("pub unsafe fn {method}")),
        some => {
            let some = some.iter().map(text).collect();
            out::generics(format!("pub unsafe fn {method}<"), some)
        }
    };
    let mut arguments = vec![
        text("&self"),
        text("stream: &::std::sync::Arc<::gpuk::CudaStream>"),
        text("launch: impl ::std::convert::Into<::gpuk::Launch>"),
    ];
    let kinds = kernel.params.iter();
    arguments.extend(kinds.zip(inputs(kernel, names, types, "::gpuk::")).map(
        |(param, (name, ty))| {
            let mutable = if is_output(param) { "mut " } else { "" };
            match split_bound(&ty) {
                Some((open, item)) => out::bound(format!("{mutable}{name}: {open}"), text(item)),
                None => text(format!("{mutable}{name}: {ty}")),
            }
        },
    ));
    let result = out::result(
        ") -> ::std::result::Result<",
        vec![
            call("(", vec![text("::gpuk::ErrorPayload"), group(&outputs)]),
            text("::gpuk::LaunchError"),
        ],
    );
    let bounds: Vec<_> = generics(kernel, names)
        .map(|(name, to)| format!("{name}: {},", bound("::gpuk::", types, "Write", to)))
        .collect();

    out.statement(&row([head, text("(")]), "");
    out.indented(|out| arguments.iter().for_each(|it| out.statement(it, ",")));
    if bounds.is_empty() {
        out.statement(&result, " {");
    } else {
        out.statement(&result, "");
        out.line("where");
        out.indented(|out| bounds.iter().for_each(|it| out.line(it)));
        out.line("{");
    }
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
                let label = quoted(plain(name));
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
            text(format!("&self.{}", names.method)),
            text("stream"),
            text("launch.into()"),
            call("[", passes),
        ],
    );
    let payload = &names.payload;
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
    let value = call("(", vec![text(payload), outputs]);
    out.statement(&call("Ok(", vec![value]), "");
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

fn document(out: &mut Out, bindings: &ModuleBindings, kernel: &Kernel, names: &KernelNames) {
    let mut lines = markdown(&kernel.docs);
    if lines.is_empty() {
        lines.push(format!("Launches the kernel `{}`.", kernel.path));
    }
    lines.extend([
        String::new(),
        format!("Defined at `{}`:", place(kernel)),
        String::new(),
    ]);
    lines.push("```text".to_owned());
    lines.extend(declaration(kernel));
    lines.push("```".to_owned());
    lines.push(String::new());
    lines.extend(shapes(kernel));

    let of = |want: &dyn Fn(&Param) -> bool| -> Vec<&str> {
        let params = kernel.params.iter().zip(&names.params);
        params
            .filter(|(it, _)| want(it))
            .map(|(_, name)| name.as_str())
            .collect()
    };
    let outputs = of(&is_output);
    let checked = is_checked(bindings, kernel);
    lines.push(match outputs.as_slice() {
        [] => "Returns the launch's payload, without waiting for the kernel.".to_owned(),
        some => format!(
            "Returns the launch's payload and {}, without waiting for the kernel.",
            listed(some)
        ),
    });
    lines.push(if checked {
        "The payload holds the first check of the kernel that failed, if one did.".to_owned()
    } else {
        "The kernel reports no checks: its payload never fails.".to_owned()
    });
    lines.extend([
        String::new(),
        "# Errors".to_owned(),
        String::new(),
        "The kernel was not launched: an argument or `launch` does not fit it, or the driver refused."
            .to_owned(),
        String::new(),
        "# Safety".to_owned(),
        String::new(),
    ]);
    lines.extend(promises(bindings, kernel, &outputs, &of));
    out.docs(lines);
}

/// What the caller must promise.
fn promises<'a>(
    bindings: &ModuleBindings,
    kernel: &Kernel,
    outputs: &[&str],
    of: &dyn Fn(&dyn Fn(&Param) -> bool) -> Vec<&'a str>,
) -> Vec<String> {
    let buffers = of(&|it| matches!(it.ty, ParamType::Pointer { .. }));
    let values = of(&|it| matches!(it.ty, ParamType::Value(_)));
    let addresses = of(&|it| match &it.ty {
        ParamType::Value(ty) | ParamType::Pointer { to: Some(ty), .. } => {
            holds_address(&bindings.signatures, ty)
        }
        ParamType::Pointer { to: None, .. } => false,
    });
    let mut lines = vec!["Rust does not see what the kernel does. The caller promises:".to_owned()];
    lines.push(String::new());
    if !buffers.is_empty() {
        lines.push(format!(
            "- {} reach as far as the kernel reads and writes with this `launch`, and hold what it \
             expects where it reads;",
            listed(&buffers)
        ));
    }
    if !outputs.is_empty() {
        lines.push(format!(
            "- {} overlap no other argument, and nothing outside `stream`'s order touches them before \
             the kernel ends;",
            listed(outputs)
        ));
    }
    if !addresses.is_empty() {
        lines.push(format!(
            "- the addresses in {} are the device's, and stay valid until the kernel ends;",
            listed(&addresses)
        ));
    }
    if !values.is_empty() {
        lines.push(format!(
            "- {} have values the kernel is made for;",
            listed(&values)
        ));
    }
    lines.push(
        "- `launch` has the blocks, threads and dynamic shared memory the kernel is made for."
            .to_owned(),
    );
    if is_checked(bindings, kernel) {
        lines.push(String::new());
        lines.push("The kernel's checks report only what they test.".to_owned());
    }
    lines
}

/// The C++ declaration; one parameter a line where it is long.
fn declaration(kernel: &Kernel) -> Vec<String> {
    let params: Vec<_> = kernel
        .params
        .iter()
        .map(|it| {
            let blank = if it.declared.ends_with(['*', '&']) {
                ""
            } else {
                " "
            };
            format!("{}{blank}{}", it.declared, it.name)
        })
        .collect();
    let path = &kernel.path;
    let line = format!("__global__ void {path}({})", params.join(", "));
    if line.len() <= 90 {
        return vec![line];
    }
    let mut lines = vec![format!("__global__ void {path}(")];
    for (index, param) in params.iter().enumerate() {
        let end = if index + 1 < params.len() { "," } else { ")" };
        lines.push(format!("    {param}{end}"));
    }
    lines
}

/// What the declaration says about the launch.
fn shapes(kernel: &Kernel) -> Vec<String> {
    let bounds = &kernel.bounds;
    let shape = |[x, y, z]: [u32; 3]| format!("{x} × {y} × {z}");
    let mut lines = Vec::new();
    if let Some(block) = bounds.exact_block {
        lines.push(format!("A block has exactly {} threads.", shape(block)));
    } else if let Some(threads) = bounds.max_threads {
        lines.push(format!("A block has at most {threads} threads."));
    }
    if let Some(cluster) = bounds.cluster {
        lines.push(format!("A cluster has {} blocks.", shape(cluster)));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}
