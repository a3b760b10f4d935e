//! Programs on cudarc, most of them wrong.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg, result};
use cudarc::nvrtc::Ptx;

pub(crate) const ALL: &[(&str, fn())] = &[
    ("out_of_bounds", out_of_bounds),
    ("out_of_bounds_goes_on", out_of_bounds_goes_on),
    ("trap", trap),
    ("wrong_option", wrong_option),
    ("leak", leak),
    ("left_at_exit", left_at_exit),
    ("tidy", tidy),
    ("never_waited_for", never_waited_for),
    ("misuse", misuse),
    ("no_device", no_device),
    ("prints", prints),
];

const KERNELS: &str = include_str!("kernels.ptx");

fn function(context: &Arc<CudaContext>, name: &str) -> CudaFunction {
    let module = context.load_module(Ptx::from_src(KERNELS)).unwrap();
    module.load_function(name).unwrap()
}

const fn threads(count: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (count, 1, 1),
        shared_mem_bytes: 0,
    }
}

fn launch(stream: &Arc<CudaStream>, name: &str) {
    let function = function(stream.context(), name);
    // SAFETY: the kernel has no parameters.
    unsafe { stream.launch_builder(&function).launch(threads(2)) }.unwrap();
}

/// Four threads store into room for three.
fn store(context: &Arc<CudaContext>) -> Result<(), CUresult> {
    let stream = context.default_stream();
    let function = function(context, "store");
    let mut out = stream.alloc_zeros::<u32>(3).unwrap();
    let value = 7_u32;
    // SAFETY: none; that is the program's mistake.
    unsafe {
        stream
            .launch_builder(&function)
            .arg(&mut out)
            .arg(&value)
            .launch(threads(4))
            .unwrap();
    }
    let waited = stream.synchronize().map_err(|error| error.0);
    std::mem::forget(out);
    waited
}

fn out_of_bounds() {
    let context = CudaContext::new(0).unwrap();
    assert_eq!(store(&context), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
}

fn out_of_bounds_goes_on() {
    let context = CudaContext::new(0).unwrap();
    assert_eq!(store(&context), Ok(()));
}

fn trap() {
    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    launch(&stream, "dies");
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.0, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    assert!(stream.alloc_zeros::<u8>(1).is_err());
}

fn wrong_option() {
    let error = CudaContext::new(0).unwrap_err();
    assert_eq!(error.0, CUresult::CUDA_ERROR_INVALID_VALUE);
}

fn leak() {
    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    let _ = stream.alloc_zeros::<u8>(1000).unwrap().leak();
    let _ = stream.alloc_zeros::<u8>(24).unwrap().leak();
}

fn left_at_exit() {
    let context = CudaContext::new(0).unwrap();
    std::mem::forget(context.default_stream().alloc_zeros::<u8>(1000).unwrap());
}

fn tidy() {
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let data = stream.clone_htod(&[1_u32, 2, 3]).unwrap();
    assert_eq!(stream.clone_dtoh(&data).unwrap(), [1, 2, 3]);
    // SAFETY: it is written before it is read.
    let mut pinned = unsafe { context.alloc_pinned::<u32>(3) }.unwrap();
    stream.memcpy_dtoh(&data, &mut pinned).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [1, 2, 3]);
}

fn never_waited_for() {
    let context = CudaContext::new(0).unwrap();
    launch(&context.default_stream(), "dies");
    std::mem::forget(context);
}

fn misuse() {
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    // SAFETY: the driver refuses what is wrong.
    unsafe {
        let address = result::malloc_sync(64).unwrap();
        result::free_sync(address + 4).unwrap_err();
        result::free_sync(address).unwrap();
        result::free_sync(address).unwrap_err();
        let mut bytes = [0_u8; 64];
        result::memcpy_dtoh_sync(&mut bytes, address).unwrap_err();
        let small = result::malloc_sync(32).unwrap();
        result::memcpy_htod_sync(small, &bytes).unwrap_err();
        result::free_sync(small).unwrap();

        let gone = result::stream::create(result::stream::StreamKind::NonBlocking).unwrap();
        result::stream::destroy(gone).unwrap();
        result::stream::synchronize(gone).unwrap_err();
        result::event::synchronize(gone.cast()).unwrap_err();
    }
    let module = context.load_module(Ptx::from_src(KERNELS)).unwrap();
    module.load_function("stare").unwrap_err();
    let store = module.load_function("store").unwrap();
    let mut too_few: [*mut c_void; 2] = [std::ptr::null_mut(); 2];
    let shape = ((1, 1, 1), (1, 1, 1));
    // SAFETY: the driver refuses what is wrong.
    unsafe {
        let launch = |grid, block, args: &mut [*mut c_void]| {
            let (function, stream) = (store.cu_function(), stream.cu_stream());
            result::launch_kernel(function, grid, block, 0, stream, args)
        };
        launch(shape.0, shape.1, &mut too_few).unwrap_err();
        let (mut place, mut value) = (0_u64, 0_u32);
        let mut args = [(&raw mut place).cast(), (&raw mut value).cast()];
        launch((0, 1, 1), shape.1, &mut args).unwrap_err();
        launch(shape.0, (2000, 1, 1), &mut args).unwrap_err();
        let mut small = 0_u64;
        let size = 4_usize;
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(1),
            (&raw mut small).cast(),
            std::ptr::without_provenance_mut(2),
            (&raw const size).cast_mut().cast(),
            std::ptr::null_mut(),
        ];
        let _ = sys::cuLaunchKernel(
            store.cu_function(),
            1,
            1,
            1,
            0,
            1,
            1,
            0,
            stream.cu_stream(),
            std::ptr::null_mut(),
            extra.as_mut_ptr(),
        );
    }
    context
        .load_module(Ptx::from_src("no PTX"))
        .map(|_| ())
        .unwrap_err();
    context
        .load_module(Ptx::from_src(KERNELS.replace("sm_75", "sm_120")))
        .map(|_| ())
        .unwrap_err();
}

fn no_device() {
    let error = CudaContext::new(0).unwrap_err();
    assert_eq!(error.0, CUresult::CUDA_ERROR_NO_DEVICE);
}

fn prints() {
    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    launch(&stream, "says");
    stream.synchronize().unwrap();
}
