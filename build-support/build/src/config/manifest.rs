//! Finds the two tables: the package's manifest and the manifest of its workspace.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::read::Reader;
use super::{Config, Profile};
use crate::diagnostic::Diagnostic;
use crate::fs;

/// What a manifest says that concerns gpuk.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The package's name; empty in a virtual workspace.
    pub name: String,
    /// The manifest itself.
    pub path: PathBuf,
    /// `links`, under which build scripts of other packages hear of this one.
    pub links: Option<String>,
    /// Every manifest that was read.
    pub read: Vec<PathBuf>,
    /// The configuration.
    pub config: Config,
}

/// A manifest that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] fs::FsError),
    /// It is not TOML.
    #[error("`{}` is not valid TOML\n{source}", path.display())]
    Syntax {
        /// The manifest.
        path: PathBuf,
        /// What is wrong where.
        source: Box<toml::de::Error>,
    },
}

impl Manifest {
    /// Reads a package's manifest and its workspace's; what is wrong in them goes to `findings`.
    ///
    /// # Errors
    /// A manifest cannot be read or is not TOML.
    pub fn read(
        path: &Path,
        profile: Profile,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Self, ManifestError> {
        let text = fs::read_to_string(path)?;
        let document = parse(&text, path)?;
        let package = table(&document, &["package"]);
        let name = package
            .and_then(|package| package.get("name")?.get_ref().as_str())
            .unwrap_or_default()
            .to_owned();
        let links = package
            .and_then(|package| package.get("links")?.get_ref().as_str())
            .map(str::to_owned);
        let mut config = Config {
            profile,
            ..Config::default()
        };
        let mut read = vec![path.to_owned()];
        let workspace = match table(&document, &["workspace"]) {
            Some(_) => Some((path.to_owned(), text.clone())),
            None => workspace_of(path, package)?,
        };
        if let Some((workspace, text)) = workspace {
            let document = parse(&text, &workspace)?;
            if let Some(metadata) = settings(&document, "workspace") {
                Reader::new(&workspace, &text, findings).settings(metadata, &mut config);
                // Not every package of a workspace has what a pattern for all of them names.
                let patterns = config.kernels.iter_mut().chain(&mut config.host_objects);
                patterns.for_each(|pattern| pattern.written = false);
            }
            if workspace != path {
                read.push(workspace);
            }
        }
        if let Some(metadata) = settings(&document, "package") {
            Reader::new(path, &text, findings).settings(metadata, &mut config);
        }
        config.flags.append(&mut config.added_flags);
        Ok(Self {
            name,
            path: path.to_owned(),
            links,
            read,
            config,
        })
    }
}

pub(super) fn parse<'t>(text: &'t str, path: &Path) -> Result<DeTable<'t>, ManifestError> {
    let document = DeTable::parse(text).map_err(|source| ManifestError::Syntax {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    Ok(document.into_inner())
}

/// What is set of gpuk for a `package` or a `workspace`.
pub(super) fn settings<'t, 'd>(
    document: &'d DeTable<'t>,
    of: &str,
) -> Option<&'d Spanned<DeValue<'t>>> {
    table(document, &[of, "metadata"])?.get("gpuk")
}

pub(super) fn table<'t, 'd>(document: &'d DeTable<'t>, path: &[&str]) -> Option<&'d DeTable<'t>> {
    path.iter()
        .try_fold(document, |table, key| match table.get(*key)?.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        })
}

/// Whether the package in a folder comes from a registry, and its workspace is elsewhere: cargo keeps its manifest there
/// as it was written, beside the one that it made of it.
pub(crate) fn is_published(package: &Path) -> bool {
    package.join("Cargo.toml.orig").is_file()
}

/// The workspace that a package names, or the nearest manifest above that has a `[workspace]`.
pub(super) fn workspace_of(
    manifest: &Path,
    package: Option<&DeTable<'_>>,
) -> Result<Option<(PathBuf, String)>, ManifestError> {
    let Some(folder) = manifest.parent() else {
        return Ok(None);
    };
    if is_published(folder) {
        return Ok(None);
    }
    if let Some(named) = package.and_then(|package| package.get("workspace")?.get_ref().as_str()) {
        let path = folder.join(named).join("Cargo.toml");
        let text = fs::read_to_string(&path)?;
        return Ok(Some((path, text)));
    }
    for folder in folder.ancestors().skip(1) {
        let path = folder.join("Cargo.toml");
        if !path.is_file() {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        if table(&parse(&text, &path)?, &["workspace"]).is_some() {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of a profile are the package's, else the workspace's, and come behind what the plain key says.
    #[test]
    fn flags_of_a_profile_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Cargo.toml");
        let flags = |text: &str, profile| {
            std::fs::write(&path, text).unwrap();
            let mut findings = Vec::new();
            let read = Manifest::read(&path, profile, &mut findings).unwrap();
            assert_eq!(findings, []);
            assert_eq!(read.config.added_flags, [""; 0]);
            read.config.flags.join(" ")
        };
        let workspace = "[workspace]\n[workspace.metadata.gpuk]\nflags = ['-a']\n\
                         [workspace.metadata.gpuk.profile.dev]\nflags = ['-b']\n";
        assert_eq!(flags(workspace, Profile::Dev), "-a -b");
        assert_eq!(flags(workspace, Profile::Release), "-a");
        let package = format!("{workspace}[package.metadata.gpuk]\nflags = ['-c']\n");
        assert_eq!(flags(&package, Profile::Dev), "-c -b");
        let both = format!(
            "{package}profile = {{ dev = {{ flags = ['-d'] }}, release = {{ flags = [] }} }}\n"
        );
        assert_eq!(flags(&both, Profile::Dev), "-c -d");
        assert_eq!(flags(&both, Profile::Release), "-c");
    }
}
