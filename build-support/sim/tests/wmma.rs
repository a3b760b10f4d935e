//! `wmma`: where elements lie, as an H200 has it, and whole products.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::fmt::Write;

use common::Sim;

const RECORDED: &str = include_str!("device/wmma.txt");
const TENSOR: &str = include_str!("ptx/tensor.ptx");
const HEAD: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n";

/// A kernel that loads a fragment and stores its registers, each lane one after the other.
fn loading(name: &str, instruction: &str, count: usize, stride: usize) -> String {
    let ty = match instruction.rsplit('.').next() {
        Some("f64") => "f64",
        Some("f32") => "f32",
        _ => "b32",
    };
    let bytes = if ty == "f64" { 8 } else { 4 };
    let names: Vec<String> = (0..count).map(|at| format!("%r{at}")).collect();
    let mut out = format!(
        ".visible .entry {name}(.param .u64 pi, .param .u64 po) {{\n\
         .reg .b64 %i, %o; .reg .b32 %t; .reg .{ty} %r<{count}>;\n\
         ld.param.u64 %i, [pi]; ld.param.u64 %o, [po]; mov.u32 %t, %tid.x;\n\
         mad.wide.u32 %o, %t, {}, %o;\n\
         {instruction} {{{}}}, [%i], {stride};\n",
        count * bytes,
        names.join(", ")
    );
    for at in 0..count {
        writeln!(out, "st.global.{ty} [%o+{}], %r{at};", at * bytes).unwrap();
    }
    out.push_str("ret;\n}\n");
    out
}

#[test]
fn lanes_hold_the_elements_that_they_hold_on_the_device() {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(' ').collect()).collect();
    let mut text = HEAD.to_owned();
    for (at, line) in lines.iter().enumerate() {
        let (count, stride) = (line[1].parse().unwrap(), line[2].parse().unwrap());
        text.push_str(&loading(&format!("k{at}"), line[0], count, stride));
    }
    let sim = Sim::new(&text);
    // What a byte says in two launches together is where it lies.
    let low: Vec<u8> = (0..4096).map(|at| at as u8).collect();
    let high: Vec<u8> = (0..4096).map(|at| (at >> 8) as u8).collect();
    let (low, high) = (sim.upload(&low), sim.upload(&high));
    let mut wrong = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let wide = line[0].ends_with("f64");
        let bytes = 32 * line[1].parse::<usize>().unwrap() * if wide { 8 } else { 4 };
        let out = sim.upload(&vec![0_u8; bytes]);
        let run = |from: u64| {
            sim.launch(&format!("k{at}"), [1, 1, 1], [32, 1, 1], args![from, out])
                .unwrap();
            sim.download::<u8>(out, bytes)
        };
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for (low, high) in run(low).into_iter().zip(run(high)) {
            for byte in [low, high] {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        if format!("{hash:016x}") != line[3] {
            wrong.push(line[0]);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A matrix by its element, stored by rows or by columns.
fn stored<T>(
    rows: usize,
    columns: usize,
    by_rows: bool,
    element: impl Fn(usize, usize) -> T,
) -> Vec<T> {
    let at = |at: usize| match by_rows {
        true => element(at / columns, at % columns),
        false => element(at % rows, at / rows),
    };
    (0..rows * columns).map(at).collect()
}

fn half(value: i32) -> u16 {
    half::f16::from_f32(value as f32).to_bits()
}

/// Small whole numbers, for which every format and every order of adding is exact.
fn element(seed: usize, row: usize, column: usize) -> i32 {
    ((row * 7 + column * 13 + row * column * 3 + seed) % 11) as i32 - 5
}

/// Runs a product of 32 columns of `a` and compares with twice `a × b + c`.
fn product<T: common::Bytes, A: common::Bytes + PartialEq + std::fmt::Debug>(
    name: &str,
    (m, n): (usize, usize),
    (rows_a, rows_b): (bool, bool),
    factor: impl Fn(i32) -> T,
    sum: impl Fn(i32) -> A,
    least: i32,
) {
    const K: usize = 32;
    let sim = Sim::new(TENSOR);
    let a = |row, k| element(1, row, k).max(least);
    let b = |k, column| element(2, k, column).max(least);
    let c = |row, column| element(3, row, column);
    let da = sim.upload(&stored(m, K, rows_a, |row, k| factor(a(row, k))));
    let db = sim.upload(&stored(K, n, rows_b, |k, column| factor(b(k, column))));
    let dc = sim.upload(&stored(m, n, true, |row, column| sum(c(row, column))));
    let d = sim.upload(&vec![sum(0); m * n]);
    let strides = [if rows_a { K } else { m }, if rows_b { n } else { K }, n];
    let [lda, ldb, ldc] = strides.map(|stride| stride as i32);
    sim.launch(
        name,
        [1, 1, 1],
        [32, 1, 1],
        args![da, db, dc, d, K as i32, lda, ldb, ldc],
    )
    .unwrap();
    let expected = stored(m, n, true, |row, column| {
        let products = (0..K).map(|k| a(row, k) * b(k, column));
        sum(2 * (c(row, column) + products.sum::<i32>()))
    });
    assert_eq!(sim.download::<A>(d, m * n), expected, "{name}");
}

#[test]
fn products_of_every_shape() {
    let single = |value: i32| value as f32;
    let double = |value: i32| f64::from(value);
    product("f16_square", (16, 16), (true, true), half, single, -5);
    product("f16_tall", (32, 8), (false, true), half, single, -5);
    product("f16_flat", (8, 32), (true, false), half, single, -5);
    product("f16_half", (8, 32), (false, false), half, half, -5);
    product("s8_square", (16, 16), (true, false), |v| v as i8, |v| v, -5);
    product("u8_tall", (32, 8), (false, true), |v| v as u8, |v| v, 0);
    product("s8_flat", (8, 32), (true, true), |v| v as i8, |v| v, -5);
    product("f64_small", (8, 8), (true, false), double, double, -5);
}

#[test]
fn tf32_is_rounded_by_the_program() {
    let sim = Sim::new(TENSOR);
    let a = stored(16, 32, true, |row, k| element(1, row, k) as f32);
    let b = stored(32, 16, true, |k, column| element(2, k, column) as f32);
    // Less than half of the last place of tf32 above.
    let above = |values: &[f32]| -> Vec<f32> {
        values
            .iter()
            .map(|value| value * (1.0 + 1.0 / 4096.0))
            .collect()
    };
    let (da, db) = (sim.upload(&above(&a)), sim.upload(&above(&b)));
    let d = sim.upload(&[0.0_f32; 256]);
    sim.launch(
        "tf32_square",
        [1, 1, 1],
        [32, 1, 1],
        args![da, db, d, 32_i32],
    )
    .unwrap();
    let expected = stored(16, 16, true, |row, column| {
        (0..32)
            .map(|k| a[row * 32 + k] * b[k * 16 + column])
            .sum::<f32>()
    });
    assert_eq!(sim.download::<f32>(d, 256), expected);
}
