//! `matrix.cu`. Products are fused: nvcc contracts `sum += a * b`.

use gpuk::Launch;
use gpuk_gpu_tests::matrix::Kernels;

use crate::device::{Device, Random, butterfly, run, shape};

fn start(seed: u64) -> (Device, Kernels, Random) {
    let device = Device::new();
    let kernels = Kernels::load(&device.context).unwrap();
    (device, kernels, Random(seed))
}

fn plane(grid: [u32; 2], block: [u32; 2]) -> Launch {
    Launch::default()
        .grid([grid[0], grid[1], 1])
        .block([block[0], block[1], 1])
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_transpose() {
    let (device, kernels, mut random) = start(11);
    let (rows, columns) = (37, 50);
    let input = random.many(rows * columns, Random::unit);
    let output = device.zeros::<f64>(rows * columns);
    let launch = plane([4, 3], [16, 16]);
    let output =
        run!(kernels.transpose(&device.stream, launch, &device.up(&input), output, 37, 50));
    let output = device.same("transpose", &output);
    for (i, x) in input.iter().enumerate() {
        assert_eq!(output[i % columns * rows + i / columns], *x);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_heat() {
    let (device, kernels, mut random) = start(12);
    let (width, height) = (70, 21);
    let mut input = random.many(width * height, |random| random.unit() as f32);
    let launch = plane([3, 3], [32, 8]);
    let mut buffers = (device.up(&input), device.up(&input));
    for _ in 0..3 {
        let (from, to) = buffers;
        let to = run!(kernels.heat(&device.stream, launch, &from, to, 70, 21));
        buffers = (to, from);
        let old = input.clone();
        for y in 1..height - 1 {
            for x in 1..width - 1 {
                let at = y * width + x;
                let across = old[at - 1] + old[at + 1];
                input[at] = ((old[at - width] + old[at + width]) + across) / 4.0;
            }
        }
    }
    assert_eq!(device.same("heat", &buffers.0), input);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_spmv() {
    let (device, kernels, mut random) = start(13);
    let n = 40;
    let mut starts = vec![0];
    let (mut columns, mut values) = (vec![], vec![]);
    for row in 0..n {
        for column in (0..n as i32).filter(|_| random.below(40) < row) {
            columns.push(column);
            values.push(Random(u64::from(column as u32) + row).unit());
        }
        starts.push(columns.len() as i32);
    }
    let x = random.many(n as usize, Random::unit);
    let (up, given) = (device.up(&starts), device.up(&columns));
    let (of, by) = (device.up(&values), device.up(&x));
    let y = device.zeros::<f64>(n as usize);
    let y = run!(kernels.spmv(
        &device.stream,
        shape(10, 128),
        &up,
        &given,
        &of,
        &by,
        y,
        n as i32
    ));
    let expected = starts.windows(2).map(|row| {
        let of_lane = |lane| {
            let places = (row[0] as usize + lane..row[1] as usize).step_by(32);
            places.fold(0.0, |sum, i| {
                f64::mul_add(values[i], x[columns[i] as usize], sum)
            })
        };
        butterfly((0..32).map(of_lane).collect())
    });
    assert_eq!(device.same("spmv", &y), expected.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_gemm() {
    let (device, kernels, mut random) = start(14);
    let (m, n, k) = (35, 20, 50);
    let a = random.many(m * k, |random| random.unit() as f32);
    let b = random.many(k * n, |random| random.unit() as f32);
    let (left, right) = (device.up(&a), device.up(&b));
    let c = device.zeros::<f32>(m * n);
    let launch = plane([2, 3], [16, 16]);
    let c = run!(kernels.gemm(&device.stream, launch, &left, &right, c, 35, 20, 50));
    let expected = (0..m * n).map(|i| {
        (0..k).fold(0.0, |sum, at| {
            f32::mul_add(a[i / n * k + at], b[at * n + i % n], sum)
        })
    });
    assert_eq!(device.same("gemm", &c), expected.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_gemm_registers() {
    let (device, kernels, mut random) = start(15);
    let n = 36;
    let a = random.many(n * n, Random::unit);
    let b = random.many(n * n, Random::unit);
    let (left, right) = (device.up(&a), device.up(&b));
    let c = device.zeros::<f64>(n * n);
    let launch = plane([2, 3], [8, 4]);
    let c = run!(kernels.gemm_registers(&device.stream, launch, &left, &right, c, 36));
    let expected = (0..n * n).map(|i| {
        (0..n).fold(0.0, |sum, k| {
            f64::mul_add(a[i / n * n + k], b[k * n + i % n], sum)
        })
    });
    assert_eq!(
        device.same("gemm_registers", &c),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_dot_bytes() {
    let (device, kernels, mut random) = start(16);
    let a = random.many(100 * 9, |random| random.next() as i32);
    let b = random.many(100 * 9, |random| random.next() as i32);
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.zeros::<i32>(100);
    let output =
        run!(kernels.dot_bytes(&device.stream, shape(4, 32), &left, &right, output, 100, 9));
    let bytes = |words: &[i32]| -> Vec<i32> {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.map(|byte| i32::from(byte as i8)).collect()
    };
    let expected = a.chunks(9).zip(b.chunks(9)).map(|(a, b)| {
        bytes(a)
            .iter()
            .zip(bytes(b))
            .map(|(x, y)| x * y)
            .sum::<i32>()
    });
    assert_eq!(
        device.same("dot_bytes", &output),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_convolve() {
    let (device, kernels, mut random) = start(17);
    let input = random.many(333, |random| random.unit() as f32);
    let output = device.zeros::<f32>(333);
    let output = run!(kernels.convolve(
        &device.stream,
        shape(6, 64),
        &device.up(&input),
        output,
        333
    ));
    let taps = [-0.125, 0.25, 0.5, 1.0, 0.5, 0.25, -0.125];
    let expected = (0..333_usize).map(|i| {
        let near = taps.iter().enumerate().filter_map(|(tap, by)| {
            let from = (i + tap).checked_sub(3)?;
            Some((*by, *input.get(from)?))
        });
        near.fold(0.0, |sum, (by, x)| f32::mul_add(by, x, sum))
    });
    assert_eq!(
        device.same("convolve", &output),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_shortest() {
    let (device, kernels, mut random) = start(18);
    let n = 24;
    let mut ways = random.many(n * n, |random| 1 + random.below(1000) as i32);
    (0..n).for_each(|i| ways[i * n + i] = 0);
    let mut output = device.up(&ways);
    for through in 0..24 {
        output = run!(kernels.shortest(&device.stream, shape(5, 128), output, 24, through));
    }
    // Bellman and Ford, from every vertex.
    let mut expected = vec![i32::MAX / 2; n * n];
    for from in 0..n {
        let row = &mut expected[from * n..][..n];
        row[from] = 0;
        for _ in 0..n {
            for edge in 0..n * n {
                row[edge % n] = row[edge % n].min(row[edge / n] + ways[edge]);
            }
        }
    }
    assert_eq!(device.same("shortest", &output), expected);
}
