//! Graphs.

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{alloc, function, module, pointer, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("replays", replays),
    ("copies", copies),
    ("instantiations", instantiations),
    ("destroyed_graph", destroyed_graph),
    ("destroyed_exec", destroyed_exec),
    ("built", built),
    ("allocations", allocations),
    ("nodes", nodes),
    ("host_nodes", host_nodes),
    ("captured_launch", captured_launch),
    ("updates", updates),
];

fn captured(d: &Driver, s: usize, f: usize, a: &mut u64) -> usize {
    let mut graph = 0_usize;
    let mut args = [pointer(a)];
    let args = args.as_mut_ptr() as usize;
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    quietly!(d, cuMemsetD32Async(*a, 10, 1, s));
    quietly!(d, cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, s, args, 0));
    quietly!(d, cuStreamEndCapture(s, &mut graph));
    graph
}

fn replays(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let m = module(d);
    let f = function(d, m, c"count");
    let mut a = alloc(d, 4);
    let mut out = 0_u32;
    quietly!(d, cuMemsetD32_v2(a, 1, 1));
    let graph = captured(d, s, f, &mut a);
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    let mut exec = 0_usize;
    say!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 0_u64));
    say!(d, cuGraphUpload(exec, s));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuGraphLaunch(exec, 0));
    say!(d, cuCtxSynchronize());
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    say!(d, cuGraphDestroy(graph));
    quietly!(d, cuMemsetD32_v2(a, 1, 1));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    say!(d, cuGraphExecDestroy(exec));
}

fn copies(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let a = alloc(d, 16);
    let mut source = [1_u32; 4];
    let mut target = [0_u32; 4];
    let (mut graph, mut exec) = (0_usize, 0_usize);
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(
        d,
        cuMemcpyHtoDAsync_v2(a, source.as_mut_ptr() as usize, 16, s)
    );
    say!(
        d,
        cuMemcpyDtoHAsync_v2(target.as_mut_ptr() as usize, a, 16, s)
    );
    say!(d, cuStreamEndCapture(s, &mut graph));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 0_u64));
    source.fill(2);
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s) => format!("{target:?}"));
    std::hint::black_box(&source);
    source.fill(3);
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s) => format!("{target:?}"));
}

fn instantiations(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let m = module(d);
    let f = function(d, m, c"count");
    let mut a = alloc(d, 4);
    let graph = captured(d, s, f, &mut a);
    let mut exec = 0_usize;
    for flags in [0_u64, 1, 2, 4, 5, 8, 9, 15, 16, 0x1_0000_0000] {
        let code = quietly!(d, cuGraphInstantiateWithFlags(&mut exec, graph, flags));
        d.write(&format!("{flags:#x}: {code}"));
    }
    let mut flags = 9_u64;
    quietly!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 9_u64));
    say!(d, cuGraphExecGetFlags(exec, &mut flags) => flags);
    say!(d, cuGraphInstantiateWithFlags(0, graph, 0_u64));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, 0, 0_u64));
    say!(d, cuGraphLaunch(0, s));
    say!(d, cuGraphDestroy(0));
    say!(d, cuGraphExecDestroy(0));
}

fn destroyed_graph(d: &mut Driver) {
    primary(d);
    let mut graph = 0_usize;
    say!(d, cuGraphCreate(&mut graph, 1));
    say!(d, cuGraphCreate(0, 0));
    say!(d, cuGraphCreate(&mut graph, 0));
    say!(d, cuGraphDestroy(graph));
    say!(d, cuGraphDestroy(graph));
}

fn destroyed_exec(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let (mut graph, mut exec) = (0_usize, 0_usize);
    quietly!(d, cuGraphCreate(&mut graph, 0));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 0_u64));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuGraphExecDestroy(exec));
    say!(d, cuGraphLaunch(exec, s));
}

/// `CUDA_KERNEL_NODE_PARAMS`, second version.
#[repr(C)]
#[derive(Default)]
struct Kernel {
    function: usize,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: usize,
    extra: usize,
    kernel: usize,
    context: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Default)]
struct Memset {
    dst: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

fn built(d: &mut Driver) {
    let context = primary(d);
    let s = stream(d);
    let m = module(d);
    let f = function(d, m, c"count");
    let mut a = alloc(d, 4);
    let mut out = 0_u32;
    let mut args = [pointer(&mut a)];
    let (mut graph, mut exec) = (0_usize, 0_usize);
    let (mut set, mut kernel, mut empty) = (0_usize, 0_usize, 0_usize);
    quietly!(d, cuGraphCreate(&mut graph, 0));
    let params = Kernel {
        function: f,
        grid: [2, 1, 1],
        block: [8, 1, 1],
        params: args.as_mut_ptr() as usize,
        ..Kernel::default()
    };
    say!(
        d,
        cuGraphAddKernelNode_v2(&mut kernel, graph, 0, 0, &params)
    );
    say!(d, cuGraphAddKernelNode_v2(&mut kernel, graph, 0, 0, 0));
    let memset = Memset {
        dst: a,
        value: 5,
        element: 4,
        width: 1,
        height: 1,
        ..Memset::default()
    };
    say!(
        d,
        cuGraphAddMemsetNode(&mut set, graph, 0, 0, &memset, context)
    );
    say!(d, cuGraphAddEmptyNode(&mut empty, graph, &kernel, 1));
    say!(d, cuGraphAddDependencies(graph, &set, &kernel, 1));
    say!(d, cuGraphAddDependencies(graph, &set, &kernel, 1));
    say!(d, cuGraphAddDependencies(graph, &kernel, &kernel, 1));
    let (mut nodes, mut edges) = (0_usize, 0_usize);
    say!(d, cuGraphGetNodes(graph, 0, &mut nodes) => nodes);
    say!(d, cuGraphGetEdges(graph, 0, 0, &mut edges) => edges);
    let mut dependencies = 0_usize;
    say!(d, cuGraphNodeGetDependencies(kernel, 0, &mut dependencies) => dependencies);
    say!(d, cuGraphNodeGetDependentNodes(kernel, 0, &mut dependencies) => dependencies);
    let mut kind = 9_u32;
    say!(d, cuGraphNodeGetType(kernel, &mut kind) => kind);
    say!(d, cuGraphNodeGetType(set, &mut kind) => kind);
    say!(d, cuGraphNodeGetType(empty, &mut kind) => kind);
    let mut back = Kernel::default();
    say!(d, cuGraphKernelNodeGetParams_v2(kernel, &mut back) => format!("{} {:?} {:?} {}", back.function == f, back.grid, back.block, back.shared));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 0_u64));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    let larger = Kernel {
        grid: [4, 1, 1],
        ..params
    };
    say!(d, cuGraphExecKernelNodeSetParams_v2(exec, kernel, &larger));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    // A circle.
    say!(d, cuGraphAddDependencies(graph, &empty, &set, 1));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 0_u64));
    say!(d, cuGraphRemoveDependencies(graph, &empty, &set, 1));
    say!(d, cuGraphDestroyNode(empty));
    say!(d, cuGraphGetNodes(graph, 0, &mut nodes) => nodes);
    let mut clone = 0_usize;
    say!(d, cuGraphClone(&mut clone, graph));
    say!(d, cuGraphGetNodes(clone, 0, &mut nodes) => nodes);
    let mut child = 0_usize;
    let mut outer = 0_usize;
    quietly!(d, cuGraphCreate(&mut outer, 0));
    say!(d, cuGraphAddChildGraphNode(&mut child, outer, 0, 0, graph));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, outer, 0_u64));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
}

fn allocations(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let (mut graph, mut exec, mut a) = (0_usize, 0_usize, 0_u64);
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuMemAllocAsync(&mut a, 64, s));
    say!(d, cuMemsetD8Async(a, 7, 64, s));
    say!(d, cuStreamEndCapture(s, &mut graph));
    let mut out = 0_u32;
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4));
    say!(d, cuMemFree_v2(a));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 0_u64));
    let mut second = 0_usize;
    say!(d, cuGraphInstantiateWithFlags(&mut second, graph, 0_u64));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemFreeAsync(a, s));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuMemFree_v2(a));
    say!(d, cuGraphExecDestroy(exec));
    say!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 1_u64));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuGraphExecDestroy(exec));
    say!(d, cuGraphDestroy(graph));
    // Freed within.
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    quietly!(d, cuMemAllocAsync(&mut a, 64, s));
    say!(d, cuMemFreeAsync(a, s));
    say!(d, cuMemFreeAsync(a, s));
    say!(d, cuStreamEndCapture(s, &mut graph));
}

fn nodes(d: &mut Driver) {
    primary(d);
    let (s, other) = (stream(d), stream(d));
    let e = crate::setup::event(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    let (a, b) = (alloc(d, 64), alloc(d, 64));
    let (mut graph, mut count) = (0_usize, 16_usize);
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    quietly!(d, cuMemcpyDtoDAsync_v2(a, b, 64, s));
    quietly!(d, cuMemsetD8Async(a, 0, 64, s));
    quietly!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    quietly!(d, cuEventRecordWithFlags(e, s, 1));
    let _ = other;
    let mut p = 0_u64;
    quietly!(d, cuMemAllocAsync(&mut p, 64, s));
    quietly!(d, cuMemFreeAsync(p, s));
    say!(d, cuStreamEndCapture(s, &mut graph));
    let mut list = [0_usize; 16];
    say!(d, cuGraphGetNodes(graph, &mut list, &mut count) => count);
    for node in &list[..count.min(16)] {
        let mut kind = 99_u32;
        say!(d, cuGraphNodeGetType(*node, &mut kind) => kind);
    }
    count = 2;
    say!(d, cuGraphGetNodes(graph, &mut list, &mut count) => count);
    count = 9;
    list = [7; 16];
    say!(d, cuGraphGetNodes(graph, &mut list, &mut count) => format!("{count} {}", list[8]));
    let mut kind = 0_u32;
    say!(d, cuGraphNodeGetType(0, &mut kind));
}

fn host_nodes(d: &mut Driver) {
    static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    unsafe extern "C" fn call(_: *mut std::ffi::c_void) {
        CALLS.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
    primary(d);
    let s = stream(d);
    let (mut graph, mut exec) = (0_usize, 0_usize);
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    quietly!(
        d,
        cuLaunchHostFunc(s, call as unsafe extern "C" fn(*mut std::ffi::c_void), 0)
    );
    quietly!(d, cuStreamEndCapture(s, &mut graph));
    quietly!(d, cuGraphInstantiateWithFlags(&mut exec, graph, 0_u64));
    quietly!(d, cuGraphLaunch(exec, s));
    quietly!(d, cuGraphLaunch(exec, s));
    quietly!(d, cuStreamSynchronize(s));
    let calls = CALLS.load(std::sync::atomic::Ordering::SeqCst);
    d.write(&format!("{calls}"));
}

fn captured_launch(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let m = module(d);
    let f = function(d, m, c"count");
    let mut a = alloc(d, 4);
    let mut out = 0_u32;
    let inner = captured(d, s, f, &mut a);
    let (mut exec, mut outer, mut second) = (0_usize, 0_usize, 0_usize);
    quietly!(d, cuGraphInstantiateWithFlags(&mut exec, inner, 0_u64));
    quietly!(d, cuStreamBeginCapture_v2(s, 1));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamEndCapture(s, &mut outer));
    let mut count = 0_usize;
    say!(d, cuGraphGetNodes(outer, 0, &mut count) => count);
    say!(d, cuGraphInstantiateWithFlags(&mut second, outer, 0_u64));
    say!(d, cuGraphLaunch(second, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
}

fn updates(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let m = module(d);
    let f = function(d, m, c"count");
    let (mut a, mut b) = (alloc(d, 4), alloc(d, 4));
    let (first, second) = (captured(d, s, f, &mut a), captured(d, s, f, &mut b));
    let (mut exec, mut out) = (0_usize, 0_u32);
    let mut empty = 0_usize;
    quietly!(d, cuGraphCreate(&mut empty, 0));
    quietly!(d, cuGraphInstantiateWithFlags(&mut exec, first, 0_u64));
    // `CUgraphExecUpdateResultInfo`.
    let mut info = [9_u32, 0, 0, 0, 0, 0];
    say!(d, cuGraphExecUpdate_v2(exec, second, &mut info) => info[0]);
    quietly!(d, cuMemsetD32_v2(b, 0, 1));
    say!(d, cuGraphLaunch(exec, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(&mut out, b, 4) => out);
    say!(d, cuGraphExecUpdate_v2(exec, empty, &mut info));
    let result = info[0];
    d.write(&format!("{result}"));
}
