//! One crate through the command, and what came of its kernels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gpuk_tests::{Project, workspace_root};
use serde_json::Value;

use crate::bring::{self, sources, under};
use crate::crates::Crate;
use crate::{GPUK, TMP};

/// What came of a crate's kernels.
pub(crate) struct Count {
    /// `.cu` files that the crate's own build compiles.
    pub(crate) files: usize,
    /// Of them, those that are left out.
    pub(crate) left: usize,
    /// Entries of the PTX.
    pub(crate) kernels: usize,
    /// Of them, those of the toolkit's own headers: sorts and scans that host code launches.
    pub(crate) toolkit: usize,
    pub(crate) wrappers: usize,
    /// By code, the kernels that have no wrapper.
    pub(crate) refused: BTreeMap<String, Refused>,
    /// The version of the toolkit that compiled them, `13.0.88`.
    pub(crate) compiler: String,
}

/// By file and name why a kernel is refused.
pub(crate) type Refused = BTreeMap<(String, String), String>;

/// Compiles a crate's kernels, checks what was generated, and counts. Every kernel has a wrapper or a reason.
pub(crate) fn count(of: &Crate) -> Count {
    let (project, left) = bring::project(of);
    let listed = project.gpuk(&["list", "--json"]).ok();
    let messages = listed.stdout.lines().map(serde_json::from_str);
    let messages: Vec<Value> = messages.map(Result::unwrap).collect();
    let wrappers = messages
        .iter()
        .filter(|message| message["reason"] == "gpuk-kernel")
        .count();
    let (mut refused, mut toolkit) = (BTreeMap::<String, Refused>::new(), BTreeSet::new());
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
        let (kernel, after) = rest.split_once('`').unwrap();
        let (kernel, why) = (kernel.to_owned(), before.trim_end_matches(" of "));
        let file = message["spans"][0]["file_name"].to_string();
        match code {
            "GPUK0015" => drop(toolkit.insert((file, kernel))),
            _ => drop(
                refused
                    .entry(code.to_owned())
                    .or_default()
                    .insert((file, kernel), format!("{why}{after}")),
            ),
        }
    }
    let _ = project.gpuk(&["build"]).ok();
    let ptx = ptx(&project);
    let kernels = ptx.iter().map(|text| entries(text)).sum();
    let distinct: BTreeSet<_> = refused
        .values()
        .flat_map(BTreeMap::keys)
        .chain(&toolkit)
        .collect();
    assert_eq!(
        wrappers + distinct.len(),
        kernels,
        "{}: a wrapper or a reason",
        of.name
    );
    check(&project);
    Count {
        files: sources(&project).len() + left,
        left,
        kernels,
        toolkit: toolkit.len(),
        wrappers,
        refused,
        compiler: version(&project),
    }
}

/// The generated module compiles with every warning an error, and is as rustfmt would write it.
fn check(project: &Project) {
    let kernels = project.root().join("target/gpuk/yardstick/kernels.rs");
    let target = Path::new(TMP).join("check");
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

/// The PTX of all units: the images of the last build.
fn ptx(project: &Project) -> Vec<String> {
    let files = under(&project.root().join("target/gpuk/yardstick/images"));
    let files = files.into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|it| it == "ptx"));
    files
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

/// Entries of a unit, counted in the text.
fn entries(ptx: &str) -> usize {
    let is_entry = |line: &&str| {
        let words = line
            .trim_start_matches(".visible ")
            .trim_start_matches(".weak ");
        words.starts_with(".entry ")
    };
    ptx.lines().filter(is_entry).count()
}

/// Of the toolkit that was found.
fn version(project: &Project) -> String {
    let said = project.gpuk(&["doctor", "--json"]).ok().stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    let version = &said["toolchain"]["version"];
    let parts = ["major", "minor", "build"].map(|part| version[part].as_u64().unwrap().to_string());
    parts.join(".")
}
