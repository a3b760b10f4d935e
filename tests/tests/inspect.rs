//! `cargo gpuk inspect`: what each stage made, of a source and of one kernel.

use std::os::unix::fs::PermissionsExt;

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const TILE: &str = "#include \"gpuk.cuh\"\n\
    #define SIZE 4\n\
    template <int N> __global__ void tile(int *p) { GPUK_CHECK(N > p[1], \"p is small\"); *p = N; }\n\
    template __global__ void tile<SIZE>(int *);\n\
    extern \"C\" __global__ void set(char *p) { p[0] = 1; }\n";

/// In nvdisasm's place: wants a cubin, says what nvdisasm 13.5 says around the code.
const DISASSEMBLER: &str = "#!/bin/sh\n[ \"$1\" = -c ] && head -c 4 \"$2\" | grep -q ELF || exit 9\nprintf '\
    //--------------------- .text._Z4tileILi4EEvPi          --------------------------\\n_tile;\\n\\n\
    //--------------------- .text.set                 --------------------------\\nMOV R1 ;\\n'\n";

fn project() -> Project {
    Project::new("p", GPUK)
        .file("kernels/tile.cu", TILE)
        .config("archs = [\"90\", \"80\"]")
}

fn shown(project: &Project, args: &[&str]) -> String {
    let output = project.gpuk(&[&["inspect", "-q"][..], args].concat()).ok();
    assert_eq!(output.stderr, "", "{args:?}");
    output.stdout
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_each_stage_shows_what_it_made() {
    let project = project();
    let text = shown(&project, &["--stage", "preprocessed"]);
    assert!(text.contains("void tile<4>(int *);"), "no macro is left");
    assert!(text.contains("# 1 \"kernels/tile.cu\""));
    // The check is a call until it is made a record, which the kernel gets a parameter for.
    let compiled = shown(&project, &["--stage", "compiled", "kernels/tile.cu"]);
    assert!(compiled.contains(".target sm_80"), "the lowest");
    assert!(compiled.contains("_Z4tileILi4EEvPi") && !compiled.contains("_Z4tileILi4EEvPi_gpuk"));
    let checked = shown(&project, &["kernels/tile.cu"]);
    assert!(checked.contains(".param .u64 _Z4tileILi4EEvPi_gpuk"));
    let other = shown(&project, &["--arch", "90", "tile"]);
    assert!(other.contains(".target sm_90"), "{other}");
    let resources = shown(&project, &["--stage", "resources"]);
    let lines: Vec<_> = resources.lines().collect();
    assert_eq!(lines.len(), 3, "{resources}");
    assert!(lines[1].starts_with("tile_4  sm_80"), "{resources}");
    let wrappers = project.root().join("target/gpuk/p/kernels.rs");
    assert!(
        !wrappers.exists(),
        "nothing is built that was not asked for"
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_kernel_is_shown_alone() {
    let project = project();
    for name in ["tile::set", "set"] {
        let text = shown(&project, &[name]);
        assert!(text.starts_with(".visible .entry set("), "{text}");
        assert!(text.ends_with('}') && !text.contains("tile"), "{text}");
    }
    let both = shown(&project, &["--stage", "compiled", "tile::tile_4", "set"]);
    assert!(
        both.starts_with("// kernels/tile.cu _Z4tileILi4EEvPi (sm_80)\n.visible .entry _Z4tile"),
        "{both}"
    );
    assert!(
        both.contains("}\n\n// kernels/tile.cu set (sm_80)\n"),
        "{both}"
    );
    let row = shown(&project, &["--stage", "resources", "set"]);
    assert_eq!(row.lines().count(), 2, "{row}");
    let whole = project.gpuk(&["inspect", "--stage", "preprocessed", "set"]);
    assert_eq!(whole.code, Some(2));
    assert!(
        whole.stderr.contains("name its source: kernels/tile.cu"),
        "{}",
        whole.stderr
    );
    let none = project.gpuk(&["inspect", "tile::sett"]);
    assert_eq!(none.code, Some(2));
    for said in [
        "no source or kernel is named `tile::sett`",
        "did you mean `tile::set`?",
        "there are kernels/tile.cu, tile::tile_4, tile::set",
    ] {
        assert!(none.stderr.contains(said), "{said}: {}", none.stderr);
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_machine_code_is_disassembled_if_it_can_be() {
    let project = project().env("PATH", Some("/usr/bin:/bin"));
    let without = project.gpuk(&["inspect", "--stage", "sass"]);
    // A whole toolkit has one of its own.
    if !project.toolkit().join("bin/nvdisasm").exists() {
        assert_eq!(without.code, Some(103), "{}", without.shown());
        assert!(
            without.stderr.contains("`nvdisasm` was not found"),
            "{}",
            without.stderr
        );
        let folder = project.root().join("tools");
        project.write("tools/nvdisasm", DISASSEMBLER);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.join("nvdisasm"), mode).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let project = project.env("PATH", Some(&path));
        let set = shown(&project, &["--stage", "sass", "set"]);
        assert!(
            set.ends_with("\nMOV R1 ;") && !set.contains("tile"),
            "{set}"
        );
        let all = shown(&project, &["--stage", "sass"]);
        assert!(all.contains("_tile;") && all.contains("MOV R1"), "{all}");
    } else {
        let set = shown(&project, &["--stage", "sass", "set"]);
        assert!(set.contains(".text.set") && set.contains("EXIT"), "{set}");
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_source_is_shown_as_far_as_it_came() {
    let project = project().file("kernels/wrong.cu", "__global__ void w(int *p) { p = q; }\n");
    let text = shown(&project, &["--stage", "preprocessed", "kernels/wrong.cu"]);
    assert!(text.contains("void w(int *p) { p = q; }"), "{text}");
    let output = project.gpuk(&["inspect", "--stage", "compiled", "kernels/wrong.cu"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    assert!(
        output.stderr.contains("identifier \"q\" is undefined"),
        "{}",
        output.stderr
    );
    // The other is nobody's fault.
    let _ = shown(&project, &["kernels/tile.cu"]);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_linked_sources_are_one_from_validation_on() {
    let project = Project::new("p", GPUK)
        .file(
            "kernels/a.cu",
            "__device__ int f();\nextern \"C\" __global__ void a(int *p) { *p = f(); }\n",
        )
        .file("kernels/b.cu", "__device__ int f() { return 3; }\n")
        .config("link.all = [\"kernels/*.cu\"]");
    let part = shown(&project, &["--stage", "compiled", "kernels/a.cu"]);
    assert!(part.contains(".extern .func"), "{part}");
    let all = shown(&project, &[]);
    assert_eq!(all.matches(".version").count(), 1, "{all}");
    assert!(!all.contains(".extern .func"), "{all}");
    assert_eq!(all, shown(&project, &["kernels/b.cu"]));
    let output = project.gpuk(&["inspect", "--stage", "compiled", "all::a"]);
    assert_eq!(output.code, Some(2), "{}", output.shown());
    assert!(
        output
            .stderr
            .contains("name one of kernels/a.cu, kernels/b.cu"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_stage_that_there_is_not_gets_the_nearest() {
    let output = Project::new("p", GPUK).gpuk(&["inspect", "--stage", "check"]);
    assert_eq!(output.code, Some(2));
    for said in [
        "preprocessed, compiled, checked, sass, resources",
        "'checked'",
    ] {
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
}
