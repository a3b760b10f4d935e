//! Reads of bytes that nobody wrote.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;
use gpuk_sim::{Fault, Finding, Kind, MemoryKind, Options, Report, Uninitialised};

const RACES: &str = include_str!("ptx/races.ptx");

fn sim(uninitialised: Uninitialised) -> Sim {
    let options = Options {
        uninitialised,
        ..Options::default()
    };
    Sim::with(RACES, options)
}

fn alloc(sim: &Sim, bytes: u64, kind: MemoryKind) -> u64 {
    sim.device.memory().alloc(bytes, kind).unwrap()
}

fn copy(sim: &Sim, from: u64, to: u64, threads: u32) -> Result<Report, Fault> {
    sim.launch("copy_words", [1, 1, 1], [threads, 1, 1], args![from, to])
}

#[track_caller]
fn finding(result: Result<Report, Fault>) -> Box<Finding> {
    match result {
        Err(Fault::Finding(finding)) => finding,
        other => panic!("no finding: {other:?}"),
    }
}

#[test]
fn memory_is_unwritten_until_somebody_writes_it() {
    let sim = sim(Uninitialised::Error);
    let (from, to) = (
        alloc(&sim, 256, MemoryKind::Device),
        alloc(&sim, 256, MemoryKind::Device),
    );
    let memory = sim.device.memory();
    let found = finding(copy(&sim, from, to, 32));
    assert_eq!(
        (found.kind, found.address, found.size),
        (Kind::Uninitialised, Some(from), 8)
    );
    // All but the last bytes of the last lane's.
    memory.write(from, &[1; 253]).unwrap();
    let found = finding(copy(&sim, from, to, 32));
    insta::assert_snapshot!(found.text, @"read of 8 bytes at 0x10000000000f8, of which 3 bytes from 0x10000000000fd on nobody has written");
    memory.fill(from + 253, &[7], 3).unwrap();
    copy(&sim, from, to, 32).unwrap();
    // What a kernel writes is written.
    copy(&sim, to, from, 32).unwrap();
}

#[test]
fn copies_on_the_device_carry_the_state_along() {
    let sim = sim(Uninitialised::Error);
    let kinds = [MemoryKind::Device; 3];
    let [from, middle, to] = kinds.map(|kind| alloc(&sim, 64, kind));
    let memory = sim.device.memory();
    memory.write(from, &[1; 32]).unwrap();
    memory.copy(middle, from, 64).unwrap();
    copy(&sim, middle, to, 4).unwrap();
    let found = finding(copy(&sim, middle, to, 8));
    assert_eq!(found.address, Some(middle + 32));
    // Bytes that were written are not any more once such are copied over them.
    memory.fill(middle, &[0], 64).unwrap();
    copy(&sim, middle, to, 8).unwrap();
    memory.copy(middle, from, 64).unwrap();
    assert_eq!(finding(copy(&sim, middle, to, 8)).kind, Kind::Uninitialised);
}

#[test]
fn what_the_host_sees_counts_as_written() {
    let sim = sim(Uninitialised::Error);
    let to = alloc(&sim, 64, MemoryKind::Device);
    for kind in [MemoryKind::Pinned, MemoryKind::Mapped, MemoryKind::Managed] {
        let from = alloc(&sim, 64, kind);
        copy(&sim, from, to, 8).unwrap();
    }
}

#[test]
fn padding_is_told_apart() {
    let sim = sim(Uninitialised::Error);
    let (from, to) = (
        alloc(&sim, 64, MemoryKind::Device),
        alloc(&sim, 64, MemoryKind::Device),
    );
    sim.launch("fill_padded", [1, 1, 1], [8, 1, 1], args![from])
        .unwrap();
    let found = finding(copy(&sim, from, to, 8));
    insta::assert_snapshot!(found.text, @"read of 8 bytes at 0x1000000000000, of which 3 bytes from 0x1000000000001 on nobody has written");
}

#[test]
fn shared_memory_begins_unwritten_in_each_block() {
    let sim = sim(Uninitialised::Error);
    let input: Vec<i32> = (0..64).collect();
    let (input, out) = (sim.upload(&input), sim.upload(&[0; 64]));
    let found = finding(sim.launch("read_shared", [2, 1, 1], [64, 1, 1], args![input, out]));
    assert_eq!(
        (found.kind, found.space, found.address),
        (Kind::Uninitialised, Some("shared"), Some(20))
    );
    assert_eq!(found.thread.thread, [5, 0, 0]);
}

#[test]
fn a_launch_goes_on_with_ones_or_zeros() {
    for (mode, expected) in [(Uninitialised::Nan, f32::NAN), (Uninitialised::Zero, 1.0)] {
        let sim = sim(mode);
        let (x, out) = (
            alloc(&sim, 32, MemoryKind::Device),
            alloc(&sim, 32, MemoryKind::Device),
        );
        sim.device
            .memory()
            .write(x, &2.0_f32.to_le_bytes())
            .unwrap();
        let report = sim
            .launch("add_float", [1, 1, 1], [8, 1, 1], args![x, out])
            .unwrap();
        assert_eq!(report.findings.len(), 1, "{report:?}");
        assert_eq!(report.findings[0].kind, Kind::Uninitialised);
        assert_eq!(report.findings[0].thread.thread, [1, 0, 0]);
        let got: Vec<f32> = sim.download(out, 8);
        assert_eq!(got[0], 3.0);
        assert!(got[1..].iter().all(|got| got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan()));
    }
}
