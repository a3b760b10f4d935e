//! Kernels as nvcc compiles them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;

const BASIC: &str = include_str!("ptx/basic.ptx");

#[test]
fn saxpy() {
    let sim = Sim::new(BASIC);
    let n = 1000;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let (dx, dy) = (sim.upload(&x), sim.upload(&y));
    let report = sim
        .launch("saxpy", [4, 1, 1], [256, 1, 1], args![2.0_f32, dx, dy, n])
        .unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.0 * x + y).collect();
    assert_eq!(sim.download::<f32>(dy, n as usize), expected);
    assert!(report.findings.is_empty());
}

#[test]
fn tiled_matmul() {
    let sim = Sim::new(BASIC);
    let n = 64_usize;
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
    let (da, db, dc) = (
        sim.upload(&a),
        sim.upload(&b),
        sim.upload(&vec![0.0_f32; n * n]),
    );
    let grid = [n as u32 / 16, n as u32 / 16, 1];
    sim.launch("matmul", grid, [16, 16, 1], args![da, db, dc, n as i32])
        .unwrap();
    let mut expected = vec![0.0; n * n];
    for row in 0..n {
        for col in 0..n {
            let products = (0..n).map(|k| a[row * n + k] * b[k * n + col]);
            expected[row * n + col] = products.sum();
        }
    }
    assert_eq!(sim.download::<f32>(dc, n * n), expected);
}

#[test]
fn calls_local_memory_tables_and_printf() {
    let sim = Sim::new(BASIC);
    let out = sim.upload(&[0_i32; 32]);
    let k = 2_i32;
    let mut p = 3_i32.to_le_bytes().to_vec();
    p.extend([0; 4]);
    p.extend(1.5_f64.to_le_bytes());
    p.extend([10, 20, 30, 40, 50, 0, 0, 0]);
    let report = sim
        .launch(
            "misc",
            [1, 1, 1],
            [32, 1, 1],
            &[&out.to_le_bytes(), &p, &k.to_le_bytes()],
        )
        .unwrap();
    assert_eq!(report.printed, "hello 0 x 1.500000\n");
    let fact = |n: i32| (1..=n).product::<i32>();
    let expected: Vec<i32> = (0..32)
        .map(|i| {
            let called = if i & 1 == 0 { i + 1 } else { i * 2 };
            let local = ((i + k) & 7) * k + i;
            let value = fact(i % 10) + 34 + called + local + 2;
            // Every thread subtracts, all at once.
            if i == 5 { value - 7 } else { value }
        })
        .collect();
    assert_eq!(sim.download::<i32>(out, 32), expected);
}

const PARAMS: &str = include_str!("ptx/params.ptx");
const SCALE: &str = include_str!("ptx/scale.ptx");

#[test]
fn parameters_of_every_kind() {
    let sim = Sim::new(PARAMS);
    let out = sim.upload(&[0_u8; 64]);
    let args = args![
        1_u8, -2_i8, -3_i16, -4_i32, -5_i64, 6_u8, 7_u16, 8_u32, 9_u64, 1.5_f32, 2.5_f64, out
    ];
    sim.launch("scalars", [1, 1, 1], [1, 1, 1], args).unwrap();
    let expected: Vec<u8> = args[..11]
        .iter()
        .flat_map(|arg| arg.iter().copied())
        .collect();
    assert_eq!(sim.download::<u8>(out, expected.len()), expected);

    let mut mixed = vec![0_u8; 40];
    for (at, byte) in mixed.iter_mut().enumerate() {
        *byte = at as u8 + 100;
    }
    // `flag` is a bool.
    mixed[28] = 1;
    let args: &[&[u8]] = &[&[1], &mixed, &7_u32.to_le_bytes(), &out.to_le_bytes()];
    sim.launch("structs", [1, 1, 1], [1, 1, 1], args).unwrap();
    let fields = [
        &mixed[..1],
        &mixed[8..16],
        &mixed[16..28],
        &mixed[28..29],
        &mixed[32..40],
    ];
    let expected = [&[1][..], &fields.concat(), &7_u32.to_le_bytes()].concat();
    assert_eq!(sim.download::<u8>(out, expected.len()), expected);
}

#[test]
fn axpy_of_every_type_and_templates() {
    let sim = Sim::new(PARAMS);
    let n = 100_i32;
    let x: Vec<i64> = (0..100).map(|i| i - 50).collect();
    let y: Vec<i64> = (0..100).map(|i| i << 33).collect();
    let (dx, dy) = (sim.upload(&x), sim.upload(&y));
    sim.launch("axpy_i64", [4, 1, 1], [32, 1, 1], args![3_i64, dx, dy, n])
        .unwrap();
    let expected: Vec<i64> = x.iter().zip(&y).map(|(x, y)| 3 * x + y).collect();
    assert_eq!(sim.download::<i64>(dy, 100), expected);
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.1).collect();
    let (dx, dy) = (sim.upload(&x), sim.upload(&x));
    sim.launch("axpy_f64", [4, 1, 1], [32, 1, 1], args![0.3_f64, dx, dy, n])
        .unwrap();
    let expected: Vec<f64> = x.iter().map(|x| x.mul_add(0.3, *x)).collect();
    assert_eq!(sim.download::<f64>(dy, 100), expected);
}

#[test]
fn scaling_to_half() {
    let sim = Sim::new(SCALE);
    let x: Vec<f32> = (0..100).map(|i| i as f32 * 1.37).collect();
    let dx = sim.upload(&x);
    let name = |ty: &str| format!("_Z5scaleI{ty}EvPKfPT_fi");
    let out = sim.upload(&[0_u16; 100]);
    let block = [128, 1, 1];
    sim.launch(
        &name("6__half"),
        [1, 1, 1],
        block,
        args![dx, out, 0.7_f32, 100],
    )
    .unwrap();
    let expected: Vec<u16> = (x.iter())
        .map(|x| half::f16::from_f32(0.7 * x).to_bits())
        .collect();
    assert_eq!(sim.download::<u16>(out, 100), expected);
}
