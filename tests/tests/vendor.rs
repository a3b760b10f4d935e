//! `cargo gpuk vendor`: a package with kernels builds where there is no CUDA compiler, from current kernels alone.

use gpuk_tests::{Output, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");
const SCALE: &str = "#include \"scale.cuh\"\n#include <gpuk.cuh>\nextern \"C\" __global__ void scale(float *data, int n) {\n    int i = threadIdx.x;\n    GPUK_DEBUG_CHECK(i < n);\n    data[i] *= FACTOR;\n}\n";

/// A crate with a build script; all such crates share their dependencies' artifacts.
fn package(name: &str) -> Project {
    Project::new(name, GPUK)
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("src/lib.rs", "//! Kernels.\ngpuk::include_kernels!();\n")
        .file("kernels/scale.cuh", "#define FACTOR 2\n")
        .file("kernels/scale.cu", SCALE)
}

fn check(project: &Project) -> Output {
    project.cargo(&["check", "--offline"])
}

/// A machine on which no compiler is found.
fn without_compiler(project: Project) -> Project {
    project.env("NVCC", Some("/nothing"))
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_vendored_kernels_need_no_compiler_and_are_never_stale() {
    let project = package("vendored");
    let output = project.gpuk(&["vendor"]).ok();
    assert!(
        output.stderr.contains("Vendored [ROOT]/gpuk-vendor"),
        "{}",
        output.stderr
    );
    let folder = project.root().join("gpuk-vendor");
    let wrappers = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    assert!(
        wrappers("dev.rs").contains("DebugCheck") && !wrappers("release.rs").contains("DebugCheck")
    );
    let packaged = project
        .cargo(&["package", "--list", "--allow-dirty", "--offline"])
        .ok();
    for file in [
        "gpuk-vendor/lock.json",
        "gpuk-vendor/dev.rs",
        "kernels/scale.cu",
    ] {
        assert!(packaged.stdout.contains(file), "{}", packaged.stdout);
    }

    let project = without_compiler(project);
    let output = check(&project).ok();
    let said = "nothing was compiled: the kernels are those of `gpuk-vendor`, for sm_80";
    assert!(output.stderr.contains(said), "{}", output.stderr);
    let _ = project.gpuk(&["vendor", "--check"]).ok();

    let stale = |project: &Project, why: &str| {
        for output in [check(project), project.gpuk(&["vendor", "--check"])] {
            assert_eq!(output.code, Some(101), "{}", output.shown());
            for text in ["GPUK0050", why, "`cargo gpuk vendor`"] {
                assert!(output.stderr.contains(text), "{text}\n{}", output.shown());
            }
        }
    };
    let edits = [
        (
            "kernels/scale.cu",
            "// new\n",
            "`kernels/scale.cu` has changed",
        ),
        (
            "kernels/scale.cuh",
            "#define FACTOR 3\n",
            "`kernels/scale.cuh` has changed",
        ),
        ("kernels/new.cu", "// new\n", "`kernels/new.cu` is new"),
        (
            "gpuk-vendor/dev.rs",
            "// new\n",
            "`dev.rs` is not as it was written",
        ),
        ("gpuk-vendor/lock.json", "{", "`lock.json` cannot be read"),
    ];
    for (file, text, why) in edits {
        let path = project.root().join(file);
        let before = std::fs::read_to_string(&path).ok();
        project.write(file, text);
        stale(&project, why);
        match before {
            Some(before) => project.write(file, &before),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let _ = check(&project).ok();
    }
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[package.metadata.gpuk]\narchs = [\"90\"]\n"),
    );
    stale(&project, "`[package.metadata.gpuk]` has changed");
    project.write("Cargo.toml", &manifest);
    let _ = check(&project).ok();

    let project = project.env("GPUK_ARCHS", Some("90"));
    let output = check(&project);
    let why = "their architectures are `80`, but the build script or the environment asks for `90`";
    assert!(output.stderr.contains(why), "{}", output.shown());

    let project = project
        .env("GPUK_ARCHS", None)
        .env("GPUK_VENDORED", Some("0"));
    let output = check(&project);
    assert!(
        output.stderr.contains("/nothing"),
        "they are passed over\n{}",
        output.shown()
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_published_package_has_no_workspace() {
    let project = package("published");
    let shared = "[workspace.metadata.gpuk]\narchs = [\"90\"]\n";
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    for file in [
        "build.rs",
        "src/lib.rs",
        "kernels/scale.cu",
        "kernels/scale.cuh",
    ] {
        let text = std::fs::read_to_string(project.root().join(file)).unwrap();
        project.write(format!("member/{file}"), &text);
    }
    let own = manifest.replace("[workspace]\n", "");
    project.write("member/Cargo.toml", &own);
    let workspace = format!("[workspace]\nmembers = [\"member\"]\nresolver = \"3\"\n{shared}");
    project.write("Cargo.toml", &workspace);
    let _ = project.gpuk(&["vendor", "--release"]).ok();
    let project = without_compiler(project);
    let _ = project.cargo(&["check", "--offline"]).ok();

    project.write("Cargo.toml", &workspace.replace("90", "80"));
    let output = project.cargo(&["check", "--offline"]);
    assert!(
        output
            .stderr
            .contains("`[workspace.metadata.gpuk]` has changed"),
        "{}",
        output.shown()
    );

    // As cargo unpacks it: the manifest as it was written beside the manifest, whatever lies above.
    project.write("member/Cargo.toml.orig", &own);
    project.write("member/Cargo.toml", &format!("{own}\n"));
    let output = project.cargo(&["check", "--offline"]).ok();
    assert!(
        output.stderr.contains("those of `gpuk-vendor`, for sm_90"),
        "{}",
        output.shown()
    );
    let project = project.env("GPUK_ARCHS", Some("86"));
    let _ = project.cargo(&["check", "--offline"]).ok();
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_sources_that_are_linked_into_one_module_are_vendored_too() {
    let project = Project::new("p", GPUK)
        .file("kernels/a.cu", "__device__ int twice(int);\nextern \"C\" __global__ void a(int *p) { *p = twice(*p); }\n")
        .file("kernels/b.cu", "__device__ int twice(int x) { return 2 * x; }\n")
        .config("link.both = [\"kernels/*.cu\"]");
    let _ = project.gpuk(&["vendor", "--release"]).ok();
    let _ = project.gpuk(&["vendor", "--check"]).ok();
    project.write(
        "kernels/b.cu",
        "__device__ int twice(int x) { return x + x; }\n",
    );
    let output = project.gpuk(&["vendor", "--check"]);
    assert!(
        output.stderr.contains("`kernels/b.cu` has changed"),
        "{}",
        output.shown()
    );
}

/// With a code and a place, before anything is compiled; in a build script where the folder is there.
#[test]
fn host_functions_are_refused_before_anything_is_compiled() {
    let host = "extern \"C\" int rows(int n) { return n; }\n";
    let project = Project::new("hosted", GPUK)
        .file("host/rows.cu", host)
        .file("host/more.cu", host)
        .config("host-objects = [\"host/*.cu\"]")
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("src/lib.rs", "gpuk::include_kernels!();\n");
    let project = without_compiler(project);
    let said = "error[GPUK0051]: `host/more.cu` and another source have host functions, which cannot be vendored\n";
    let refused = |output: Output| {
        assert_eq!(output.code, Some(101), "{}", output.shown());
        assert_eq!(output.stderr.matches(said).count(), 1, "{}", output.shown());
        assert!(
            output.stderr.contains("host/more.cu:1:1"),
            "{}",
            output.shown()
        );
        assert!(!output.stderr.contains("/nothing"), "{}", output.shown());
    };
    refused(project.gpuk(&["vendor"]));
    refused(project.gpuk(&["vendor", "--check"]));
    project.write("gpuk-vendor/lock.json", "{}");
    refused(check(&project));
}

#[test]
fn what_is_not_there_is_not_current() {
    let project = Project::new("p", GPUK).file("kernels/scale.cu", "");
    let output = project.gpuk(&["vendor", "--check"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    assert!(
        output.stderr.contains("`p` has no vendored kernels"),
        "{}",
        output.shown()
    );
    let output = project.gpuk(&["vendor", "--arch", "90"]);
    assert_eq!(output.code, Some(2), "{}", output.shown());
    assert_eq!(
        Project::new("p", GPUK).gpuk(&["vendor", "--check"]).code,
        Some(104)
    );
}
