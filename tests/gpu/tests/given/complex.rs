use gpuk::num_complex::Complex;
use gpuk::vector::{Complex32, Complex64};
use gpuk_gpu_tests::complex::{Kernels, Wave};

use crate::{Device, given};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_complex_numbers_arrive() {
    let device = Device::new(Kernels::load);
    let (single, double) = (Complex::new(1.5_f32, -2.5), Complex::new(0.1_f64, -7.0));
    let wave = Wave {
        tag: -4,
        amplitude: single.into(),
        phase: [Complex64::new(1.0, 2.0), double.into()],
    };
    given! { device:
        cu_float(single.into()): 8, 8, {0 => [1.5_f32, -2.5]};
        cu_double(double.into()): 16, 16, {0 => [0.1_f64, -7.0]};
        thrust_float(single.into()): 8, 8, {0 => [1.5_f32, -2.5]};
        thrust_double(double.into()): 16, 16, {0 => [0.1_f64, -7.0]};
        std_float(Complex32::new(0.5, 3.0)): 8, 8, {0 => [0.5_f32, 3.0]};
        std_double(Complex64::new(0.5, 3.0)): 16, 16, {0 => [0.5_f64, 3.0]};
        wave(wave): 48, 16,
            {0 => -4_i8, 8 => [1.5_f32, -2.5], 16 => [1.0_f64, 2.0, 0.1, -7.0]},
            [-4_i8, [1.5_f32, -2.5], [1.0_f64, 2.0, 0.1, -7.0]];
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_complex_numbers_behind_pointers() {
    let Device { stream, kernels } = Device::new(Kernels::load);
    let numbers = [Complex::new(1.0_f32, 2.0), Complex::new(-3.0, -4.0)];
    let input = stream.clone_htod(&numbers.map(Complex32::from)).unwrap();
    let output = stream.alloc_zeros(2).unwrap();
    let launch = Device::<()>::launch().block([2, 1, 1]);
    // SAFETY: both have two numbers.
    let (_, output) = unsafe { kernels.conjugate(&stream, launch, &input, output) }.unwrap();
    let found = stream.clone_dtoh(&output).unwrap();
    let found: Vec<Complex<f32>> = found.into_iter().map(Complex::from).collect();
    assert_eq!(found, numbers.map(|number| number.conj()));
}
