//! `cargo gpuk sanitize`, with a program in compute-sanitizer's place that says how it was started.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use gpuk_tests::{Output, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// Skips its options, runs the program, and ends with `FOUND` where that is set.
const FAKE: &str = r#"#!/bin/sh
while [ "${1#--}" != "$1" ]; do
    printf '%s %s\n' "$1" "$2"
    shift 2
done
"$@"
code=$?
exit "${FOUND:-$code}"
"#;

/// A program that ends with its first argument's number; the sanitizer's folder has a blank in its name.
fn project() -> Project {
    let folder = PathBuf::from("some tools");
    let fake = folder.join("compute-sanitizer");
    let project = Project::new("p", GPUK)
        .file(&fake, FAKE)
        .file(
            "src/main.rs",
            "fn main() { std::process::exit(std::env::args().nth(1).map_or(0, |code| code.parse().unwrap())) }\n",
        )
        .file("src/lib.rs", "#[test]\nfn passes() {}\n");
    let fake = project.root().join(fake);
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let folders = [project.root().join(folder)].into_iter();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    // No toolkit whose own sanitizer would come first.
    let project = project.env("PATH", path.to_str());
    ["CUDA_HOME", "CUDA_PATH", "NVCC"]
        .iter()
        .fold(project, |project, name| project.env(name, None))
}

fn sanitize(project: &Project, args: &[&str]) -> Output {
    project.gpuk(&[&["sanitize"], args].concat())
}

#[test]
fn the_exit_code_is_true() {
    let project = project();
    let clean = sanitize(&project, &["--quiet"]);
    assert_eq!(clean.code, Some(0), "{}", clean.shown());
    assert!(
        clean
            .stdout
            .contains("--tool memcheck\n--error-exitcode 86"),
        "{}",
        clean.stdout
    );

    let own = sanitize(&project, &["--quiet", "--", "7"]);
    assert_eq!(own.code, Some(7), "{}", own.shown());

    let project = project.env("FOUND", Some("86"));
    let found = sanitize(&project, &["--quiet", "--tool", "racecheck", "--", "0"]);
    assert_eq!(found.code, Some(106), "{}", found.shown());
    assert!(
        found.stdout.contains("--tool racecheck\n"),
        "{}",
        found.stdout
    );
    assert!(
        found
            .stderr
            .contains("error: compute-sanitizer has findings"),
        "{}",
        found.stderr
    );
}

#[test]
fn tests_run_under_it_with_its_own_options() {
    let project = project();
    let option = ["--option", "--log-file", "--option", "a b"];
    let output = sanitize(&project, &[&["--tests", "--quiet"], &option[..]].concat());
    assert_eq!(output.code, Some(0), "{}", output.shown());
    assert!(
        output.stdout.contains("--log-file a b\n"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("1 passed"), "{}", output.stdout);
    let project = project.env("FOUND", Some("86"));
    let output = sanitize(&project, &["--tests", "--quiet"]);
    assert_eq!(output.code, Some(106), "{}", output.shown());
}

#[test]
fn its_absence_is_said() {
    let project = Project::new("p", GPUK);
    let project = ["CUDA_HOME", "CUDA_PATH", "NVCC"]
        .iter()
        .fold(project, |project, name| project.env(name, None));
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap());
    let output = project
        .env("PATH", cargo.parent().and_then(|folder| folder.to_str()))
        .gpuk(&["sanitize"]);
    assert_eq!(output.code, Some(103), "{}", output.shown());
    assert!(
        output.stderr.contains("compute-sanitizer was not found"),
        "{}",
        output.stderr
    );
}
