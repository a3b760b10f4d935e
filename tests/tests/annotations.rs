//! Annotations as a user meets them: what is wrong in them is said at its column, and the compiler sees none of them.

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const ANNOTATED: &str = r#"#include <gpuk.cuh>
#define TILE 16
#define KERNEL(name, type) \
    extern "C" __global__ void name(GPUK_IN(n * TILE) const type *x, GPUK_OUT(n) type *y, int n) { y[threadIdx.x] = x[n]; }
KERNEL(copy_float, float)
GPUK_LAUNCH(block = (TILE, 2), // threads
            grid = ceil_div(n, TILE))
__global__ void scale(
    GPUK_INOUT(n
               * TILE) float *y, float by, int n)
{
    GPUK_CHECK(by != 0, "{}", by);
    y[threadIdx.x] *= by;
}
template <class T> GPUK_LAUNCH(elements = n) __global__ void fill(GPUK_OUT(n) T *y, int n) { y[threadIdx.x] = T(n); }
template __global__ void fill<float>(float *, int);
"#;

const PLAIN: &str = r#"#include <gpuk.cuh>
#define TILE 16
#define KERNEL(name, type) \
    extern "C" __global__ void name(const type *x, type *y, int n) { y[threadIdx.x] = x[n]; }
KERNEL(copy_float, float)


__global__ void scale(

               float *y, float by, int n)
{
    GPUK_CHECK(by != 0, "{}", by);
    y[threadIdx.x] *= by;
}
template <class T> __global__ void fill(T *y, int n) { y[threadIdx.x] = T(n); }
template __global__ void fill<float>(float *, int);
"#;

/// The PTX of a source.
fn ptx(source: &str, config: &str) -> String {
    let project = Project::new("p", GPUK)
        .config(config)
        .file("kernels/k.cu", source);
    let _ = project.gpuk(&["build"]).ok();
    let images = project.root().join("target/gpuk/p/images");
    let images = std::fs::read_dir(images).unwrap().flatten();
    let mut ptx = images.filter(|it| it.path().extension().is_some_and(|it| it == "ptx"));
    std::fs::read_to_string(ptx.next().unwrap().path()).unwrap()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_makes_the_same_ptx_with_annotations_and_without() {
    let config = "archs = ['80']\nline-info = false";
    let found = ptx(ANNOTATED, config);
    assert!(found.contains(".entry copy_float"), "{found}");
    assert_eq!(found, ptx(PLAIN, config));

    // With line information too; of a line's columns those behind an annotation are others, in the source already.
    let lines = |source| {
        let ptx = ptx(source, "archs = ['80']\nline-info = true");
        let lines = ptx.lines().map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            match words.as_slice() {
                [".loc", file, line, _, rest @ ..] => format!("{file} {line} {}", rest.join(" ")),
                _ => line.to_owned(),
            }
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(lines(ANNOTATED), lines(PLAIN));
}

/// `line:column message` of each finding.
fn said(source: &str) -> Vec<String> {
    let project = Project::new("p", GPUK)
        .config("archs = ['80']")
        .file("kernels/k.cu", source);
    let output = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let lines = output.stderr.lines().map(str::to_owned);
    lines.filter(|line| line.contains("GPUK002")).collect()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_wrong_annotations_are_errors_at_their_columns() {
    let source = "#include <gpuk.cuh>
#define ROWS rows
#define KERNEL(name) __global__ void name(GPUK_IN(m) const int *x, int n) {}
extern \"C\" __global__ void a(GPUK_IN(n * ROWS) const int *x, GPUK_IN(/* of y */ x + 1) const int *y, int n) {}
KERNEL(b)
__global__ void __launch_bounds__(64) GPUK_LAUNCH(elements = n,
                                                  block = 65) c(int n) {}
template <class T> __global__ void d(GPUK_OUT(n * 0.5f) T *x, int n) {}
template __global__ void d(float *, int);
";
    insta::assert_snapshot!(said(source).join("\n"));
}
