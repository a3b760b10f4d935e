//! What is left of a context after a kernel has failed.

use std::ffi::CStr;

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{Gate, alloc, event, function, launch, module, pointer, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("illegal_address", illegal_address),
    ("misaligned", misaligned),
    ("trap", trap),
    ("assertion", assertion),
    ("use_after_free", use_after_free),
    ("reset_after", reset_after),
    ("other_context_after", other_context_after),
    ("found_by_query", found_by_query),
    ("found_by_event", found_by_event),
    ("launch_after", launch_after),
];

fn break_with(d: &mut Driver, name: &CStr, address: u64) -> (usize, usize) {
    let m = module(d);
    let f = function(d, m, name);
    let (mut address, mut value) = (address, 1_u32);
    let mut args = [pointer(&mut address), pointer(&mut value)];
    let code = launch(d, f, 0, &mut args);
    d.write(&format!("launch = {code}"));
    (m, f)
}

fn illegal_address(d: &mut Driver) {
    let context = primary(d);
    let (s, e, a) = (stream(d), event(d), alloc(d, 16));
    let mut host = 0_usize;
    quietly!(d, cuMemHostAlloc(&mut host, 16, 0));
    let mut pooled = 0_u64;
    quietly!(d, cuMemAllocAsync(&mut pooled, 16, s));
    quietly!(d, cuEventRecord(e, s));
    quietly!(d, cuCtxSynchronize());
    let (m, f) = break_with(d, c"store", 0x10);
    say!(d, cuCtxSynchronize());
    say!(d, cuCtxSynchronize());
    let (mut number, mut handle, mut b, mut out) = (0_i32, 0_usize, 0_u64, 0_u32);
    say!(d, cuCtxGetCurrent(&mut handle) => handle == context);
    say!(d, cuCtxSetCurrent(context));
    say!(d, cuCtxGetDevice(&mut number));
    say!(d, cuCtxGetLimit(&mut handle, 0));
    say!(d, cuCtxGetFlags(&mut number));
    say!(d, cuDeviceGetAttribute(&mut number, 75, 0));
    say!(d, cuMemGetInfo_v2(&mut handle, &mut handle));
    say!(d, cuMemAlloc_v2(&mut b, 16));
    say!(d, cuMemAllocAsync(&mut b, 16, s));
    say!(d, cuMemHostAlloc(&mut handle, 16, 0));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4));
    say!(d, cuMemcpyHtoDAsync_v2(a, &out, 4, s));
    say!(d, cuMemsetD8_v2(a, 0, 4));
    say!(d, cuPointerGetAttribute(&mut number, 2, a));
    say!(d, cuStreamCreate(&mut handle, 1));
    say!(d, cuStreamQuery(s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuStreamIsCapturing(s, &mut number));
    let mut id = 0_u64;
    say!(d, cuStreamGetId(s, &mut id));
    say!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuStreamWaitEvent(s, e, 0));
    say!(d, cuEventCreate(&mut handle, 0));
    say!(d, cuEventRecord(e, s));
    say!(d, cuEventQuery(e));
    say!(d, cuEventSynchronize(e));
    say!(d, cuThreadExchangeStreamCaptureMode(&mut number));
    say!(d, cuModuleGetFunction(&mut handle, m, c"nothing"));
    say!(d, cuModuleLoadData(&mut handle, crate::setup::KERNELS));
    say!(d, cuFuncGetAttribute(&mut number, 0, f));
    say!(d, cuFuncSetAttribute(f, 8, 1));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    say!(
        d,
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut number, f, 128, 0)
    );
    say!(d, cuGraphCreate(&mut handle, 0));
    say!(d, cuMemFreeAsync(pooled, s));
    say!(d, cuMemFree_v2(a));
    say!(d, cuMemFreeHost(host));
    say!(d, cuEventDestroy_v2(e));
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuModuleUnload(m));
    say!(d, cuDevicePrimaryCtxRelease_v2(0));
    say!(d, cuDevicePrimaryCtxRetain(&mut handle, 0));
    say!(d, cuCtxSetCurrent(handle));
    say!(d, cuMemAlloc_v2(&mut b, 16));
    say!(d, cuInit(0));
}

fn misaligned(d: &mut Driver) {
    primary(d);
    let a = alloc(d, 16);
    break_with(d, c"store", a + 2);
    say!(d, cuStreamSynchronize(0));
    say!(d, cuMemFree_v2(a));
}

fn trap(d: &mut Driver) {
    primary(d);
    break_with(d, c"dies", 0);
    say!(d, cuStreamSynchronize(0));
    say!(d, cuCtxSynchronize());
}

fn assertion(d: &mut Driver) {
    primary(d);
    break_with(d, c"asserts", 0);
    say!(d, cuStreamSynchronize(0));
    say!(d, cuCtxSynchronize());
}

fn use_after_free(d: &mut Driver) {
    primary(d);
    let a = alloc(d, 64 << 20);
    quietly!(d, cuMemFree_v2(a));
    break_with(d, c"store", a);
    say!(d, cuCtxSynchronize());
}

fn reset_after(d: &mut Driver) {
    primary(d);
    break_with(d, c"store", 0x10);
    say!(d, cuCtxSynchronize());
    say!(d, cuDevicePrimaryCtxReset_v2(0));
    let (mut again, mut a) = (0_usize, 0_u64);
    say!(d, cuDevicePrimaryCtxRetain(&mut again, 0));
    say!(d, cuCtxSetCurrent(again));
    say!(d, cuMemAlloc_v2(&mut a, 16));
    say!(d, cuCtxSynchronize());
}

fn other_context_after(d: &mut Driver) {
    primary(d);
    let (mut other, mut a) = (0_usize, 0_u64);
    quietly!(d, cuCtxCreate_v2(&mut other, 0, 0));
    break_with(d, c"store", 0x10);
    say!(d, cuCtxSynchronize());
    say!(d, cuCtxDestroy_v2(other));
    say!(d, cuMemAlloc_v2(&mut a, 16));
    say!(d, cuCtxSynchronize());
    say!(d, cuCtxCreate_v2(&mut other, 0, 0));
    say!(d, cuMemAlloc_v2(&mut a, 16));
}

fn found_by_query(d: &mut Driver) {
    primary(d);
    break_with(d, c"store", 0x10);
    let s = stream(d);
    const NOT_READY: u32 = 600;
    while quietly!(d, cuStreamQuery(0)) == NOT_READY {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    say!(d, cuStreamQuery(s));
    say!(d, cuStreamQuery(0));
}

fn found_by_event(d: &mut Driver) {
    primary(d);
    let e = event(d);
    let gate = Gate::close(d, 0);
    break_with(d, c"store", 0x10);
    say!(d, cuEventRecord(e, 0));
    gate.open();
    say!(d, cuEventSynchronize(e));
    say!(d, cuEventQuery(e));
}

fn launch_after(d: &mut Driver) {
    primary(d);
    let (_, f) = break_with(d, c"dies", 0);
    // Any call that asks whether it has failed would be told that it has.
    std::thread::sleep(std::time::Duration::from_secs(2));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    say!(d, cuCtxSynchronize());
}
