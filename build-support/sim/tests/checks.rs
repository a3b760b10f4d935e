//! Functionalized kernels: a failed check is a record, as on a device.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

#[path = "common/checked.rs"]
mod checked;
mod common;

use checked::Checked;
use common::Sim;
use gpuk_device::abi::Kind;
use gpuk_device::record::key;
use gpuk_ptx::functionalize::SiteKind;
use gpuk_sim::Launch;

const CHECKS: &str = include_str!("ptx/checks.ptx");
const GATHER: &str = include_str!("ptx/gather.ptx");
const POINTERS: &str = include_str!("ptx/pointers.ptx");
const TOGETHER: &str = include_str!("ptx/together.ptx");
const REDUCE: &str = include_str!("ptx/reduce.ptx");

fn launch(grid: u32, block: u32) -> Launch {
    Launch::new([grid, 1, 1], [block, 1, 1], Vec::new())
}

#[test]
fn the_lowest_thread_that_fails_is_recorded() {
    let checked = Checked::new(CHECKS);
    let sim = &checked.sim;
    let n = 1024;
    let mut idx: Vec<i32> = (0..n).map(|i| i % 100).collect();
    let src = sim.upload(&(0..100).map(|i| i as f32).collect::<Vec<_>>());
    let dst = sim.upload(&vec![-1.0_f32; n as usize]);
    let good = sim.upload(&idx);
    checked.launch("gather", launch(4, 256), args![src, good, dst, n, 100]);
    assert_eq!(checked.failure(), None);
    let expected: Vec<f32> = idx.iter().map(|i| *i as f32).collect();
    assert_eq!(sim.download::<f32>(dst, n as usize), expected);

    idx[300] = -5;
    idx[301] = 100;
    idx[999] = 1 << 20;
    let bad = sim.upload(&idx);
    checked.launch("gather", launch(4, 256), args![src, bad, dst, n, 100]);
    let failure = checked.failure().unwrap();
    assert_eq!(checked.sites[failure.site].condition, "k >= 0 && k < rows");
    assert_eq!((failure.key, failure.count), (key(1, 300 - 256), 3));
    assert_eq!(
        failure.values.iter().map(|v| *v as i32).collect::<Vec<_>>(),
        [-5, 100]
    );
}

#[test]
fn threads_that_stop_do_not_stop_the_others() {
    let checked = Checked::new(CHECKS);
    let sim = &checked.sim;
    let x: Vec<i32> = (0..64).collect();
    let (dx, sum) = (sim.upload(&x), sim.upload(&[0_i32]));
    checked.launch("barrier", launch(1, 64), args![dx, sum, 60]);
    assert_eq!(sim.download::<i32>(sum, 1), [(0..60).sum::<i32>()]);
    let failure = checked.failure().unwrap();
    assert_eq!((failure.key, failure.count), (60, 4));
}

#[test]
fn checks_in_functions_and_recursion() {
    let checked = Checked::new(CHECKS);
    let sim = &checked.sim;
    let table = sim.upload(&(0..40).map(|i| i * i).collect::<Vec<i32>>());
    let out = sim.upload(&[0_i32; 32]);
    checked.launch("functions", launch(1, 32), args![table, out, 32, 0]);
    assert_eq!(checked.failure(), None);
    let expected: Vec<i32> = (0..32)
        .map(|i| i * i + (1..=i % 4).product::<i32>())
        .collect();
    assert_eq!(sim.download::<i32>(out, 32), expected);
    checked.launch("functions", launch(1, 32), args![table, out, 40, 1]);
    let failure = checked.failure().unwrap();
    assert_eq!(checked.sites[failure.site].condition, "n < 13");
    assert_eq!((failure.key, failure.values[0]), (3, 13));
}

#[test]
fn every_type_is_captured() {
    let checked = Checked::new(CHECKS);
    let out = checked.sim.upload(&[0_i32]);
    let half = 0x3e00_u16;
    let args = args![
        1_u8, b'x', -3_i16, -4_i64, 5_u64, 1.5_f32, 2.5_f64, half, out
    ];
    checked.launch("captures", launch(1, 1), args);
    let values = checked.failure().unwrap().values;
    assert_eq!(values[0], 1);
    assert_eq!(values[1] as u8, b'x');
    assert_eq!(values[2] as i16, -3);
    assert_eq!(values[3] as i64, -4);
    assert_eq!(values[4], 5);
    assert_eq!(values[5] as u32, 1.5_f32.to_bits());
    assert_eq!(values[6], 2.5_f64.to_bits());
    assert_eq!(values[7] as u32, 1.5_f32.to_bits());
}

#[test]
fn asserts_and_expectations() {
    let checked = Checked::new(CHECKS);
    let sim = &checked.sim;
    let mut x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    x[40] = f32::NAN;
    x[41] = f32::NAN;
    let (dx, seen) = (sim.upload(&x), sim.upload(&[0_i32]));
    checked.launch("expect_numbers", launch(1, 32), args![dx, seen, 100]);
    assert_eq!(sim.download::<i32>(seen, 1), [100]);
    assert_eq!(checked.failure().unwrap().values[0], 40);
    checked.clear();
    let (x, y) = (sim.upload(&[1, 2, -3, 4]), sim.upload(&[0_i32; 4]));
    checked.launch("asserts", launch(1, 4), args![x, y]);
    assert_eq!(checked.failure().unwrap().key, 2);
    assert_eq!(sim.download::<i32>(y, 4), [1, 2, 0, 4]);
}

#[test]
fn dimensions_make_the_key() {
    let checked = Checked::new(CHECKS);
    let launch = Launch::new([3, 2, 2], [4, 4, 2], Vec::new());
    checked.launch("dimensions", launch, args![7, 9]);
    let failure = checked.failure().unwrap();
    assert_eq!((failure.key, failure.count), (key(7, 9), 5 * (32 - 9)));
}

#[test]
fn functions_called_through_pointers_record() {
    let checked = Checked::new(POINTERS);
    let sim = &checked.sim;
    let which: Vec<i32> = (0..64).map(|i| i % 2).collect();
    let mut x: Vec<i32> = (0..64).collect();
    x[10] = 100;
    x[11] = 101;
    let (dwhich, dx) = (sim.upload(&which), sim.upload(&x));
    let out = sim.upload(&[-1_i32; 64]);
    checked.launch("table", launch(1, 64), args![dwhich, dx, out, 64, 99]);
    let failure = checked.failure().unwrap();
    assert_eq!(checked.sites[failure.site].condition, "x < limit");
    // `halve` checks, and `twice`, which has the same type, does not.
    assert_eq!((failure.key, failure.count), (key(0, 10), 1));
    assert_eq!(failure.values, [100, 99]);
    let found = sim.download::<i32>(out, 64);
    assert_eq!(found[8..14], [4, 9 * 2 + 99, -1, 301, 6, 13 * 2 + 99]);

    checked.clear();
    checked.launch("shapes", launch(1, 64), args![dx, out, 64, 99]);
    let failure = checked.failure().unwrap();
    assert_eq!(checked.sites[failure.site].condition, "side < limit");
    assert_eq!((failure.key, failure.count), (key(0, 11), 1));
    assert_eq!(failure.values, [101]);
    assert_eq!(sim.download::<i32>(out, 64)[8..14], [0, 81, 0, 301, 0, 169]);
}

#[test]
fn blocks_and_warps_leave_together() {
    let checked = Checked::new(TOGETHER);
    let sim = &checked.sim;
    let mut x: Vec<i32> = (0..128).collect();
    x[5] = 1005;
    x[40] = 1040;
    let (dx, out) = (sim.upload(&x), sim.upload(&[0_i32; 128]));
    checked.launch("of_block", launch(2, 64), args![dx, out, 1000]);
    let failure = checked.failure().unwrap();
    let site = &checked.sites[failure.site];
    assert_eq!(site.kind, SiteKind::Check(Kind::CheckBlock));
    assert_eq!(site.condition, "x[i] < limit");
    assert_eq!((failure.key, failure.count), (key(0, 5), 2));
    assert_eq!(failure.values, [5, 1005]);
    let found = sim.download::<i32>(out, 128);
    assert_eq!(found[..64], [-1; 64]);
    let turned: Vec<i32> = (64..128).map(|i| 64 + (i + 1) % 64).collect();
    assert_eq!(found[64..], turned);

    checked.clear();
    x[5] = 5;
    let dx = sim.upload(&x);
    checked.launch("of_warp", launch(1, 64), args![dx, out, 1000]);
    let failure = checked.failure().unwrap();
    assert_eq!((failure.key, failure.count), (key(0, 40), 1));
    assert_eq!(failure.values, [40, 1040]);
    let found = sim.download::<i32>(out, 64);
    let crossed: Vec<i32> = (0..32).map(|i| i ^ 1).collect();
    assert_eq!(found[..32], crossed);
    assert_eq!(found[32..], [-1; 32]);
}

#[test]
fn the_kernels_of_the_template() {
    let checked = Checked::new(GATHER);
    let sim = &checked.sim;
    let name = sim.module.functions()[0].name().to_owned();
    let (rows, dim) = (10_usize, 300_usize);
    let table: Vec<f32> = (0..rows * dim).map(|i| i as f32).collect();
    let ids = [3_i32, 0, 9, 4];
    let (dtable, dids) = (sim.upload(&table), sim.upload(&ids));
    let out = sim.upload(&vec![0.0_f32; ids.len() * dim]);
    let mut shape = (rows as i32).to_le_bytes().to_vec();
    shape.extend((dim as i32).to_le_bytes());
    shape.extend(2.0_f32.to_le_bytes());
    let pointers = [dtable, dids, out].map(u64::to_le_bytes);
    let args: Vec<&[u8]> = pointers.iter().map(|p| &p[..]).chain([&*shape]).collect();
    checked.launch(&name, launch(ids.len() as u32, 256), &args);
    assert_eq!(checked.failure(), None);
    let expected: Vec<f32> = (ids.iter())
        .flat_map(|id| (0..dim).map(move |d| 2.0 * (*id as usize * dim + d) as f32))
        .collect();
    assert_eq!(sim.download::<f32>(out, ids.len() * dim), expected);

    let checked = Checked::new(REDUCE);
    let sim = &checked.sim;
    let name = sim.module.functions()[0].name().to_owned();
    let dim = 1000_usize;
    let x: Vec<f32> = (0..2 * dim).map(|i| (i % 17) as f32 - 8.0).collect();
    let weight: Vec<f32> = (0..dim).map(|i| (i % 3) as f32).collect();
    let (dx, dweight) = (sim.upload(&x), sim.upload(&weight));
    let out = sim.upload(&vec![0.0_f32; 2 * dim]);
    let launch = Launch {
        shared: 4 * dim as u32,
        ..launch(2, 256)
    };
    let args = args![dx, dweight, out, dim as i32, 1e-5_f32];
    checked.launch(&name, launch, args);
    assert_eq!(checked.failure(), None);
    for (at, found) in sim.download::<f32>(out, 2 * dim).into_iter().enumerate() {
        let row = &x[at / dim * dim..][..dim];
        let mean = row.iter().map(|x| f64::from(x * x)).sum::<f64>() / dim as f64;
        let expected = f64::from(weight[at % dim] * x[at]) / (mean + 1e-5).sqrt();
        let error = (f64::from(found) - expected).abs();
        assert!(error <= 1e-5 * expected.abs(), "{at}: {found} {expected}");
    }
}

#[test]
fn an_assert_that_is_not_functionalized_ends_the_launch() {
    // What the functionalizing pass takes away is defined nowhere.
    let sim = Sim::new(&CHECKS.replacen("\n)\n;", "\n)\n{ trap; }", 1));
    let (x, y) = (sim.upload(&[1, 2, -3, 4]), sim.upload(&[0_i32; 4]));
    let fault = sim
        .launch("asserts", [1, 1, 1], [4, 1, 1], args![x, y])
        .unwrap_err();
    assert_eq!(fault.code(), 710);
    let gpuk_sim::Fault::Assert {
        message,
        line,
        function,
        site,
        ..
    } = fault
    else {
        panic!("{fault}")
    };
    assert_eq!((&*message, line), ("x[i] > 0", 26));
    assert!(function.contains("asserts"), "{function}");
    assert_eq!(site.thread.thread, [2, 0, 0]);
}
