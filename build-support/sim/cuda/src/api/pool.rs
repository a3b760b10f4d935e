//! Stream-ordered allocation, and its pools.

use std::ffi::c_void;
use std::sync::{Arc, PoisonError};

use super::memory::{alloc_in_order, free_in_order};
use crate::boundary::{In, Out, exported};
use crate::code::Code;
use crate::driver::driver;
use crate::memory::pool::Pool;
use crate::refusal::Answer;

/// `CUmemPoolProps`, as far as it is read.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Props {
    alloc_type: u32,
    handle_types: u32,
    location_kind: u32,
    location_id: i32,
}

/// `CUmemAccessDesc`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Access {
    location_kind: u32,
    location_id: i32,
    flags: u32,
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED`.
const PINNED: u32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const ON_DEVICE: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: u32 = 3;

fn find(pool: usize) -> Answer<Arc<Pool>> {
    driver()?.pools.get_or(pool, Code::INVALID_VALUE)
}

exported! {
    /// Allocates in the order of a stream.
    fn cuMemAllocAsync(address: Out<u64>, bytes: usize, stream: usize) {
        let pool = *driver()?.current_pool.lock().unwrap_or_else(PoisonError::into_inner);
        alloc_in_order(address, bytes, pool, stream)
    }

    /// Allocates from a pool, in the order of a stream.
    fn cuMemAllocFromPoolAsync(address: Out<u64>, bytes: usize, pool: usize, stream: usize) {
        alloc_in_order(address, bytes, pool, stream)
    }

    /// Frees in the order of a stream.
    fn cuMemFreeAsync(address: u64, stream: usize) {
        free_in_order(address, stream)
    }

    /// Creates a pool.
    fn cuMemPoolCreate(pool: Out<usize>, props: In<Props>) {
        let props = props.get()?;
        let driver = driver()?;
        if props.alloc_type != PINNED || props.location_kind != ON_DEVICE || props.location_id != 0 {
            return Err(Code::INVALID_VALUE.because("pools are of pinned memory on device 0"));
        }
        if props.handle_types != 0 {
            return Err(Code::NOT_SUPPORTED.because("memory is not shared between processes"));
        }
        pool.check()?;
        pool.put(driver.pools.insert(|handle| Pool::new(handle, false)).handle)
    }

    /// Destroys a pool. What was allocated from it stays until it is freed.
    fn cuMemPoolDestroy(pool: usize) {
        let driver = driver()?;
        let pool = find(pool)?;
        if pool.is_default {
            return Err(Code::INVALID_VALUE.because("the device's own pool is not destroyed"));
        }
        driver.pools.remove(pool.handle);
        let mut current = driver.current_pool.lock().unwrap_or_else(PoisonError::into_inner);
        if *current == pool.handle {
            *current = driver.default_pool.handle;
        }
        Ok(())
    }

    /// Gives back what a pool does not use.
    fn cuMemPoolTrimTo(pool: usize, keep: usize) {
        let driver = driver()?;
        let pool = find(pool)?;
        driver.captures.permit()?;
        pool.trim(keep as u64);
        Ok(())
    }

    /// An attribute of a pool.
    fn cuMemPoolGetAttribute(pool: usize, attribute: u32, place: Out<c_void>) {
        let value = find(pool)?.attribute(attribute)?;
        if Pool::is_narrow(attribute) {
            place.cast().put(u32::try_from(value).unwrap_or(u32::MAX))
        } else {
            place.cast().put(value)
        }
    }

    /// Sets an attribute of a pool.
    fn cuMemPoolSetAttribute(pool: usize, attribute: u32, value: In<c_void>) {
        let pool = find(pool)?;
        let value = if Pool::is_narrow(attribute) {
            u64::from(value.cast::<u32>().get()?)
        } else {
            value.cast::<u64>().get()?
        };
        pool.set_attribute(attribute, value)
    }

    /// Lets devices reach a pool's memory.
    fn cuMemPoolSetAccess(pool: usize, access: In<Access>, count: usize) {
        find(pool)?;
        for Access { location_kind, location_id, flags } in access.list(count)? {
            if location_kind != ON_DEVICE || location_id != 0 || flags != READ_WRITE {
                return Err(Code::INVALID_DEVICE.because("the device reaches its own memory, and there is no other"));
            }
        }
        Ok(())
    }

    /// Whether a device reaches a pool's memory.
    fn cuMemPoolGetAccess(flags: Out<u32>, pool: usize, location: In<[u32; 2]>) {
        find(pool)?;
        match location.get()? {
            [ON_DEVICE, 0] => flags.put(READ_WRITE),
            _ => Err(Code::INVALID_DEVICE.because("there is only device 0")),
        }
    }
}
