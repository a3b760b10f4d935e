//! Headers from one package to another.
//!
//! The one says `export-include`, and what it is known by under `links`; the other names that in `include-from`. Build
//! scripts hear of it through cargo, `DEP_<LINKS>_GPUK_INCLUDE`; the command asks cargo where the dependency lies.

use std::env::{join_paths, split_paths};
use std::path::{Path, PathBuf};

use crate::config::{Config, Manifest, Profile};
use crate::diagnostic::{Code, Diagnostic};
use crate::env::Env;
use crate::package::Package;

/// What cargo hands on: `cargo::metadata=gpuk_include=…`.
pub(crate) const KEY: &str = "gpuk_include";

/// Takes the folders that cargo told the build script of.
pub(crate) fn take(package: &mut Package, env: &Env, findings: &mut Vec<Diagnostic>) {
    for links in package.config.include_from.clone() {
        let name: String = links.to_uppercase().replace('-', "_");
        match env.get(&format!("DEP_{name}_GPUK_INCLUDE")) {
            Some(folders) => package.headers.extend(split_paths(folders)),
            None => findings.push(missing(&links)),
        }
    }
}

/// The folders that the package at `manifest` exports, as cargo hands them on.
pub(crate) fn exported(manifest: &Path) -> Option<String> {
    let folders = folders(manifest);
    let joined = join_paths(folders).ok()?.into_string().ok()?;
    (!joined.is_empty()).then_some(joined)
}

/// The folders that the package at `manifest` exports, absolute; none where it cannot be read.
#[must_use]
pub fn folders(manifest: &Path) -> Vec<PathBuf> {
    let read = Manifest::read(manifest, Profile::Dev, &mut Vec::new());
    let root = manifest.parent().unwrap_or(Path::new(""));
    let folders = read.into_iter().flat_map(|it| it.config.export_include);
    folders.map(|folder| root.join(folder)).collect()
}

/// A name in `include-from` that no dependency goes by, or one that exports nothing.
#[must_use]
pub fn missing(links: &str) -> Diagnostic {
    let message =
        format!("`include-from` names `{links}`, but no dependency exports headers under it");
    Diagnostic::error(Code::BAD_VALUE, message)
        .note("a dependency is meant by its `links`, not by its name")
        .help(format!(
            "let a direct dependency have `links = \"{links}\"`, `export-include`, and a build script of gpuk's"
        ))
}

/// A package that exports headers under no name.
pub(crate) fn unlinked(config: &Config, links: Option<&str>) -> Option<Diagnostic> {
    if config.export_include.is_empty() || links.is_some() {
        return None;
    }
    let message = "`export-include` is set, but the package has no `links`";
    let finding = Diagnostic::error(Code::BAD_VALUE, message);
    Some(finding.help("set `links` under `[package]`: cargo hands nothing on without it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &Path, manifest: &str) -> (Package, Vec<Diagnostic>) {
        let path = folder.join("Cargo.toml");
        std::fs::write(&path, manifest).unwrap();
        let env = Env::from_pairs::<&str, &str>([]);
        let mut findings = Vec::new();
        let package = Package::read(&path, folder.join("out"), Profile::Dev, &env, &mut findings);
        (package.unwrap(), findings)
    }

    #[test]
    fn folders_arrive_where_they_are_asked_for() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let manifest = "[package]\nname = 'a'\nlinks = 'field-math'\n[workspace]\n\
            [package.metadata.gpuk]\nexport-include = ['include', 'more']\n";
        let (_, findings) = package(one.path(), manifest);
        assert!(findings.is_empty());
        let handed_on = exported(&one.path().join("Cargo.toml")).unwrap();
        let manifest = "[package]\nname = 'b'\n[workspace]\n\
            [package.metadata.gpuk]\ninclude-from = ['field-math']\n";
        let (mut taking, mut findings) = package(other.path(), manifest);
        assert_eq!(exported(&other.path().join("Cargo.toml")), None);
        let env = Env::from_pairs([("DEP_FIELD_MATH_GPUK_INCLUDE", handed_on)]);
        take(&mut taking, &env, &mut findings);
        assert_eq!(
            taking.headers,
            ["include", "more"].map(|it| one.path().join(it))
        );
        let flags = taking.flags();
        let folder = one.path().join("include").into_os_string();
        assert!(
            flags
                .windows(2)
                .any(|pair| pair[0] == "-I" && pair[1] == folder)
        );
        assert!(findings.is_empty());
        take(
            &mut taking,
            &Env::from_pairs::<&str, &str>([]),
            &mut findings,
        );
        assert!(
            findings[0].message.contains("names `field-math`"),
            "{findings:?}"
        );
    }

    #[test]
    fn nothing_is_exported_without_links() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = "[package]\nname = 'a'\n[workspace]\n\
            [package.metadata.gpuk]\nexport-include = ['include']\n";
        let (_, findings) = package(folder.path(), manifest);
        assert!(findings[0].message.contains("no `links`"), "{findings:?}");
    }
}
