//! Where the dependencies lie whose headers a package asks for; build scripts hear of it from cargo.

use std::path::PathBuf;

use cargo_metadata::MetadataCommand;
use gpuk_build::diagnostic::Diagnostic;
use gpuk_build::headers::{folders, missing};
use gpuk_build::package::Package;

use crate::cli::Compilation;

/// Fills in the folders that `include-from` names; cargo is asked only where it names some.
///
/// # Errors
/// Cargo's own words.
pub(crate) fn find(
    package: &mut Package,
    compilation: &Compilation,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), cargo_metadata::Error> {
    if package.config.include_from.is_empty() {
        return Ok(());
    }
    let manifest = package.root.join("Cargo.toml");
    let mut command = MetadataCommand::new();
    let metadata = command
        .manifest_path(&manifest)
        .other_options([compilation.features.flags(), compilation.cargo.flags()].concat())
        .exec()?;
    let direct = |name: &str| {
        let mut packages = metadata.packages.iter();
        let own = packages.find(|it| it.manifest_path.as_std_path() == manifest);
        own.is_some_and(|own| own.dependencies.iter().any(|it| it.name == name))
    };
    for links in &package.config.include_from {
        let named = metadata.packages.iter();
        let mut named = named.filter(|it| it.links.as_ref() == Some(links) && direct(&it.name));
        let found: Vec<PathBuf> = named
            .next()
            .map(|it| folders(it.manifest_path.as_std_path()))
            .unwrap_or_default();
        if found.is_empty() {
            findings.push(missing(links));
        }
        package.headers.extend(found);
    }
    Ok(())
}
