//! `mma`, and `wmma.mma` of which `c` and `d` differ, against what an H200 gave.
//!
//! Inputs are made by a rule, in six classes; `device/mma.txt` has for each form a hash of the results of each class
//! as the device gave them, so equality is bit for bit. To record anew: run the kernels of [`kernel`] on the
//! inputs of [`inputs`] and hash what they store, as [`hashes`] does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::fmt::Write;

use common::Sim;

const RECORDED: &str = include_str!("device/mma.txt");
/// Blocks of a launch: 16 of each class.
const CASES: usize = 96;

/// Registers of an operand, and what they hold.
#[derive(Debug, Clone, Copy)]
struct Operand {
    kind: &'static str,
    count: usize,
}

#[derive(Debug)]
struct Form {
    text: String,
    /// `a`, `b`, `c`, `d`.
    operands: [Operand; 4],
    /// What the inputs' seeds are made of.
    seed: usize,
}

/// All forms, in the order in which they were recorded.
fn forms() -> Vec<Form> {
    let mut list = Vec::new();
    let mut add = |text: String, a, b, c| {
        let operand = |(kind, count)| Operand { kind, count };
        let operands = [operand(a), operand(b), operand(c), operand(c)];
        let text = format!("mma.sync.aligned.{text}");
        let seed = list.len();
        list.push(Form {
            text,
            operands,
            seed,
        });
    };
    for (k, a, b) in [(8, 2, 1), (16, 4, 2)] {
        let shape = format!("m16n8k{k}.row.col");
        add(
            format!("{shape}.f32.f16.f16.f32"),
            ("f16", a),
            ("f16", b),
            ("f32", 4),
        );
        add(
            format!("{shape}.f16.f16.f16.f16"),
            ("f16", a),
            ("f16", b),
            ("f16", 2),
        );
        add(
            format!("{shape}.f32.bf16.bf16.f32"),
            ("bf16", a),
            ("bf16", b),
            ("f32", 4),
        );
    }
    for (k, a, b) in [(4, 2, 1), (8, 4, 2)] {
        let text = format!("m16n8k{k}.row.col.f32.tf32.tf32.f32");
        add(text, ("tf32", a), ("tf32", b), ("f32", 4));
    }
    for a in ["row", "col"] {
        for b in ["row", "col"] {
            for (sum, count) in [("f32", 8), ("f16", 4)] {
                let text = format!("m8n8k4.{a}.{b}.{sum}.f16.f16.{sum}");
                add(text, ("f16", 2), ("f16", 2), (sum, count));
            }
        }
    }
    add(
        "m8n8k4.row.col.f64.f64.f64.f64".into(),
        ("f64", 1),
        ("f64", 1),
        ("f64", 2),
    );
    for (k, a, b) in [(4, 2, 1), (8, 4, 2), (16, 8, 4)] {
        let text = format!("m16n8k{k}.row.col.f64.f64.f64.f64");
        add(text, ("f64", a), ("f64", b), ("f64", 4));
    }
    for a in ["e4m3", "e5m2"] {
        for b in ["e4m3", "e5m2"] {
            for (sum, count) in [("f32", 4), ("f16", 2)] {
                for (k, na, nb) in [(16, 2, 1), (32, 4, 2)] {
                    let text = format!("m16n8k{k}.row.col.{sum}.{a}.{b}.{sum}");
                    add(text, (a, na), (b, nb), (sum, count));
                }
            }
        }
    }
    let int = |count| ("int", count);
    for bits in [8, 4] {
        for a in ["s", "u"] {
            for b in ["s", "u"] {
                for sat in ["", ".satfinite"] {
                    let k = 128 / bits;
                    let kinds = format!("row.col{sat}.s32.{a}{bits}.{b}{bits}.s32");
                    add(format!("m8n8k{k}.{kinds}"), int(1), int(1), ("s32", 2));
                    add(format!("m16n8k{k}.{kinds}"), int(2), int(1), ("s32", 4));
                    add(
                        format!("m16n8k{}.{kinds}", 2 * k),
                        int(4),
                        int(2),
                        ("s32", 4),
                    );
                }
            }
        }
    }
    for op in ["and", "xor"] {
        let kinds = format!("row.col.s32.b1.b1.s32.{op}.popc");
        add(format!("m8n8k128.{kinds}"), int(1), int(1), ("s32", 2));
        add(format!("m16n8k128.{kinds}"), int(2), int(1), ("s32", 4));
        add(format!("m16n8k256.{kinds}"), int(4), int(2), ("s32", 4));
    }
    // Sums of one format that come out in another.
    let whole = "wmma.mma.sync.aligned.row.col.m16n16k16";
    let small = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16";
    let mixed = [
        (format!("{whole}.f32.f16"), 8, ("f16", 4), ("f32", 8)),
        (format!("{whole}.f16.f32"), 8, ("f32", 8), ("f16", 4)),
        (small.to_owned(), 2, ("f16", 4), ("f32", 8)),
    ];
    for (at, (text, count, c, d)) in mixed.into_iter().enumerate() {
        let operand = |(kind, count)| Operand { kind, count };
        list.push(Form {
            text,
            operands: [("f16", count), ("f16", count), c, d].map(operand),
            seed: 200 + at,
        });
    }
    list
}

/// A kernel in which lane `l` of block `i` has the registers from `32 i + l` on of each operand.
fn kernel(name: &str, form: &Form) -> String {
    let mut out = format!(
        ".visible .entry {name}(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {{\n\
         .reg .b32 %i, %t;\n\
         mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, 32, %t;\n"
    );
    let [a, b, c, d] = form.operands;
    let mut lists = Vec::new();
    for (name, operand) in [("d", d), ("a", a), ("b", b), ("c", c)] {
        let Operand { kind, count } = operand;
        let (ty, bytes) = match kind {
            "f64" => ("f64", 8),
            "f32" => ("f32", 4),
            _ => ("b32", 4),
        };
        let step = bytes * count;
        writeln!(out, ".reg .{ty} %{name}<{count}>; .reg .b64 %p{name};").unwrap();
        writeln!(
            out,
            "ld.param.u64 %p{name}, [p{name}]; mad.wide.u32 %p{name}, %i, {step}, %p{name};"
        )
        .unwrap();
        for at in 0..count {
            if name != "d" {
                writeln!(
                    out,
                    "ld.global.{ty} %{name}{at}, [%p{name}+{}];",
                    bytes * at
                )
                .unwrap();
            }
        }
        let names: Vec<String> = (0..count).map(|at| format!("%{name}{at}")).collect();
        lists.push(format!("{{{}}}", names.join(", ")));
    }
    writeln!(out, "{} {};", form.text, lists.join(", ")).unwrap();
    let (ty, bytes) = match d.kind {
        "f64" => ("f64", 8),
        "f32" => ("f32", 4),
        _ => ("b32", 4),
    };
    for at in 0..d.count {
        writeln!(out, "st.global.{ty} [%pd+{}], %d{at};", bytes * at).unwrap();
    }
    out.push_str("ret;\n}\n");
    out
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// splitmix64
fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The elements of an operand: exponents near one another, far apart, any bits, mostly zeros, small whole
/// numbers, subnormals with a few infinities and NaNs. A third of the sums begin at zero.
fn inputs(form: usize, matrix: usize, operand: Operand) -> Vec<u64> {
    let seed = mix((form as u64 * 8 + matrix as u64 + 1).wrapping_mul(GOLDEN));
    let next = |at: usize| mix(seed.wrapping_add((at as u64 + 1).wrapping_mul(GOLDEN)));
    let registers = CASES * 32 * operand.count;
    let (e, m, per, width) = match operand.kind {
        "f16" => (5, 10, 2, 12),
        "bf16" => (8, 7, 2, 24),
        "tf32" | "f32" => (8, 23, 1, 24),
        "f64" => (11, 52, 1, 50),
        "e4m3" => (4, 3, 4, 6),
        "e5m2" => (5, 2, 4, 12),
        kind => {
            let whole = |at: usize| {
                let bits = (next(at) >> 16) as u32;
                let case = at / (32 * operand.count);
                match kind {
                    "s32" if case.is_multiple_of(2) => (bits.cast_signed() >> 12).cast_unsigned(),
                    _ => bits,
                }
            };
            return (0..registers).map(|at| whole(at).into()).collect();
        }
    };
    let bias = (1_i64 << (e - 1)) - 1;
    let top = (1_i64 << e) - 1;
    let element = |at: usize| {
        let case = at / (32 * operand.count * per);
        if matrix == 2 && (case / 6).is_multiple_of(3) {
            return 0;
        }
        let r = next(at);
        let sign = (r & 1) << (e + m);
        let fraction = r >> 8 & ((1 << m) - 1);
        let pick = (r >> 1 & 0x7f) as i64;
        let pack = |exponent: i64, fraction: u64| sign | (exponent as u64) << m | fraction;
        let near = || pack(bias - 3 + pick % 7, fraction);
        let wide = |pick: i64| {
            pack(
                (bias - width + pick % (2 * width + 1)).clamp(0, top - 1),
                fraction,
            )
        };
        match case % 6 {
            0 => near(),
            1 => wide(pick),
            2 if m == 52 => r,
            2 => r >> 8 & ((1 << (1 + e + m)) - 1),
            3 if pick & 3 != 0 => sign,
            3 => wide(pick >> 2),
            4 => match pick % 9 {
                0 => sign,
                value => {
                    let log = value.ilog2();
                    let fraction = ((value as u64) << m >> log) - (1 << m);
                    pack(bias + i64::from(log), fraction)
                }
            },
            _ => match pick {
                0 => pack(top, 0),
                1 => pack(top, fraction | 1),
                2..40 => pack(0, fraction),
                _ => near(),
            },
        }
    };
    let bits = (1 + e + m) as u32;
    let register = |at: usize| {
        (0..per).fold(0, |all, part| {
            all | element(at * per + part) << (bits * part as u32)
        })
    };
    // `f16` fragments of `wmma` hold every element twice.
    let twice = |at: usize| match operand.kind {
        "f16" if operand.count == 8 => at / 8 * 8 + at % 4,
        _ => at,
    };
    (0..registers).map(|at| register(twice(at))).collect()
}

/// FNV-1a of the registers of each class.
fn hashes(results: &[u64]) -> [u64; 6] {
    let mut hashes = [0xcbf2_9ce4_8422_2325_u64; 6];
    for (case, registers) in results.chunks(results.len() / CASES).enumerate() {
        let hash = &mut hashes[case % 6];
        for register in registers {
            for byte in register.to_le_bytes() {
                *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    hashes
}

fn upload(sim: &Sim, wide: bool, values: &[u64]) -> u64 {
    if wide {
        sim.upload(values)
    } else {
        sim.upload(&values.iter().map(|value| *value as u32).collect::<Vec<_>>())
    }
}

#[test]
fn every_form_gives_what_the_device_gave() {
    let forms = forms();
    let mut text = ".version 9.0\n.target sm_90a\n.address_size 64\n".to_owned();
    for (at, form) in forms.iter().enumerate() {
        text.push_str(&kernel(&format!("k{at}"), form));
    }
    let sim = Sim::new(&text);
    let mut recorded = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let mut wrong = String::new();
    for (at, form) in forms.iter().enumerate() {
        let [a, b, c] = [0, 1, 2].map(|matrix| {
            let operand = form.operands[matrix];
            upload(
                &sim,
                operand.kind == "f64",
                &inputs(form.seed, matrix, operand),
            )
        });
        let Operand { kind, count } = form.operands[3];
        let count = CASES * 32 * count;
        let d = upload(&sim, kind == "f64", &vec![0; count]);
        sim.launch(
            &format!("k{at}"),
            [CASES as u32, 1, 1],
            [32, 1, 1],
            args![a, b, c, d],
        )
        .unwrap();
        let results: Vec<u64> = if kind == "f64" {
            sim.download::<u64>(d, count)
        } else {
            sim.download::<u32>(d, count)
                .into_iter()
                .map(u64::from)
                .collect()
        };
        let expected = recorded.next().unwrap_or_default();
        let mut found = form.text.clone();
        for hash in hashes(&results) {
            write!(found, " {hash:016x}").unwrap();
        }
        if found != expected {
            writeln!(wrong, "found    {found}\nexpected {expected}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
