//! cudarc's own tests of its driver module, as published, on the simulator. What comes of each stands in the book.

use std::collections::BTreeMap;

use gpuk_tests::{Output, Project, copy, fetch, workspace_root};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// Tests that do not pass, and those that are left out as they pass by chance, each with the reason.
const NOT: [(&str, &str); 8] = [
    (
        "core::tests::test_default_pinned_host_reads_are_faster_than_write_combined",
        "compares the times of reads from two kinds of memory, which are one here",
    ),
    (
        "core::tests::test_pinned_copy_is_faster",
        "compares the times of copies from two kinds of memory, which are one here",
    ),
    (
        "launch::tests::test_launch_with_half",
        "compiles for `compute_53`, which NVRTC 13 does not have",
    ),
    (
        "launch::tests::test_multi_stream_concurrent_reads",
        "wants two kernels to run at once; here one has all cores",
    ),
    (
        "launch::tests::test_par_launch",
        "compares the times of two kernels on one stream and on two",
    ),
    ("result::tests::peer_transfer_contexts", "needs two devices"),
    (
        "result::tests::re_associate_context_for_memory_op",
        "needs two devices",
    ),
    (
        "launch::tests::test_peer_memcpy_waits_for_src_stream",
        "needs two devices",
    ),
];

/// Of those, the ones that are run.
const RUN: [&str; 1] = ["launch::tests::test_launch_with_half"];

/// Tests that must be alone in their process.
const ALONE: [&str; 2] = [
    "driver::safe::core::tests::test_post_alloc_memory",
    "driver::safe::launch::tests::test_device_side_assert",
];

fn version() -> String {
    let lock = std::fs::read_to_string(workspace_root().join("Cargo.lock")).unwrap();
    let (_, rest) = lock.split_once("name = \"cudarc\"\nversion = \"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

/// The tests' own names and what came of them.
fn outcomes(output: &Output) -> BTreeMap<String, String> {
    let lines = output.stdout.lines();
    let lines = lines.filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
    lines
        .map(|(name, outcome)| {
            let name = name.split(" - ").next().unwrap();
            let outcome = outcome.split(',').next().unwrap();
            (name.to_owned(), outcome.to_owned())
        })
        .collect()
}

/// Without the modules that all share.
fn short(name: &str) -> &str {
    let name = name.strip_prefix("driver::").unwrap_or(name);
    name.strip_prefix("safe::").unwrap_or(name)
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_cudarcs_own_tests_run_on_the_simulator() {
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cudarc");
    // NVRTC is a part of the compiler.
    let libraries = format!("{}/lib", std::env::var("CUDA_HOME").unwrap());
    let project = Project::new("cudarc", GPUK)
        .env("CARGO_TARGET_DIR", Some(&target.display().to_string()))
        .env("LD_LIBRARY_PATH", Some(&libraries))
        .env("GPUK_SIM_LOG", Some("off"))
        .env("RUST_BACKTRACE", Some("0"));
    copy(&fetch("cudarc", &version(), GPUK), &project.root());
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    project.write("Cargo.toml", &format!("{manifest}\n[workspace]\n"));
    let lock = std::fs::read_to_string(workspace_root().join("Cargo.lock")).unwrap();
    project.write("Cargo.lock", &lock);

    let features = "std,driver,nvrtc,f16,cuda-13000,fallback-dynamic-loading";
    let run = |args: &[&str]| {
        let cargo = [
            "--lib",
            "--no-default-features",
            "--features",
            features,
            "--",
        ];
        project.gpuk(&[&["test", "--sim", "--"], &cargo[..], args].concat())
    };
    let left_out = NOT
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !RUN.contains(name));
    let mut args = vec!["driver::", "--format=pretty"];
    args.extend(left_out.flat_map(|name| ["--skip", name]));
    let output = run(&args);
    let mut outcomes = outcomes(&output);
    assert!(outcomes.len() > 30, "{}", output.shown());
    for name in ALONE {
        let output = run(&[name, "--exact", "--include-ignored", "--format=pretty"]);
        outcomes.extend(self::outcomes(&output));
    }
    let (passed, failed): (Vec<_>, Vec<_>) = outcomes.iter().partition(|(_, said)| *said == "ok");
    let failed: Vec<_> = failed.iter().map(|(name, _)| short(name)).collect();
    assert_eq!(failed, RUN, "{}", output.shown());

    let mut table = format!(
        "Of the {} tests of cudarc {}'s driver module {} pass.\n\n| the others | why |\n| --- | --- |\n",
        passed.len() + NOT.len(),
        version(),
        passed.len()
    );
    for (name, why) in NOT {
        let name = name.replace("tests::", "");
        table.push_str(&format!("| `{name}` | {why} |\n"));
    }
    in_the_book(&table);
}

/// Compares the part of the page with what it should be, or rewrites it.
fn in_the_book(table: &str) {
    let path = workspace_root().join("book/src/contributing/testing.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (open, close) = ("<!-- generated: cudarc -->\n", "<!-- end -->");
    let (before, rest) = page.split_once(open).unwrap();
    let (part, after) = rest.split_once(close).unwrap();
    if part.trim() == table.trim() {
        return;
    }
    assert!(
        std::env::var_os("UPDATE").is_some(),
        "the table in the book is stale; rewrite with UPDATE=1\n{table}"
    );
    let page = format!("{before}{open}\n{table}\n{close}{after}");
    std::fs::write(path, page).unwrap();
}
