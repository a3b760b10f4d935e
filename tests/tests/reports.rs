//! What people reported of other tools, where no other test shows what happens here; and the page of all of it.

use std::collections::BTreeSet;
use std::path::Path;

use gpuk_tests::{Project, workspace_root};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");
const SET: &str = "extern \"C\" __global__ void set(int *x) { x[0] = 1; }\n";

/// Writes a program into `bin` of a project.
#[cfg(unix)]
fn program(project: &Project, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    project.write(format!("bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
    let file = project.root().join("bin").join(name);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

/// Every file below a folder, with its contents.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(tree(&path)),
            path => found.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
#[cfg(unix)]
#[ignore = "needs nvcc"]
fn nvcc_a_toolkit_newer_than_any_known_is_used() {
    let project = Project::new("p", GPUK).file("kernels/set.cu", SET);
    let real = project.toolkit().join("bin/nvcc").display().to_string();
    let nvcc = program(
        &project,
        "nvcc",
        &format!(
            "[ \"$1\" = --version ] && echo 'Cuda compilation tools, release 99.1, V99.1.7' && exit\nexec '{real}' \"$@\""
        ),
    );
    let project = project.env("NVCC", Some(&nvcc));
    let doctor = project.gpuk(&["doctor"]).ok();
    assert!(doctor.stdout.contains("99.1.7"), "{}", doctor.shown());
    let output = project.gpuk(&["build"]).ok();
    assert!(output.stderr.contains("1 kernel"), "{}", output.shown());
}

#[test]
#[cfg(unix)]
#[ignore = "needs nvcc"]
fn nvcc_no_device_is_asked_for_and_the_target_changes_nothing() {
    let project = Project::new("p", GPUK).file("kernels/set.cu", SET);
    let asked = project.root().join("asked").display().to_string();
    program(&project, "nvidia-smi", &format!("touch '{asked}'; exit 9"));
    let path = format!(
        "{}:{}",
        project.root().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let project = project.env("PATH", Some(&path));
    let images = |project: &Project| {
        let images = tree(&project.root().join("target/gpuk/p/images"));
        assert!(!images.is_empty());
        images
    };
    let _ = project.gpuk(&["build"]).ok();
    let first = images(&project);
    // Another tool's variable, and a machine that the Rust code is compiled for.
    let project = project
        .env("CUDA_COMPUTE_CAP", Some("61"))
        .env("CARGO_BUILD_TARGET", Some("aarch64-unknown-linux-gnu"))
        .env("CXX_aarch64_unknown_linux_gnu", Some("no-such-compiler"));
    std::fs::remove_dir_all(project.root().join("target")).unwrap();
    let _ = project.gpuk(&["build"]).ok();
    assert_eq!(images(&project), first);
    assert!(!Path::new(&asked).exists(), "`nvidia-smi` was run");
}

#[test]
#[cfg(unix)]
#[ignore = "needs nvcc"]
fn nvcc_a_host_compiler_that_is_too_new_is_refused_with_the_way_out() {
    let project = Project::new("p", GPUK).file("kernels/set.cu", SET);
    let new = program(
        &project,
        "g++",
        "exec /usr/bin/env PATH=/usr/bin:/bin g++ -U__GNUC__ -D__GNUC__=99 \"$@\"",
    );
    let output = project
        .env("NVCC_CCBIN", Some(&new))
        .gpuk(&["check", "--arch", "80,90"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    for said in [
        // The range is nvcc's own to tell, and it is told once.
        "error: #error -- unsupported GNU version! gcc versions later than",
        "/bin/g++",
        "(NVCC_CCBIN)",
        "setting `host-compiler`",
    ] {
        let times = output.stderr.matches(said).count();
        assert_eq!(times, 1, "{said}\n{}", output.shown());
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_a_device_lacks_is_an_error_of_the_build() {
    let project = Project::new("p", GPUK)
        .file(
            "kernels/big.cu",
            "extern \"C\" __global__ void big(float *x) {\n    __shared__ float room[20000];\n    room[threadIdx.x] = x[0];\n    __syncthreads();\n    x[0] = room[19999 - threadIdx.x];\n}\n",
        )
        .file(
            "kernels/wait.cu",
            "extern \"C\" __global__ void wait() { asm volatile(\"cp.async.wait_all;\"); }\n",
        );
    let output = project.gpuk(&["check", "--arch", "75,80"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    for said in [
        "`big` uses too much shared data",
        "80000 bytes of static shared memory, of 49152",
        "`extern __shared__`",
        "requires .target sm_80 or higher",
        "`#if __CUDA_ARCH__ >= 800`",
        "leave \"75\" out of `archs`",
        "due to 2 errors",
    ] {
        let times = output.stderr.matches(said).count();
        assert_eq!(times, 1, "{said}\n{}", output.shown());
    }
    // The way that is named.
    project.write(
        "kernels/wait.cu",
        "#if __CUDA_ARCH__ >= 800\nextern \"C\" __global__ void wait() { asm volatile(\"cp.async.wait_all;\"); }\n#endif\n",
    );
    project.write("kernels/big.cu", SET);
    let output = project.gpuk(&["check", "--arch", "75,80"]).ok();
    assert!(output.stderr.contains("GPUK0016"), "{}", output.shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_nothing_is_written_beside_the_sources() {
    let project = Project::new("p", GPUK)
        .file("kernels/set.cu", SET)
        .file("src/lib.rs", "pub mod own;\n")
        .file("src/own.rs", "");
    let target = tempfile::tempdir().unwrap();
    let project = project.env(
        "CARGO_TARGET_DIR",
        Some(&target.path().display().to_string()),
    );
    let _ = project.cargo(&["generate-lockfile", "--offline"]).ok();
    let before = tree(&project.root());
    for command in ["check", "build", "list", "doctor"] {
        let _ = project.gpuk(&[command]).ok();
    }
    assert_eq!(tree(&project.root()), before);
    assert!(target.path().join("gpuk/p/kernels.rs").is_file());
}

#[test]
#[cfg(unix)]
#[ignore = "needs nvcc"]
fn nvcc_both_device_compilers_run_through_a_wrapper() {
    let project = Project::new("p", GPUK).file("kernels/set.cu", SET);
    let log = project.root().join("log").display().to_string();
    let wrapper = program(
        &project,
        "cache",
        &format!("basename \"$1\" >> '{log}'\nexec \"$@\""),
    );
    let project = project.env("GPUK_WRAPPER", Some(&wrapper));
    let _ = project.gpuk(&["build"]).ok();
    let ran = std::fs::read_to_string(log).unwrap();
    let ran: BTreeSet<_> = ran.lines().collect();
    assert_eq!(ran, BTreeSet::from(["cicc", "ptxas"]));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_compiler_that_comes_later_is_seen() {
    let project = Project::new("later", GPUK)
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("kernels/set.cu", SET)
        .file("src/lib.rs", "gpuk::include_kernels!();\n")
        .env("NVCC", Some("/nowhere/nvcc"));
    let check = ["check", "--offline", "--quiet"];
    let without = project.cargo(&check);
    assert_ne!(without.code, Some(0), "{}", without.shown());
    assert!(
        without.stderr.contains("/nowhere/nvcc"),
        "{}",
        without.shown()
    );
    let project = project.env("NVCC", None);
    let _ = project.cargo(&check).ok();
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_lines_may_end_as_on_windows() {
    let source = "#include <gpuk.cuh>\n#define IN(i, n) \\\n    ((i) < \\\n     (n))\n/// Scales in place.\n///\n/// # Panics\n\
        extern \"C\" __global__ void scale(GPUK_INOUT(n) float *data, /* elements */ int n) {\n\
        int i = threadIdx.x; // one\n    GPUK_CHECK(IN(i, n), \"{} of {}\",\n        i, n);\n    data[i] *= 2;\n}\n";
    let wrappers = |source: &str| {
        let project = Project::new("p", GPUK).file("kernels/scale.cu", source);
        let output = project.gpuk(&["build"]).ok();
        assert!(output.stderr.contains("1 kernel"), "{}", output.shown());
        std::fs::read_to_string(project.root().join("target/gpuk/p/kernels.rs")).unwrap()
    };
    let plain = wrappers(source);
    assert!(plain.contains("/// Scales in place.\n"), "{plain}");
    assert_eq!(wrappers(&source.replace('\n', "\r\n")), plain);
}

/// The names of all tests below a folder, and of the files that must not compile.
fn tests_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                tests_below(&path, found);
            }
            continue;
        }
        if !name.ends_with(".rs") {
            continue;
        }
        if folder.ends_with("refused") {
            found.insert(name.clone().into_owned());
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            match line.strip_prefix("fn ") {
                _ if line == "#[test]" => is_test = true,
                _ if line.starts_with("#[") || line.starts_with("reason") => {}
                Some(rest) if is_test => {
                    found.extend(rest.split('(').next().map(str::to_owned));
                    is_test = false;
                }
                _ => is_test = false,
            }
        }
    }
}

#[test]
fn every_row_has_an_answer_and_every_test_exists() {
    let root = workspace_root();
    let page = std::fs::read_to_string(root.join("book/src/reference/reports.md")).unwrap();
    let mut tests = BTreeSet::new();
    for folder in ["build-support", "cargo-gpuk", "tests"] {
        tests_below(&root.join(folder), &mut tests);
    }
    assert!(tests.len() > 300, "{}", tests.len());
    let mut numbers = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, what, answer, shown] = cells[..] else {
            panic!("{line}");
        };
        if ["row", "---"].contains(&number) {
            continue;
        }
        numbers.push(number.to_owned());
        let said = ["works", "partly", "refused", "out of scope"];
        assert!(said.iter().any(|it| answer.starts_with(it)), "{line}");
        assert!(!what.is_empty(), "{line}");
        let named: Vec<_> = shown.split('`').skip(1).step_by(2).collect();
        let needed = !answer.starts_with("out of scope");
        assert_eq!(!named.is_empty(), needed, "{line}");
        for name in named {
            assert!(tests.contains(name), "row {number}: no test `{name}`");
        }
    }
    // Some of the collection's numbers were taken away as doubles of others.
    let doubles = [
        9, 13, 23, 24, 26, 34, 36, 44, 45, 51, 52, 54, 57, 61, 66, 67, 72, 74, 78, 80, 81, 82,
    ];
    let reports = (1..=85).filter(|number| !doubles.contains(number));
    let wanted = reports.map(|number| number.to_string());
    let wanted: Vec<_> = wanted
        .chain((1..=40).map(|number| format!("T{number}")))
        .collect();
    assert_eq!(numbers, wanted);
}
