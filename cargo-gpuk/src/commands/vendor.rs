//! `cargo gpuk vendor`: compiled kernels beside the manifest, which build scripts take where they are current.

use cargo_metadata::Package as Member;
use gpuk_build::config::Profile;
use gpuk_build::diagnostic::Diagnostic;
use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::package::Package;
use gpuk_build::pipeline::Depth;
use gpuk_build::vendor::{self, Taken};

use super::kernels::{self, Done};
use crate::cli::{Vendor, Work};
use crate::exit::Exit;
use crate::ui::Shell;
use crate::workspace::Workspace;

/// Builds each profile and keeps it, or only compares.
pub(super) fn vendor(vendor: &Vendor, shell: &Shell) -> Exit {
    if !vendor.work.compilation.arch.is_empty() {
        shell.error("vendored kernels are for the architectures of the manifest");
        shell.say("  set `archs` there, and leave out `--arch` and `GPUK_ARCHS`");
        return Exit::Usage;
    }
    let done = kernels::workspace(&vendor.work, shell).and_then(|workspace| match vendor.check {
        true => check(&vendor.work, &workspace, shell),
        false => write(&vendor.work, &workspace, shell),
    });
    kernels::finished(shell, done.err().unwrap_or(Exit::Success))
}

fn write(work: &Work, workspace: &Workspace, shell: &Shell) -> Result<(), Exit> {
    let mut dev = work.clone();
    dev.compilation.release = false;
    dev.compilation.profile = None;
    let mut release = work.clone();
    release.compilation.release = true;
    release.compilation.profile = None;
    fit(&release, workspace, shell)?;
    // The second build writes over the first one's results.
    let profile = workspace.profile(&work.compilation);
    let first = match profile.unwrap_or_default() {
        Profile::Release => Vec::new(),
        Profile::Dev => take(
            &kernels::build(workspace, &dev, shell, Depth::Build)?,
            shell,
        )?,
    };
    let done = kernels::build(workspace, &release, shell, Depth::Build)?;
    let mut first = first.into_iter();
    for (done, last) in done.iter().zip(take(&done, shell)?) {
        let all = first.next().into_iter().chain([last]).collect();
        let folder = vendor::write(&done.package, all).map_err(|error| {
            shell.error(chain(&error));
            Exit::Internal
        })?;
        shell.status("Vendored", folder.display());
    }
    Ok(())
}

/// Refuses packages that cannot be vendored, before anything is compiled.
fn fit(work: &Work, workspace: &Workspace, shell: &Shell) -> Result<(), Exit> {
    let mut fit = true;
    for member in workspace.packages() {
        // What is wrong with its settings is said when it is built.
        let package = configured(work, workspace, member, shell, &mut Vec::new())?;
        if let Some(package) = package
            && let Some(finding) = vendor::unfit(&package)
        {
            fit = false;
            shell.findings(member, &package.root, &[finding]);
        }
    }
    match fit {
        true => Ok(()),
        false => Err(Exit::Build),
    }
}

fn configured(
    work: &Work,
    workspace: &Workspace,
    member: &Member,
    shell: &Shell,
    findings: &mut Vec<Diagnostic>,
) -> Result<Option<Package>, Exit> {
    let env = Env::of_process();
    kernels::package(workspace, member, &work.compilation, &env, shell, findings)
}

/// The results of the packages, in their order.
fn take(done: &[Done<'_>], shell: &Shell) -> Result<Vec<Taken>, Exit> {
    let taken = done
        .iter()
        .map(|done| Taken::of(&done.package, &done.built.report));
    taken.collect::<Result<_, _>>().map_err(|error| {
        shell.error(chain(&error));
        Exit::Internal
    })
}

/// As a build script would judge.
fn check(work: &Work, workspace: &Workspace, shell: &Shell) -> Result<(), Exit> {
    let env = Env::of_process();
    let (mut with_kernels, mut wrong) = (0, 0);
    for member in workspace.packages() {
        let mut findings = Vec::new();
        let package = configured(work, workspace, member, shell, &mut findings)?;
        let Some(package) = package else { continue };
        with_kernels += 1;
        match vendor::unfit(&package).or_else(|| vendor::finding(&package, &env)) {
            Some(finding) => findings.push(finding),
            None if package.root.join(vendor::FOLDER).is_dir() => {
                shell.status(
                    "Current",
                    format_args!("{} {}", member.name, vendor::FOLDER),
                );
            }
            None => {
                wrong += 1;
                shell.error(format_args!("`{}` has no vendored kernels", member.name));
                shell.say("  `cargo gpuk vendor` makes them");
            }
        }
        wrong += findings.len();
        shell.findings(member, &package.root, &findings);
    }
    match (with_kernels, wrong) {
        (0, _) => Err(kernels::nothing_selected(shell)),
        (_, 0) => Ok(()),
        _ => Err(Exit::Build),
    }
}
