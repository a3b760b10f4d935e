//! What cargo is told, and by whom it is called.

use std::os::unix::fs::PermissionsExt;

use gpuk_tests::Project;

use super::{GPUK, bare};

/// A cargo that writes down its arguments; `metadata` is answered by the real one.
fn recording(project: Project) -> Project {
    let cargo = std::env::var("CARGO").unwrap();
    let script = format!(
        "#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done >> '{0}/told'\necho >> '{0}/told'\n[ \"$1\" = metadata ] && exec '{cargo}' \"$@\"\nexit 0\n",
        project.root().display()
    );
    let path = project.root().join("cargo.sh");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    project.env("CARGO", path.to_str())
}

/// The calls of cargo, a list of words each.
fn told(project: &Project) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(project.root().join("told")).unwrap();
    let calls = text.split("\n\n").filter(|call| !call.is_empty());
    calls
        .map(|call| call.lines().map(str::to_owned).collect())
        .collect()
}

fn has(call: &[String], words: &[&str]) -> bool {
    call.windows(words.len()).any(|window| window == words)
}

#[test]
fn cargo_reads_the_workspace_as_it_is_told_to() {
    for command in [
        "build",
        "check",
        "list",
        "clean",
        "vendor",
        "compile-commands",
        "expand",
        "inspect",
    ] {
        let project = recording(bare());
        let flags = [
            "--locked",
            "--offline",
            "--frozen",
            "--config",
            "build.jobs=1",
        ];
        let output = project.gpuk(&[&[command][..], &flags].concat());
        assert!(
            matches!(output.code, Some(0 | 104)),
            "{command}: {}",
            output.shown()
        );
        let calls = told(&project);
        assert_eq!(calls[0][0], "metadata");
        assert!(has(&calls[0], &["--format-version", "1"]), "{calls:?}");
        for flag in &flags[..3] {
            assert!(has(&calls[0], &[flag]), "{command} {flag}: {calls:?}");
        }
        assert!(has(&calls[0], &["--config", "build.jobs=1"]), "{calls:?}");
    }
}

#[test]
fn tests_are_run_as_they_are_asked_for() {
    let project = recording(bare());
    let args = [
        "test",
        "--manifest-path",
        "Cargo.toml",
        "-p",
        "p",
        "-F",
        "a,b",
        "--features",
        "c d",
        "--all-features",
        "--no-default-features",
        "--profile",
        "bench",
        "-j",
        "3",
        "--target-dir",
        "there",
        "--offline",
        "--config",
        "a.b='c'",
        "-vv",
        "--color",
        "always",
        "--",
        "--lib",
        "--",
        "--nocapture",
        "-q",
        "$(touch x)",
    ];
    let _ = project.gpuk(&args).ok();
    let calls = told(&project);
    let call = calls.iter().find(|call| call[0] == "test").unwrap();
    for words in [
        &["--manifest-path", "Cargo.toml"][..],
        &["--package", "p"],
        &["--features", "a,b", "--features", "c d"],
        &["--all-features"],
        &["--no-default-features"],
        &["--profile", "bench"],
        &["--jobs", "3"],
        &["--target-dir", "there"],
        &["--offline"],
        &["--config", "a.b='c'"],
        &["--verbose", "--verbose"],
        &["--color", "always"],
        &["--lib", "--", "--nocapture", "-q", "$(touch x)"],
    ] {
        assert!(has(call, words), "{words:?}: {call:?}");
    }
    assert!(!project.root().join("x").exists());
}

#[test]
fn features_choose_the_dependencies_whose_headers_are_asked_for() {
    let project = Project::new("p", GPUK)
        .config("include-from = ['helpers']")
        .file("kernels/set.cu", super::SET);
    let project = recording(project);
    let _ = project.gpuk(&["build", "-F", "gpu", "--no-default-features"]);
    let calls = told(&project);
    let asked = calls.iter().find(|call| has(call, &["--features", "gpu"]));
    assert!(
        asked.is_some_and(|call| has(call, &["--no-default-features"])),
        "{calls:?}"
    );
}

#[test]
fn a_lock_file_that_would_change_is_cargos_error() {
    let project = Project::new("p", GPUK)
        .config("include-from = ['helpers']")
        .file("kernels/set.cu", super::SET);
    let output = project.gpuk(&["check", "--locked"]);
    assert_eq!(output.code, Some(102), "{}", output.shown());
    assert!(
        output.stderr.contains("--locked was passed"),
        "{}",
        output.stderr
    );
}

#[test]
fn nothing_is_installed_without_network() {
    let empty = tempfile::tempdir().unwrap();
    let nothing = empty.path().to_str();
    let project = bare()
        .env("NVCC", Some("/nothing"))
        .env("GPUK_HOME", nothing)
        .env("GPUK_PIP", Some("false"));
    for flag in ["--offline", "--frozen"] {
        let output = project.gpuk(&["run", "--install-toolchain", flag]);
        assert_eq!(output.code, Some(103), "{}", output.shown());
        assert!(
            output
                .stderr
                .contains("none can be installed without network"),
            "{}",
            output.stderr
        );
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn a_profile_leads_to_what_it_inherits_from() {
    let project = bare();
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    let project = project.file(
        "Cargo.toml",
        &format!("{manifest}[profile.slow]\ninherits = 'dev'\n[package.metadata.gpuk]\nprofile.dev.checks = 'off'\n"),
    );
    for profile in ["dev", "slow", "release", "bench"] {
        let output = project.gpuk(&["build", "--profile", profile]);
        assert_eq!(output.code, super::NOTHING, "{}", output.shown());
    }
    let output = project.gpuk(&["build", "--profile", "fast"]);
    assert_eq!(output.code, Some(102), "{}", output.shown());
    assert!(
        output
            .stderr
            .contains("what the profile `fast` inherits from"),
        "{}",
        output.stderr
    );
}
