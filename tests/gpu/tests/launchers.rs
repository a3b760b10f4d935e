//! Host functions through CUDA's runtime, beside wrappers of the same source. The simulator has no runtime, so these are
//! named `alone_`.

use std::sync::Arc;

use gpuk::cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpuk::{CudaStream, Launch};
use gpuk_gpu_tests::launchers::{
    Affine, Kernels, cudaError, run_affine, run_reversed, times_launched,
};

fn stream() -> Arc<CudaStream> {
    let context = gpuk::device(0).unwrap();
    context.bind_to_thread().unwrap();
    context.new_stream().unwrap()
}

/// The launcher's own result for `x`.
fn run(stream: &Arc<CudaStream>, x: &mut CudaSlice<f32>, by: &Affine, block: u32) -> cudaError {
    let n = i32::try_from(x.len()).unwrap();
    let (address, _write) = x.device_ptr_mut(stream);
    // SAFETY: `n` numbers lie at the address, and `by` outlives the call, which copies it.
    unsafe { run_affine(address as *mut f32, n, by, block, stream.cu_stream()) }
}

/// What `affine` computes.
fn expected(x: f32, by: &Affine) -> f32 {
    let y = x.mul_add(by.scale, by.shift as f32);
    if by.negate == 0 { y } else { -y }
}

#[test]
#[ignore = "needs an NVIDIA GPU and no simulator"]
fn alone_a_launcher_and_a_wrapper_share_buffers_and_a_stream() {
    let stream = stream();
    let kernels = Kernels::load(stream.context()).unwrap();
    let host: Vec<f32> = (0..1000_u16).map(f32::from).collect();
    let by = |negate| Affine {
        scale: 3.0,
        shift: -0.5,
        negate,
    };
    let mut x = stream.clone_htod(&host).unwrap();

    assert_eq!(run(&stream, &mut x, &by(1), 128), cudaError::cudaSuccess);
    // SAFETY: 1024 threads, of which the kernel stops those past its 1000 numbers.
    let (payload, mut x) = unsafe {
        let launch = Launch::default().block([128, 1, 1]).grid([8, 1, 1]);
        kernels.affine(&stream, launch, x, 1000, by(0)).unwrap()
    };
    payload.check().unwrap();
    assert_eq!(run(&stream, &mut x, &by(1), 256), cudaError::cudaSuccess);

    let mut host = host;
    for x in &mut host {
        for negate in [1, 0, 1] {
            *x = expected(*x, &by(negate));
        }
    }
    assert_eq!(stream.clone_dtoh(&x).unwrap(), host);
}

#[test]
#[ignore = "needs an NVIDIA GPU and no simulator"]
fn alone_a_launcher_has_variables_and_shared_memory_of_its_own() {
    let stream = stream();
    let kernels = Kernels::load(stream.context()).unwrap();
    let x = stream.clone_htod(&[1.0_f32; 8]).unwrap();
    let mut out = stream.alloc_zeros::<f32>(8).unwrap();
    let weights = [2.0_f32, 3.0, 5.0, 7.0];
    let status = {
        let (x, _read) = x.device_ptr(&stream);
        let (out, _write) = out.device_ptr_mut(&stream);
        // SAFETY: both have eight numbers, and four weights are read.
        unsafe {
            run_reversed(
                x as *const f32,
                out as *mut f32,
                8,
                weights.as_ptr(),
                stream.cu_stream(),
            )
        }
    };
    assert_eq!(status, cudaError::cudaSuccess);
    let reversed = [7.0, 5.0, 3.0, 2.0, 7.0, 5.0, 3.0, 2.0];
    assert_eq!(stream.clone_dtoh(&out).unwrap(), reversed);
    // The wrapper's module is another one.
    assert_eq!(
        kernels.weights().read(&stream).unwrap(),
        [1.0, 10.0, 100.0, 1000.0]
    );

    let count = || {
        let mut count = 0;
        // SAFETY: the function writes one number.
        assert_eq!(
            unsafe { times_launched(&raw mut count) },
            cudaError::cudaSuccess
        );
        count
    };
    let before = count();
    let by = Affine {
        scale: 1.0,
        shift: 0.0,
        negate: 0,
    };
    let mut x = stream.alloc_zeros::<f32>(4).unwrap();
    assert_eq!(run(&stream, &mut x, &by, 32), cudaError::cudaSuccess);
    stream.synchronize().unwrap();
    assert_eq!(count(), before + 1);
}

#[test]
#[ignore = "needs an NVIDIA GPU and no simulator"]
fn alone_what_the_runtime_refuses_is_the_launchers_result() {
    let stream = stream();
    let by = Affine {
        scale: 1.0,
        shift: 0.0,
        negate: 0,
    };
    let mut x = stream.clone_htod(&[5.0_f32; 3]).unwrap();
    for block in [0, 2048] {
        let status = run(&stream, &mut x, &by, block);
        assert_eq!(status, cudaError::cudaErrorInvalidValue, "{block}");
    }
    // The context is as good as before.
    assert_eq!(run(&stream, &mut x, &by, 32), cudaError::cudaSuccess);
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [5.0; 3]);
}
