//! Host functions in `.cu` files: compiled, linked and declared, from outside.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use gpuk_tests::{Project, fetch};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const SUM: &str = r#"#include "sum.cuh"

// Adds on the host.
extern "C" Sum host_sum(int a, int b, Mode mode) {
    return Sum{FACTOR * (a + b), (a + b) / 2.0, mode};
}

extern "C" void fill(int *out, size_t n, const Sum &sum) {
    for (size_t i = 0; i < n; ++i) out[i] = sum.total;
}

static int hidden(int x) { return x; }
extern "C" int twice(int x) { return hidden(2 * x); }
"#;

const SCALE: &str = r#"__global__ void scale(float *x, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

extern "C" cudaError_t run_scale(float *x, int n, float factor, cudaStream_t stream) {
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x, n, factor);
    return cudaGetLastError();
}
"#;

const HEADER: &str = "#define FACTOR 1\nenum Mode { up, down = 5 };\nstruct Sum { int total; double mean; Mode mode; };\n";

const TEST: &str = r#"//! Calls what is linked.

#[test]
fn the_functions_of_the_library_are_called() {
    use p::sum::{Mode, Sum};
    // SAFETY: they take any numbers, and `fill` three of them.
    unsafe {
        let sum = p::sum::host_sum(20, 1, Mode::down);
        assert_eq!((sum.total, sum.mean, sum.mode), (FACTOR * 21, 10.5, Mode::down));
        let mut out = [0; 3];
        p::sum::fill(out.as_mut_ptr(), 2, &Sum { total: 7, ..sum });
        assert_eq!(out, [7, 7, 0]);
        assert_eq!(p::sum::twice(21), 42);
    }
}

#[test]
fn a_launcher_is_linked() {
    let stream = std::ptr::null_mut();
    // SAFETY: it launches nothing for no items; without a device it returns an error.
    let status = unsafe { p::scale::run_scale(std::ptr::null_mut(), 0, 1.0, stream) };
    assert_ne!(status, p::scale::cudaError::cudaSuccess);
}
"#;

/// A crate with two sources of host functions and a header.
fn package() -> Project {
    Project::new("p", GPUK)
        .config("host-objects = ['cuda/launchers/*.cu']\narchs = ['80', '90']")
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file(
            "src/lib.rs",
            "//! Launchers.\n#![deny(warnings, missing_docs)]\ngpuk::include_kernels!();\n",
        )
        .file("tests/calls.rs", &TEST.replace("FACTOR", "1"))
        .file("cuda/launchers/sum.cuh", HEADER)
        .file("cuda/launchers/sum.cu", SUM)
        .file("cuda/launchers/scale.cu", SCALE)
}

/// The entries of a store.
fn entries(store: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(store.join("units")).unwrap().flatten();
    let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_host_functions_are_linked_called_and_rebuilt_one_by_one() {
    let project = package();
    let store = project.root().join("store");
    let project = project.env("GPUK_STORE", Some(&store.display().to_string()));
    // What an earlier run left in the shared folder is right, and would be taken for this one's.
    let _ = project
        .cargo(&["clean", "--offline", "--package", "p"])
        .ok();
    let test = ["test", "--offline", "--quiet", "--test", "calls"];
    let tested = project.cargo(&test).ok();
    assert!(tested.stdout.contains("2 passed"), "{}", tested.stdout);
    let first = entries(&store);
    assert_eq!(first.len(), 2);

    // A header of one of them.
    project.write(
        "cuda/launchers/sum.cuh",
        &HEADER.replace("FACTOR 1", "FACTOR 3"),
    );
    project.write("tests/calls.rs", &TEST.replace("FACTOR", "3"));
    let _ = project.cargo(&test).ok();
    let second = entries(&store);
    assert_eq!(second.len(), 3, "{second:?}");

    // What is damaged is made again, by the same name.
    for entry in &second {
        std::fs::write(entry.join("host.o"), "").unwrap();
    }
    project.write("cuda/launchers/sum.cuh", HEADER);
    project.write("tests/calls.rs", &TEST.replace("FACTOR", "1"));
    let _ = project.cargo(&test).ok();
    let object = |entry: &PathBuf| std::fs::metadata(entry.join("host.o")).unwrap().len();
    assert!(first.iter().all(|entry| object(entry) > 0));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_is_wrong_in_a_launcher_is_found_at_its_place() {
    let project = Project::new("p", GPUK)
        .config("host-objects = ['kernels/*.cu']")
        .file(
            "kernels/a.cu",
            "extern \"C\" int wrong(int x) {\n    return y;\n}\n",
        )
        .file(
            "kernels/b.cu",
            "#include \"gpuk.cuh\"\n__global__ void k(int *x) {\n    GPUK_CHECK(*x > 0, \"{}\", *x);\n}\nextern \"C\" void run(int *x) { k<<<1, 1>>>(x); }\n",
        );
    let said = project.gpuk(&["check"]);
    assert_ne!(said.code, Some(0));
    let expected = [
        "error: identifier \"y\" is undefined",
        "kernels/a.cu:2:5",
        "error[GPUK0043]",
        "kernels/b.cu:3:5",
    ];
    for text in expected {
        assert!(said.stderr.contains(text), "{text}\n{}", said.stderr);
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_source_may_be_both() {
    let project = Project::new("p", GPUK)
        .config("host-objects = ['cuda/*.cu']\nkernels = ['cuda/*.cu']")
        .file(
            "cuda/scale.cu",
            &SCALE.replace("__global__", "extern \"C\" __global__"),
        );
    let built = project.gpuk(&["build"]).ok();
    assert!(
        built.stderr.contains("1 kernel, 1 host function in"),
        "{}",
        built.stderr
    );
    let all = std::fs::read_to_string(project.root().join("target/gpuk/p/kernels.rs")).unwrap();
    assert_eq!(all.matches("pub mod ").count(), 1);
    assert!(all.contains("pub unsafe fn scale<") && all.contains("pub fn run_scale("));
}

/// Launchers of mistralrs-quant, and how many functions each has.
const LAUNCHERS: [(&str, usize); 2] = [("rotary/rotary.cu", 1), ("hqq/hqq_bitpack.cu", 5)];

#[test]
#[ignore = "needs nvcc"]
fn nvcc_every_launcher_of_a_published_crate_is_declared() {
    let project = Project::new("p", GPUK).config(
        "host-objects = ['kernels/**/*.cu']\nflags = ['-std=c++17', '--expt-relaxed-constexpr']",
    );
    let published = fetch("mistralrs-quant", "0.8.1", GPUK).join("kernels");
    let kernels = project.root().join("kernels");
    for path in LAUNCHERS
        .map(|(path, _)| path)
        .iter()
        .chain(&["rotary/cuda_compat.h"])
    {
        std::fs::create_dir_all(kernels.join(path).parent().unwrap()).unwrap();
        std::fs::copy(published.join(path), kernels.join(path)).unwrap();
    }
    let listed = project.gpuk(&["list", "--message-format", "json"]).ok();
    let messages: Vec<serde_json::Value> = (listed.stdout.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (path, functions) in LAUNCHERS {
        let text = std::fs::read_to_string(kernels.join(path)).unwrap();
        let written = text.matches("extern \"C\" ").count();
        assert_eq!(written, functions, "{path}");
        let source = format!("kernels/{path}");
        let declared = messages
            .iter()
            .filter(|it| it["reason"] == "gpuk-function" && it["source"] == *source);
        assert_eq!(declared.count(), functions, "{path}\n{}", listed.stderr);
    }
}
