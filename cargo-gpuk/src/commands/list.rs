//! `cargo gpuk list`: the kernels with their Rust signatures.

use gpuk_build::pipeline::Depth;
use gpuk_build::report::{KernelReport, ModuleReport};

use super::kernels::{self, Done};
use crate::cli::Work;
use crate::exit::Exit;
use crate::message::KernelMessage;
use crate::ui::Shell;

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

/// Prints every kernel: name and place, signature, checks.
pub(super) fn print(done: &[Done<'_>], shell: &Shell) {
    for done in done {
        for module in &done.built.report.modules {
            for kernel in &module.kernels {
                match shell.is_json() {
                    true => shell.json(&message(done, module, kernel)),
                    false => human(module, kernel, shell),
                }
            }
        }
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
        sites: &report.sites,
    }
}

fn human(module: &ModuleReport, report: &KernelReport, shell: &Shell) {
    let KernelReport {
        kernel,
        signature,
        archs,
        sites,
    } = report;
    let (module, name, archs) = (&module.module, &kernel.name, archs.join(" "));
    shell.data(format_args!(
        "{module}::{name}  {}  [{archs}]",
        kernel.place
    ));
    shell.data(format_args!("    {signature}"));
    for site in sites {
        let (place, kind, condition) = (&site.place, site.kind, &site.condition);
        shell.data(format_args!("    {kind}({condition})  {place}"));
        if shell.is_verbose() {
            let (form, why) = (site.form, site.form.why());
            shell.data(format_args!("        {form}: {why}"));
        }
    }
}
