//! `cargo gpuk sim-support`: what the simulator lacks for each kernel, without running it.

use std::path::Path;
use std::sync::Arc;

use cargo_metadata::PackageId;
use gpuk_build::error::chain;
use gpuk_build::fs;
use gpuk_build::pipeline::Depth;
use gpuk_build::report::ModuleReport;
use gpuk_sim::{Device, Function, Module, Options};

use super::kernels::{self, Done};
use crate::cli::SimSupport;
use crate::exit::Exit;
use crate::message::{SupportMessage, UnsupportedMessage};
use crate::ui::Shell;

/// Lists what is lacking; builds the kernels first, unless files are named.
pub(super) fn support(support: &SimSupport, shell: &Shell) -> Exit {
    let mut summary = Summary::default();
    let listed = match support.files.as_slice() {
        [] => packages(support, shell, &mut summary),
        files => (files.iter()).try_for_each(|file| named(file, shell, &mut summary)),
    };
    if let Err(exit) = listed {
        return exit;
    }
    shell.status("Finished", summary.text());
    let exit = match summary.lacking + summary.refused {
        0 => Exit::Success,
        _ => Exit::Findings,
    };
    kernels::finished(shell, exit)
}

#[derive(Default)]
struct Summary {
    kernels: usize,
    /// Kernels with instructions that the simulator does not have.
    lacking: usize,
    instructions: usize,
    without_place: usize,
    /// Modules that it does not load.
    refused: usize,
}

impl Summary {
    fn text(&self) -> String {
        let noun = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let kernels = noun(self.kernels, "kernel");
        let refused = match self.refused {
            0 => String::new(),
            refused => format!(", {} that cannot be loaded", noun(refused, "module")),
        };
        match self.lacking {
            0 if self.refused > 0 => kernels + &refused,
            0 => format!("{kernels}: the simulator has every instruction"),
            lacking => {
                let lines = match self.without_place {
                    0 => "",
                    _ => {
                        "\n             (their lines are known where kernels are compiled with `flags = [\"-lineinfo\"]`)"
                    }
                };
                format!(
                    "{kernels}, {lacking} with {} that the simulator does not have{refused}{lines}",
                    noun(self.instructions, "instruction")
                )
            }
        }
    }
}

/// PTX, and whose it is.
struct Source<'a> {
    package: Option<&'a PackageId>,
    /// The package's folder, which places are relative to.
    root: &'a Path,
    /// The `.cu` file, or the PTX where no package is.
    source: &'a Path,
    /// The wrapper's module and its kernels.
    module: Option<&'a ModuleReport>,
    ptx: &'a Path,
}

fn packages(support: &SimSupport, shell: &Shell, summary: &mut Summary) -> Result<(), Exit> {
    let workspace = kernels::workspace(&support.work, shell)?;
    for done in kernels::build(&workspace, &support.work, shell, Depth::Build)? {
        let Done {
            member,
            package,
            built,
        } = &done;
        for module in &built.report.modules {
            let images = module
                .images
                .iter()
                .map(|image| package.out.join(&image.file));
            for ptx in images.filter(|path| path.extension().is_some_and(|is| is == "ptx")) {
                let source = Source {
                    package: Some(&member.id),
                    root: &package.root,
                    source: &module.source,
                    module: Some(module),
                    ptx: &ptx,
                };
                look(&source, shell, summary)?;
            }
        }
    }
    Ok(())
}

fn named(file: &Path, shell: &Shell, summary: &mut Summary) -> Result<(), Exit> {
    let source = Source {
        package: None,
        root: Path::new(""),
        source: file,
        module: None,
        ptx: file,
    };
    look(&source, shell, summary)
}

fn look(source: &Source<'_>, shell: &Shell, summary: &mut Summary) -> Result<(), Exit> {
    let text = fs::read(source.ptx).map_err(|error| {
        shell.error(chain(&error));
        kernels::finished(shell, Exit::Internal)
    })?;
    // Whatever the device, it is instructions that are asked for.
    let options = Options {
        capability: (u32::from(u16::MAX), 0),
        ..Options::default()
    };
    let loaded = Arc::new(Device::new(options)).load(&String::from_utf8_lossy(&text));
    match loaded {
        Ok(module) => list(source, &module, shell, summary),
        Err(error) => {
            summary.refused += 1;
            let error = error.to_string().replace('\n', "\n  ");
            shell.error(format_args!(
                "{}: the simulator does not load it\n  {error}",
                source.ptx.display()
            ));
        }
    }
    Ok(())
}

fn list(source: &Source<'_>, module: &Arc<Module>, shell: &Shell, summary: &mut Summary) {
    for function in module.functions() {
        let lacking = lacking(&function, source.root);
        summary.kernels += 1;
        summary.lacking += usize::from(!lacking.is_empty());
        summary.instructions += lacking.len();
        summary.without_place += lacking.iter().filter(|one| one.place.is_none()).count();
        if shell.is_json() {
            shell.json(&SupportMessage {
                reason: "gpuk-sim-support",
                package_id: source.package,
                source: source.source.to_string_lossy(),
                entry: function.name(),
                arch: module.target(),
                unsupported: lacking,
            });
        } else if !lacking.is_empty() || shell.is_verbose() {
            human(source, &function, &lacking, shell);
        }
    }
}

/// The instructions, each once at a place.
fn lacking(function: &Function, root: &Path) -> Vec<UnsupportedMessage> {
    let mut list: Vec<UnsupportedMessage> = Vec::new();
    for mut found in function.unsupported() {
        if let Some(place) = &mut found.place {
            let frames = place.inlined_at.iter_mut().map(|frame| &mut frame.file);
            for file in frames.chain([&mut place.file]) {
                if let Ok(inside) = Path::new(&*file).strip_prefix(root) {
                    *file = inside.to_string_lossy().into_owned();
                }
            }
        }
        let same = (list.iter_mut()).find(|known| {
            known.place == found.place && opcode(&known.instruction) == opcode(&found.instruction)
        });
        match same {
            Some(known) => known.times += 1,
            None => list.push(UnsupportedMessage {
                instruction: found.instruction,
                times: 1,
                place: found.place,
            }),
        }
    }
    list
}

/// An instruction without its guard and operands.
fn opcode(instruction: &str) -> &str {
    let mut words = instruction
        .split([' ', ';'])
        .filter(|word| !word.is_empty());
    words
        .find(|word| !word.starts_with('@'))
        .unwrap_or_default()
}

/// As `list` draws a kernel.
fn human(source: &Source<'_>, function: &Function, lacking: &[UnsupportedMessage], shell: &Shell) {
    let arch = function.module().target();
    let known = source.module.and_then(|module| {
        let kernels = module.kernels.iter().map(|report| &report.kernel);
        let kernel = kernels
            .clone()
            .find(|kernel| kernel.entry == function.name())?;
        Some(format!(
            "{}::{}  {}",
            module.module, kernel.name, kernel.place
        ))
    });
    let title =
        known.unwrap_or_else(|| format!("{}  {}", function.name(), source.source.display()));
    shell.data(format_args!("{title}  [{arch}]"));
    for one in lacking {
        let place = one.place.as_ref().map(|place| format!("  {place}"));
        let times = match one.times {
            1 => String::new(),
            times => format!("  {times} times"),
        };
        shell.data(format_args!(
            "    {}{}{times}",
            opcode(&one.instruction),
            place.unwrap_or_default()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::opcode;

    #[test]
    fn an_opcode_stands_behind_the_guard() {
        assert_eq!(
            opcode("@!%p1 tex.1d.v4.f32.s32 {%f1}, [%rd1];"),
            "tex.1d.v4.f32.s32"
        );
        assert_eq!(opcode("exit;"), "exit");
    }
}
