//! Races: what must be found, and what must not be, in kernels as nvcc compiles them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;
use gpuk_sim::{Kind, Launch, Options, Races, Report, Uninitialised};

const RACES: &str = include_str!("ptx/races.ptx");

/// Every race is looked for, and in kernels that have none every read of bytes that nobody wrote.
fn sim_with(threads: usize, seed: u64, uninitialised: Uninitialised) -> Sim {
    let options = Options {
        races: Races::All,
        uninitialised,
        threads,
        seed,
        ..Options::default()
    };
    Sim::with(RACES, options)
}

fn sim() -> Sim {
    sim_with(2, 0, Uninitialised::Error)
}

fn kinds(report: &Report) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = report.findings.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[track_caller]
fn clean(report: &Report) {
    assert_eq!(report.findings, []);
}

/// Finds races and nothing else, whatever the order of warps and however many cores. That some of them write the same
/// bytes depends on how the cores run.
#[track_caller]
fn always(launch: impl Fn(&Sim) -> Report) {
    for (threads, seed) in [(1, 0), (2, 0), (2, 7), (1, 8)] {
        let report = launch(&sim_with(threads, seed, Uninitialised::Off));
        let mut kinds = kinds(&report);
        kinds.retain(|kind| *kind != Kind::SameValueRace);
        assert_eq!(kinds, [Kind::Race], "seed {seed}: {report:?}");
    }
}

#[track_caller]
fn never(launch: impl Fn(&Sim) -> Report) {
    for (threads, seed) in [(1, 0), (2, 0), (2, 7)] {
        clean(&launch(&sim_with(threads, seed, Uninitialised::Error)));
    }
}

fn in_and_out(sim: &Sim, name: &str, blocks: u32, threads: [u32; 3], count: usize) -> Report {
    let input: Vec<i32> = (0..count as i32).collect();
    let (input, out) = (sim.upload(&input), sim.upload(&vec![0; count]));
    sim.launch(name, [blocks, 1, 1], threads, args![input, out])
        .unwrap()
}

#[test]
fn a_sum_needs_a_barrier_in_each_step() {
    never(|sim| in_and_out(sim, "sum_synced", 4, [256, 1, 1], 1024));
    always(|sim| in_and_out(sim, "sum_unsynced", 4, [256, 1, 1], 1024));
}

#[test]
fn a_transposed_tile_needs_a_barrier() {
    never(|sim| in_and_out(sim, "transpose_synced", 1, [16, 16, 1], 256));
    always(|sim| in_and_out(sim, "transpose_unsynced", 1, [16, 16, 1], 256));
}

#[test]
fn a_tile_in_a_loop_needs_two_barriers() {
    never(|sim| in_and_out(sim, "rounds_synced", 1, [128, 1, 1], 512));
    always(|sim| in_and_out(sim, "rounds_unsynced", 1, [128, 1, 1], 512));
}

#[test]
fn atomics_do_not_race_but_with_plain_reads() {
    never(|sim| in_and_out(sim, "histogram_synced", 1, [256, 1, 1], 256));
    always(|sim| in_and_out(sim, "histogram_unsynced", 1, [256, 1, 1], 256));
}

fn last_block(sim: &Sim, name: &str) -> Report {
    let input: Vec<i32> = (0..64).collect();
    let (input, part) = (sim.upload(&input), sim.upload(&[0; 64]));
    let (count, out) = (sim.upload(&[0_u32]), sim.upload(&[0]));
    let args = args![input, part, count, out];
    let report = sim.launch(name, [64, 1, 1], [64, 1, 1], args).unwrap();
    assert_eq!(sim.download::<i32>(out, 1), [64 * 63 / 2]);
    report
}

#[test]
fn the_last_block_sees_what_was_fenced() {
    never(|sim| last_block(sim, "last_block_fenced"));
    always(|sim| last_block(sim, "last_block_unfenced"));
    never(|sim| {
        let (part, count) = (sim.upload(&[0; 64 * 96]), sim.upload(&[0_u32]));
        let out = sim.upload(&[0; 96]);
        let args = args![part, count, out];
        sim.launch("last_block_of_all", [64, 1, 1], [96, 1, 1], args)
            .unwrap()
    });
}

#[test]
fn a_lock_orders_its_holders() {
    never(|sim| {
        let (lock, number) = (sim.upload(&[0]), sim.upload(&[0]));
        let args = args![lock, number];
        let report = sim.launch("locked", [100, 1, 1], [32, 1, 1], args).unwrap();
        assert_eq!(sim.download::<i32>(number, 1), [100]);
        report
    });
    always(|sim| {
        let number = sim.upload(&[0]);
        sim.launch("unlocked", [100, 1, 1], [32, 1, 1], args![number])
            .unwrap()
    });
}

#[test]
fn a_message_is_for_those_in_its_scope() {
    let send = |sim: &Sim, name: &str| {
        let (data, flag, out) = (sim.upload(&[0]), sim.upload(&[0]), sim.upload(&[0]));
        let args = args![data, flag, out];
        let report = sim.launch(name, [2, 1, 1], [32, 1, 1], args).unwrap();
        assert_eq!(sim.download::<i32>(out, 1), [42]);
        report
    };
    never(|sim| send(sim, "message"));
    always(|sim| send(sim, "message_in_block"));
}

#[test]
fn blocks_race_for_what_neighbours_write() {
    always(|sim| {
        let data = sim.upload(&[1; 1024]);
        let args = args![data, 1024];
        sim.launch("stencil_in_place", [8, 1, 1], [128, 1, 1], args)
            .unwrap()
    });
}

#[test]
fn named_barriers_order_who_takes_part() {
    never(|sim| in_and_out(sim, "pipe_in_time", 1, [256, 1, 1], 512));
    always(|sim| in_and_out(sim, "pipe_late", 1, [256, 1, 1], 512));
}

#[test]
fn lanes_of_a_warp_need_a_barrier_too() {
    never(|sim| in_and_out(sim, "warp_synced", 1, [32, 1, 1], 64));
    always(|sim| in_and_out(sim, "warp_synchronous", 1, [32, 1, 1], 64));
    never(|sim| {
        let out = sim.upload(&[0; 32]);
        sim.launch("shuffled", [1, 1, 1], [32, 1, 1], args![out])
            .unwrap()
    });
}

#[test]
fn tiles_order_their_own_threads() {
    let tiles = |sim: &Sim, name: &str| {
        let out = sim.upload(&[0; 64]);
        sim.launch(name, [1, 1, 1], [64, 1, 1], args![out]).unwrap()
    };
    never(|sim| tiles(sim, "tiles_of_four"));
    always(|sim| tiles(sim, "tiles_crossed"));
}

#[test]
fn a_grid_waits_for_all_its_blocks() {
    let grid = |sim: &Sim, name: &str| {
        let (data, out) = (sim.upload(&[0; 512]), sim.upload(&[0; 512]));
        let launch = Launch {
            cooperative: true,
            ..Launch::new([8, 1, 1], [64, 1, 1], Vec::new())
        };
        sim.launch_with(name, launch, args![data, out]).unwrap()
    };
    never(|sim| grid(sim, "grid_sync"));
    always(|sim| grid(sim, "grid_no_sync"));
}

#[test]
fn clusters_wait_before_they_read_each_other() {
    let cluster = |sim: &Sim, name: &str| {
        let out = sim.upload(&[0; 128]);
        let launch = Launch {
            cluster: [2, 1, 1],
            ..Launch::new([4, 1, 1], [32, 1, 1], Vec::new())
        };
        sim.launch_with(name, launch, args![out])
    };
    never(|sim| cluster(sim, "cluster_synced").unwrap());
    let options = Options {
        races: Races::Shared,
        ..Options::default()
    };
    let report = cluster(&Sim::with(RACES, options), "cluster_unsynced").unwrap();
    assert_eq!(kinds(&report), [Kind::Race]);
}

#[test]
fn equal_writes_are_told_apart() {
    let sim = sim();
    let flag = sim.upload(&[0]);
    let same = sim
        .launch("same_flag", [4, 1, 1], [64, 1, 1], args![flag, 1])
        .unwrap();
    assert_eq!(kinds(&same), [Kind::SameValueRace]);
    let other = sim
        .launch("other_flag", [1, 1, 1], [64, 1, 1], args![flag])
        .unwrap();
    assert_eq!(kinds(&other), [Kind::Race]);
}

#[test]
fn bytes_of_a_word_are_told_apart() {
    let bytes = |sim: &Sim, name: &str| {
        let out = sim.upload(&[0_u8; 256]);
        sim.launch(name, [1, 1, 1], [256, 1, 1], args![out])
            .unwrap()
    };
    never(|sim| bytes(sim, "own_bytes"));
    always(|sim| bytes(sim, "others_bytes"));
}

#[test]
fn what_is_read_as_non_coherent_is_not_written() {
    let sim = sim();
    let (a, b) = (sim.upload(&[1; 256]), sim.upload(&[1; 256]));
    let run = |from: u64, to: u64| {
        sim.launch("aliased", [2, 1, 1], [128, 1, 1], args![from, to, 256])
            .unwrap()
    };
    clean(&run(a, b));
    assert_eq!(kinds(&run(a, a)), [Kind::WriteToNonCoherent]);
}

#[test]
fn launches_are_ordered() {
    let sim = sim();
    let (a, b) = (sim.upload(&[1; 256]), sim.upload(&[1; 256]));
    for _ in 0..2 {
        for (from, to) in [(a, b), (b, a)] {
            let args = args![from, to, 256];
            clean(&sim.launch("aliased", [2, 1, 1], [128, 1, 1], args).unwrap());
        }
    }
}

#[test]
fn a_report_names_both_sides() {
    let sim = sim_with(1, 0, Uninitialised::Off);
    let report = in_and_out(&sim, "transpose_unsynced", 1, [16, 16, 1], 256);
    let text = report.findings[0].to_string();
    insta::assert_snapshot!(text, @r"
    race: read of 4 bytes at 0x44, which another thread wrote, with nothing to order the two
      kernel `transpose_unsynced`, block (0, 0, 0) thread (1, 0, 0)
      instruction `ld.shared.u32 %r13, [%r12];`
      other write: block (0, 0, 0) thread (0, 1, 0)
    ");
}

#[test]
fn what_is_allowed_is_reported_apart() {
    let options = Options {
        races: Races::All,
        uninitialised: Uninitialised::Error,
        allow: vec![
            "transpose_*:race".parse().unwrap(),
            "transpose_*:uninitialised".parse().unwrap(),
        ],
        ..Options::default()
    };
    let sim = Sim::with(RACES, options);
    let report = in_and_out(&sim, "transpose_unsynced", 1, [16, 16, 1], 256);
    clean(&report);
    let kinds: Vec<Kind> = report.allowed.iter().map(|finding| finding.kind).collect();
    assert!(
        kinds.contains(&Kind::Race) && kinds.contains(&Kind::Uninitialised),
        "{kinds:?}"
    );
    // Of other kernels it is not.
    let report = in_and_out(&sim, "rounds_unsynced", 1, [128, 1, 1], 512);
    assert!(report.allowed.is_empty() && !report.findings.is_empty());
}

#[test]
fn shared_memory_alone_if_asked() {
    let options = Options {
        races: Races::Shared,
        ..Options::default()
    };
    let sim = Sim::with(RACES, options);
    let number = sim.upload(&[0]);
    clean(
        &sim.launch("unlocked", [100, 1, 1], [32, 1, 1], args![number])
            .unwrap(),
    );
    let report = in_and_out(&sim, "transpose_unsynced", 1, [16, 16, 1], 256);
    assert_eq!(kinds(&report), [Kind::Race]);
}
