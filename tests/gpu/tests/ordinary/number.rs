//! `number.cu`. Three kernels have `.approx` instructions: `gravity` and `layer_norm` (`rsqrt`), `softmax` (`ex2`). They are
//! held to bounds; all others to the bit.

use gpuk::Launch;
use gpuk::half::{bf16, f16};
use gpuk::vector::{Bfloat162, Float3, Float4, Half2};
use gpuk_gpu_tests::number::Kernels;

use crate::device::{Device, Random, run, shape};

fn start(seed: u64) -> (Device, Kernels, Random) {
    let device = Device::new();
    let kernels = Kernels::load(&device.context).unwrap();
    (device, kernels, Random(seed))
}

/// To the nearest number of `bits` bits, ties to even; exponents are those of normal numbers.
fn nearest(x: f64, bits: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = (x.abs().to_bits() >> 52) as i32 - 1023;
    let unit = 2_f64.powi(exponent + 1 - bits);
    (x / unit).round_ties_even() * unit
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_mandelbrot() {
    let (device, kernels, _) = start(0);
    let (width, height, limit) = (48, 32, 60);
    let steps = device.zeros::<i32>(48 * 32);
    let launch = Launch::default().grid([3, 8, 1]).block([16, 4, 1]);
    let steps = run!(kernels.mandelbrot(&device.stream, launch, steps, width, height, limit));
    let expected = (0..width * height).map(|i| {
        let cx = 3.0 * f64::from(i % width) / f64::from(width) - 2.25;
        let cy = 2.5 * f64::from(i / width) / f64::from(height) - 1.25;
        let (mut x, mut y, mut n) = (0.0_f64, 0.0_f64, 0);
        while n < limit && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, (2.0 * x).mul_add(y, cy));
            n += 1;
        }
        n
    });
    assert_eq!(
        device.same("mandelbrot", &steps),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_gravity() {
    let (device, kernels, mut random) = start(61);
    let mut draw = || random.unit() as f32;
    let bodies: Vec<_> = (0..150)
        .map(|_| Float4 {
            x: draw(),
            y: draw(),
            z: draw(),
            w: draw().abs(),
        })
        .collect();
    let forces = device.up(&[Float3::default(); 150]);
    let forces = run!(kernels.gravity(
        &device.stream,
        shape(3, 64),
        &device.up(&bodies),
        forces,
        150
    ));
    for (own, force) in bodies.iter().zip(device.down(&forces)) {
        let [mut sum, mut scale] = [[0.0; 3]; 2];
        for other in &bodies {
            let along = [other.x - own.x, other.y - own.y, other.z - own.z].map(f64::from);
            let square = along.iter().map(|x| x * x).sum::<f64>() + 0.01;
            for axis in 0..3 {
                let term = along[axis] * f64::from(other.w) / square.powf(1.5);
                sum[axis] += term;
                scale[axis] += term.abs();
            }
        }
        // `rsqrt.approx` is within 2^-22.9 relative; to the third power, with the roundings of 150 sums.
        for (found, axis) in [force.x, force.y, force.z].iter().zip(0..) {
            assert!((f64::from(*found) - sum[axis]).abs() <= scale[axis] * 3e-6);
        }
    }
}

/// A result to the nearest, its neighbours where it is not exact: to nearest, to zero, up, down.
fn ways(nearest: f64, above: std::cmp::Ordering) -> [f64; 4] {
    let (down, up) = match above {
        std::cmp::Ordering::Less => (nearest.next_down(), nearest),
        std::cmp::Ordering::Equal => (nearest, nearest),
        std::cmp::Ordering::Greater => (nearest, nearest.next_up()),
    };
    [nearest, if nearest > 0.0 { down } else { up }, up, down]
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_rounding() {
    let (device, kernels, mut random) = start(62);
    let mut draw = || {
        let scale = 2_f64.powi(random.below(60) as i32 - 30);
        random.unit() * scale
    };
    let a: Vec<_> = (0..200).map(|_| draw()).collect();
    let b: Vec<_> = (0..200).map(|_| draw()).collect();
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.zeros::<f64>(16 * 200);
    let output = run!(kernels.rounding(&device.stream, shape(4, 64), &left, &right, output, 200));
    let zero = |x: f64| x.partial_cmp(&0.0).unwrap();
    let expected = a.iter().zip(&b).flat_map(|(&a, &b)| {
        let sum = a + b;
        // Knuth's exact error of a sum; products, quotients and roots have theirs by fused steps.
        let of_b = sum - a;
        let error = (a - (sum - of_b)) + (b - of_b);
        let product = a * b;
        let quotient = a / b;
        let rest = (-quotient).mul_add(b, a) * b.signum();
        let root = a.abs().sqrt();
        let left = (-root).mul_add(root, a.abs());
        [
            ways(sum, zero(error)),
            ways(product, zero(a.mul_add(b, -product))),
            ways(quotient, zero(rest)),
            ways(root, zero(left)),
        ]
    });
    let expected: Vec<_> = expected.flatten().collect();
    assert_eq!(device.same("rounding", &output), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_quotients() {
    let (device, kernels, mut random) = start(63);
    let mut draw = |_| f32::from_bits(random.next() as u32);
    let mut a: Vec<_> = (0..400).map(&mut draw).collect();
    let b: Vec<_> = (0..400).map(draw).collect();
    a[..5].copy_from_slice(&[0.0, -0.0, f32::INFINITY, f32::MIN_POSITIVE / 4.0, 1.0]);
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.up(&[Float4::default(); 400]);
    let output = run!(kernels.quotients(&device.stream, shape(7, 64), &left, &right, output, 400));
    let output = device.down(&output);
    let found = output.iter().flat_map(|row| [row.x, row.y, row.z, row.w]);
    // Which NaN it is is the machine's own affair.
    let plain = |x: f32| if x.is_nan() { u32::MAX } else { x.to_bits() };
    let found: Vec<_> = found.map(plain).collect();
    let expected = a
        .iter()
        .zip(&b)
        .flat_map(|(a, b)| [a / b, a.abs().sqrt(), 1.0 / a, a.mul_add(*b, *a)]);
    assert_eq!(found, expected.map(plain).collect::<Vec<_>>());
    gpuk_gpu_tests::recorded::same(&device.context, "quotients", &found);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_layer_norm() {
    let (device, kernels, mut random) = start(64);
    let (rows, columns) = (5, 100);
    let input = random.many(rows * columns, |random| {
        f16::from_f64(random.unit() * 3.0 + 1.0)
    });
    let weight = random.many(columns, |random| f16::from_f64(random.unit()));
    let output = device.up(&vec![f16::ZERO; rows * columns]);
    let (up, by) = (device.up(&input), device.up(&weight));
    let output = run!(kernels.layer_norm(&device.stream, shape(5, 32), &up, &by, output, 100));
    let output = device.down(&output);
    for (row, found) in input.chunks(columns).zip(output.chunks(columns)) {
        let row: Vec<_> = row.iter().map(|x| x.to_f64()).collect();
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / columns as f64;
        for ((x, weight), found) in row.iter().zip(&weight).zip(found) {
            let exact = (x - mean) / (variance + 1e-5).sqrt() * weight.to_f64();
            // Half a unit of a half, and what single precision lost before.
            let bound = exact.abs().max(6.2e-5) * (0.5 / 1024.0 + 1e-5) + 1e-6;
            assert!(
                (found.to_f64() - exact).abs() <= bound,
                "{found} for {exact}"
            );
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_softmax() {
    let (device, kernels, mut random) = start(65);
    let (rows, columns) = (4, 77);
    let input = random.many(rows * columns, |random| bf16::from_f64(random.unit() * 6.0));
    let output = device.up(&vec![bf16::ZERO; rows * columns]);
    let output =
        run!(kernels.softmax(&device.stream, shape(4, 32), &device.up(&input), output, 77));
    let output = device.down(&output);
    for (row, found) in input.chunks(columns).zip(output.chunks(columns)) {
        let powers: Vec<_> = row.iter().map(|x| x.to_f64().exp()).collect();
        let sum = powers.iter().sum::<f64>();
        for (power, found) in powers.iter().zip(found) {
            let exact = power / sum;
            // Half a unit of a bfloat16, and what single precision lost before.
            let bound = exact * (0.5 / 128.0 + 1e-5);
            assert!(
                (found.to_f64() - exact).abs() <= bound,
                "{found} for {exact}"
            );
        }
    }
}

/// The lesser, or the greater; `strict`: of a NaN nothing else comes.
fn extreme(a: f64, b: f64, greater: bool, strict: bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (false, false) if a == b => {
            let negative = a.is_sign_negative() != greater;
            if negative { a } else { b }
        }
        (false, false) => {
            if (a > b) == greater {
                a
            } else {
                b
            }
        }
        (true, true) => f64::NAN,
        _ if strict => f64::NAN,
        (true, false) => b,
        (false, true) => a,
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_pairs() {
    let (device, kernels, mut random) = start(66);
    // Products and sums of these are exact in double precision.
    let mut draw = |bits| {
        let x = nearest(random.unit() * 8.0, bits);
        let tiny = x.abs() < 1.0 / 64.0;
        match random.below(12) {
            0 => f64::NAN,
            1 => 0.0,
            2 => -0.0,
            _ if tiny => 1.0,
            _ => x,
        }
    };
    let mut four =
        |bits| -> [Vec<f64>; 2] { [(); 2].map(|()| (0..128).map(|_| draw(bits)).collect()) };
    let ([a, b], [c, d]) = (four(11), four(8));
    let halves = |values: &[f64]| -> Vec<Half2> {
        let pair = |pair: &[f64]| Half2::new(f16::from_f64(pair[0]), f16::from_f64(pair[1]));
        values.chunks(2).map(pair).collect()
    };
    let brains = |values: &[f64]| -> Vec<Bfloat162> {
        let pair = |pair: &[f64]| Bfloat162::new(bf16::from_f64(pair[0]), bf16::from_f64(pair[1]));
        values.chunks(2).map(pair).collect()
    };
    let (ups, given) = (device.up(&halves(&a)), device.up(&halves(&b)));
    let (more, by) = (device.up(&brains(&c)), device.up(&brains(&d)));
    let outputs = (
        device.up(&[Half2::default(); 256]),
        device.up(&[Bfloat162::default(); 256]),
    );
    let (halves, brains) = run!(kernels.pairs(
        &device.stream,
        shape(1, 64),
        &ups,
        &given,
        outputs.0,
        &more,
        &by,
        outputs.1,
        64
    ));
    // Which NaN it is is the machine's own affair.
    let half = |x: f16| if x.is_nan() { u16::MAX } else { x.to_bits() };
    let brain = |x: bf16| if x.is_nan() { u16::MAX } else { x.to_bits() };
    let halves = device.down(&halves).into_iter();
    let halves: Vec<_> = halves.flat_map(|pair| [pair.x, pair.y].map(half)).collect();
    let brains = device.down(&brains).into_iter();
    let brains: Vec<_> = brains
        .flat_map(|pair| [pair.x, pair.y].map(brain))
        .collect();

    let expected =
        |a: &[f64], b: &[f64], bits: i32, of: &dyn Fn(f64) -> u16, swap: bool| -> Vec<u16> {
            let rows = a.chunks(2).zip(b.chunks(2)).flat_map(|(a, b)| {
                let each =
                    |result: &dyn Fn(f64, f64) -> f64| [result(a[0], b[0]), result(a[1], b[1])];
                let compared = |a: f64, b: f64| f64::from(if swap { a <= b } else { a > b });
                [
                    each(&|a, b| nearest(a * b + a, bits)),
                    each(&|a, b| extreme(a, b, false, swap)),
                    each(&|a, b| extreme(a, b, true, !swap)),
                    each(&compared),
                ]
            });
            rows.flatten().map(of).collect()
        };
    assert_eq!(
        halves,
        expected(&a, &b, 11, &|x| half(f16::from_f64(x)), false)
    );
    assert_eq!(
        brains,
        expected(&c, &d, 8, &|x| brain(bf16::from_f64(x)), true)
    );
    let all: Vec<_> = halves.into_iter().chain(brains).map(u32::from).collect();
    gpuk_gpu_tests::recorded::same(&device.context, "pairs", &all);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_wide() {
    let (device, kernels, mut random) = start(67);
    let mut draw = || {
        let x = u128::from(random.next()) << 64 | u128::from(random.next());
        (x >> random.below(126)).max(1)
    };
    let a: Vec<_> = (0..150).map(|_| draw()).collect();
    let b: Vec<_> = (0..150).map(|_| draw()).collect();
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.zeros::<u128>(750);
    let output = run!(kernels.wide(&device.stream, shape(3, 64), &left, &right, output, 150));
    let expected = a.iter().zip(&b).flat_map(|(&a, &b)| {
        let right = a as i128 >> (a & 127);
        [
            a.wrapping_mul(b),
            a / b,
            a % b,
            a << (b & 127),
            right as u128,
        ]
    });
    assert_eq!(device.same("wide", &output), expected.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_integers() {
    let (device, kernels, mut random) = start(68);
    let mut draw = || random.next() as i64 >> random.below(60);
    let mut a: Vec<_> = (0..200).map(|_| draw()).collect();
    let b: Vec<_> = (0..200)
        .map(|_| draw())
        .map(|x| if x == 0 || x == -1 { 3 } else { x })
        .collect();
    a[..3].copy_from_slice(&[0, i64::MIN, i64::MAX]);
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.zeros::<i64>(2000);
    let output = run!(kernels.integers(&device.stream, shape(4, 64), &left, &right, output, 200));
    let expected = a.iter().zip(&b).flat_map(|(&a, &b)| {
        let (x, y) = (a as i32, b as i32);
        let (low, other) = (x << 8 >> 8, y << 8 >> 8);
        let half = |more: i64| ((i64::from(x) + i64::from(y) + more) >> 1) as u32;
        let words = [
            x.abs_diff(y).wrapping_add(7),
            low.wrapping_mul(other) as u32,
            half(0),
            half(1),
        ];
        [
            a / b,
            a % b,
            (a as u64 / b as u64) as i64,
            (a as u64 % b as u64) as i64,
            ((i128::from(a) * i128::from(b)) >> 64) as i64,
            i64::from(a.leading_zeros()),
            if a == 0 {
                0
            } else {
                i64::from(a.trailing_zeros()) + 1
            },
            i64::from(a.count_ones()),
            a.reverse_bits(),
            i64::from(
                words
                    .iter()
                    .fold(0_u32, |sum, word| sum.wrapping_add(*word)),
            ),
        ]
    });
    assert_eq!(
        device.same("integers", &output),
        expected.collect::<Vec<_>>()
    );
}
