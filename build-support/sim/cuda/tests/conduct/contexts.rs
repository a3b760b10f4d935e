//! Contexts: primary ones, created ones, the stack of a thread.

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{alloc, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("primary_counts", primary_counts),
    ("primary_reset", primary_reset),
    ("created", created),
    ("destroyed", destroyed),
    ("stack", stack),
    ("limits", limits),
    ("other_threads", other_threads),
    ("two_contexts", two_contexts),
    ("freed_with_context", freed_with_context),
];

fn primary_counts(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let (mut first, mut second) = (0_usize, 0_usize);
    let mut current = 0_usize;
    let mut address = 0_u64;
    let (mut flags, mut active) = (0_u32, 0_i32);
    say!(d, cuDevicePrimaryCtxRetain(&mut first, 64));
    say!(d, cuDevicePrimaryCtxRetain(0, 0));
    say!(d, cuDevicePrimaryCtxRetain(&mut first, 0));
    say!(d, cuCtxGetCurrent(&mut current) => current);
    say!(d, cuDevicePrimaryCtxRetain(&mut second, 0) => first == second);
    say!(d, cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) => format!("{flags} {active}"));
    say!(d, cuDevicePrimaryCtxSetFlags_v2(0, 4));
    say!(d, cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) => format!("{flags} {active}"));
    say!(d, cuCtxSetCurrent(first));
    let mut device = 9_i32;
    say!(d, cuCtxGetDevice(&mut device) => device);
    say!(d, cuCtxGetFlags(&mut flags) => flags);
    say!(d, cuMemAlloc_v2(&mut address, 16));
    say!(d, cuDevicePrimaryCtxRelease_v2(0));
    say!(d, cuMemFree_v2(address));
    say!(d, cuCtxDestroy_v2(first));
    say!(d, cuDevicePrimaryCtxRelease_v2(0));
    say!(d, cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) => active);
    say!(d, cuCtxGetCurrent(&mut current) => current == first);
    say!(d, cuMemAlloc_v2(&mut address, 16));
    say!(d, cuCtxSynchronize());
    say!(d, cuCtxGetDevice(&mut device));
    say!(d, cuCtxSetCurrent(first));
    say!(d, cuDevicePrimaryCtxRelease_v2(0));
    say!(d, cuDevicePrimaryCtxRetain(&mut second, 0) => first == second);
    say!(d, cuMemAlloc_v2(&mut address, 16));
}

fn primary_reset(d: &mut Driver) {
    let context = primary(d);
    let mut a = alloc(d, 16);
    let s = stream(d);
    let mut active = 0_i32;
    say!(d, cuDevicePrimaryCtxReset_v2(0));
    say!(d, cuDevicePrimaryCtxGetState(0, &mut a, &mut active) => active);
    say!(d, cuMemAlloc_v2(&mut a, 16));
    say!(d, cuStreamSynchronize(0));
    say!(d, cuCtxSetCurrent(context));
    let mut again = 0_usize;
    say!(d, cuDevicePrimaryCtxRetain(&mut again, 0) => again == context);
    say!(d, cuCtxSetCurrent(again));
    say!(d, cuMemAlloc_v2(&mut a, 16));
    let _ = s;
}

fn created(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let (mut context, mut current) = (0_usize, 0_usize);
    let mut number = 0_u32;
    let mut id = 0_u64;
    say!(d, cuCtxCreate_v2(&mut context, 0, 64));
    say!(d, cuCtxCreate_v2(0, 0, 0));
    say!(d, cuCtxCreate_v2(&mut context, 0x4000_0000, 0));
    say!(d, cuCtxCreate_v2(&mut context, 3, 0));
    say!(d, cuCtxCreate_v2(&mut context, 0, 0));
    say!(d, cuCtxGetCurrent(&mut current) => current == context);
    say!(d, cuCtxGetFlags(&mut number) => number);
    say!(d, cuCtxGetApiVersion(context, &mut number) => number);
    say!(d, cuCtxGetApiVersion(0, &mut number) => number);
    say!(d, cuCtxGetId(context, &mut id));
    say!(d, cuCtxGetId(0, &mut id));
    say!(d, cuCtxGetCacheConfig(&mut number) => number);
    say!(d, cuCtxSetCacheConfig(2));
    say!(d, cuCtxGetCacheConfig(&mut number) => number);
    say!(d, cuCtxSetCacheConfig(9));
    say!(d, cuCtxGetSharedMemConfig(&mut number) => number);
    say!(d, cuCtxSetFlags(4));
    say!(d, cuCtxGetFlags(&mut number) => number);
    say!(d, cuCtxSetFlags(0x777));
    say!(d, cuCtxSynchronize());
    say!(d, cuCtxResetPersistingL2Cache());
    let (mut least, mut greatest) = (9_i32, 9_i32);
    say!(d, cuCtxGetStreamPriorityRange(&mut least, &mut greatest) => format!("{least} {greatest}"));
    say!(d, cuCtxGetStreamPriorityRange(0, &mut greatest) => greatest);
    let mut third = 0_usize;
    say!(d, cuCtxCreate_v3(&mut third, 0, 0, 0, 0) => third != 0);
    say!(d, cuCtxCreate_v4(&mut third, 0, 0, 0) => third != 0);
    say!(d, cuCtxDestroy_v2(third));
    say!(d, cuCtxGetCurrent(&mut current) => current != context && current != 0);
}

fn destroyed(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let (mut context, mut current) = (0_usize, 0_usize);
    let mut a = 0_u64;
    quietly!(d, cuCtxCreate_v2(&mut context, 0, 0));
    say!(d, cuCtxDestroy_v2(0));
    say!(d, cuCtxDestroy_v2(context));
    say!(d, cuCtxGetCurrent(&mut current) => current);
    say!(d, cuMemAlloc_v2(&mut a, 16));
    say!(d, cuCtxSetCurrent(context));
    say!(d, cuCtxPushCurrent_v2(context));
    say!(d, cuCtxDestroy_v2(context));
    let mut version = 0_u32;
    say!(d, cuCtxGetApiVersion(context, &mut version));
}

fn stack(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let (mut first, mut second, mut popped) = (0_usize, 0_usize, 0_usize);
    quietly!(d, cuCtxCreate_v2(&mut first, 0, 0));
    quietly!(d, cuCtxCreate_v2(&mut second, 0, 0));
    say!(d, cuCtxPopCurrent_v2(&mut popped) => popped == second);
    say!(d, cuCtxPopCurrent_v2(&mut popped) => popped == first);
    say!(d, cuCtxPopCurrent_v2(&mut popped));
    say!(d, cuCtxPushCurrent_v2(first));
    say!(d, cuCtxPushCurrent_v2(second));
    say!(d, cuCtxPushCurrent_v2(first));
    say!(d, cuCtxPopCurrent_v2(&mut popped) => popped == first);
    say!(d, cuCtxPopCurrent_v2(0));
    say!(d, cuCtxSetCurrent(second));
    say!(d, cuCtxPopCurrent_v2(&mut popped) => popped == second);
    say!(d, cuCtxPopCurrent_v2(&mut popped));
    quietly!(d, cuCtxPushCurrent_v2(first));
    quietly!(d, cuCtxPushCurrent_v2(second));
    say!(d, cuCtxSetCurrent(0));
    say!(d, cuCtxGetCurrent(&mut popped) => popped == first);
    say!(d, cuCtxPushCurrent_v2(second));
    say!(d, cuCtxDestroy_v2(first));
    say!(d, cuCtxGetCurrent(&mut popped) => popped == second);
    say!(d, cuCtxPopCurrent_v2(&mut popped) => popped == second);
    say!(d, cuCtxGetCurrent(&mut popped) => format!("{} {}", popped == 0, popped == first));
    say!(d, cuCtxSynchronize());
}

fn limits(d: &mut Driver) {
    primary(d);
    for limit in 0..10 {
        let mut value = 0_usize;
        let code = quietly!(d, cuCtxGetLimit(&mut value, limit));
        d.write(&format!("{limit}: {code} {value}"));
    }
    let mut value = 0_usize;
    for (limit, ask) in [
        (0, 4000_usize),
        (0, 1 << 30),
        (1, 1 << 16),
        (2, 1 << 20),
        (3, 2),
        (5, 64),
        (9, 1),
        (2, 0),
    ] {
        let code = quietly!(d, cuCtxSetLimit(limit, ask));
        let also = quietly!(d, cuCtxGetLimit(&mut value, limit));
        d.write(&format!("{limit} to {ask}: {code}, then {also} {value}"));
    }
    say!(d, cuCtxGetLimit(0, 0));
}

fn other_threads(d: &mut Driver) {
    primary(d);
    let mut current = 1_usize;
    let mut a = 0_u64;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            say!(d, cuCtxGetCurrent(&mut current) => current);
            say!(d, cuMemAlloc_v2(&mut a, 16));
        });
    });
}

fn two_contexts(d: &mut Driver) {
    let first = primary(d);
    let s = stream(d);
    let e = crate::setup::event(d);
    let m = crate::setup::module(d);
    let f = crate::setup::function(d, m, c"nothing");
    let a = alloc(d, 16);
    let mut second = 0_usize;
    quietly!(d, cuCtxCreate_v2(&mut second, 0, 0));
    let theirs = stream(d);
    let their_event = crate::setup::event(d);
    let b = alloc(d, 16);
    let mut of = 0_usize;
    say!(d, cuStreamGetCtx(s, &mut of) => of == first);
    say!(d, cuStreamGetCtx(0, &mut of) => of == second);
    say!(d, cuStreamSynchronize(s));
    say!(d, cuStreamQuery(s));
    say!(d, cuEventQuery(e));
    say!(d, cuEventRecord(e, s));
    say!(d, cuEventRecord(e, theirs));
    say!(d, cuEventRecord(e, 0));
    say!(d, cuEventRecord(their_event, theirs));
    say!(d, cuStreamWaitEvent(theirs, e, 0));
    say!(d, cuStreamWaitEvent(s, their_event, 0));
    say!(d, cuEventSynchronize(e));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, theirs, 0, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    let mut number = 0_i32;
    say!(d, cuFuncGetAttribute(&mut number, 0, f) => number);
    say!(d, cuMemsetD8_v2(a, 0, 16));
    say!(d, cuMemcpyDtoD_v2(a, b, 16));
    say!(d, cuMemcpyDtoDAsync_v2(a, b, 16, s));
    say!(d, cuMemcpyDtoDAsync_v2(a, b, 16, theirs));
    say!(d, cuMemcpyPeerAsync(a, first, b, second, 16, theirs));
    say!(d, cuMemcpyPeer(a, first, b, second, 16));
    say!(d, cuPointerGetAttribute(&mut of, 1, a) => of == first);
    say!(d, cuMemFree_v2(a));
    say!(d, cuModuleUnload(m));
    say!(d, cuEventDestroy_v2(e));
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuCtxEnablePeerAccess(first, 0));
    say!(d, cuCtxDisablePeerAccess(first));
    say!(d, cuCtxSynchronize());
}

fn freed_with_context(d: &mut Driver) {
    primary(d);
    let mut second = 0_usize;
    quietly!(d, cuCtxCreate_v2(&mut second, 0, 0));
    let b = alloc(d, 16);
    let s = stream(d);
    let e = crate::setup::event(d);
    say!(d, cuCtxDestroy_v2(second));
    say!(d, cuMemFree_v2(b));
    let _ = e;
    say!(d, cuStreamQuery(s));
}
