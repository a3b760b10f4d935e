//! The workspace as cargo sees it, and the packages that were selected.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package};
use gpuk_build::config::{Profile, ProfileError};
use gpuk_build::package::StoreFolder;

use crate::cli::{Compilation, Selection};
use crate::spec;

/// A workspace with its selected packages.
#[derive(Debug)]
pub(crate) struct Workspace {
    metadata: Metadata,
    selected: Vec<usize>,
    target: PathBuf,
    build: PathBuf,
    idle: Vec<String>,
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
    /// `--profile` names none, or one that stems from none.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// `-p` names nobody.
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
            .other_options(compilation.cargo.flags())
            .exec()?;
        let (selected, idle) = select(&metadata, selection)?;
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
        let workspace = Self {
            metadata,
            selected,
            target,
            build,
            idle,
        };
        workspace.profile(compilation)?;
        Ok(workspace)
    }

    /// What the profile stems from that is built.
    ///
    /// # Errors
    /// `--profile` names none.
    pub(crate) fn profile(&self, compilation: &Compilation) -> Result<Profile, ProfileError> {
        match (&compilation.profile, compilation.release) {
            (Some(name), _) => Profile::named(name, &self.root().join("Cargo.toml")),
            (None, true) => Ok(Profile::Release),
            (None, false) => Ok(Profile::Dev),
        }
    }

    /// What `--exclude` names that is not there; cargo warns of it.
    #[must_use]
    pub(crate) fn idle(&self) -> Option<String> {
        let names = self.idle.join("`, `");
        let root = &self.metadata.workspace_root;
        (!self.idle.is_empty())
            .then(|| format!("excluded package(s) `{names}` not found in workspace `{root}`"))
    }

    /// Its folder.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
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

/// The selected packages, and the specs of `--exclude` that name nobody.
fn select(
    metadata: &Metadata,
    selection: &Selection,
) -> Result<(Vec<usize>, Vec<String>), WorkspaceError> {
    let members = metadata.packages.iter().enumerate();
    let members = members.filter(|(_, package)| metadata.workspace_members.contains(&package.id));
    let members: Vec<_> = members.collect();
    let matching = |spec: &String| {
        let found = members
            .iter()
            .filter(|(_, package)| spec::names(spec, package));
        found.map(|(index, _)| *index).collect::<Vec<_>>()
    };
    let mut selected: Vec<usize> = if selection.workspace {
        members.iter().map(|(index, _)| *index).collect()
    } else if selection.package.is_empty() {
        let defaults: &[_] = &metadata.workspace_default_members;
        let defaults = members
            .iter()
            .filter(|(_, package)| defaults.contains(&package.id));
        defaults.map(|(index, _)| *index).collect()
    } else {
        let found = selection.package.iter().map(|spec| (spec, matching(spec)));
        let found: Vec<_> = found.collect();
        if let Some((spec, _)) = found.iter().find(|(_, found)| found.is_empty()) {
            let names = members.iter().map(|(_, package)| package.name.to_string());
            return Err(WorkspaceError::NoSuchPackage {
                spec: (*spec).clone(),
                members: names.collect(),
            });
        }
        found.into_iter().flat_map(|(_, found)| found).collect()
    };
    let mut idle = Vec::new();
    for spec in &selection.exclude {
        let excluded = matching(spec);
        if excluded.is_empty() {
            idle.push(spec.clone());
        }
        selected.retain(|index| !excluded.contains(index));
    }
    selected.sort_unstable();
    selected.dedup();
    Ok((selected, idle))
}
