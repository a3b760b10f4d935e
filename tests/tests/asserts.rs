//! Kernels of published crates that use `assert`, fetched by cargo when the test runs: their asserts are checks
//! without a change to the source.

use std::collections::BTreeMap;

use gpuk_tests::{Project, copy, fetch};
use serde_json::Value;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// For each assert how many kernels come to it, after a build whose PTX has no failure function left.
fn asserts(project: &Project, package: &str) -> BTreeMap<String, usize> {
    let listed = project.gpuk(&["list", "--message-format", "json"]).ok();
    let _ = project.gpuk(&["build"]).ok();
    let images = project
        .root()
        .join("target/gpuk")
        .join(package)
        .join("images");
    for image in std::fs::read_dir(images).unwrap().flatten() {
        if image.path().extension().is_some_and(|it| it == "ptx") {
            let text = std::fs::read_to_string(image.path()).unwrap();
            assert!(!text.contains("__assertfail"), "{:?}", image.path());
        }
    }
    let mut found = BTreeMap::new();
    for line in listed.stdout.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        for site in message["sites"].as_array().into_iter().flatten() {
            assert_eq!(site["kind"], "assert");
            let (place, condition) = (&site["place"], site["condition"].as_str().unwrap());
            let file = place["file"].as_str().unwrap();
            let key = format!("{file}:{} {condition}", place["line"]);
            *found.entry(key).or_default() += 1;
        }
    }
    found
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_asserts_of_dfdx_are_checks() {
    let project = Project::new("dfdx", GPUK).config("include = ['include']");
    let source = fetch("dfdx", "0.13.0", GPUK).join("src/tensor_ops");
    copy(
        &source.join("select_and_gather"),
        &project.root().join("kernels"),
    );
    copy(&source.join("utilities"), &project.root().join("include"));
    let expected = [
        ("kernels/gather.cu:37 idx_mid < inp_dims[ax]", 6),
        ("kernels/select.cu:24 idx_mid < inp_dims[idx_num_dims]", 6),
    ];
    let expected = expected.map(|(check, kernels)| (check.to_owned(), kernels));
    assert_eq!(asserts(&project, "dfdx"), BTreeMap::from(expected));
}

/// Its assert stands before a grid's barrier. All threads fail it or none, so nobody is left to wait.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_an_assert_of_sppark_before_a_grids_barrier_is_a_check() {
    let project = Project::new("sppark", GPUK)
        .config("include = ['include']\nflags = ['-std=c++17']")
        .file(
            "kernels/sort.cu",
            "#include <cassert>\n#include <cooperative_groups.h>\n#include <cuda.h>\n#include <util/vec2d_t.hpp>\n\
             #include <msm/sort.cuh>\n",
        );
    let source = fetch("sppark", "0.1.16", GPUK).join("sppark");
    copy(&source, &project.root().join("include"));
    let check =
        "include/msm/sort.cuh:312 len <= (1U<<31) && wbits <= 2*DIGIT_BITS && gridDim.x <= WARP_SZ";
    assert_eq!(
        asserts(&project, "sppark"),
        BTreeMap::from([(check.to_owned(), 1)])
    );
}
