//! What is built again, counted by the compiler's own processes.

use std::path::PathBuf;

use gpuk_tests::{Counter, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A project whose compiler counts.
struct Counted {
    project: Project,
    counter: Counter,
}

impl Counted {
    fn new() -> Self {
        let counter = Counter::new(GPUK);
        let project = Project::new("p", GPUK)
            .env("NVCC", Some(&counter.nvcc()))
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
        Self { project, counter }
    }

    /// Builds, and says which of the toolkit's programs ran, sorted.
    fn build(&self, args: &[&str]) -> Vec<String> {
        let command = [&["build"], args].concat();
        self.counter.ran(|| drop(self.project.gpuk(&command).ok()))
    }

    /// Runs the commands to come with a variable set or unset.
    fn with(mut self, name: &str, value: Option<&str>) -> Self {
        self.project = self.project.env(name, value);
        self
    }

    fn path(&self, file: &str) -> PathBuf {
        self.project.root().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        self.project.write(file, text);
    }

    fn remove(&self, file: &str) {
        let path = self.path(file);
        match path.is_dir() {
            true => std::fs::remove_dir_all(path).unwrap(),
            false => std::fs::remove_file(path).unwrap(),
        }
    }

    fn rename(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Moves a file's time of change, and leaves its contents.
    fn touch(&self, file: &str, hours: i64) {
        let distance = std::time::Duration::from_secs(hours.unsigned_abs() * 3600);
        let now = std::time::SystemTime::now();
        let time = if hours < 0 {
            now - distance
        } else {
            now + distance
        };
        let file = std::fs::File::options().append(true).open(self.path(file));
        file.unwrap().set_modified(time).unwrap();
    }

    /// A unit of the store, cut in half.
    fn damage_a_unit(&self) {
        let units = std::fs::read_dir(self.path("target/gpuk/.store/units")).unwrap();
        let mut cubins = units.map(|unit| unit.unwrap().path().join("module.cubin"));
        let cubin = cubins.find(|path| path.is_file()).unwrap();
        let whole = std::fs::read(&cubin).unwrap();
        std::fs::write(cubin, &whole[..whole.len() / 2]).unwrap();
    }

    fn configure(&self, lines: &str) {
        const PACKAGE: &str =
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
        self.write(
            "Cargo.toml",
            &format!("{PACKAGE}\n[package.metadata.gpuk]\n{lines}\n"),
        );
    }
}

/// What may run for a change.
#[derive(Debug, Clone, Copy)]
enum Ran {
    /// Nothing at all.
    Nothing,
    /// nvcc may be asked how it compiles; it compiles nothing.
    Asked,
    /// So many sources are compiled, and assembled once each.
    Sources(usize),
}

const A: &str = "kernels/a.cu";
const B: &str = "extern \"C\" __global__ void b(float *y) { y[0] = 2; }\n";
const C: &str = "extern \"C\" __global__ void c(float *y) { y[0] = 3; }\n";

/// What changes in the project, and what is to run then. Each row starts where the one before has ended.
type Row = (&'static str, fn(&Counted), Ran);

const ROWS: &[Row] = &[
    ("nothing", |_| {}, Ran::Nothing),
    (
        "a source written again as it was",
        |c| c.write("kernels/b.cu", B),
        Ran::Nothing,
    ),
    ("a source touched", |c| c.touch(A, 0), Ran::Nothing),
    (
        "a header dated into the future",
        |c| c.touch("kernels/deep.cuh", 24),
        Ran::Nothing,
    ),
    (
        "a header dated into the past",
        |c| c.touch("kernels/deep.cuh", -24),
        Ran::Nothing,
    ),
    (
        "a file that is no source",
        |c| c.write("kernels/README", "x"),
        Ran::Nothing,
    ),
    (
        "a header that nobody reads",
        |c| c.write("kernels/none.cuh", "x"),
        Ran::Nothing,
    ),
    (
        "a header of a header",
        |c| c.write("kernels/deep.cuh", "#define DEEP 3\n"),
        Ran::Sources(1),
    ),
    (
        "the header as it was",
        |c| c.write("kernels/deep.cuh", "#define DEEP 1\n"),
        Ran::Nothing,
    ),
    (
        "and once more as it became",
        |c| c.write("kernels/deep.cuh", "#define DEEP 3\n"),
        Ran::Nothing,
    ),
    (
        "a header of the same size and time",
        |c| {
            let path = c.path("kernels/deep.cuh");
            let time = std::fs::metadata(&path).unwrap().modified().unwrap();
            c.write("kernels/deep.cuh", "#define DEEP 7\n");
            let file = std::fs::File::options().append(true).open(path);
            file.unwrap().set_modified(time).unwrap();
        },
        Ran::Sources(1),
    ),
    (
        "a new header from the future",
        |c| {
            c.write("kernels/deep.cuh", "#define DEEP 8\n");
            c.touch("kernels/deep.cuh", 24);
        },
        Ran::Sources(1),
    ),
    (
        "an older one in its place",
        |c| {
            c.write("kernels/older", "#define DEEP 9\n");
            c.touch("kernels/older", -24);
            c.rename("kernels/older", "kernels/deep.cuh");
        },
        Ran::Sources(1),
    ),
    (
        "a header from another folder",
        |c| {
            c.write("include/far.cuh", "#define FAR 4\n");
            c.write("kernels/a.cuh", "#include \"far.cuh\"\n#define A FAR\n");
        },
        Ran::Sources(1),
    ),
    (
        "a nearer header",
        |c| c.write("kernels/far.cuh", "#define FAR 5\n"),
        Ran::Sources(1),
    ),
    (
        "the nearer header taken away",
        |c| c.remove("kernels/far.cuh"),
        Ran::Nothing,
    ),
    (
        "a comment behind code",
        |c| c.write("kernels/b.cu", &B.replace(";", "; /* two */")),
        Ran::Asked,
    ),
    (
        "a second architecture",
        |c| c.configure("include = ['include']\narchs = ['80', '90']"),
        Ran::Sources(2),
    ),
    (
        "without it again",
        |c| c.configure("include = ['include']"),
        Ran::Nothing,
    ),
    (
        "a new source",
        |c| c.write("kernels/c.cu", C),
        Ran::Sources(1),
    ),
    (
        "a source deleted",
        |c| c.remove("kernels/c.cu"),
        Ran::Nothing,
    ),
    (
        "a source restored",
        |c| c.write("kernels/c.cu", C),
        Ran::Nothing,
    ),
    (
        "a source renamed",
        |c| c.rename("kernels/c.cu", "kernels/d.cu"),
        Ran::Sources(1),
    ),
    (
        "a source moved",
        |c| c.rename("kernels/d.cu", "kernels/x/d.cu"),
        Ran::Sources(1),
    ),
    (
        "a source excluded",
        |c| c.configure("include = ['include']\nexclude = ['kernels/x/**']"),
        Ran::Nothing,
    ),
    (
        "a define that nobody reads",
        |c| c.configure("include = ['include']\nexclude = ['kernels/x/**']\nflags = ['-DX=1']"),
        Ran::Asked,
    ),
    (
        "a flag of the compiler's",
        |c| c.configure("include = ['include']\nexclude = ['kernels/x/**']\nflags = ['-ftz=true']"),
        Ran::Sources(2),
    ),
    (
        "without the flags",
        |c| c.configure("include = ['include']\nexclude = ['kernels/x/**']"),
        Ran::Nothing,
    ),
    (
        "a setting of one kernel",
        |c| {
            c.configure(
                "include = ['include']\nexclude = ['kernels/x/**']\nkernel.b.traps = 'check'",
            )
        },
        Ran::Sources(1),
    ),
    (
        "another, of the other kernel",
        |c| {
            c.configure(
                "include = ['include']\nexclude = ['kernels/x/**']\nkernel.a.traps = 'check'",
            )
        },
        Ran::Sources(1),
    ),
    (
        "a setting that turns on what no source has",
        |c| {
            c.configure(
                "include = ['include']\nexclude = ['kernels/x/**']\nkernel.b.debug-checks = true",
            )
        },
        Ran::Sources(1),
    ),
    (
        "no setting",
        |c| c.configure("include = ['include']\nexclude = ['kernels/x/**']"),
        Ran::Nothing,
    ),
    (
        "wrappers removed",
        |c| c.remove("target/gpuk/p/kernels.rs"),
        Ran::Nothing,
    ),
    (
        "images removed",
        |c| c.remove("target/gpuk/p/images"),
        Ran::Nothing,
    ),
    (
        "the report removed",
        |c| c.remove("target/gpuk/p/report.json"),
        Ran::Nothing,
    ),
    (
        "traces removed",
        |c| c.remove("target/gpuk/p/traces"),
        Ran::Asked,
    ),
    (
        "what is known of the tools removed",
        |c| c.remove("target/gpuk/p/tools.json"),
        Ran::Asked,
    ),
    (
        "the store removed",
        |c| c.remove("target/gpuk/.store"),
        Ran::Nothing,
    ),
    (
        "then the wrappers",
        |c| c.remove("target/gpuk/p/kernels.rs"),
        Ran::Sources(2),
    ),
    (
        "a unit damaged, and the wrappers gone",
        |c| {
            c.damage_a_unit();
            c.remove("target/gpuk/p/kernels.rs");
        },
        Ran::Sources(1),
    ),
    (
        "another compiler in the same place",
        |c| {
            let cicc = c.counter.toolkit().join("nvvm/bin/cicc");
            let script = std::fs::read_to_string(&cicc).unwrap();
            std::fs::write(cicc, script + "# newer\n").unwrap();
        },
        Ran::Sources(2),
    ),
];

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_changes_and_what_is_compiled_then() {
    let counted = Counted::new();
    counted.configure("include = ['include']");
    let compiled = |ran: &[String]| ran.iter().filter(|it| *it == "cicc").count();
    assert_eq!(compiled(&counted.build(&[])), 2, "cold");
    let mut wrong = Vec::new();
    for (what, change, expected) in ROWS {
        change(&counted);
        let ran = counted.build(&[]);
        let assembled = ran.iter().filter(|it| *it == "ptxas").count();
        let right = match expected {
            Ran::Nothing => ran.is_empty(),
            Ran::Asked => compiled(&ran) == 0 && assembled == 0,
            Ran::Sources(count) => compiled(&ran) == *count && assembled == *count,
        };
        if !right {
            wrong.push(format!("{what}: {expected:?}, but ran {ran:?}"));
        }
        let again = counted.build(&[]);
        if !again.is_empty() {
            wrong.push(format!("{what}, then nothing: ran {again:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_variables_and_profiles_rebuild() {
    let counted = Counted::new();
    let compiled = |counted: &Counted, args: &[&str]| {
        counted
            .build(args)
            .iter()
            .filter(|it| *it == "cicc")
            .count()
    };
    assert_eq!(compiled(&counted, &[]), 2, "cold");
    assert_eq!(compiled(&counted, &["--release"]), 2, "debug checks");
    assert!(counted.build(&[]).is_empty(), "the profile before");
    assert_eq!(compiled(&counted, &["--arch", "90"]), 2, "an architecture");
    let counted = counted.with("NVCC_APPEND_FLAGS", Some("-ftz=true"));
    assert_eq!(compiled(&counted, &[]), 2, "a variable that nvcc reads");
    let counted = counted.with("GPUK_DEBUG_CHECKS", Some("0"));
    assert_eq!(compiled(&counted, &[]), 2, "debug checks, by variable");
    assert!(counted.build(&[]).is_empty());
    let counted = counted
        .with("NVCC_APPEND_FLAGS", None)
        .with("GPUK_DEBUG_CHECKS", None);
    assert!(counted.build(&[]).is_empty(), "without the variables");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_is_deleted_leaves_nothing_and_comments_reach_the_wrappers() {
    let counted = Counted::new();
    let wrappers = || std::fs::read_to_string(counted.path("target/gpuk/p/kernels.rs")).unwrap();
    counted.build(&[]);
    counted.write("kernels/b.cu", &format!("/// Sets two.\n{B}"));
    counted.build(&[]);
    assert!(wrappers().contains("Sets two."));
    counted.remove("kernels/b.cu");
    counted.build(&[]);
    assert!(!wrappers().contains("mod b"));
    let images = std::fs::read_dir(counted.path("target/gpuk/p/images")).unwrap();
    let images: Vec<_> = images
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        images.iter().all(|name| name.starts_with("a-")),
        "{images:?}"
    );
}
