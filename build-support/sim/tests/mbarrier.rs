//! `mbarrier`: phases, misuse, and waiting for what never comes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;
use gpuk_sim::{Fault, Kind, Options, Races, Uninitialised};

const PIPELINE: &str = include_str!("ptx/pipeline.ptx");

/// A kernel with an `mbarrier` of `count` arrivals, in which each thread's `%r0` to `%r3` are stored at the end.
fn kernel(count: u32, body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 pi, .param .u64 po) {{\n\
         .reg .b64 %from, %out, %x, %y; .reg .b32 %t, %r<8>; .reg .pred %p, %q;\n\
         .shared .align 16 .b8 memory[64]; .shared .align 8 .b64 bar;\n\
         ld.param.u64 %from, [pi]; ld.param.u64 %out, [po]; mov.u32 %t, %tid.x;\n\
         mad.wide.u32 %out, %t, 16, %out; setp.eq.u32 %p, %t, 0;\n\
         mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;\n\
         @%p mbarrier.init.shared.b64 [bar], {count};\nbar.sync 0;\n{body}\n\
         st.global.v4.b32 [%out], {{%r0, %r1, %r2, %r3}};\nret;\n}}\n"
    )
}

fn run(count: u32, threads: u32, body: &str) -> Result<Vec<[u32; 4]>, Fault> {
    let sim = Sim::new(&kernel(count, body));
    let input: Vec<u32> = (1..17).collect();
    let (from, to) = (
        sim.upload(&input),
        sim.upload(&vec![0_u32; 4 * threads as usize]),
    );
    sim.launch("k", [1, 1, 1], [threads, 1, 1], args![from, to])?;
    let found = sim.download::<u32>(to, 4 * threads as usize);
    Ok(found
        .chunks(4)
        .map(|lane| lane.try_into().unwrap())
        .collect())
}

/// Waits for the phase of a parity.
fn wait(parity: u32) -> String {
    format!(
        "WAIT{parity}: mbarrier.try_wait.parity.shared.b64 %q, [bar], {parity};\n@!%q bra WAIT{parity};"
    )
}

#[test]
fn threads_wait_for_all_arrivals() {
    // Every thread stores, arrives, waits, and reads what another one stored.
    let body = format!(
        "mov.u32 %r4, memory; mad.lo.u32 %r5, %t, 4, %r4; st.shared.u32 [%r5], %t;\n\
         mbarrier.arrive.shared.b64 %x, [bar];\n{}\n\
         xor.b32 %r5, %t, 15; mad.lo.u32 %r5, %r5, 4, %r4; ld.shared.u32 %r0, [%r5];",
        wait(0)
    );
    let found = run(16, 16, &body).unwrap();
    for (thread, [value, ..]) in found.into_iter().enumerate() {
        assert_eq!(value as usize, thread ^ 15);
    }
}

#[test]
fn states_count_what_is_left() {
    let found = run(
        3,
        1,
        "mbarrier.arrive.shared.b64 %x, [bar]; mbarrier.pending_count.b64 %r0, %x;\n\
         mbarrier.arrive.release.cta.shared::cta.b64 %y, [bar], 1; mbarrier.pending_count.b64 %r1, %y;\n\
         mbarrier.test_wait.shared.b64 %q, [bar], %x; selp.u32 %r2, 1, 0, %q;\n\
         mbarrier.arrive.shared.b64 _, [bar];\n\
         mbarrier.test_wait.acquire.cta.shared.b64 %q, [bar], %x; selp.u32 %r3, 1, 0, %q;",
    );
    assert_eq!(found.unwrap(), [[3, 2, 0, 1]]);
}

#[test]
fn arrivals_that_are_dropped_are_missing_in_later_phases() {
    let body = format!(
        "mbarrier.arrive_drop.shared.b64 _, [bar]; mbarrier.arrive.shared.b64 _, [bar];\n{}\n\
         mbarrier.arrive.shared.b64 _, [bar];\n{}\nmov.u32 %r0, 1;",
        wait(0),
        wait(1)
    );
    assert_eq!(run(2, 1, &body).unwrap(), [[1, 0, 0, 0]]);
}

#[test]
fn bytes_are_counted_and_land_at_the_wait() {
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [memory], [%from], 64, [bar];";
    let expect = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;";
    let read = "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [memory+16];";
    // In either order.
    for lines in [[expect, copy], [copy, expect]] {
        let body = format!("{}\n{}\n{read}", lines.join("\n"), wait(0));
        assert_eq!(run(1, 1, &body).unwrap(), [[5, 6, 7, 8]]);
    }
    let forgets = format!("{expect}\n{copy}\n{read}");
    assert_eq!(run(1, 1, &forgets).unwrap(), [[0; 4]]);
    // Threads of another warp wait before the copy is issued.
    let body = format!(
        "setp.ge.u32 %p, %t, 32; @%p bra WAIT0;\nsetp.ne.u32 %p, %t, 5; @%p bra END;\n{expect}\n{copy}\nbra END;\n\
         {}\n{read}\nEND:",
        wait(0)
    );
    let found = run(1, 64, &body).unwrap();
    assert_eq!(found[0], [0; 4]);
    assert!(found[32..].iter().all(|lane| *lane == [5, 6, 7, 8]));
}

#[test]
fn registers_that_are_sent() {
    // Thread 0 expects what all send, and each sends to the place of another.
    let body = format!(
        "mov.u32 %r4, memory; xor.b32 %r5, %t, 3; mad.lo.u32 %r5, %r5, 4, %r4; add.u32 %r6, %t, 10;\n\
         mov.u32 %r7, bar; mapa.shared::cluster.u32 %r7, %r7, 0; mapa.shared::cluster.u32 %r5, %r5, 0;\n\
         @%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], 80;\n\
         st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r6, [%r7];\n\
         mapa.shared::cluster.u32 %r4, %r4, 0;\n\
         red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4+32], %r6, [%r7];\n\
         @%p st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r4+48], {{%r6, %r6, %r6, %r6}}, [%r7];\n\
         ld.shared.u32 %r1, [memory+48];\n\
         {}\nmov.u32 %r4, memory; mad.lo.u32 %r4, %t, 4, %r4; ld.shared.u32 %r0, [%r4];\n\
         ld.shared.u32 %r2, [memory+32]; ld.shared.u32 %r3, [memory+60];",
        wait(0)
    );
    let found = run(1, 8, &body).unwrap();
    for (thread, lane) in found.into_iter().enumerate() {
        assert_eq!(lane, [10 + (thread as u32 ^ 3), 0, 108, 10]);
    }
}

#[test]
fn copies_that_a_barrier_tracks() {
    let copy = "mov.u32 %r4, memory; mad.lo.u32 %r4, %t, 4, %r4; mad.wide.u32 %from, %t, 4, %from;\n\
                cp.async.ca.shared.global [%r4], [%from], 4;";
    let read = "xor.b32 %r5, %t, 1; mad.lo.u32 %r5, %r5, 4, memory; ld.shared.u32 %r0, [%r5];";
    let read = read.replace("%r5, 4, memory", "%r5, 4, %r6");
    // As one of the arrivals, and beside them.
    for arrive in [
        "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];",
        "cp.async.mbarrier.arrive.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];",
    ] {
        let body = format!(
            "mov.u32 %r6, memory;\n{copy}\n{arrive}\n{}\n{read}",
            wait(0)
        );
        let found = run(16, 16, &body).unwrap();
        for (thread, [value, ..]) in found.into_iter().enumerate() {
            assert_eq!(value as usize, (thread ^ 1) + 1, "{arrive}");
        }
    }
}

#[test]
fn producers_and_consumers_of_libcuxx() {
    let rounds = 7;
    let input: Vec<i32> = (0..rounds * 64).map(|at| at * at % 101).collect();
    let part = |round: i32, lane: i32| 3 * input[(round * 64 + 63 - lane) as usize];
    let expected: Vec<i32> = (0..64)
        .map(|lane| (0..rounds).map(|round| part(round, lane)).sum())
        .collect();
    for seed in 0..4 {
        let options = Options {
            races: Races::All,
            uninitialised: Uninitialised::Error,
            seed,
            ..Options::default()
        };
        let sim = Sim::with(PIPELINE, options);
        let (from, to) = (sim.upload(&input), sim.upload(&[0_i32; 64]));
        let args = args![from, to, rounds];
        let report = sim
            .launch("producers", [1, 1, 1], [128, 1, 1], args)
            .unwrap();
        assert!(report.findings.is_empty(), "{:#?}", report.findings);
        assert_eq!(sim.download::<i32>(to, 64), expected);
    }
}

#[test]
fn what_cannot_be() {
    let cases = [
        (
            "mbarrier.arrive.shared.b64 _, [memory];",
            Kind::BadBarrier,
            "no mbarrier was initialised",
        ),
        (
            "mbarrier.arrive.shared.b64 _, [bar], 3;",
            Kind::BadBarrier,
            "3 arrivals at the mbarrier",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 0;",
            Kind::BadBarrier,
            "of 0 arrivals",
        ),
        (
            "mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];",
            Kind::BadBarrier,
            "no longer one",
        ),
        (
            "mbarrier.arrive.shared.b64 _, [memory+4];",
            Kind::Misaligned,
            "multiple of 8",
        ),
        (
            "mbarrier.arrive.shared.b64 _, [memory+4096];",
            Kind::OutOfBounds,
            "of which the block has",
        ),
        (
            "mbarrier.arrive.b64 _, [%from];",
            Kind::WrongSpace,
            "not in shared memory",
        ),
        (
            "mov.u32 %r4, bar; mapa.shared::cluster.u32 %r4, %r4, 0;\n\
             mbarrier.arrive.noComplete.release.cta.shared.b64 %x, [bar], 2;",
            Kind::BadBarrier,
            "must not complete",
        ),
        (
            "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1048575; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1;",
            Kind::BadBarrier,
            "counts no more than",
        ),
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [memory], [%from], 64, [bar];\n\
             mbarrier.inval.shared.b64 [bar];",
            Kind::BadBarrier,
            "on its way",
        ),
    ];
    for (body, kind, part) in cases {
        match run(2, 1, body).unwrap_err() {
            Fault::Finding(finding) => {
                assert_eq!(finding.kind, kind, "{body}");
                assert!(finding.text.contains(part), "{body}: {}", finding.text);
            }
            fault => panic!("{body}: {fault}"),
        }
    }
}

#[test]
fn a_phase_that_never_ends() {
    let text = run(
        2,
        1,
        &format!("mbarrier.arrive.shared.b64 _, [bar];\n{}", wait(0)),
    )
    .unwrap_err()
    .to_string();
    let expected = "whose phase has 1 of 2 arrivals and 0 bytes to come";
    assert!(
        text.starts_with("deadlock") && text.contains(expected),
        "{text}"
    );
    let body = format!(
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n{}",
        wait(0)
    );
    let text = run(1, 1, &body).unwrap_err().to_string();
    assert!(
        text.contains("0 of 1 arrivals and 32 bytes to come"),
        "{text}"
    );
    // One who does not only wait goes on.
    let body = "WAIT: add.u32 %r0, %r0, 1; setp.eq.u32 %p, %r0, 100; @%p bra END;\n\
                mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; @!%q bra WAIT;\nEND:";
    assert_eq!(run(1, 1, body).unwrap()[0][0], 100);
}
