//! The command line itself: how the program is called, what it says of itself, what it says of mistakes.

use gpuk_tests::Output;

use super::{NOTHING, bare};

const COMMANDS: [&[&str]; 5] = [
    &[],
    &["build"],
    &["check"],
    &["toolchain"],
    &["toolchain", "install"],
];

fn gpuk(args: &[&str]) -> Output {
    bare().gpuk(args)
}

#[test]
fn it_may_be_started_by_cargo_or_by_its_own_name() {
    for args in [&["build"][..], &["gpuk", "build"]] {
        assert_eq!(gpuk(args).code, NOTHING, "{args:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("cargo-gpuk");
    std::fs::copy(super::GPUK, &program).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", folder.path().display());
    let project = bare().env("PATH", Some(&path));
    let output = project.cargo(&["gpuk", "build"]);
    assert_eq!(
        output.code,
        NOTHING,
        "cargo passes the code on: {}",
        output.shown()
    );
    let help = project.cargo(&["help", "gpuk"]).ok();
    assert!(
        help.stdout.contains("Usage: cargo gpuk <COMMAND>"),
        "{}",
        help.stdout
    );
}

#[test]
fn help_and_version_go_to_standard_output() {
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let output = gpuk(&[command, &[flag]].concat()).ok();
            let usage = [&["Usage: cargo gpuk"], command].concat().join(" ");
            assert!(output.stdout.contains(&usage), "{}", output.stdout);
            assert_eq!(output.stderr, "");
        }
        for flag in ["-V", "--version"] {
            let output = gpuk(&[command, &[flag]].concat()).ok();
            let version = format!("cargo gpuk {}", env!("CARGO_PKG_VERSION"));
            assert_eq!((output.stdout, output.stderr), (version, String::new()));
        }
    }
    assert_eq!(
        gpuk(&["help", "build"]).stdout,
        gpuk(&["build", "--help"]).stdout
    );
}

#[test]
fn mistakes_are_told_on_standard_error_with_what_is_near() {
    for (args, said) in [
        (&[][..], "Usage: cargo gpuk <COMMAND>"),
        (&["buld"], "a similar subcommand exists: 'build'"),
        (
            &["build", "--relaese"],
            "a similar argument exists: '--release'",
        ),
        (&["build", "--engine", "nvc"], "nvcc"),
        (
            &["build", "--jobs", "many"],
            "invalid value 'many' for '--jobs <N>'",
        ),
        (
            &["build", "-q", "-v"],
            "'--quiet' cannot be used with '--verbose",
        ),
        (&["build", "--exclude", "p"], "--workspace"),
        (&["build", "-r", "--profile", "dev"], "cannot be used with"),
        (
            &["build", "--json", "--message-format", "short"],
            "cannot be used with",
        ),
        (&["check", "--", "--all-targets"], "--rust"),
        (&["explain", "GPUK9999"], "GPUK9999"),
        (
            &["toolchain", "install", "thirteen"],
            "`thirteen` is not a version such as `13.0`",
        ),
    ] {
        let output = gpuk(args);
        assert_eq!(output.code, Some(2), "{args:?}: {}", output.shown());
        assert!(output.stderr.contains(said), "{args:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{args:?}");
    }
}

#[test]
fn a_flag_before_the_command_is_told_where_it_belongs() {
    for flag in ["--offline", "--verbose", "-q", "--color"] {
        let output = gpuk(&[flag, "build"]);
        assert_eq!(output.code, Some(2));
        let said = format!("tip: `{flag}` belongs after the command: cargo gpuk build {flag}");
        assert!(output.stderr.contains(&said), "{}", output.stderr);
    }
    let output = gpuk(&["--offlin", "build"]);
    assert!(!output.stderr.contains("belongs"), "{}", output.stderr);
}
