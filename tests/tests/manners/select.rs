//! Which packages: as cargo selects them.

use gpuk_tests::{Output, Project};

use super::{GPUK, NOTHING};

/// A virtual workspace whose kernels do not compile: each package that is selected is named by an error.
fn workspace(head: &str) -> Project {
    let project = Project::new("p", GPUK).file(
        "Cargo.toml",
        &format!(
            "[workspace]\nmembers = [\"a-one\", \"a-two\", \"b\"]\nresolver = \"3\"\n{head}\n"
        ),
    );
    for (name, version) in [("a-one", "1.2.3"), ("a-two", "2.0.0"), ("b", "0.1.0")] {
        // An unknown key is found before any compiler is looked for.
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n[package.metadata.gpuk]\nwrong = 1\n"
        );
        project.write(format!("{name}/Cargo.toml"), &manifest);
        project.write(format!("{name}/src/lib.rs"), "");
    }
    project
}

/// The packages that `build` took on.
fn taken(output: &Output) -> Vec<String> {
    let named = output
        .stderr
        .split("could not build the kernels of `")
        .skip(1);
    named
        .map(|rest| rest.split('`').next().unwrap().to_owned())
        .collect()
}

const ALL: [&str; 3] = ["a-one", "a-two", "b"];

#[test]
fn flags_select_as_they_do_for_cargo() {
    let project = workspace("");
    let url = format!("path+file://{}/a-one#1.2.3", project.root().display());
    for (flags, expected) in [
        (&[][..], &ALL[..]),
        (&["--workspace"], &ALL),
        (&["--all"], &ALL),
        (&["-p", "b"], &["b"]),
        (&["-p", "b", "--package=a-two"], &["a-two", "b"]),
        (&["-p", "a-*"], &["a-one", "a-two"]),
        (&["-p", "a-[ot]??"], &["a-one", "a-two"]),
        (&["-p", "[!a]*"], &["b"]),
        (&["-p", "a-one@1.2"], &["a-one"]),
        (&["-p", "a-one:1.2.3"], &["a-one"]),
        (&["-p", &url], &["a-one"]),
        (&["--workspace", "--exclude", "a-*"], &["b"]),
        (&["--workspace", "-p", "b"], &ALL),
        (
            &["--workspace", "--exclude", "a-*", "--exclude", "nobody"],
            &["b"],
        ),
    ] {
        let output = project.gpuk(&[&["build"], flags].concat());
        assert_eq!(output.code, Some(101), "{flags:?}: {}", output.shown());
        assert_eq!(taken(&output), expected, "{flags:?}: {}", output.stderr);
        let warned = output
            .stderr
            .contains("excluded package(s) `nobody` not found in workspace `[ROOT]`");
        assert_eq!(warned, flags.contains(&"nobody"), "{}", output.stderr);
    }
}

#[test]
fn a_spec_that_fits_nobody_is_an_error() {
    let project = workspace("");
    for spec in [
        "c",
        "a-one@2",
        "a-???e",
        "path+file:///nowhere#a-one",
        "",
        "-x",
    ] {
        let output = project.gpuk(&["build", &format!("--package={spec}")]);
        assert_eq!(output.code, Some(102), "{spec}: {}", output.shown());
        assert!(
            output.stderr.contains(&format!("matches `{spec}`")),
            "{}",
            output.stderr
        );
    }
    let output = project.gpuk(&["build", "--workspace", "--exclude", "*"]);
    assert_eq!(output.code, NOTHING, "{}", output.shown());
}

#[test]
fn defaults_follow_the_folder_and_the_workspace() {
    let project = workspace("default-members = [\"a-two\"]");
    assert_eq!(taken(&project.gpuk(&["build"])), ["a-two"]);
    let mut command = project.gpuk_command(&["build"]);
    let output = command
        .current_dir(project.root().join("b/src"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("kernels of `b`") && !said.contains("kernels of `a-two`"),
        "{said}"
    );
    for path in ["b/Cargo.toml", "./b/../b/Cargo.toml"] {
        let output = project.gpuk(&["build", "--manifest-path", path]);
        assert_eq!(taken(&output), ["b"], "{}", output.stderr);
    }
}

#[test]
fn a_manifest_that_is_none_is_told_in_cargos_words() {
    let project = workspace("").file("broken/Cargo.toml", "[package\n");
    for (path, said) in [
        (
            "nowhere/Cargo.toml",
            "manifest path `nowhere/Cargo.toml` does not exist",
        ),
        ("broken/Cargo.toml", "broken/Cargo.toml"),
    ] {
        for command in ["build", "list", "clean", "vendor", "compile-commands"] {
            let output = project.gpuk(&[command, "--manifest-path", path]);
            assert_eq!(output.code, Some(102), "{}", output.shown());
            assert!(output.stderr.contains(said), "{}", output.stderr);
        }
    }
    let empty = tempfile::tempdir().unwrap();
    let mut command = project.gpuk_command(&["build"]);
    let output = command.current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(102));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("could not find `Cargo.toml`"), "{said}");
}
