//! Host memory that kernels and copies reach.

use gpuk_sim::memory::Kind;

use crate::boundary::{Out, exported};
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::memory::{Allocation, How};
use crate::refusal::{Answer, Refusal};

/// Portable, mapped, write-combined.
const ALLOC_FLAGS: u32 = 7;
/// Portable, mapped, of a device, read-only.
const REGISTER_FLAGS: u32 = 15;
/// `CU_MEMHOSTALLOC_DEVICEMAP`, which always is.
const MAPPED: u32 = 2;

fn alloc(place: Out<usize>, bytes: usize, flags: u32) -> Answer {
    place.check()?;
    let driver = driver()?;
    let context = driver.current()?;
    driver.captures.permit()?;
    if flags & !ALLOC_FLAGS != 0 {
        return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
    }
    if bytes == 0 {
        // The driver takes it, and gives nothing.
        return place.put(0);
    }
    let base = driver.take_memory(bytes, Kind::Pinned)?;
    driver.allocations.insert(
        base,
        bytes as u64,
        How::Host(flags | MAPPED),
        context.handle,
    );
    place.put(usize::try_from(base).unwrap_or(0))
}

fn none(address: u64) -> Refusal {
    Code::INVALID_VALUE.because(format!(
        "{address:#x} is neither in memory of `cuMemHostAlloc` nor in registered memory"
    ))
}

fn pinned(driver: &Driver, address: u64) -> Answer<Allocation> {
    let found = driver.allocations.find(address);
    found
        .filter(|found| found.how.is_pinned())
        .ok_or_else(|| none(address))
}

exported! {
    /// Allocates page-locked host memory.
    fn cuMemHostAlloc(place: Out<usize>, bytes: usize, flags: u32) {
        alloc(place, bytes, flags)
    }

    /// Allocates page-locked host memory.
    fn cuMemAllocHost_v2(place: Out<usize>, bytes: usize) {
        alloc(place, bytes, 0)
    }

    /// Frees page-locked host memory, after all work so far.
    fn cuMemFreeHost(address: u64) {
        let driver = driver()?;
        driver.captures.permit()?;
        if address == 0 {
            return Ok(());
        }
        driver.check()?;
        let found = driver.allocations.remove(address, |how| matches!(how, How::Host(_)));
        match found {
            Some(_) => driver.give_back(address),
            None => Err(driver.refuse_free(address)),
        }
    }

    /// The address at which kernels reach host memory: the same.
    fn cuMemHostGetDevicePointer_v2(place: Out<u64>, address: u64, flags: u32) {
        let driver = driver()?;
        driver.current()?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("the flags are not 0"));
        }
        pinned(driver, address)?;
        place.put(address)
    }

    /// How host memory was allocated.
    fn cuMemHostGetFlags(flags: Out<u32>, address: u64) {
        let driver = driver()?;
        driver.current()?;
        match pinned(driver, address)?.how {
            How::Host(known) | How::Registered(known) => flags.put(known),
            _ => Err(none(address)),
        }
    }

    /// Page-locks the program's own memory.
    fn cuMemHostRegister_v2(address: u64, bytes: usize, flags: u32) {
        let driver = driver()?;
        let context = driver.current()?;
        driver.captures.permit()?;
        if flags & !REGISTER_FLAGS != 0 || bytes == 0 || address == 0 {
            return Err(Code::INVALID_VALUE.because(format!("{bytes} bytes at {address:#x}, flags {flags:#x}")));
        }
        if driver.allocations.overlaps(address, bytes as u64) {
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED
                .because(format!("some of the {bytes} bytes at {address:#x} are page-locked already")));
        }
        let start = std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0));
        // SAFETY: the program's promise to keep the memory until it unregisters it; that waits for all work.
        let registered = unsafe { driver.device.memory().register_host(start, bytes as u64) };
        registered.map_err(|error| Code::HOST_MEMORY_ALREADY_REGISTERED.because(error.to_string()))?;
        driver.allocations.insert(address, bytes as u64, How::Registered(flags | MAPPED), context.handle);
        Ok(())
    }

    /// Takes it back, after all work so far.
    fn cuMemHostUnregister(address: u64) {
        let driver = driver()?;
        driver.current()?;
        driver.captures.permit()?;
        let found = driver.allocations.remove(address, |how| matches!(how, How::Registered(_)));
        if found.is_some() {
            return driver.give_back(address);
        }
        if driver.allocations.find(address).is_some() {
            return Err(Code::INVALID_VALUE.because(format!("{address:#x} is not the start of registered memory")));
        }
        Err(Code::HOST_MEMORY_NOT_REGISTERED.because(format!("{address:#x} is not registered")))
    }
}
