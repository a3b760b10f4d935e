//! `DOCS_RS` and `GPUK_SKIP`: a crate with kernels is checked and documented where there is no CUDA, and never fails.

use gpuk_tests::{Output, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");
const LIB: &str = "//! Kernels.\n#![deny(warnings, missing_docs)]\ngpuk::include_kernels!();\n\n/// Launches.\npub fn launch(kernels: &scale::Kernels, stream: &std::sync::Arc<gpuk::CudaStream>, data: gpuk::CudaSlice<f32>) {\n    // SAFETY: there are no kernels.\n    let launched = unsafe { kernels.scale(stream, gpuk::Launch::default(), data, scale::Shape { rows: 1, columns: 2 }) };\n    drop(launched);\n}\n";

/// A crate with a build script, on a machine on which no compiler is found.
fn package(name: &str) -> Project {
    Project::new(name, GPUK)
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .env("NVCC", Some("/nothing"))
        .file("src/lib.rs", LIB)
        .file(
            "kernels/scale.cu",
            "struct Shape { int rows, columns; };\n/// Scales in place.\n__global__ void scale(float *data, Shape shape) {}\n",
        )
}

fn check(project: &Project) -> Output {
    project.cargo(&["check", "--offline"])
}

#[test]
fn wrappers_come_from_the_source_alone() {
    let project = package("skipped");
    assert_ne!(check(&project).code, Some(0), "there is no compiler");
    let project = project.env("GPUK_SKIP", Some("1"));
    let output = check(&project).ok();
    let said = "`GPUK_SKIP` is set: no kernel was compiled, and loading them will fail";
    assert!(output.stderr.contains(said), "{}", output.stderr);
    let project = project.env("GPUK_SKIP", Some("0"));
    assert_ne!(check(&project).code, Some(0), "it is not set");
    let project = project.env("GPUK_SKIP", None).env("DOCS_RS", Some("1"));
    let _ = project.cargo(&["doc", "--offline", "--no-deps"]).ok();

    // What no reader understands is left out.
    for text in [
        "__global__ void scale(float *data, ",
        "/* \" ' (",
        "\\",
        "#if 1\n__global__\n",
        "template <",
    ] {
        project.write("kernels/other.cu", text);
        project.write("kernels/other.ptx", text);
        let output = check(&project).ok();
        assert!(
            output.stderr.contains("`DOCS_RS` is set"),
            "{text}: {}",
            output.stderr
        );
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_vendored_kernels_serve_better_even_where_they_are_stale() {
    let project = package("skipped-vendored").env("NVCC", None);
    let _ = project.gpuk(&["vendor"]).ok();
    let source = project.root().join("kernels/scale.cu");
    let text = std::fs::read_to_string(&source).unwrap();
    project.write("kernels/scale.cu", &(text + "// newer\n"));
    let project = project.env("NVCC", Some("/nothing"));
    assert_ne!(check(&project).code, Some(0), "they are stale");
    let project = project.env("DOCS_RS", Some("1"));
    let output = check(&project).ok();
    assert!(
        output.stderr.contains("those of `gpuk-vendor`"),
        "{}",
        output.stderr
    );
}
