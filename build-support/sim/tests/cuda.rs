//! Kernels written with CUDA's own headers: cooperative groups, CUB, libcu++, the math library.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Random;
use common::Sim;
use gpuk_sim::Launch;

const GROUPS: &str = include_str!("ptx/groups.ptx");
const CUB: &str = include_str!("ptx/cub.ptx");
const MATH: &str = include_str!("ptx/math.ptx");

#[test]
fn a_grid_waits_for_all_its_blocks() {
    let sim = Sim::new(GROUPS);
    let n = 10_000;
    let input: Vec<i32> = (0..n).map(|i| i % 91 - 30).collect();
    let (din, part, out) = (
        sim.upload(&input),
        sim.upload(&[0_i32; 16]),
        sim.upload(&[0_i32]),
    );
    let launch = Launch {
        cooperative: true,
        ..Launch::new([16, 1, 1], [128, 1, 1], Vec::new())
    };
    // The second launch finds the barrier as the first left it.
    for _ in 0..2 {
        sim.launch_with("grid_sum", launch.clone(), args![din, part, out, n])
            .unwrap();
        assert_eq!(sim.download::<i32>(out, 1), [input.iter().sum::<i32>() + 1]);
    }
}

#[test]
fn tiles_and_coalesced_threads() {
    let sim = Sim::new(GROUPS);
    let mut random = Random(3);
    let input: Vec<i32> = (0..64).map(|_| (random.next() % 50) as i32).collect();
    let (din, out) = (sim.upload(&input), sim.upload(&[0_i32; 64]));
    sim.launch("tiles", [1, 1, 1], [64, 1, 1], args![din, out])
        .unwrap();
    let expected: Vec<i32> = (0..64_usize)
        .map(|i| {
            let v = input[i];
            let warp = &input[i / 32 * 32..][..32];
            let largest = *input[i / 16 * 16..][..16].iter().max().unwrap();
            let scan: i32 = input[i / 4 * 4..=i].iter().sum();
            let odd = |v: &&i32| **v & 1 == 1;
            let among_odd = if v & 1 == 1 {
                let rank = warp[..i % 32].iter().filter(odd).count() as i32;
                warp.iter().filter(odd).sum::<i32>() + rank * 1000
            } else {
                0
            };
            let same = warp.iter().filter(|other| **other % 3 == v % 3).count() as i32;
            largest + scan * 3 + 32 * 5 + among_odd * 7 + same * 11
        })
        .collect();
    assert_eq!(sim.download::<i32>(out, 64), expected);
}

#[test]
fn clusters_reach_each_others_memory() {
    let sim = Sim::new(GROUPS);
    let out = sim.upload(&[0_i32; 256]);
    let launch = Launch {
        cluster: [2, 1, 1],
        ..Launch::new([4, 1, 1], [64, 1, 1], Vec::new())
    };
    sim.launch_with("cluster_swap", launch, args![out]).unwrap();
    let expected: Vec<i32> = (0..256).map(|i| ((i / 64) ^ 1) * 100 + i % 64).collect();
    assert_eq!(sim.download::<i32>(out, 256), expected);
    // The kernel says what shape its clusters have.
    let launch = Launch::new([4, 1, 1], [64, 1, 1], Vec::new());
    let fault = sim
        .launch_with("cluster_swap", launch, args![out])
        .unwrap_err();
    assert_eq!(fault.code(), 912);
}

#[test]
fn sorting_scanning_and_reducing() {
    let sim = Sim::new(CUB);
    let mut random = Random(9);
    let keys: Vec<u32> = (0..512).map(|_| random.next() as u32).collect();
    let (din, out) = (sim.upload(&keys), sim.upload(&[0_u32; 512]));
    sim.launch("block_sort", [1, 1, 1], [128, 1, 1], args![din, out])
        .unwrap();
    let mut expected = keys.clone();
    expected.sort_unstable();
    assert_eq!(sim.download::<u32>(out, 512), expected);

    let values: Vec<i32> = keys
        .iter()
        .take(128)
        .map(|k| (k % 1000) as i32 - 500)
        .collect();
    let (din, out) = (sim.upload(&values), sim.upload(&[0_i32; 128]));
    sim.launch("block_scan", [1, 1, 1], [128, 1, 1], args![din, out])
        .unwrap();
    let sums: Vec<i32> = (0..128).map(|i| values[..i].iter().sum()).collect();
    assert_eq!(sim.download::<i32>(out, 128), sums);

    let signed: Vec<i32> = keys.iter().map(|k| *k as i32).collect();
    let (din, out) = (sim.upload(&signed), sim.upload(&[0_i32; 512]));
    sim.launch("warp_merge", [1, 1, 1], [128, 1, 1], args![din, out])
        .unwrap();
    let mut expected = signed;
    expected.chunks_mut(128).for_each(<[i32]>::sort_unstable);
    assert_eq!(sim.download::<i32>(out, 512), expected);

    let values: Vec<f32> = (0..256).map(|i| (i * 37 % 101) as f32).collect();
    let (din, out) = (sim.upload(&values), sim.upload(&[0.0_f32; 2]));
    sim.launch("block_reduce", [1, 1, 1], [256, 1, 1], args![din, out])
        .unwrap();
    assert_eq!(sim.download::<f32>(out, 2), [values.iter().sum(), 100.0]);
}

#[test]
fn references_to_atomics() {
    let sim = Sim::new(CUB);
    let (a, f, q) = (
        sim.upload(&[0_i32]),
        sim.upload(&[0.0_f32]),
        sim.upload(&[1_u64]),
    );
    sim.launch("atomics", [1, 1, 1], [40, 1, 1], args![a, f, q])
        .unwrap();
    assert_eq!(sim.download::<i32>(a, 1), [40]);
    assert_eq!(sim.download::<f32>(f, 1), [60.0]);
    let expected = (0..40).fold(1_u64, |e, _| e.wrapping_mul(3).wrapping_add(1));
    assert_eq!(sim.download::<u64>(q, 1), [expected]);
}

/// Runs a function on pairs of numbers and holds it to a bound, in units of the last place of `T`.
macro_rules! function {
    ($name:ident, $ty:ty, $low:expr, $high:expr, $ulps:expr, |$a:ident, $b:ident| $exact:expr) => {{
        let sim = Sim::new(MATH);
        let mut random = Random(17);
        let mut next = || {
            let unit = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
            ($low + ($high - $low) * unit) as $ty
        };
        let x: Vec<$ty> = (0..1000).map(|_| next()).collect();
        let y: Vec<$ty> = (0..1000).map(|_| next()).collect();
        let out = vec![0.0 as $ty; 1000];
        let (dx, dy, out) = (sim.upload(&x), sim.upload(&y), sim.upload(&out));
        let name = stringify!($name);
        let args = args![dx, dy, out, 1000_i32];
        sim.launch(name, [4, 1, 1], [256, 1, 1], args).unwrap();
        for (at, found) in sim.download::<$ty>(out, 1000).into_iter().enumerate() {
            let ($a, $b) = (f64::from(x[at]), f64::from(y[at]));
            let exact: f64 = $exact;
            if exact.is_nan() {
                assert!(found.is_nan(), "{name} of {} {}: {found}", x[at], y[at]);
                continue;
            }
            let place =
                (exact as $ty).abs().max(<$ty>::MIN_POSITIVE) as f64 * f64::from(<$ty>::EPSILON);
            let error = (f64::from(found) - exact).abs() / place;
            let allowed = $ulps
                * if <$ty>::EPSILON as f64 > 1e-10 {
                    1.0
                } else {
                    2.0
                };
            assert!(
                error <= allowed,
                "{name} of {} {}: {found}, {exact}",
                x[at],
                y[at]
            );
        }
    }};
}

/// The bounds are those of the CUDA programming guide, "Mathematical functions", with some room for the oracle.
#[test]
fn the_math_library_in_single_precision() {
    function!(f_pow, f32, 0.1, 20.0, 4.5, |a, b| a.powf(b));
    function!(f_exp, f32, -80.0, 80.0, 2.5, |a, _b| a.exp());
    function!(f_log, f32, 0.001, 1e6, 1.5, |a, _b| a.ln());
    function!(f_sin, f32, -1e5, 1e5, 2.5, |a, _b| a.sin());
    function!(f_tan, f32, -1e3, 1e3, 4.5, |a, _b| a.tan());
    function!(f_tanh, f32, -5.0, 5.0, 2.5, |a, _b| a.tanh());
    function!(f_cbrt, f32, -1e3, 1e3, 1.5, |a, _b| a.cbrt());
    function!(f_atan2, f32, -10.0, 10.0, 3.5, |a, b| a.atan2(b));
    function!(f_fmod, f32, -1e4, 1e4, 0.0, |a, b| a % b);
    function!(f_hypot, f32, -1e3, 1e3, 3.5, |a, b| a.hypot(b));
    function!(f_expm1, f32, -5.0, 5.0, 1.5, |a, _b| a.exp_m1());
}

#[test]
fn the_math_library_in_double_precision() {
    function!(d_pow, f64, 0.1, 20.0, 2.0, |a, b| a.powf(b));
    function!(d_exp, f64, -700.0, 700.0, 1.0, |a, _b| a.exp());
    function!(d_log, f64, 0.001, 1e9, 1.0, |a, _b| a.ln());
    function!(d_sin, f64, -1e8, 1e8, 2.0, |a, _b| a.sin());
    function!(d_tan, f64, -1e3, 1e3, 2.0, |a, _b| a.tan());
    function!(d_atan2, f64, -10.0, 10.0, 2.0, |a, b| a.atan2(b));
    function!(d_cbrt, f64, -1e3, 1e3, 1.0, |a, _b| a.cbrt());
    function!(d_fmod, f64, -1e4, 1e4, 0.0, |a, b| a % b);
    function!(d_rsqrt, f64, 0.001, 1e9, 1.0, |a, _b| 1.0 / a.sqrt());
}

#[test]
fn integer_intrinsics() {
    let sim = Sim::new(MATH);
    let mut random = Random(5);
    let x: Vec<i32> = (0..33).map(|_| random.next() as i32).collect();
    let y: Vec<i64> = (0..32).map(|_| random.next() as i64).collect();
    let (dx, dy) = (sim.upload(&x), sim.upload(&y));
    let out = sim.upload(&[0_i64; 24 * 32]);
    sim.launch("ints", [1, 1, 1], [32, 1, 1], args![dx, dy, out])
        .unwrap();
    for (i, found) in sim.download::<i64>(out, 24 * 32).chunks(24).enumerate() {
        let (a, b, c) = (x[i], x[i + 1], y[i]);
        let bytes = |v: i32| v.to_le_bytes();
        let dot: i32 = (0..4)
            .map(|at| i32::from(bytes(a)[at] as i8) * i32::from(bytes(b)[at] as i8))
            .sum();
        let perm = [bytes(a)[3], bytes(b)[0], bytes(a)[1], bytes(a)[2]];
        let expected: [i64; 24] = [
            a.count_ones().into(),
            b.leading_zeros().into(),
            if a == 0 {
                0
            } else {
                (a.trailing_zeros() + 1).into()
            },
            b.reverse_bits() as u32 as i64,
            i64::from(u32::from_le_bytes(perm)),
            (i64::from(a) * i64::from(b)) >> 32,
            i64::from(a.abs_diff(b).wrapping_add(1)),
            i64::from((b as u32) << 5 | a as u32 >> 27),
            dot.wrapping_add(3).into(),
            (i64::from(a) + i64::from(b)) >> 1,
            (i64::from(a) + i64::from(b) + 1) >> 1,
            (a / (b | 1)).into(),
            (a % 7).into(),
            (a as u32 / 10).into(),
            c.count_ones().into(),
            c.leading_zeros().into(),
            ((i128::from(c) * i128::from(a)) >> 64) as i64,
            c / i64::from(b | 1),
            c % 1_000_003,
            if c == 0 {
                0
            } else {
                (c.trailing_zeros() + 1).into()
            },
            c.reverse_bits(),
            (c as u64 / 12345) as i64,
            (i128::from(c)
                .cast_unsigned()
                .wrapping_mul(u128::from(i64::from(a) as u64))
                >> 64) as i64,
            ((i128::from(c).cast_unsigned() << 32) / u128::from((b | 1) as u32)) as i64,
        ];
        // `int` results are widened with their sign, `unsigned` ones without.
        for at in 0..24 {
            let (found, expected) = (found[at], expected[at]);
            let same = found == expected || at < 14 && found as i32 == expected as i32;
            assert!(same, "{at}: {found:#x} {expected:#x}");
        }
    }
}
