//! What settings of checks do to what is built: by profile, package, kernel and environment.

use gpuk_tests::{Output, Project};
use serde_json::Value;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const KERNELS: &str = "#include <gpuk.cuh>
extern \"C\" __global__ void a(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GPUK_DEBUG_CHECK(i < n, \"{} of {}\", i, n);
    y[i] = x[i] * 2;
    GPUK_DEBUG_EXPECT(y[i] == y[i]);
}
extern \"C\" __global__ void b(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) {
        GPUK_DEBUG_CHECK(x[i] > 0, \"{}\", x[i]);
        y[i] = x[i];
    }
}
";

fn project(config: &str) -> Project {
    Project::new("p", GPUK)
        .config(config)
        .file("kernels/k.cu", KERNELS)
}

fn listed(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// How many checks each kernel reaches: `a 2, b 1`.
fn checks(project: &Project, args: &[&str]) -> String {
    let all = [&["list", "--message-format", "json"], args].concat();
    let messages = listed(&project.gpuk(&all).ok());
    let kernels = messages.iter().filter(|it| it["reason"] == "gpuk-kernel");
    let counts = kernels.map(|it| {
        let sites = it["sites"].as_array().unwrap().len();
        format!("{} {sites}", it["kernel"]["name"].as_str().unwrap())
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// The PTX of a package that is built.
fn ptx(project: &Project, args: &[&str]) -> String {
    let _ = project.gpuk(&[&["build"], args].concat()).ok();
    let images = std::fs::read_dir(project.root().join("target/gpuk/p/images")).unwrap();
    let mut images = images.flatten().map(|entry| entry.path());
    let ptx = images.find(|path| path.extension().is_some_and(|it| it == "ptx"));
    std::fs::read_to_string(ptx.unwrap()).unwrap()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_debug_checks_that_are_off_leave_the_ptx_of_a_source_without_them() {
    let lines = KERNELS
        .lines()
        .map(|line| match line.contains("GPUK_DEBUG") {
            true => "",
            false => line,
        });
    let without: Vec<_> = lines.collect();
    let bare = Project::new("p", GPUK)
        .config("line-info = false")
        .file("kernels/k.cu", &without.join("\n"));
    let off = ptx(&project("debug-checks = false\nline-info = false"), &[]);
    assert_eq!(off, ptx(&bare, &[]));
    assert_eq!(off, ptx(&project(""), &["--release"]));
    assert_ne!(off, ptx(&project(""), &[]));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_debug_checks_follow_the_environment_then_kernel_package_workspace_and_profile() {
    let (on, off) = ("a 2, b 1", "a 0, b 0");
    let default = project("");
    assert_eq!(checks(&default, &[]), on);
    assert_eq!(checks(&default, &["--release"]), off);
    let profile = project("debug-checks = false\nprofile.release.debug-checks = true");
    assert_eq!(checks(&profile, &[]), off);
    assert_eq!(checks(&profile, &["--release"]), on);
    let kernel = project("debug-checks = false\nkernel.b.debug-checks = true");
    assert_eq!(checks(&kernel, &[]), "a 0, b 1");
    let workspace =
        "\n[workspace.metadata.gpuk]\ndebug-checks = true\nkernel.a.debug-checks = false\n";
    let manifest = |project: &Project| std::fs::read_to_string(project.root().join("Cargo.toml"));
    let under = project("debug-checks = false");
    under.write("Cargo.toml", &(manifest(&under).unwrap() + workspace));
    assert_eq!(checks(&under, &[]), off);
    let under = Project::new("p", GPUK).file("kernels/k.cu", KERNELS);
    under.write("Cargo.toml", &(manifest(&under).unwrap() + workspace));
    assert_eq!(checks(&under, &[]), "a 0, b 1");

    let kernel = kernel.env("GPUK_DEBUG_CHECKS", Some("1"));
    assert_eq!(checks(&kernel, &["--release"]), on);
    let kernel = kernel.env("GPUK_DEBUG_CHECKS", Some("0"));
    assert_eq!(checks(&kernel, &[]), off);
    let wrong = kernel.env("GPUK_DEBUG_CHECKS", Some("on")).gpuk(&["check"]);
    assert_eq!(wrong.code, Some(101), "{}", wrong.shown());
    let said = "error[GPUK0031]: `GPUK_DEBUG_CHECKS` is `on`, not `0` or `1`";
    assert!(wrong.stderr.contains(said), "{}", wrong.shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_kernel_whose_debug_checks_are_off_pays_nothing_for_anothers() {
    let entry = |ptx: &str, name: &str| {
        let start = ptx.find(&format!(".entry {name}(")).unwrap();
        ptx[start..].split("\n}\n").next().unwrap().to_owned()
    };
    let mixed = ptx(&project("kernel.b.debug-checks = false"), &[]);
    let (a, b) = (entry(&mixed, "a"), entry(&mixed, "b"));
    assert!(a.contains("gpuk") && !b.contains("gpuk"), "{b}");
    assert!(!b.contains("exit;") && !b.contains("call"), "{b}");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_modes_differ_by_profile() {
    let source =
        "#include <cassert>\nextern \"C\" __global__ void k(int *x) { assert(x[0]); x[0] = 1; }\n";
    let project = Project::new("p", GPUK)
        .config("profile.release.checks = 'trap'\nprofile.dev.checks = 'off'")
        .file("kernels/k.cu", source);
    let dev = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(dev.code, Some(101), "{}", dev.shown());
    assert!(dev.stderr.contains("GPUK0001"), "{}", dev.shown());
    assert!(ptx(&project, &["--release"]).contains("__assertfail"));
}

const TRAPS: &str = "#include <cooperative_groups.h>
extern \"C\" __global__ void grid(int *x) {
    cooperative_groups::this_grid().sync();
    x[0] = 1;
}
__device__ __noinline__ int deep(int n) {
    if (n < 0) asm(\"trap;\");
    return n * n;
}
extern \"C\" __global__ void direct(int *x, int n) {
    if (x[0] > n) __trap();
    x[0] = n;
}
extern \"C\" __global__ void through(int *x, int n) { x[0] = deep(x[1]) + deep(n); }
";

#[test]
#[ignore = "needs nvcc"]
fn nvcc_traps_are_warned_of_kept_refused_or_made_checks() {
    let traps = |config: &str| {
        Project::new("p", GPUK)
            .config(&format!("archs = ['90']\n{config}"))
            .file("kernels/k.cu", TRAPS)
    };
    let short = ["check", "--message-format", "short"];
    let said = traps("").gpuk(&short).ok().stderr;
    for line in [
        "k.cu:7: warning[GPUK0007]: kernel `through`",
        "k.cu:11: warning[GPUK0007]: kernel `direct`",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(said.matches("GPUK0007").count(), 2, "{said}");
    let kept = traps("traps = 'keep'").gpuk(&short).ok().stderr;
    assert!(!kept.contains("GPUK0007"), "{kept}");
    let refused = traps("traps = 'keep'\nkernel.direct.traps = 'refuse'").gpuk(&short);
    assert_eq!(refused.code, Some(101), "{}", refused.shown());
    let line = "k.cu:11: error[GPUK0007]: kernel `direct`";
    assert!(refused.stderr.contains(line), "{}", refused.shown());

    let project = traps("traps = 'check'");
    assert_eq!(checks(&project, &[]), "grid 0, direct 1, through 1");
    let text = ptx(&project, &[]);
    assert_eq!(
        text.matches("trap;").count(),
        1,
        "that of cooperative groups"
    );
    let out = project.root().join("target/gpuk/p/kernels.rs");
    let bindings = std::fs::read_to_string(out).unwrap();
    assert!(
        bindings.contains("file: \"kernels/k.cu\""),
        "no path of this machine"
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_wait_is_refused_unless_a_reason_is_given() {
    let source = "#include <gpuk.cuh>
extern \"C\" __global__ void k(int *x, int n) {
    GPUK_CHECK(x[threadIdx.x] < n);
    asm volatile(\"barrier.sync 1, 64;\" ::: \"memory\");
    x[0] = 1;
}
";
    let project = |config| {
        Project::new("p", GPUK)
            .config(config)
            .file("kernels/k.cu", source)
    };
    insta::assert_snapshot!(project("").gpuk(&["check"]).shown());
    let allowed = "kernel.k.allow.GPUK0006 = 'the host checks n'";
    assert_eq!(checks(&project(allowed), &[]), "k 1");
}

/// The pass moves lines that others name as the call they were inlined at; ptxas looks for them.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_checks_of_inlined_functions_are_assembled_with_their_lines() {
    let source = "#include <gpuk.cuh>
__device__ __forceinline__ float at(const float *in, int k, int len) {
    GPUK_CHECK((unsigned)k < (unsigned)len, \"{} of {}\", k, len);
    return in[k];
}
extern \"C\" __global__ void stencil(const float *in, float *out, int w, int h, int len) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    out[i] = at(in, i, len) + at(in, i - 1, len) + at(in, i + 1, len) + at(in, i - w, len) + at(in, i + w, len);
}
";
    let project = Project::new("p", GPUK).file("kernels/k.cu", source);
    let ptx = ptx(&project, &[]);
    assert!(ptx.contains("inlined_at"), "{ptx}");
}

/// In how many threads `cicc` and `ptxas` are told to compile a source.
fn threads(config: &str, args: &[&str]) -> [Option<String>; 2] {
    threads_of(&project(config), args)
}

fn threads_of(project: &Project, args: &[&str]) -> [Option<String>; 2] {
    let all = [&["build", "--dry-run"], args].concat();
    let output = project.gpuk(&all).ok();
    assert_eq!(output.stderr, "");
    let told = output.stdout;
    ["/cicc ", "/ptxas "].map(|tool| {
        let command = told.lines().find(|line| line.contains(tool)).unwrap();
        let (_, rest) = command.split_once("split-compile")?;
        let number = rest[1..].split(' ').next().unwrap();
        Some(number.to_owned())
    })
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_both_device_compilers_split_unless_something_is_against_it() {
    let [none, two, four] = [None, Some("2"), Some("4")].map(|it| it.map(str::to_owned));
    let both = |number: &Option<String>| [number.clone(), number.clone()];
    assert_eq!(threads("", &[]), both(&four));
    assert_eq!(threads("", &["--release"]), both(&four));
    assert_eq!(threads("split-compile = false", &[]), both(&none));
    let release = "profile.release.split-compile = false";
    assert_eq!(threads(release, &["--release"]), both(&none));
    assert_eq!(threads(release, &[]), both(&four));
    assert_eq!(threads("flags = ['-split-compile=2']", &[]), both(&two));
    assert_eq!(threads("flags = ['-G']", &[]), both(&none));
    let appended = project("").env("NVCC_APPEND_FLAGS", Some("-split-compile=2"));
    assert_eq!(threads_of(&appended, &[]), both(&two));
}

/// What makes the split fit for a release build: its kernels do not depend on the number.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_split_compilation_is_the_same_for_every_number() {
    // Where it is split, a function of these has a copy.
    let functions = include_str!("../gpu/kernels/functions.cu");
    let project = |config: &str| {
        let project = Project::new("p", GPUK).config(config);
        ptx(&project.file("kernels/functions.cu", functions), &[])
    };
    let split = |number: &str| project(&format!("flags = ['-split-compile={number}']"));
    let four = project("");
    assert_ne!(four, project("split-compile = false"));
    for number in ["2", "3", "16"] {
        assert_eq!(four, split(number), "{number}");
    }
}
