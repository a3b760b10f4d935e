//! What is built again, counted by the compiler's own processes.

use std::path::{Path, PathBuf};

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A toolkit that logs each start of nvcc, cicc and ptxas and then runs the real one.
struct Counted {
    project: Project,
    log: PathBuf,
}

impl Counted {
    #[cfg(unix)]
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt;

        let project = Project::new("p", GPUK)
            .file(
                "kernels/a.cu",
                "#include \"a.cuh\"\nextern \"C\" __global__ void a(float *y) { y[0] = A; }\n",
            )
            .file("kernels/a.cuh", "#include \"deep.cuh\"\n#define A DEEP\n")
            .file("kernels/deep.cuh", "#define DEEP 1\n")
            .file(
                "kernels/b.cu",
                "extern \"C\" __global__ void b(float *y) { y[0] = 2; }\n",
            );
        let real = toolkit(&project);
        let (fake, log) = (project.root().join("toolkit"), project.root().join("log"));
        for folder in ["bin", "nvvm/bin"] {
            std::fs::create_dir_all(fake.join(folder)).unwrap();
        }
        for linked in [
            "include",
            "lib",
            "lib64",
            "nvvm/libdevice",
            "bin/crt",
            "bin/nvcc.profile",
            "bin/cudafe++",
            "bin/fatbinary",
        ] {
            if real.join(linked).exists() {
                std::os::unix::fs::symlink(real.join(linked), fake.join(linked)).unwrap();
            }
        }
        for program in ["bin/nvcc", "nvvm/bin/cicc", "bin/ptxas"] {
            let name = Path::new(program)
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let script = format!(
                "#!/bin/sh\necho {name} >> '{}'\nexec '{}' \"$@\"\n",
                log.display(),
                real.join(program).display()
            );
            std::fs::write(fake.join(program), script).unwrap();
            std::fs::set_permissions(fake.join(program), std::fs::Permissions::from_mode(0o755))
                .unwrap();
        }
        let project = project.env("NVCC", Some(&fake.join("bin/nvcc").display().to_string()));
        Self { project, log }
    }

    /// Builds and says how many sources the device compiler saw, and whether any compiler process ran.
    fn build(&self, args: &[&str]) -> (usize, bool) {
        let _ = std::fs::remove_file(&self.log);
        let _ = self.project.gpuk(&[&["build"], args].concat()).ok();
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let compiled = log.lines().filter(|line| *line == "cicc").count();
        (compiled, !log.is_empty())
    }
}

/// The toolkit that would be used, from the command itself.
fn toolkit(project: &Project) -> PathBuf {
    let doctor = project.gpuk(&["doctor", "--message-format", "json"]).ok();
    let doctor: serde_json::Value = serde_json::from_str(&doctor.stdout).unwrap();
    PathBuf::from(
        doctor["toolchain"]["root"]
            .as_str()
            .expect("doctor names the toolkit"),
    )
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_only_what_depends_on_a_change_is_compiled() {
    let mut counted = Counted::new();
    counted.project = counted.project.config("include = ['include']");
    let Counted { project, .. } = &counted;
    let (nothing, fresh) = ((0, false), |(compiled, _): (usize, bool)| compiled);
    assert_eq!(fresh(counted.build(&[])), 2, "cold");
    assert_eq!(counted.build(&[]), nothing, "no change");
    project.write(
        "kernels/b.cu",
        "extern \"C\" __global__ void b(float *y) { y[0] = 2; }\n",
    );
    assert_eq!(
        counted.build(&[]),
        nothing,
        "written again with the same contents"
    );
    project.write("kernels/deep.cuh", "#define DEEP 3\n");
    assert_eq!(fresh(counted.build(&[])), 1, "a header of a header");
    project.write("kernels/deep.cuh", "#define DEEP 1\n");
    assert_eq!(counted.build(&[]).0, 0, "switched back: from the store");
    project.write("kernels/a.cuh", "#include \"far.cuh\"\n#define A FAR\n");
    project.write("include/far.cuh", "#define FAR 4\n");
    assert_eq!(fresh(counted.build(&[])), 1, "a header from another folder");
    project.write("kernels/far.cuh", "#define FAR 5\n");
    assert_eq!(fresh(counted.build(&[])), 1, "a nearer header");
    std::fs::remove_file(project.root().join("kernels/far.cuh")).unwrap();
    assert_eq!(counted.build(&[]).0, 0, "taken away again");
    project.write("kernels/a.cuh", "#include \"deep.cuh\"\n#define A DEEP\n");
    project.write(
        "kernels/b.cu",
        "/// Sets two.\nextern \"C\" __global__ void b(float *y) { y[0] = 2; }\n",
    );
    counted.build(&[]);
    let bindings =
        std::fs::read_to_string(project.root().join("target/gpuk/p/kernels.rs")).unwrap();
    assert!(bindings.contains("Sets two."), "a comment reaches the docs");
    assert_eq!(
        fresh(counted.build(&["--arch", "80,90"])),
        2,
        "another arch beside the old"
    );
    assert_eq!(counted.build(&["--arch", "80,90"]), nothing);
    assert_eq!(counted.build(&[]).0, 0, "the arch taken away again");
    project.write(
        "kernels/c.cu",
        "extern \"C\" __global__ void c(float *y) { y[0] = 3; }\n",
    );
    assert_eq!(fresh(counted.build(&[])), 1, "a new source");
    std::fs::remove_file(project.root().join("kernels/c.cu")).unwrap();
    assert_eq!(counted.build(&[]).0, 0, "a source taken away");
    let bindings =
        std::fs::read_to_string(project.root().join("target/gpuk/p/kernels.rs")).unwrap();
    assert!(!bindings.contains("mod c"), "nothing of it stays");
    std::fs::rename(
        project.root().join("kernels/b.cu"),
        project.root().join("kernels/renamed.cu"),
    )
    .unwrap();
    assert!(fresh(counted.build(&[])) <= 1, "renamed");
    std::fs::remove_file(project.root().join("target/gpuk/p/kernels.rs")).unwrap();
    assert_eq!(
        counted.build(&[]).0,
        0,
        "wrappers removed: drawn again from the store"
    );
    assert!(project.root().join("target/gpuk/p/kernels.rs").exists());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_flags_and_variables_rebuild() {
    let counted = Counted::new();
    let cold = counted.build(&[]).0;
    assert_eq!(cold, 2);
    let manifest = std::fs::read_to_string(counted.project.root().join("Cargo.toml")).unwrap();
    counted.project.write(
        "Cargo.toml",
        &format!("{manifest}\n[package.metadata.gpuk]\nflags = ['-DX=1']\n"),
    );
    assert_eq!(counted.build(&[]).0, 2, "a flag");
    assert_eq!(counted.build(&["--release"]).0, 2, "debug checks");
    let Counted { project, log } = counted;
    let counted = Counted {
        project: project.env("NVCC_APPEND_FLAGS", Some("-DY=2")),
        log,
    };
    assert_eq!(counted.build(&[]).0, 2, "a variable that nvcc reads");
    let Counted { project, log } = counted;
    let counted = Counted {
        project: project.env("GPUK_DEBUG_CHECKS", Some("0")),
        log,
    };
    assert_eq!(counted.build(&[]).0, 2, "debug checks, by variable");
    assert_eq!(counted.build(&[]), (0, false));
}
