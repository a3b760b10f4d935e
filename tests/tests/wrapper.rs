//! A wrapper that is not there: one error, before anything is compiled, that says who names it.

use gpuk_tests::{Counter, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");
const NONE: &str = "/no/such/sccache";

/// Kernels in three sources and a header that they share.
fn sources(project: Project) -> Project {
    ["a", "b", "c"].into_iter().fold(project, |project, name| {
        let source = format!("extern \"C\" __global__ void {name}(int *p) {{ p[0] = 1; }}\n");
        project.file(format!("kernels/{name}.cu"), &source)
    })
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_missing_wrapper_is_one_error_before_anything_is_compiled() {
    let counter = Counter::new(GPUK);
    let setting = format!("archs = ['80']\nwrapper = '{NONE}'");
    let set = sources(Project::new("p", GPUK)).config(&setting);
    let manifest = std::fs::read_to_string(set.root().join("Cargo.toml")).unwrap();
    let line = manifest.lines().position(|line| line.contains(NONE));
    let setting = format!(
        "the setting `wrapper` at [ROOT]/Cargo.toml:{}:11",
        line.unwrap() + 1
    );
    let plain = || sources(Project::new("p", GPUK));
    let of = |name: &str| plain().env(name, Some(NONE));
    for (project, who, remedy) in [
        (set, &*setting, "`wrapper = \"none\"`"),
        (of("GPUK_WRAPPER"), "`GPUK_WRAPPER`", "set it to `none`"),
        (
            of("RUSTC_WRAPPER"),
            "`RUSTC_WRAPPER`",
            "`wrapper = \"none\"`",
        ),
    ] {
        let project = project.env("NVCC", Some(&counter.nvcc()));
        let mut output = None;
        let ran = counter.ran(|| output = Some(project.gpuk(&["build"])));
        let output = output.unwrap();
        assert_eq!(output.code, Some(103), "{}", output.shown());
        let said = format!(
            "error: there is no program `{NONE}`, which {who} names as the compilers' wrapper\n"
        );
        assert_eq!(
            output.stderr.matches("error").count(),
            1,
            "{}",
            output.shown()
        );
        assert!(output.stderr.contains(&said), "{}", output.shown());
        assert!(output.stderr.contains(remedy), "{}", output.shown());
        assert_eq!(ran, [""; 0], "{who}");
    }
    let off = of("GPUK_WRAPPER").env("GPUK_WRAPPER", Some("none"));
    let _ = off.gpuk(&["build"]).ok();
}

/// However many packages would be compiled through it.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_workspace_is_told_once_and_doctor_shows_it() {
    let member = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let project = ["p", "q"].into_iter().fold(
        Project::new("p", GPUK).file(
            "Cargo.toml",
            "[workspace]\nmembers = ['p', 'q']\nresolver = '3'\n",
        ),
        |project, name| {
            project
                .file(format!("{name}/Cargo.toml"), &member(name))
                .file(format!("{name}/src/lib.rs"), "")
                .file(
                    format!("{name}/kernels/k.cu"),
                    "__global__ void k(int *p) { p[0] = 1; }\n",
                )
        },
    );
    let project = project.env("GPUK_WRAPPER", Some("no-such-sccache"));
    let output = project.gpuk(&["build"]);
    assert_eq!(output.code, Some(103), "{}", output.shown());
    assert_eq!(
        output.stderr.matches("error").count(),
        1,
        "{}",
        output.shown()
    );

    let doctor = project.gpuk(&["doctor"]).ok();
    let said = "missing wrapper: there is no program `no-such-sccache`, which `GPUK_WRAPPER` names";
    assert!(doctor.stdout.contains(said), "{}", doctor.shown());
    let doctor = project.env("GPUK_WRAPPER", Some("cargo")).gpuk(&["doctor"]);
    let line = doctor.stdout.lines().find(|line| line.contains("wrapper"));
    let line = line.unwrap();
    assert!(line.trim_start().starts_with("ok wrapper: /"), "{line}");
    assert!(line.ends_with("/cargo (`GPUK_WRAPPER`)"), "{line}");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_build_script_says_it_where_the_wrappers_are_included() {
    let project = sources(Project::new("unwrapped", GPUK))
        .config(&format!("wrapper = '{NONE}'"))
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("src/lib.rs", "gpuk::include_kernels!();\n");
    let check = ["check", "--offline", "--quiet"];
    let output = project.cargo(&check);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let said =
        format!("there is no program `{NONE}`, which the setting `wrapper` at [ROOT]/Cargo.toml:");
    assert_eq!(
        output.stderr.matches(&said).count(),
        1,
        "{}",
        output.shown()
    );
    assert!(output.stderr.contains("src/lib.rs:1"), "{}", output.shown());

    let project = project.env("GPUK_WRAPPER", Some("none"));
    let _ = project.cargo(&check).ok();
}
