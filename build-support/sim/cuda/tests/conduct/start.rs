//! Before there is a context: initialization, errors, devices.

use std::ffi::{CStr, c_char};

use crate::Scenario;
use crate::say::{Driver, quietly, say};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("before_init", before_init),
    ("errors", errors),
    ("devices", devices),
    ("attributes", attributes),
    ("without_context", without_context),
    ("entry_points", entry_points),
    ("null_text", null_text),
    ("no_context", no_context),
    ("null_name", null_name),
    ("no_room", no_room),
];

fn before_init(d: &mut Driver) {
    let mut number = 0_i32;
    let mut address = 0_u64;
    let mut handle = 0_usize;
    let mut text = 0_usize;
    say!(d, cuDriverGetVersion(&mut number));
    say!(d, cuDriverGetVersion(0_usize));
    say!(d, cuGetErrorName(1, &mut text));
    say!(d, cuDeviceGetCount(&mut number));
    say!(d, cuDeviceGet(&mut number, 0));
    say!(d, cuDevicePrimaryCtxRetain(&mut handle, 0));
    say!(d, cuCtxGetCurrent(&mut handle));
    say!(d, cuCtxSetCurrent(0));
    say!(d, cuCtxSynchronize());
    say!(d, cuMemAlloc_v2(&mut address, 16));
    say!(d, cuMemFree_v2(0));
    say!(d, cuStreamQuery(0));
    say!(d, cuProfilerStart());
    say!(d, cuGetProcAddress_v2(c"cuInit", &mut handle, 12000, 0, 0));
    say!(d, cuInit(1));
    say!(d, cuInit(0));
    say!(d, cuInit(0));
    say!(d, cuDeviceGetCount(0_usize));
    say!(d, cuDeviceGetCount(&mut number) => number);
}

fn text(pointer: usize) -> String {
    if pointer == 0 {
        return "null".to_owned();
    }
    // SAFETY: the driver's texts end with a zero and stay.
    let text = unsafe { CStr::from_ptr(pointer as *const c_char) };
    text.to_string_lossy().into_owned()
}

fn errors(d: &mut Driver) {
    for code in 0..1000 {
        let mut name = 1_usize;
        let mut string = 1_usize;
        let known = quietly!(d, cuGetErrorName(code, &mut name));
        let also = quietly!(d, cuGetErrorString(code, &mut string));
        if known == 0 || also == 0 || code == 777 {
            d.write(&format!(
                "{code}: {known} {} {also} {}",
                text(name),
                text(string)
            ));
        }
    }
}

fn devices(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let mut number = 0_i32;
    let mut name = [0_u8; 100];
    say!(d, cuDeviceGet(&mut number, 0) => number);
    say!(d, cuDeviceGet(&mut number, -1));
    say!(d, cuDeviceGet(&mut number, 64));
    say!(d, cuDeviceGet(0, 0));
    say!(d, cuDeviceGetName(name.as_mut_ptr(), 100, 0));
    say!(d, cuDeviceGetName(name.as_mut_ptr(), 4, 0) => format!("{:?}", &name[..5]));
    say!(d, cuDeviceGetName(name.as_mut_ptr(), 1, 0) => name[0]);
    say!(d, cuDeviceGetName(name.as_mut_ptr(), 100, 64));
    say!(d, cuDeviceTotalMem_v2(0, 0));
    say!(d, cuDeviceGetUuid_v2(name.as_mut_ptr(), 0));
    say!(d, cuDeviceGetUuid_v2(0, 0));
    say!(d, cuDeviceGetPCIBusId(name.as_mut_ptr(), 100, 0) => text(name.as_ptr() as usize).len());
    say!(d, cuDeviceGetPCIBusId(name.as_mut_ptr(), 5, 0));
    say!(d, cuDeviceGetByPCIBusId(&mut number, c"ffff:ff:1f.7"));
    say!(d, cuDeviceGetByPCIBusId(&mut number, c"what"));
    say!(d, cuDeviceCanAccessPeer(&mut number, 0, 0) => number);
    say!(d, cuDeviceGetAttribute(&mut number, 0, 0));
    say!(d, cuDeviceGetAttribute(&mut number, 999, 0));
    say!(d, cuDeviceGetAttribute(&mut number, 1, 64));
    say!(d, cuDeviceGetAttribute(0, 1, 0));
    say!(d, cuDeviceComputeCapability(&mut number, &mut number, 0));
    let mut handle = 0_usize;
    say!(d, cuDeviceGetDefaultMemPool(&mut handle, 0) => handle != 0);
    let mut other = 0_usize;
    say!(d, cuDeviceGetMemPool(&mut other, 0) => other == handle);
    for attribute in 0..6 {
        let code = quietly!(d, cuDeviceGetP2PAttribute(&mut number, attribute, 0, 0));
        d.write(&format!("p2p {attribute}: {code}"));
    }
    say!(d, cuDeviceSetMemPool(0, 0));
    say!(d, cuDeviceSetMemPool(0, handle));
    say!(d, cuDeviceGetDefaultMemPool(&mut handle, 64));
}

fn attributes(d: &mut Driver) {
    quietly!(d, cuInit(0));
    for attribute in 1..160 {
        let mut value = -1_i32;
        let code = quietly!(d, cuDeviceGetAttribute(&mut value, attribute, 0));
        d.write(&format!("{attribute}: {code} {value}"));
    }
}

fn without_context(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let mut number = 0_i32;
    let mut bytes = 0_usize;
    let mut address = 0_u64;
    let mut handle = 1_usize;
    say!(d, cuCtxGetCurrent(&mut handle) => handle);
    say!(d, cuCtxGetDevice(&mut number));
    say!(d, cuCtxGetFlags(&mut number));
    say!(d, cuCtxGetLimit(&mut bytes, 0));
    say!(d, cuCtxGetApiVersion(0, &mut number));
    say!(d, cuCtxGetStreamPriorityRange(&mut number, &mut number));
    say!(d, cuCtxSynchronize());
    say!(d, cuCtxPopCurrent_v2(&mut handle));
    say!(d, cuCtxPushCurrent_v2(0));
    say!(d, cuCtxSetCurrent(0));
    say!(d, cuMemAlloc_v2(&mut address, 16));
    say!(d, cuMemFree_v2(0));
    say!(d, cuMemFree_v2(4096));
    say!(d, cuMemHostAlloc(&mut handle, 16, 0));
    say!(d, cuMemAllocAsync(&mut address, 16, 0));
    say!(d, cuMemGetInfo_v2(&mut bytes, &mut bytes));
    say!(d, cuMemsetD8_v2(4096, 0, 1));
    say!(d, cuStreamCreate(&mut handle, 0));
    say!(d, cuStreamQuery(0));
    say!(d, cuStreamSynchronize(0));
    say!(d, cuStreamIsCapturing(0, &mut number));
    say!(d, cuThreadExchangeStreamCaptureMode(&mut number) => number);
    say!(d, cuEventCreate(&mut handle, 0));
    say!(d, cuModuleLoadData(&mut handle, crate::setup::KERNELS));
    say!(d, cuGraphCreate(&mut handle, 0));
    say!(d, cuPointerGetAttribute(&mut number, 2, 4096));
    say!(d, cuProfilerStart());
    say!(d, cuDevicePrimaryCtxGetState(0, &mut number, &mut number) => number);
    say!(d, cuDevicePrimaryCtxRelease_v2(0));
    say!(d, cuDevicePrimaryCtxReset_v2(0));
    say!(d, cuDevicePrimaryCtxSetFlags_v2(0, 4));
    let mut flags = 0_u32;
    say!(d, cuDevicePrimaryCtxGetState(0, &mut flags, &mut number) => format!("{flags} {number}"));
    say!(d, cuDevicePrimaryCtxSetFlags_v2(0, 0x777));
}

fn entry_points(d: &mut Driver) {
    let mut p = 0_usize;
    let mut status = 9_i32;
    say!(d, cuGetProcAddress_v2(c"cuMemAlloc", &mut p, 12000, 0, &mut status) => format!("{} {status}", p != 0));
    say!(d, cuGetProcAddress_v2(c"cuMemAlloc", &mut p, 13000, 0, &mut status) => format!("{} {status}", p != 0));
    say!(d, cuGetProcAddress_v2(c"cuMemAlloc", &mut p, 99000, 0, &mut status) => format!("{} {status}", p != 0));
    say!(
        d,
        cuGetProcAddress_v2(c"cuMemAlloc", &mut p, 1000, 0, &mut status)
    );
    d.write(&format!("{} {status}", p != 0));
    say!(
        d,
        cuGetProcAddress_v2(c"cuMemAlloc_v2", &mut p, 12000, 0, &mut status)
    );
    d.write(&format!("{} {status}", p != 0));
    say!(
        d,
        cuGetProcAddress_v2(c"cuLaunchKernelEx", &mut p, 11000, 0, &mut status)
    );
    d.write(&format!("{} {status}", p != 0));
    say!(
        d,
        cuGetProcAddress_v2(c"cuNoSuchFunction", &mut p, 12000, 0, &mut status)
    );
    d.write(&format!("{} {status}", p != 0));
    say!(d, cuGetProcAddress_v2(c"cuInit", &mut p, 12000, 0, 0) => p != 0);
    say!(
        d,
        cuGetProcAddress_v2(c"cuInit", &mut p, 12000, 7, &mut status)
    );
    say!(d, cuGetProcAddress_v2(c"cuInit", &mut p, 12000, 2, &mut status) => format!("{} {status}", p != 0));
    say!(d, cuGetProcAddress_v2(c"", &mut p, 12000, 0, &mut status));
    say!(d, cuGetProcAddress_v2(c"cuInit", 0, 12000, 0, &mut status));
    say!(d, cuGetProcAddress(c"cuNoSuchFunction", &mut p, 12000, 0) => p);
    say!(d, cuGetProcAddress(c"cuInit", &mut p, 12000, 0) => p != 0);
}

fn null_text(d: &mut Driver) {
    say!(d, cuGetErrorName(0, 0));
}

fn no_context(d: &mut Driver) {
    quietly!(d, cuInit(0));
    say!(d, cuCtxSetCurrent(0x1234_5000));
}

fn null_name(d: &mut Driver) {
    let mut p = 0_usize;
    say!(d, cuGetProcAddress_v2(0, &mut p, 12000, 0, 0));
}

fn no_room(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let mut name = [0_u8; 1];
    say!(d, cuDeviceGetName(name.as_mut_ptr(), 0, 0));
}
