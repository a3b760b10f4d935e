//! Kernel templates and names, from sources to `cargo gpuk list`.

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const SOURCE: &str = "\
#include <gpuk.cuh>
template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
namespace ns {
template <class T, int N> __global__ void tile(T *x) { x[threadIdx.x] = N; }
GPUK_INSTANTIATE(tile<int, 3>);
}
namespace {
template <class T> __global__ void hidden(T *x) { x[threadIdx.x] = 1; }
GPUK_INSTANTIATE(hidden<int>);
}
template <class T> static __global__ void local(T *x) { x[threadIdx.x] = 1; }
GPUK_INSTANTIATE(local<int>); GPUK_INSTANTIATE(local<float>); GPUK_INSTANTIATE(local<float>);
template <class T> __global__ void never(T *x) { x[threadIdx.x] = 1; }
";

/// Name, line and method of each kernel, then the coded findings.
fn listed(project: &Project) -> Vec<String> {
    let output = project.gpuk(&["list", "--message-format", "json"]);
    let mut all = Vec::new();
    for line in output.stdout.lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        if message["reason"] == "gpuk-kernel" {
            let signature = text(&message["signature"]);
            let method = signature.split("(&self").next().unwrap_or_default();
            all.push(method.trim_start_matches("unsafe fn ").to_owned());
        } else if !message["message"]["code"].is_null() {
            let code = text(&message["message"]["code"]["code"]);
            all.push(format!("{code} {}", text(&message["message"]["message"])));
        }
    }
    all.sort();
    all.dedup();
    all
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_instances_are_asked_for_in_the_source_and_in_the_manifest() {
    let project = Project::new("p", GPUK)
        .config("instantiate = ['ns::tile<float, 64>', 'hidden<double>', 'scale<unsigned char>']")
        .file("kernels/t.cu", SOURCE);
    assert_eq!(
        listed(&project),
        [
            "GPUK0024 kernel template `never` has no instance, so it gets no wrapper",
            "hidden<T, X: Write<Item = T>>",
            "local<T, X: Write<Item = T>>",
            "scale<T, X: Write<Item = T>>",
            "tile<T, const N: i32, X: Write<Item = T>>",
        ]
    );
    let tiles = project.gpuk(&["list"]).stdout;
    for name in [
        "t::tile_int_3",
        "t::tile_float_64",
        "t::hidden_double",
        "t::scale_unsigned_char",
    ] {
        assert!(tiles.contains(name), "{tiles}");
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_instances_that_cannot_be_are_said_where_they_are_asked_for() {
    let wrong = "GPUK_INSTANTIATE(scale<float, 2>);\nGPUK_INSTANTIATE(scale<nothing>);\n";
    let project = Project::new("p", GPUK)
        .config("instantiate = ['tile<float>']")
        .file("kernels/t.cu", &format!("{SOURCE}{wrong}"));
    let said = project.gpuk(&["build"]).stderr;
    for expected in [
        "error[GPUK0025]: `scale<float, 2>` cannot be instantiated\n  --> kernels/t.cu:14:1",
        "error[GPUK0025]: `scale<nothing>` cannot be instantiated\n  --> kernels/t.cu:15:1",
        "error[GPUK0025]: `tile<float>` cannot be instantiated",
        "the template has the parameters `class T, value N`",
        "identifier \"nothing\" is undefined",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    assert_eq!(said.matches("error[").count(), 3, "{said}");

    let unknown = "GPUK_INSTANTIATE(scal<float>);\n";
    project.write("kernels/t.cu", &format!("{SOURCE}{unknown}"));
    let said = project.gpuk(&["build"]).stderr;
    assert!(
        said.contains("`scal` is no kernel template\n  --> kernels/t.cu:14:1"),
        "{said}"
    );
    assert!(said.contains("did you mean `scale`?"), "{said}");

    let project = Project::new("p", GPUK)
        .config("instantiate = ['nowhere<float>']")
        .file("kernels/t.cu", SOURCE);
    let said = project.gpuk(&["build"]).stderr;
    assert!(
        said.contains("`nowhere` is no kernel template of package `p`"),
        "{said}"
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_files_of_one_name_are_kept_apart() {
    let kernel = "extern \"C\" __global__ void add(int *x) { x[0] += BY; }\n";
    let project = Project::new("p", GPUK)
        .file("kernels/a/add.cu", &format!("#define BY 1\n{kernel}"))
        .file("kernels/b/add.cu", &format!("#define BY 2\n{kernel}"));
    let listed = project.gpuk(&["list"]).ok().stdout;
    assert!(
        listed.contains("a_add::add") && listed.contains("b_add::add"),
        "{listed}"
    );
    let built = project.gpuk(&["build"]).ok();
    drop(built);
    let images = std::fs::read_dir(project.root().join("target/gpuk/p/images")).unwrap();
    let ptx = images
        .flatten()
        .filter(|it| it.path().extension().is_some_and(|it| it == "ptx"));
    let texts: std::collections::BTreeSet<_> = ptx
        .map(|it| std::fs::read_to_string(it.path()).unwrap())
        .collect();
    assert_eq!(texts.len(), 2);
}
