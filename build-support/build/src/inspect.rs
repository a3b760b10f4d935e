//! What a stage of the pipeline made of one source for one architecture, for people to read.
//!
//! What is kept comes from the store and is made if it is not there; nothing but the store is written. Signatures are in the
//! report, wrappers in the generated file.

use std::path::{Path, PathBuf};

use gpuk_ptx::Module;

use crate::config::Arch;
use crate::diagnostic::Diagnostic;
use crate::discover::{Sources, discover};
use crate::env::Env;
use crate::fs;
use crate::make::{self, Plan};
use crate::package::Package;
use crate::pipeline::{self, BuildError};
use crate::progress::Progress;
use crate::run::ToolCommand;
use crate::unit::{Job, Shop};
use crate::work;

/// A stage whose result is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// What the device compiler reads.
    Preprocessed,
    /// The PTX that it prints.
    Compiled,
    /// The PTX that ships, checks made records.
    Checked,
    /// The machine code in the cubin, disassembled.
    Sass,
}

impl Stage {
    /// Whether it knows sources alone, not yet what they are linked into.
    #[must_use]
    pub fn is_of_parts(self) -> bool {
        matches!(self, Self::Preprocessed | Self::Compiled)
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Of which stage.
    pub stage: Stage,
    /// A source relative to its package, or the name of a module that several are linked into.
    pub source: &'a Path,
    /// The symbol of the kernel that is wanted of it; `None` for all.
    pub entry: Option<&'a str>,
}

/// A stage's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// What it is for: the lowest of the package's architectures. `sm_80`.
    pub arch: String,
    /// The text; what is no Unicode in it is replaced.
    pub text: String,
}

/// Nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// It cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The toolkit is one without the disassembler.
    #[error("`nvdisasm` was not found")]
    NoDisassembler,
    /// The package has no such source for any of its architectures.
    #[error("`{}` is compiled for none of the architectures", .0.display())]
    NoSource(PathBuf),
    /// The kernel is not compiled for the architecture.
    #[error("`{entry}` is not compiled for `{arch}`")]
    NoEntry {
        /// The symbol.
        entry: String,
        /// `sm_80`.
        arch: String,
    },
}

/// Takes or makes what is asked for; `findings` are those of the package's configuration.
///
/// # Errors
/// See [`InspectError`].
pub fn inspect(
    package: &Package,
    env: &Env,
    progress: &dyn Progress,
    request: Request<'_>,
    mut findings: Vec<Diagnostic>,
) -> Result<Inspected, InspectError> {
    let sources = discover(package, &mut findings).map_err(BuildError::from)?;
    let place = (package, env, progress);
    pipeline::with_shop(place, &sources, findings, |shop, _| {
        match one(&sources, shop, env, request) {
            Err(InspectError::Build(error)) => Err(error),
            inspected => Ok(inspected),
        }
    })?
}

fn one(
    sources: &Sources,
    shop: &Shop<'_>,
    env: &Env,
    request: Request<'_>,
) -> Result<Inspected, InspectError> {
    let plan = Plan::new(sources, shop);
    // By architecture, lowest first.
    let mut jobs = plan.jobs.iter().chain(&plan.links);
    let job = jobs.find(|job| job.source.path == request.source);
    let job = job.ok_or_else(|| InspectError::NoSource(request.source.to_owned()))?;
    work::begin(shop.work).map_err(BuildError::from)?;
    let text = made(&plan, job, shop, env, request.stage);
    work::end(shop.work).map_err(BuildError::from)?;
    let text = String::from_utf8_lossy(&text?).into_owned();
    Ok(Inspected {
        text: match request.entry {
            None => text,
            Some(entry) => part(&text, request.stage, entry, job.arch)?,
        },
        arch: job.arch.sm(),
    })
}

fn made(
    plan: &Plan<'_>,
    job: &Job<'_>,
    shop: &Shop<'_>,
    env: &Env,
    stage: Stage,
) -> Result<Vec<u8>, InspectError> {
    Ok(match stage {
        Stage::Preprocessed => job.preprocessed(shop).map_err(make::fatal)?,
        Stage::Compiled => job.compiled(shop).map_err(make::fatal)?.into_bytes(),
        Stage::Checked => make::one(plan, job, shop)?.ptx,
        Stage::Sass => {
            let program = disassembler(shop.tools.root(), env);
            let program = program.ok_or(InspectError::NoDisassembler)?;
            disassembled(&program, &make::one(plan, job, shop)?.cubin, job, shop)?
        }
    })
}

/// The toolkit's own, else that of `PATH`.
fn disassembler(toolkit: &Path, env: &Env) -> Option<PathBuf> {
    let name = format!("nvdisasm{}", std::env::consts::EXE_SUFFIX);
    let path = env.get("PATH").map(std::env::split_paths);
    let folders = [toolkit.join("bin")].into_iter();
    let mut files = folders.chain(path.into_iter().flatten());
    files.find_map(|folder| Some(folder.join(&name)).filter(|file| file.is_file()))
}

fn disassembled(
    program: &Path,
    cubin: &[u8],
    job: &Job<'_>,
    shop: &Shop<'_>,
) -> Result<Vec<u8>, BuildError> {
    let file = shop.work.join(format!("{}.cubin", job.arch.sm()));
    fs::write_private(&file, cubin)?;
    // Code alone, without the sections of data and debug information.
    let command = ToolCommand::new(program).arg("-c").arg(&file);
    shop.progress.running(&command);
    Ok(command.run()?.stdout)
}

/// What is an entry's own: its function, or its section of the machine code.
fn part(text: &str, stage: Stage, entry: &str, arch: Arch) -> Result<String, InspectError> {
    let found = match stage {
        Stage::Preprocessed => None,
        Stage::Compiled | Stage::Checked => {
            let module = Module::parse(text).ok();
            module.and_then(|it| Some(it.at(it.entry(entry)?.span).to_owned()))
        }
        Stage::Sass => section(text, entry),
    };
    found.ok_or_else(|| InspectError::NoEntry {
        entry: entry.to_owned(),
        arch: arch.sm(),
    })
}

/// The lines from the heading `//---- .text.NAME ----` on, as far as to the next heading.
fn section(text: &str, entry: &str) -> Option<String> {
    let heading = |line: &&str| line.starts_with("//---");
    let own = format!(".text.{entry}");
    let mut lines = text.lines();
    let first = lines.find(|line| heading(line) && line.split(' ').any(|word| word == own))?;
    let rest = lines.take_while(|line| !heading(line));
    let lines: Vec<_> = [first].into_iter().chain(rest).collect();
    Some(lines.join("\n").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::section;

    /// Printed by nvdisasm 13.5, instructions left out.
    const SAID: &str = "\t.target\tsm_80\n\n//--------------------- .text._Z5otherPi          --------------------------\n\
                        \t.section\t.text._Z5otherPi,\"ax\",@progbits\n_Z5otherPi:\n\n\n\
                        //--------------------- .text.set                 --------------------------\n\
                        \t.section\t.text.set,\"ax\",@progbits\nset:\n";

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let other = section(SAID, "_Z5otherPi").unwrap();
        assert!(
            other.starts_with("//---") && other.ends_with("\n_Z5otherPi:"),
            "{other}"
        );
        assert!(section(SAID, "set").unwrap().ends_with("\nset:"));
        assert_eq!(section(SAID, "se"), None);
    }
}
