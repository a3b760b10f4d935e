//! The template gives a project that cargo and gpuk take, and it is the one that `tests/demo` compiles.

#![expect(
    clippy::unwrap_used,
    reason = "clippy sees tests, but not what they call"
)]

use std::fs;
use std::path::Path;

use gpuk_build::config::{Manifest, Profile};
use gpuk_build::run::ToolCommand;
use gpuk_template_tests::{Files, Template, files, workspace_root, write};
use toml::{Table, Value};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn template() -> Template {
    Template::read(&workspace_root().join("template"))
}

fn manifest(files: &Files) -> Table {
    files["Cargo.toml"].parse().unwrap()
}

#[test]
fn nothing_has_to_be_said() {
    let files = template().expand("hello-gpu", &[]).unwrap();
    let manifest = manifest(&files);
    assert_eq!(manifest["package"]["name"].as_str(), Some("hello-gpu"));
    assert_eq!(manifest["dependencies"]["gpuk"].as_str(), Some(VERSION));
    assert_eq!(
        manifest["build-dependencies"]["gpuk-build"].as_str(),
        Some(VERSION)
    );
    for (path, text) in &files {
        let left = text.contains("{{") || text.contains("{%");
        assert!(!left || path.ends_with(".rs"), "{path}");
    }
}

#[test]
fn gpuk_reads_every_choice_of_architectures() {
    for (given, expected) in [
        ("80", "80"),
        ("80,90a", "80 90a"),
        (" 120f , 86", "86 120f"),
    ] {
        let files = template().expand("p", &[("archs", given)]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(&files, folder.path());
        let mut findings = Vec::new();
        let manifest = Manifest::read(
            &folder.path().join("Cargo.toml"),
            Profile::Dev,
            &mut findings,
        )
        .unwrap();
        assert_eq!(manifest.config.archs.names().join(" "), expected);
        assert!(findings.is_empty(), "{findings:?}");
    }
    for bad in ["", "ampere", "80 90", "80,", "8.0", "sm_80\"]"] {
        assert!(template().expand("p", &[("archs", bad)]).is_err(), "{bad}");
    }
}

#[test]
fn the_demo_is_the_template() {
    let root = workspace_root();
    let template = template();
    let sources = files(&root.join("template"));
    let shared: Vec<_> = sources
        .keys()
        .filter(|path| template.is_excluded(path))
        .map(String::as_str)
        .collect();
    let expected = [
        "build.rs",
        "kernels/gather.cu",
        "kernels/reduce.cu",
        "kernels/scale.cu",
        "src/main.rs",
    ];
    assert_eq!(shared, expected);

    let generated = manifest(&template.expand("p", &[]).unwrap());
    let demo = fs::read_to_string(root.join("tests/demo/Cargo.toml")).unwrap();
    let demo: Table = demo.parse().unwrap();
    let keys = |manifest: &Table, table: &str| -> Vec<String> {
        let table = manifest[table].as_table().unwrap();
        table.keys().cloned().collect()
    };
    for table in ["dependencies", "build-dependencies"] {
        assert_eq!(keys(&demo, table), keys(&generated, table), "{table}");
    }
    let gpuk = |manifest: &Table| manifest["package"]["metadata"]["gpuk"].clone();
    assert_eq!(gpuk(&demo)["archs"], gpuk(&generated)["archs"]);
    let pattern = |manifest: &Table| match &gpuk(manifest)["kernels"] {
        Value::Array(patterns) => patterns[0].as_str().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        pattern(&demo),
        format!("../../template/{}", pattern(&generated))
    );
    assert_eq!(
        demo["package"]["build"].as_str(),
        Some("../../template/build.rs")
    );
    assert_eq!(
        demo["bin"][0]["path"].as_str(),
        Some("../../template/src/main.rs")
    );
}

#[test]
fn cargo_takes_the_manifest() {
    let folder = checkout("outside");
    let args = ["metadata", "--format-version=1", "--no-deps"];
    let output = cargo(folder.path()).args(args).run().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""name":"outside""#));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_it_builds_outside_the_workspace() {
    let folder = checkout("outside");
    // The workspace's own, so that what both depend on is there already.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let build = cargo(folder.path()).args(["build", "--quiet", "--target-dir"]);
    build.arg(target).run().unwrap();

    let program = target.join("debug").join("outside");
    let output = ToolCommand::new(program).output().unwrap();
    if output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("token 1 has id 5000, the table has 1000 rows"));
    } else {
        assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    }
}

#[test]
#[ignore = "needs cargo-generate"]
fn generate_does_what_is_done_here() {
    let folder = tempfile::tempdir().unwrap();
    let values = [("archs", "80, 90a"), ("gpuk_path", "/some/where")];
    for values in [&values[..], &[]] {
        let name = format!("with-{}", values.len());
        let template = workspace_root().join("template");
        let mut command = ToolCommand::new("cargo")
            .args(["generate", "--silent", "--vcs=none", "--name", &name])
            .arg("--path")
            .arg(template)
            .dir(folder.path());
        for (placeholder, value) in values {
            command = command.arg("-d").arg(format!("{placeholder}={value}"));
        }
        command.run().unwrap();
        let expected = self::template().expand(&name, values).unwrap();
        assert_eq!(files(&folder.path().join(name)), expected);
    }
}

/// The project in a folder of its own, depending on this checkout and locked as it is.
fn checkout(name: &str) -> tempfile::TempDir {
    let root = workspace_root();
    let path = root.to_str().unwrap();
    let files = template().expand(name, &[("gpuk_path", path)]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(&files, folder.path());
    fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    folder
}

fn cargo(folder: &Path) -> ToolCommand {
    ToolCommand::new(env!("CARGO"))
        .dir(folder)
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
}
