//! What may be called while a stream is being captured, and what it does to the capture.

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{KERNELS, alloc, event, function, module, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("beginnings", beginnings),
    ("calls_global", |d| calls(d, 0)),
    ("calls_thread_local", |d| calls(d, 1)),
    ("calls_relaxed", |d| calls(d, 2)),
    ("from_other_thread", from_other_thread),
    ("endings", endings),
    ("joins", joins),
    ("isolation", isolation),
    ("legacy", legacy),
    ("captured_events", captured_events),
    ("modes", modes),
    ("information", information),
];

fn status(d: &Driver, s: usize) -> String {
    let mut status = 9_u32;
    let code = quietly!(d, cuStreamIsCapturing(s, &mut status));
    if code == 0 {
        status.to_string()
    } else {
        format!("error {code}")
    }
}

fn end(d: &Driver, s: usize) -> u32 {
    let mut graph = 0_usize;
    let code = quietly!(d, cuStreamEndCapture(s, &mut graph));
    if graph != 0 {
        quietly!(d, cuGraphDestroy(graph));
    }
    code
}

fn beginnings(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    say!(d, cuStreamBeginCapture_v2(0, 0));
    say!(d, cuStreamBeginCapture_v2(1, 0));
    say!(d, cuStreamBeginCapture_v2(s, 9));
    say!(d, cuStreamBeginCapture_v2(2, 0));
    let code = end(d, 2);
    d.write(&format!("end = {code}"));
    say!(d, cuStreamBeginCapture_v2(s, 0));
    say!(d, cuStreamBeginCapture_v2(s, 0));
    let now = status(d, s);
    let code = end(d, s);
    d.write(&format!("status {now}, end = {code}"));
    let mut graph = 9_usize;
    say!(d, cuStreamEndCapture(s, &mut graph));
    d.write(&format!("graph {graph}"));
    quietly!(d, cuStreamBeginCapture_v2(s, 0));
    say!(d, cuStreamEndCapture(s, 0));
    let now = status(d, s);
    d.write(&format!("status {now}"));
    say!(d, cuStreamBeginCapture(s, 0));
    let code = end(d, s);
    d.write(&format!("end = {code}"));
    quietly!(d, cuStreamBeginCapture_v2(s, 0));
    say!(d, cuStreamDestroy_v2(s));
}

unsafe extern "C" fn ignore(_: *mut std::ffi::c_void) {}

/// One call at a time, each in a capture of its own.
fn calls(d: &mut Driver, mode: u32) {
    let context = primary(d);
    let (s, other) = (stream(d), stream(d));
    let mut blocking = 0_usize;
    quietly!(d, cuStreamCreate(&mut blocking, 0));
    let (m, a, b) = (module(d), alloc(d, 4096), alloc(d, 4096));
    let f = function(d, m, c"nothing");
    let (recorded, fresh) = (event(d), event(d));
    quietly!(d, cuEventRecord(recorded, other));
    quietly!(d, cuCtxSynchronize());
    let (mut p, mut address, mut number, mut handle) = (0_usize, 0_u64, 0_i32, 0_usize);
    quietly!(d, cuMemHostAlloc(&mut p, 4096, 0));
    let (mut pooled, mut managed, mut pool) = (0_u64, 0_u64, 0_usize);
    quietly!(d, cuMemAllocManaged(&mut managed, 64, 1));
    quietly!(d, cuDeviceGetDefaultMemPool(&mut pool, 0));
    quietly!(d, cuMemAllocAsync(&mut pooled, 64, other));
    quietly!(d, cuCtxSynchronize());
    let mut local = [0_u8; 64];
    let l = local.as_mut_ptr();
    let (mut id, mut ms) = (0_u64, 0_f32);
    let mut second = 0_usize;
    macro_rules! during {
        ($name:ident($($arg:expr),*)) => {{
            let begun = quietly!(d, cuStreamBeginCapture_v2(s, mode));
            let code = quietly!(d, $name($($arg),*));
            let now = status(d, s);
            let ended = end(d, s);
            d.write(&format!("{}: {begun} {code}, status {now}, end {ended}", stringify!($name($($arg),*))));
        }};
    }
    during!(cuCtxGetCurrent(&mut handle));
    during!(cuStreamQuery(s));
    during!(cuStreamSynchronize(s));
    during!(cuStreamGetId(s, &mut id));
    during!(cuStreamGetFlags(s, &mut number));
    during!(cuStreamGetPriority(s, &mut number));
    during!(cuStreamGetCtx(s, &mut handle));
    during!(cuStreamQuery(other));
    during!(cuStreamSynchronize(other));
    during!(cuStreamGetId(other, &mut id));
    during!(cuStreamQuery(0));
    during!(cuStreamSynchronize(0));
    during!(cuStreamGetId(0, &mut id));
    during!(cuStreamIsCapturing(other, &mut number));
    during!(cuCtxSynchronize());
    during!(cuCtxSetCurrent(0));
    quietly!(
        d,
        cuCtxSetCurrent({
            quietly!(d, cuDevicePrimaryCtxRetain(&mut handle, 0));
            handle
        })
    );
    during!(cuEventCreate(&mut handle, 0));
    during!(cuEventRecord(fresh, s));
    during!(cuEventRecord(fresh, other));
    quietly!(d, cuEventRecord(recorded, other));
    quietly!(d, cuCtxSynchronize());
    during!(cuEventQuery(recorded));
    during!(cuEventSynchronize(recorded));
    during!(cuEventElapsedTime(&mut ms, recorded, recorded));
    during!(cuEventDestroy_v2(handle));
    during!(cuStreamWaitEvent(s, recorded, 0));
    during!(cuStreamCreate(&mut second, 1));
    during!(cuStreamDestroy_v2(second));
    during!(cuMemAlloc_v2(&mut address, 16));
    during!(cuMemFree_v2(address));
    quietly!(d, cuMemAlloc_v2(&mut address, 16));
    during!(cuMemFree_v2(address));
    during!(cuMemAllocManaged(&mut address, 16, 1));
    during!(cuMemHostAlloc(&mut handle, 16, 0));
    during!(cuMemFreeHost(handle));
    during!(cuMemHostGetDevicePointer_v2(&mut handle, p, 0));
    during!(cuMemGetInfo_v2(&mut handle, &mut handle));
    during!(cuMemcpyHtoD_v2(a, l, 64));
    during!(cuMemcpyDtoD_v2(a, b, 64));
    during!(cuMemcpyDtoH_v2(l, a, 64));
    during!(cuMemsetD8_v2(a, 0, 64));
    during!(cuMemcpyHtoDAsync_v2(a, l, 64, s));
    during!(cuMemcpyHtoDAsync_v2(a, p, 64, s));
    during!(cuMemcpyDtoHAsync_v2(l, a, 64, s));
    during!(cuMemcpyDtoHAsync_v2(p, a, 64, s));
    during!(cuMemcpyDtoDAsync_v2(a, b, 64, s));
    during!(cuMemcpyAsync(a, b, 64, s));
    during!(cuMemsetD8Async(a, 0, 64, s));
    during!(cuMemsetD8Async(a, 0, 64, other));
    during!(cuMemsetD8Async(a, 0, 64, blocking));
    during!(cuMemsetD8Async(a, 0, 64, 0));
    during!(cuMemcpyDtoDAsync_v2(a, b, 4 << 20, s));
    during!(cuMemAllocAsync(&mut address, 16, s));
    during!(cuMemAllocAsync(&mut address, 16, other));
    during!(cuMemFreeAsync(address, s));
    during!(cuMemFreeAsync(pooled, s));
    during!(cuMemFreeAsync(pooled, s));
    during!(cuMemPrefetchAsync(a, 64, 0, s));
    let mut loaded = 0_usize;
    during!(cuModuleLoadData(&mut loaded, KERNELS));
    during!(cuModuleGetFunction(&mut handle, m, c"store"));
    during!(cuModuleUnload(loaded));
    during!(cuFuncGetAttribute(&mut number, 0, f));
    during!(cuFuncSetAttribute(f, 8, 1));
    during!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &mut number,
        f,
        64,
        0
    ));
    during!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    during!(cuLaunchKernel(f, 1, 1, 1, 0, 1, 1, 0, s, 0, 0));
    during!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, other, 0, 0));
    during!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    during!(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0));
    during!(cuLaunchHostFunc(s, ignore as *const () as usize, 0));
    during!(cuStreamAddCallback(s, ignore as *const () as usize, 0, 0));
    during!(cuPointerGetAttribute(&mut number, 2, a));
    during!(cuDeviceGetAttribute(&mut number, 1, 0));
    during!(cuCtxSetLimit(1, 1 << 16));
    during!(cuCtxGetLimit(&mut handle, 1));
    during!(cuGraphCreate(&mut handle, 0));
    during!(cuProfilerStart());
    during!(cuMemcpyPeerAsync(a, context, b, context, 64, s));
    during!(cuMemsetD2D32Async(a, 64, 1, 16, 4, s));
    during!(cuEventRecordWithFlags(fresh, s, 1));
    during!(cuStreamWaitEvent(s, fresh, 1));
    during!(cuStreamAttachMemAsync(s, managed, 0, 4));
    during!(cuMemPoolTrimTo(pool, 0));
    during!(cuDeviceGetDefaultMemPool(&mut pool, 0));
    during!(cuCtxGetFlags(&mut number));
    during!(cuCtxSetCacheConfig(0));
    during!(cuCtxGetStreamPriorityRange(&mut number, &mut number));
    during!(cuModuleGetGlobal_v2(
        &mut address,
        &mut handle,
        m,
        c"counter"
    ));
    during!(cuMemHostRegister_v2(local.as_mut_ptr(), 64, 0));
    during!(cuMemHostUnregister(local.as_mut_ptr()));
    during!(cuMemGetAddressRange_v2(&mut address, &mut handle, a));
    during!(cuDevicePrimaryCtxRetain(&mut handle, 0));
    during!(cuStreamDestroy_v2(other));
    let other = stream(d);
    during!(cuStreamBeginCapture_v2(other, mode));
    let code = end(d, other);
    d.write(&format!("end of other = {code}"));
}

fn from_other_thread(d: &mut Driver) {
    let context = primary(d);
    let (s, other) = (stream(d), stream(d));
    for mode in [0, 1, 2] {
        say!(d, cuStreamBeginCapture_v2(s, mode));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut a = 0_u64;
                quietly!(d, cuCtxSetCurrent(context));
                say!(d, cuMemAlloc_v2(&mut a, 16));
                say!(d, cuStreamSynchronize(other));
                say!(d, cuMemsetD8Async(a, 0, 16, other));
                if a != 0 {
                    say!(d, cuMemsetD8Async(a, 0, 16, s));
                }
                let mut graph = 0_usize;
                say!(d, cuStreamEndCapture(s, &mut graph));
            });
        });
        let now = status(d, s);
        let code = end(d, s);
        d.write(&format!("status {now}, end = {code}"));
    }
}

fn endings(d: &mut Driver) {
    primary(d);
    let (s, other) = (stream(d), stream(d));
    let e = event(d);
    // Not the stream that began.
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    quietly!(d, cuEventRecord(e, s));
    say!(d, cuStreamWaitEvent(other, e, 0));
    let now = status(d, other);
    d.write(&now);
    let mut graph = 0_usize;
    say!(d, cuStreamEndCapture(other, &mut graph));
    let now = format!("{} {}", status(d, s), status(d, other));
    d.write(&now);
    // Not joined.
    let a = quietly!(d, cuMemsetD8Async(4096, 0, 0, other));
    d.write(&format!("{a}"));
    say!(d, cuStreamEndCapture(s, &mut graph));
    let now = format!("{} {}", status(d, s), status(d, other));
    d.write(&now);
    // Destroyed.
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuStreamDestroy_v2(s));
}

fn joins(d: &mut Driver) {
    primary(d);
    let (s, other) = (stream(d), stream(d));
    let (begin, done) = (event(d), event(d));
    let m = module(d);
    let f = function(d, m, c"nothing");
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    say!(d, cuEventRecord(begin, s));
    say!(d, cuStreamWaitEvent(other, begin, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, other, 0, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    say!(d, cuEventRecord(done, other));
    say!(d, cuStreamWaitEvent(s, done, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    let (mut graph, mut nodes, mut edges, mut roots) = (0_usize, 0_usize, 0_usize, 0_usize);
    say!(d, cuStreamEndCapture(s, &mut graph));
    say!(d, cuGraphGetNodes(graph, 0, &mut nodes) => nodes);
    say!(d, cuGraphGetRootNodes(graph, 0, &mut roots) => roots);
    say!(d, cuGraphGetEdges(graph, 0, 0, &mut edges) => edges);
    let now = status(d, other);
    d.write(&now);
    say!(d, cuStreamQuery(other));
    say!(d, cuEventQuery(done));
}

fn isolation(d: &mut Driver) {
    primary(d);
    let (s, other) = (stream(d), stream(d));
    let (e, f) = (event(d), event(d));
    quietly!(d, cuEventRecord(e, other));
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuStreamWaitEvent(s, e, 0));
    let now = status(d, s);
    let code = end(d, s);
    d.write(&format!("status {now}, end = {code}"));
    // Never recorded.
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuStreamWaitEvent(s, f, 0));
    let now = status(d, s);
    let code = end(d, s);
    d.write(&format!("status {now}, end = {code}"));
    // Two captures.
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    quietly!(d, cuStreamBeginCapture_v2(other, 1));
    quietly!(d, cuEventRecord(f, other));
    say!(d, cuStreamWaitEvent(s, f, 0));
    let now = format!("{} {}", status(d, s), status(d, other));
    d.write(&now);
    let codes = format!("{} {}", end(d, s), end(d, other));
    d.write(&codes);
    // An event of a capture that is over.
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    quietly!(d, cuEventRecord(f, s));
    let code = end(d, s);
    d.write(&format!("end = {code}"));
    say!(d, cuStreamWaitEvent(other, f, 0));
    say!(d, cuEventQuery(f));
    say!(d, cuEventRecord(f, other));
    say!(d, cuEventQuery(f));
}

fn legacy(d: &mut Driver) {
    primary(d);
    let mut blocking = 0_usize;
    quietly!(d, cuStreamCreate(&mut blocking, 0));
    let a = alloc(d, 64);
    for mode in [0, 2] {
        quietly!(d, cuStreamBeginCapture_v2(blocking, mode));
        say!(d, cuMemsetD8Async(a, 0, 64, 0));
        let now = status(d, blocking);
        let code = end(d, blocking);
        d.write(&format!("status {now}, end = {code}"));
        quietly!(d, cuStreamBeginCapture_v2(blocking, mode));
        let mut number = 0_u32;
        say!(d, cuStreamIsCapturing(0, &mut number));
        say!(d, cuStreamQuery(0));
        let now = status(d, blocking);
        let code = end(d, blocking);
        d.write(&format!("status {now}, end = {code}"));
        quietly!(d, cuStreamBeginCapture_v2(blocking, mode));
        say!(d, cuMemsetD8_v2(a, 0, 64));
        let now = status(d, blocking);
        let code = end(d, blocking);
        d.write(&format!("status {now}, end = {code}"));
    }
}

fn captured_events(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let e = event(d);
    let mut ms = 0_f32;
    for which in 0..3 {
        quietly!(d, cuStreamBeginCapture_v2(s, 2));
        quietly!(d, cuEventRecord(e, s));
        match which {
            0 => say!(d, cuEventQuery(e)),
            1 => say!(d, cuEventSynchronize(e)),
            _ => say!(d, cuEventElapsedTime(&mut ms, e, e)),
        };
        let now = status(d, s);
        let code = end(d, s);
        d.write(&format!("status {now}, end = {code}"));
    }
    say!(d, cuEventQuery(e));
    say!(d, cuEventSynchronize(e));
    quietly!(d, cuStreamBeginCapture_v2(s, 2));
    quietly!(d, cuEventRecord(e, s));
    say!(d, cuEventDestroy_v2(e));
    let now = status(d, s);
    let code = end(d, s);
    d.write(&format!("status {now}, end = {code}"));
}

fn modes(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let mut mode = 2_u32;
    say!(d, cuThreadExchangeStreamCaptureMode(&mut mode) => mode);
    say!(d, cuThreadExchangeStreamCaptureMode(&mut mode) => mode);
    let mut wrong = 9_u32;
    say!(d, cuThreadExchangeStreamCaptureMode(&mut wrong));
    wrong = 0;
    say!(d, cuThreadExchangeStreamCaptureMode(&mut wrong) => wrong);
    for (begun, own) in [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 0),
        (2, 1),
        (2, 2),
    ] {
        let mut a = 0_u64;
        let mut exchanged = own;
        quietly!(d, cuStreamBeginCapture_v2(s, begun));
        quietly!(d, cuThreadExchangeStreamCaptureMode(&mut exchanged));
        let code = quietly!(d, cuMemAlloc_v2(&mut a, 16));
        quietly!(d, cuThreadExchangeStreamCaptureMode(&mut exchanged));
        let ended = end(d, s);
        d.write(&format!("capture {begun} in {own}: {code}, end {ended}"));
    }
}

fn information(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    let (mut status, mut id, mut graph, mut list, mut count) =
        (9_u32, 0_u64, 0_usize, 0_usize, 9_usize);
    say!(d, cuStreamGetCaptureInfo_v2(s, &mut status, &mut id, &mut graph, &mut list, &mut count) => status);
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuStreamGetCaptureInfo_v2(s, &mut status, &mut id, &mut graph, &mut list, &mut count) => format!("{status} {} {count}", graph != 0));
    quietly!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    say!(d, cuStreamGetCaptureInfo_v2(s, &mut status, &mut id, &mut graph, &mut list, &mut count) => format!("{status} {} {count}", graph != 0));
    say!(d, cuStreamGetCaptureInfo_v3(s, &mut status, 0, &mut graph, &mut list, 0, &mut count) => format!("{status} {} {count}", graph != 0));
    let mut ended = 0_usize;
    say!(d, cuStreamEndCapture(s, &mut ended) => ended == graph);
    say!(d, cuStreamGetCaptureInfo_v2(0, &mut status, &mut id, &mut graph, &mut list, &mut count) => status);
}
