//! Copies.

use crate::boundary::{In, exported};
use crate::capture::refuse_captured;
use crate::code::Code;
use crate::driver::driver;
use crate::memory::plan::{End, Space};
use crate::refusal::Answer;
use crate::work::copy::Shape;

/// A line of bytes.
fn line(from: End, to: End, bytes: usize, stream: Option<usize>) -> Answer {
    copy(from, to, Shape::line(bytes as u64), stream)
}

/// A copy in a stream, or one that is done when the call returns.
pub(super) fn copy(from: End, to: End, shape: Shape, stream: Option<usize>) -> Answer {
    let driver = driver()?;
    let in_stream = driver.stream(stream.unwrap_or(0))?;
    let is_captured = in_stream.is_captured()?;
    let Some(planned) = driver.plan_copy(from, to, shape, is_captured)? else {
        return Ok(());
    };
    if stream.is_none() || planned.waits {
        driver.submit_short(&in_stream, planned.op())?;
        return driver.wait(&in_stream.frontier());
    }
    if driver.submit_if_idle(&in_stream, planned.op())? {
        return Ok(());
    }
    driver.submit(&in_stream, planned.taken()?)
}

const fn device(address: u64) -> End {
    End::line(Space::Device, address)
}

const fn host(address: u64) -> End {
    End::line(Space::Host, address)
}

const fn any(address: u64) -> End {
    End::line(Space::Any, address)
}

/// `CUmemorytype`.
fn space(kind: u32, what: &str) -> Answer<Space> {
    Ok(match kind {
        1 => Space::Host,
        2 => Space::Device,
        4 => Space::Any,
        _ => {
            return Err(Code::INVALID_VALUE.because(format!(
                "the {what} is of memory type {kind}; it can be host, device or unified memory here"
            )));
        }
    })
}

/// `CUDA_MEMCPY2D`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Plane {
    src_x_in_bytes: usize,
    src_y: usize,
    src_memory_type: u32,
    src_host: u64,
    src_device: u64,
    src_array: u64,
    src_pitch: usize,
    dst_x_in_bytes: usize,
    dst_y: usize,
    dst_memory_type: u32,
    dst_host: u64,
    dst_device: u64,
    dst_array: u64,
    dst_pitch: usize,
    width_in_bytes: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Volume {
    src_x_in_bytes: usize,
    src_y: usize,
    src_z: usize,
    src_lod: usize,
    src_memory_type: u32,
    src_host: u64,
    src_device: u64,
    src_array: u64,
    reserved0: u64,
    src_pitch: usize,
    src_height: usize,
    dst_x_in_bytes: usize,
    dst_y: usize,
    dst_z: usize,
    dst_lod: usize,
    dst_memory_type: u32,
    dst_host: u64,
    dst_device: u64,
    dst_array: u64,
    reserved1: u64,
    dst_pitch: usize,
    dst_height: usize,
    width_in_bytes: usize,
    height: usize,
    depth: usize,
}

/// A side of a plane or volume: memory, where in it, and the distances in it.
struct Part {
    kind: u32,
    host: u64,
    device: u64,
    at: [usize; 3],
    pitch: usize,
    height: usize,
}

impl Part {
    fn end(&self, shape: &Shape, what: &str) -> Answer<End> {
        let space = space(self.kind, what)?;
        // Without a pitch the lines lie one behind the other.
        let pitch = match self.pitch as u64 {
            0 => shape.width,
            pitch => pitch,
        };
        let plane = pitch.saturating_mul((self.height as u64).max(shape.height));
        let [x, y, z] = self.at.map(|at| at as u64);
        if pitch.saturating_sub(x) < shape.width && shape.height > 1 {
            return Err(Code::INVALID_VALUE.because(format!(
                "lines of {} bytes from byte {x} on do not fit into the {what}'s pitch of {pitch}",
                shape.width
            )));
        }
        let offset = plane
            .saturating_mul(z)
            .saturating_add(pitch.saturating_mul(y));
        Ok(End {
            space,
            address: if space == Space::Host {
                self.host
            } else {
                self.device
            },
            offset: offset.saturating_add(x),
            pitch,
            plane,
        })
    }
}

fn plane(plane: In<Plane>) -> Answer<(End, End, Shape)> {
    let of = plane.get()?;
    let shape = Shape {
        width: of.width_in_bytes as u64,
        height: of.height as u64,
        depth: 1,
    };
    let from = Part {
        kind: of.src_memory_type,
        host: of.src_host,
        device: of.src_device,
        at: [of.src_x_in_bytes, of.src_y, 0],
        pitch: of.src_pitch,
        height: 0,
    };
    let to = Part {
        kind: of.dst_memory_type,
        host: of.dst_host,
        device: of.dst_device,
        at: [of.dst_x_in_bytes, of.dst_y, 0],
        pitch: of.dst_pitch,
        height: 0,
    };
    Ok((
        from.end(&shape, "source")?,
        to.end(&shape, "destination")?,
        shape,
    ))
}

/// The parts of a copy between volumes.
pub(super) fn volume(of: &Volume) -> Answer<(End, End, Shape)> {
    let shape = Shape {
        width: of.width_in_bytes as u64,
        height: of.height as u64,
        depth: of.depth as u64,
    };
    let from = Part {
        kind: of.src_memory_type,
        host: of.src_host,
        device: of.src_device,
        at: [of.src_x_in_bytes, of.src_y, of.src_z],
        pitch: of.src_pitch,
        height: of.src_height,
    };
    let to = Part {
        kind: of.dst_memory_type,
        host: of.dst_host,
        device: of.dst_device,
        at: [of.dst_x_in_bytes, of.dst_y, of.dst_z],
        pitch: of.dst_pitch,
        height: of.dst_height,
    };
    let heights = [of.src_height, of.dst_height];
    if shape.depth > 1 && heights.iter().any(|height| (1..of.height).contains(height)) {
        return Err(Code::INVALID_VALUE.because("planes are less high than what is copied of them"));
    }
    Ok((
        from.end(&shape, "source")?,
        to.end(&shape, "destination")?,
        shape,
    ))
}

exported! {
    /// Copies between any two places.
    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        line(any(from), any(to), bytes, None)
    }

    /// Copies between any two places, in a stream.
    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: usize) {
        line(any(from), any(to), bytes, Some(stream))
    }

    /// Copies from the host.
    fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) {
        line(host(from), device(to), bytes, None)
    }

    /// Copies to the host.
    fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) {
        line(device(from), host(to), bytes, None)
    }

    /// Copies on the device.
    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        line(device(from), device(to), bytes, None)
    }

    /// Copies from the host, in a stream.
    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: usize) {
        line(host(from), device(to), bytes, Some(stream))
    }

    /// Copies to the host, in a stream.
    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: usize) {
        line(device(from), host(to), bytes, Some(stream))
    }

    /// Copies on the device, in a stream.
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: usize) {
        line(device(from), device(to), bytes, Some(stream))
    }

    /// Copies between contexts.
    fn cuMemcpyPeer(to: u64, to_context: usize, from: u64, from_context: usize, bytes: usize) {
        let driver = driver()?;
        driver.contexts.get_or(to_context, Code::INVALID_CONTEXT)?;
        driver.contexts.get_or(from_context, Code::INVALID_CONTEXT)?;
        line(device(from), device(to), bytes, None)
    }

    /// Copies between contexts, in a stream.
    fn cuMemcpyPeerAsync(
        to: u64,
        to_context: usize,
        from: u64,
        from_context: usize,
        bytes: usize,
        stream: usize,
    ) {
        let driver = driver()?;
        driver.contexts.get_or(to_context, Code::INVALID_CONTEXT)?;
        driver.contexts.get_or(from_context, Code::INVALID_CONTEXT)?;
        refuse_captured(&*driver.stream(stream)?)?;
        line(device(from), device(to), bytes, Some(stream))
    }

    /// Copies a part of a plane.
    fn cuMemcpy2D_v2(of: In<Plane>) {
        let (from, to, shape) = plane(of)?;
        copy(from, to, shape, None)
    }

    /// As `cuMemcpy2D_v2`, with any pitch.
    fn cuMemcpy2DUnaligned_v2(of: In<Plane>) {
        let (from, to, shape) = plane(of)?;
        copy(from, to, shape, None)
    }

    /// Copies a part of a plane, in a stream.
    fn cuMemcpy2DAsync_v2(of: In<Plane>, stream: usize) {
        let (from, to, shape) = plane(of)?;
        copy(from, to, shape, Some(stream))
    }

    /// Copies a part of a volume.
    fn cuMemcpy3D_v2(of: In<Volume>) {
        let (from, to, shape) = volume(&of.get()?)?;
        copy(from, to, shape, None)
    }

    /// Copies a part of a volume, in a stream.
    fn cuMemcpy3DAsync_v2(of: In<Volume>, stream: usize) {
        let (from, to, shape) = volume(&of.get()?)?;
        copy(from, to, shape, Some(stream))
    }
}
