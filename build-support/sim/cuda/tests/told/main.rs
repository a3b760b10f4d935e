//! What people are told when programs on cudarc do something wrong on the simulator: reports and the log.
#![expect(
    unsafe_code,
    reason = "launching kernels and calling the driver wrongly"
)]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use gpuk_build::run::{ToolCommand, ToolOutput};
use serde_json::Value;

mod programs;

const PROGRAM: &str = "GPUK_TOLD_PROGRAM";

/// Not a test: the process of one program.
#[test]
#[ignore = "run by the others"]
fn program() {
    if let Ok(name) = std::env::var(PROGRAM) {
        let found = programs::ALL.iter().find(|(known, _)| *known == name);
        found.unwrap().1();
    }
}

struct Run {
    folder: tempfile::TempDir,
    output: ToolOutput,
}

impl Run {
    /// Runs a program with the simulator as its driver.
    fn new(program: &str, env: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Cargo puts the library beside the tests.
        let exe = std::env::current_exe().unwrap();
        let built = exe.with_file_name("libgpuk_sim_cuda.so");
        for name in ["libcuda.so", "libcuda.so.1"] {
            std::os::unix::fs::symlink(&built, folder.path().join(name)).unwrap();
        }
        let command = ToolCommand::new(exe)
            .args(["--exact", "program", "--ignored", "--nocapture"])
            .env(PROGRAM, program)
            .env("LD_LIBRARY_PATH", folder.path())
            .env("GPUK_SIM_REPORT", folder.path().join("report"))
            .env("GPUK_SIM_LOG", log_to(folder.path()));
        let command = env
            .iter()
            .fold(command, |command, (key, value)| command.env(key, value));
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            output.stderr
        );
        Self { folder, output }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// The findings.
    fn report(&self) -> Vec<Value> {
        let report = self.read("report");
        report
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The log without numbers that differ from run to run.
    fn log(&self) -> String {
        without_addresses(&self.read("log"))
    }
}

fn log_to(folder: &Path) -> String {
    let file: PathBuf = folder.join("log");
    format!("error:{}", file.display())
}

fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
        // Small ones were given by the program.
        let digits = part.len() - rest.len();
        out.push_str(if digits > 4 { "0x…" } else { "0x" });
        out.push_str(if digits > 4 { rest } else { part });
    }
    out
}

#[test]
fn a_finding_has_everything_that_is_known() {
    let report = Run::new("out_of_bounds", &[]).report();
    let [finding] = &report[..] else {
        panic!("{report:#?}");
    };
    assert_eq!(finding["level"], "error");
    assert_eq!(finding["kind"], "out-of-bounds");
    assert_eq!(finding["code"], 700);
    assert_eq!(finding["kernel"], "store");
    assert_eq!(finding["thread"]["thread"][0], 3);
    assert_eq!(finding["finding"]["allocation"]["bytes"], 12);
    assert!(
        finding["launched_at"]["file"]
            .as_str()
            .unwrap()
            .ends_with("tests/told/programs.rs")
    );
    assert!(finding["launched_at"]["line"].as_u64().unwrap() > 10);
}

#[test]
fn a_finding_is_drawn_where_no_report_is_wanted() {
    let run = Run::new("out_of_bounds", &[("GPUK_SIM_REPORT", "")]);
    let drawn = run.output.stderr.replace(env!("CARGO_MANIFEST_DIR"), "…");
    let (drawn, line) = drawn.trim().rsplit_once(':').unwrap();
    assert!(line.parse::<u32>().is_ok());
    insta::assert_snapshot!(without_addresses(drawn), @"
    gpuk-sim: error: out of bounds: write of 4 bytes at 0x…, right past the end of an allocation
      kernel `store`, block (0, 0, 0) thread (3, 0, 0)
      instruction `st.global.u32 [%rd3], %r1;`
      allocation of 12 bytes at 0x…
      launched at …/tests/told/programs.rs
    ");
}

#[test]
fn faults_that_no_check_finds_are_reported_too() {
    let report = Run::new("trap", &[]).report();
    assert_eq!(report[0]["kind"], "trap");
    assert_eq!(report[0]["code"], 719);
    assert_eq!(report[0]["kernel"], "dies");
}

#[test]
fn the_simulators_options_come_from_the_environment() {
    let report = Run::new(
        "out_of_bounds_goes_on",
        &[("GPUK_SIM_OUT_OF_BOUNDS", "zero")],
    )
    .report();
    assert_eq!(report[0]["kind"], "out-of-bounds");
    assert_eq!(report[0].get("code"), None);
    let run = Run::new("wrong_option", &[("GPUK_SIM_RACES", "some")]);
    insta::assert_snapshot!(run.log(), @"gpuk-sim: error: `cuInit`: CUDA_ERROR_INVALID_VALUE (1): `GPUK_SIM_RACES` is `some`; it takes `off`, `shared` or `all`");
}

#[test]
fn leaks_are_found_when_their_context_goes() {
    let report = Run::new("leak", &[]).report();
    let [leak] = &report[..] else {
        panic!("{report:#?}");
    };
    assert_eq!(leak["level"], "error");
    assert_eq!(leak["kind"], "leak");
    insta::assert_snapshot!(without_addresses(leak["text"].as_str().unwrap()), @"
    leak: 2 allocations, 1024 bytes, not freed when its context is destroyed
      1000 bytes at 0x…, allocation 1
      24 bytes at 0x…, allocation 2
    ");
    // A static of the program may hold it.
    let report = Run::new("left_at_exit", &[]).report();
    assert_eq!(report[0]["level"], "warning");
    assert_eq!(report[0]["kind"], "leak");
    assert!(Run::new("tidy", &[]).report().is_empty());
}

#[test]
fn what_was_never_waited_for_is_reported_too() {
    let report = Run::new("never_waited_for", &[]).report();
    assert_eq!(report[0]["kind"], "trap");
}

#[test]
fn the_log_says_what_was_wrong_with_a_call() {
    let run = Run::new("misuse", &[]);
    assert!(run.report().is_empty());
    insta::assert_snapshot!(run.log(), @"
    gpuk-sim: error: `cuMemFree_v2`: CUDA_ERROR_INVALID_VALUE (1): 0x… is inside the 64 bytes at 0x…, not their start
    gpuk-sim: error: `cuMemFree_v2`: CUDA_ERROR_INVALID_VALUE (1): 0x… is in 64 bytes at 0x… that were freed
    gpuk-sim: error: `cuMemcpyDtoH_v2`: CUDA_ERROR_INVALID_VALUE (1): the source: 0x… is in 64 bytes at 0x… that were freed
    gpuk-sim: error: `cuMemcpyHtoD_v2`: CUDA_ERROR_INVALID_VALUE (1): the destination: 64 bytes at 0x… go beyond the 32 bytes at 0x…
    gpuk-sim: error: `cuStreamSynchronize`: CUDA_ERROR_INVALID_HANDLE (400): stream 0x… was destroyed
    gpuk-sim: error: `cuEventSynchronize`: CUDA_ERROR_INVALID_HANDLE (400): 0x… is of another kind: stream, no event
    gpuk-sim: error: `cuEventRecord`: CUDA_ERROR_INVALID_HANDLE (400): event 0x… was destroyed
    gpuk-sim: error: `cuEventSynchronize`: CUDA_ERROR_INVALID_HANDLE (400): the event is null
    gpuk-sim: error: `cuModuleGetFunction`: CUDA_ERROR_INVALID_HANDLE (400): module 0x… was destroyed
    gpuk-sim: error: `cuModuleUnload`: CUDA_ERROR_INVALID_HANDLE (400): module 0x… was destroyed
    gpuk-sim: error: `cuMemcpyDtoH_v2`: CUDA_ERROR_INVALID_VALUE (1): the source: the address is null
    gpuk-sim: error: `cuMemcpyHtoD_v2`: CUDA_ERROR_INVALID_VALUE (1): the destination: 0x… is in no allocation
    gpuk-sim: error: `cuDeviceGet`: CUDA_ERROR_INVALID_DEVICE (101): there is no device 7, only device 0
    gpuk-sim: error: `cuCtxSetCurrent`: CUDA_ERROR_INVALID_CONTEXT (201): 0x1234 is no context
    gpuk-sim: error: `cuCtxDestroy_v2`: CUDA_ERROR_INVALID_VALUE (1): the context is null
    gpuk-sim: error: `cuLaunchKernel`: CUDA_ERROR_INVALID_HANDLE (400): the function is null
    gpuk-sim: error: `cuModuleGetFunction`: CUDA_ERROR_NOT_FOUND (500): the module has no kernel `stare`; it has `store`, `dies`, `says`
    gpuk-sim: error: `cuLaunchKernel`: CUDA_ERROR_INVALID_VALUE (1): kernel `store`: argument 0 of 2 is null
    gpuk-sim: error: `cuLaunchKernel`: CUDA_ERROR_INVALID_VALUE (1): kernel `store`: the grid is 0 along x; it can be 1 to 2147483647
    gpuk-sim: error: `cuLaunchKernel`: CUDA_ERROR_INVALID_VALUE (1): kernel `store`: the block is 2000 along x; it can be 1 to 1024
    gpuk-sim: error: `cuLaunchKernel`: CUDA_ERROR_INVALID_VALUE (1): kernel `store`: blocks of 2048 threads; at most 1024 can be
    gpuk-sim: error: `cuLaunchKernel`: CUDA_ERROR_INVALID_VALUE (1): kernel `store`: 307200 bytes of dynamic shared memory; at most 49152 as its attribute is set
    gpuk-sim: error: kernel `store`: only 4 bytes of arguments; its parameters have 12
    gpuk-sim: error: `cuLaunchKernel`: CUDA_ERROR_INVALID_VALUE (1): kernel `store`: the block is 0 along x; it can be 1 to 1024
    gpuk-sim: error: `cuModuleLoadData`: CUDA_ERROR_INVALID_IMAGE (200): the image is neither PTX nor a fatbin nor machine code
    gpuk-sim: error: `cuModuleLoadData`: CUDA_ERROR_INVALID_PTX (218): the module is for sm_120, the device has compute capability 9.0
    gpuk-sim: error: `cuModuleLoadData`: CUDA_ERROR_INVALID_PTX (218): ptxas application ptx input, line 19; error   : Not a name of any known instruction: 'return'
    ptxas application ptx input, line 22; error   : Not a name of any known instruction: 'return'
    ptxas application ptx input, line 46; error   : Not a name of any known instruction: 'return'
    ptxas fatal   : Ptx assembly aborted due to errors
    gpuk-sim: error: `cuModuleLoadData`: CUDA_ERROR_INVALID_PTX (218): ptxas application ptx input, line 22; error   : Duplicate definition of function 'dies'
    ptxas fatal   : Ptx assembly aborted due to errors
    ");
}

#[test]
fn a_device_can_be_hidden() {
    Run::new("no_device", &[("CUDA_VISIBLE_DEVICES", "")]);
}

#[test]
fn what_kernels_print_is_output() {
    let run = Run::new("prints", &[]);
    let out = String::from_utf8_lossy(&run.output.stdout).into_owned();
    assert!(out.contains("thread 1 says 42\n"), "{out}");
}

#[test]
fn a_held_stream_holds_up_no_other() {
    let run = Run::new("held_up", &[]);
    assert_eq!(run.log(), "");
    assert!(run.report().is_empty());
}

#[test]
fn threads_do_not_disturb_each_other() {
    let run = Run::new("side_by_side", &[]);
    assert_eq!(run.log(), "");
    assert_eq!(run.report(), [] as [Value; 0]);
}

#[test]
fn zeros_harm_nobody() {
    let run = Run::new("zeros", &[]);
    assert!(!run.log().contains("panic"), "{}", run.log());
}

/// Level and kind of each finding, and its kernel.
fn found(env: &[(&str, &str)]) -> Vec<[String; 3]> {
    let report = Run::new("races", env).report();
    let of = |found: &Value, key: &str| found[key].as_str().unwrap_or_default().to_owned();
    let all = report
        .iter()
        .map(|found| ["level", "kind", "kernel"].map(|key| of(found, key)));
    all.collect()
}

#[test]
fn races_are_told_and_the_program_goes_on() {
    assert!(found(&[]).is_empty());
    let all = found(&[("GPUK_SIM_RACES", "all")]);
    assert!(
        all.contains(&["error", "race", "unlocked"].map(str::to_owned)),
        "{all:?}"
    );
    // Equal writes need not be wrong.
    assert!(
        all.contains(&["warning", "same-value-race", "same_flag"].map(str::to_owned)),
        "{all:?}"
    );
    let all = found(&[("GPUK_SIM_RACES", "all"), ("GPUK_SIM_ALLOW", "un*:race")]);
    assert!(
        all.contains(&["allowed", "race", "unlocked"].map(str::to_owned)),
        "{all:?}"
    );
    assert!(all.iter().all(|[level, ..]| level != "error"), "{all:?}");
}

#[test]
fn what_is_allowed_is_not_drawn() {
    let env = [
        ("GPUK_SIM_RACES", "all"),
        ("GPUK_SIM_ALLOW", "unlocked:race"),
        ("GPUK_SIM_REPORT", ""),
    ];
    let drawn = Run::new("races", &env).output.stderr;
    assert!(!drawn.contains("unlocked"), "{drawn}");
    assert!(drawn.contains("race of equal writes"), "{drawn}");
}

#[test]
fn a_read_of_unwritten_memory_ends_the_launch_unless_it_is_allowed() {
    let error = ("GPUK_SIM_UNINITIALISED", "error");
    for (env, level, ended) in [
        (&[error][..], "error", "ended false"),
        (&[("GPUK_SIM_UNINITIALISED", "zero")], "error", "ended true"),
        (
            &[error, ("GPUK_SIM_ALLOW", "copy_words:uninitialised")],
            "allowed",
            "ended true",
        ),
    ] {
        let run = Run::new("unwritten", env);
        let report = run.report();
        assert_eq!(
            (&report[0]["kind"], &report[0]["level"]),
            (&"uninitialised".into(), &level.into())
        );
        let out = String::from_utf8_lossy(&run.output.stdout).into_owned();
        assert!(out.contains(ended), "{env:?}: {out}");
    }
}

#[test]
fn leaks_say_where_they_come_from_if_asked() {
    let leaks = |mode| Run::new("leak", &[("GPUK_SIM_LEAKS", mode)]).report();
    assert!(leaks("off").is_empty());
    for (mode, level) in [("report", "warning"), ("error", "error")] {
        let report = leaks(mode);
        assert_eq!(report[0]["level"], level);
        let text = report[0]["text"].as_str().unwrap();
        assert_eq!(text.matches("tests/told/programs.rs:").count(), 2, "{text}");
    }
    let run = Run::new("wrong_option", &[("GPUK_SIM_LEAKS", "some")]);
    insta::assert_snapshot!(run.log(), @"gpuk-sim: error: `cuInit`: CUDA_ERROR_INVALID_VALUE (1): `GPUK_SIM_LEAKS` is `some`; it takes `off`, `report` or `error`");
}
