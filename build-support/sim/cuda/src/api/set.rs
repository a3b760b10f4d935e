//! Setting memory.

use crate::boundary::exported;
use crate::driver::driver;
use crate::refusal::Answer;
use crate::work::Fill;

fn set(fill: Fill, stream: Option<usize>) -> Answer {
    let driver = driver()?;
    let in_stream = driver.stream(stream.unwrap_or(0))?;
    let Some(op) = driver.plan_fill(fill, in_stream.is_captured()?)? else {
        return Ok(());
    };
    driver.submit_short(&in_stream, op)?;
    if stream.is_none() {
        driver.wait(&in_stream.frontier())?;
    }
    Ok(())
}

const fn line(address: u64, value: u32, element: u32, count: usize) -> Fill {
    Fill {
        address,
        value,
        element,
        pitch: 0,
        width: count as u64,
        height: 1,
    }
}

const fn plane(address: u64, pitch: usize, value: u32, element: u32, size: [usize; 2]) -> Fill {
    Fill {
        address,
        value,
        element,
        pitch: pitch as u64,
        width: size[0] as u64,
        height: size[1] as u64,
    }
}

exported! {
    /// Sets bytes.
    fn cuMemsetD8_v2(address: u64, value: u8, count: usize) {
        set(line(address, value.into(), 1, count), None)
    }

    /// Sets 16-bit elements.
    fn cuMemsetD16_v2(address: u64, value: u16, count: usize) {
        set(line(address, value.into(), 2, count), None)
    }

    /// Sets 32-bit elements.
    fn cuMemsetD32_v2(address: u64, value: u32, count: usize) {
        set(line(address, value, 4, count), None)
    }

    /// Sets lines of bytes.
    fn cuMemsetD2D8_v2(address: u64, pitch: usize, value: u8, width: usize, height: usize) {
        set(plane(address, pitch, value.into(), 1, [width, height]), None)
    }

    /// Sets lines of 16-bit elements.
    fn cuMemsetD2D16_v2(address: u64, pitch: usize, value: u16, width: usize, height: usize) {
        set(plane(address, pitch, value.into(), 2, [width, height]), None)
    }

    /// Sets lines of 32-bit elements.
    fn cuMemsetD2D32_v2(address: u64, pitch: usize, value: u32, width: usize, height: usize) {
        set(plane(address, pitch, value, 4, [width, height]), None)
    }

    /// Sets bytes, in a stream.
    fn cuMemsetD8Async(address: u64, value: u8, count: usize, stream: usize) {
        set(line(address, value.into(), 1, count), Some(stream))
    }

    /// Sets 16-bit elements, in a stream.
    fn cuMemsetD16Async(address: u64, value: u16, count: usize, stream: usize) {
        set(line(address, value.into(), 2, count), Some(stream))
    }

    /// Sets 32-bit elements, in a stream.
    fn cuMemsetD32Async(address: u64, value: u32, count: usize, stream: usize) {
        set(line(address, value, 4, count), Some(stream))
    }

    /// Sets lines of bytes, in a stream.
    fn cuMemsetD2D8Async(address: u64, pitch: usize, value: u8, width: usize, height: usize, stream: usize) {
        set(plane(address, pitch, value.into(), 1, [width, height]), Some(stream))
    }

    /// Sets lines of 16-bit elements, in a stream.
    fn cuMemsetD2D16Async(address: u64, pitch: usize, value: u16, width: usize, height: usize, stream: usize) {
        set(plane(address, pitch, value.into(), 2, [width, height]), Some(stream))
    }

    /// Sets lines of 32-bit elements, in a stream.
    fn cuMemsetD2D32Async(address: u64, pitch: usize, value: u32, width: usize, height: usize, stream: usize) {
        set(plane(address, pitch, value, 4, [width, height]), Some(stream))
    }
}
