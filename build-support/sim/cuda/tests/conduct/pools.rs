//! Memory in the order of streams, and its pools.

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{alloc, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[("in_stream_order", in_stream_order), ("pools", pools)];

fn in_stream_order(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let (mut a, mut b) = (0_u64, 0_u64);
    let mut local = [1_u8; 16];
    say!(d, cuMemAllocAsync(&mut a, 0, s));
    say!(d, cuMemAllocAsync(&mut a, 1_usize << 50, s));
    say!(d, cuMemAllocAsync(0, 16, s));
    say!(d, cuMemAllocAsync(&mut a, 16, s) => a % 256);
    say!(d, cuMemsetD8Async(a, 3, 16, s));
    say!(d, cuMemcpyDtoHAsync_v2(local.as_mut_ptr(), a, 16, s));
    say!(d, cuStreamSynchronize(s) => local[3]);
    say!(d, cuMemFreeAsync(a, s));
    say!(d, cuMemFreeAsync(a, s));
    say!(d, cuMemFree_v2(a));
    say!(d, cuMemFreeAsync(0, s));
    say!(d, cuMemFreeAsync(0x1234, s));
    say!(d, cuMemAllocAsync(&mut b, 16, s));
    say!(d, cuMemFree_v2(b));
    say!(d, cuMemFree_v2(b));
    let device = alloc(d, 16);
    say!(d, cuMemFreeAsync(device, s));
    let mut p = 0_usize;
    quietly!(d, cuMemHostAlloc(&mut p, 16, 0));
    say!(d, cuMemFreeAsync(p, s));
    say!(d, cuMemAllocAsync(&mut b, 16, s));
    say!(d, cuMemFreeAsync(b, 0));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuCtxSynchronize());
    say!(d, cuMemcpyDtoH_v2(local.as_mut_ptr(), b, 16));
}

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Default)]
struct PoolProps {
    alloc: u32,
    handles: u32,
    location: u32,
    id: i32,
    security: usize,
    max: usize,
    usage: [u16; 28],
}

fn pools(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let (mut pool, mut default, mut a) = (0_usize, 0_usize, 0_u64);
    let props = PoolProps {
        alloc: 1,
        location: 1,
        ..PoolProps::default()
    };
    say!(
        d,
        cuMemPoolCreate(
            &mut pool,
            &PoolProps {
                alloc: 0,
                location: 1,
                ..PoolProps::default()
            }
        )
    );
    say!(
        d,
        cuMemPoolCreate(
            &mut pool,
            &PoolProps {
                alloc: 1,
                location: 1,
                id: 64,
                ..PoolProps::default()
            }
        )
    );
    say!(d, cuMemPoolCreate(&mut pool, 0));
    say!(d, cuMemPoolCreate(&mut pool, &props) => pool != 0);
    quietly!(d, cuDeviceGetDefaultMemPool(&mut default, 0));
    for attribute in 0..10 {
        let mut value = [0_u64; 2];
        let code = quietly!(d, cuMemPoolGetAttribute(default, attribute, &mut value));
        d.write(&format!("{attribute}: {code} {}", value[0]));
    }
    let mut value = 1_u64 << 20;
    say!(d, cuMemPoolSetAttribute(pool, 4, &value));
    say!(d, cuMemPoolGetAttribute(pool, 4, &mut value) => value);
    let flag = 0_u32;
    say!(d, cuMemPoolSetAttribute(pool, 1, &flag));
    say!(d, cuMemPoolSetAttribute(pool, 5, &value));
    say!(d, cuMemPoolSetAttribute(pool, 99, &value));
    say!(d, cuMemAllocFromPoolAsync(&mut a, 1000, pool, s) => a % 256);
    say!(d, cuMemPoolGetAttribute(pool, 7, &mut value) => value);
    say!(d, cuMemPoolGetAttribute(pool, 8, &mut value) => value);
    say!(d, cuMemPoolGetAttribute(pool, 5, &mut value) => value);
    // `CUmemAccessDesc`, and a location.
    let mut access = 9_u32;
    say!(d, cuMemPoolGetAccess(&mut access, pool, &[1_u32, 0]) => access);
    say!(d, cuMemPoolSetAccess(pool, &[1_u32, 0, 3], 1));
    say!(d, cuMemPoolSetAccess(pool, &[1_u32, 0, 0], 1));
    say!(d, cuMemPoolSetAccess(pool, &[1_u32, 64, 3], 1));
    say!(d, cuMemPoolTrimTo(pool, 0));
    say!(d, cuMemFreeAsync(a, s));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuMemPoolGetAttribute(pool, 7, &mut value) => value);
    say!(d, cuMemPoolGetAttribute(pool, 8, &mut value) => value);
    value = 0;
    say!(d, cuMemPoolSetAttribute(pool, 8, &value));
    say!(d, cuMemPoolGetAttribute(pool, 8, &mut value) => value);
    say!(d, cuMemPoolDestroy(default));
    say!(d, cuMemPoolDestroy(0));
    say!(d, cuDeviceSetMemPool(0, pool));
    let mut now = 0_usize;
    say!(d, cuDeviceGetMemPool(&mut now, 0) => now == pool);
    say!(d, cuMemPoolDestroy(pool));
    say!(d, cuDeviceGetMemPool(&mut now, 0) => now == default);
    say!(d, cuMemAllocFromPoolAsync(&mut a, 1000, 0, s));
}
