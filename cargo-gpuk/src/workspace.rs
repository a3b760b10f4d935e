//! The workspace as cargo sees it, and the packages that were selected.

use std::path::PathBuf;

use cargo_metadata::{Metadata, MetadataCommand, Package};
use gpuk_build::config::Pattern;
use gpuk_build::package::StoreFolder;

use crate::cli::{Compilation, Selection};

/// A workspace with its selected packages.
#[derive(Debug)]
pub(crate) struct Workspace {
    metadata: Metadata,
    selected: Vec<usize>,
    target: PathBuf,
    build: PathBuf,
}

/// A workspace that cannot be read, or a selection that fits no package.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkspaceError {
    /// Cargo's own words.
    #[error("`cargo metadata` failed\n{0}")]
    Metadata(#[from] cargo_metadata::Error),
    /// `--target-dir` cannot be made absolute.
    #[error("`--target-dir`: {0}")]
    TargetDir(std::io::Error),
    /// `-p` or `--exclude` names nobody.
    #[error("no package of the workspace matches `{spec}`{}", hint(.members))]
    NoSuchPackage {
        /// As written.
        spec: String,
        /// Who is there.
        members: Vec<String>,
    },
}

fn hint(members: &[String]) -> String {
    match members {
        [] => String::new(),
        members => format!("\nits packages are `{}`", members.join("`, `")),
    }
}

impl Workspace {
    /// Asks cargo and selects: `-p`, `--workspace` less `--exclude`, else as cargo does (the package of the
    /// current folder, or the default members).
    ///
    /// # Errors
    /// Cargo's, or a selection that fits no package.
    pub(crate) fn load(
        selection: &Selection,
        compilation: &Compilation,
    ) -> Result<Self, WorkspaceError> {
        let mut command = MetadataCommand::new();
        if let Some(path) = &selection.manifest_path {
            command.manifest_path(path);
        }
        let metadata = command
            .no_deps()
            .other_options(compilation.lock_flags())
            .exec()?;
        let selected = select(&metadata, selection)?;
        let (target, build) = match &compilation.target_dir {
            // Compilers run in the packages' folders.
            Some(target) => {
                let target = std::path::absolute(target).map_err(WorkspaceError::TargetDir)?;
                (target.clone(), target)
            }
            None => {
                let target = metadata.target_directory.clone();
                let build = metadata.build_directory.clone();
                let build = build.unwrap_or_else(|| target.clone());
                (target.into_std_path_buf(), build.into_std_path_buf())
            }
        };
        Ok(Self {
            metadata,
            selected,
            target,
            build,
        })
    }

    /// The selected packages.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &Package> {
        self.selected
            .iter()
            .filter_map(|index| self.metadata.packages.get(*index))
    }

    /// All packages of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        let members = &self.metadata.workspace_members;
        let packages = self.metadata.packages.iter();
        packages.filter(|package| members.contains(&package.id))
    }

    /// Where results go: `target/gpuk`.
    #[must_use]
    pub(crate) fn results(&self) -> PathBuf {
        self.target.join("gpuk")
    }

    /// Where cargo builds, and the store of compiled units lies: not always where results go.
    #[must_use]
    pub(crate) fn store(&self) -> PathBuf {
        self.build.join(StoreFolder::NAME)
    }

    /// Where a package's results go: `target/gpuk/<package>`.
    #[must_use]
    pub(crate) fn out(&self, package: &Package) -> PathBuf {
        self.results().join(package.name.as_str())
    }
}

fn select(metadata: &Metadata, selection: &Selection) -> Result<Vec<usize>, WorkspaceError> {
    let members = metadata.packages.iter().enumerate();
    let members = members.filter(|(_, package)| metadata.workspace_members.contains(&package.id));
    let members: Vec<_> = members.collect();
    let matching = |spec: &String| {
        let pattern = Pattern {
            text: spec.clone(),
            written: true,
        };
        let found = members
            .iter()
            .filter(|(_, package)| pattern.matches(&package.name));
        let found: Vec<_> = found.map(|(index, _)| *index).collect();
        match found.is_empty() {
            false => Ok(found),
            true => Err(WorkspaceError::NoSuchPackage {
                spec: spec.clone(),
                members: members
                    .iter()
                    .map(|(_, package)| package.name.to_string())
                    .collect(),
            }),
        }
    };
    let all = |specs: &[String]| {
        let found = specs.iter().map(matching).collect::<Result<Vec<_>, _>>();
        found.map(|found| found.concat())
    };
    let mut selected = if !selection.package.is_empty() {
        all(&selection.package)?
    } else if selection.workspace {
        members.iter().map(|(index, _)| *index).collect()
    } else {
        let defaults: &[_] = &metadata.workspace_default_members;
        let defaults = members
            .iter()
            .filter(|(_, package)| defaults.contains(&package.id));
        defaults.map(|(index, _)| *index).collect()
    };
    let excluded = all(&selection.exclude)?;
    selected.retain(|index| !excluded.contains(index));
    selected.sort_unstable();
    selected.dedup();
    Ok(selected)
}
