//! `cargo package`: gpuk's own packages, and a crate with kernels whose users have no CUDA.

use std::path::Path;

use gpuk_tests::{Project, workspace_root};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// The packages that are published, in an order in which each finds those that it needs.
const OWN: [(&str, &str); 7] = [
    ("gpuk-device", "build-support/device"),
    ("gpuk-ptx", "build-support/ptx"),
    ("gpuk", "build-support/runtime"),
    ("gpuk-build", "build-support/build"),
    ("gpuk-sim", "build-support/sim"),
    ("gpuk-sim-cuda", "build-support/sim/cuda"),
    ("cargo-gpuk", "cargo-gpuk"),
];

/// Packages them and unpacks what was made.
fn unpacked(project: &Project, packages: &[(&str, &str)], args: &[&str], to: &Path) {
    let mut command = vec!["package", "--no-verify", "--offline", "--allow-dirty"];
    command.extend(args);
    for (name, _) in packages {
        command.extend(["-p", name]);
    }
    let target = project.root().join("packaged").display().to_string();
    command.extend(["--target-dir", &target]);
    let _ = project.cargo(&command).ok();
    for (name, version) in packages {
        let archive = format!("{target}/package/{name}-{version}.crate");
        let to = to.display().to_string();
        let mut tar = project.command_of("tar", &["-xzf", &archive, "-C", &to]);
        assert!(tar.status().unwrap().success(), "{archive}");
    }
}

#[test]
fn own_packages_have_all_that_publishing_wants() {
    let project = Project::new("p", GPUK);
    let manifest = workspace_root().join("Cargo.toml").display().to_string();
    let version = env!("CARGO_PKG_VERSION");
    let packages = OWN.map(|(name, _)| (name, version));
    let args = ["--manifest-path", &manifest];
    unpacked(&project, &packages, &args, &project.root());
    for (name, folder) in OWN {
        let package = project.root().join(format!("{name}-{version}"));
        let read = |file: &str| std::fs::read_to_string(package.join(file));
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            let here = std::fs::read_to_string(workspace_root().join(file)).unwrap();
            let there = read(file).unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
            assert!(there == here || file == "README.md", "{name}: {file}");
        }
        let text = read("Cargo.toml").unwrap();
        for key in [
            "description = ",
            "readme = ",
            "rust-version = ",
            "categories = ",
        ] {
            assert!(text.contains(&format!("\n{key}")), "{name}: {key}");
        }
        assert!(
            text.contains("\nlicense = \"MIT OR Apache-2.0\"\n"),
            "{name}"
        );
        // Released together.
        let sections: Vec<_> = text.split("\n[").collect();
        for section in sections
            .iter()
            .filter(|it| it.contains("dependencies.gpuk"))
        {
            let exact = format!("\nversion = \"={version}\"");
            assert!(section.contains(&exact), "{name}: {section}");
            assert!(!section.contains("path ="), "{name}: {section}");
        }
        let source = workspace_root().join(folder).join("src");
        assert!(source.is_dir() && package.join("src").is_dir(), "{name}");
    }
    let header = format!("gpuk-device-{version}/gpuk.cuh");
    assert!(project.root().join(header).is_file());
}

const SCALE: &str = "#include \"factor.cuh\"\n#include \"own.cuh\"\n#include <gpuk.cuh>\n\
    extern \"C\" __global__ void scale(float *data, int n) {\n    GPUK_CHECK(n < 32);\n    data[n] *= FACTOR + OWN;\n}\n";

/// A crate with kernels, headers of another crate and a module of two sources; for crates.io, where gpuk is.
fn authored() -> Project {
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    let gpuk = format!("version = \"={}\"", env!("CARGO_PKG_VERSION"));
    let math = format!(
        "links = \"math\"\n[package.metadata.gpuk]\nexport-include = [\"include\"]\nkernels = []\n\
         [build-dependencies]\ngpuk-build = {{ {gpuk} }}\n"
    );
    let published = format!(
        "[package.metadata.gpuk]\ninclude-from = [\"math\"]\nlink.both = [\"kernels/both/*.cu\"]\n\
         [dependencies]\ngpuk = {{ {gpuk} }}\nmath = {{ version = \"0.1.0\", path = \"../math\" }}\n\
         [build-dependencies]\ngpuk-build = {{ {gpuk} }}\n"
    );
    let script = "fn main() {\n    gpuk_build::main();\n}\n";
    let lock = std::fs::read_to_string(workspace_root().join("Cargo.lock")).unwrap();
    Project::new("p", GPUK)
        .file("Cargo.lock", &lock)
        .file("Cargo.toml", "[workspace]\nmembers = [\"math\", \"published\"]\nresolver = \"3\"\n")
        .file(".cargo/config.toml", &patches(&[]))
        .file("math/Cargo.toml", &package("math", &math))
        .file("math/build.rs", script)
        .file("math/src/lib.rs", "")
        .file("math/include/factor.cuh", "#define FACTOR 2\n")
        .file("published/Cargo.toml", &package("published", &published))
        .file("published/build.rs", script)
        .file("published/src/lib.rs", "//! Kernels.\ngpuk::include_kernels!();\n")
        .file("published/kernels/own.cuh", "#define OWN 1\n")
        .file("published/kernels/scale.cu", SCALE)
        .file(
            "published/kernels/both/one.cu",
            "__device__ int twice(int);\nextern \"C\" __global__ void one(int *p) { *p = twice(*p); }\n",
        )
        .file(
            "published/kernels/both/two.cu",
            "__device__ int twice(int x) { return 2 * x; }\n",
        )
}

/// Takes gpuk's crates and `more` from folders instead of the registry.
fn patches(more: &[(&str, &Path)]) -> String {
    let own = OWN[..4].iter();
    let own = own.map(|(name, folder)| (*name, workspace_root().join(folder)));
    let more = more
        .iter()
        .map(|(name, folder)| (*name, folder.to_path_buf()));
    let lines = own.chain(more);
    let lines = lines.map(|(name, path)| format!("{name} = {{ path = {path:?} }}\n"));
    format!("[patch.crates-io]\n{}", lines.collect::<String>())
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_published_crate_is_built_where_there_is_no_cuda() {
    let author = authored();
    let _ = author.gpuk(&["vendor", "-p", "published"]).ok();
    let lock = std::fs::read_to_string(author.root().join("published/gpuk-vendor/lock.json"));
    let lock: serde_json::Value = serde_json::from_str(&lock.unwrap()).unwrap();
    for variant in lock["variants"].as_array().unwrap() {
        let read = variant["read"].as_array().unwrap().iter();
        let read: Vec<_> = read.map(|file| file[0].as_str().unwrap()).collect();
        // Nothing that another machine has elsewhere or otherwise.
        let expected = [
            "../math/include/factor.cuh",
            "kernels/both/one.cu",
            "kernels/both/two.cu",
            "kernels/own.cuh",
            "kernels/scale.cu",
        ];
        assert_eq!(read, expected);
    }
    // A checkout without results.
    std::fs::remove_dir_all(author.root().join("target")).unwrap();
    let _ = author.gpuk(&["vendor", "--check", "-p", "published"]).ok();

    let registry = tempfile::tempdir().unwrap();
    let packages = [("math", "0.1.0"), ("published", "0.1.0")];
    unpacked(&author, &packages, &[], registry.path());
    let folder = |name: &str| registry.path().join(name);
    let (math, published) = (folder("math-0.1.0"), folder("published-0.1.0"));
    assert!(published.join("gpuk-vendor/lock.json").is_file());
    drop(author);

    let nothing = tempfile::tempdir().unwrap();
    let cargo_lock = std::fs::read_to_string(workspace_root().join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("script");
    let mut user = Project::new("user", GPUK)
        .file("Cargo.lock", &cargo_lock)
        .file(
            "Cargo.toml",
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
             [dependencies]\npublished = \"0.1.0\"\n",
        )
        .file(
            ".cargo/config.toml",
            &patches(&[("math", &math), ("published", &published)]),
        )
        .file("src/lib.rs", "pub use published::{both, scale};\n")
        .env("CARGO_TARGET_DIR", Some(&target.display().to_string()))
        .env("GPUK_HOME", Some(&nothing.path().display().to_string()));
    for variable in ["NVCC", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"] {
        user = user.env(variable, None);
    }
    let output = user.cargo(&["check", "--offline"]).ok();
    let said = "nothing was compiled: the kernels are those of `gpuk-vendor`, for sm_80";
    assert!(output.stderr.contains(said), "{}", output.stderr);
    let again = user.cargo(&["check", "--offline", "--verbose"]).ok();
    let fresh = "Fresh published v0.1.0";
    assert!(again.stderr.contains(fresh), "{}", again.stderr);
    // What those who build it set for kernels of their own is not for these.
    let user = user.env("GPUK_ARCHS", Some("90"));
    let _ = user.cargo(&["check", "--offline", "--release"]).ok();
}
