//! Loads, stores and atomic operations of every width in every space, and what happens at the edges.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;
use gpuk_sim::{Fault, Kind, Launch, MemoryKind, Options, OutOfBounds};

const HEAD: &str = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A kernel of one warp that has `%rd1` for its first parameter and `%rd2` for its second.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 a, .param .u64 b)\n{{\n\
         .reg .pred %p<8>; .reg .b16 %rs<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<8>;\n\
         .reg .f64 %fd<4>; .shared .align 16 .b8 sh[1024]; .local .align 16 .b8 lo[64];\n\
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;\n\
         {body}\nret;\n}}\n"
    )
}

fn run(body: &str, input: &[u8], output: usize) -> Vec<u8> {
    let sim = Sim::new(&kernel(body));
    let (a, b) = (sim.upload(input), sim.upload(&vec![0_u8; output]));
    if let Err(fault) = sim.launch("k", [1, 1, 1], [32, 1, 1], args![a, b]) {
        panic!("{body}: {fault}");
    }
    sim.download(b, output)
}

#[test]
fn every_width_extends_to_every_register() {
    let input: Vec<u8> = (0..32 * 16).map(|i| (i * 37 + 11) as u8).collect();
    for (ty, bytes, signed) in [
        ("u8", 1, false),
        ("s8", 1, true),
        ("b8", 1, false),
        ("u16", 2, false),
        ("s16", 2, true),
        ("u32", 4, false),
        ("s32", 4, true),
        ("f32", 4, false),
        ("u64", 8, false),
        ("b64", 8, false),
    ] {
        for (register, width) in [("%rs1", 2), ("%r2", 4), ("%rd3", 8)] {
            if width < bytes || ty == "f32" && width != 4 {
                continue;
            }
            let body = format!(
                "mul.wide.u32 %rd4, %r1, {bytes}; add.s64 %rd5, %rd1, %rd4;\n\
                 ld.global.{ty} {register}, [%rd5];\n\
                 mul.wide.u32 %rd6, %r1, {width}; add.s64 %rd7, %rd2, %rd6;\n\
                 st.global.b{} [%rd7], {register};",
                width * 8
            );
            let found = run(&body, &input, 32 * width);
            for lane in 0..32 {
                let mut value = [0; 8];
                value[..bytes].copy_from_slice(&input[lane * bytes..][..bytes]);
                let above = 64 - 8 * bytes as u32;
                let value = u64::from_le_bytes(value);
                let value = if signed {
                    ((value << above) as i64 >> above) as u64
                } else {
                    value
                };
                let expected = &value.to_le_bytes()[..width];
                assert_eq!(&found[lane * width..][..width], expected, "{ty} {register}");
            }
        }
    }
}

#[test]
fn vectors_and_narrow_stores() {
    let input: Vec<u8> = (0..32 * 32).map(|i| (i * 7) as u8).collect();
    // Sixteen bytes a lane, by the words of their types.
    for (load, store) in [
        (
            "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd5];",
            "st.global.v4.b32 [%rd7], {%r2, %r3, %r4, %r5};",
        ),
        (
            "ld.global.v2.b64 {%rd10, %rd11}, [%rd5];",
            "st.global.v2.u64 [%rd7], {%rd10, %rd11};",
        ),
        (
            "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];",
            "st.global.v2.f32 [%rd7], {%f1, %f2}; st.global.v2.f32 [%rd7+8], {%f3, %f4};",
        ),
        (
            "{ .reg .b128 q; ld.global.b128 q, [%rd5]; mov.b128 {%rd10, %rd11}, q; }",
            "{ .reg .b128 q; mov.b128 q, {%rd10, %rd11}; st.global.b128 [%rd7], q; }",
        ),
        (
            "ld.global.L1::no_allocate.L2::128B.v2.u64 {%rd10, %rd11}, [%rd5];",
            "st.global.cs.v2.u64 [%rd7], {%rd10, %rd11};",
        ),
        (
            "ld.volatile.global.u64 %rd10, [%rd5]; ld.relaxed.gpu.global.u64 %rd11, [%rd5+8];",
            "st.release.sys.global.u64 [%rd7], %rd10; st.weak.global.u64 [%rd7+8], %rd11;",
        ),
    ] {
        let body = format!(
            "mul.wide.u32 %rd4, %r1, 16; add.s64 %rd5, %rd1, %rd4; add.s64 %rd7, %rd2, %rd4;\n\
             {load}\n{store}"
        );
        assert_eq!(run(&body, &input, 512), &input[..512], "{load}");
    }
    // Bytes and halves of wider registers; negative offsets; a sink.
    let body = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd7, %rd2, %rd4;\n\
        ld.global.v4.u8 {%rs1, %rs2, _, %rs4}, [%rd5]; ld.global.u8 %r5, [%rd5+2];\n\
        add.s64 %rd8, %rd7, 100; cvt.u64.u16 %rd9, %rs2;\n\
        st.global.u8 [%rd7], %rs1; st.global.b8 [%rd8+-99], %rd9;\n\
        st.global.b8 [%rd7+2], %r5; st.global.u8 [%rd7+3], %rs4;";
    assert_eq!(run(body, &input, 128), &input[..128]);
}

#[test]
fn shared_local_and_generic() {
    let input: Vec<u8> = (0..128).map(|i| i as u8 + 1).collect();
    // Through shared memory, each lane reading what another wrote.
    let body = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd7, %rd2, %rd4;\n\
        ld.global.u32 %r2, [%rd5]; mov.u32 %r3, sh; shl.b32 %r4, %r1, 2; add.s32 %r5, %r3, %r4;\n\
        st.shared.u32 [%r5], %r2; bar.sync 0; xor.b32 %r6, %r4, 124; add.s32 %r7, %r3, %r6;\n\
        ld.shared.u32 %r8, [%r7]; st.global.u32 [%rd7], %r8;";
    let reversed: Vec<u8> = input.chunks(4).rev().flatten().copied().collect();
    assert_eq!(run(body, &input, 128), reversed);
    // The same by generic addresses, for half of the lanes in local memory.
    let body = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd7, %rd2, %rd4;\n\
        ld.u32 %r2, [%rd5]; mov.u64 %rd8, sh; cvta.shared.u64 %rd9, %rd8;\n\
        add.s64 %rd10, %rd9, %rd4; mov.u64 %rd11, lo; cvta.local.u64 %rd12, %rd11;\n\
        and.b64 %rd13, %rd4, 60; add.s64 %rd14, %rd12, %rd13; setp.lt.u32 %p1, %r1, 16;\n\
        selp.b64 %rd15, %rd10, %rd14, %p1; st.u32 [%rd15], %r2; ld.u32 %r3, [%rd15];\n\
        isspacep.shared %p2, %rd15; isspacep.local %p3, %rd15; isspacep.global %p4, %rd5;\n\
        xor.pred %p5, %p1, %p2; xor.pred %p6, %p1, %p3; not.pred %p7, %p4;\n\
        @%p5 mov.u32 %r3, 0; @!%p6 mov.u32 %r3, 0; @%p7 mov.u32 %r3, 0;\n\
        cvta.to.shared.u64 %rd16, %rd10; setp.eq.u64 %p2, %rd16, %rd8; setp.ne.u32 %p3, %r1, 0;\n\
        xor.pred %p2, %p2, %p3; @!%p2 mov.u32 %r3, 0; st.u32 [%rd7], %r3;";
    assert_eq!(run(body, &input, 128), input);
    // Bytes of local memory at an address that differs by lane.
    let body = "mov.u64 %rd3, lo; cvt.u64.u32 %rd4, %r1; add.s64 %rd5, %rd3, %rd4;\n\
        st.local.v4.u32 [lo], {0, 0, 0, 0}; st.local.v4.u32 [lo+16], {0, 0, 0, 0};\n\
        st.local.u8 [%rd5], 7; ld.local.u64 %rd6, [lo+8]; shl.b64 %rd7, %rd4, 3;\n\
        add.s64 %rd8, %rd2, %rd7; st.global.u64 [%rd8], %rd6;";
    let found = run(body, &input, 256);
    for lane in 0..32 {
        let mut expected = [0; 8];
        if (8..16).contains(&lane) {
            expected[lane - 8] = 7;
        }
        assert_eq!(&found[8 * lane..][..8], expected);
    }
}

#[test]
fn constants_and_initialisers() {
    let text = format!(
        "{HEAD}.visible .const .align 4 .b32 c[4] = {{10, 20, 30, 40}};\n\
         .visible .global .align 8 .f64 d = 0d3FF8000000000000;\n\
         .visible .global .align 4 .b8 g[8] = {{1, 2, 3}};\n\
         .visible .global .align 8 .u64 p[3] = {{c+4, generic(g), 0}};\n\
         .global .align 1 .b8 m[4] = {{0xFF(g), 0xFF00(g), 0xFF0000(g), 0xFF000000(g)}};\n\
         .visible .entry k(.param .u64 a)\n{{\n\
         .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f64 %fd<2>;\n\
         ld.param.u64 %rd1, [a]; ld.global.u64 %rd2, [p]; ld.const.u32 %r1, [%rd2+8];\n\
         ld.const.u32 %r2, [c]; ld.global.u64 %rd3, [p+8]; ld.global.u8 %r3, [%rd3+2];\n\
         ld.global.f64 %fd1, [d]; mov.u64 %rd4, g; ld.global.u32 %r4, [m];\n\
         cvt.u32.u64 %r5, %rd4; sub.u32 %r4, %r4, %r5;\n\
         st.global.v4.u32 [%rd1], {{%r1, %r2, %r3, %r4}}; st.global.f64 [%rd1+16], %fd1; ret;\n}}\n"
    );
    let sim = Sim::new(&text);
    let out = sim.upload(&[0_u8; 24]);
    sim.launch("k", [1, 1, 1], [1, 1, 1], args![out]).unwrap();
    assert_eq!(sim.download::<u32>(out, 4), [40, 10, 3, 0]);
    assert_eq!(sim.download::<f64>(out + 16, 1), [1.5]);
    // The host sees the variables too.
    let (address, bytes) = sim.module.global("c").unwrap();
    assert_eq!(bytes, 16);
    let twenty = sim.download::<u32>(address + 4, 1);
    assert_eq!(twenty, [20]);
    sim.device
        .memory()
        .write(address, &5_u32.to_le_bytes())
        .unwrap();
    sim.launch("k", [1, 1, 1], [1, 1, 1], args![out]).unwrap();
    assert_eq!(sim.download::<u32>(out, 2)[1], 5);
}

#[test]
fn atomics_of_every_kind() {
    // What is there, what comes, what is there then; the old value comes back.
    let cases: &[(&str, u64, &str, u64)] = &[
        ("add.u32", 5, "7", 12),
        ("add.s32", 5, "-7", (-2_i32) as u32 as u64),
        ("add.u64", u64::MAX, "3", 2),
        ("exch.b32", 5, "9", 9),
        ("exch.b64", 5, "9", 9),
        ("and.b32", 0xff, "0x3c", 0x3c),
        ("or.b64", 0xf0, "0x0f", 0xff),
        ("xor.b32", 0xff, "0x0f", 0xf0),
        ("min.u32", 5, "3", 3),
        ("max.u32", 5, "0xffffffff", 0xffff_ffff),
        ("min.s32", 5, "-3", (-3_i32) as u32 as u64),
        ("max.s32", 5, "-3", 5),
        ("min.s64", 5, "-3", (-3_i64) as u64),
        ("max.u64", 5, "6", 6),
        ("inc.u32", 5, "5", 0),
        ("inc.u32", 4, "5", 5),
        ("dec.u32", 0, "5", 5),
        ("dec.u32", 9, "5", 5),
        ("dec.u32", 3, "5", 2),
        (
            "add.f32",
            1.5_f32.to_bits() as u64,
            "0f40000000",
            3.5_f32.to_bits() as u64,
        ),
        (
            "add.f64",
            1.5_f64.to_bits(),
            "0d4000000000000000",
            3.5_f64.to_bits(),
        ),
        ("add.noftz.f16x2", 0x3c00_4000, "0x3c003c00", 0x4000_4200),
        ("add.noftz.bf16x2", 0x3f80_4000, "0x3f803f80", 0x4000_4040),
        ("add.noftz.f16", 0x4000, "%rs1", 0x4200),
        ("cas.b32", 5, "5, 8", 8),
        ("cas.b32", 5, "6, 8", 5),
        ("cas.b64", 5, "5, 8", 8),
        ("cas.b16", 5, "5, 8", 8),
    ];
    for (op, before, operands, after) in cases {
        let (register, bytes) = match op.rsplit_once('.').unwrap().1 {
            "b16" | "f16" => ("%rs2", 2),
            "f32" => ("%f1", 4),
            "f64" => ("%fd1", 8),
            "u64" | "s64" | "b64" => ("%rd3", 8),
            _ => ("%r2", 4),
        };
        for space in ["global", "shared", ""] {
            let dot = if space.is_empty() { "" } else { "." };
            let (setup, at, back) = if space == "shared" {
                (
                    "ld.global.b64 %rd9, [%rd1]; st.shared.b64 [sh], %rd9;".to_owned(),
                    "[sh]",
                    "ld.shared.b64 %rd9, [sh]; st.global.b64 [%rd1], %rd9;",
                )
            } else {
                (String::new(), "[%rd1]", "")
            };
            let body = format!(
                "mov.b16 %rs1, 0x3c00; {setup} setp.eq.u32 %p1, %r1, 3;\n\
                 @%p1 atom{dot}{space}.{op} {register}, {at}, {operands};\n\
                 @%p1 st.global.b{} [%rd2], {register}; {back}",
                8 * bytes
            );
            let sim = Sim::new(&kernel(&body));
            let (a, b) = (sim.upload(&[*before]), sim.upload(&[0_u64]));
            sim.launch("k", [1, 1, 1], [32, 1, 1], args![a, b]).unwrap();
            assert_eq!(sim.download::<u64>(a, 1), [*after], "{op} {space}");
            assert_eq!(sim.download::<u64>(b, 1), [*before], "{op} {space}");
        }
    }
}

#[test]
fn atomics_of_all_threads() {
    let body = "atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd3, %r2, 4;\n\
        add.s64 %rd4, %rd2, %rd3; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 32, %r1;\n\
        st.global.u32 [%rd4], %r4; red.global.max.u32 [%rd1+4], %r4;\n\
        red.global.add.f32 [%rd1+8], 0f3F800000;";
    let sim = Sim::new(&kernel(body));
    let (a, b) = (sim.upload(&[0_u32; 3]), sim.upload(&vec![0_u32; 3200]));
    sim.launch("k", [100, 1, 1], [32, 1, 1], args![a, b])
        .unwrap();
    let [count, highest, sum] = *sim.download::<u32>(a, 3) else {
        panic!()
    };
    assert_eq!((count, highest, f32::from_bits(sum)), (3200, 3199, 3200.0));
    let mut threads = sim.download::<u32>(b, 3200);
    threads.sort_unstable();
    assert!(threads.iter().copied().eq(0..3200));
}

#[test]
fn vectors_of_atomics() {
    let body = "setp.eq.u32 %p1, %r1, 0;\n\
        @%p1 atom.global.v2.f32.add {%f1, %f2}, [%rd1], {0f3F800000, 0f40000000};\n\
        @%p1 st.global.v2.f32 [%rd2], {%f1, %f2};";
    let sim = Sim::new(&kernel(&body.replace(".v2.f32.add", ".add.v2.f32")));
    let (a, b) = (sim.upload(&[1.0_f32, 10.0]), sim.upload(&[0.0_f32; 2]));
    sim.launch("k", [1, 1, 1], [32, 1, 1], args![a, b]).unwrap();
    assert_eq!(sim.download::<f32>(a, 2), [2.0, 12.0]);
    assert_eq!(sim.download::<f32>(b, 2), [1.0, 10.0]);
}

/// The finding that ends a launch of the body with two arrays of 128 bytes.
fn finding(body: &str) -> (Kind, String, u32) {
    let sim = Sim::new(&kernel(body));
    let (a, b) = (sim.upload(&[0_u8; 128]), sim.upload(&[0_u8; 128]));
    let fault = sim
        .launch("k", [1, 1, 1], [32, 1, 1], args![a, b])
        .unwrap_err();
    let Fault::Finding(found) = fault else {
        panic!("{fault}")
    };
    let base = format!("{:#x}", a);
    (
        found.kind,
        found.text.replace(&base, "BASE"),
        found.thread.thread[0],
    )
}

#[test]
fn past_the_end_and_before_the_start() {
    let at = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4;";
    let (kind, text, thread) = finding(&format!("{at} ld.global.u32 %r2, [%rd5+4];"));
    assert_eq!((kind, thread), (Kind::OutOfBounds, 31));
    assert!(
        text.ends_with("right past the end of an allocation"),
        "{text}"
    );
    let (kind, text, thread) = finding(&format!("{at} st.global.u32 [%rd5+-8], 0;"));
    assert_eq!((kind, thread), (Kind::OutOfBounds, 0));
    assert!(text.ends_with("8 bytes before an allocation"), "{text}");
    let (kind, text, _) = finding(&format!(
        "{at} ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd1+120];"
    ));
    assert_eq!(kind, Kind::Misaligned);
    assert!(text.contains("16"), "{text}");
    let (kind, text, thread) =
        finding("mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd1, %rd4; ld.global.u64 %rd6, [%rd5];");
    assert_eq!((kind, thread), (Kind::OutOfBounds, 16));
    assert!(text.contains("right past the end"), "{text}");
    let (kind, text, _) = finding("ld.global.u32 %r2, [16];");
    assert_eq!(kind, Kind::OutOfBounds);
    assert!(text.ends_with("through a null pointer"), "{text}");
    let (kind, ..) = finding("mov.u32 %r2, 1022; ld.shared.u32 %r3, [%r2];");
    assert_eq!(kind, Kind::Misaligned);
    let (kind, text, _) = finding("mov.u32 %r2, sh; ld.shared.u32 %r3, [%r2+1024];");
    assert_eq!(kind, Kind::OutOfBounds);
    assert!(text.contains("the block has 1024 bytes"), "{text}");
    let (kind, ..) = finding("mov.u64 %rd3, lo; ld.local.u32 %r3, [%rd3+64];");
    assert_eq!(kind, Kind::OutOfBounds);
    let (kind, ..) = finding("atom.global.add.u32 %r2, [%rd1+128], 1;");
    assert_eq!(kind, Kind::OutOfBounds);
    let (kind, ..) = finding("mov.u64 %rd3, lo; cvta.local.u64 %rd3, %rd3; red.add.u32 [%rd3], 1;");
    assert_eq!(kind, Kind::WrongSpace);
}

#[test]
fn constants_cannot_be_written_and_freed_memory_is_gone() {
    let text = kernel("mov.u64 %rd5, c; st.global.u32 [%rd5], 1;")
        .replace(".visible .entry", ".const .b32 c = 5;\n.visible .entry");
    let sim = Sim::new(&text);
    let fault = sim
        .launch("k", [1, 1, 1], [1, 1, 1], args![0_u64, 0_u64])
        .unwrap_err();
    let Fault::Finding(found) = &fault else {
        panic!("{fault}")
    };
    assert_eq!((found.kind, fault.code()), (Kind::WriteToReadOnly, 700));

    let sim = Sim::new(&kernel("ld.global.u32 %r2, [%rd1+4];"));
    let a = sim.upload(&[0_u32; 4]);
    sim.device.memory().free(a).unwrap();
    let fault = sim
        .launch("k", [1, 1, 1], [1, 1, 1], args![a, 0_u64])
        .unwrap_err();
    let Fault::Finding(found) = &fault else {
        panic!("{fault}")
    };
    assert_eq!(found.kind, Kind::UseAfterFree);
    assert_eq!(
        found
            .allocation
            .as_ref()
            .map(|near| (near.address, near.bytes)),
        Some((a, 16))
    );
}

#[test]
fn accesses_outside_can_give_zero() {
    let body = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd7, %rd2, %rd4;\n\
        mov.u32 %r2, 9; ld.global.u32 %r2, [%rd5]; st.global.u32 [%rd7], %r2;\n\
        st.global.u32 [%rd5], 5;";
    let options = Options {
        out_of_bounds: OutOfBounds::Zero,
        ..Options::default()
    };
    let sim = Sim::with(&kernel(body), options);
    let (a, b) = (sim.upload(&[7_u32; 20]), sim.upload(&[1_u32; 32]));
    let report = sim.launch("k", [1, 1, 1], [32, 1, 1], args![a, b]).unwrap();
    assert_eq!(
        sim.download::<u32>(b, 32),
        [[7; 20].as_slice(), &[0; 12]].concat()
    );
    assert_eq!(sim.download::<u32>(a, 20), [5; 20]);
    assert_eq!(report.findings.len(), 24);
    assert_eq!(report.findings[0].thread.thread, [20, 0, 0]);
}

#[test]
fn dynamic_shared_memory_begins_after_the_static() {
    let text = kernel(
        "mov.u32 %r2, dyn; mov.u32 %r3, sh; sub.u32 %r4, %r2, %r3; st.global.u32 [%rd1], %r4;\n\
         mov.u32 %r5, %dynamic_smem_size; add.u32 %r6, %r2, %r5; st.shared.u32 [%r6+-4], 1;\n\
         mov.u32 %r7, %total_smem_size; st.global.u32 [%rd1+4], %r7;",
    )
    .replace(
        ".visible .entry",
        ".extern .shared .align 16 .b8 dyn[];\n.visible .entry",
    );
    let sim = Sim::new(&text);
    let a = sim.upload(&[0_u32; 2]);
    let launch = Launch {
        shared: 400,
        ..Launch::new([1, 1, 1], [1, 1, 1], Vec::new())
    };
    sim.launch_with("k", launch, args![a, 0_u64]).unwrap();
    assert_eq!(sim.download::<u32>(a, 2), [1024, 1424]);
    assert_eq!(sim.module.function("k").unwrap().static_shared(), 1024);
}

#[test]
fn host_memory_and_the_heap() {
    // Mapped memory has the host's address.
    let sim = Sim::new(&kernel("st.global.u32 [%rd1], 42;"));
    let address = sim.device.memory().alloc(4, MemoryKind::Mapped).unwrap();
    sim.launch("k", [1, 1, 1], [1, 1, 1], args![address, 0_u64])
        .unwrap();
    // SAFETY: the allocation is live and four bytes long.
    #[expect(unsafe_code, reason = "the host reads what the kernel wrote")]
    let found = unsafe { (address as *const u32).read_volatile() };
    assert_eq!(found, 42);

    // A list in memory from `malloc`, and leaving it.
    let call = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd10;\n\
        call.uni (r), malloc, (n); ld.param.b64 %rd11, [r]; }";
    let free = "{ .param .b64 n; st.param.b64 [n], %rd11; call.uni free, (n); }";
    let body = format!(
        "mov.u64 %rd10, 24; {call} cvt.u64.u32 %rd12, %r1; st.u64 [%rd11+16], %rd12;\n\
         ld.u64 %rd13, [%rd11+16]; shl.b64 %rd14, %rd12, 3; add.s64 %rd15, %rd1, %rd14;\n\
         st.global.u64 [%rd15], %rd13; {free}"
    );
    let text = kernel(&body).replace(
        ".visible .entry",
        ".extern .func (.param .b64 r) malloc (.param .b64 n);\n\
         .extern .func free (.param .b64 p);\n.visible .entry",
    );
    let sim = Sim::new(&text);
    let a = sim.upload(&[99_u64; 32]);
    let before = sim.device.memory().live().len();
    sim.launch("k", [1, 1, 1], [32, 1, 1], args![a, 0_u64])
        .unwrap();
    assert!(sim.download::<u64>(a, 32).into_iter().eq(0..32));
    assert_eq!(sim.device.memory().live().len(), before);

    let sim = Sim::new(&text.replace("st.u64 [%rd11+16]", "st.u64 [%rd11+24]"));
    let a = sim.upload(&[99_u64; 32]);
    let fault = sim
        .launch("k", [1, 1, 1], [32, 1, 1], args![a, 0_u64])
        .unwrap_err();
    assert_eq!(fault.code(), 700);
    let sim = Sim::new(&text.replace("st.param.b64 [n], %rd11", "st.param.b64 [n], %rd1"));
    let a = sim.upload(&[99_u64; 32]);
    let fault = sim
        .launch("k", [1, 1, 1], [32, 1, 1], args![a, 0_u64])
        .unwrap_err();
    assert!(matches!(fault, Fault::Finding(found) if found.kind == Kind::BadFree));
}

#[test]
fn parameters_by_generic_address() {
    let body = "mov.b64 %rd5, a; cvta.param.u64 %rd6, %rd5; ld.u64 %rd7, [%rd6+8];\n\
        ld.param.u64 %rd8, [%rd5]; sub.s64 %rd9, %rd7, %rd8; st.global.u64 [%rd1], %rd9;";
    let sim = Sim::new(&kernel(body));
    let a = sim.upload(&[0_u64]);
    sim.launch("k", [1, 1, 1], [1, 1, 1], args![a, a + 77])
        .unwrap();
    assert_eq!(sim.download::<u64>(a, 1), [77]);
}

#[test]
fn sixteen_bytes_at_once() {
    let body = "setp.eq.u32 %p1, %r1, 0; @!%p1 ret; { .reg .b128 x, y, z; mov.b128 x, {1, 2};\n\
        mov.b128 y, {7, 8}; atom.global.cas.b128 z, [%rd1], x, y; st.global.b128 [%rd2], z;\n\
        atom.global.exch.b128 z, [%rd1+16], y; st.global.b128 [%rd2+16], z; }";
    let sim = Sim::new(&kernel(body));
    let (a, b) = (sim.upload(&[1_u64, 2, 3, 4]), sim.upload(&[0_u64; 4]));
    sim.launch("k", [1, 1, 1], [32, 1, 1], args![a, b]).unwrap();
    assert_eq!(sim.download::<u64>(a, 4), [7, 8, 7, 8]);
    assert_eq!(sim.download::<u64>(b, 4), [1, 2, 3, 4]);
}

#[test]
fn memory_from_the_stack() {
    // Each lane takes as much as its number, and a word more, twice; then gives it back.
    let body = "stacksave.u64 %rd20; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd4, %rd4, 4;\n\
        alloca.u64 %rd5, %rd4, 16; alloca.u64 %rd6, %rd4, 4;\n\
        st.local.u32 [%rd5], %r1; add.u32 %r3, %r1, 100; st.local.u32 [%rd6], %r3;\n\
        ld.local.u32 %r4, [%rd5]; ld.local.u32 %r5, [%rd6]; add.u32 %r6, %r4, %r5;\n\
        and.b64 %rd7, %rd5, 15; cvt.u32.u64 %r7, %rd7; add.u32 %r6, %r6, %r7;\n\
        stackrestore.u64 %rd20; stacksave.u64 %rd21; sub.s64 %rd8, %rd21, %rd20;\n\
        cvt.u32.u64 %r8, %rd8; add.u32 %r6, %r6, %r8;\n\
        mul.wide.u32 %rd9, %r1, 4; add.s64 %rd10, %rd2, %rd9; st.global.u32 [%rd10], %r6;";
    let found = run(body, &[0; 8], 128);
    for (lane, word) in found.chunks(4).enumerate() {
        assert_eq!(
            u32::from_le_bytes(word.try_into().unwrap()),
            2 * lane as u32 + 100
        );
    }
    let sim = Sim::new(&kernel("alloca.u64 %rd5, 1000000000;"));
    let fault = sim
        .launch("k", [1, 1, 1], [32, 1, 1], args![0_u64, 0_u64])
        .unwrap_err();
    assert!(matches!(fault, Fault::Stack { .. }));
}
