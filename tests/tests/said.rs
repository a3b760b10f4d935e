//! What the compilers say of a source that is built for several architectures: once, with its place.

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// The lines of `cargo gpuk check` that begin with a place.
fn findings(project: &Project) -> Vec<String> {
    let output = project.gpuk(&["check", "--message-format", "short"]);
    let lines = output.stderr.lines().map(str::to_owned);
    let found: Vec<_> = lines.filter(|line| line.starts_with("kernels/")).collect();
    assert!(!found.is_empty(), "{}", output.shown());
    found
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_warning_is_said_once_for_all_architectures() {
    let source = "extern \"C\" __global__ void k(float *y) {
    int unused;
    y[0] = 1;
#if __CUDA_ARCH__ >= 900
    int newer;
#endif
}
";
    let project = Project::new("p", GPUK)
        .config("archs = ['80', '86', '90']")
        .file("kernels/k.cu", source);
    let found = findings(&project);
    assert_eq!(found.len(), 2, "{found:?}");
    for (line, name, found) in [(2, "unused", &found[0]), (5, "newer", &found[1])] {
        assert!(
            found.starts_with(&format!("kernels/k.cu:{line}")),
            "{found}"
        );
        assert!(
            found.contains("warning") && found.contains(&format!("\"{name}\"")),
            "{found}"
        );
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_the_assembler_refuses_is_said_where_it_stands() {
    let large = "namespace deep {
__global__ void fits(float *y) { y[0] = 1; }
__global__ void large(float *y) {
    __shared__ float all[20000];
    all[threadIdx.x] = y[0];
    __syncthreads();
    y[0] = all[threadIdx.x ^ 1];
}
}
";
    let project = |source: &str| {
        Project::new("p", GPUK)
            .config("archs = ['80', '86', '90']")
            .file("kernels/k.cu", source)
    };
    // Without a line: at the kernel that it names, by the kernel's own name.
    let found = findings(&project(large));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("kernels/k.cu:3"), "{found:?}");
    assert!(
        found[0].contains("`large` uses too much shared data"),
        "{found:?}"
    );

    // With a line of the PTX: at the line of the source that it came from.
    let wrong = "__device__ void inner(int *y) {
    asm volatile(\"mov.b33 %0, 1;\" : \"=r\"(*y));
}
extern \"C\" __global__ void k(int *y) {
    y[1] = 1;
    inner(y);
}
";
    let found = findings(&project(wrong));
    // The assembler has two things to say of it.
    let said = ["Unknown modifier '.b33'", "Unexpected instruction types"];
    assert_eq!(found.len(), said.len(), "{found:?}");
    for (found, said) in found.iter().zip(said) {
        assert!(found.starts_with("kernels/k.cu:2"), "{found}");
        assert!(found.contains(said), "{found}");
    }
}
