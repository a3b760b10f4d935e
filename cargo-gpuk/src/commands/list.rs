//! `cargo gpuk list`: the kernels, what they take of a multiprocessor, their Rust signatures and their checks;
//! host functions and theirs; the variables that have handles; what holds for all of a package.

use std::collections::HashSet;

use anstyle::Style;
use gpuk_build::kernel::{Memory, Symbol};
use gpuk_build::pipeline::Depth;
use gpuk_build::report::{KernelReport, ModuleReport};
use gpuk_build::resources::Resources;

use super::kernels::{self, Done};
use super::summary;
use crate::cli::Work;
use crate::exit::Exit;
use crate::message::{FunctionMessage, KernelMessage, VariableMessage};
use crate::ui::Shell;

/// Of a name or a heading.
const HEAD: Style = Style::new().bold();

/// Columns that lines are kept to.
const WIDTH: usize = 100;

/// Columns of a name beside its numbers.
const NAME: usize = 36;

/// Prints every kernel of the selected packages; compiles what has to be compiled for that.
pub(super) fn list(work: &Work, shell: &Shell) -> Exit {
    let listed = kernels::workspace(work, shell).and_then(|workspace| {
        let done = kernels::build(&workspace, work, shell, Depth::Check)?;
        print(&done, shell);
        Ok(())
    });
    match listed {
        Ok(()) => kernels::finished(shell, Exit::Success),
        Err(exit) => exit,
    }
}

/// Prints every kernel: resources, name and place, signature, checks.
pub(super) fn print(done: &[Done<'_>], shell: &Shell) {
    let mut first = true;
    for done in done {
        for module in &done.built.report.modules {
            if !shell.is_json() {
                // A host function begins with an empty line of its own.
                if !first && !module.kernels.is_empty() {
                    shell.data("");
                }
                first = false;
                human(module, shell);
                continue;
            }
            for kernel in &module.kernels {
                shell.json(&message(done, module, kernel));
            }
            for report in &module.functions {
                shell.json(&FunctionMessage {
                    reason: "gpuk-function",
                    package_id: &done.member.id,
                    source: module.source.to_string_lossy(),
                    module: &module.module,
                    signature: &report.signature,
                    function: &report.function,
                });
            }
            for symbol in &module.symbols {
                shell.json(&VariableMessage {
                    reason: "gpuk-variable",
                    package_id: &done.member.id,
                    source: module.source.to_string_lossy(),
                    module: &module.module,
                    name: &symbol.name,
                    ty: &symbol.declared,
                    memory: symbol.memory,
                    size: symbol.size,
                    variable: symbol,
                });
            }
        }
        summary::print(done, shell);
    }
}

fn message<'a>(
    done: &'a Done<'_>,
    module: &'a ModuleReport,
    report: &'a KernelReport,
) -> KernelMessage<'a> {
    KernelMessage {
        reason: "gpuk-kernel",
        package_id: &done.member.id,
        // JSON has no other text than Unicode.
        source: module.source.to_string_lossy(),
        module: &module.module,
        signature: &report.signature,
        kernel: &report.kernel,
        archs: &report.archs,
        resources: &report.resources,
        sites: &report.sites,
    }
}

/// A table of what the module's kernels take, then each kernel with its signature and its checks.
fn human(module: &ModuleReport, shell: &Shell) {
    if !module.kernels.is_empty() {
        shell.data(table(&module.kernels));
    }
    for report in &module.kernels {
        let KernelReport {
            kernel, signature, ..
        } = report;
        let (module, name) = (&module.module, &kernel.name);
        shell.data(format_args!(
            "\n{HEAD}{module}::{name}{HEAD:#}  {}",
            kernel.place
        ));
        if kernel.path != *name {
            shell.data(format_args!("    {}", kernel.path));
        }
        shell.data(wrapped(signature));
        let mut seen = HashSet::new();
        for site in &report.sites {
            let (place, kind, condition) = (&site.place, site.kind, &site.condition);
            // A check has an entry for each way that it was inlined.
            if !seen.insert((kind, place, condition)) && !shell.is_verbose() {
                continue;
            }
            let within = match &*site.function {
                "" => String::new(),
                function => format!(", in `{function}`"),
            };
            shell.data(format_args!("    {kind}({condition})  {place}{within}"));
            if shell.is_verbose() {
                for call in &site.calls {
                    shell.data(format_args!("        called from {call}"));
                }
                let (form, why) = (site.form, site.form.why());
                shell.data(format_args!("        {form}: {why}"));
            }
        }
    }
    for report in &module.functions {
        let (module, function) = (&module.module, &report.function);
        shell.data(format_args!(
            "\n{HEAD}{module}::{}{HEAD:#}  {}",
            function.name, function.place
        ));
        shell.data(wrapped(&report.signature));
    }
    if !module.symbols.is_empty() {
        shell.data(format_args!("\n{}", variables(&module.symbols)));
    }
}

/// Where the variables lie, and of what type they are.
fn variables(symbols: &[Symbol]) -> String {
    let longest = symbols.iter().map(|it| it.name.chars().count()).max();
    let room = longest.unwrap_or(0).clamp("variable".len(), NAME);
    let mut text = format!(
        "{HEAD}{:room$}  {:<8}  {:>8}  type{HEAD:#}",
        "variable", "memory", "bytes"
    );
    for symbol in symbols {
        let memory = match symbol.memory {
            Memory::Constant => "constant",
            Memory::Global => "global",
        };
        let Symbol {
            name,
            size,
            declared,
            ..
        } = symbol;
        text += &format!("\n{name:room$}  {memory:<8}  {size:>8}  {declared}");
    }
    text
}

/// What the kernels take for each architecture; a name that leaves no room for the numbers has a line of its own.
pub(super) fn table(kernels: &[KernelReport]) -> String {
    let longest = kernels.iter().map(|it| it.kernel.name.chars().count());
    let room = longest
        .filter(|length| *length <= NAME)
        .max()
        .map_or(NAME, |length| length.max("kernel".len()));
    let mut text = format!(
        "{HEAD}{:room$}  {:<8}  {:>9}  {:>8}  {:>7}  {:>13}  {:>6}{HEAD:#}",
        "kernel", "arch", "registers", "shared", "stack", "spilled", "checks"
    );
    for report in kernels {
        let mut name = report.kernel.name.as_str();
        if name.chars().count() > room {
            text += &format!("\n{name}");
            name = "";
        }
        for arch in &report.archs {
            let found = report.resources.iter().find(|it| it.arch == *arch);
            let [registers, shared, stack, spilled] =
                found.map_or_else(|| ["?"; 4].map(str::to_owned), |it| numbers(&it.resources));
            let checks = report.sites.len();
            text += &format!(
                "\n{name:room$}  {arch:<8}  {registers:>9}  {shared:>8}  {stack:>7}  {spilled:>13}  {checks:>6}"
            );
            name = "";
        }
    }
    text
}

fn numbers(resources: &Resources) -> [String; 4] {
    let Resources {
        registers,
        shared,
        stack,
        spill_stores,
        spill_loads,
    } = resources;
    let spilled = match spill_stores + spill_loads {
        0 => "0".to_owned(),
        _ => format!("{spill_stores}+{spill_loads}"),
    };
    [
        registers.to_string(),
        shared.to_string(),
        stack.to_string(),
        spilled,
    ]
}

/// A signature, broken behind commas.
fn wrapped(signature: &str) -> String {
    let mut text = String::from("    ");
    let mut column = 4;
    for piece in signature.split_inclusive(", ") {
        let length = piece.trim_end().chars().count();
        if column + length > WIDTH && column > 8 {
            text.truncate(text.trim_end().len());
            text += "\n        ";
            column = 8;
        }
        text += piece;
        column += piece.chars().count();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_signature_is_broken_behind_commas() {
        let short = "unsafe fn f(&self, n: i32)";
        assert_eq!(wrapped(short), format!("    {short}"));
        let params: Vec<_> = (0..30).map(|index| format!("p{index}: i32")).collect();
        let text = wrapped(&format!("unsafe fn f({})", params.join(", ")));
        assert!(text.lines().count() > 1);
        for line in text.lines() {
            assert!(
                line.chars().count() <= WIDTH && line == line.trim_end(),
                "{line:?}"
            );
        }
        let joined = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        assert_eq!(joined, format!("unsafe fn f({})", params.join(", ")));
    }
}
