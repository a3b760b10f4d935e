//! One method for all instances of a kernel template.

use std::sync::Arc;

use gpuk::half::f16;
use gpuk::{CudaSlice, CudaStream, DeviceRepr, Launch};
use gpuk_gpu_tests::templates::{self, Kernels, Square, Twice};

fn device() -> (Arc<CudaStream>, Kernels) {
    let context = gpuk::device(0).unwrap();
    let kernels = Kernels::load(&context).unwrap();
    (context.new_stream().unwrap(), kernels)
}

fn threads(count: u32) -> Launch {
    Launch::default().block([count, 1, 1])
}

/// A caller that is generic itself: the trait is all that it needs.
fn scaled<T: templates::Scale + Clone>(x: &[T], k: T, plus: T::Plus) -> Vec<T> {
    let (stream, kernels) = device();
    let launch = T::INFO.launch().elements(x.len());
    let x: CudaSlice<T> = stream.clone_htod(x).unwrap();
    // SAFETY: `plus` counts no more elements than there are.
    let (payload, x) = unsafe { kernels.scale(&stream, launch, x, k, plus) }.unwrap();
    payload.check().unwrap();
    download(&stream, &x)
}

fn download<T: DeviceRepr + Clone>(stream: &Arc<CudaStream>, x: &CudaSlice<T>) -> Vec<T> {
    stream.clone_dtoh(x).unwrap()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_template_is_launched_for_each_of_its_types() {
    use templates::{Pair_double, Pair_float, Pair_half, Pair_int};

    assert_eq!(
        scaled(
            &[1.0, 2.0, 3.0],
            2.0f32,
            Pair_float {
                first: 0.5,
                second: 2
            }
        ),
        [2.5, 4.5, 3.0]
    );
    assert_eq!(
        scaled(
            &[1.0, 2.0, 3.0],
            2.0f64,
            Pair_double {
                first: 0.25,
                second: 3
            }
        ),
        [2.25, 4.25, 6.25]
    );
    let half = f16::from_f32;
    assert_eq!(
        scaled(
            &[half(1.0), half(-2.0)],
            half(1.5),
            Pair_half {
                first: half(1.0),
                second: 2
            }
        ),
        [half(2.5), half(-2.0)]
    );
    assert_eq!(
        scaled(
            &[5, 6, 7],
            3,
            Pair_int {
                first: -1,
                second: 3
            }
        ),
        [14, 17, 20]
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_numbers_are_const_generics_and_types_are_inferred() {
    let (stream, kernels) = device();
    let values: Vec<f32> = (0..64).map(|i| i as f32 / 4.0).collect();
    let src = stream.clone_htod(&values).unwrap();
    let halves = stream.alloc_zeros::<f16>(64).unwrap();
    let back = stream.alloc_zeros::<f32>(64).unwrap();
    // SAFETY: the buffers have 64 elements, the grids as many threads.
    let back = unsafe {
        let launch = threads(32).grid([2, 1, 1]);
        let (_, halves) = kernels
            .cast::<_, _, 32, _, _>(&stream, launch, &src, halves)
            .unwrap();
        let (_, back) = kernels
            .cast::<f16, f32, 64, _, _>(&stream, threads(64), &halves, back)
            .unwrap();
        back
    };
    assert_eq!(download(&stream, &back), values);
    assert_eq!(
        <f16 as templates::Cast<f32, 64>>::INFO.max_threads,
        Some(64)
    );
    assert_eq!(Kernels::CAST_HALF_FLOAT_32.max_threads, Some(32));
    // Asked for in the manifest.
    let ints = stream.clone_htod(&[-5, 7]).unwrap();
    let doubles = stream.alloc_zeros::<f64>(2).unwrap();
    // SAFETY: two threads for two elements.
    let (_, doubles) =
        unsafe { kernels.cast::<_, _, 16, _, _>(&stream, threads(2), &ints, doubles) }.unwrap();
    assert_eq!(download(&stream, &doubles), [-5.0, 7.0]);
    // SAFETY: refused before it is launched.
    let refused = unsafe {
        kernels.cast::<f16, f32, 32, _, _>(&stream, threads(64), &halves_of(&stream), back)
    };
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("cast_half_float_32")
    );
}

fn halves_of(stream: &Arc<CudaStream>) -> CudaSlice<f16> {
    stream.alloc_zeros(64).unwrap()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_values_of_every_kind_arrive() {
    let (stream, kernels) = device();
    let mut out = stream.alloc_zeros::<u64>(4).unwrap();
    // SAFETY: it writes four numbers.
    unsafe { kernels.made::<true, 7, 65, { u64::MAX }, _, _>(&stream, threads(1), &mut out) }
        .unwrap()
        .0
        .check()
        .unwrap();
    assert_eq!(download(&stream, &out), [1, 7, 65, u64::MAX]);
    // SAFETY: it writes four numbers.
    unsafe { kernels.made::<false, 0, -3, 1, _, _>(&stream, threads(1), &mut out) }
        .unwrap()
        .0
        .check()
        .unwrap();
    assert_eq!(download(&stream, &out), [0, 0, 3u64.wrapping_neg(), 1]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_type_without_a_parameter_is_named() {
    let (stream, kernels) = device();
    let x = stream.clone_htod(&[3.0f32, 4.0]).unwrap();
    // SAFETY: two elements, as it is told.
    let x = unsafe {
        let (_, x) = kernels
            .map::<Twice, _, _>(&stream, threads(2), x, 2)
            .unwrap();
        let (_, x) = kernels
            .map::<Square, _, _>(&stream, threads(2), x, 2)
            .unwrap();
        x
    };
    assert_eq!(download(&stream, &x), [36.0, 64.0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_only_some_instances_have_checks() {
    let (stream, kernels) = device();
    assert_eq!(
        [Kernels::BELOW_0.checked, Kernels::BELOW_8.checked],
        [false, true]
    );
    let mut x = stream.clone_htod(&[7, 8]).unwrap();
    // SAFETY: two threads for two elements.
    let (free, checked) = unsafe {
        let (free, _) = kernels
            .below::<0, _, _>(&stream, threads(2), &mut x)
            .unwrap();
        let (checked, _) = kernels
            .below::<8, _, _>(&stream, threads(2), &mut x)
            .unwrap();
        (free, checked)
    };
    free.check().unwrap();
    let failed = checked.check().unwrap_err().to_string();
    assert!(failed.contains("8 is not below 8"), "{failed}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_what_cannot_be_generic_has_a_method_for_each_instance() {
    let (stream, kernels) = device();
    let mut out = stream.alloc_zeros::<i64>(2).unwrap();
    // SAFETY: it writes two numbers.
    let launched = unsafe { kernels.pack_long_long_int_int(&stream, threads(1), &mut out, -1, 2) };
    launched.unwrap().0.check().unwrap();
    assert_eq!(download(&stream, &out), [-1, 2]);
    // SAFETY: each writes one number.
    unsafe {
        drop(kernels.wide_long(&stream, threads(1), &mut out, 5).unwrap());
        assert_eq!(download(&stream, &out), [5, 2]);
        drop(
            kernels
                .wide_long_long(&stream, threads(1), &mut out, 6)
                .unwrap(),
        );
        assert_eq!(download(&stream, &out), [6, 2]);
        let mut one = stream.clone_htod(&[3]).unwrap();
        drop(kernels.twin(&stream, threads(1), &mut one).unwrap());
        assert_eq!(download(&stream, &one), [1]);
        drop(kernels.twin_int(&stream, threads(1), &mut one, 7).unwrap());
        drop(kernels.unnamed(&stream, threads(1), &mut one).unwrap());
        assert_eq!(download(&stream, &one), [8]);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_overloads_are_told_apart_by_types() {
    let (stream, kernels) = device();
    let zero = |count| stream.alloc_zeros::<u32>(count).unwrap();
    let (mut up, mut to) = (zero(1), zero(1));
    let mut fraction = stream.clone_htod(&[0f64]).unwrap();
    let mut single = stream.clone_htod(&[0f32]).unwrap();
    // SAFETY: each writes the first element of a buffer of one.
    unsafe {
        drop(
            kernels
                .over_double(&stream, threads(1), &mut fraction)
                .unwrap(),
        );
        drop(kernels.over(&stream, threads(1), &mut single).unwrap());
        drop(
            kernels
                .over_unsigned_int_ptr(&stream, threads(1), &mut up)
                .unwrap(),
        );
        let launched = kernels.over_const_unsigned_int_ptr(&stream, threads(1), &up, &mut to);
        drop(launched.unwrap());
    }
    assert_eq!(download(&stream, &fraction), [1.5]);
    assert_eq!(download(&stream, &single), [2.5]);
    assert_eq!(
        (download(&stream, &up), download(&stream, &to)),
        (vec![2], vec![3])
    );
    assert_eq!(Kernels::OVER_DOUBLE.params[0].name, "fraction");
}
