//! `build.rs`: one line builds the kernels of a package, and cargo decides when.

use std::path::PathBuf;

use gpuk_tests::{Output, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A crate with a build script; all such crates share their dependencies' artifacts.
fn package(name: &str) -> Project {
    Project::new(name, GPUK)
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("src/lib.rs", "//! Kernels.\n#![deny(warnings, missing_docs)]\ngpuk::include_kernels!();\n")
        .file("kernels/scale.cuh", "#define FACTOR 2\n")
        .file("kernels/scale.cu", "#include \"scale.cuh\"\n/// Scales in place.\nextern \"C\" __global__ void scale(float *data, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) data[i] *= FACTOR;\n}\n")
        .file("kernels/other.cu", "extern \"C\" __global__ void other(int *data) { data[0] = 1; }\n")
}

fn check(project: &Project) -> Output {
    project.cargo(&["check", "--offline", "--quiet"])
}

/// The folder of the build script's results, newest first where a profile has several.
fn out(project: &Project) -> PathBuf {
    let output = project
        .cargo(&["check", "--offline", "--quiet", "--message-format", "json"])
        .ok();
    let messages = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let name = project
        .root()
        .display()
        .to_string()
        .replace(&*project.root().to_string_lossy(), "[ROOT]");
    let mut scripts = messages.filter(|message| message["reason"] == "build-script-executed");
    let own = scripts.find(|message| {
        message["package_id"]
            .as_str()
            .is_some_and(|id| id.contains(&name))
    });
    let folder = own.unwrap()["out_dir"]
        .as_str()
        .unwrap()
        .replace("[ROOT]", &project.root().to_string_lossy());
    PathBuf::from(folder).join("gpuk")
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_build_script_of_one_line_and_what_reruns_it() {
    let project = package("scripted");
    let store = project.root().join("store").display().to_string();
    let project = project.env("GPUK_STORE", Some(&store));
    let _ = check(&project).ok();
    let out = out(&project);
    // What an earlier run of this test left: cargo names the folder after the package's name.
    std::fs::remove_dir_all(&out).unwrap();
    project.write("kernels/scale.cuh", "#define FACTOR 2\n");
    let _ = check(&project).ok();
    let bindings = || std::fs::read_to_string(out.join("kernels.rs")).unwrap();
    // Beside units the store has what names a source's kernels have.
    let units = || {
        let entries = std::fs::read_dir(project.root().join("store/units")).unwrap();
        let is_unit = |entry: &std::fs::DirEntry| entry.path().join("module.ptx").is_file();
        entries.flatten().filter(is_unit).count()
    };
    assert!(bindings().contains("/// Scales in place."));
    let (first, count) = (bindings(), units());
    assert_eq!(count, 2);

    let _ = check(&project).ok();
    assert_eq!(
        (bindings(), units()),
        (first.clone(), count),
        "nothing changed"
    );

    project.write("kernels/scale.cuh", "#define FACTOR 3\n");
    let _ = check(&project).ok();
    assert_ne!(bindings(), first, "a header's edit makes another image");
    assert_eq!(units(), count + 1, "of one source alone");

    let told = std::fs::read_to_string(out.parent().unwrap().with_file_name("output")).unwrap();
    assert!(
        !told.contains(&*out.to_string_lossy()),
        "what the script wrote is newer than its run\n{told}"
    );

    project.write(
        "kernels/new.cu",
        "extern \"C\" __global__ void fresh(int *data) { data[0] = 1; }\n",
    );
    let _ = check(&project).ok();
    assert!(bindings().contains("pub mod new"), "a new source is seen");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_the_first_kernel_is_seen() {
    let project = package("first");
    std::fs::remove_dir_all(project.root().join("kernels")).unwrap();
    let _ = check(&project).ok();
    project.write(
        "kernels/first.cu",
        "extern \"C\" __global__ void first(int *data) { data[0] = 1; }\n",
    );
    let _ = check(&project).ok();
    let bindings = std::fs::read_to_string(out(&project).join("kernels.rs")).unwrap();
    assert!(bindings.contains("pub mod first"), "{bindings}");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_an_edit_of_the_workspaces_configuration_is_seen() {
    let project = package("member");
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    for file in ["build.rs", "src/lib.rs", "kernels/other.cu"] {
        let text = std::fs::read_to_string(project.root().join(file)).unwrap();
        project.write(format!("member/{file}"), &text);
    }
    project.write("member/Cargo.toml", &manifest.replace("[workspace]\n", ""));
    let workspace = |arch| {
        format!(
            "[workspace]\nmembers = [\"member\"]\nresolver = \"3\"\n[workspace.metadata.gpuk]\narchs = [\"{arch}\"]\n"
        )
    };
    for arch in ["80", "90"] {
        project.write("Cargo.toml", &workspace(arch));
        let _ = check(&project).ok();
        let bindings = std::fs::read_to_string(out(&project).join("kernels.rs")).unwrap();
        assert!(bindings.contains(&format!("sm_{arch}")), "{bindings}");
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_failure_stands_in_the_crate_in_the_compilers_words() {
    let project = package("broken");
    project.write(
        "kernels/scale.cu",
        "extern \"C\" __global__ void scale(float *data) {\n    data[0] = factor;\n}\n",
    );
    let output = check(&project);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let said = "error: identifier \"factor\" is undefined";
    assert_eq!(output.stderr.matches(said).count(), 1, "{}", output.stderr);
    for place in ["kernels/scale.cu:2:5", "--> src/lib.rs:3:1"] {
        assert!(output.stderr.contains(place), "{place}\n{}", output.stderr);
    }
    project.write(
        "kernels/scale.cu",
        "extern \"C\" __global__ void scale(float *data) { data[0] = 1; }\n",
    );
    let _ = check(&project).ok();
}

#[test]
fn without_a_compiler_the_crate_says_what_to_do() {
    let mut project = package("bare");
    let nothing = project.root().join("nothing").display().to_string();
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
    let output = check(&project.env("GPUK_HOME", Some(&nothing)));
    if output.code == Some(0) {
        // A toolkit in a default folder cannot be hidden; then there is nothing to say.
        assert!(
            std::path::Path::new("/usr/local/cuda").exists()
                || std::path::Path::new("/opt/cuda").exists()
        );
        return;
    }
    assert!(
        output.stderr.contains("cargo gpuk toolchain install"),
        "{}",
        output.stderr
    );
}

/// Without the feature there is one error for each kind of type, which names the feature and who needs it.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_type_whose_feature_is_off_names_the_feature() {
    let project = package("featureless").file(
        "kernels/eight.cu",
        "#include <cuda_fp8.h>\n#include <cuda_fp4.h>\n\
         extern \"C\" __global__ void eight(__nv_fp8_e4m3 *x, __nv_fp8_e5m2 by) {}\n\
         extern \"C\" __global__ void four(const __nv_fp4_e2m1 *x) {}\n",
    );
    let output = check(&project);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    for feature in ["f8", "f4"] {
        let said = format!(
            "needs the feature `{feature}` of `gpuk`: gpuk = {{ features = [\"{feature}\"] }}"
        );
        assert_eq!(
            output.stderr.matches(&said).count(),
            1,
            "{}",
            output.shown()
        );
    }
    assert_eq!(
        output.stderr.matches("error:").count(),
        3,
        "{}",
        output.shown()
    );
}
