//! Memory of host and device.

use gpuk_sim::memory::Kind;

use crate::boundary::{Out, exported};
use crate::capture::refuse_captured;
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::memory::How;
use crate::refusal::Answer;

/// `CU_MEM_ATTACH_GLOBAL`, `_HOST` and `_SINGLE`.
mod attach {
    pub(super) const GLOBAL: u32 = 1;
    pub(super) const HOST: u32 = 2;
    pub(super) const SINGLE: u32 = 4;
}

/// `CUmemLocation`: what kind, and which.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Location {
    kind: u32,
    id: i32,
}

/// The host, as older functions name it.
const CPU: i32 = -1;
/// The first `CUmem_advise` that there is none of.
const ADVICES: u32 = 7;

/// Fails unless the range is managed memory.
fn check(driver: &Driver, address: u64, bytes: usize) -> Answer {
    let found = driver.allocations.find(address);
    let fits = found.is_some_and(|found| {
        matches!(found.how, How::Managed) && bytes as u64 <= found.bytes - (address - found.base)
    });
    if fits && bytes > 0 {
        return Ok(());
    }
    Err(Code::INVALID_VALUE.because(format!(
        "{bytes} bytes at {address:#x} are no managed memory"
    )))
}

fn check_location(driver: &Driver, location: Location) -> Answer {
    match location.kind {
        // The device.
        1 => driver.check_device(location.id),
        // The host, a node of its memory, or the thread's.
        2..=4 => Ok(()),
        kind => Err(Code::INVALID_VALUE.because(format!("there is no kind of place {kind}"))),
    }
}

const fn place(device: i32) -> Location {
    Location {
        kind: if device == CPU { 2 } else { 1 },
        id: device,
    }
}

fn prefetch(address: u64, bytes: usize, location: Location, stream: usize) -> Answer {
    let driver = driver()?;
    let stream = driver.stream(stream)?;
    refuse_captured(&stream)?;
    check_location(driver, location)?;
    check(driver, address, bytes)
}

fn advise(address: u64, bytes: usize, advice: u32, location: Location) -> Answer {
    let driver = driver()?;
    driver.current()?;
    if !(1..ADVICES).contains(&advice) {
        return Err(Code::INVALID_VALUE.because(format!("there is no advice {advice}")));
    }
    check_location(driver, location)?;
    check(driver, address, bytes)
}

exported! {
    /// Allocates managed memory.
    fn cuMemAllocManaged(address: Out<u64>, bytes: usize, flags: u32) {
        address.check()?;
        let driver = driver()?;
        let context = driver.current()?;
        driver.captures.permit()?;
        if !matches!(flags, attach::GLOBAL | attach::HOST) || bytes == 0 {
            return Err(Code::INVALID_VALUE.because(format!("{bytes} bytes, flags {flags:#x}")));
        }
        let base = driver.take_memory(bytes, Kind::Managed)?;
        driver.allocations.insert(base, bytes as u64, How::Managed, context.handle);
        address.put(base)
    }

    /// Brings managed memory to where it will be used; it is there already.
    fn cuMemPrefetchAsync(address: u64, bytes: usize, device: i32, stream: usize) {
        prefetch(address, bytes, place(device), stream)
    }

    /// As `cuMemPrefetchAsync`.
    fn cuMemPrefetchAsync_v2(address: u64, bytes: usize, location: Location, flags: u32, stream: usize) {
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("the flags are not 0"));
        }
        prefetch(address, bytes, location, stream)
    }

    /// Says how managed memory will be used, which changes nothing.
    fn cuMemAdvise(address: u64, bytes: usize, advice: u32, device: i32) {
        advise(address, bytes, advice, place(device))
    }

    /// As `cuMemAdvise`.
    fn cuMemAdvise_v2(address: u64, bytes: usize, advice: u32, location: Location) {
        advise(address, bytes, advice, location)
    }

    /// Binds managed memory to a stream, to the host, or to none.
    fn cuStreamAttachMemAsync(stream: usize, address: u64, bytes: usize, flags: u32) {
        let driver = driver()?;
        let stream = driver.stream(stream)?;
        refuse_captured(&stream)?;
        let is_whole = driver.allocations.find(address).is_some_and(|found| {
            matches!(found.how, How::Managed)
                && found.base == address
                && (bytes == 0 || bytes as u64 == found.bytes)
        });
        let is_known = matches!(flags, attach::GLOBAL | attach::HOST | attach::SINGLE);
        let is_default = stream.handle <= crate::stream::PER_THREAD;
        if !is_whole || !is_known || (flags == attach::SINGLE && is_default) {
            return Err(Code::INVALID_VALUE
                .because(format!("{bytes} bytes at {address:#x}, flags {flags:#x}, for stream {:#x}", stream.handle)));
        }
        Ok(())
    }
}
