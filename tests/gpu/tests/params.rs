//! What a wrapper passes is what the kernel gets. `tests/README.md` says how to run these on a device.

use std::sync::Arc;

use gpuk::half::{bf16, f16};
use gpuk::vector::{Double2, Float3, Float4, Short2, Uchar3};
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

    /// Bytes that a kernel writes into a buffer, which it gives back.
    fn bytes(
        &self,
        len: usize,
        launch: impl FnOnce(gpuk::CudaSlice<u8>) -> gpuk::CudaSlice<u8>,
    ) -> Vec<u8> {
        let out = launch(self.stream.alloc_zeros(len).unwrap());
        self.stream.clone_dtoh(&out).unwrap()
    }
}

/// The bytes of values, one after the other.
macro_rules! bytes {
    ($($value:expr),*) => {{
        let mut bytes = Vec::new();
        $(bytes.extend_from_slice(&$value.to_ne_bytes());)*
        bytes
    }};
}

fn one() -> Launch {
    Launch::default().block([1, 1, 1])
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_numbers_of_every_size_arrive() {
    let Device { stream, kernels } = &Device::new();
    let device = Device::new();
    let found = device.bytes(64, |out| {
        // SAFETY: the numbers take 53 of the 64 bytes.
        let launched = unsafe {
            kernels.scalars(
                stream,
                one(),
                true,
                -2,
                -300,
                -70_000,
                -5_000_000_000,
                250,
                65_000,
                4_000_000_000,
                1 << 63,
                1.5,
                -2.25,
                out,
            )
        };
        launched.unwrap().1
    });
    let expected = bytes![
        1_u8,
        -2_i8,
        -300_i16,
        -70_000_i32,
        -5_000_000_000_i64,
        250_u8,
        65_000_u16,
        4_000_000_000_u32,
        1_u64 << 63,
        1.5_f32,
        -2.25_f64
    ];
    assert_eq!(found[..expected.len()], expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_struct_arrives_field_by_field() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let mixed = params::Mixed {
        tag: -7,
        weight: 0.125,
        counts: [1, -2, 3],
        flag: true,
        at: params::Point { x: 4.0, y: -5.0 },
    };
    let found = device.bytes(64, |out| {
        // SAFETY: the fields take 35 of the 64 bytes.
        unsafe { kernels.structs(stream, one(), true, mixed, 99, out) }
            .unwrap()
            .1
    });
    let expected = bytes![
        1_u8, -7_i8, 0.125_f64, 1_i32, -2_i32, 3_i32, 1_u8, 4_f32, -5_f32, 99_u32
    ];
    assert_eq!(found[..expected.len()], expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_vectors_arrive() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let found = device.bytes(64, |out| {
        let a = Float4 {
            x: 1.0,
            y: 2.0,
            z: 3.0,
            w: 4.0,
        };
        let b = Uchar3 { x: 5, y: 6, z: 7 };
        let c = Double2 { x: 8.0, y: 9.0 };
        let d = Short2 { x: -10, y: 11 };
        let e = Float3 {
            x: 12.0,
            y: 13.0,
            z: 14.0,
        };
        // SAFETY: the vectors take 52 of the 64 bytes.
        unsafe { kernels.vectors(stream, one(), -1, a, b, c, d, e, out) }
            .unwrap()
            .1
    });
    let expected = bytes![
        -1_i8, 1_f32, 2_f32, 3_f32, 4_f32, 5_u8, 6_u8, 7_u8, 8_f64, 9_f64, -10_i16, 11_i16, 12_f32,
        13_f32, 14_f32
    ];
    assert_eq!(found[..expected.len()], expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_halves_arrive() {
    let Device { stream, kernels } = &Device::new();
    let out = stream.alloc_zeros::<f32>(2).unwrap();
    // SAFETY: `out` has both.
    let (payload, out) =
        unsafe { kernels.halves(stream, one(), f16::from_f32(0.1), bf16::from_f32(-3.5), out) }
            .unwrap();
    payload.check().unwrap();
    assert_eq!(
        stream.clone_dtoh(&out).unwrap(),
        [f16::from_f32(0.1).to_f32(), -3.5]
    );
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
