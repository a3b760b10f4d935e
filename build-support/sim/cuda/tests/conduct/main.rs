//! How the driver conducts itself: what it answers to right and wrong calls, as recorded on a device and as the
//! simulator does it.
//!
//! `recorded/` is what driver 580.159 answered on an H200. To record it anew on a machine with a GPU:
//! `GPUK_CONDUCT_RECORD=DIR conduct --ignored record`.
//!
//! The snapshots hold the lines that differ, `-` the device and `+` the simulator. They differ where
//!
//! - the device is other hardware: its name, clocks, caches, textures, numbers of streams, cluster placement;
//! - the device's driver crashes, and the simulator says what is wrong with the handle;
//! - a library's image is looked at only later by the device's driver;
//! - the assembler's words end with a space or a newline that the simulator leaves out;
//! - machine code is refused without a look at whether it is damaged;
//! - there is nothing to find on the device: memory that was freed but is still mapped.
#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "calling a driver by the names of its functions")]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::path::Path;

use gpuk_build::run::ToolCommand;

mod capture;
mod contexts;
mod faults;
mod graphs;
mod launches;
mod libraries;
mod memory;
mod modules;
mod pools;
mod say;
mod setup;
mod start;
mod streams;

use say::Driver;

type Scenario = (&'static str, fn(&mut Driver));

/// Files of scenarios; each scenario runs in a process of its own.
const FILES: [(&str, &[Scenario]); 11] = [
    ("start", start::SCENARIOS),
    ("contexts", contexts::SCENARIOS),
    ("streams", streams::SCENARIOS),
    ("memory", memory::SCENARIOS),
    ("pools", pools::SCENARIOS),
    ("modules", modules::SCENARIOS),
    ("launches", launches::SCENARIOS),
    ("faults", faults::SCENARIOS),
    ("capture", capture::SCENARIOS),
    ("graphs", graphs::SCENARIOS),
    ("libraries", libraries::SCENARIOS),
];

const SCENARIO: &str = "GPUK_CONDUCT_SCENARIO";
const ANSWERS: &str = "GPUK_CONDUCT_ANSWERS";

/// Not a test: the process of one scenario.
#[test]
#[ignore = "run by the others"]
fn scenario() {
    let (Ok(wanted), Ok(answers)) = (std::env::var(SCENARIO), std::env::var(ANSWERS)) else {
        return;
    };
    for (file, scenarios) in FILES {
        for (name, run) in scenarios {
            if format!("{file}::{name}") == wanted {
                run(&mut Driver::new(Path::new(&answers)));
            }
        }
    }
}

/// What the driver found with these variables answers to a file's scenarios.
fn answers(file: &str, scenarios: &[Scenario], env: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut all = String::new();
    for (name, _) in scenarios {
        let answers = folder.path().join(name);
        std::fs::write(&answers, "").unwrap();
        let command = ToolCommand::new(std::env::current_exe().unwrap())
            .args(["--exact", "scenario", "--include-ignored", "--nocapture"])
            .env(SCENARIO, format!("{file}::{name}"))
            .env(ANSWERS, &answers);
        let command = env
            .iter()
            .fold(command, |command, (key, value)| command.env(key, value));
        let output = command.output().unwrap();
        writeln!(all, "# {name}").unwrap();
        all.push_str(&std::fs::read_to_string(&answers).unwrap());
        if !output.status.success() {
            writeln!(all, "the process ended with {}", output.status).unwrap();
        }
        all.push('\n');
    }
    all
}

/// A folder in which the loader finds the simulator as the driver.
fn simulator() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // Cargo puts it beside the tests.
    let built = std::env::current_exe().unwrap();
    let built = built.with_file_name("libgpuk_sim_cuda.so");
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::os::unix::fs::symlink(&built, folder.path().join(name)).unwrap();
    }
    folder
}

/// The lines that differ, by scenario.
fn differences(recorded: &str, simulated: &str) -> String {
    let mut differences = String::new();
    let scenarios = |text: &str| -> Vec<Vec<String>> {
        let scenarios = text
            .split("\n\n")
            .map(str::trim)
            .filter(|text| !text.is_empty());
        scenarios
            .map(|text| text.lines().map(str::to_owned).collect())
            .collect()
    };
    let (recorded, simulated) = (scenarios(recorded), scenarios(simulated));
    assert_eq!(recorded.len(), simulated.len());
    for (recorded, simulated) in recorded.iter().zip(&simulated) {
        assert_eq!(recorded[0], simulated[0]);
        let mut of_scenario = String::new();
        for index in 0..recorded.len().max(simulated.len()) {
            let (device, here) = (recorded.get(index), simulated.get(index));
            if device != here {
                for (mark, line) in [('-', device), ('+', here)] {
                    if let Some(line) = line {
                        writeln!(of_scenario, "{mark} {line}").unwrap();
                    }
                }
            }
        }
        if !of_scenario.is_empty() {
            writeln!(differences, "{}\n{of_scenario}", recorded[0]).unwrap();
        }
    }
    differences
}

fn compare(file: &str, recorded: &str) -> String {
    let (_, scenarios) = FILES.into_iter().find(|(name, _)| *name == file).unwrap();
    let simulator = simulator();
    let path = simulator.path().to_str().unwrap();
    let env = [
        ("LD_LIBRARY_PATH", path),
        ("GPUK_SIM_LOG", "off"),
        ("GPUK_SIM_REPORT", "/dev/null"),
        // As the device has it that answered.
        ("GPUK_SIM_MULTIPROCESSORS", "132"),
    ];
    differences(recorded, &answers(file, scenarios, &env))
}

macro_rules! compared {
    ($($file:ident),*) => {$(
        #[test]
        fn $file() {
            let recorded = include_str!(concat!("recorded/", stringify!($file), ".txt"));
            insta::assert_snapshot!(compare(stringify!($file), recorded));
        }
    )*};
}

mod as_recorded {
    use super::compare;

    compared!(
        start, contexts, streams, memory, pools, modules, launches, faults, capture, graphs,
        libraries
    );
}

#[test]
#[ignore = "records what a device's driver answers"]
fn record() {
    let folder = std::env::var("GPUK_CONDUCT_RECORD").unwrap();
    for (file, scenarios) in FILES {
        let answers = answers(file, scenarios, &[]);
        std::fs::write(Path::new(&folder).join(file).with_extension("txt"), answers).unwrap();
    }
}
