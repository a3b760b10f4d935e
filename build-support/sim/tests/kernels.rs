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
