//! The kernels of `template/`. `rms_norm` has an `rsqrt.approx` and is held to a bound.

use gpuk::CudaSlice;
use gpuk::half::f16;
use gpuk_gpu_tests::{gather, reduce, scale};

use crate::device::{Device, Random, run, shape};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_gather() {
    let (device, mut random) = (Device::new(), Random(71));
    let kernels = gather::Kernels::load(&device.context).unwrap();
    let (rows, dim, tokens) = (20, 300, 9);
    let table = random.many(rows * dim, |random| random.unit() as f32);
    let ids = random.many(tokens, |random| random.below(rows as u64) as i32);
    let form = gather::Table {
        rows: rows as i32,
        dim: dim as i32,
        scale: 1.25,
    };
    let (up, by) = (device.up(&table), device.up(&ids));
    let output = run!(kernels.gather(&device.stream, &up, &by, form));
    let expected = ids
        .iter()
        .flat_map(|id| table.chunks(dim).nth(*id as usize).unwrap())
        .map(|x| 1.25 * x);
    assert_eq!(device.same("gather", &output), expected.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_rms_norm() {
    let (device, mut random) = (Device::new(), Random(72));
    let kernels = reduce::Kernels::load(&device.context).unwrap();
    let (rows, dim) = (5, 200);
    let x = random.many(rows * dim, |random| random.unit() as f32);
    let weight = random.many(dim, |random| random.unit() as f32);
    let (up, by) = (device.up(&x), device.up(&weight));
    let launch = shape(5, 64).shared(800);
    let output = run!(kernels.rms_norm((&device.stream, launch), &up, &by, 1e-5));
    let output = device.down(&output);
    for (row, found) in x.chunks(dim).zip(output.chunks(dim)) {
        let squares = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        let factor = 1.0 / (squares / dim as f64 + 1e-5).sqrt();
        for ((x, weight), found) in row.iter().zip(&weight).zip(found) {
            let exact = f64::from(*x) * f64::from(*weight) * factor;
            // `rsqrt.approx` is within 2^-22.9 relative; sums and products round besides.
            assert!((f64::from(*found) - exact).abs() <= exact.abs() * 1e-6);
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_scale() {
    let (device, mut random) = (Device::new(), Random(73));
    let kernels = scale::Kernels::load(&device.context).unwrap();
    let x = random.many(500, |random| random.unit() as f32);
    let up = device.up(&x);
    let scaled = x.iter().map(|x| x * 0.3);
    let output: CudaSlice<f32> = run!(kernels.scale(&device.stream, &up, 0.3));
    assert_eq!(
        device.same("scale_float", &output),
        scaled.clone().collect::<Vec<_>>()
    );
    let output: CudaSlice<f64> = run!(kernels.scale(&device.stream, &up, 0.3));
    assert_eq!(
        device.same("scale_double", &output),
        scaled.clone().map(f64::from).collect::<Vec<_>>()
    );
    let output: CudaSlice<f16> = run!(kernels.scale(&device.stream, &up, 0.3));
    assert_eq!(
        device.same("scale_half", &output),
        scaled.map(f16::from_f32).collect::<Vec<_>>()
    );
}
