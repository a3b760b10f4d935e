//! Occupancy.

use super::launch::Config;
use crate::boundary::{In, Out, exported};
use crate::code::Code;
use crate::device::{LARGEST_CLUSTER, PORTABLE_CLUSTER};
use crate::driver::driver;
use crate::refusal::Answer;

/// `CUoccupancyB2DSize`: bytes of dynamic shared memory for a block of so many threads.
type BytesForThreads = unsafe extern "C" fn(i32) -> usize;

fn check_flags(flags: u32) -> Answer {
    if flags > 1 {
        return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
    }
    Ok(())
}

fn max_blocks(blocks: Out<i32>, function: usize, threads: i32, dynamic: usize) -> Answer {
    blocks.check()?;
    let driver = driver()?;
    let function = driver.callable(function)?;
    let count = function
        .needs()
        .blocks(threads, dynamic as u64, &driver.profile)?;
    blocks.put(count.cast_signed())
}

fn best_block(
    grid: Out<i32>,
    block: Out<i32>,
    function: usize,
    bytes: Option<BytesForThreads>,
    dynamic: usize,
    limit: i32,
) -> Answer {
    grid.check()?;
    block.check()?;
    let driver = driver()?;
    let function = driver.callable(function)?;
    let dynamic = |threads: u32| match bytes {
        // SAFETY: the program's promise that it may be called so.
        Some(bytes) => unsafe { bytes(threads.cast_signed()) as u64 },
        None => dynamic as u64,
    };
    let (blocks, threads) = function
        .needs()
        .best_block(dynamic, limit, &driver.profile)?;
    grid.put(blocks.cast_signed())?;
    block.put(threads.cast_signed())
}

exported! {
    /// Blocks of a kernel on a multiprocessor.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<i32>, function: usize, threads: i32, dynamic: usize) {
        max_blocks(blocks, function, threads, dynamic)
    }

    /// As `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>,
        function: usize,
        threads: i32,
        dynamic: usize,
        flags: u32,
    ) {
        check_flags(flags)?;
        max_blocks(blocks, function, threads, dynamic)
    }

    /// The size of blocks that fills a multiprocessor best, and how many fill the device.
    fn cuOccupancyMaxPotentialBlockSize(
        grid: Out<i32>,
        block: Out<i32>,
        function: usize,
        bytes: Option<BytesForThreads>,
        dynamic: usize,
        limit: i32,
    ) {
        best_block(grid, block, function, bytes, dynamic, limit)
    }

    /// As `cuOccupancyMaxPotentialBlockSize`.
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>,
        block: Out<i32>,
        function: usize,
        bytes: Option<BytesForThreads>,
        dynamic: usize,
        limit: i32,
        flags: u32,
    ) {
        check_flags(flags)?;
        best_block(grid, block, function, bytes, dynamic, limit)
    }

    /// Dynamic shared memory that is left for each of so many blocks.
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<usize>, function: usize, blocks: i32, threads: i32) {
        bytes.check()?;
        let driver = driver()?;
        let function = driver.callable(function)?;
        let left = function.needs().available(blocks, threads, &driver.profile)?;
        bytes.put(usize::try_from(left).unwrap_or(usize::MAX))
    }

    /// The largest cluster of such blocks.
    fn cuOccupancyMaxPotentialClusterSize(size: Out<i32>, function: usize, config: In<Config>) {
        size.check()?;
        let driver = driver()?;
        let function = driver.callable(function)?;
        let (_, shape) = config.get()?.read()?;
        let fits = function.check(&crate::launch::Shape { cluster: None, ..shape }, &driver.profile);
        fits?;
        let most = if function.settings.takes_large_clusters() { LARGEST_CLUSTER } else { PORTABLE_CLUSTER };
        size.put(if driver.profile.has_clusters() { most.cast_signed() } else { 1 })
    }

    /// How many clusters of such blocks the device holds; without a cluster size, none.
    fn cuOccupancyMaxActiveClusters(count: Out<i32>, function: usize, config: In<Config>) {
        count.check()?;
        let driver = driver()?;
        let function = driver.callable(function)?;
        let (_, shape) = config.get()?.read()?;
        let Some(cluster) = shape.cluster else {
            return count.put(0);
        };
        function.check(&shape, &driver.profile)?;
        let threads: u32 = shape.block.iter().product();
        let each = function.needs().blocks(threads.cast_signed(), shape.shared.into(), &driver.profile)?;
        // No more blocks of clusters than that are on a multiprocessor.
        let blocks = each.min(PORTABLE_CLUSTER) * driver.profile.multiprocessors;
        count.put((blocks / cluster.iter().product::<u32>().max(1)).cast_signed())
    }
}
