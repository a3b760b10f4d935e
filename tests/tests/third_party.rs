//! Kernels that people have: the `.cu` files of a published crate, fetched by cargo when the test runs.

use std::path::{Path, PathBuf};

use gpuk_tests::{Project, copy, fetch, workspace_root};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

#[test]
#[ignore = "needs nvcc"]
fn nvcc_every_candle_kernel_has_a_wrapper_or_a_coded_refusal() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("candle");
    let project = Project::kept("candle", GPUK, &folder).config(
        "kernels = ['src/**/*.cu']\nflags = ['--expt-relaxed-constexpr', '-std=c++17', '-O3']\ntraps = 'keep'",
    );
    copy(
        &fetch("candle-kernels", "0.11.1", GPUK).join("src"),
        &project.root().join("src"),
    );
    project.write("src/lib.rs", "");

    let listed = project.gpuk(&["list", "--message-format", "json"]);
    let messages: Vec<serde_json::Value> = listed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |reason: &str| {
        messages
            .iter()
            .filter(|m| m["reason"] == reason)
            .cloned()
            .collect::<Vec<_>>()
    };
    let (kernels, findings) = (of("gpuk-kernel"), of("compiler-message"));
    let refused: Vec<_> = findings
        .iter()
        // A template without an instance has no entry.
        .filter(|m| !m["message"]["code"].is_null() && m["message"]["code"]["code"] != "GPUK0024")
        .collect();
    let errors: Vec<_> = findings
        .iter()
        .filter(|m| m["message"]["level"] == "error")
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    println!(
        "candle-kernels 0.11.1: {} kernels with a wrapper, {} coded findings",
        kernels.len(),
        refused.len()
    );
    for refusal in &refused {
        println!(
            "  {} {}",
            refusal["message"]["code"]["code"], refusal["message"]["message"]
        );
    }
    let _ = project.gpuk(&["build"]).ok();
    let out = project.root().join("target/gpuk/candle");
    let entries = entries(&out);
    assert_eq!(
        kernels.len() + refused.len(),
        entries,
        "every entry of the PTX is accounted for"
    );

    run_in_the_simulator(&project, &out);
}

/// Entries in all PTX images.
fn entries(out: &Path) -> usize {
    let images = std::fs::read_dir(out.join("images"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let ptx = images.filter(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    let count = |path: PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .filter(|line| {
                line.trim_start_matches(".visible ")
                    .trim_start_matches(".weak ")
                    .starts_with(".entry ")
            })
            .count()
    };
    ptx.map(count).sum()
}

/// A crate that takes the wrappers in, with every warning an error, and launches through them: `fixtures/candle`.
fn run_in_the_simulator(project: &Project, out: &Path) {
    let root = workspace_root();
    project.write(
        "user/Cargo.toml",
        &format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\ngpuk = {{ path = {:?}, features = [\"f8\"] }}\n",
            root.join("build-support/runtime")
        ),
    );
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap();
    project.write("user/Cargo.lock", &lock);
    project.write(
        "user/src/lib.rs",
        &format!("//! Takes generated wrappers in.\n#![deny(warnings, missing_docs, unsafe_op_in_unsafe_fn)]\ninclude!({:?});\n", out.join("kernels.rs")),
    );
    copy(
        &root.join("tests/fixtures/candle"),
        &project.root().join("user"),
    );
    let tested = project.gpuk(&[
        "test",
        "--sim",
        "--manifest-path",
        "user/Cargo.toml",
        "--",
        "--quiet",
        "--",
        "--test-threads=1",
    ]);
    println!("{}", tested.ok().stdout);
}
