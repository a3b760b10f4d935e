//! The same workspace in another folder is served from the same store, and its results are the same to the byte.

use std::collections::BTreeMap;
use std::path::Path;

use gpuk_tests::{Counter, Project, copy};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const SOURCE: &str = r#"#include "own.cuh"
#include "shared.cuh"
#include "outside.cuh"
#include "exported.cuh"
#include <gpuk.cuh>
/// Scales.
extern "C" __global__ void scale(float *y, int n) {
    GPUK_CHECK(n < 32);
    y[n] = own(n) + shared(n) + outside(n) + exported(n);
}
"#;

/// A function with a check in it.
fn header(name: &str) -> String {
    format!(
        "#include <gpuk.cuh>\n__device__ inline int {name}(int n) {{ GPUK_CHECK(n != 7); return n * 3; }}\n"
    )
}

/// A workspace with headers in all the places they can be in; `outside` is none of its folders.
fn workspace(outside: &Path) -> Project {
    let member = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}\n")
    };
    let config = format!(
        "[dependencies]\nmath = {{ path = \"../math\" }}\n[package.metadata.gpuk]\n\
         include = ['include', '../shared', '{}']\ninclude-from = ['math']",
        outside.display()
    );
    let exported = "links = \"math\"\n[package.metadata.gpuk]\nexport-include = ['include']";
    Project::new("p", GPUK)
        .file("Cargo.toml", "[workspace]\nmembers = ['p', 'math']\nresolver = '3'\n")
        .file("p/Cargo.toml", &member("p", &config))
        .file("p/src/lib.rs", "")
        .file("p/include/own.cuh", &header("own"))
        .file("p/kernels/scale.cu", SOURCE)
        .file(
            "p/kernels/two.cu",
            "#include \"exported.cuh\"\n__global__ void two(int *y) { int unused; y[0] = exported(*y); }\n",
        )
        .file("p/kernels/three.cu", "__global__ void three(int *y) { y[0] = 3; }\n")
        .file("shared/shared.cuh", &header("shared"))
        .file("math/Cargo.toml", &member("math", exported))
        .file("math/build.rs", "fn main() {}")
        .file("math/src/lib.rs", "")
        .file("math/include/exported.cuh", &header("exported"))
}

/// Every result by name.
fn results(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let images = std::fs::read_dir(out.join("images")).unwrap().flatten();
    let files = images.map(|it| it.path()).chain([out.join("kernels.rs")]);
    files
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect()
}

fn compiles(ran: &[String]) -> usize {
    ran.iter().filter(|it| *it != "nvcc").count()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_another_folder_is_served_from_the_store() {
    let (outside, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("outside.cuh"), header("outside")).unwrap();
    let counter = Counter::new(GPUK);
    let store = store.path().display().to_string();
    let ready = |project: Project, store: Option<&str>| {
        let project = project.env("NVCC", Some(&counter.nvcc()));
        project.env("GPUK_STORE", store)
    };
    let first = ready(workspace(outside.path()), Some(&store));
    let build = |project: &Project, args: &[&str]| {
        let command = [&["build"], args].concat();
        counter.ran(|| drop(project.gpuk(&command).ok()))
    };
    // The profile `dev` has line information.
    for args in [&[][..], &["--release"]] {
        assert_eq!(compiles(&build(&first, args)), 6, "{args:?}");
        let deep = tempfile::tempdir().unwrap();
        let deep = deep.path().join("a/much longer/way = to/it");
        let second = ready(Project::kept("p", GPUK, &deep), Some(&store));
        copy(&first.root(), &second.root());
        for made in ["target", "src"] {
            std::fs::remove_dir_all(second.root().join(made)).unwrap();
        }
        let ran = build(&second, args);
        assert_eq!(compiles(&ran), 0, "{args:?}: {ran:?}");
        let out = |project: &Project| results(&project.root().join("target/gpuk/p"));
        assert_eq!(out(&second), out(&first), "{args:?}");

        // And it is what would be made there.
        std::fs::remove_dir_all(second.root().join("target")).unwrap();
        let second = second.env("GPUK_STORE", None);
        assert_eq!(compiles(&build(&second, args)), 6, "{args:?}");
        assert_eq!(out(&second), out(&first), "{args:?}");
        let wrappers = String::from_utf8(out(&second)["kernels.rs"].clone()).unwrap();
        let outside = outside.path().join("outside.cuh").display().to_string();
        for site in [
            "kernels/scale.cu",
            "include/own.cuh",
            "../shared/shared.cuh",
            "../math/include/exported.cuh",
            &outside,
        ] {
            assert!(
                wrappers.contains(&format!("\"{site}\"")),
                "{site}\n{wrappers}"
            );
        }
        for project in [&first, &second] {
            let root = project.root().display().to_string();
            assert!(!wrappers.contains(&root), "{wrappers}");
        }
    }
}

const SCRIPT: &str = r#"fn main() {
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR").unwrap());
    let text = "__device__ int made(int n) { GPUK_CHECK(n != 7); int unused; return n; }\n";
    std::fs::write(out.join("made.cuh"), text).unwrap();
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    gpuk_build::Build::new().include(out).include(own).run();
}
"#;

/// What a build script generates lies in a folder that is not the same for two packages, and goes by `OUT_DIR`.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_generated_headers_are_served_too() {
    let counter = Counter::new(GPUK);
    let (store, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Cargo names the folder by the version among other things.
    let made = |nth: u32, store: &Path| {
        let project = Project::new("generated", GPUK)
            .file(
                "kernels/a.cu",
                "#include <gpuk.cuh>\n#include \"made.cuh\"\n#include \"own.cuh\"\n\
                 extern \"C\" __global__ void a(int *y) { y[0] = made(*y) + OWN; }\n",
            )
            .file("include/own.cuh", "#define OWN 3\n")
            .scripted(env!("CARGO_TARGET_TMPDIR"))
            .file("build.rs", SCRIPT)
            .file("src/lib.rs", "gpuk::include_kernels!();\n")
            .env("NVCC", Some(&counter.nvcc()))
            .env("GPUK_STORE", Some(&store.display().to_string()));
        let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
        let version = format!("{}.{nth}.0", std::process::id());
        project.write("Cargo.toml", &manifest.replace("0.1.0", &version));
        let mut warned = String::new();
        let ran = counter.ran(|| {
            let args = ["check", "--offline", "--message-format", "json"];
            let output = project.cargo(&args).ok();
            warned = output.stderr + &output.stdout;
        });
        let messages = warned.lines().filter(|line| line.starts_with('{'));
        let messages = messages.filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
        let out = messages.filter(|it| it["reason"] == "build-script-executed");
        let mut out = out.filter_map(|it| Some(it["out_dir"].as_str()?.to_owned()));
        let out = out.rfind(|it| it.contains("/generated-")).unwrap();
        let made = results(&Path::new(&out).join("gpuk"));
        (out, ran, made, warned)
    };
    let (first, ran, expected, _) = made(1, store.path());
    assert_eq!(compiles(&ran), 2, "{ran:?}");
    let (second, ran, served, warned) = made(2, store.path());
    assert_ne!(first, second, "the folders differ");
    assert_eq!(compiles(&ran), 0, "{ran:?}");
    assert_eq!(served, expected);
    let (_, ran, made, _) = made(3, other.path());
    assert_eq!(compiles(&ran), 2, "{ran:?}");
    assert_eq!(made, expected);
    let wrappers = String::from_utf8(expected["kernels.rs"].clone()).unwrap();
    assert!(wrappers.contains("\"OUT_DIR/made.cuh\""), "{wrappers}");
    // A finding that was kept names the file that there is here.
    assert!(
        warned.contains("unused") && warned.contains("/out/made.cuh"),
        "{warned}"
    );
    assert!(!warned.contains("OUT_DIR/"), "{warned}");
}

const HOST: &str = r#"#include <cassert>
#include <cstdio>
#include <gpuk.cuh>
#include "own.cuh"
#include "shared.cuh"
#include "exported.cuh"
__global__ void scale(float *y, int n) {
    assert(n < 32);
    y[n] = own(n) + shared(n) + exported(n);
}
extern "C" cudaError_t run_scale(float *y, int n) {
    if (n < 0) std::fprintf(stderr, "%s: %d\n", __FILE__, n);
    scale<<<1, 1>>>(y, n);
    return cudaGetLastError();
}
"#;

/// A function on both sides that says where it stands.
fn spoken(name: &str) -> String {
    format!(
        "#pragma once\n#include <cassert>\n\
         __host__ __device__ inline int {name}(int n) {{ assert(n != 7); return n * 3; }}\n"
    )
}

/// Objects of host functions: what nvcc makes as a whole.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_objects_of_host_functions_are_served_too() {
    let (outside, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let counter = Counter::new(GPUK);
    let store = store.path().display().to_string();
    let first = workspace(outside.path());
    std::fs::remove_dir_all(first.root().join("p/kernels")).unwrap();
    let manifest = std::fs::read_to_string(first.root().join("p/Cargo.toml")).unwrap();
    first.write(
        "p/Cargo.toml",
        &format!("{manifest}\nhost-objects = ['host/*.cu']\narchs = ['80', '90']\n"),
    );
    first.write("p/host/scale.cu", HOST);
    first.write(
        "p/host/two.cu",
        "extern \"C\" int two(int x) { return 2 * x; }\n",
    );
    for (name, folder) in [
        ("own", "p/include"),
        ("shared", "shared"),
        ("exported", "math/include"),
    ] {
        first.write(format!("{folder}/{name}.cuh"), &spoken(name));
    }
    let first = first
        .env("NVCC", Some(&counter.nvcc()))
        .env("GPUK_STORE", Some(&store));
    // How often nvcc makes an object, and how often the compiler proper is asked for types.
    let build = |project: &Project, args: &[&str]| {
        let command = [&["build", "--verbose"], args].concat();
        let mut said = String::new();
        let ran = counter.ran(|| said = project.gpuk(&command).ok().stderr);
        let asked = ran.iter().filter(|it| *it == "cicc").count();
        (said.matches(" -c -o ").count(), asked)
    };
    let objects = |project: &Project| {
        let folder = project.root().join("target/gpuk/p/host");
        let files = std::fs::read_dir(folder).unwrap().flatten();
        let objects = files.map(|file| (file.file_name(), std::fs::read(file.path()).unwrap()));
        objects.collect::<BTreeMap<_, _>>()
    };
    let wrappers = |project: &Project| {
        std::fs::read_to_string(project.root().join("target/gpuk/p/kernels.rs")).unwrap()
    };
    for args in [&[][..], &["--release"]] {
        assert_eq!(build(&first, args), (2, 2), "{args:?}");
        let deep = tempfile::tempdir().unwrap();
        let deep = deep.path().join("a/much longer/way = to/it");
        let second = Project::kept("p", GPUK, &deep);
        copy(&first.root(), &second.root());
        for made in ["target", "src"] {
            std::fs::remove_dir_all(second.root().join(made)).unwrap();
        }
        let second = second
            .env("NVCC", Some(&counter.nvcc()))
            .env("GPUK_STORE", Some(&store));
        assert_eq!(build(&second, args), (0, 0), "{args:?}");
        assert_eq!(objects(&second), objects(&first), "{args:?}");
        assert_eq!(wrappers(&second), wrappers(&first), "{args:?}");

        // Made there, it says neither folder.
        std::fs::remove_dir_all(second.root().join("target")).unwrap();
        let second = second.env("GPUK_STORE", None);
        assert_eq!(build(&second, args), (2, 2), "{args:?}");
        for (project, (name, object)) in [&first, &second]
            .into_iter()
            .flat_map(|project| objects(project).into_iter().map(move |it| (project, it)))
        {
            let text = String::from_utf8_lossy(&object).into_owned();
            for folder in [first.root(), second.root()] {
                let folder = folder.display().to_string();
                assert!(!text.contains(&folder), "{name:?} of {:?}", project.root());
            }
            let says_file = text.contains("host/scale.cu");
            assert_eq!(says_file, name.to_string_lossy().starts_with("scale"));
        }
    }
}
