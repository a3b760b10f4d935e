//! What a wrapper passes is what the kernel gets. `tests/README.md` says how to run these on a device.

use std::sync::Arc;

use gpuk::{CudaContext, CudaStream, Launch, Null};
use gpuk_gpu_tests::params::{self, Kernels};

struct Device {
    stream: Arc<CudaStream>,
    kernels: Kernels,
}

impl Device {
    fn new() -> Self {
        let context: Arc<CudaContext> = gpuk::device(0).unwrap();
        Self {
            stream: context.new_stream().unwrap(),
            kernels: Kernels::load(&context).unwrap(),
        }
    }
}

fn one() -> Launch {
    Launch::default().block([1, 1, 1])
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_structs_behind_pointers_have_the_same_layout() {
    let Device { stream, kernels } = &Device::new();
    let points: Vec<_> = (0..1000)
        .map(|i| params::Point {
            x: i as f32,
            y: -(i as f32),
        })
        .collect();
    let input = stream.clone_htod(&points).unwrap();
    let output = stream
        .clone_htod(&vec![params::Point::default(); 1000])
        .unwrap();
    let launch = Kernels::POINTS.launch().elements(1000);
    // SAFETY: both have 1000 points.
    let (_, output) = unsafe { kernels.points(stream, launch, &input, output, 1000) }.unwrap();
    let found = stream.clone_dtoh(&output).unwrap();
    assert!(
        found
            .iter()
            .zip(&points)
            .all(|(a, b)| a.x == b.y && a.y == b.x)
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_kernels_of_a_macro_and_of_templates_launch() {
    let Device { stream, kernels } = &Device::new();
    let x = stream.clone_htod(&[1.0_f64, 2.0]).unwrap();
    let mut y = stream.clone_htod(&[10.0_f64, 20.0]).unwrap();
    // SAFETY: both have two elements.
    unsafe { kernels.axpy_f64(stream, Kernels::AXPY_F64.launch(), 0.5, &x, &mut y, 2) }
        .unwrap()
        .0
        .check()
        .unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [10.5, 21.0]);

    let data = stream.clone_htod(&[1_i32, -2]).unwrap();
    // SAFETY: there are two elements.
    let (_, data) =
        unsafe { kernels.multiply::<_, 3, _, _>(stream, one().block([2, 1, 1]), data, 2) }.unwrap();
    assert_eq!(stream.clone_dtoh(&data).unwrap(), [3, -6]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_several_outputs_come_back_in_order_and_null_is_null() {
    let Device { stream, kernels } = &Device::new();
    let input = stream.clone_htod(&[21]).unwrap();
    let buffer = || stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: each has the one element.
    let (_, (first, second)) =
        unsafe { kernels.two_outputs(stream, one(), &input, buffer(), buffer()) }.unwrap();
    assert_eq!(
        (
            stream.clone_dtoh(&first).unwrap(),
            stream.clone_dtoh(&second).unwrap()
        ),
        (vec![21], vec![42])
    );
    // SAFETY: the kernel takes null.
    let (_, (first, _)) =
        unsafe { kernels.two_outputs(stream, one(), Null::new(), first, second) }.unwrap();
    assert_eq!(stream.clone_dtoh(&first).unwrap(), [-1]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_void_takes_any_buffer_and_views_keep_their_place() {
    let Device { stream, kernels } = &Device::new();
    let from = stream.clone_htod(&[1_u16, 2, 3, 4]).unwrap();
    let mut to = stream.alloc_zeros::<f32>(4).unwrap();
    // SAFETY: four bytes from the third element on, into the second.
    let launched =
        unsafe { kernels.copy_bytes(stream, one(), from.slice(2..), to.slice_mut(1..), 4) };
    drop(launched.unwrap());
    let expected = f32::from_bits(u32::from(3_u16) | u32::from(4_u16) << 16);
    assert_eq!(stream.clone_dtoh(&to).unwrap(), [0.0, expected, 0.0, 0.0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_dynamic_shared_memory_above_the_default_limit() {
    let Device { stream, kernels } = &Device::new();
    let n = 25_000; // 100,000 bytes, twice what a launch gets without asking
    let input = stream.clone_htod(&vec![0.5_f32; n]).unwrap();
    let out = stream.alloc_zeros::<f32>(1).unwrap();
    let launch = Kernels::SUM.launch().shared(n as u32 * 4);
    // SAFETY: `n` is the input's length, and the shared memory holds as many.
    let (_, out) = unsafe { kernels.sum(stream, launch, &input, out, n as i32) }.unwrap();
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [n as f32 / 2.0]);
    let refused = unsafe { kernels.sum(stream, launch.shared(1 << 20), &input, out, 0) };
    println!("{}", refused.unwrap_err());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_launch_counts_blocks_whatever_the_driver_is_told() {
    let Device { stream, kernels } = &Device::new();
    let info = Kernels::IN_CLUSTERS;
    assert_eq!(
        (info.exact_block, info.cluster),
        (Some([64, 1, 1]), Some([2, 1, 1]))
    );
    let launch = |blocks: u32| {
        let count = stream.alloc_zeros::<u32>(1).unwrap();
        let size = stream.alloc_zeros::<u32>(8).unwrap();
        let shape = info.launch().grid([blocks, 1, 1]);
        // SAFETY: there is a number for each of the blocks.
        unsafe { kernels.in_clusters(stream, shape, count, size) }
    };
    let (payload, (count, size)) = launch(4).unwrap();
    payload.check().unwrap();
    assert_eq!(stream.clone_dtoh(&count).unwrap(), [4]);
    assert_eq!(stream.clone_dtoh(&size).unwrap(), [4, 4, 4, 4, 0, 0, 0, 0]);
    let refused = launch(3).unwrap_err().to_string();
    assert!(
        refused.contains("clusters of 2 × 1 × 1 blocks"),
        "{refused}"
    );
}
