//! The recordings against the compiler itself, and what a probe leaves alone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpuk_ptx::Module;

use super::{MEMBERS, NAMES, REFUSED, Recorded, TYPES, of_cuda};
use crate::env::Env;
use crate::probe::{self, Probe};
use crate::source::Declarations;
use crate::toolchain::recipe::Recipe;
use crate::toolchain::{Request, find, host};

struct Bench {
    dir: tempfile::TempDir,
    recipe: Recipe,
}

impl Bench {
    fn new(flags: &[&str]) -> Self {
        let env = Env::of_process();
        let toolchain = find(&Request::default(), &env).unwrap();
        let host = host::find(&host::HostRequest::default(), &env).unwrap();
        let flags: Vec<_> = flags.iter().map(OsString::from).collect();
        Self {
            dir: tempfile::tempdir().unwrap(),
            recipe: Recipe::of(&toolchain, &flags, "sm_90", &host, &env).unwrap(),
        }
    }

    fn preprocess(&self, name: &str, source: &str) -> String {
        std::fs::write(self.dir.path().join(name), source).unwrap();
        let out = Path::new("x.ii");
        self.recipe
            .preprocess(Path::new(name), out, self.dir.path())
            .run()
            .unwrap();
        std::fs::read_to_string(self.dir.path().join(out)).unwrap()
    }

    fn compile(&self, name: &str, text: &str) -> String {
        let (ii, ptx) = (Path::new("y.ii"), Path::new("y.ptx"));
        std::fs::write(self.dir.path().join(ii), text).unwrap();
        self.recipe
            .compile(ii, ptx, Path::new(name), self.dir.path())
            .run()
            .unwrap();
        std::fs::read_to_string(self.dir.path().join(ptx)).unwrap()
    }
}

fn fixture(name: &str, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/signature/fixtures")
        .join(format!("{name}.{extension}"))
}

/// The lines of the fixture itself, with their markers.
fn own_lines(name: &str, text: &str) -> String {
    let mut own = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("# ") {
            own = line.contains(&format!("\"{name}\""));
        }
        if own {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// `UPDATE=1` records anew.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_makes_what_is_recorded() {
    let bench = Bench::new(&["-std=c++17"]);
    for Recorded { name, text, ptx } in [TYPES, NAMES, MEMBERS, REFUSED] {
        let source = std::fs::read_to_string(fixture(name, "cu")).unwrap();
        let file = format!("{name}.cu");
        let whole = bench.preprocess(&file, &source);
        let probe = Probe::new(&Declarations::read(&whole));
        let own = own_lines(&file, &whole);
        let made = bench.compile(&file, &format!("{whole}{}", probe.text()));
        if Env::of_process().get("UPDATE").is_some() {
            std::fs::write(fixture(name, "ii"), own).unwrap();
            std::fs::write(fixture(name, "ptx"), made).unwrap();
            continue;
        }
        assert_eq!(own, text);
        assert_eq!(made, ptx);
        let files = Declarations::read(&whole).files;
        assert!(
            files.iter().any(|path| path.ends_with("cuda_runtime.h")),
            "{files:?}"
        );
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_makes_the_same_kernels_with_a_probe_and_without() {
    let flags: &[&[&str]] = &[
        &["-std=c++14"],
        &["-std=c++17"],
        &["-std=c++20"],
        &["-lineinfo"],
        &["--expt-relaxed-constexpr", "--extended-lambda"],
        &["--use_fast_math", "-O3"],
        &["-Werror", "all-warnings", "-diag-suppress=177,114"],
    ];
    for flags in flags {
        let bench = Bench::new(flags);
        for Recorded { name, .. } in [TYPES, NAMES, MEMBERS, REFUSED] {
            let file = format!("{name}.cu");
            let source = std::fs::read_to_string(fixture(name, "cu")).unwrap();
            // The last line is a comment without an end, a pragma stays in force.
            let source = format!("{source}#define N 3\n#pragma pack(push, 1)\n// end");
            let text = bench.preprocess(&file, &source);
            let plain = bench.compile(&file, &text);
            let declarations = Declarations::read(&text);
            let probe = Probe::new(&declarations);
            let probed =
                Module::parse(bench.compile(&file, &format!("{text}{}", probe.text()))).unwrap();
            let (module, signatures, _) = of_cuda(&declarations, &probe, probed, Path::new(&file));
            assert_eq!(module.text(), plain, "{name} with {flags:?}");
            // Of what is refused, one neighbour is not.
            let kernels = signatures.kernels.iter();
            let wrapped = kernels.filter(|it| it.path != "asked<float>").count() > 0;
            assert_eq!(wrapped, name != REFUSED.name, "{name} with {flags:?}");
        }
    }
}

/// With `-G` the debug information names the probe's variables: they stay, and the module still assembles.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_debug_information_keeps_the_probe() {
    let bench = Bench::new(&["-G"]);
    let source = std::fs::read_to_string(fixture("types", "cu")).unwrap();
    let text = bench.preprocess("types.cu", &source);
    let declarations = Declarations::read(&text);
    let probe = Probe::new(&declarations);
    let module =
        Module::parse(bench.compile("types.cu", &format!("{text}{}", probe.text()))).unwrap();
    let (module, signatures, findings) =
        of_cuda(&declarations, &probe, module, Path::new("types.cu"));
    assert!(module.text().contains(probe::PREFIX));
    assert_eq!((signatures.kernels.len(), findings), (8, Vec::new()));
    let dir = bench.dir.path();
    std::fs::write(dir.join("debug.ptx"), module.text()).unwrap();
    let (ptx, cubin) = (Path::new("debug.ptx"), Path::new("debug.cubin"));
    bench
        .recipe
        .assemble(ptx, cubin, "sm_90", &[], dir)
        .unwrap()
        .run()
        .unwrap();
}

/// A question that does not compile is named by its line, and can be taken back alone.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_names_a_bad_question_by_its_line() {
    let bench = Bench::new(&[]);
    let source = "struct P { int x; };\nvoid k(int);\nextern \"C\" __global__ void k(P p) {}\n\
                  template <class T> struct Never { static_assert(sizeof(T) == 0, \"\"); T x; };\n\
                  extern \"C\" __global__ void good(P p, const Never<int> *n) {}";
    let text = bench.preprocess("k.cu", source);
    let declarations = Declarations::read(&text);
    let mut probe = Probe::new(&declarations);
    std::fs::write(
        bench.dir.path().join("y.ii"),
        format!("{text}{}", probe.text()),
    )
    .unwrap();
    let (ii, ptx) = (Path::new("y.ii"), Path::new("y.ptx"));
    let output = bench
        .recipe
        .compile(ii, ptx, Path::new("k.cu"), bench.dir.path())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let lines = probe::blamed(&output.stderr);
    assert_eq!(lines.len(), 2, "{}", output.stderr);
    probe = probe.without(&lines);
    let module = Module::parse(bench.compile("k.cu", &format!("{text}{}", probe.text()))).unwrap();
    let (_, signatures, findings) = of_cuda(&declarations, &probe, module, Path::new("k.cu"));
    assert_eq!(signatures.kernels.len(), 1);
    assert_eq!(findings.len(), 1);
}
