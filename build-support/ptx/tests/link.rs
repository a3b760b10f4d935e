//! Modules joined into one. Against nvcc and nvlink: `cargo test -p gpuk-ptx --test link -- --ignored`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::{env, fs};

use gpuk_ptx::Module;
use gpuk_ptx::functionalize::{Options, functionalize};
use gpuk_ptx::link::{LinkError, Linked, link};

const HEADER: &str = ".version 9.0\n.target sm_80\n.address_size 64\n";

fn joined(bodies: &[&str]) -> Result<Linked, Vec<LinkError>> {
    let modules: Vec<_> = bodies
        .iter()
        .map(|body| Module::parse(format!("{HEADER}{body}")).unwrap())
        .collect();
    link(&modules)
}

const TWICE: &str = ".func (.param .b32 r) twice(.param .b32 x)\n{\n\t.reg .b32 %r<3>;\n\tld.param.b32 %r1, [x];\n\tadd.s32 %r2, %r1, %r1;\n\tst.param.b32 [r], %r2;\n\tret;\n}\n";

#[test]
fn a_declaration_becomes_its_definition() {
    let caller = ".extern .func (.param .b32 r) twice(.param .b32 x)\n;\n.visible .entry k(.param .u64 p)\n{\n\tret;\n}\n";
    let linked = joined(&[caller, &format!(".visible {TWICE}")]).unwrap();
    let module = Module::parse(linked.text.clone()).unwrap();
    let functions: Vec<_> = module
        .functions()
        .map(|it| (&*it.name, it.body.is_some(), format!("{:?}", it.linkage)))
        .collect();
    let expected = [
        ("twice", false, "Internal"),
        ("k", true, "Visible"),
        ("twice", true, "Internal"),
    ];
    assert_eq!(
        functions,
        expected.map(|(name, body, linkage)| (name, body, linkage.to_owned()))
    );
    assert!(linked.missing.is_empty());
}

#[test]
fn what_each_has_for_itself_stays_apart() {
    let one = |value: u32| {
        format!(
            ".global .align 1 .b8 $str[2] = {{65}};\n.global .u32 own = {value};\n.global .u64 at = generic(own);\n"
        )
    };
    let linked = joined(&[&one(1), &one(2), ".visible .global .u32 own$2;\n"]).unwrap();
    let module = Module::parse(linked.text.clone()).unwrap();
    let names: Vec<_> = module.variables().map(|it| it.name.to_string()).collect();
    assert_eq!(
        names,
        ["$str", "own", "at", "$str$2", "own$3", "at$2", "own$2"]
    );
    assert!(
        linked.text.contains("at$2 = generic(own$3);"),
        "{}",
        linked.text
    );
    assert!(linked.renamed[0].is_empty());
    assert_eq!(linked.renamed[1]["own"], "own$3");
}

#[test]
fn an_address_comes_behind_what_it_is_of() {
    let holder = ".extern .global .align 4 .b8 table[];\n.visible .global .u64 at = table;\n";
    let linked = joined(&[holder, ".visible .global .align 4 .b8 table[8];\n"]).unwrap();
    let module = Module::parse(linked.text.clone()).unwrap();
    let names: Vec<_> = module.variables().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["table", "at"]);
    assert!(!linked.text.contains(".visible") && !linked.text.contains(".extern"));
}

#[test]
fn the_strong_definition_counts_and_two_of_them_are_refused() {
    let weak = |value: u32| format!(".weak .global .u32 x = {value};\n");
    let strong = ".visible .global .u32 x = 9;\n";
    let text = |bodies: &[&str]| joined(bodies).map(|linked| linked.text);
    assert!(text(&[&weak(1), &weak(2)]).unwrap().contains("x = 1;"));
    assert!(text(&[&weak(1), strong]).unwrap().contains("x = 9;"));
    let twice = text(&[strong, &weak(1), strong]).unwrap_err();
    let expected = LinkError::Duplicate {
        symbol: "x".to_owned(),
        modules: [0, 2],
    };
    assert_eq!(twice, [expected]);
}

#[test]
fn what_disagrees_is_refused() {
    let declared = ".extern .global .u64 x;\n.extern .func f(.param .b32 a)\n;\n";
    let defined = ".visible .const .u64 x;\n.visible .func f(.param .b64 a)\n{\n\tret;\n}\n";
    let errors = joined(&[declared, defined]).unwrap_err();
    let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "`f` is declared with parameters (4 bytes aligned to 4) and result () and defined with parameters (8 \
             bytes aligned to 8) and result ()",
            "`x` is declared with 8 bytes in .global and defined with 8 bytes in .const",
        ]
    );
    let other = Module::parse(HEADER.replace("sm_80", "sm_90")).unwrap();
    let first = Module::parse(HEADER).unwrap();
    assert!(matches!(
        link(&[first, other]).unwrap_err()[..],
        [LinkError::Module { module: 1, .. }]
    ));
}

#[test]
fn what_nobody_defines_is_said_but_for_shared_memory() {
    let shared = |align: u32| format!(".extern .shared .align {align} .b8 dynamic[];\n");
    let one = format!(
        "{}.extern .func f()\n;\n.extern .global .u32 x;\n",
        shared(4)
    );
    let linked = joined(&[&one, &shared(16), &one]).unwrap();
    let missing: Vec<_> = linked
        .missing
        .iter()
        .map(|it| (&*it.symbol, it.module, it.variable))
        .collect();
    assert_eq!(missing, [("f", 0, false), ("x", 0, true)]);
    assert_eq!(linked.text.matches("dynamic").count(), 1);
    assert!(linked.text.contains(".align 16 .b8 dynamic[]"));
    assert_eq!(linked.text.matches(".extern .func f()").count(), 1);
}

#[test]
fn lines_name_the_files_of_all() {
    let one = |file: &str, name: &str| {
        format!(
            ".visible .entry {name}()\n{{\n\t.loc\t1 7 3\n\t.loc\t2 5 1, function_name $L__info_string0, inlined_at 1 7 3\n\tret;\n}}\n\t.file\t1 \"{file}\", 1, 1\n\t.file\t2 \"all.cuh\", 1, 1\n\t.section\t.debug_str\n\t{{\n$L__info_string0:\n.b8 102\n.b8 0\n\t}}\n"
        )
    };
    let linked = joined(&[&one("a.cu", "a"), &one("b.cu", "b")]).unwrap();
    let module = Module::parse(linked.text.clone()).unwrap();
    let files: Vec<_> = module
        .files()
        .map(|it| (it.number, it.name.to_string()))
        .collect();
    let expected = [(1, "a.cu"), (2, "all.cuh"), (3, "b.cu")];
    assert_eq!(
        files,
        expected.map(|(number, name)| (number, name.to_owned()))
    );
    let text = &linked.text;
    assert!(
        text.contains(".loc\t3 7 3") && text.contains("$L__info_string0$2, inlined_at 3 7 3"),
        "{text}"
    );
    assert_eq!(text.matches(".section").count(), 1);
}

fn tool(name: &str) -> PathBuf {
    let beside = |nvcc| Path::new(&nvcc).with_file_name(name);
    let inside = |home| Path::new(&home).join("bin").join(name);
    env::var_os("NVCC")
        .map(beside)
        .or_else(|| env::var_os("CUDA_HOME").map(inside))
        .unwrap_or_else(|| inside("/usr/local/cuda".into()))
}

/// What a tool says, and whether it went well.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate has no runner, and its tests need three tools"
)]
fn run(name: &str, dir: &Path, args: &[&str]) -> (bool, String) {
    let output = std::process::Command::new(tool(name))
        .args(args)
        .current_dir(dir)
        .output()
        .expect("the tool runs");
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    (output.status.success(), said.into_owned())
}

/// Sources that are linked together, and whether they can be.
const PROGRAMS: &[(&str, bool, &[&str])] = &[
    (
        "called",
        true,
        &[
            "#include <assert.h>\n__device__ float factor(int i); extern __constant__ float table[4]; static __device__ int own = 3;\n\
             extern \"C\" __global__ void scale(float *x) { assert(x); x[threadIdx.x] *= factor(threadIdx.x) + table[1] + own; }\n\
             extern __shared__ float dynamic[]; extern \"C\" __global__ void sum(float *x) { dynamic[threadIdx.x] = *x; __syncthreads(); *x = dynamic[0]; }",
            "#include <assert.h>\n__constant__ float table[4] = {1}; static __device__ int own = 4;\n\
             __device__ float factor(int i) { assert(i >= 0 && \"not negative\"); return i % 2 ? own : table[i]; }",
        ],
    ),
    (
        "weak",
        true,
        &[
            "template <class T> __device__ __noinline__ T twice(T x) { return x + x; }\n\
             extern \"C\" __global__ void a(int *x) { *x = twice(*x); }",
            "template <class T> __device__ __noinline__ T twice(T x) { return x + x; }\n\
             extern \"C\" __global__ void b(int *x) { *x = twice(*x); }",
        ],
    ),
    (
        "pointers",
        true,
        &[
            "extern __device__ int (*chosen)(int); extern \"C\" __global__ void k(int *x) { *x = chosen(*x); }",
            "__device__ int f(int x) { return x + 1; } __device__ int (*chosen)(int) = f;",
        ],
    ),
    (
        "twice",
        false,
        &[
            "__device__ int x;",
            "__device__ int x;",
            "extern \"C\" __global__ void k() {}",
        ],
    ),
    (
        "kernels",
        false,
        &[
            "extern \"C\" __global__ void k() {}",
            "extern \"C\" __global__ void k() {}",
        ],
    ),
    (
        "missing",
        false,
        &[
            "__device__ int f(int x); extern \"C\" __global__ void k(int *x) { *x = f(*x); }",
            "__device__ int g;",
        ],
    ),
    (
        "sizes",
        false,
        &[
            "extern __device__ int x[4]; extern \"C\" __global__ void k(int *y) { *y = x[3]; }",
            "__device__ int x[2];",
        ],
    ),
];

#[test]
#[ignore = "needs nvcc"]
fn nvcc_links_what_nvlink_links() {
    for (name, links, sources) in PROGRAMS {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("link-{name}"));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let (mut modules, mut objects) = (Vec::new(), Vec::new());
        for (at, source) in sources.iter().enumerate() {
            let [cu, ptx, object] = ["cu", "ptx", "cubin"].map(|kind| format!("m{at}.{kind}"));
            fs::write(dir.join(&cu), source).unwrap();
            let (well, said) = run(
                "nvcc",
                &dir,
                &[
                    "-rdc=true",
                    "-lineinfo",
                    "-arch=sm_80",
                    "-ptx",
                    &cu,
                    "-o",
                    &ptx,
                ],
            );
            assert!(well, "{said}");
            let (well, said) = run("ptxas", &dir, &["-c", "-arch=sm_80", &ptx, "-o", &object]);
            assert!(well, "{said}");
            modules.push(Module::parse(fs::read_to_string(dir.join(ptx)).unwrap()).unwrap());
            objects.push(object);
        }
        let args = ["-arch=sm_80", "-o", "nvlink.cubin"].into_iter();
        let args: Vec<_> = args.chain(objects.iter().map(String::as_str)).collect();
        let (theirs, said) = run("nvlink", &dir, &args);
        assert_eq!(theirs, *links, "{name}: {said}");
        let ours = link(&modules);
        let driver = |name: &str| matches!(name, "__assertfail" | "vprintf");
        let complete = ours
            .as_ref()
            .is_ok_and(|it| it.missing.iter().all(|it| driver(&it.symbol)));
        assert_eq!(complete, *links, "{name}: {ours:?}");
        let Ok(linked) = ours else { continue };
        if !complete {
            continue;
        }
        let module = Module::parse(linked.text).unwrap();
        let options = Options {
            asserts: true,
            ahead: true,
        };
        let checked = functionalize(&module, &options).unwrap();
        for (kind, text) in [("linked", module.text()), ("checked", &checked.text)] {
            fs::write(dir.join(format!("{kind}.ptx")), text).unwrap();
            let args = [
                "-arch=sm_80",
                &format!("{kind}.ptx"),
                "-o",
                &format!("{kind}.cubin"),
            ];
            let (well, said) = run("ptxas", &dir, &args);
            assert!(well, "{name}, {kind}: {said}");
        }
    }
}
