//! `cargo gpuk compile-commands`: how clang would compile each source, for clangd.
//!
//! Written into the folder of the results and nowhere else: nobody's own `compile_commands.json` is touched.

use std::path::Path;

use gpuk_build::config::Arch;
use gpuk_build::discover::{Language, discover};
use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::fs::{self, FsError};
use gpuk_build::package::Package;
use gpuk_build::toolchain::{self, Toolchain};
use serde::Serialize;

use super::kernels;
use crate::clang;
use crate::cli::Work;
use crate::exit::Exit;
use crate::ui::Shell;
use crate::workspace::Workspace;

/// An entry of the database (clang, "JSON Compilation Database").
#[derive(Debug, Serialize)]
struct Entry {
    directory: String,
    file: String,
    arguments: Vec<String>,
}

/// Writes the database of the selected packages.
pub(super) fn database(work: &Work, shell: &Shell) -> Exit {
    let written =
        kernels::workspace(work, shell).and_then(|workspace| write(work, &workspace, shell));
    written.err().unwrap_or(Exit::Success)
}

fn write(work: &Work, workspace: &Workspace, shell: &Shell) -> Result<(), Exit> {
    let env = Env::of_process();
    let mut entries = Vec::new();
    for member in workspace.packages() {
        let mut findings = Vec::new();
        let package = kernels::package(
            workspace,
            member,
            &work.compilation,
            &env,
            shell,
            &mut findings,
        )?;
        let folder = member
            .manifest_path
            .as_std_path()
            .parent()
            .unwrap_or(Path::new(""));
        shell.findings(member, folder, &findings);
        let Some(package) = package else { continue };
        entries.extend(of(&package, &env, shell)?);
    }
    if entries.is_empty() {
        return Err(kernels::nothing_selected(shell));
    }
    let path = workspace.results().join("compile_commands.json");
    let text = serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n";
    fs::create_dir(&workspace.results())
        .and_then(|()| fs::write(&path, text.as_bytes()))
        .map_err(|error| internal(&error, shell))?;
    shell.status("Wrote", path.display());
    Ok(())
}

fn internal(error: &FsError, shell: &Shell) -> Exit {
    shell.error(chain(error));
    Exit::Internal
}

fn of(package: &Package, env: &Env, shell: &Shell) -> Result<Vec<Entry>, Exit> {
    let toolchain = toolchain::find(&package.toolchain(None), env).map_err(|error| {
        shell.error(chain(&error));
        Exit::Toolchain
    })?;
    let sources = discover(package, &mut Vec::new()).map_err(|error| internal(&error, shell))?;
    // clangd needs the header that nvcc is given.
    package
        .write_header()
        .map_err(|error| internal(&error, shell))?;
    let cuda = sources.files.iter();
    let cuda = cuda.filter(|source| source.language == Language::Cuda);
    let entry = |source: &gpuk_build::discover::KernelSource| Entry {
        directory: package.root.to_string_lossy().into_owned(),
        file: source.path.to_string_lossy().into_owned(),
        arguments: arguments(package, &toolchain, &source.path.to_string_lossy()),
    };
    Ok(cuda.map(entry).collect())
}

/// The highest architecture that is named, else the default: it has the most of the source between its `#if`s.
fn arguments(package: &Package, toolchain: &Toolchain, source: &str) -> Vec<String> {
    let mut arguments: Vec<String> = ["clang++", "-x", "cuda", "--cuda-device-only"]
        .map(str::to_owned)
        .to_vec();
    arguments.push(format!("--cuda-path={}", toolchain.root.display()));
    let arch = package.config.archs.listed().last();
    let arch = arch.copied().unwrap_or(Arch::DEFAULT);
    arguments.push(format!("--cuda-gpu-arch={}", arch.sm()));
    // clang lags behind CUDA; only its editor service is wanted.
    arguments.extend(["-Wno-unknown-cuda-version", "--no-cuda-version-check"].map(str::to_owned));
    let flags = package.flags();
    let flags: Vec<_> = flags
        .iter()
        .map(|flag| flag.to_string_lossy().into_owned())
        .collect();
    arguments.extend(clang::flags(&flags));
    arguments.push(source.to_owned());
    arguments
}
