//! What a method's documentation says.

use super::annotated::{Outputs, is_length};
use super::bindings::ModuleBindings;
use super::docs::{listed, markdown};
use super::kernel::{is_checked, place};
use super::names::KernelNames;
use super::structure::holds_address;
use super::variant::partial;
use crate::kernel::{Kernel, ParamType};

/// Columns of a declaration on one line.
const DECLARATION: usize = 90;

/// The documentation of the method that launches a kernel.
pub(super) fn describe(
    bindings: &ModuleBindings,
    kernel: &Kernel,
    names: &KernelNames,
    outputs: Outputs,
) -> Vec<String> {
    let parts = Parts::of(bindings, kernel, names, outputs);
    let checked = is_checked(bindings, kernel);
    let mut lines = markdown(&kernel.docs);
    if lines.is_empty() {
        let what = match names.generic {
            Some(_) => "an instance of the kernel template",
            None => "the kernel",
        };
        lines.push(format!("Launches {what} `{}`.", kernel.path));
    }
    lines.push(String::new());
    lines.push(format!("Defined at `{}`:", place(kernel)));
    lines.extend(["", "```text"].map(str::to_owned));
    lines.extend(names.generic.iter().map(|it| it.header.clone()));
    lines.extend(declaration(kernel));
    lines.extend(["```", ""].map(str::to_owned));
    if let Some(generic) = &names.generic {
        lines.extend(["Its instances, and what is known of each:", ""].map(str::to_owned));
        let instances = generic.instances.iter();
        lines.extend(
            instances
                .map(|(path, constant)| format!("- `{path}`: [`{constant}`](Self::{constant});")),
        );
        lines.push(String::new());
    } else if let Some(archs) = partial(bindings, kernel) {
        let (archs, has) = (listed(&archs), &names.has);
        lines.push(format!(
            "Exists for {archs} only: elsewhere launching it is an error, and [`{has}`](Self::{has}) is `false`."
        ));
        lines.push(String::new());
    }
    lines.extend(shapes(kernel));
    lines.extend(annotations(kernel, names, outputs));
    lines.push(match parts.returned.as_slice() {
        [] => "Returns the launch's payload, without waiting for the kernel.".to_owned(),
        some => format!(
            "Returns the launch's payload and {}, without waiting for the kernel.",
            listed(some)
        ),
    });
    let payload = if checked {
        "The payload holds the first check of the kernel that failed, if one did."
    } else {
        "The kernel reports no checks: its payload never fails."
    };
    let errors = "The kernel was not launched: an argument or `launch` does not fit it, or the driver refused.";
    lines.extend([payload, "", "# Errors", "", errors, "", "# Safety", ""].map(str::to_owned));
    lines.extend(parts.promises());
    if checked {
        lines.push(String::new());
        lines.push("The kernel's checks guard against nothing but what they test.".to_owned());
    }
    lines
}

/// Parameters by what the caller must promise of them.
#[derive(Default)]
struct Parts<'a> {
    buffers: Vec<&'a str>,
    /// Those whose extents are compared.
    extents: Vec<&'a str>,
    outputs: Vec<&'a str>,
    returned: Vec<&'a str>,
    addresses: Vec<&'a str>,
    values: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(
        bindings: &ModuleBindings,
        kernel: &Kernel,
        names: &'a KernelNames,
        outputs: Outputs,
    ) -> Self {
        let mut parts = Self::default();
        let in_some = names.generic.as_ref().map_or(&[][..], |it| &it.addresses);
        for (at, (param, name)) in kernel.params.iter().zip(&names.params).enumerate() {
            let holds = match &param.ty {
                ParamType::Value(_) if is_length(kernel, at) => None,
                ParamType::Value(ty) => {
                    parts.values.push(name);
                    Some(ty)
                }
                ParamType::Pointer { to, mutable } => {
                    match kernel.annotations.extent(at) {
                        Some(_) => parts.extents.push(name),
                        None => parts.buffers.push(name),
                    }
                    if *mutable {
                        parts.returned.push(name);
                        if !outputs.allocates(kernel, at) {
                            parts.outputs.push(name);
                        }
                    }
                    to.as_ref()
                }
            };
            if in_some.contains(&at)
                || holds.is_some_and(|ty| holds_address(&bindings.signatures, ty))
            {
                parts.addresses.push(name);
            }
        }
        parts
    }

    fn promises(&self) -> Vec<String> {
        let promises = [
            (
                &self.buffers,
                "room in",
                "for all that the kernel reads and writes with this `launch`, and in it what the kernel \
                 expects to read",
            ),
            (
                &self.extents,
                "no access of the kernel beyond the extents of",
                "and in them what it expects to read",
            ),
            (
                &self.outputs,
                "no overlap of",
                "with another argument, and no use of it by others before the kernel has ended, except in \
                 the order of the stream",
            ),
            (
                &self.addresses,
                "addresses in",
                "that are the device's and stay valid until the kernel has ended",
            ),
            (&self.values, "values in", "that the kernel is made for"),
        ];
        let intro = "Rust does not see what the kernel does. The caller promises:";
        let mut lines = vec![intro.to_owned(), String::new()];
        for (names, before, after) in promises {
            if !names.is_empty() {
                lines.push(format!("- {before} {} {after};", listed(names)));
            }
        }
        let last =
            "blocks, threads and dynamic shared memory in `launch` that the kernel is made for";
        lines.push(format!("- {last}."));
        lines
    }
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
        .enumerate()
        .map(|(at, param)| match kernel.annotations.extent(at) {
            Some(extent) => format!("{} {param}", extent.shown()),
            None => param,
        })
        .collect();
    let path = &kernel.path;
    let shape = kernel.annotations.shape.as_ref();
    let mut lines: Vec<_> = shape
        .map(|shape| format!("GPUK_LAUNCH({})", shape.written))
        .into_iter()
        .collect();
    let line = format!("__global__ void {path}({})", params.join(", "));
    if line.len() <= DECLARATION {
        lines.push(line);
        return lines;
    }
    lines.push(format!("__global__ void {path}("));
    for (index, param) in params.iter().enumerate() {
        let end = if index + 1 < params.len() { "," } else { ")" };
        lines.push(format!("    {param}{end}"));
    }
    lines
}

/// What the wrapper does because of annotations.
fn annotations(kernel: &Kernel, names: &KernelNames, outputs: Outputs) -> Vec<String> {
    let annotations = &kernel.annotations;
    let name = |at: usize| names.params[at].as_str();
    let mut lines = Vec::new();
    for at in 0..kernel.params.len() {
        let of = annotations.lengths(at);
        let of: Vec<_> = of.into_iter().map(name).collect();
        if !of.is_empty() {
            let all = if of.len() > 1 {
                "all of one length, "
            } else {
                ""
            };
            lines.push(format!(
                "`{}` is the length of {}, {all}and not passed.",
                kernel.params[at].name,
                listed(&of)
            ));
        }
    }
    let allocated = (0..kernel.params.len()).filter(|at| annotations.is_allocated(*at));
    let allocated: Vec<_> = allocated.map(name).collect();
    if !allocated.is_empty() {
        let listed = listed(&allocated);
        lines.push(match outputs {
            Outputs::Allocated => format!(
                "Allocates {listed} on the stream; [`{0}`](Self::{0}) is passed it instead.",
                names.into
            ),
            Outputs::Passed => format!(
                "As [`{0}`](Self::{0}), except that it is passed {listed}.",
                names.method
            ),
        });
    }
    if !annotations.extents.is_empty() {
        lines.push("Buffers shorter than their extents are refused.".to_owned());
    }
    if let Some(shape) = &annotations.shape {
        let shared = if shape.shared.is_some() {
            ", with its dynamic shared memory"
        } else {
            ""
        };
        lines.push(format!(
            "Launched in the annotated shape{shared}; `(&stream, launch)` for `on` launches it in another. \
             An empty grid launches nothing: buffers keep what is in them, and new ones are zero."
        ));
    }
    if !lines.is_empty() {
        lines.push(String::new());
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
    } else if bounds.explicit_cluster {
        lines.push(
            "The driver refuses a launch without the shape of a cluster, which wrappers do not pass on: \
             say it in the source, `__cluster_dims__(x, y, z)`."
                .to_owned(),
        );
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}
