//! `ldmatrix`, `stmatrix` and `movmatrix`, and instructions that a whole warp must execute.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;
use gpuk_sim::{Fault, Kind};

/// Copies 512 bytes from `pi` to shared memory, does `body` with the address of lane `l`'s row of 16 bytes in `%row`,
/// and copies the registers `%r0` to `%r3` of each lane, then 512 bytes of shared memory, to `po`.
fn kernel(body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 pi, .param .u64 po) {{\n\
         .reg .b64 %i, %o; .reg .b32 %t, %row, %r<4>, %s<4>; .reg .pred %p;\n\
         .shared .align 16 .b8 tile[512];\n\
         ld.param.u64 %i, [pi]; ld.param.u64 %o, [po]; mov.u32 %t, %tid.x;\n\
         mad.wide.u32 %i, %t, 16, %i; mad.wide.u32 %o, %t, 16, %o;\n\
         mov.u32 %row, tile; mad.lo.u32 %row, %t, 16, %row;\n\
         ld.global.v4.b32 {{%s0, %s1, %s2, %s3}}, [%i];\n\
         st.shared.v4.b32 [%row], {{%s0, %s1, %s2, %s3}};\n\
         mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;\n\
         bar.sync 0;\n{body}\nbar.sync 0;\n\
         st.global.v4.b32 [%o], {{%r0, %r1, %r2, %r3}};\n\
         ld.shared.v4.b32 {{%s0, %s1, %s2, %s3}}, [%row];\n\
         st.global.v4.b32 [%o+512], {{%s0, %s1, %s2, %s3}};\nret;\n}}\n"
    )
}

/// Element `column` of row `row` of the matrix that is stored there, four matrices one after the other.
fn input() -> Vec<u16> {
    (0..256).map(|at| at * 251 + 17).collect()
}

/// What the lanes have in four registers, and what is in shared memory afterwards.
fn run(body: &str) -> (Vec<[u32; 4]>, Vec<u16>) {
    let sim = Sim::new(&kernel(body));
    let (from, to) = (sim.upload(&input()), sim.upload(&[0_u8; 1024]));
    sim.launch("k", [1, 1, 1], [32, 1, 1], args![from, to])
        .unwrap();
    let registers = sim.download::<u32>(to, 128);
    let registers = registers.chunks(4).map(|lane| lane.try_into().unwrap());
    (registers.collect(), sim.download::<u16>(to + 512, 256))
}

fn pair(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// The pair that a lane holds of a matrix.
fn held(matrix: usize, lane: usize, transposed: bool) -> u32 {
    let all = input();
    let at = |row: usize, column: usize| all[64 * matrix + 8 * row + column];
    let (g, t) = (lane / 4, 2 * (lane % 4));
    if transposed {
        pair(at(t, g), at(t + 1, g))
    } else {
        pair(at(g, t), at(g, t + 1))
    }
}

#[test]
fn loads_of_one_two_and_four_matrices() {
    for (count, list) in [(1, "%r0"), (2, "%r0, %r1"), (4, "%r0, %r1, %r2, %r3")] {
        for trans in ["", ".trans"] {
            let (registers, _) = run(&format!(
                "ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{list}}}, [%row];"
            ));
            for (lane, found) in registers.into_iter().enumerate() {
                let expected = [0, 1, 2, 3].map(|matrix| match matrix {
                    matrix if matrix < count => held(matrix, lane, !trans.is_empty()),
                    _ => 0,
                });
                assert_eq!(found, expected, "x{count}{trans} lane {lane}");
            }
        }
    }
}

#[test]
fn rows_are_where_lanes_say() {
    // Every lane gives the row of the lane opposite.
    let (registers, _) = run("xor.b32 %row, %row, 496;\n\
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%row];\n\
         xor.b32 %row, %row, 496;");
    let all = input();
    for (lane, found) in registers.into_iter().enumerate() {
        for (matrix, found) in found.into_iter().enumerate() {
            let row = 31 - (8 * matrix + lane / 4);
            let at = 8 * row + 2 * (lane % 4);
            assert_eq!(found, pair(all[at], all[at + 1]));
        }
    }
}

#[test]
fn what_is_loaded_and_stored_again() {
    for (first, second) in [
        ("", ""),
        (".trans", ".trans"),
        ("", ".trans"),
        (".trans", ""),
    ] {
        let (_, shared) = run(&format!(
            "ldmatrix.sync.aligned.m8n8.x4{first}.shared.b16 {{%r0, %r1, %r2, %r3}}, [%row];\n\
             stmatrix.sync.aligned.m8n8.x4{second}.shared.b16 [%row], {{%r0, %r1, %r2, %r3}};"
        ));
        let all = input();
        let expected: Vec<u16> = (0..256)
            .map(|at| match first == second {
                true => all[at],
                false => all[at / 64 * 64 + at % 8 * 8 + at / 8 % 8],
            })
            .collect();
        assert_eq!(shared, expected, "{first} {second}");
    }
}

#[test]
fn a_matrix_in_registers_transposed() {
    let (registers, _) = run(
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%row];\n\
         movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;",
    );
    for (lane, found) in registers.into_iter().enumerate() {
        assert_eq!(found[2], held(1, lane, true));
    }
}

fn fault(body: &str, threads: u32) -> Fault {
    let sim = Sim::new(&kernel(body));
    let (from, to) = (sim.upload(&input()), sim.upload(&[0_u8; 1024]));
    sim.launch("k", [1, 1, 1], [threads, 1, 1], args![from, to])
        .unwrap_err()
}

fn kind(fault: Fault) -> Kind {
    match fault {
        Fault::Finding(finding) => finding.kind,
        fault => panic!("{fault}"),
    }
}

#[test]
fn rows_outside_and_rows_askew() {
    let load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%row+16];";
    assert_eq!(kind(fault(load, 32)), Kind::OutOfBounds);
    let load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%row+8];";
    assert_eq!(kind(fault(load, 32)), Kind::Misaligned);
    // The other lanes' addresses mean nothing.
    let (registers, _) = run("setp.ge.u32 %p, %t, 8; @%p mov.b32 %row, 12345;\n\
         ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%row];\n\
         mov.u32 %row, tile; mad.lo.u32 %row, %t, 16, %row;");
    assert_eq!(registers[5][0], held(0, 5, false));
}

#[test]
fn all_lanes_are_wanted() {
    let load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%row];";
    // A block of half a warp.
    assert_eq!(kind(fault(load, 16)), Kind::BadMask);
    // Half of the lanes leave.
    let gone = format!("setp.ge.u32 %p, %t, 16; @%p exit;\n{load}");
    assert_eq!(kind(fault(&gone, 32)), Kind::BadMask);
    // Half of the lanes wait elsewhere.
    let skipped = format!("setp.ge.u32 %p, %t, 16;\n@%p {load}");
    let text = fault(&skipped, 32).to_string();
    assert!(text.contains("for the other lanes of the warp"), "{text}");
    // Lanes that come late are waited for.
    let (registers, _) = run(&format!(
        "setp.lt.u32 %p, %t, 16; @!%p bra MEET;\nmov.u32 %s0, 5000;\n\
         SPIN: sub.u32 %s0, %s0, 1; setp.ne.u32 %p, %s0, 0; @%p bra SPIN;\n\
         MEET: {load}"
    ));
    assert_eq!(registers[31][0], held(0, 31, false));
}
