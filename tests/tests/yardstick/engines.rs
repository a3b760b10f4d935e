//! Both engines of a crate's kernels: whether what `auto` leaves out of the headers changes anything.

use std::collections::BTreeMap;
use std::path::Path;

use gpuk_tests::Project;

use crate::bring::{self, under};
use crate::crates::Crate;

/// What came of a crate.
pub(crate) struct Compared {
    /// Sources that were compiled with a part of the headers.
    pub(crate) short: usize,
    /// Of them, those that did not compile and were compiled once more with all.
    pub(crate) again: usize,
    pub(crate) kernels: usize,
    /// Those whose PTX, with line information, is not the same.
    pub(crate) different: Vec<String>,
}

/// Builds with each engine and compares images and wrappers, then what differs of them kernel by kernel.
pub(crate) fn compare(of: &Crate) -> Compared {
    let (project, _) = bring::project(of);
    let (auto, said) = build(&project, "auto", "target");
    // The two share a store, and what one has made the other takes from it.
    let (nvcc, _) = build(&project, "nvcc", "target/nvcc");
    let lines = |text: &str| said.lines().filter(|line| line.contains(text)).count();
    let kernels: Vec<_> = nvcc.values().flat_map(|text| kernels(text)).collect();
    let mut different = Vec::new();
    for name in nvcc.keys().filter(|name| !auto.contains_key(*name)) {
        let of_nvcc = self::kernels(&nvcc[name]);
        let before = different.len();
        for (kernel, text) in of_nvcc {
            let mut made = auto.values().flat_map(|text| self::kernels(text));
            if !made.any(|it| it == (kernel, text.clone())) {
                different.push(kernel.to_owned());
            }
        }
        if different.len() == before {
            different.push(format!("{name}, outside of its kernels"));
        }
    }
    assert_eq!(auto.len(), nvcc.len(), "{}: other images", of.name);
    Compared {
        short: lines("KB to read"),
        again: lines("once more"),
        kernels: kernels.len(),
        different,
    }
}

/// The images and wrappers by name, those of images being digests, and what the command said.
fn build(project: &Project, engine: &str, target: &str) -> (BTreeMap<String, String>, String) {
    let args = ["build", "-v", "--engine", engine, "--target-dir", target];
    let said = project.gpuk(&args).ok().stderr;
    let folder = project.root().join(target).join("gpuk/yardstick");
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let is_text = |path: &Path| {
        path.extension()
            .is_some_and(|extension| extension == "ptx" || extension == "rs")
    };
    let files = under(&folder.join("images")).into_iter();
    let files = files.chain([folder.join("kernels.rs")]);
    let files = files.filter(|path| is_text(path));
    let texts = files.map(|path| (name(&path), std::fs::read_to_string(path).unwrap()));
    (texts.collect(), said)
}

/// Entries of a PTX text, from their names to the closing brace.
fn kernels(ptx: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut is_inside = false;
    for line in ptx.lines() {
        if let Some((_, name)) = line.split_once(".entry ") {
            found.push((name.split('(').next().unwrap_or(name), String::new()));
            is_inside = true;
        }
        if let (true, Some((_, text))) = (is_inside, found.last_mut()) {
            text.push_str(line);
            text.push('\n');
        }
        is_inside &= line != "}";
    }
    found
}

#[test]
fn kernels_end_at_their_braces() {
    let ptx = ".visible .entry a(\n.param .u64 p\n)\n{\n{ ret; }\n}\n.func f()\n{\n}\n.entry b(\n)\n{\n}\n";
    let found = kernels(ptx);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].0, "a");
    assert!(found[0].1.ends_with("{ ret; }\n}\n"));
    assert_eq!(found[1], ("b", ".entry b(\n)\n{\n}\n".to_owned()));
}
