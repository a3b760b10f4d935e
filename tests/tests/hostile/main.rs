//! Names that a shell, a format string, a list or a terminal would read, wherever a name can stand.
//!
//! A folder below folders of all names tries all at once. Every build runs with a program on PATH that leaves a mark when anything starts it, and hostile names start it where a
//! shell reads them. Whatever becomes of a build, nothing runs, nothing is written but into the folders of the results, and
//! the build ends with a code: 0 where the name can be had, the documented one where it cannot.
//!
//! `names` are the names of files and folders, `values` those of settings, flags, variables and arguments, `host` those of host
//! functions, which nvcc compiles through a shell; `length` says how long the names are that gpuk itself makes.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests")]

mod host;
mod length;
mod names;
mod values;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const SET: &str = "extern \"C\" __global__ void set(char *p) { p[0] = 1; }\n";

/// What starts `canary` where a shell reads it, by the ways of quoting.
const STARTING: [&[u8]; 6] = [
    b"$(canary)",
    b"`canary`",
    b"a';canary;'b",
    b"a\";canary;\"b",
    b"a\\$(canary)",
    b"a\ncanary\nb",
];

/// What else has a meaning somewhere.
const ODD: [&[u8]; 27] = [
    b"a;canary;b",
    b"a&canary&b",
    b"a|canary",
    b"a\\\";canary;\\\"b",
    b"'$(canary)'",
    b"\"$(canary)\"",
    b"a'\ncanary\n'b",
    b"$HOME",
    b"it's",
    b"say \"x\"",
    b" a  b ",
    b"-O3",
    b"--help",
    b"%PATH%",
    b"%s%n",
    b"a..",
    b"a\\b",
    "\u{fc}\u{ef}".as_bytes(),
    b"a\tb",
    b"*?[x]",
    b"~",
    b"#a",
    b"{a,b}",
    b"a>b<c",
    b"@a",
    b"a=b:c",
    b"\x1b[31m",
];

/// A name that is no text.
const BYTES: &[u8] = b"latin-\xe9";

/// All of them that are text.
fn texts() -> impl Iterator<Item = &'static str> {
    let all = STARTING.iter().chain(&ODD);
    all.map(|name| std::str::from_utf8(name).unwrap())
}

/// A folder below folders that are called so, each in the one before.
fn nested(wanted: impl Fn(&str) -> bool) -> PathBuf {
    texts().filter(|name| wanted(name)).collect()
}

/// A project beside a program that leaves a mark, both in a folder of their own.
struct Trap {
    project: Project,
    outside: tempfile::TempDir,
}

impl Trap {
    fn new(project: Project) -> Self {
        let outside = tempfile::tempdir().unwrap();
        let canary = outside.path().join("canary");
        let script = format!(
            "#!/bin/sh\necho \"$0\" >> '{}/mark'\n",
            outside.path().display()
        );
        std::fs::write(&canary, script).unwrap();
        std::fs::set_permissions(&canary, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { project, outside }
    }

    fn root(&self) -> PathBuf {
        self.project.root()
    }

    /// `cargo gpuk` with the program on PATH.
    fn command(&self, args: &[&OsStr]) -> Command {
        let mut command = self.project.gpuk_command(&[]);
        let mut path = self.outside.path().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        command.args(args).env("PATH", path);
        command
    }

    /// Runs it: nothing else ran, and it did not panic. The code, and standard error.
    fn run(&self, what: &str, mut command: Command) -> (i32, String) {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !self.outside.path().join("mark").exists(),
            "{what}: a shell read it\n{said}"
        );
        assert!(!said.contains("panicked"), "{what}: {said}");
        let code = output.status.code();
        (code.unwrap_or_else(|| panic!("{what}: {said}")), said)
    }

    /// As [`run`](Self::run), for `build`.
    fn build(&self, what: &str) -> (i32, String) {
        self.run(what, self.command(&["build".as_ref()]))
    }
}

/// A project with a kernel.
fn project() -> Project {
    Project::new("p", GPUK).file("kernels/set.cu", SET)
}

/// As a TOML string.
fn toml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Every file and folder below `folder` but for those below `left_out`.
fn tree(folder: &Path, left_out: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path == left_out {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            found.append(&mut tree(&path, left_out));
        }
        found.insert(path);
    }
    found
}
