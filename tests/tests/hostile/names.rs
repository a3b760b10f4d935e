//! Names of files and folders.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use gpuk_tests::Project;

use super::{BYTES, GPUK, SET, Trap, nested, project, texts, toml, tree};

/// All of them at once: each is a source, and all together are the folder of one.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_sources_may_be_called_anything() {
    let project = Project::new("p", GPUK);
    let mut count = 2;
    for name in texts().map(str::as_bytes).chain([BYTES]) {
        let file = [name, b".cu"].concat();
        project.write(Path::new("kernels").join(OsStr::from_bytes(&file)), SET);
        count += 1;
    }
    project.write(
        Path::new("kernels").join(nested(|_| true)).join("k.cu"),
        SET,
    );
    // The longest that a file can have.
    project.write(format!("kernels/{}.cu", "l".repeat(252)), SET);
    let trap = Trap::new(project);
    let target = trap.root().join("target");
    let before = tree(&trap.root(), &target);
    let (code, said) = trap.build("sources");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&format!("{count} kernels")), "{said}");
    for command in ["list", "expand", "compile-commands"] {
        let (code, said) = trap.run(command, trap.command(&[command.as_ref(), "-q".as_ref()]));
        assert_eq!(code, 0, "{command}: {said}");
    }
    assert_eq!(tree(&trap.root(), &target), before);
    let database = std::fs::read(target.join("gpuk/compile_commands.json")).unwrap();
    let database: serde_json::Value = serde_json::from_slice(&database).unwrap();
    assert_eq!(database.as_array().unwrap().len(), count);

    let (code, said) = trap.run("vendor", trap.command(&["vendor".as_ref(), "-r".as_ref()]));
    assert_eq!(code, 0, "{said}");
    let after = tree(&trap.root(), &target);
    let vendored = trap.root().join("gpuk-vendor");
    let mut added = after.difference(&before);
    assert!(added.all(|path| path.starts_with(&vendored)), "{after:?}");
}

/// The package's folder, the target folder, the store, and a folder of headers, each below all of the names.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_folders_may_be_called_anything() {
    let all = nested(|_| true);
    let include = toml(all.to_str().unwrap());
    let manifest = format!(
        "[package]\nname = \"p\"\nedition = \"2024\"\n[workspace]\n[package.metadata.gpuk]\ninclude = [{include}]\n"
    );
    let source = format!("#include \"gpuk.cuh\"\n#include \"found.h\"\n{SET}");
    let inner = Path::new("in").join(&all);
    let project = Project::new("outer", GPUK)
        .file(inner.join("Cargo.toml"), &manifest)
        .file(inner.join("src/lib.rs"), "")
        .file(inner.join("kernels/set.cu"), &source)
        .file(inner.join(&all).join("found.h"), "");
    let trap = Trap::new(project);
    let results = trap.root().join("results");
    let before = tree(&trap.root(), &results);
    let target = results.join(&all);
    let store = results.join("store").join(&all);
    let mut command = trap.command(&["build".as_ref(), "--target-dir".as_ref(), target.as_ref()]);
    command
        .current_dir(trap.root().join(&inner))
        .env("GPUK_STORE", store);
    let (code, said) = trap.run("folders", command);
    assert_eq!(code, 0, "{said}");
    assert_eq!(tree(&trap.root(), &results), before);

    // Relative, with what looks like a flag in front.
    for name in ["-O3", "--help", "~", "..", "a/../-b"] {
        let command = trap.command(&["check".as_ref(), format!("--target-dir={name}/t").as_ref()]);
        assert_eq!(trap.run(name, command).0, 104);
    }
}

/// Cargo names folders in Unicode alone.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_folder_that_is_no_text_is_refused() {
    let trap = Trap::new(project());
    let name = OsStr::from_bytes(BYTES);
    let (code, said) = trap.run(
        "target",
        trap.command(&["build".as_ref(), "--target-dir".as_ref(), name]),
    );
    assert!(
        code == 101 && said.contains("is not UTF-8"),
        "{code}: {said}"
    );
    let folder = trap.root().join("in").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("Cargo.toml"),
        "[package]\nname = \"q\"\n[workspace]\n",
    )
    .unwrap();
    let mut command = trap.command(&["build".as_ref()]);
    command.current_dir(&folder);
    assert_eq!(trap.run("package", command).0, 102);
}

/// The toolkit, where a link by that name leads to it.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_toolkit_may_be_called_anything_that_nvcc_gives_back() {
    let project = project();
    let doctor = project
        .gpuk_command(&["doctor", "--json"])
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let toolkit = report["toolchain"]["root"].as_str().unwrap().to_owned();
    let build = |link: &Path| {
        let trap = Trap::new(super::project());
        let link = trap.root().join("links").join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&toolkit, &link).unwrap();
        let mut command = trap.command(&["build".as_ref()]);
        command.env_remove("NVCC").env("CUDA_HOME", &link);
        trap.run(&link.display().to_string(), command)
    };
    let given_back = |name: &str| !name.contains(|c: char| "\"\\".contains(c) || c.is_control());
    let (code, said) = build(&nested(given_back));
    assert_eq!(code, 0, "{said}");
    for name in texts()
        .filter(|name| !given_back(name))
        .map(str::as_bytes)
        .chain([BYTES])
    {
        let (code, said) = build(Path::new(OsStr::from_bytes(name)));
        assert!(
            code == 103 && said.contains("another name"),
            "{code}: {said}"
        );
    }
}
