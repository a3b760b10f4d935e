//! What bad input gets.

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");
const SAXPY: &str = "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] += a * x[i];\n}\n";

#[test]
fn no_compiler_says_what_was_searched_and_the_command_that_mends_it() {
    let project = Project::new("p", GPUK).file("kernels/saxpy.cu", SAXPY);
    let empty = project.root().join("nothing").display().to_string();
    let mut project = project;
    for name in [
        "NVCC",
        "CUDA_HOME",
        "CUDA_PATH",
        "CUDA_ROOT",
        "CUDA_TOOLKIT_ROOT_DIR",
        "CONDA_PREFIX",
        "VIRTUAL_ENV",
    ] {
        project = project.env(name, None);
    }
    let cargo = std::env::var("CARGO").unwrap();
    let output = project
        .env("GPUK_HOME", Some(&empty))
        .env("PATH", Some(&empty))
        .env("CARGO", Some(&cargo))
        .gpuk(&["build"]);
    assert_eq!(output.code, Some(103), "{}", output.shown());
    for said in [
        "CUDA_HOME",
        "NVCC",
        "PATH",
        "/usr/local/cuda",
        "cargo gpuk toolchain install",
    ] {
        assert!(output.stderr.contains(said), "{said}\n{}", output.stderr);
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_text_that_is_no_utf8_is_refused_as_nvcc_does() {
    let project = Project::new("p", GPUK).file("kernels/size.cu", "");
    let source = b"extern \"C\" __global__ void size(int *p) {\n    p[0] = sizeof(\"\xe9\");\n}\n";
    std::fs::write(project.root().join("kernels/size.cu"), source).unwrap();
    let output = project.gpuk(&["check"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    for said in ["invalid multibyte character sequence", "p[0] = sizeof("] {
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_is_missing_at_the_end_has_a_place() {
    let project = Project::new("p", GPUK).file(
        "kernels/open.cu",
        "extern \"C\" __global__ void open(int *p) {\n    p[0] = 1;\n",
    );
    let output = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let said = "kernels/open.cu:2: error: expected a \"}\"";
    assert!(output.stderr.contains(said), "{}", output.stderr);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_fragment_of_a_source_that_fails_says_nothing_of_itself() {
    let fragment = "__device__ int twice(int x) { return x * FACTOR; }\n";
    let whole = |last: &str| {
        format!(
            "#define FACTOR 2\n#include \"part.cu\"\nextern \"C\" __global__ void whole(int *p) {{ p[0] = twice(p[0]); }}\n{last}\n"
        )
    };
    let project = Project::new("p", GPUK)
        .file("kernels/part.cu", fragment)
        .file("kernels/whole.cu", &whole("int wrong = right;"));
    let output = project.gpuk(&["check"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    assert!(output.stderr.contains("\"right\""), "{}", output.stderr);
    assert!(!output.stderr.contains("\"FACTOR\""), "{}", output.stderr);

    // Two that include each other both say what is wrong.
    project.write(
        "kernels/part.cu",
        "#pragma once\n#include \"whole.cu\"\nint wrong = left;\n",
    );
    project.write("kernels/whole.cu", "#pragma once\n#include \"part.cu\"\n");
    let output = project.gpuk(&["check"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    assert!(output.stderr.contains("\"left\""), "{}", output.stderr);
}

#[test]
fn an_unknown_key_gets_its_place_and_the_nearest() {
    let project = Project::new("p", GPUK).config("arch = ['80']");
    insta::assert_snapshot!(project.gpuk(&["build"]).shown());
}

#[test]
fn a_package_that_is_not_there_is_named() {
    let project = Project::new("p", GPUK);
    insta::assert_snapshot!(project.gpuk(&["check", "-p", "q"]).shown());
}

#[test]
fn no_kernels_is_an_error_of_its_own() {
    let project = Project::new("p", GPUK);
    insta::assert_snapshot!(project.gpuk(&["build"]).shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_syntax_error_is_said_once_in_the_compilers_words() {
    let project = Project::new("p", GPUK).config("archs = ['80', '90']").file(
        "kernels/a b.cu",
        "extern \"C\" __global__ void k(float *y) {\n    y[0] = x;\n}\n",
    );
    insta::assert_snapshot!(project.gpuk(&["build", "-j", "1"]).shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_missing_header_is_placed() {
    let project = Project::new("p", GPUK).file("kernels/k.cu", "#include \"no.cuh\"\n");
    insta::assert_snapshot!(project.gpuk(&["build"]).shown());
}

/// Several sources, of which the headers that all begin with are read apart.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_header_that_all_sources_miss_is_said_by_the_compiler() {
    let mut project = Project::new("p", GPUK);
    for name in ["a", "b", "c"] {
        let source = format!(
            "#include \"none.cuh\"\nextern \"C\" __global__ void {name}(int *p) {{ p[0] = 1; }}\n"
        );
        project = project.file(format!("kernels/{name}.cu"), &source);
    }
    let output = project.gpuk(&["build"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    for name in ["a", "b", "c"] {
        let place = format!("kernels/{name}.cu:1:");
        assert!(output.stderr.contains(&place), "{}", output.stderr);
    }
    let said = "none.cuh: No such file or directory";
    assert!(output.stderr.contains(said), "{}", output.stderr);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_only_ptxas_sees_is_an_error() {
    let project = Project::new("p", GPUK).file(
        "kernels/k.cu",
        "extern __device__ float helper(float);\nextern \"C\" __global__ void k(float *y) { y[0] = helper(y[0]); }\n",
    );
    insta::assert_snapshot!(project.gpuk(&["check"]).shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_failed_build_leaves_the_last_good_one_whole() {
    let project = Project::new("p", GPUK)
        .file("kernels/a.cu", SAXPY)
        .file("kernels/b.cu", &SAXPY.replace("saxpy", "axpy"));
    let _ = project.gpuk(&["build"]).ok();
    let read = |name: &str| std::fs::read(project.root().join("target/gpuk/p").join(name)).unwrap();
    let (bindings, report) = (read("kernels.rs"), read("report.json"));
    project.write("kernels/a.cu", &SAXPY.replace("a * x[i]", "2 * a * x[i]"));
    project.write("kernels/b.cu", "syntax error");
    assert_eq!(project.gpuk(&["build"]).code, Some(101));
    assert_eq!(read("kernels.rs"), bindings);
    assert_eq!(read("report.json"), report);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_kernels_without_a_wrapper_say_why() {
    let project = Project::new("p", GPUK).file(
        "kernels/k.cu",
        "struct V { virtual void f(); int x; };\n\
         extern \"C\" __global__ void by_reference(const float &k, float *y) { y[0] = k; }\n\
         extern \"C\" __global__ void with_virtual(V v, float *y) { y[0] = v.x; }\n\
         extern \"C\" __global__ void good(float *y) { y[0] = 1; }\n",
    );
    insta::assert_snapshot!(project.gpuk(&["build"]).ok().shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_two_kernels_with_one_wrapper_name_are_an_error() {
    let project = Project::new("p", GPUK).file(
        "kernels/k.cu",
        "extern \"C\" __global__ void k() {}\n__global__ void k(int *y) { y[0] = 1; }\nnamespace n { template <class T> __global__ void k() {} struct A {}; }\nstruct A {};\ntemplate __global__ void n::k<A>();\ntemplate __global__ void n::k<n::A>();\n",
    );
    insta::assert_snapshot!(project.gpuk(&["build"]).shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_check_in_a_kernel_that_is_off_is_refused() {
    let project = Project::new("p", GPUK)
        .config("kernel.gather.checks = 'off'")
        .file("kernels/gather.cu", "#include \"gpuk.cuh\"\nextern \"C\" __global__ void gather(const float *src, const int *idx, float *dst, int rows) {\n    int k = idx[threadIdx.x];\n    GPUK_CHECK(k < rows, \"row {} of {}\", k, rows);\n    dst[threadIdx.x] = src[k];\n}\n");
    insta::assert_snapshot!(project.gpuk(&["check"]).shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_message_that_does_not_fit_its_values_is_refused() {
    let project = Project::new("p", GPUK)
        .file("kernels/k.cu", "#include \"gpuk.cuh\"\nextern \"C\" __global__ void k(int *y, int n) {\n    GPUK_CHECK(n > 0, \"{} of {}\", n);\n    y[0] = n;\n}\n");
    insta::assert_snapshot!(project.gpuk(&["check"]).shown());
}

#[test]
#[cfg(unix)]
#[ignore = "needs nvcc"]
fn nvcc_odd_names_work_and_run_nothing() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let project = Project::new("p", GPUK);
    let long = format!("kernels/{}/long.cu", "d".repeat(200));
    let names: [&OsStr; 6] = [
        OsStr::new("kernels/a b.cu"),
        OsStr::new("kernels/$(touch pwned)`touch pwned`.cu"),
        OsStr::new("kernels/quote'\".cu"),
        OsStr::new("kernels/-O3.cu"),
        OsStr::new(&long),
        OsStr::from_bytes(b"kernels/latin-\xe9.cu"),
    ];
    for name in names {
        project.write(name, SAXPY);
    }
    let output = project.gpuk(&["build"]).ok();
    assert!(output.stderr.contains("6 kernels"), "{}", output.stderr);
    let pwned = std::fs::read_dir(project.root())
        .unwrap()
        .flatten()
        .any(|entry| entry.file_name() == "pwned");
    assert!(!pwned);
}

/// What is nested deeper than is read gets no wrapper and a reason; what stands beside it gets its own.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_is_nested_too_deep_is_told() {
    const SET: &str = "extern \"C\" __global__ void set(char *p) { p[0] = 1; }\n";
    let spaces = [
        &"namespace a {".repeat(200),
        "extern \"C\" __global__ void deep(int *p) {}\n",
        &"}".repeat(200),
    ];
    let stars = format!(
        "extern \"C\" __global__ void deep(int {}p) {{}}",
        "*".repeat(50_000)
    );
    for deep in [spaces.concat(), stars] {
        let project = Project::new("p", GPUK).file("kernels/k.cu", &format!("{SET}{deep}\n"));
        let output = project.gpuk(&["build", "--message-format", "short"]).ok();
        assert!(output.stderr.contains("[GPUK0015]"), "{}", output.shown());
        let listed = project.gpuk(&["list", "--message-format", "short"]).ok();
        assert!(listed.stdout.contains("set"), "{}", listed.shown());
    }

    let parentheses = ["(".repeat(20_000), ")".repeat(20_000)];
    let source = format!(
        "#include <gpuk.cuh>\nextern \"C\" __global__ void k(GPUK_IN({}n{}) const float *p, int n) {{}}\n",
        parentheses[0], parentheses[1]
    );
    let project = Project::new("p", GPUK).file("kernels/k.cu", &source);
    let output = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let said = "[GPUK0020]: an annotation of kernel `k`: the expression is too long";
    assert!(output.stderr.contains(said), "{}", output.shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_ptx_that_cannot_be_read_is_told_with_its_place() {
    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry x(";
    let blocks = format!("{HEAD})\n{{\n{}", "{\n".repeat(5_000));
    for (source, said) in [
        (
            HEAD,
            "kernels/x.ptx:4:19: error: expected `.param` or `.reg`, found the end of the text",
        ),
        (
            &*blocks,
            "kernels/x.ptx:70:1: error: expected a block that is less deeply nested, found `{`",
        ),
    ] {
        let project = Project::new("p", GPUK).file("kernels/x.ptx", source);
        let output = project.gpuk(&["check", "--message-format", "short"]);
        assert_eq!(output.code, Some(101), "{}", output.shown());
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
}

#[test]
fn settings_that_are_no_table_are_a_finding() {
    let package = "[package]\nname = \"p\"\nedition = \"2024\"\n";
    for (manifest, place) in [
        (
            format!("{package}[package.metadata]\ngpuk = 3\n[workspace]\n"),
            "Cargo.toml:5:8",
        ),
        (
            format!("{package}[workspace.metadata]\ngpuk = 3\n"),
            "Cargo.toml:5:8",
        ),
        (
            format!("{package}[[package.metadata.gpuk]]\narchs = [\"80\"]\n[workspace]\n"),
            "Cargo.toml:4:",
        ),
    ] {
        let project = Project::new("p", GPUK).file("Cargo.toml", &manifest);
        for command in [&["check"][..], &["test", "--sim"], &["run", "--sim"]] {
            let output = project.gpuk(&[command, &["--message-format", "short"]].concat());
            assert_eq!(output.code, Some(101), "{}", output.shown());
            for said in [place, "[GPUK0031]", "is not a table of gpuk's settings"] {
                let count = output.stderr.matches(said).count();
                assert_eq!(count, 1, "{said}\n{}", output.shown());
            }
        }
    }
}
