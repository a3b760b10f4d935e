//! One crate through the command, and what came of its kernels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gpuk_tests::{Project, copy, fetch, workspace_root};
use serde_json::Value;

use crate::crates::Crate;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// What came of a crate's kernels.
pub(crate) struct Count {
    /// `.cu` files that the crate's own build compiles.
    pub(crate) files: usize,
    /// Entries of the PTX.
    pub(crate) kernels: usize,
    /// Of them, those of the toolkit's own headers: sorts and scans that host code launches.
    pub(crate) toolkit: usize,
    pub(crate) wrappers: usize,
    /// By code, how many kernels have no wrapper.
    pub(crate) refused: BTreeMap<String, usize>,
}

/// Compiles a crate's kernels, checks what was generated, and counts. Every kernel has a wrapper or a reason.
pub(crate) fn count(of: &Crate) -> Count {
    let project = Project::new("yardstick", GPUK).config(of.config);
    let source = fetch(of.name, of.version, GPUK);
    for folder in of.folders {
        copy(&source.join(folder), &project.root().join(folder));
    }
    for need in of.needs {
        let from = fetch(need.name, need.version, GPUK).join(need.folder);
        copy(&from, &project.root().join("deps").join(need.name));
    }
    for (file, why) in of.skipped {
        let file = project.root().join(file);
        assert!(std::fs::remove_file(&file).is_ok(), "{why}: no {file:?}");
    }

    let listed = project.gpuk(&["list", "--json"]).ok();
    let messages = listed.stdout.lines().map(serde_json::from_str);
    let messages: Vec<Value> = messages.map(Result::unwrap).collect();
    let wrappers = messages
        .iter()
        .filter(|message| message["reason"] == "gpuk-kernel")
        .count();
    let (mut refused, mut toolkit) = (BTreeMap::<String, BTreeSet<_>>::new(), BTreeSet::new());
    for message in messages.iter().map(|message| &message["message"]) {
        let (Some(code), Some(text)) = (
            message["code"]["code"].as_str(),
            message["message"].as_str(),
        ) else {
            continue;
        };
        if !matches!(code, "GPUK0010" | "GPUK0011" | "GPUK0012" | "GPUK0015") {
            continue;
        }
        println!("{}: {code}: {text}", of.name);
        // A kernel with several parameters of no counterpart has a finding for each.
        let (before, rest) = text
            .split_once("kernel `")
            .or_else(|| text.split_once("entry `"))
            .unwrap();
        let kernel = rest.split('`').next().unwrap().to_owned();
        let file = message["spans"][0]["file_name"].to_string();
        match before.is_empty() && text.starts_with("entry `") {
            true => toolkit.insert((file, kernel)),
            false => refused
                .entry(code.to_owned())
                .or_default()
                .insert((file, kernel)),
        };
    }
    let kernels = entries(&project);
    let distinct: BTreeSet<_> = refused.values().flatten().chain(&toolkit).collect();
    assert_eq!(
        wrappers + distinct.len(),
        kernels,
        "{}: a wrapper or a reason",
        of.name
    );
    let _ = project.gpuk(&["build"]).ok();
    check(&project);
    Count {
        files: cu_files(&project) + of.skipped.len(),
        kernels,
        toolkit: toolkit.len(),
        wrappers,
        refused: refused
            .into_iter()
            .map(|(code, of)| (code, of.len()))
            .collect(),
    }
}

/// The generated module compiles with every warning an error, and is as rustfmt would write it.
fn check(project: &Project) {
    let kernels = project.root().join("target/gpuk/yardstick/kernels.rs");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check");
    let runtime = workspace_root().join("build-support/runtime");
    let user = Project::new("user", GPUK).env("CARGO_TARGET_DIR", target.to_str());
    let manifest = std::fs::read_to_string(user.root().join("Cargo.toml")).unwrap();
    let lock = std::fs::read_to_string(workspace_root().join("Cargo.lock")).unwrap();
    user.write("Cargo.lock", &lock);
    user.write(
        "Cargo.toml",
        &format!(
            "{manifest}\n[dependencies]\ngpuk = {{ path = {runtime:?}, features = [\"f8\"] }}\n"
        ),
    );
    user.write(
        "src/lib.rs",
        &format!(
            "//! Takes generated wrappers in.\n#![deny(warnings, missing_docs, unsafe_op_in_unsafe_fn)]\n\n/// All of them.\n#[path = {kernels:?}]\npub mod kernels;\n"
        ),
    );
    let _ = user.cargo(&["check", "--offline"]).ok();
    let _ = user.cargo(&["fmt", "--check"]).ok();
}

/// Entries in the PTX of all units, counted in the text.
fn entries(project: &Project) -> usize {
    let is_entry = |line: &&str| {
        let words = line
            .trim_start_matches(".visible ")
            .trim_start_matches(".weak ");
        words.starts_with(".entry ")
    };
    let files = under(&project.root().join("target"));
    let ptx = files.iter().filter(|path| path.ends_with("module.ptx"));
    ptx.map(|path| {
        std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .filter(is_entry)
            .count()
    })
    .sum()
}

/// The sources that are left, without headers of that name.
fn cu_files(project: &Project) -> usize {
    let files = under(&project.root());
    let deps = project.root().join("deps");
    let mine = files.iter().filter(|path| !path.starts_with(&deps));
    mine.filter(|path| path.extension().is_some_and(|it| it == "cu"))
        .count()
}

fn under(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(under(&path)),
            path => files.push(path),
        }
    }
    files
}
