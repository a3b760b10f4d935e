//! `cargo gpuk test --sim`: a program on cudarc runs where there is no device, and what the simulator finds fails it.

use gpuk_tests::{Output, Project, workspace_root};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A crate with one kernel and one test that launches it for `n` of 100 elements.
fn launched(n: usize) -> Project {
    let support = workspace_root().join("build-support");
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("sim");
    let project = Project::new("simulated", GPUK)
        .env("CARGO_TARGET_DIR", Some(&target.display().to_string()))
        .file("build.rs", "fn main() {\n    gpuk_build::main();\n}\n")
        .file("kernels/double.cu", "extern \"C\" __global__ void twice(float *data, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        data[i] *= 2;\n}\n")
        .config("flags = ['-lineinfo']")
        .file(
            "src/lib.rs",
            &format!(
                "gpuk::include_kernels!();\n\n#[test]\nfn doubles() {{\n    let context = gpuk::device(0).unwrap();\n    let stream = context.default_stream();\n    let kernels = double::Kernels::load(&context).unwrap();\n    let data = stream.clone_htod(&[1.5_f32; 100]).unwrap();\n    let launch = double::Kernels::TWICE.launch().elements({n});\n    // SAFETY: with 100 there is an element for each.\n    let (_, data) = unsafe {{ kernels.twice(&stream, launch, data, {n}) }}.unwrap();\n    let data = stream.clone_dtoh(&data);\n    assert_eq!(data.unwrap(), [3.0; 100]);\n}}\n"
            ),
        );
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    let lock = std::fs::read_to_string(workspace_root().join("Cargo.lock")).unwrap();
    project.file("Cargo.lock", &lock).file(
        "Cargo.toml",
        &format!(
            "{manifest}\n[dependencies]\ngpuk = {{ path = {:?} }}\n\n[build-dependencies]\ngpuk-build = {{ path = {:?} }}\n",
            support.join("runtime"),
            support.join("build"),
        ),
    )
}

fn simulate(project: &Project, format: &str) -> Output {
    project.gpuk(&[
        "test",
        "--sim",
        "--offline",
        "--message-format",
        format,
        "--",
        "--lib",
    ])
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_test_passes_on_the_simulator_and_a_finding_fails_it() {
    let output = simulate(&launched(100), "human");
    assert_eq!(output.code, Some(0), "{}", output.shown());

    let wrong = launched(101);
    let output = simulate(&wrong, "human");
    assert_eq!(output.code, Some(106), "{}", output.shown());
    for said in [
        "kernels/double.cu:4",
        "twice",
        "thread (100, 0, 0)",
        "4 bytes",
    ] {
        assert!(output.stderr.contains(said), "{said}\n{}", output.stderr);
    }

    let output = simulate(&wrong, "json");
    assert_eq!(output.code, Some(106), "{}", output.shown());
    let lines = output.stdout.lines().filter(|line| line.starts_with('{'));
    let messages: Vec<serde_json::Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let finding = messages
        .iter()
        .find(|message| message["reason"] == "gpuk-finding")
        .unwrap();
    assert_eq!(finding["kernel"], "twice");
    assert_eq!(messages.last().unwrap()["reason"], "build-finished");
}
