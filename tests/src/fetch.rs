//! Sources of published packages, fetched by cargo and by pip.

use std::path::{Path, PathBuf};

use crate::Project;

/// The folder of a published crate's sources; `program` is the `cargo-gpuk` under test.
///
/// # Panics
/// Cargo cannot fetch it.
#[must_use]
pub fn fetch(name: &str, version: &str, program: &str) -> PathBuf {
    let project = Project::new("fetch", program);
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml"));
    let manifest = manifest.expect("the manifest is there");
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[dependencies]\n{name} = \"={version}\"\n"),
    );
    let metadata = project.cargo(&["metadata", "--format-version", "1"]).ok();
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array();
    let package = packages.and_then(|all| all.iter().find(|package| package["name"] == name));
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|path| Path::new(path).parent());
    folder.expect("cargo says where it is").to_owned()
}

/// The folder of a published Python package's files, fetched by pip without what it depends on, and kept below `folder`.
///
/// # Panics
/// Pip cannot fetch it.
#[must_use]
pub fn fetch_wheel(name: &str, version: &str, folder: &Path) -> PathBuf {
    let target = folder.join("wheels").join(format!("{name}-{version}"));
    // Pip writes it last.
    let is_there = |target: &Path| {
        let entries = std::fs::read_dir(target).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| entry.file_name());
        names.any(|name| name.to_string_lossy().ends_with(".dist-info"))
    };
    if !is_there(&target) {
        #[expect(
            clippy::disallowed_methods,
            reason = "tests drive programs from outside"
        )]
        let mut pip = std::process::Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]);
        pip.arg(&target).arg(format!("{name}=={version}"));
        let status = pip.status().expect("Python is there");
        assert!(status.success(), "pip cannot fetch {name} {version}");
    }
    target
}

/// Copies a folder with everything in it.
///
/// # Panics
/// Something cannot be read or written.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("folders can be made");
    for entry in std::fs::read_dir(from)
        .expect("the folder is there")
        .flatten()
    {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("files can be copied")),
        }
    }
}
