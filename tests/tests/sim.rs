//! The simulator from the command line: `cargo gpuk test --sim` runs a program on cudarc where there is no device,
//! and what it finds fails the run; `cargo gpuk sim-support` says beforehand what it does not run.

use gpuk_tests::{Output, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A crate with one kernel and one test that launches it for `n` of 100 elements.
fn launched(n: usize) -> Project {
    Project::new("simulated", GPUK)
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("kernels/double.cu", "extern \"C\" __global__ void twice(float *data, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        data[i] *= 2;\n}\n")
        .file(
            "src/lib.rs",
            &format!(
                "gpuk::include_kernels!();\n\n#[test]\nfn doubles() {{\n    let context = gpuk::device(0).unwrap();\n    let stream = context.default_stream();\n    let kernels = double::Kernels::load(&context).unwrap();\n    let data = stream.clone_htod(&[1.5_f32; 100]).unwrap();\n    let launch = double::Kernels::TWICE.launch().elements({n});\n    // SAFETY: with 100 there is an element for each.\n    let (_, data) = unsafe {{ kernels.twice(&stream, launch, data, {n}) }}.unwrap();\n    let data = stream.clone_dtoh(&data);\n    assert_eq!(data.unwrap(), [3.0; 100]);\n}}\n"
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

#[test]
#[ignore = "needs nvcc"]
fn nvcc_vendored_kernels_are_tested_where_there_is_no_compiler() {
    let project = launched(100);
    let _ = project.gpuk(&["vendor"]).ok();
    let output = simulate(&project.env("NVCC", Some("/nothing")), "human");
    assert_eq!(output.code, Some(0), "{}", output.shown());
}

/// Two kernels, one of which reads a texture.
const PTX: &str = ".version 8.0
.target sm_75
.address_size 64
.visible .entry plain(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ret;
}
.visible .entry looks(.param .u64 texture)
{
    .reg .b64 %rd<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<2>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [texture];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    .loc 1 7 5
    @%p1 tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];
    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];
    .loc 1 8 5
    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];
    ret;
}
.file 1 \"kernels/look.cu\"
";

#[test]
fn instructions_that_the_simulator_lacks_are_listed() {
    let texture = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];";
    let plain = PTX.replace(texture, "ret;");
    let project = Project::new("p", GPUK)
        .file("look.ptx", PTX)
        .file("plain.ptx", &plain)
        .file("broken.ptx", &PTX.replace("setp", "sept"));
    insta::assert_snapshot!(project.gpuk(&["sim-support", "look.ptx"]).shown());
    insta::assert_snapshot!(
        project
            .gpuk(&["sim-support", "--verbose", "plain.ptx"])
            .shown()
    );
    insta::assert_snapshot!(
        project
            .gpuk(&["sim-support", "plain.ptx", "broken.ptx"])
            .shown()
    );
    let output = project.gpuk(&["sim-support", "--message-format", "json", "look.ptx"]);
    insta::assert_snapshot!(output.shown());
    assert_eq!(project.gpuk(&["sim-support", "nothing.ptx"]).code, Some(1));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_instructions_that_the_simulator_lacks_are_listed_for_packages() {
    let source = "extern \"C\" __global__ void copies(float *out, const float *in) {
    out[threadIdx.x] = in[threadIdx.x];
}

extern \"C\" __global__ void looks(float *out, unsigned long long texture) {
    float r, g, b, a;
    asm(\"tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];\"
        : \"=f\"(r), \"=f\"(g), \"=f\"(b), \"=f\"(a)
        : \"l\"(texture), \"r\"(threadIdx.x));
    out[threadIdx.x] = r + g + b + a;
}
";
    let project = Project::new("p", GPUK)
        .config("archs = ['80']")
        .file("kernels/look.cu", source);
    insta::assert_snapshot!(project.gpuk(&["sim-support", "--quiet"]).shown());
    let output = project.gpuk(&["sim-support", "--quiet", "--message-format", "json"]);
    let supported = |entry: &str| {
        let mut lines = output.stdout.lines();
        lines.any(|line| line.contains(entry) && line.contains("\"unsupported\":[]"))
    };
    assert!(
        supported("copies") && !supported("looks"),
        "{}",
        output.shown()
    );
    let plain = source.replace(
        "tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];",
        "mov.f32 %0, 0f00000000;",
    );
    project.write("kernels/look.cu", &plain);
    assert_eq!(project.gpuk(&["sim-support"]).code, Some(0));
}
