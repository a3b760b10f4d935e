//! Memory: allocations, copies, sets, what is known of a pointer.

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{Gate, alloc, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("allocations", allocations),
    ("bounds", bounds),
    ("sets", sets),
    ("planes", planes),
    ("host", host),
    ("registered", registered),
    ("managed", managed),
    ("pointers", pointers),
    ("ranges", ranges),
    ("unfinished_copies", unfinished_copies),
    ("volumes", volumes),
];

fn allocations(d: &mut Driver) {
    primary(d);
    let (mut a, mut b) = (0_u64, 0_u64);
    let mut pitch = 0_usize;
    say!(d, cuMemAlloc_v2(&mut a, 0));
    say!(d, cuMemAlloc_v2(0, 16));
    say!(d, cuMemAlloc_v2(&mut a, 1_usize << 50));
    say!(d, cuMemAlloc_v2(&mut a, usize::MAX));
    say!(d, cuMemAlloc_v2(&mut a, 1) => a % 256);
    say!(d, cuMemAlloc_v2(&mut b, 1) => b % 256);
    say!(d, cuMemFree_v2(0));
    say!(d, cuMemFree_v2(a + 1));
    say!(d, cuMemFree_v2(a));
    say!(d, cuMemFree_v2(a));
    say!(d, cuMemFree_v2(0x1234));
    let mut local = [0_u8; 16];
    say!(d, cuMemFree_v2(local.as_mut_ptr()));
    say!(d, cuMemAllocPitch_v2(&mut a, &mut pitch, 100, 10, 4) => pitch);
    say!(d, cuMemAllocPitch_v2(&mut a, &mut pitch, 513, 10, 16) => pitch);
    say!(d, cuMemAllocPitch_v2(&mut a, &mut pitch, 100, 10, 3));
    say!(d, cuMemAllocPitch_v2(&mut a, &mut pitch, 0, 10, 4));
    say!(d, cuMemAllocPitch_v2(&mut a, &mut pitch, 100, 0, 4));
    let (mut free, mut total) = (0_usize, 0_usize);
    say!(d, cuMemGetInfo_v2(&mut free, &mut total) => free <= total && free > 0);
    say!(d, cuMemGetInfo_v2(0, &mut total));
}

fn bounds(d: &mut Driver) {
    primary(d);
    let (a, b) = (alloc(d, 1024), alloc(d, 512));
    let mut local = vec![7_u8; 4 << 20];
    let p = local.as_mut_ptr();
    let s = stream(d);
    say!(d, cuMemcpyHtoD_v2(a, p, 1024));
    say!(d, cuMemcpyHtoD_v2(a, p, 4 << 20));
    say!(d, cuMemcpyHtoDAsync_v2(a, p, 4 << 20, s));
    say!(d, cuMemcpyDtoH_v2(p, a, 4 << 20));
    say!(d, cuMemcpyDtoHAsync_v2(p, a, 4 << 20, s));
    say!(d, cuMemcpyDtoD_v2(b, a, 4 << 20));
    say!(d, cuMemcpyHtoD_v2(a, p, 0));
    say!(d, cuMemcpyHtoD_v2(0, 0, 0));
    say!(d, cuMemcpyHtoD_v2(0, p, 16));
    say!(d, cuMemcpyHtoD_v2(a, 0, 16));
    say!(d, cuMemcpyDtoH_v2(0, a, 16));
    say!(d, cuMemcpyHtoD_v2(p, p, 16));
    say!(d, cuMemcpyDtoD_v2(0x1234, a, 16));
    say!(d, cuMemcpyDtoD_v2(a, a + 4, 512));
    say!(d, cuMemcpy(a, b, 16));
    say!(d, cuMemcpy(a, p, 16));
    say!(d, cuMemcpy(p, a, 16) => local[0]);
    say!(d, cuMemcpyAsync(a, b, 16, s));
    say!(d, cuMemcpyDtoD_v2(a, p, 16));
    quietly!(d, cuMemFree_v2(a));
    say!(d, cuMemcpyHtoD_v2(a, p, 16));
    say!(d, cuMemcpyDtoH_v2(p, a, 16));
    say!(d, cuMemsetD8_v2(a, 0, 16));
    say!(d, cuCtxSynchronize());
}

fn sets(d: &mut Driver) {
    primary(d);
    let a = alloc(d, 4096);
    let mut out = [0_u32; 8];
    say!(d, cuMemsetD8_v2(a, 0x11, 32));
    say!(d, cuMemsetD16_v2(a, 0x2233, 4));
    say!(d, cuMemsetD32_v2(a + 16, 0x4455_6677, 2));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 32) => format!("{out:x?}"));
    say!(d, cuMemsetD16_v2(a + 1, 0, 1));
    say!(d, cuMemsetD32_v2(a + 2, 0, 1));
    say!(d, cuMemsetD8_v2(a, 0, 0));
    say!(d, cuMemsetD8_v2(0, 0, 0));
    say!(d, cuMemsetD8_v2(0, 0, 1));
    say!(d, cuMemsetD8_v2(a, 0, 4 << 20));
    say!(d, cuMemsetD8_v2(a, 0x199, 4));
    say!(d, cuMemsetD2D8_v2(a, 64, 1, 16, 4));
    say!(d, cuMemsetD2D16_v2(a, 64, 1, 16, 4));
    say!(d, cuMemsetD2D32_v2(a, 64, 1, 16, 4));
    say!(d, cuMemsetD2D32_v2(a, 63, 1, 4, 4));
    say!(d, cuMemsetD2D32_v2(a, 32, 1, 16, 4));
    say!(d, cuMemsetD2D8_v2(a, 64, 1, 0, 4));
    say!(d, cuMemsetD2D8_v2(a, 4096, 1, 4096, 2000));
    say!(d, cuMemsetD8Async(a, 0, 16, 0));
    say!(d, cuMemsetD2D32Async(a, 64, 1, 16, 4, 0));
    say!(d, cuMemsetD32Async(a + 2, 0, 1, 0));
    say!(d, cuCtxSynchronize());
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Plane {
    src_x: usize,
    src_y: usize,
    src_type: u32,
    src_host: usize,
    src_device: u64,
    src_array: usize,
    src_pitch: usize,
    dst_x: usize,
    dst_y: usize,
    dst_type: u32,
    dst_host: usize,
    dst_device: u64,
    dst_array: usize,
    dst_pitch: usize,
    width: usize,
    height: usize,
}

fn planes(d: &mut Driver) {
    primary(d);
    let a = alloc(d, 4096);
    let mut source: Vec<u8> = (0..=255).collect();
    let mut target = [0_u8; 64];
    let to_device = Plane {
        src_x: 2,
        src_y: 1,
        src_type: 1,
        src_host: source.as_mut_ptr() as usize,
        src_pitch: 16,
        dst_x: 4,
        dst_type: 2,
        dst_device: a,
        dst_pitch: 64,
        width: 4,
        height: 3,
        ..Plane::default()
    };
    say!(d, cuMemcpy2D_v2(&to_device));
    let to_host = Plane {
        src_x: 4,
        src_type: 2,
        src_device: a,
        src_pitch: 64,
        dst_type: 1,
        dst_host: target.as_mut_ptr() as usize,
        dst_pitch: 8,
        width: 4,
        height: 3,
        ..Plane::default()
    };
    say!(d, cuMemcpy2DUnaligned_v2(&to_host) => format!("{:?}", &target[..24]));
    say!(d, cuMemcpy2DAsync_v2(&to_host, 0));
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            dst_type: 4,
            ..to_host
        })
    );
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            dst_type: 0,
            ..to_host
        })
    );
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            dst_type: 3,
            ..to_host
        })
    );
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            width: 100,
            ..to_device
        })
    );
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            width: 0,
            ..to_device
        })
    );
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            height: 0,
            ..to_device
        })
    );
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            dst_pitch: 4 << 20,
            ..to_device
        })
    );
    say!(
        d,
        cuMemcpy2D_v2(&Plane {
            dst_pitch: 0,
            height: 1,
            ..to_device
        })
    );
    say!(d, cuMemcpy2D_v2(0));
}

fn host(d: &mut Driver) {
    primary(d);
    let (mut p, mut q, mut flags) = (0_usize, 0_usize, 0_u32);
    say!(d, cuMemHostAlloc(&mut p, 0, 0));
    say!(d, cuMemHostAlloc(&mut p, 16, 0x777));
    say!(d, cuMemHostAlloc(0, 16, 0));
    say!(d, cuMemHostAlloc(&mut p, 1_usize << 60, 0));
    say!(d, cuMemHostAlloc(&mut p, 16, 0) => p % 64);
    say!(d, cuMemHostGetFlags(&mut flags, p) => flags);
    say!(d, cuMemHostGetDevicePointer_v2(&mut q, p, 0) => q == p);
    say!(d, cuMemHostGetDevicePointer_v2(&mut q, p + 8, 0) => q == p + 8);
    say!(d, cuMemHostGetDevicePointer_v2(&mut q, p, 1));
    say!(d, cuMemHostAlloc(&mut q, 16, 7) => q % 64);
    say!(d, cuMemHostGetFlags(&mut flags, q) => flags);
    say!(d, cuMemFreeHost(q));
    say!(d, cuMemAllocHost_v2(&mut q, 16));
    say!(d, cuMemHostGetFlags(&mut flags, q) => flags);
    say!(d, cuMemFreeHost(q));
    say!(d, cuMemFree_v2(p));
    say!(d, cuMemFreeHost(p + 8));
    say!(d, cuMemFreeHost(p));
    say!(d, cuMemFreeHost(p));
    say!(d, cuMemFreeHost(0));
    let a = alloc(d, 16);
    say!(d, cuMemFreeHost(a));
    let mut local = [0_u8; 16];
    say!(d, cuMemFreeHost(local.as_mut_ptr()));
    say!(
        d,
        cuMemHostGetDevicePointer_v2(&mut q, local.as_mut_ptr(), 0)
    );
    say!(d, cuMemHostGetFlags(&mut flags, local.as_mut_ptr()));
}

fn registered(d: &mut Driver) {
    primary(d);
    let mut memory = vec![0_u8; 1 << 20];
    // A page of its own, or the driver shares it with what lies beside.
    let p = (memory.as_mut_ptr() as usize).next_multiple_of(4096);
    let (mut q, mut flags) = (0_usize, 0_u32);
    say!(d, cuMemHostRegister_v2(p, 8192, 0));
    say!(d, cuMemHostRegister_v2(p, 8192, 0));
    say!(d, cuMemHostRegister_v2(p + 4096, 8192, 0));
    say!(d, cuMemHostGetDevicePointer_v2(&mut q, p, 0) => q == p);
    say!(d, cuMemHostGetFlags(&mut flags, p) => flags);
    say!(d, cuMemFreeHost(p));
    say!(d, cuMemHostUnregister(p + 8));
    say!(d, cuMemHostUnregister(p));
    say!(d, cuMemHostUnregister(p));
    say!(d, cuMemHostRegister_v2(p, 0, 0));
    say!(d, cuMemHostRegister_v2(0, 4096, 0));
    say!(d, cuMemHostRegister_v2(p, 4096, 0x777));
    say!(d, cuMemHostRegister_v2(p + 7, 100, 2));
    say!(d, cuMemHostGetFlags(&mut flags, p + 7) => flags);
    say!(d, cuMemHostUnregister(p + 7));
}

fn managed(d: &mut Driver) {
    primary(d);
    let mut a = 0_u64;
    let s = stream(d);
    say!(d, cuMemAllocManaged(&mut a, 16, 0));
    say!(d, cuMemAllocManaged(&mut a, 0, 1));
    say!(d, cuMemAllocManaged(&mut a, 16, 4));
    say!(d, cuMemAllocManaged(&mut a, 4096, 1));
    // SAFETY: managed memory may be written by the host while no kernel runs.
    unsafe { (a as *mut u32).write(5) };
    say!(d, cuMemsetD8_v2(a + 1, 7, 1));
    quietly!(d, cuCtxSynchronize());
    // SAFETY: the set was waited for.
    let value = unsafe { (a as *const u32).read() };
    d.write(&format!("{value:x}"));
    let location = [1_u32, 0];
    let word = u64::from(location[0]);
    say!(d, cuMemPrefetchAsync_v2(a, 4096, word, 0, s));
    say!(d, cuMemPrefetchAsync(a, 4096, 0, s));
    say!(d, cuMemPrefetchAsync(a, 4096, -1, s));
    say!(d, cuMemPrefetchAsync(a, 4096, 64, s));
    say!(d, cuMemPrefetchAsync(a, 0, 0, s));
    say!(d, cuMemPrefetchAsync(a, 8 << 20, 0, s));
    say!(d, cuMemAdvise(a, 4096, 1, 0));
    say!(d, cuMemAdvise(a, 4096, 99, 0));
    say!(d, cuMemAdvise_v2(a, 4096, 3, word));
    let device = alloc(d, 4096);
    say!(d, cuMemPrefetchAsync(device, 4096, 0, s));
    say!(d, cuMemAdvise(device, 4096, 1, 0));
    say!(d, cuStreamAttachMemAsync(s, a, 0, 4));
    say!(d, cuStreamAttachMemAsync(s, a, 4096, 1));
    say!(d, cuStreamAttachMemAsync(s, a, 4096, 9));
    say!(d, cuStreamAttachMemAsync(s, device, 0, 1));
    say!(d, cuStreamAttachMemAsync(0, a, 0, 4));
    say!(d, cuMemFree_v2(a));
    say!(d, cuMemFree_v2(a));
}

fn pointers(d: &mut Driver) {
    let context = primary(d);
    let a = alloc(d, 1000);
    let (mut p, mut m, mut pooled) = (0_u64, 0_u64, 0_u64);
    quietly!(d, cuMemHostAlloc(&mut p, 1000, 2));
    quietly!(d, cuMemAllocManaged(&mut m, 1000, 1));
    quietly!(d, cuMemAllocAsync(&mut pooled, 1000, 0));
    let mut local = [0_u8; 16];
    let freed = alloc(d, 1000);
    quietly!(d, cuMemFree_v2(freed));
    let l = local.as_mut_ptr() as u64;
    for (what, base) in [
        ("device", a),
        ("host", p),
        ("managed", m),
        ("pooled", pooled),
        ("local", l),
        ("freed", freed),
        ("null", 0),
    ] {
        let inside = if base == 0 { 0 } else { base + 4 };
        for attribute in [
            1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 99,
        ] {
            let mut value = [0_u64; 4];
            let code = quietly!(d, cuPointerGetAttribute(&mut value, attribute, inside));
            let value = match value[0] {
                _ if code != 0 || matches!(attribute, 7 | 20) => String::new(),
                0 => "0".to_owned(),
                v if v == context as u64 => "context".to_owned(),
                v if v == inside => "itself".to_owned(),
                v if v == base => "its start".to_owned(),
                v => v.to_string(),
            };
            d.write(&format!("{what} {attribute}: {code} {value}"));
        }
    }
    let mut values = [0_u64; 3];
    let mut places: Vec<usize> = values
        .iter_mut()
        .map(|value| std::ptr::from_mut(value) as usize)
        .collect();
    let attributes = [1_u32, 2, 3];
    say!(d, cuPointerGetAttributes(3, &attributes, places.as_mut_ptr() as usize, a) => format!("{} {} {}", values[0] == context as u64, values[1], values[2] == a));
    say!(d, cuPointerGetAttributes(3, &attributes, places.as_mut_ptr() as usize, l) => format!("{values:?}"));
    let yes = 1_u32;
    say!(d, cuPointerSetAttribute(&yes, 6, a));
}

fn ranges(d: &mut Driver) {
    primary(d);
    let a = alloc(d, 1000);
    let (mut base, mut size, mut p) = (0_u64, 0_usize, 0_u64);
    quietly!(d, cuMemHostAlloc(&mut p, 1000, 0));
    say!(d, cuMemGetAddressRange_v2(&mut base, &mut size, a) => format!("{} {size}", base == a));
    say!(d, cuMemGetAddressRange_v2(&mut base, &mut size, a + 999) => format!("{} {size}", base == a));
    say!(d, cuMemGetAddressRange_v2(&mut base, 0, a));
    say!(d, cuMemGetAddressRange_v2(0, &mut size, a));
    say!(d, cuMemGetAddressRange_v2(&mut base, &mut size, p + 4) => format!("{} {size}", base == p));
    say!(d, cuMemGetAddressRange_v2(&mut base, &mut size, 0x1234));
    say!(d, cuMemGetAddressRange_v2(&mut base, &mut size, 0));
    quietly!(d, cuMemFree_v2(a));
    say!(d, cuMemGetAddressRange_v2(&mut base, &mut size, a));
}

fn unfinished_copies(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let a = alloc(d, 16);
    let mut pinned = 0_usize;
    quietly!(d, cuMemHostAlloc(&mut pinned, 16, 0));
    let mut local = [1_u8; 16];
    // SAFETY: pinned memory is the host's too.
    let bytes = unsafe { std::slice::from_raw_parts_mut(pinned as *mut u8, 16) };
    bytes.fill(1);
    let gate = Gate::close(d, s);
    say!(d, cuMemcpyHtoDAsync_v2(a, local.as_mut_ptr(), 16, s));
    local.fill(2);
    gate.open();
    quietly!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(local.as_mut_ptr(), a, 16) => local[0]);
    let gate = Gate::close(d, s);
    say!(d, cuMemcpyHtoDAsync_v2(a, pinned, 16, s));
    bytes.fill(2);
    gate.open();
    quietly!(d, cuStreamSynchronize(s));
    say!(d, cuMemcpyDtoH_v2(local.as_mut_ptr(), a, 16) => local[0]);
    quietly!(d, cuMemsetD8_v2(a, 9, 16));
    let gate = Gate::close(d, s);
    say!(d, cuMemcpyDtoHAsync_v2(pinned, a, 16, s) => bytes[0]);
    gate.open();
    quietly!(d, cuStreamSynchronize(s));
    d.write(&bytes[0].to_string());
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Volume {
    src_x: usize,
    src_y: usize,
    src_z: usize,
    src_lod: usize,
    src_type: u32,
    src_host: usize,
    src_device: u64,
    src_array: usize,
    reserved0: usize,
    src_pitch: usize,
    src_height: usize,
    dst_x: usize,
    dst_y: usize,
    dst_z: usize,
    dst_lod: usize,
    dst_type: u32,
    dst_host: usize,
    dst_device: u64,
    dst_array: usize,
    reserved1: usize,
    dst_pitch: usize,
    dst_height: usize,
    width: usize,
    height: usize,
    depth: usize,
}

fn volumes(d: &mut Driver) {
    primary(d);
    let a = alloc(d, 4096);
    let mut source: Vec<u8> = (0..=255).collect();
    let mut target = [0_u8; 64];
    let to_device = Volume {
        src_x: 1,
        src_z: 1,
        src_type: 1,
        src_host: source.as_mut_ptr() as usize,
        src_pitch: 8,
        src_height: 4,
        dst_y: 1,
        dst_type: 2,
        dst_device: a,
        dst_pitch: 16,
        dst_height: 8,
        width: 3,
        height: 2,
        depth: 2,
        ..Volume::default()
    };
    quietly!(d, cuMemsetD8_v2(a, 0, 4096));
    say!(d, cuMemcpy3D_v2(&to_device));
    let back = Volume {
        src_type: 2,
        src_device: a,
        src_pitch: 16,
        src_height: 8,
        dst_type: 1,
        dst_host: target.as_mut_ptr() as usize,
        dst_pitch: 4,
        dst_height: 4,
        width: 4,
        height: 4,
        depth: 2,
        ..Volume::default()
    };
    say!(d, cuMemcpy3D_v2(&back) => format!("{:?}", &target[..32]));
    say!(d, cuMemcpy3DAsync_v2(&back, 0));
    say!(d, cuMemcpy3D_v2(&Volume { depth: 0, ..back }));
    say!(d, cuMemcpy3D_v2(&Volume { height: 9, ..back }));
    say!(
        d,
        cuMemcpy3D_v2(&Volume {
            depth: 90_000,
            dst_type: 2,
            dst_device: a,
            ..back
        })
    );
}
