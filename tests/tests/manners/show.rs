//! How much is said, and in which colours.

use super::{WRONG, bare, project};

const ESCAPE: char = '\u{1b}';

#[test]
#[ignore = "needs nvcc"]
fn nvcc_quiet_says_nothing_but_what_is_wrong_and_verbose_what_is_run() {
    let project = project();
    let output = project.gpuk(&["build", "-q"]).ok();
    assert_eq!((&*output.stdout, &*output.stderr), ("", ""));
    project.write(
        "kernels/set.cu",
        "extern \"C\" __global__ void set(char *p) { p[0] = 2; }\n",
    );
    let project = project.env("CARGO_TERM_QUIET", Some("true"));
    let output = project.gpuk(&["build"]).ok();
    assert_eq!(output.stderr, "");
    project.write(
        "kernels/set.cu",
        "extern \"C\" __global__ void set(char *p) { p[0] = 3; }\n",
    );
    let output = project.gpuk(&["build", "-v"]).ok();
    for program in ["cicc", "ptxas"] {
        let run = |line: &str| line.starts_with("     Running ") && line.contains(program);
        assert!(
            output.stderr.lines().any(run),
            "{program}: {}",
            output.stderr
        );
    }
    project.write("kernels/set.cu", WRONG);
    let output = project.gpuk(&["build", "-q"]);
    assert_eq!(output.code, Some(101));
    assert!(
        output.stderr.contains("identifier \"one\" is undefined"),
        "{}",
        output.stderr
    );
}

#[test]
fn flags_go_over_variables_in_colours() {
    // An unknown package is an error without a compiler; a misspelt command one before anything is read.
    for args in [&["build", "-p", "q"][..], &["buld"]] {
        for (variable, none, flag, expected) in [
            (None, None, None, false),
            (Some("never"), None, None, false),
            (Some("always"), None, None, true),
            (Some("always"), Some("1"), None, true),
            (Some("never"), None, Some("--color=always"), true),
            (Some("always"), None, Some("--color=never"), false),
            (None, Some("1"), Some("--color=always"), true),
        ] {
            let project = bare()
                .env("CARGO_TERM_COLOR", variable)
                .env("NO_COLOR", none);
            let output = project.gpuk(&[args, flag.as_slice()].concat());
            let coloured = output.stderr.contains(ESCAPE);
            assert_eq!(
                coloured, expected,
                "{args:?} {variable:?} {none:?} {flag:?}"
            );
        }
    }
    let output = bare().gpuk(&["build", "--help", "--color", "always"]).ok();
    assert!(output.stdout.contains(ESCAPE));
}

#[test]
fn variables_that_make_no_sense_are_told() {
    for (name, value) in [("CARGO_TERM_COLOR", "blue"), ("CARGO_TERM_COLOR", "")] {
        let output = bare().env(name, Some(value)).gpuk(&["build"]);
        assert_eq!(output.code, Some(2), "{}", output.shown());
        assert!(
            output
                .stderr
                .contains("[possible values: auto, always, never]"),
            "{}",
            output.stderr
        );
    }
}
