//! Why a kernel was not launched.

use thiserror::Error;

use crate::driver::DriverError;
use crate::extent::ExtentError;

/// Why a kernel was not launched.
#[derive(Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are what the messages say")]
#[non_exhaustive]
pub enum LaunchError {
    /// The kernel was left out for this device's architecture, by `__CUDA_ARCH__` for instance.
    #[error(
        "kernel `{kernel}` does not exist for this device: compute capability {}.{} runs what was compiled for \
         {loaded}, and the kernel was compiled for {} only",
        device.0, device.1, archs.join(", ")
    )]
    NotForDevice {
        kernel: &'static str,
        device: (u32, u32),
        loaded: &'static str,
        archs: Vec<&'static str>,
    },
    /// A block needs a thread.
    #[error("kernel `{kernel}`: a block of {} has no thread", shape(.block))]
    EmptyBlock {
        kernel: &'static str,
        block: [u32; 3],
    },

    /// CUDA programming guide, compute capabilities: 1024, 1024 and 64 on all devices so far.
    #[error(
        "kernel `{kernel}`: a block has {found} threads along {axis}, but the device allows {limit}"
    )]
    BlockAxis {
        kernel: &'static str,
        axis: char,
        found: u32,
        limit: u32,
    },

    /// The kernel was compiled for one block shape (`.reqntid`).
    #[error(
        "kernel `{kernel}`: a block of {}, but the kernel was compiled for blocks of {} only",
        shape(.block), shape(.required)
    )]
    ExactBlock {
        kernel: &'static str,
        block: [u32; 3],
        required: [u32; 3],
    },

    /// More threads than the kernel or the device takes.
    #[error("kernel `{kernel}`: a block of {} has {found} threads, but {limit}", shape(.block))]
    Threads {
        kernel: &'static str,
        block: [u32; 3],
        found: u64,
        limit: ThreadLimit,
    },

    /// CUDA programming guide, compute capabilities: 2147483647, 65535 and 65535 on all devices so far.
    #[error(
        "kernel `{kernel}`: the grid has {found} blocks along {axis}, but the device allows {limit}"
    )]
    GridAxis {
        kernel: &'static str,
        axis: char,
        found: u32,
        limit: u32,
    },

    /// A grid consists of whole clusters.
    #[error(
        "kernel `{kernel}`: a grid of {} does not consist of the kernel's clusters of {} blocks",
        shape(.grid), shape(.cluster)
    )]
    Cluster {
        kernel: &'static str,
        grid: [u32; 3],
        cluster: [u32; 3],
    },

    /// More shared memory than a block can have.
    #[error(
        "kernel `{kernel}`: {dynamic} bytes of dynamic and {fixed} of static shared memory, \
         but the device allows a block {limit} together"
    )]
    Shared {
        kernel: &'static str,
        dynamic: u32,
        fixed: u32,
        limit: u32,
    },

    /// The kernel was loaded into another context than the stream's.
    #[error(
        "kernel `{kernel}` was loaded into a context of device {kernel_device}, \
         but the stream belongs to {} of device {stream_device}",
        other(kernel_device, stream_device)
    )]
    ForeignStream {
        kernel: &'static str,
        kernel_device: usize,
        stream_device: usize,
    },

    /// The buffer was allocated in another context than the stream's.
    #[error(
        "kernel `{kernel}`: the buffer for `{parameter}` belongs to a context of device {buffer_device}, \
         but the stream to {} of device {stream_device}",
        other(buffer_device, stream_device)
    )]
    ForeignBuffer {
        kernel: &'static str,
        parameter: &'static str,
        buffer_device: usize,
        stream_device: usize,
    },

    /// [`Scope::skip_if_failed`](crate::Scope::skip_if_failed) was called between two launches of a scope: those before it
    /// did not note what those behind it look at.
    #[error(
        "kernel `{kernel}`: its scope was told to skip after a failure behind {launches} of its launches; \
         call `skip_if_failed` before the first"
    )]
    LateSkip { kernel: &'static str, launches: u32 },

    /// The kernel would read or write its items at addresses they cannot have.
    #[error(
        "kernel `{kernel}`: the buffer for `{parameter}` begins at {address:#x}, \
         which is no multiple of {align}, the alignment of its items"
    )]
    Misaligned {
        kernel: &'static str,
        parameter: &'static str,
        address: u64,
        align: usize,
    },

    /// The wrapper does not belong to the kernel.
    #[error("kernel `{kernel}` takes {expected} arguments, but {found} are passed")]
    ArgumentCount {
        kernel: &'static str,
        found: usize,
        expected: usize,
    },

    /// The wrapper does not belong to the kernel.
    #[error(
        "kernel `{kernel}`: parameter `{parameter}` has {expected} bytes, but {found} are passed"
    )]
    ArgumentSize {
        kernel: &'static str,
        parameter: &'static str,
        found: usize,
        expected: usize,
    },

    /// It does not fit the kernel's annotations.
    #[error("kernel `{kernel}`: {error}")]
    Extent {
        kernel: &'static str,
        #[source]
        error: Box<ExtentError>,
    },

    /// The driver refused, or reported now what an earlier call did.
    #[error("kernel `{kernel}` was not launched: {error}")]
    Driver {
        kernel: &'static str,
        #[source]
        error: DriverError,
    },
}

fn shape([x, y, z]: &[u32; 3]) -> String {
    format!("{x} × {y} × {z}")
}

fn other(one: &usize, two: &usize) -> &'static str {
    if one == two { "another" } else { "one" }
}

/// What limits the threads of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ThreadLimit {
    /// The device, every kernel's.
    #[error("the device allows {0}")]
    Device(u32),
    /// The kernel's `__launch_bounds__`.
    #[error("its `__launch_bounds__` allow {0}")]
    LaunchBounds(u32),
    /// The registers that the kernel's threads take.
    #[error("its {registers} registers a thread allow {threads}")]
    Registers {
        /// Of one thread.
        registers: u32,
        /// Of a block.
        threads: u32,
    },
}
