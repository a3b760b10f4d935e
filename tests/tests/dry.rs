//! `--dry-run`: the commands are those that the build then runs, and nothing is written.

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

fn sorted<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut lines: Vec<_> = lines.map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What a build says that it runs, but for the name of the folder that it has for itself.
fn run(project: &Project) -> Vec<String> {
    let output = project.gpuk(&["build", "-v"]).ok();
    let lines = output.stderr.lines();
    let lines = lines.filter_map(|line| line.trim_start().strip_prefix("Running "));
    let lines: Vec<_> = lines.map(in_work).collect();
    sorted(lines.iter().map(String::as_str))
}

/// `…/work/1a2-b3c4d5/x.ii` becomes `…/work/x.ii`.
fn in_work(line: &str) -> String {
    let mut parts = line.split("/p/work/");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "/p/work";
        let own = part.find(['/', ' ']).unwrap();
        out += &part[own..];
    }
    out
}

fn dry(project: &Project, command: &str) -> Vec<String> {
    let output = project.gpuk(&[command, "--dry-run"]).ok();
    assert_eq!(output.stderr, "");
    sorted(output.stdout.lines())
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_the_commands_are_those_that_a_build_runs() {
    let project = Project::new("p", GPUK)
        .config("archs = [\"80\", \"90\"]\nkernels = [\"kernels/**/*.cu\"]\nhost-objects = [\"host/*.cu\"]\nlink.all = [\"kernels/l/*.cu\"]")
        .file("kernels/it's.cu", "extern \"C\" __global__ void a(int *p) { *p = 1; }\n")
        .file("kernels/b.cu", "extern \"C\" __global__ void b(int *p) { *p = 2; }\n")
        .file("kernels/l/c.cu", "__device__ int f();\nextern \"C\" __global__ void c(int *p) { *p = f(); }\n")
        .file("kernels/l/d.cu", "__device__ int f() { return 3; }\n")
        .file("host/h.cu", "extern \"C\" int h(int n) { return n + 1; }\n");
    let told = dry(&project, "build");
    assert!(
        !project.root().join("target/gpuk").exists(),
        "nothing is written"
    );
    assert_eq!(told, dry(&project, "check"));
    assert!(
        told.iter()
            .any(|line| line.contains(r"'kernels/it'\''s.cu'"))
    );
    assert_eq!(told, run(&project));
    assert_eq!(dry(&project, "build"), Vec::<String>::new());
    project.write(
        "kernels/b.cu",
        "extern \"C\" __global__ void b(int *p) { *p = 4; }\n",
    );
    let told = dry(&project, "build");
    // Preprocessor, compiler and assembler, for two architectures.
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(told, run(&project));
    project.write("kernels/l/d.cu", "__device__ int f() { return 5; }\n");
    let told = dry(&project, "build");
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(told, run(&project));
}
