//! What the checks cost: a tiled matrix product and a saxpy, with bounds alone and with every check, on one core and
//! on two. The rate is of thread instructions.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gpuk_sim::{Device, Launch, MemoryKind, Options, Races, Uninitialised};

const KERNELS: &str = include_str!("../tests/ptx/basic.ptx");

/// A device that uses so many cores, with every check or with bounds alone.
fn device(threads: usize, all: bool) -> Arc<Device> {
    let options = Options {
        threads,
        races: if all { Races::All } else { Races::Off },
        uninitialised: if all {
            Uninitialised::Error
        } else {
            Uninitialised::Off
        },
        ..Options::default()
    };
    Arc::new(Device::new(options))
}

/// Memory of so many numbers.
fn upload(device: &Device, count: usize) -> u64 {
    let bytes: Vec<u8> = (0..count)
        .flat_map(|i| (i as f32 % 13.0).to_le_bytes())
        .collect();
    let memory = device.memory();
    let address = memory
        .alloc(bytes.len() as u64, MemoryKind::Device)
        .unwrap();
    memory.write(address, &bytes).unwrap();
    address
}

fn run(c: &mut Criterion, name: &str, prepare: impl Fn(&Device) -> Launch, kernel: &str) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for (threads, all) in [(1, false), (1, true), (2, false), (2, true)] {
        let device = device(threads, all);
        let module = device.load(KERNELS).unwrap();
        let function = module.function(kernel).unwrap();
        let launch = prepare(&device);
        let instructions = device.launch(&function, &launch).unwrap().instructions;
        group.throughput(Throughput::Elements(instructions));
        let checks = if all { "all checks" } else { "bounds" };
        group.bench_function(format!("{checks}, {threads} cores"), |bencher| {
            bencher.iter(|| {
                let report = device
                    .launch(black_box(&function), black_box(&launch))
                    .unwrap();
                assert!(report.findings.is_empty(), "{:?}", report.findings);
            });
        });
    }
    group.finish();
}

fn matmul(c: &mut Criterion) {
    const N: usize = 256;
    let prepare = |device: &Device| {
        let mut params = Vec::new();
        for _ in 0..3 {
            params.extend(upload(device, N * N).to_le_bytes());
        }
        params.extend((N as i32).to_le_bytes());
        Launch::new([N as u32 / 16, N as u32 / 16, 1], [16, 16, 1], params)
    };
    run(c, "matmul of 256", prepare, "matmul");
}

fn saxpy(c: &mut Criterion) {
    const N: usize = 1 << 20;
    let prepare = |device: &Device| {
        let mut params = 2.0_f32.to_le_bytes().to_vec();
        params.extend([0; 4]);
        for _ in 0..2 {
            params.extend(upload(device, N).to_le_bytes());
        }
        params.extend((N as i32).to_le_bytes());
        Launch::new([N as u32 / 256, 1, 1], [256, 1, 1], params)
    };
    run(c, "saxpy of 1 Mi", prepare, "saxpy");
}

criterion_group!(benches, matmul, saxpy);
criterion_main!(benches);
