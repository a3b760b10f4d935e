//! Sources that need each other, and headers of other packages, from outside.

#![expect(clippy::unwrap_used, reason = "tests")]

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A kernel that calls a function of another file (rust-lang/cc-rs#508).
fn split() -> Project {
    Project::new("p", GPUK)
        .file(
            "kernels/scale.cu",
            "__device__ float factor(int i);\n\
             extern \"C\" __global__ void scale(float *x) { x[threadIdx.x] *= factor(threadIdx.x); }\n",
        )
        .file(
            "kernels/factor.cu",
            "#include <cassert>\n__device__ float factor(int i) { assert(i < 64); return i % 2 ? 1.0f : 0.5f; }\n",
        )
}

fn wrappers(project: &Project) -> String {
    std::fs::read_to_string(project.root().join("target/gpuk/p/kernels.rs")).unwrap()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_function_of_another_file_is_linked() {
    let project = split();
    let refused = project.gpuk(&["check"]);
    assert_ne!(refused.code, Some(0), "{}", refused.stderr);
    for said in ["GPUK0005", "`scale` calls `factor(int)`", "link.NAME"] {
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    let project = project.config("link.scaling = ['kernels/*.cu']");
    drop(project.gpuk(&["build"]).ok());
    let all = wrappers(&project);
    assert!(all.contains("pub mod scaling {") && !all.contains("pub mod scale {"));
    // The other file's check is one of the kernel.
    assert!(all.contains("checked: true") && all.contains("kernels/factor.cu"));
    let before = all;
    project.write(
        "kernels/factor.cu",
        "__device__ float factor(int i) { return i; }\n",
    );
    drop(project.gpuk(&["build"]).ok());
    let after = wrappers(&project);
    assert!(after.contains("checked: false"));
    assert_ne!(before, after);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_does_not_link_names_file_and_symbol() {
    let project = split().config("link.scaling = ['kernels/*.cu']");
    project.write(
        "kernels/factor.cu",
        "__device__ double factor(long i) { return i; }\n",
    );
    let missing = project.gpuk(&["check"]).stderr;
    assert!(
        missing.contains(
            "`kernels/scale.cu` calls `factor(int)`, which no source of the module defines"
        ),
        "{missing}"
    );
    assert!(missing.contains("kernels/scale.cu:2:1"), "{missing}");
    project.write(
        "kernels/factor.cu",
        "__device__ float factor(int i) { return i; }\n\nextern \"C\" __global__ void scale(float *x) {}\n",
    );
    let twice = project.gpuk(&["check"]).stderr;
    assert!(
        twice.contains("error[GPUK0041]: `scale` is defined twice"),
        "{twice}"
    );
    assert!(
        twice.contains("kernels/factor.cu:3:1") && twice.contains("kernels/scale.cu:2:1"),
        "{twice}"
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_headers_of_a_dependency_are_found() {
    let project = Project::new("p", GPUK)
        .file("math/Cargo.toml", "[package]\nname = \"math\"\nversion = \"0.1.0\"\nedition = \"2024\"\nlinks = \"field-math\"\nbuild = \"build.rs\"\n\n[package.metadata.gpuk]\nexport-include = [\"include\"]\n")
        .file("math/build.rs", "fn main() {}\n")
        .file("math/src/lib.rs", "")
        .file("math/include/field.cuh", "__device__ inline float twice(float x) { return x + x; }\n")
        .file("kernels/scale.cu", "#include \"field.cuh\"\nextern \"C\" __global__ void scale(float *x) { *x = twice(*x); }\n")
        .config("include-from = ['field-math']\n\n[dependencies]\nmath = { path = 'math' }");
    drop(project.gpuk(&["build"]).ok());
    assert!(wrappers(&project).contains("pub unsafe fn scale<"));
    project.write(
        "math/include/field.cuh",
        "__device__ inline float twice(float x) { return y; }\n",
    );
    let changed = project.gpuk(&["build"]);
    assert!(
        changed.stderr.contains("math/include/field.cuh:1"),
        "{}",
        changed.stderr
    );
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    project.write("Cargo.toml", &manifest.replace("'field-math'", "'other'"));
    let unknown = project.gpuk(&["check"]).stderr;
    assert!(
        unknown.contains("`include-from` names `other`"),
        "{unknown}"
    );
}
