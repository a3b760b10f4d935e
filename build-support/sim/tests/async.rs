//! Copies that go on while threads do, as nvcc compiles them and one instruction at a time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;
use gpuk_sim::{Fault, Kind, Launch, Options, Races, Uninitialised};

const PIPELINE: &str = include_str!("ptx/pipeline.ptx");

fn half(value: i32) -> u16 {
    half::f16::from_f32(value as f32).to_bits()
}

/// The kernels of `pipeline.cu`, with every check.
fn pipeline(seed: u64) -> Sim {
    let options = Options {
        races: Races::All,
        uninitialised: Uninitialised::Error,
        seed,
        ..Options::default()
    };
    Sim::with(PIPELINE, options)
}

/// A product of matrices of small whole numbers: what the kernel makes, and what it is.
fn gemm(sim: &Sim, kernel: &str, [m, n, k]: [usize; 3]) -> (Vec<f32>, Vec<f32>) {
    let a: Vec<i32> = (0..m * k).map(|at| (at * 7 % 13) as i32 - 6).collect();
    let b: Vec<i32> = (0..n * k).map(|at| (at * 5 % 11) as i32 - 5).collect();
    let halves = |values: &[i32]| values.iter().map(|value| half(*value)).collect::<Vec<_>>();
    let (da, db) = (sim.upload(&halves(&a)), sim.upload(&halves(&b)));
    let c = sim.upload(&vec![0.0_f32; m * n]);
    let grid = [n.div_ceil(64) as u32, m.div_ceil(64) as u32, 1];
    let args = args![da, db, c, m as i32, n as i32, k as i32];
    let report = sim.launch(kernel, grid, [128, 1, 1], args).unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let dot = |row: usize, column: usize| {
        let products = (0..k).map(|at| a[row * k + at] * b[column * k + at]);
        products.sum::<i32>() as f32
    };
    let expected = (0..m * n).map(|at| dot(at / n, at % n)).collect();
    (sim.download::<f32>(c, m * n), expected)
}

#[test]
fn a_product_with_two_stages() {
    for (seed, shape) in [[64, 64, 64], [128, 64, 96], [40, 72, 56]]
        .into_iter()
        .enumerate()
    {
        let (found, expected) = gemm(&pipeline(seed as u64), "gemm_waits", shape);
        assert_eq!(found, expected, "{shape:?}");
    }
}

#[test]
fn a_product_that_forgets_to_wait_is_wrong() {
    let (found, expected) = gemm(&Sim::new(PIPELINE), "gemm_forgets", [64, 64, 64]);
    assert_ne!(found, expected);
    // Nothing has landed.
    assert!(found.iter().all(|sum| *sum == 0.0));
}

#[test]
fn libcuxx_pipelines() {
    let sim = pipeline(3);
    let batches = 5;
    let input: Vec<f32> = (0..batches * 64).map(|at| at as f32).collect();
    let (from, to) = (sim.upload(&input), sim.upload(&[0.0_f32; 64]));
    let launch = Launch {
        shared: 512,
        ..Launch::new([1, 1, 1], [64, 1, 1], Vec::new())
    };
    let report = sim
        .launch_with("stages", launch, args![from, to, batches as i32])
        .unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let expected: Vec<f32> = (0..64)
        .map(|thread| {
            (0..batches)
                .map(|batch| input[batch * 64 + (thread + 1) % 64])
                .sum()
        })
        .collect();
    assert_eq!(sim.download::<f32>(to, 64), expected);

    let input: Vec<i32> = (0..256).map(|at| at * at).collect();
    let (from, to) = (sim.upload(&input), sim.upload(&[0_i32; 256]));
    sim.launch("own_stages", [1, 1, 1], [64, 1, 1], args![from, to])
        .unwrap();
    assert_eq!(sim.download::<i32>(to, 256), input);
}

#[test]
fn bulk_copies_in_and_out() {
    let sim = pipeline(3);
    let input: Vec<i32> = (0..512).collect();
    let (data, totals) = (sim.upload(&input), sim.upload(&[1_i32; 256]));
    let report = sim
        .launch("bulk", [2, 1, 1], [64, 1, 1], args![data, totals, 5_i32])
        .unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let expected: Vec<i32> = input.iter().map(|value| value * 2 + 5).collect();
    assert_eq!(sim.download::<i32>(data, 512), expected);
    let sums: Vec<i32> = (0..256)
        .map(|at| 1 + expected[at] + expected[256 + at])
        .collect();
    assert_eq!(sim.download::<i32>(totals, 256), sums);
}

#[test]
fn one_block_fetches_for_its_cluster() {
    let sim = pipeline(3);
    let input: Vec<i32> = (0..192).map(|at| at * 3).collect();
    let (from, to) = (sim.upload(&input), sim.upload(&[0_i32; 384]));
    let launch = Launch {
        cluster: [2, 1, 1],
        ..Launch::new([2, 1, 1], [64, 1, 1], Vec::new())
    };
    let report = sim
        .launch_with("multicast", launch, args![from, to])
        .unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let expected: Vec<i32> = (0..384)
        .map(|at| input[at / 128 * 64 + at % 64] + at as i32 / 64 % 2)
        .collect();
    assert_eq!(sim.download::<i32>(to, 384), expected);
}

/// A kernel of 32 threads with 1024 bytes of shared memory, in which `%to` is a thread's own 16 bytes there, `%from`
/// its own of what is given and `%out` of what comes back.
fn kernel(body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 pi, .param .u64 po) {{\n\
         .reg .b64 %from, %out, %x; .reg .b32 %to, %t, %r<8>; .reg .pred %p, %q;\n\
         .shared .align 128 .b8 memory[1024];\n\
         ld.param.u64 %from, [pi]; ld.param.u64 %out, [po]; mov.u32 %t, %tid.x;\n\
         mad.wide.u32 %from, %t, 16, %from; mad.wide.u32 %out, %t, 16, %out;\n\
         mov.u32 %to, memory; mad.lo.u32 %to, %t, 16, %to;\n{body}\nret;\n}}\n"
    )
}

const STORE: &str = "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%to];\n\
                     st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};";

fn run(body: &str) -> Result<Vec<u32>, Fault> {
    let sim = Sim::new(&kernel(body));
    let input: Vec<u32> = (0..128).map(|at| at * 0x0101_0101).collect();
    let (from, to) = (sim.upload(&input), sim.upload(&[7_u32; 128]));
    sim.launch("k", [1, 1, 1], [32, 1, 1], args![from, to])?;
    Ok(sim.download::<u32>(to, 128))
}

fn given() -> Vec<u32> {
    (0..128).map(|at| at * 0x0101_0101).collect()
}

#[test]
fn bytes_land_when_their_group_is_waited_for() {
    let copy = "cp.async.cg.shared.global [%to], [%from], 16;";
    let commit = "cp.async.commit_group;";
    let zeros = vec![0; 128];
    let cases = [
        (vec![copy, commit], false),
        (vec![copy, commit, "cp.async.wait_group 0;"], true),
        // One group may be on its way.
        (vec![copy, commit, "cp.async.wait_group 1;"], false),
        (vec![copy, commit, commit, "cp.async.wait_group 1;"], true),
        // What was not committed is in no group.
        (vec![copy, "cp.async.wait_group 0;"], false),
        (vec![copy, "cp.async.wait_all;"], true),
    ];
    for (lines, lands) in cases {
        let found = run(&format!("{}\n{STORE}", lines.join("\n"))).unwrap();
        assert_eq!(
            found,
            if lands { given() } else { zeros.clone() },
            "{lines:?}"
        );
    }
}

#[test]
fn parts_of_the_source() {
    let wait = "cp.async.wait_all;";
    for bytes in [0, 1, 4, 7, 15, 16] {
        let copy =
            format!("mov.u32 %r0, {bytes}; cp.async.ca.shared.global [%to], [%from], 16, %r0;");
        let found = run(&format!(
            "st.shared.b32 [%to], -1;\n{copy}\n{wait}\n{STORE}"
        ))
        .unwrap();
        let all: Vec<u8> = given().into_iter().flat_map(u32::to_le_bytes).collect();
        let expected: Vec<u8> = (0..512)
            .map(|at| if at % 16 < bytes { all[at] } else { 0 })
            .collect();
        let found: Vec<u8> = found.into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(found, expected, "{bytes}");
    }
    let ignored = format!(
        "setp.lt.u32 %p, %t, 4; cp.async.ca.shared.global [%to], [%from], 16, %p;\n{wait}\n{STORE}"
    );
    let mut expected = given();
    expected[..16].fill(0);
    assert_eq!(run(&ignored).unwrap(), expected);
    // A source of no bytes may lie anywhere.
    let nowhere = format!(
        "mov.b64 %x, 64; mov.u32 %r0, 0; cp.async.ca.shared.global [%to], [%x], 8, %r0;\n{wait}\n{STORE}"
    );
    assert_eq!(run(&nowhere).unwrap(), vec![0; 128]);
}

#[test]
fn copies_without_end() {
    // Of many copies some land, as they would on a device.
    let body = "mov.u32 %r0, 0; mov.u32 %r4, 20000;\n\
                MORE: cp.async.ca.shared.global [%to], [%from], 4; sub.u32 %r4, %r4, 1;\n\
                setp.ne.u32 %p, %r4, 0; @%p bra MORE;";
    let found = run(&format!("{body}\n{STORE}")).unwrap();
    assert_eq!(found[4], given()[4]);
    let body = "setp.ne.u32 %p, %t, 0; @%p exit; mov.u32 %r4, 20000;\n\
                mbarrier.init.shared.b64 [memory+512], 1;\n\
                MORE: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%from], 16, [memory+512];\n\
                sub.u32 %r4, %r4, 1; setp.ne.u32 %p, %r4, 0; @%p bra MORE;";
    assert_eq!(kind(run(body).unwrap_err()), Kind::BadBarrier);
}

fn kind(fault: Fault) -> Kind {
    match fault {
        Fault::Finding(finding) => finding.kind,
        fault => panic!("{fault}"),
    }
}

#[test]
fn copies_are_checked_when_they_are_issued() {
    let cases = [
        (
            "cp.async.cg.shared.global [%to], [%from+16], 16;",
            Kind::OutOfBounds,
        ),
        (
            "cp.async.cg.shared.global [%to+528], [%from], 16;",
            Kind::OutOfBounds,
        ),
        (
            "cp.async.ca.shared.global [%to], [%from+4], 8;",
            Kind::Misaligned,
        ),
        (
            "cp.async.ca.shared.global [%to+4], [%from], 8;",
            Kind::Misaligned,
        ),
        (
            "mov.u32 %r0, 9; cp.async.ca.shared.global [%to], [%from], 8, %r0;",
            Kind::OutOfBounds,
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%out+16], [%to], 16;",
            Kind::OutOfBounds,
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%out], [%to], 1024;",
            Kind::OutOfBounds,
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%out], [%to], 8;",
            Kind::Misaligned,
        ),
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%from], 528, [memory];",
            Kind::OutOfBounds,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(kind(run(text).unwrap_err()), expected, "{text}");
    }
}

#[test]
fn bulk_copies_read_when_they_are_waited_for() {
    let copy = "st.shared.b32 [%to], 1;\n\
                cp.async.bulk.global.shared::cta.bulk_group [%out], [%to], 16;\n\
                cp.async.bulk.commit_group;\n";
    let word = |lines: &str| run(&format!("{copy}{lines}")).unwrap()[4];
    // When the thread leaves at the latest.
    assert_eq!(word(""), 1);
    assert_eq!(word("st.shared.b32 [%to], 2;"), 2);
    assert_eq!(
        word("cp.async.bulk.wait_group.read 0;\nst.shared.b32 [%to], 2;"),
        1
    );
    assert_eq!(
        word("cp.async.bulk.wait_group.read 1;\nst.shared.b32 [%to], 2;"),
        2
    );
    // It is written once that is waited for.
    let seen = |wait: &str| {
        let text = format!(
            "st.shared.b32 [%to+512], 1;\nmov.u32 %r1, %to; add.u32 %r1, %r1, 512;\n\
             cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16;\n\
             cp.async.bulk.commit_group;\n{wait}\nld.global.b32 %r0, [%out];\n\
             cp.async.bulk.wait_group 0;\nst.global.b32 [%out+4], %r0;"
        );
        run(&text).unwrap()[1]
    };
    assert_eq!(seen("cp.async.bulk.wait_group.read 0;"), 7);
    assert_eq!(seen("cp.async.bulk.wait_group 0;"), 1);
}

#[test]
fn reductions_of_every_type() {
    // Lane 0 reduces 16 bytes into the first of what comes back, which holds sevens.
    let reduce = |form: &str, value: &str| {
        let text = format!(
            "mov.b64 %x, {value}; setp.eq.u32 %p, %t, 0;\nst.shared.b64 [%to], %x; st.shared.b64 [%to+8], %x;\n\
             @%p cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [%out], [%to], 16;"
        );
        let found = run(&text).unwrap();
        u64::from(found[3]) << 32 | u64::from(found[2])
    };
    let sevens = 0x0000_0007_0000_0007_u64;
    assert_eq!(
        reduce("add.u32", "0x00000002ffffffff"),
        0x0000_0009_0000_0006
    );
    assert_eq!(
        reduce("add.u64", "0x00000002ffffffff"),
        sevens + 0x0000_0002_ffff_ffff
    );
    assert_eq!(
        reduce("and.b32", "0x0000000500000003"),
        0x0000_0005_0000_0003
    );
    assert_eq!(
        reduce("or.b64", "0x0000001000000008"),
        0x0000_0017_0000_000f
    );
    assert_eq!(
        reduce("xor.b32", "0x0000001000000001"),
        0x0000_0017_0000_0006
    );
    assert_eq!(
        reduce("min.s32", "0xffffffff00000008"),
        0xffff_ffff_0000_0007
    );
    assert_eq!(
        reduce("max.u32", "0xffffffff00000003"),
        0xffff_ffff_0000_0007
    );
    assert_eq!(
        reduce("inc.u32", "0x0000000700000008"),
        0x0000_0000_0000_0008
    );
    assert_eq!(
        reduce("dec.u32", "0x0000000600000008"),
        0x0000_0006_0000_0006
    );
    // 1.0, to which the least subnormal numbers add nothing.
    assert_eq!(
        reduce("add.f32", "0x3f8000003f800000"),
        0x3f80_0000_3f80_0000
    );
    assert_eq!(
        reduce("add.noftz.f16", "0x3c0000003c003c00"),
        0x3c00_0007_3c00_3c00
    );
    assert_eq!(
        reduce("min.bf16", "0xbf80000000000000"),
        0xbf80_0000_0000_0000
    );
}
