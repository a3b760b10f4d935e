//! The two streams, also where one of them ends early, and terminals.

use std::process::{Command, Stdio};

use gpuk_tests::Project;

use super::{GPUK, bare, project};

/// Runs in a shell, `$GPUK` the program; standard output and error of the pipe.
fn shell(project: &Project, script: &str) -> (String, String) {
    let mut command = project.command_of("bash", &["-c", script]);
    let output = command.env("GPUK", GPUK).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_was_asked_for_goes_to_standard_output_and_talk_elsewhere() {
    let project = project();
    for (args, found) in [
        (&["build"][..], ""),
        (&["check"], ""),
        (&["compile-commands"], ""),
        (&["vendor"], ""),
        (&["list"], "unsafe fn set"),
        (&["expand"], "pub unsafe fn set"),
        (&["inspect"], ".visible .entry set"),
        (&["explain", "GPUK0001"], "GPUK0001"),
        (&["doctor"], "nvcc"),
        (&["completions", "bash"], "complete -F"),
        (&["clean"], ""),
    ] {
        let output = project.gpuk(args).ok();
        match found {
            "" => assert_eq!(output.stdout, "", "{args:?}"),
            found => assert!(output.stdout.contains(found), "{args:?}: {}", output.stdout),
        }
        assert!(!output.stdout.contains("Finished"), "{args:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let project = bare();
    for args in [
        "--help",
        "explain",
        "explain GPUK0001",
        "completions bash",
        "explain --json",
        "doctor",
    ] {
        // The reader is gone before anything is written.
        let script = format!("{{ sleep 0.3; \"$GPUK\" {args}; echo \"code $?\" >&2; }} | true");
        let (_, said) = shell(&project, &script);
        assert!(
            !said.contains("panicked") && !said.contains("Broken pipe"),
            "{args}: {said}"
        );
        // Without a compiler `doctor` has one code, with one the other.
        let fine = said.contains("code 0") || args == "doctor" && said.contains("code 103");
        assert!(fine, "{args}: {said}");
    }
    for args in ["build", "buld", "check --json"] {
        let script =
            format!("{{ sleep 0.3; \"$GPUK\" {args} 2>&1; echo \"code $?\" > code; }} | true");
        let (_, said) = shell(&project, &script);
        assert!(!said.contains("panicked"), "{said}");
        let code = std::fs::read_to_string(project.root().join("code")).unwrap();
        let expected = if args == "buld" { "code 2" } else { "code 104" };
        assert_eq!(code.trim(), expected, "{args}");
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_the_first_line_of_a_list_can_be_had_alone() {
    let project = project();
    let script = "set -o pipefail; \"$GPUK\" list -q | head -1; echo \"code $?\"";
    let (said, wrong) = shell(&project, script);
    let mut lines = said.lines();
    assert!(lines.next().unwrap().starts_with("kernel"), "{said}");
    assert_eq!(lines.next(), Some("code 0"), "{wrong}");
    assert_eq!(wrong, "");
}

/// What is seen on a terminal.
fn on_terminal(project: &Project, args: &[&str]) -> String {
    const SPAWN: &str = "import pty, sys\nsys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    let mut command: Command = project.command_of("python3", &["-c", SPAWN, GPUK]);
    let output = command.args(args).stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_progress_is_drawn_on_terminals_alone() {
    const BAR: &str = "/1: kernels/set.cu";
    let fresh = || project().env("CI", None).env("TERM", Some("xterm"));
    let drawn = on_terminal(&fresh(), &["build"]);
    assert!(
        drawn.contains(BAR) && !drawn.contains("Compiled"),
        "{drawn:?}"
    );
    for (name, value, flags) in [
        ("TERM", "dumb", &["build"][..]),
        ("CI", "true", &["build"]),
        ("CARGO_TERM_PROGRESS_WHEN", "never", &["build"]),
        ("TERM", "xterm", &["build", "-q"]),
        ("TERM", "xterm", &["check", "--json"]),
    ] {
        let drawn = on_terminal(&fresh().env(name, Some(value)), flags);
        assert!(!drawn.contains(BAR), "{name}={value} {flags:?}: {drawn:?}");
    }
    let always = fresh()
        .env("CI", Some("true"))
        .env("CARGO_TERM_PROGRESS_WHEN", Some("always"))
        .env("CARGO_TERM_PROGRESS_WIDTH", Some("80"));
    assert!(on_terminal(&always, &["build"]).contains(BAR));
    let output = always.gpuk(&["build"]).ok();
    assert!(
        !output.stderr.contains('\r') && !output.stderr.contains(BAR),
        "{}",
        output.stderr
    );
}
