//! Generated wrappers, compared with the files in `golden`; `UPDATE=1 cargo test --test golden` rewrites those.

mod inputs;

use std::fs;
use std::path::{Path, PathBuf};

use gpuk_build::generate::{ModuleBindings, package, signature};
use gpuk_build::run::ToolCommand;
use inputs::random::Random;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn wrappers_are_those_in_the_repository() {
    let mut stale = Vec::new();
    let mut files = vec![("signatures.txt".to_owned(), listing())];
    for (name, modules) in inputs::all() {
        files.push((format!("{name}.rs"), package(&modules)));
    }
    for (name, text) in files {
        let file = folder().join(&name);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&file, text).unwrap();
        } else if fs::read_to_string(&file).unwrap_or_default() != text {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {stale:?}; rewrite with UPDATE=1 and read the difference"
    );
}

/// What `cargo gpuk list` shows of each kernel.
fn listing() -> String {
    let mut text = String::new();
    for (_, modules) in inputs::all() {
        for ModuleBindings { signatures, .. } in modules {
            for kernel in &signatures.kernels {
                text += &signature(&signatures, kernel);
                text.push('\n');
            }
        }
    }
    text
}

#[test]
fn wrappers_are_laid_out_as_rustfmt_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (name, modules) in inputs::all() {
        let file = dir.path().join(name).with_extension("rs");
        fs::write(&file, package(&modules)).unwrap();
        files.push(file);
    }
    rustfmt(&files);
}

/// Fails with the difference to what rustfmt would write.
fn rustfmt(files: &[PathBuf]) {
    let check = ToolCommand::new("rustfmt")
        .args(["--check", "--edition", "2024", "--color", "never"])
        .args(files);
    if let Err(error) = check.run() {
        panic!("{error}");
    }
}

/// Names of every length, so that every way of breaking a line is met; `MODULES=5000` looks further.
#[test]
fn any_length_of_names_is_laid_out_as_rustfmt_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = Random(1);
    let count = std::env::var("MODULES").map_or(200, |it| it.parse().unwrap());
    let files: Vec<_> = (0..count)
        .map(|index| {
            let file = dir.path().join(format!("m{index}.rs"));
            fs::write(&file, package(&[random.module()])).unwrap();
            file
        })
        .collect();
    rustfmt(&files);
}
