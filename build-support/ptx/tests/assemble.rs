//! What this crate writes assembles. `ptxas` is `$NVCC`'s neighbour, `$CUDA_HOME/bin/ptxas`, or that of
//! `/usr/local/cuda`; run with `cargo test -p gpuk-ptx --test assemble -- --ignored`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::{env, fs};

use gpuk_ptx::Module;
use gpuk_ptx::functionalize::{Options, functionalize};

#[allow(dead_code, reason = "each test reads some of the files")]
mod corpus;

fn ptxas() -> PathBuf {
    let beside = |nvcc| Path::new(&nvcc).with_file_name("ptxas");
    let inside = |home| Path::new(&home).join("bin/ptxas");
    env::var_os("NVCC")
        .map(beside)
        .or_else(|| env::var_os("CUDA_HOME").map(inside))
        .unwrap_or_else(|| inside("/usr/local/cuda".into()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate has no runner, and its tests need one tool"
)]
fn assemble(name: &str, text: &str, arch: &str) {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let input = dir.join(format!("{name}.{arch}.ptx"));
    fs::write(&input, text).unwrap();
    let output = std::process::Command::new(ptxas())
        .arg(format!("-arch={arch}"))
        .arg(&input)
        .arg("-o")
        .arg(input.with_extension("cubin"))
        .output()
        .expect("`ptxas` runs");
    assert!(
        output.status.success(),
        "{name} for {arch}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The architectures to assemble for: the module's own, or where that runs on later ones, those.
fn archs(module: &Module) -> Vec<&str> {
    match module.target() {
        "sm_70" | "sm_80" => vec!["sm_80", "sm_90"],
        own => vec![own],
    }
}

#[test]
#[ignore = "needs ptxas"]
fn nvcc_functionalized_modules_assemble() {
    for (name, text) in corpus::ALL {
        let module = Module::parse(text).unwrap();
        let done = functionalize(
            &module,
            &Options {
                asserts: true,
                ahead: true,
            },
        )
        .unwrap();
        if done.sites.is_empty() {
            continue;
        }
        for arch in archs(&module) {
            assemble(name, &done.text, arch);
        }
    }
}
