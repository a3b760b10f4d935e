//! `sort.cu`.

use gpuk_gpu_tests::sort::Kernels;

use crate::device::{Device, Random, run, shape};

fn start(seed: u64) -> (Device, Kernels, Random) {
    let device = Device::new();
    let kernels = Kernels::load(&device.context).unwrap();
    (device, kernels, Random(seed))
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_bitonic() {
    let (device, kernels, mut random) = start(21);
    let mut keys = random.many(1024, |random| random.next() >> random.below(60));
    let output = run!(kernels.bitonic(&device.stream, shape(2, 256), device.up(&keys)));
    keys.chunks_mut(512).for_each(<[u64]>::sort_unstable);
    assert_eq!(device.same("bitonic", &output), keys);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_radix_passes() {
    let (device, kernels, mut random) = start(22);
    let mut keys = random.many(1000, |random| random.next() as u32);
    let mut buffers = (device.up(&keys), device.zeros::<u32>(1000));
    for shift in (0..32).step_by(4) {
        let (from, to) = buffers;
        let to = run!(kernels.radix_pass(&device.stream, shape(1, 256), &from, to, 1000, shift));
        // Each pass is stable by itself.
        keys.sort_by_key(|key| key >> shift & 15);
        assert_eq!(device.down(&to), keys, "by bit {shift}");
        buffers = (to, from);
    }
    assert!(device.same("radix_pass", &buffers.0).is_sorted());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_merge() {
    let (device, kernels, mut random) = start(23);
    let mut a = random.many(300, |random| random.below(200) as i32);
    let mut b = random.many(123, |random| random.below(200) as i32);
    a.sort_unstable();
    b.sort_unstable();
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.zeros::<i32>(423);
    let output = run!(kernels.merge(
        &device.stream,
        shape(4, 128),
        &left,
        &right,
        output,
        300,
        123
    ));
    a.extend(b);
    a.sort_unstable();
    assert_eq!(device.same("merge", &output), a);
}
