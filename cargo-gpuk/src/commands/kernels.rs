//! What `build`, `check`, `list` and `run` share: the kernels of every selected package, through the pipeline.

use std::path::Path;

use cargo_metadata::Package as Member;
use gpuk_build::diagnostic::{Diagnostic, Level};
use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::package::Package;
use gpuk_build::pipeline::{self, BuildError, Built, Depth};
use gpuk_build::pool::Tokens;

use crate::cli::{Compilation, Work};
use crate::exit::Exit;
use crate::headers;
use crate::message::Finished;
use crate::ui::{Bar, Shell};
use crate::workspace::Workspace;

/// One package's kernels, built.
pub(super) struct Done<'w> {
    pub(super) member: &'w Member,
    pub(super) package: Package,
    pub(super) built: Built,
}

/// Loads the workspace; a failure is reported.
pub(super) fn workspace(work: &Work, shell: &Shell) -> Result<Workspace, Exit> {
    let workspace = Workspace::load(&work.selection, &work.compilation).map_err(|error| {
        shell.error(&error);
        finished(shell, Exit::Metadata)
    })?;
    shell.set_base(workspace.root());
    if let Some(idle) = workspace.idle() {
        shell.warn(idle);
    }
    Ok(workspace)
}

/// Builds the kernels of the selected packages; everything that fails is reported, and the rest still built.
pub(super) fn build<'w>(
    workspace: &'w Workspace,
    work: &Work,
    shell: &Shell,
    depth: Depth,
) -> Result<Vec<Done<'w>>, Exit> {
    let env = Env::of_process();
    let tokens = work
        .compilation
        .jobs
        .map_or_else(Tokens::of_machine, Tokens::fixed);
    let (mut done, mut failed, mut with_kernels) = (Vec::new(), None, 0);
    for member in workspace.packages() {
        let read = (workspace, member, &work.compilation);
        match one(read, &env, &tokens, shell, depth) {
            Ok(None) => {}
            Ok(Some(one)) => {
                with_kernels += 1;
                done.push(one);
            }
            Err(exit) => {
                with_kernels += 1;
                // The first says it best: the rest often follows from it.
                failed.get_or_insert(exit);
            }
        }
    }
    if with_kernels == 0 {
        return Err(nothing_selected(shell));
    }
    match failed {
        None => Ok(done),
        Some(exit) => Err(finished(shell, exit)),
    }
}

/// Says that no selected package has kernels.
pub(super) fn nothing_selected(shell: &Shell) -> Exit {
    if shell.is_part() {
        return Exit::NothingSelected;
    }
    shell.error("no selected package has kernels");
    shell.say("  kernels are found by the patterns of `[package.metadata.gpuk] kernels`,\n  by default `kernels/**/*.cu` and `src/**/*.cu`");
    finished(shell, Exit::NothingSelected)
}

fn one<'w>(
    (workspace, member, compilation): (&Workspace, &'w Member, &Compilation),
    env: &Env,
    tokens: &Tokens,
    shell: &Shell,
    depth: Depth,
) -> Result<Option<Done<'w>>, Exit> {
    let mut findings = Vec::new();
    let read = package(workspace, member, compilation, env, shell, &mut findings)?;
    let Some(package) = read else {
        return Ok(None);
    };
    let bar = Bar::new(shell);
    let result = pipeline::build(&package, env, tokens, &bar, depth, findings);
    bar.clear();
    match result {
        Ok(built) => {
            shell.findings(member, &package.root, &built.report.findings);
            Ok(Some(Done {
                member,
                package,
                built,
            }))
        }
        Err(error) => Err(report(member, &package.root, &error, shell)),
    }
}

/// The package as it is configured, if it has kernels; nothing is compiled.
pub(super) fn package(
    workspace: &Workspace,
    member: &Member,
    compilation: &Compilation,
    env: &Env,
    shell: &Shell,
    findings: &mut Vec<Diagnostic>,
) -> Result<Option<Package>, Exit> {
    let profile = workspace.profile(compilation).map_err(|error| {
        shell.error(&error);
        Exit::Metadata
    })?;
    let manifest = member.manifest_path.as_std_path();
    let read = Package::read(manifest, workspace.out(member), profile, env, findings);
    let mut package = read.map_err(|error| {
        shell.error(&error);
        Exit::Metadata
    })?;
    if let Err(error) = package.config.set_archs(&compilation.arch) {
        shell.error(format_args!("`--arch`: {error}"));
        return Err(Exit::Usage);
    }
    package.config.memory = compilation.memory.or(package.config.memory);
    package.config.engine = compilation.engine.unwrap_or(package.config.engine);
    headers::find(&mut package, compilation, findings).map_err(|error| {
        shell.error(&error);
        Exit::Metadata
    })?;
    if env.get("GPUK_STORE").is_none() {
        package.store.folder = workspace.store();
    }
    let nothing = findings.is_empty() && !has_kernels(&package);
    Ok((!nothing).then_some(package))
}

fn has_kernels(package: &Package) -> bool {
    let found = gpuk_build::discover::discover(package, &mut Vec::new());
    let mut patterns = (package.config.kernels.iter()).chain(&package.config.host_objects);
    found.is_ok_and(|sources| !sources.files.is_empty() || !sources.host.is_empty())
        || patterns.any(|pattern| pattern.written)
}

/// Says why a build failed.
pub(super) fn report(member: &Member, root: &Path, error: &BuildError, shell: &Shell) -> Exit {
    match error {
        BuildError::Findings { failure } => {
            shell.findings(member, root, &failure.findings);
            shell.error(format_args!(
                "could not build the kernels of `{}` due to {}",
                member.name,
                errors(&failure.findings)
            ));
            Exit::Build
        }
        BuildError::Tools(error) => {
            shell.error_of_all(chain(error));
            Exit::Toolchain
        }
        other => {
            shell.error(chain(other));
            Exit::Internal
        }
    }
}

fn errors(findings: &[Diagnostic]) -> String {
    match findings
        .iter()
        .filter(|finding| finding.level == Level::Error)
        .count()
    {
        1 => "1 error".to_owned(),
        count => format!("{count} errors"),
    }
}

/// Ends the JSON messages, where those are wanted.
pub(super) fn finished(shell: &Shell, exit: Exit) -> Exit {
    if shell.is_json() && !shell.is_part() {
        shell.json(&Finished {
            reason: "build-finished",
            success: exit == Exit::Success,
        });
    }
    exit
}
