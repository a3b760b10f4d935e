//! Device memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use gpuk_sim::memory::Kind;

use crate::boundary::{Out, exported};
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::memory::{How, describe};
use crate::refusal::Answer;
use crate::work::Op;

impl Driver {
    /// Device memory. If there is not so much, what is being freed is waited for.
    pub(crate) fn take_memory(&self, bytes: usize, kind: Kind) -> Answer<u64> {
        let bytes = bytes as u64;
        let memory = self.device.memory();
        memory
            .alloc(bytes, kind)
            .or_else(|_| {
                self.queue.wait_for_all();
                memory.alloc(bytes, kind)
            })
            .map_err(|error| Code::OUT_OF_MEMORY.because(error.to_string()))
    }

    /// Gives memory back when the work so far is done.
    pub(crate) fn give_back(&self, base: u64) -> Answer {
        self.wait_for_all()?;
        // Whoever asks for it has looked whether it is there.
        let _ = self.device.memory().free(base);
        Ok(())
    }
}

fn alloc(address: Out<u64>, bytes: usize) -> Answer {
    address.check()?;
    let driver = driver()?;
    let context = driver.current()?;
    driver.captures.permit()?;
    if bytes == 0 {
        return Err(Code::INVALID_VALUE.because("0 bytes"));
    }
    let base = driver.take_memory(bytes, Kind::Device)?;
    driver
        .allocations
        .insert(base, bytes as u64, How::Device, context.handle);
    address.put(base)
}

exported! {
    /// Allocates device memory.
    fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) {
        alloc(address, bytes)
    }

    /// Allocates lines of device memory, each of which begins aligned.
    fn cuMemAllocPitch_v2(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: u32) {
        pitch.check()?;
        driver()?;
        if !matches!(element, 4 | 8 | 16) || width == 0 || height == 0 {
            return Err(Code::INVALID_VALUE.because(format!("{height} lines of {width} bytes, elements of {element}")));
        }
        let line = width.checked_next_multiple_of(512);
        let bytes = line.and_then(|line| line.checked_mul(height));
        let (Some(line), Some(bytes)) = (line, bytes) else {
            return Err(Code::OUT_OF_MEMORY.because(format!("{height} lines of {width} bytes")));
        };
        alloc(address, bytes)?;
        pitch.put(line)
    }

    /// Frees device memory, after all work so far.
    fn cuMemFree_v2(address: u64) {
        let driver = driver()?;
        driver.captures.permit()?;
        if address == 0 {
            return Ok(());
        }
        driver.check()?;
        let is_meant = |how: &How| matches!(how, How::Device | How::Pooled(_) | How::Managed);
        if let Some(found) = driver.allocations.remove(address, is_meant) {
            if let How::Pooled(pool) = &found.how {
                pool.sub(found.bytes);
            }
            return driver.give_back(address);
        }
        match driver.allocations.find(address).map(|found| (found.base, found.how)) {
            Some((base, How::Graph(memory))) if base == address => {
                driver.wait_for_all()?;
                if let Some(memory) = memory.upgrade() {
                    memory.set_live(false);
                }
                Ok(())
            }
            _ => Err(driver.refuse_free(address)),
        }
    }

    /// Free and total bytes of device memory.
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let driver = driver()?;
        driver.current()?;
        let (all, unused) = driver.device.memory().total_and_free();
        free.put_if_any(usize::try_from(unused).unwrap_or(usize::MAX));
        total.put_if_any(usize::try_from(all).unwrap_or(usize::MAX));
        Ok(())
    }

    /// The allocation that an address is in.
    fn cuMemGetAddressRange_v2(base: Out<u64>, bytes: Out<usize>, address: u64) {
        let driver = driver()?;
        let memory = driver.device.memory();
        let found = driver.allocations.find(address).map(|found| (found.base, found.bytes));
        let variable = || {
            let found = memory.allocation(address).filter(|found| found.name.is_some());
            found.map(|found| (found.address, found.bytes))
        };
        let Some((start, len)) = found.or_else(variable) else {
            return Err(Code::NOT_FOUND.because(describe(&driver.allocations, memory, address)));
        };
        base.put_if_any(start);
        bytes.put_if_any(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }
}

/// Allocates in the order of a stream, from a pool; in a captured stream, in its graph.
pub(super) fn alloc_in_order(
    address: Out<u64>,
    bytes: usize,
    pool: usize,
    stream: usize,
) -> Answer {
    address.check()?;
    let driver = driver()?;
    let stream = driver.stream(stream)?;
    let pool = driver.pools.get_or(pool, Code::INVALID_VALUE)?;
    if stream.is_legacy() {
        driver.captures.permit_legacy(&stream.context)?;
    }
    let is_captured = stream.capture().is_some();
    if !is_captured {
        driver.captures.permit()?;
    }
    if bytes == 0 {
        // The driver takes it, and gives nothing.
        return address.put(0);
    }
    let base = driver.take_memory(bytes, Kind::Device)?;
    let context = stream.context.handle;
    if is_captured {
        let memory = driver.graph_memory(base, bytes as u64);
        driver.allocations.insert(
            base,
            bytes as u64,
            How::Graph(Arc::downgrade(&memory)),
            context,
        );
        driver.submit(&stream, Op::Allocate(memory))?;
    } else {
        pool.add(bytes as u64);
        driver
            .allocations
            .insert(base, bytes as u64, How::Pooled(pool), context);
    }
    address.put(base)
}

/// Frees in the order of a stream.
pub(super) fn free_in_order(address: u64, stream: usize) -> Answer {
    let driver = driver()?;
    let stream = driver.stream(stream)?;
    if address == 0 {
        return Ok(());
    }
    if stream.is_legacy() {
        driver.captures.permit_legacy(&stream.context)?;
    }
    if stream.capture().is_some() {
        let found = driver.allocations.at(address);
        let memory = found.and_then(|found| match found.how {
            How::Graph(memory) => memory.upgrade(),
            _ => None,
        });
        let Some(memory) = memory else {
            return Err(Code::INVALID_VALUE.because(format!(
                "{address:#x} was not allocated in the graph that is captured"
            )));
        };
        if memory.freed_in_graph.swap(true, Ordering::AcqRel) {
            return Err(
                Code::INVALID_VALUE.because(format!("{address:#x} is freed in the graph already"))
            );
        }
        return driver.submit(&stream, Op::Release(memory));
    }
    let is_meant = |how: &How| matches!(how, How::Device | How::Pooled(_));
    if let Some(found) = driver.allocations.remove(address, is_meant) {
        if let How::Pooled(pool) = &found.how {
            pool.sub(found.bytes);
        }
        return driver.submit_short(&stream, Op::Free(address));
    }
    match driver
        .allocations
        .find(address)
        .map(|found| (found.base, found.how))
    {
        Some((base, How::Graph(memory))) if base == address => {
            let memory = memory.upgrade();
            memory.map_or(Ok(()), |memory| {
                memory.set_live(false);
                driver.submit_short(&stream, Op::Release(memory))
            })
        }
        _ => Err(driver.refuse_free(address)),
    }
}
