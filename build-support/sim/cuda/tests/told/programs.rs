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
    ("held_up", held_up),
    ("side_by_side", side_by_side),
    ("zeros", zeros),
    ("races", races),
    ("unwritten", unwritten),
];

const KERNELS: &str = include_str!("kernels.ptx");
/// With races, which nothing but a check finds.
const RACES: &str = include_str!("../../../tests/ptx/races.ptx");

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

fn ptx_text() -> std::ffi::CString {
    std::ffi::CString::new(KERNELS).unwrap()
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
        let gone = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).unwrap();
        result::event::destroy(gone).unwrap();
        result::event::record(gone, stream.cu_stream()).unwrap_err();
        result::event::synchronize(std::ptr::null_mut()).unwrap_err();
        let gone = result::module::load_data(ptx_text().as_ptr().cast()).unwrap();
        result::module::unload(gone).unwrap();
        result::module::get_function(gone, c"store".to_owned()).unwrap_err();
        result::module::unload(gone).unwrap_err();
        result::memcpy_dtoh_sync(&mut bytes, 0).unwrap_err();
        result::memcpy_htod_sync((&raw mut bytes).expose_provenance() as u64, &bytes).unwrap_err();
        result::device::get(7).unwrap_err();
        let _ = sys::cuCtxSetCurrent(std::ptr::without_provenance_mut(0x1234));
        let _ = sys::cuCtxDestroy_v2(std::ptr::null_mut());
        let _ = sys::cuLaunchKernel(
            std::ptr::null_mut(),
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            stream.cu_stream(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        );
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
        launch(shape.0, (32, 64, 1), &mut args).unwrap_err();
        let (function, queue) = (store.cu_function(), stream.cu_stream());
        let much = 300 << 10;
        result::launch_kernel(function, shape.0, shape.1, much, queue, &mut args).unwrap_err();
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
    for (right, wrong) in [
        ("sm_75", "sm_120"),
        ("ret;", "return;"),
        (".visible .entry store", ".entry dies"),
    ] {
        context
            .load_module(Ptx::from_src(KERNELS.replace(right, wrong)))
            .map(|_| ())
            .unwrap_err();
    }
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

/// A host function waits for the program while another stream works, and is done with it.
fn held_up() {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    unsafe extern "C" fn wait(receiver: *mut c_void) {
        // SAFETY: it was leaked for this call.
        let receiver = unsafe { Box::from_raw(receiver.cast::<Receiver<()>>()) };
        let _ = receiver.recv_timeout(Duration::from_secs(20));
    }
    let context = CudaContext::new(0).unwrap();
    // SAFETY: the streams share no memory.
    unsafe { context.disable_event_tracking() };
    let (held, free) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let (release, receiver) = channel();
    let receiver = Box::into_raw(Box::new(receiver)).cast();
    let start = Instant::now();
    // SAFETY: the function takes what it is given.
    unsafe { result::stream::launch_host_function(held.cu_stream(), wait, receiver) }.unwrap();
    let behind = held.clone_htod(&[1_u32]).unwrap();
    let after = held.record_event(None).unwrap();
    let data = free.clone_htod(&[2_u32]).unwrap();
    assert_eq!(free.clone_dtoh(&data).unwrap(), [2]);
    launch(&free, "says");
    free.synchronize().unwrap();
    let legacy = context.default_stream();
    let other = legacy.clone_htod(&[3_u32]).unwrap();
    assert_eq!(legacy.clone_dtoh(&other).unwrap(), [3]);
    assert!(!after.is_complete());
    assert!(start.elapsed() < Duration::from_secs(15));
    release.send(()).unwrap();
    assert_eq!(held.clone_dtoh(&behind).unwrap(), [1]);
    assert!(after.is_complete());
}

/// Threads that copy, wait for each other's events and replay graphs, each on its own data.
fn side_by_side() {
    const THREADS: u32 = 6;
    let context = CudaContext::new(0).unwrap();
    let shared = context.new_stream().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (context, shared) = (&context, &shared);
            scope.spawn(move || {
                let stream = context.new_stream().unwrap();
                let function = function(context, "store");
                for round in 0..40_u32 {
                    let value = thread * 1000 + round;
                    let source = vec![value; 300];
                    let first = stream.clone_htod(&source).unwrap();
                    // To the stream of all, and back.
                    let second = shared.clone_dtod(&first).unwrap();
                    let mut third = stream.clone_dtod(&second).unwrap();
                    assert_eq!(stream.clone_dtoh(&third).unwrap(), source);
                    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
                    // SAFETY: what is captured is waited for before it is touched otherwise.
                    let graph = unsafe {
                        let own = result::stream::create(result::stream::StreamKind::NonBlocking);
                        let own = own.unwrap();
                        let (pointer, value) = (device_pointer(&mut third, &stream), value + 1);
                        result::stream::begin_capture(own, mode).unwrap();
                        result::memset_d8_async(pointer, 0, 1200, own).unwrap();
                        let mut args = [
                            (&raw const pointer).cast_mut().cast(),
                            (&raw const value).cast_mut().cast(),
                        ];
                        let one = (1, 1, 1);
                        let kernel = function.cu_function();
                        result::launch_kernel(kernel, one, one, 0, own, &mut args).unwrap();
                        let graph = result::stream::end_capture(own).unwrap();
                        let flags = sys::CUgraphInstantiate_flags(0);
                        let exec = result::graph::instantiate(graph, flags).unwrap();
                        stream.synchronize().unwrap();
                        result::graph::launch(exec, own).unwrap();
                        result::stream::synchronize(own).unwrap();
                        result::graph::exec_destroy(exec).unwrap();
                        result::stream::destroy(own).unwrap();
                        graph
                    };
                    // SAFETY: nothing was made of it that is left.
                    unsafe { result::graph::destroy(graph) }.unwrap();
                    let mut expected = vec![0; 300];
                    expected[0] = value + 1;
                    assert_eq!(stream.clone_dtoh(&third).unwrap(), expected);
                }
            });
        }
    });
}

fn device_pointer(slice: &mut cudarc::driver::CudaSlice<u32>, stream: &CudaStream) -> u64 {
    use cudarc::driver::DevicePtrMut;
    let (pointer, _synchronized) = slice.device_ptr_mut(stream);
    pointer
}

/// Calls every function of the library with zeros, without and with a current context.
fn zeros() {
    type Function = unsafe extern "C" fn(
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
    ) -> u32;
    let listed = include_str!("../../src/api/entry.rs");
    let names: Vec<_> = listed
        .lines()
        .filter_map(|line| {
            // `cuInit 2000 init::cuInit;`
            let mut words = line.trim().strip_suffix(';')?.split(' ');
            words.nth(1)?.parse::<u32>().ok()?;
            words.next()?.split_once("::").map(|(_, symbol)| symbol)
        })
        .collect();
    assert!(names.len() > 200);
    // SAFETY: it is the library that cudarc loads, too.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.unwrap();
    let call_all = || {
        for name in &names {
            // SAFETY: zeros are numbers, null pointers and no handles; none of the functions has more parameters.
            unsafe {
                let function = library.get::<Function>(name.as_bytes()).unwrap();
                function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            }
        }
    };
    call_all();
    let context = CudaContext::new(0).unwrap();
    call_all();
    context.bind_to_thread().unwrap();
    tidy();
}

/// Two kernels of four blocks whose threads write one number, one of them equal numbers.
fn races() {
    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    let module = context.load_module(Ptx::from_src(RACES)).unwrap();
    let blocks = LaunchConfig {
        grid_dim: (4, 1, 1),
        ..threads(32)
    };
    let mut number = stream.alloc_zeros::<i32>(1).unwrap();
    let (unlocked, same) = ("unlocked", "same_flag");
    let [unlocked, same] = [unlocked, same].map(|name| module.load_function(name).unwrap());
    // SAFETY: the number is there; that several threads write it is the program's mistake.
    unsafe {
        (stream.launch_builder(&unlocked).arg(&mut number))
            .launch(blocks)
            .unwrap();
        (stream.launch_builder(&same).arg(&mut number).arg(&1_i32))
            .launch(blocks)
            .unwrap();
    }
    stream.synchronize().unwrap();
}

/// Reads memory that nobody wrote; says how the launch ended.
fn unwritten() {
    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    let module = context.load_module(Ptx::from_src(RACES)).unwrap();
    let copy = module.load_function("copy_words").unwrap();
    // SAFETY: it is read unwritten, which is the program's mistake.
    let from = unsafe { stream.alloc::<u64>(2) }.unwrap();
    let mut to = stream.alloc_zeros::<u64>(2).unwrap();
    // SAFETY: both have room for two threads.
    unsafe {
        (stream.launch_builder(&copy).arg(&from).arg(&mut to))
            .launch(threads(2))
            .unwrap();
    }
    let ended = format!("ended {:?}\n", stream.synchronize().is_ok());
    std::io::Write::write_all(&mut std::io::stdout(), ended.as_bytes()).unwrap();
    std::mem::forget((from, to));
}
