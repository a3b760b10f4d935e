//! How much memory compilers take together, and what is said when the system kills one.
#![cfg(unix)]

use gpuk_tests::{Counter, Output, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const KERNEL: &str = "extern \"C\" __global__ void NAME(float *x) { x[threadIdx.x] *= 2; }\n";

/// Three sources, their compiler a script with `$real`, which runs the real one.
fn project(counter: &Counter, script: &str) -> Project {
    let cicc = counter.toolkit().join("nvvm/bin/cicc");
    let counting = std::fs::read_to_string(&cicc).unwrap();
    let real = counting.lines().find_map(|line| line.strip_prefix("exec "));
    let real = real.unwrap().strip_suffix(" \"$@\"").unwrap();
    let script = format!("#!/bin/sh\nreal={real}\n{script}\n");
    std::fs::write(cicc, script).unwrap();
    let mut project = Project::new("p", GPUK).env("NVCC", Some(&counter.nvcc()));
    for name in ["one", "two", "three"] {
        project = project.file(format!("kernels/{name}.cu"), &KERNEL.replace("NAME", name));
    }
    project
}

/// How many mebibytes each unit waited for.
fn waited(output: &Output) -> Vec<u64> {
    let mut lines = Vec::new();
    for line in output.stderr.lines() {
        if let Some(waits) = line.trim_start().strip_prefix("Waiting ") {
            let (_, rest) = waits.split_once(" for ").unwrap();
            let (number, unit) = rest.split_once(' ').unwrap();
            assert_eq!(unit, "MiB of memory");
            lines.push(number.parse().unwrap());
        }
    }
    lines
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_units_wait_for_memory_by_what_they_took_the_last_time() {
    let counter = Counter::new(GPUK);
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().display();
    let script = format!(
        "echo start >> {path}\nsleep 0.3\n\"$real\" \"$@\"\ncode=$?\necho end >> {path}\nexit $code"
    );
    let project = project(&counter, &script);
    let alone = || {
        let text = std::fs::read_to_string(log.path()).unwrap();
        std::fs::write(log.path(), "").unwrap();
        let lines: Vec<_> = text.lines().collect();
        let pairs = lines.chunks(2).all(|pair| pair == ["start", "end"]);
        (lines.len(), pairs)
    };
    let build = |more: &[&str]| {
        let args = [&["build", "-v", "-j", "3"], more].concat();
        waited(&project.gpuk(&args).ok())
    };
    let change = |round: &str| {
        for name in ["one", "two", "three"] {
            let kernel = KERNEL.replace("NAME", name).replace("2;", round);
            project.write(format!("kernels/{name}.cu"), &kernel);
        }
    };

    // Nothing is known of them: a guess of 256 MiB and a little for each.
    assert_eq!(build(&["--memory", "300MiB"]), [257, 257]);
    assert_eq!(alone(), (6, true));
    // What is in the store waits for nothing.
    project.write("kernels/one.cu", &KERNEL.replace("NAME", "first"));
    assert!(build(&["--memory", "1MiB"]).is_empty());
    assert_eq!(alone(), (2, true));

    // They took less than that.
    change("3;");
    assert!(build(&["--memory", "300MiB"]).is_empty());
    assert_eq!(alone().0, 6);
    change("4;");
    let known = build(&["--memory", "12MiB"]);
    assert_eq!(alone(), (6, true));
    assert_eq!(known.len(), 2, "{known:?}");
    assert!(known.iter().all(|mib| (13..100).contains(mib)), "{known:?}");

    // The manifest says it too, the environment goes over it, and a build script hears of it.
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    let set = format!("{manifest}\n[package.metadata.gpuk]\nmemory = \"12MiB\"\n");
    project.write("Cargo.toml", &set);
    let build = |memory: Option<&str>| {
        let mut command = project.gpuk_command(&["build", "-v", "-j", "3"]);
        if let Some(memory) = memory {
            command.env("GPUK_MEMORY", memory);
        }
        let output = command.output().unwrap();
        assert!(output.status.success());
        let stderr = String::from_utf8(output.stderr).unwrap();
        stderr.matches("MiB of memory").count()
    };
    change("5;");
    assert_eq!(build(None), 2);
    change("6;");
    assert_eq!(build(Some("none")), 0);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_compiler_that_is_killed_is_named_with_the_setting() {
    let counter = Counter::new(GPUK);
    let mark = tempfile::NamedTempFile::new().unwrap();
    let killing = mark.path().display();
    let script = format!(
        "case \"$*\" in *two.cu*) [ -s {killing} ] && kill -KILL $$;; esac\nexec \"$real\" \"$@\""
    );
    let project = project(&counter, &script);
    std::fs::write(mark.path(), "now").unwrap();
    let output = project.gpuk(&["build"]);
    assert_eq!(output.code, Some(101), "{}", output.stderr);
    for part in [
        "error: `cicc` was killed, probably for want of memory",
        "in `kernels/two.cu`",
        "`memory = \"4GiB\"` in the manifest, `GPUK_MEMORY` or `--memory`",
        "due to 1 error",
    ] {
        assert!(output.stderr.contains(part), "{part}\n{}", output.stderr);
    }
    // Once there is enough of it, the others are not compiled again.
    std::fs::write(mark.path(), "").unwrap();
    let output = project.gpuk(&["build"]).ok();
    assert!(output.stderr.contains("Compiled kernels/two.cu"));
    assert!(!output.stderr.contains("Compiled kernels/one.cu"));
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_build_script_runs_again_after_a_kill() {
    let counter = Counter::new(GPUK);
    let mark = tempfile::NamedTempFile::new().unwrap();
    let killing = mark.path().display();
    let script = format!("[ -s {killing} ] && kill -KILL $$\nexec \"$real\" \"$@\"");
    // What an earlier run of this test made is kept: cargo names the folder after the package.
    let own = format!(
        "extern \"C\" __global__ void own(int *x) {{ *x = {}; }}\n",
        std::process::id()
    );
    let project = project(&counter, &script)
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("kernels/own.cu", &own)
        .file("src/lib.rs", "gpuk::include_kernels!();\n");
    std::fs::write(mark.path(), "now").unwrap();
    let output = project.cargo(&["check", "--offline"]);
    assert_ne!(output.code, Some(0));
    let said = "`cicc` was killed, probably for want of memory";
    assert!(output.stderr.contains(said), "{}", output.stderr);
    std::fs::write(mark.path(), "").unwrap();
    let _ = project.cargo(&["check", "--offline"]).ok();
}
