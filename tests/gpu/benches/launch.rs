//! What a launch costs the host: cudarc's builder beside the wrappers, in one run on a device.
//!
//! Criterion measures one after the other; the paired rounds at the end take turns.
//!
//! Each sample launches in rounds of 200 and waits between the rounds, outside the measured time, so that the
//! queue never fills.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use gpuk::cudarc::driver::{LaunchConfig, PushKernelArg};
use gpuk::cudarc::nvrtc::Ptx;
use gpuk::{CudaStream, Launch};
use gpuk_gpu_tests::checks::Kernels;

const ROUND: u64 = 200;

/// The time of `launches` calls, waits left out.
fn rounds(stream: &CudaStream, launches: u64, mut launch: impl FnMut()) -> Duration {
    let mut time = Duration::ZERO;
    let mut left = launches;
    while left > 0 {
        let round = left.min(ROUND);
        let start = Instant::now();
        (0..round).for_each(|_| launch());
        time += start.elapsed();
        stream.synchronize().expect("the kernels run");
        left -= round;
    }
    time
}

/// The median of the second's time over the first's, in rounds that take turns: what the machine does besides
/// falls on both.
fn paired(stream: &CudaStream, mut first: impl FnMut(), mut second: impl FnMut()) -> f64 {
    let mut ratios: Vec<_> = (0..500)
        .map(|_| {
            let first = rounds(stream, ROUND, &mut first);
            rounds(stream, ROUND, &mut second).as_secs_f64() / first.as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn launches(criterion: &mut Criterion) {
    let context = gpuk::device(0).expect("a device");
    let kernels = Kernels::load(&context).expect("the kernels load");
    // The same kernel as `checks::unchecked`, as a program without wrappers would load it.
    let ptx = Ptx::from_src(include_str!("unchecked.ptx"));
    let module = context.load_module(ptx).expect("the module loads");
    let function = &module
        .load_function("unchecked")
        .expect("the kernel is there");
    let streams: [(&str, Arc<CudaStream>); 2] = [
        ("default stream", context.default_stream()),
        (
            "own stream, events tracked",
            context.new_stream().expect("a stream"),
        ),
    ];
    for (name, stream) in &streams {
        let src = stream.alloc_zeros::<f32>(32).expect("memory");
        let mut dst = stream.alloc_zeros::<f32>(32).expect("memory");
        let mut other = stream.alloc_zeros::<f32>(32).expect("memory");
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (32, 1, 1),
            shared_mem_bytes: 0,
        };
        let launch = Launch::from(config);
        let mut group = criterion.benchmark_group(format!("launch, {name}"));
        group
            .sample_size(50)
            .measurement_time(Duration::from_secs(4));
        group.bench_function("cudarc's builder", |bench| {
            bench.iter_custom(|count| {
                rounds(stream, count, || {
                    let n = 32_i32;
                    let mut builder = stream.launch_builder(function);
                    builder.arg(&src).arg(&mut dst).arg(&n);
                    // SAFETY: both buffers have 32 elements.
                    unsafe { builder.launch(config) }.expect("launched");
                })
            });
        });
        group.bench_function("wrapper, unchecked kernel", |bench| {
            bench.iter_custom(|count| {
                rounds(stream, count, || {
                    // SAFETY: both buffers have 32 elements.
                    drop(
                        unsafe { kernels.unchecked(stream, launch, &src, &mut dst, 32) }
                            .expect("launched"),
                    );
                })
            });
        });
        group.bench_function("wrapper, checked kernel", |bench| {
            bench.iter_custom(|count| {
                rounds(stream, count, || {
                    // SAFETY: both buffers have 32 elements.
                    drop(
                        unsafe { kernels.checked(stream, launch, &src, &mut dst, 32) }
                            .expect("launched"),
                    );
                })
            });
        });
        group.finish();
        let ratio = paired(
            stream,
            || {
                let n = 32_i32;
                let mut builder = stream.launch_builder(function);
                builder.arg(&src).arg(&mut dst).arg(&n);
                // SAFETY: both buffers have 32 elements.
                unsafe { builder.launch(config) }.expect("launched");
            },
            || {
                // SAFETY: both buffers have 32 elements.
                drop(
                    unsafe { kernels.checked(stream, launch, &src, &mut other, 32) }
                        .expect("launched"),
                );
            },
        );
        println!(
            "launch, {name}: checked wrapper / cudarc's builder, median of paired rounds: {ratio:.3}"
        );
        let ratio = paired(
            stream,
            || {
                // SAFETY: both buffers have 32 elements.
                drop(
                    unsafe { kernels.unchecked(stream, launch, &src, &mut dst, 32) }
                        .expect("launched"),
                );
                stream.synchronize().expect("the kernel runs");
            },
            || {
                // SAFETY: both buffers have 32 elements.
                let launched = unsafe { kernels.checked(stream, launch, &src, &mut other, 32) };
                let (payload, _) = launched.expect("launched");
                payload.check().expect("the check passes");
            },
        );
        println!(
            "launch and wait, {name}: checked and asked / unchecked and waited for, median of paired rounds: {ratio:.3}\n"
        );
    }
}

criterion_group!(benches, launches);
criterion_main!(benches);
