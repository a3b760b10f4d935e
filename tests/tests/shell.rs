//! Flags, variables and streams, as cargo's own commands treat them.

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");
const SET: &str = "extern \"C\" __global__ void set(char *p) { p[0] = 1; }\n";

/// Exit code where no selected package has kernels.
const NOTHING: Option<i32> = Some(104);

#[test]
fn variables_for_quiet_and_verbose_do_not_clash() {
    let both = |quiet, verbose| {
        Project::new("p", GPUK)
            .env("CARGO_TERM_QUIET", Some(quiet))
            .env("CARGO_TERM_VERBOSE", Some(verbose))
    };
    for (quiet, verbose) in [("false", "false"), ("true", "false"), ("false", "true")] {
        for flags in [&["build"][..], &["build", "-v"], &["build", "-q"]] {
            let output = both(quiet, verbose).gpuk(flags);
            assert_eq!(output.code, NOTHING, "{}", output.shown());
        }
    }
}

#[test]
fn empty_variables_are_not_set() {
    let output = Project::new("p", GPUK)
        .env("GPUK_ARCHS", Some(""))
        .file("kernels/set.cu", SET)
        .env("NVCC", Some("/nothing"))
        .gpuk(&["build"]);
    assert_eq!(output.code, Some(103), "{}", output.shown());
}

#[test]
fn variables_of_the_store_that_make_no_sense_are_refused() {
    for (name, value, said) in [
        (
            "GPUK_STORE",
            "store",
            "`GPUK_STORE` is `store`, not an absolute path",
        ),
        (
            "GPUK_STORE_MIB",
            "4G",
            "`GPUK_STORE_MIB` is `4G`, not a number of mebibytes",
        ),
        (
            "GPUK_STORE_MIB",
            "-1",
            "`GPUK_STORE_MIB` is `-1`, not a number of mebibytes",
        ),
    ] {
        let project = Project::new("p", GPUK).file("kernels/set.cu", SET);
        let output = project.env(name, Some(value)).gpuk(&["build"]);
        assert_eq!(output.code, Some(101), "{}", output.shown());
        assert!(output.stderr.contains(said), "{}", output.shown());
    }
}

#[test]
fn a_pattern_of_the_workspace_need_not_match_in_each_package() {
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
    let output = Project::new("p", GPUK)
        .file(
            "Cargo.toml",
            "[workspace]\nmembers = [\"a\"]\nresolver = \"3\"\n[workspace.metadata.gpuk]\nkernels = [\"cuda/*.cu\"]\n",
        )
        .file("a/Cargo.toml", &package("a"))
        .file("a/src/lib.rs", "")
        .gpuk(&["build"]);
    assert_eq!(output.code, NOTHING, "{}", output.shown());
    assert!(!output.stderr.contains("GPUK0032"), "{}", output.stderr);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs nvcc"]
fn nvcc_output_that_is_lost_is_an_error() {
    let project = Project::new("p", GPUK).file("kernels/set.cu", SET);
    let full = std::fs::File::create("/dev/full").unwrap();
    let mut command = project.gpuk_command(&["list", "--message-format", "json"]);
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_target_folder_is_relative_to_where_the_command_runs() {
    let project = Project::new("p", GPUK).file("kernels/set.cu", SET);
    std::fs::create_dir(project.root().join("elsewhere")).unwrap();
    let mut command = project.gpuk_command(&["build", "--target-dir", "results"]);
    let output = command
        .current_dir(project.root().join("elsewhere"))
        .output();
    assert!(output.unwrap().status.success());
    assert!(
        project
            .root()
            .join("elsewhere/results/gpuk/p/kernels.rs")
            .is_file()
    );
}
