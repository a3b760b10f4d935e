//! PTX sources: by nvcc, by hand, and by Triton.

use std::path::PathBuf;

use gpuk_tests::Project;
use serde_json::Value;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

fn messages(project: &Project, command: &str) -> Vec<Value> {
    let output = project.gpuk(&[command, "--message-format", "json"]).ok();
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Signatures and conditions of the kernels.
fn kernels(project: &Project) -> Vec<String> {
    let messages = messages(project, "list");
    let kernels = messages.iter().filter(|it| it["reason"] == "gpuk-kernel");
    let shown = kernels.map(|it| {
        let params = it["kernel"]["params"].as_array().unwrap().iter();
        let params: Vec<_> = params
            .map(|it| {
                format!(
                    "{} {}",
                    it["declared"].as_str().unwrap(),
                    it["name"].as_str().unwrap()
                )
            })
            .collect();
        let sites = it["sites"].as_array().unwrap().iter();
        let sites: Vec<_> = sites.map(|it| it["condition"].as_str().unwrap()).collect();
        let name = it["kernel"]["name"].as_str().unwrap();
        format!(
            "{name}({}) {} {}",
            params.join(", "),
            it["archs"],
            sites.join("; ")
        )
    });
    shown.collect()
}

/// Runs nvcc itself, as a user does who keeps PTX.
fn compiled(project: &Project, source: &str) -> String {
    let doctor = project.gpuk(&["doctor", "--message-format", "json"]).ok();
    let doctor: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let nvcc = doctor["toolchain"]["nvcc"].as_str().unwrap();
    project.write("elsewhere/source.cu", source);
    #[expect(
        clippy::disallowed_methods,
        reason = "tests drive programs from outside"
    )]
    let mut command = std::process::Command::new(PathBuf::from(nvcc));
    let folder = project.root().join("elsewhere");
    let arguments = ["-ptx", "-arch=sm_80", "source.cu", "-o", "made.ptx"];
    let status = command
        .args(arguments)
        .current_dir(&folder)
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::read_to_string(folder.join("made.ptx")).unwrap()
}

const HAND: &str = ".version 7.0
.target sm_70
.address_size 64

// By hand: out[i] = a * x[i] + y[i].
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %i, %n, %t;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    mov.u32 %i, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mul.lo.u32 %i, %i, %t;
    mov.u32 %t, %tid.x;
    add.u32 %i, %i, %t;
    ld.param.u32 %n, [n];
    setp.ge.u32 %p, %i, %n;
    @%p exit;
    mul.wide.u32 %rd0, %i, 4;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [out];
    add.u64 %rd1, %rd1, %rd0;
    add.u64 %rd2, %rd2, %rd0;
    add.u64 %rd3, %rd3, %rd0;
    ld.param.f32 %f0, [a];
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd2];
    fma.rn.f32 %f3, %f0, %f1, %f2;
    st.global.f32 [%rd3], %f3;
    ret;
}
";

#[test]
#[ignore = "needs nvcc"]
fn nvcc_ptx_is_typed_by_declaration_name_and_directives_and_its_asserts_are_checks() {
    let source = "#include <cassert>
extern \"C\" __global__ void plain(const float *x, float *y, int n) { assert(n > 0); y[0] = x[n]; }
__global__ void mangled(const float *x, float *y, int n) { assert(x[n] > 0); y[0] = x[n]; }
template <class T> __global__ void scale(T *y, T by) { y[0] *= by; }
template __global__ void scale<double>(double *, double);
";
    let project = Project::new("p", GPUK).config(
        "archs = ['80', '90']
kernel.plain.signature = 'void plain(const float *x, float *y, int n)'
kernel.axpy.signature = 'void axpy(float a, const float *x, const float *y, float *out, uint32_t n);'",
    );
    project.write("kernels/made.ptx", &compiled(&project, source));
    project.write("kernels/hand.ptx", HAND);
    let mut kernels = kernels(&project);
    kernels.sort();
    insta::assert_debug_snapshot!(kernels);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_ptx_is_assembled_where_its_target_permits() {
    let later = HAND.replace("sm_70", "sm_90").replace("7.0", "8.0");
    let project = Project::new("p", GPUK)
        .config("archs = ['80', '90', '100']")
        .file("kernels/hand.ptx", &later);
    assert_eq!(
        kernels(&project),
        [
            r#"axpy(.f32 param_0, .u64 param_1, .u64 param_2, .u64 param_3, .u32 param_4) ["sm_90","sm_100"] "#
        ]
    );
    let output = project.gpuk(&["check", "--message-format", "short"]).ok();
    let said = "kernels/hand.ptx:2: note[GPUK0016]: `kernels/hand.ptx` is for `sm_90` and is not compiled for sm_80";
    assert!(output.stderr.contains(said), "{}", output.shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_declaration_that_the_code_contradicts_is_refused() {
    let wrong =
        "kernel.axpy.signature = 'void axpy(double a, float *x, float *y, float *out, int n)'";
    let project = Project::new("p", GPUK)
        .config(wrong)
        .file("kernels/hand.ptx", HAND);
    let output = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(output.code, Some(101));
    let said = "kernels/hand.ptx:6: error[GPUK0014]: parameter `a` of kernel `axpy` has 8 bytes";
    assert!(output.stderr.contains(said), "{}", output.shown());

    let project = Project::new("p", GPUK)
        .config("kernel.k.signature = 'void k(int *y)'")
        .file(
            "kernels/k.cu",
            "extern \"C\" __global__ void k(unsigned *y) { y[0] = 1; }\n",
        );
    let output = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let said = "kernels/k.cu:1: error[GPUK0014]: kernel `k` is not what its `signature` declares";
    assert!(output.stderr.contains(said), "{}", output.shown());
    project.write(
        "kernels/k.cu",
        "extern \"C\" __global__ void k(int *y) { y[0] = 1; }\n",
    );
    assert_eq!(kernels(&project).len(), 1);
}

/// A kernel in Triton's language, compiled without a device.
const TRITON: &str = r#"import sys
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def gather(src, idx, dst, n, rows, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    row = tl.load(idx + i, mask=mask, other=0)
    tl.device_assert(row < rows, "row out of range", mask=mask)
    tl.store(dst + i, tl.load(src + row, mask=mask), mask=mask)


types = {"src": "*fp32", "idx": "*i32", "dst": "*fp32", "n": "i32", "rows": "i32", "BLOCK": "constexpr"}
source = ASTSource(fn=gather, signature=types, constexprs={(5,): 128})
made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"debug": True})
open(sys.argv[1], "w").write(made.asm["ptx"])
"#;

/// Python with Triton 3.6, fetched by pip; the folder is kept from run to run.
fn python_with_triton() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests drive programs from outside"
    )]
    let run = |program: &std::path::Path, arguments: &[&str]| {
        let mut command = std::process::Command::new(program);
        let status = command.args(arguments).status();
        status.is_ok_and(|status| status.success())
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("triton-3.6");
    let python = folder.join("bin/python");
    if !run(&python, &["-c", "import triton"]) {
        let venv = ["-m", "venv", folder.to_str().unwrap()];
        assert!(run(std::path::Path::new("python3"), &venv), "no venv");
        let install = ["-m", "pip", "install", "--quiet", "triton==3.6.0"];
        assert!(run(&python, &install), "pip cannot install Triton");
    }
    python
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs nvcc"]
fn nvcc_asserts_of_triton_are_checks() {
    let project = Project::new("p", GPUK)
        .config(
            "archs = ['90a']
[package.metadata.gpuk.kernel.gather]
signature = 'void gather(const float *src, const int *idx, float *dst, int n, int rows, void *, void *)'",
        )
        .file("gather.py", TRITON)
        .file("kernels/.keep", "");
    let root = project.root();
    #[expect(
        clippy::disallowed_methods,
        reason = "tests drive programs from outside"
    )]
    let mut command = std::process::Command::new(python_with_triton());
    command.args(["gather.py", "kernels/gather.ptx"]);
    command.env("TRITON_CACHE_DIR", root.join("cache"));
    assert!(command.current_dir(&root).status().unwrap().success());
    assert_eq!(
        kernels(&project),
        [
            "gather(const float * src, const int * idx, float * dst, int n, int rows, void * param_5, void * param_6) \
             [\"sm_90a\"] int32 overflow detected for operation mul; row out of range"
        ]
    );
    let text = messages(&project, "build");
    assert!(text.iter().any(|it| it["reason"] == "gpuk-artifact"));
    let images = std::fs::read_dir(root.join("target/gpuk/p/images")).unwrap();
    let ptx = images.flatten().map(|entry| entry.path());
    let ptx = ptx.filter(|path| path.extension().is_some_and(|it| it == "ptx"));
    for path in ptx {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(!text.contains("__assertfail") && !text.contains("trap;"));
    }
}
