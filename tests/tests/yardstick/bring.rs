//! The project that a crate's kernels are compiled in: its own sources, what they include, and what a program writes.

use std::path::{Path, PathBuf};

use gpuk_tests::{Project, copy, fetch, fetch_wheel};

use crate::crates::{Crate, Kind, Made};
use crate::{GPUK, TMP};

/// The project, and how many `.cu` files were left out of it.
pub(crate) fn project(of: &Crate) -> (Project, usize) {
    let project = match of.quick {
        true => Project::new("yardstick", GPUK),
        // What takes minutes to compile is there the next time.
        false => Project::kept(
            "yardstick",
            GPUK,
            &Path::new(TMP).join("yardstick").join(of.name),
        ),
    };
    let project = project.config(of.config);
    let source = fetch(of.name, of.version, GPUK);
    for folder in of.folders {
        copy(&source.join(folder), &project.root().join(folder));
    }
    for need in of.needs {
        let from = match need.kind {
            Kind::Crate => fetch(need.name, need.version, GPUK),
            Kind::Wheel => fetch_wheel(need.name, need.version, Path::new(TMP)),
        };
        let to = project.root().join("deps").join(need.name);
        copy(&from.join(need.folder), &to);
    }
    if let Some(made) = &of.made {
        project.write(made.file, &output(made));
    }
    let mut left = 0;
    for (pattern, why) in of.skipped {
        let files = sources(&project);
        let files = files.iter().filter(|path| is_named(path, pattern));
        let before = left;
        for file in files {
            std::fs::remove_file(project.root().join(file)).unwrap();
            left += 1;
        }
        assert!(left > before, "{why}: no `{pattern}`");
    }
    (project, left)
}

/// Whether a path is the pattern, in which `*` stands for anything.
fn is_named(path: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => path == pattern,
        Some((before, after)) => path.strip_prefix(before).is_some_and(|rest| {
            let mut ends = (0..=rest.len()).filter(|at| rest.is_char_boundary(*at));
            ends.any(|at| is_named(&rest[at..], after))
        }),
    }
}

/// What a program prints.
fn output(made: &Made) -> String {
    let project =
        Project::new("made", GPUK).env("CARGO_TARGET_DIR", Path::new(TMP).join("made").to_str());
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[dependencies]\n{}\n", made.dependencies),
    );
    std::fs::remove_file(project.root().join("src/lib.rs")).unwrap();
    project.write("src/main.rs", made.program);
    project.cargo(&["run", "--quiet"]).ok().stdout
}

/// The `.cu` files of a project, relative to it, without those of other packages and headers of that name.
pub(crate) fn sources(project: &Project) -> Vec<String> {
    let root = project.root();
    let mut files = Vec::new();
    for path in under(&root) {
        let path = path.strip_prefix(&root).unwrap();
        let is_other = path.starts_with("deps") || path.starts_with("target");
        if !is_other && path.extension().is_some_and(|it| it == "cu") {
            files.push(path.to_str().unwrap().to_owned());
        }
    }
    files
}

/// Every file below a folder.
pub(crate) fn under(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(under(&path)),
            path => files.push(path),
        }
    }
    files
}

#[test]
fn a_star_stands_for_anything() {
    assert!(is_named("kernels/a_sm80.cu", "kernels/*_sm80.cu"));
    assert!(is_named("kernels/a_fwd_sm80.cu", "kernels/*fwd*80.cu"));
    assert!(is_named("kernels/a.cu", "kernels/a.cu"));
    assert!(!is_named("kernels/a.cuh", "kernels/a.cu"));
    assert!(!is_named("kernels/a_sm90.cu", "kernels/*_sm80.cu"));
}
