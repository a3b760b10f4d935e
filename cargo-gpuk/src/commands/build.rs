//! `cargo gpuk build`, and what it shares with `check`.

use std::time::Instant;

use gpuk_build::env::Env;
use gpuk_build::pipeline::Depth;
use gpuk_build::vendor;

use super::dry;
use super::kernels::{self, Done};
use crate::cli::{Build, Work};
use crate::exit::Exit;
use crate::message::ArtifactMessage;
use crate::ui::Shell;

/// Compiles and writes artifacts and wrappers.
pub(super) fn build(build: &Build, shell: &Shell) -> Exit {
    match build.dry_run {
        true => dry::dry(&build.work, shell),
        false => through(&build.work, shell, Depth::Build),
    }
}

/// To a depth, and a last line that says how it went.
pub(super) fn through(work: &Work, shell: &Shell, depth: Depth) -> Exit {
    let start = Instant::now();
    let done = kernels::workspace(work, shell).and_then(|workspace| {
        let done = kernels::build(&workspace, work, shell, depth)?;
        if depth == Depth::Check {
            vendored(&done, shell)?;
        }
        Ok(done.iter().map(|done| said(done, shell, depth)).sum())
    });
    match done {
        Ok(Summary {
            kernels,
            functions,
            refused,
        }) => {
            let took = start.elapsed().as_secs_f64();
            let verb = match depth {
                Depth::Build => "Finished",
                Depth::Check => "Checked",
            };
            let refused = match refused {
                0 => String::new(),
                refused => format!(", {refused} without a wrapper"),
            };
            let functions = match functions {
                0 => String::new(),
                1 => ", 1 host function".to_owned(),
                functions => format!(", {functions} host functions"),
            };
            let noun = if kernels == 1 { "kernel" } else { "kernels" };
            shell.status(
                verb,
                format_args!("{kernels} {noun}{refused}{functions} in {took:.2}s"),
            );
            kernels::finished(shell, Exit::Success)
        }
        Err(exit) => exit,
    }
}

/// Refuses vendored kernels that are not current: a build script would.
fn vendored(done: &[Done<'_>], shell: &Shell) -> Result<(), Exit> {
    let env = Env::of_process();
    let mut current = true;
    for Done {
        member, package, ..
    } in done
    {
        if let Some(finding) = vendor::finding(package, &env) {
            current = false;
            shell.findings(member, &package.root, &[finding]);
        }
    }
    match current {
        true => Ok(()),
        false => Err(kernels::finished(shell, Exit::Build)),
    }
}

#[derive(Default)]
struct Summary {
    kernels: usize,
    functions: usize,
    refused: usize,
}

impl std::iter::Sum for Summary {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            kernels: sum.kernels + one.kernels,
            functions: sum.functions + one.functions,
            refused: sum.refused + one.refused,
        })
    }
}

fn said(done: &Done<'_>, shell: &Shell, depth: Depth) -> Summary {
    let Done {
        member,
        package,
        built,
    } = done;
    if depth == Depth::Build {
        for path in built.report.artifacts(&package.out) {
            if shell.is_json() {
                shell.json(&ArtifactMessage {
                    reason: "gpuk-artifact",
                    package_id: &member.id,
                    path: path.to_string_lossy(),
                    fresh: built.fresh,
                });
            }
        }
        let verb = if built.fresh { "Fresh" } else { "Wrote" };
        shell.status(
            verb,
            format_args!("{} {}", member.name, package.out.display()),
        );
    }
    Summary {
        kernels: built
            .report
            .modules
            .iter()
            .map(|module| module.kernels.len())
            .sum(),
        functions: built
            .report
            .modules
            .iter()
            .map(|module| module.functions.len())
            .sum(),
        refused: built.report.refused(),
    }
}
