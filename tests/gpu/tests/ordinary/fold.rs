//! `fold.cu`.

use gpuk_gpu_tests::fold::Kernels;

use crate::device::{Device, Random, run, shape};

fn start(seed: u64) -> (Device, Kernels, Random) {
    let device = Device::new();
    let kernels = Kernels::load(&device.context).unwrap();
    (device, kernels, Random(seed))
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_sum_tree() {
    let (device, kernels, mut random) = start(1);
    let input = random.many(5000, |random| random.unit() as f32);
    let output = device.zeros::<f32>(3);
    let output = run!(kernels.sum_tree(
        &device.stream,
        shape(3, 256),
        &device.up(&input),
        output,
        5000
    ));
    let expected: Vec<f32> = (0..3)
        .map(|block| {
            let mut part: Vec<f32> = (0..256)
                .map(|thread| input.iter().skip(block * 256 + thread).step_by(768).sum())
                .collect();
            while part.len() > 1 {
                let (low, high) = part.split_at(part.len() / 2);
                part = low.iter().zip(high).map(|(a, b)| a + b).collect();
            }
            part[0]
        })
        .collect();
    assert_eq!(device.same("sum_tree", &output), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_sum_shuffle() {
    let (device, kernels, mut random) = start(2);
    let input = random.many(3001, |random| random.next() as i32);
    let output = device.zeros::<i32>(1);
    let output = run!(kernels.sum_shuffle(
        &device.stream,
        shape(2, 96),
        &device.up(&input),
        output,
        3001
    ));
    let expected = input.iter().fold(0_i32, |sum, x| sum.wrapping_add(*x));
    assert_eq!(device.same("sum_shuffle", &output), [expected]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_extremes() {
    let (device, kernels, mut random) = start(3);
    let input = random.many(1000, |random| random.next() as u32 & 0x7fff_fff0 | 0x100);
    let (low, high, all) = (device.up(&[u32::MAX]), device.zeros(1), device.zeros(1));
    let launch = shape(8, 128);
    let (low, high, all) = run!(kernels.extremes(
        &device.stream,
        launch,
        &device.up(&input),
        low,
        high,
        all,
        1000
    ));
    let found = [low, high, all].map(|buffer| device.down(&buffer)[0]);
    let or = input.iter().fold(0, |all, x| all | x);
    assert_eq!(
        found,
        [
            *input.iter().min().unwrap(),
            *input.iter().max().unwrap(),
            or
        ]
    );
    gpuk_gpu_tests::recorded::same(&device.context, "extremes", &found);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_argmax() {
    let (device, kernels, mut random) = start(4);
    let input = random.many(4000, |random| random.below(50) as i32 - 40);
    let output = device.zeros::<u64>(1);
    let output = run!(kernels.argmax(
        &device.stream,
        shape(4, 64),
        &device.up(&input),
        output,
        4000
    ));
    let packed = device.same("argmax", &output)[0];
    let most = input.iter().max().unwrap();
    let place = input.iter().position(|x| x == most).unwrap();
    assert_eq!(((packed >> 32) as u32 ^ 1 << 31) as i32, *most);
    assert_eq!(!(packed as u32), place as u32);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_scans() {
    let (device, kernels, mut random) = start(5);
    let input = random.many(2048, |random| random.next() as u32);
    let output = device.zeros::<u32>(2048);
    let output = run!(kernels.scan(&device.stream, shape(2, 1024), &device.up(&input), output));
    let expected = input.chunks(1024).flat_map(|block| {
        block.iter().scan(0_u32, |sum, x| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        })
    });
    assert_eq!(device.same("scan", &output), expected.collect::<Vec<_>>());

    let input = random.many(256, |random| random.below(1000) as i32);
    let heads = random.many(256, |random| u8::from(random.below(6) == 0));
    let (ups, flags) = (device.up(&input), device.up(&heads));
    let output = device.zeros::<i32>(256);
    let output = run!(kernels.scan_segments(&device.stream, shape(2, 128), &ups, &flags, output));
    let mut sum = 0;
    let expected: Vec<_> = (0..256)
        .map(|i| {
            let begins = heads[i] == 1 || i.is_multiple_of(32);
            sum = if begins { input[i] } else { sum + input[i] };
            sum
        })
        .collect();
    assert_eq!(device.same("scan_segments", &output), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_histogram() {
    let (device, kernels, mut random) = start(6);
    let input = random.many(10_000, |random| (random.below(16) * random.below(17)) as u8);
    let counts = device.zeros::<u32>(256);
    let counts = run!(kernels.histogram(
        &device.stream,
        shape(3, 128),
        &device.up(&input),
        counts,
        10_000
    ));
    let mut expected = [0; 256];
    input
        .iter()
        .for_each(|byte| expected[usize::from(*byte)] += 1);
    assert_eq!(device.same("histogram", &counts), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_compact() {
    let (device, kernels, mut random) = start(7);
    let input = random.many(1000, |random| random.next() as i32);
    let (output, kept) = (device.zeros::<i32>(1000), device.zeros::<i32>(1));
    let (output, kept) = run!(kernels.compact(
        &device.stream,
        shape(1, 128),
        &device.up(&input),
        output,
        kept,
        1000
    ));
    let mut expected: Vec<_> = input.iter().copied().filter(|x| *x > 0).collect();
    assert_eq!(device.down(&kept), [expected.len() as i32]);
    expected.resize(1000, 0);
    assert_eq!(device.same("compact", &output), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_aggregate() {
    let (device, kernels, mut random) = start(8);
    let keys = random.many(777, |random| random.below(11) as u32);
    let values = random.many(777, |random| random.below(1000) as i32 - 500);
    let (up, given) = (device.up(&keys), device.up(&values));
    let sums = device.zeros::<i32>(11);
    let sums = run!(kernels.aggregate(&device.stream, shape(7, 128), &up, &given, sums, 777));
    let mut expected = [0; 11];
    keys.iter()
        .zip(&values)
        .for_each(|(key, value)| expected[*key as usize] += value);
    assert_eq!(device.same("aggregate", &sums), expected);
}
