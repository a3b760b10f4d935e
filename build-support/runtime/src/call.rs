//! The driver calls that cudarc has no safe form of, or only one that also reports older errors.
//!
//! Callers hold what a call needs: a context, a stream, an event. What needs more is unsafe here too.

#![expect(unsafe_code, reason = "calling the driver")]

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};

use cudarc::driver::sys::{
    self, CUctx_st, CUdevice_attribute, CUdeviceptr, CUevent, CUevent_flags, CUjit_option,
    CUresult, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus,
};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaStream, CudaViewMut, DevicePtr, DeviceSlice, result,
};
use gpuk_device::driver::DriverVersion;

use crate::driver::DriverError;
use crate::launch::Launch;
use crate::library;

pub(crate) fn init() -> Result<(), DriverError> {
    Ok(result::init()?)
}

pub(crate) fn driver_version() -> Result<DriverVersion, DriverError> {
    let mut version: c_int = 0;
    // SAFETY: the call writes one integer.
    DriverError::check(unsafe { sys::cuDriverGetVersion(&raw mut version) })?;
    Ok(DriverVersion(u32::try_from(version).unwrap_or(0)))
}

pub(crate) fn attribute(
    context: &CudaContext,
    attribute: CUdevice_attribute,
) -> Result<u32, DriverError> {
    // SAFETY: a context's device exists.
    let value = unsafe { result::device::get_attribute(context.cu_device(), attribute) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

pub(crate) fn device_name(context: &CudaContext) -> Option<String> {
    result::device::get_name(context.cu_device()).ok()
}

/// Makes a context the thread's current one for as long as this lives.
///
/// Unlike `CudaContext::bind_to_thread` this takes no error from the context that its user should see.
pub(crate) struct Current {
    before: Option<*mut CUctx_st>,
}

impl Current {
    pub(crate) fn enter(context: &CudaContext) -> Result<Self, DriverError> {
        let current = result::ctx::get_current()?;
        if current == Some(context.cu_ctx()) {
            return Ok(Self { before: None });
        }
        // SAFETY: the context exists.
        unsafe { result::ctx::set_current(context.cu_ctx()) }?;
        Ok(Self { before: current })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was current before, and nothing here destroys contexts. A failure leaves ours current,
            // as cudarc's calls do.
            let _ = unsafe { result::ctx::set_current(before) };
        }
    }
}

/// Lets the thread allocate, copy and query while some stream is being captured into a graph, where these
/// calls would otherwise spoil the capture (CUDA driver API, `cuThreadExchangeStreamCaptureMode`).
pub(crate) struct Relaxed {
    before: CUstreamCaptureMode,
}

impl Relaxed {
    pub(crate) fn enter() -> Self {
        Self {
            before: exchange(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED),
        }
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        exchange(self.before);
    }
}

fn exchange(mut mode: CUstreamCaptureMode) -> CUstreamCaptureMode {
    // SAFETY: the call reads and writes one mode. If it fails it has written none.
    let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
    mode
}

/// The legacy default stream by its two names: it cannot be captured.
fn is_legacy(stream: CUstream) -> bool {
    stream as usize <= 1
}

/// The calling thread's own default stream: the same handle is another stream in another thread.
pub(crate) fn is_per_thread(stream: &CudaStream) -> bool {
    stream.cu_stream() as usize == 2
}

/// Whether work given to the stream goes into a graph instead of to the device.
pub(crate) fn is_capturing(stream: &CudaStream) -> bool {
    if is_legacy(stream.cu_stream()) {
        return false;
    }
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the stream exists; the call writes one status.
    let result = unsafe { sys::cuStreamIsCapturing(stream.cu_stream(), &raw mut status) };
    result == CUresult::CUDA_SUCCESS
        && status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE
}

pub(crate) fn synchronize(stream: &CudaStream) -> Result<(), DriverError> {
    // SAFETY: the stream exists.
    Ok(unsafe { result::stream::synchronize(stream.cu_stream()) }?)
}

/// As [`synchronize`], except that a stream that is being captured is left alone: waiting for it would spoil the
/// capture.
pub(crate) fn synchronize_unless_capturing(stream: &CudaStream) -> Result<(), DriverError> {
    if is_capturing(stream) {
        return Err(DriverError::capturing());
    }
    synchronize(stream)
}

/// Waits for all work in the current context.
pub(crate) fn synchronize_context() -> Result<(), DriverError> {
    Ok(result::ctx::synchronize()?)
}

/// Whether all work given to the stream is done.
pub(crate) fn is_idle(stream: &CudaStream) -> Result<bool, DriverError> {
    // SAFETY: the stream exists.
    match unsafe { sys::cuStreamQuery(stream.cu_stream()) } {
        CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        result => DriverError::check(result).map(|()| true),
    }
}

pub(crate) fn stream_id(stream: &CudaStream) -> u64 {
    // SAFETY: the stream exists.
    unsafe { library::stream_id(stream.cu_stream()) }
}

/// An event, for whether work is done.
#[derive(Debug)]
pub(crate) struct Event(CUevent);

// SAFETY: events may be used from any thread (CUDA driver API, thread safety).
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Records the stream's work so far. The stream's context is current.
    pub(crate) fn record(stream: &CudaStream) -> Result<Self, DriverError> {
        let event = result::event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        Self(event).record_again(stream)
    }

    /// As [`record`](Self::record), with an event that is done: making one costs more than recording it.
    pub(crate) fn record_again(self, stream: &CudaStream) -> Result<Self, DriverError> {
        // SAFETY: both exist.
        unsafe { result::event::record(self.0, stream.cu_stream()) }?;
        Ok(self)
    }

    pub(crate) fn is_done(&self) -> Result<bool, DriverError> {
        // SAFETY: the event exists.
        match unsafe { sys::cuEventQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => DriverError::check(result).map(|()| true),
        }
    }

    /// Has what is given to the stream from now on wait for the event. The stream's context is current.
    pub(crate) fn wait_on(&self, stream: &CudaStream) -> Result<(), DriverError> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both exist.
        Ok(unsafe { result::stream::wait_event(stream.cu_stream(), self.0, flags) }?)
    }

    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: the event exists.
        Ok(unsafe { result::event::synchronize(self.0) }?)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: nobody else has the event. A failure means a lost context, which takes it along.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}

/// A stream for copies that wait for no other stream and that no user sees.
#[derive(Debug)]
pub(crate) struct CopyStream(CUstream);

// SAFETY: streams may be used from any thread (CUDA driver API, thread safety).
unsafe impl Send for CopyStream {}

impl CopyStream {
    /// In the current context.
    pub(crate) fn new() -> Result<Self, DriverError> {
        let kind = result::stream::StreamKind::NonBlocking;
        Ok(Self(result::stream::create(kind)?))
    }

    /// # Safety
    ///
    /// The device memory has room for `bytes`, and no kernel uses it now.
    pub(crate) unsafe fn to_device(
        &self,
        device: CUdeviceptr,
        bytes: &[u8],
    ) -> Result<(), DriverError> {
        // SAFETY: the caller's; the bytes outlive the copy because it is waited for.
        unsafe {
            result::memcpy_htod_async(device, bytes, self.0)?;
            Ok(result::stream::synchronize(self.0)?)
        }
    }

    /// # Safety
    ///
    /// The device memory has as many bytes.
    pub(crate) unsafe fn to_host(
        &self,
        bytes: &mut [u8],
        device: CUdeviceptr,
    ) -> Result<(), DriverError> {
        // SAFETY: the caller's; the bytes outlive the copy because it is waited for.
        unsafe {
            result::memcpy_dtoh_async(bytes, device, self.0)?;
            Ok(result::stream::synchronize(self.0)?)
        }
    }
}

impl CopyStream {
    /// Copies a variable; `None` if it has not that size.
    pub(crate) fn variable(
        &self,
        variable: &CudaViewMut<'_, u8>,
        bytes: &mut [u8],
    ) -> Result<Option<()>, DriverError> {
        if variable.len() != bytes.len() {
            return Ok(None);
        }
        let (address, _used) = variable.device_ptr(variable.stream());
        // SAFETY: the variable has as many bytes, and is there as long as the view.
        unsafe { self.to_host(bytes, address) }?;
        Ok(Some(()))
    }
}

impl Drop for CopyStream {
    fn drop(&mut self) {
        // SAFETY: nobody else has the stream, and its copies were waited for.
        let _ = unsafe { result::stream::destroy(self.0) };
    }
}

/// Device memory, freed with its owner, which sees to it that no kernel uses it then.
#[derive(Debug)]
pub(crate) struct DeviceMemory(CUdeviceptr);

impl DeviceMemory {
    /// In the current context.
    pub(crate) fn new(bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: there is a current context.
        Ok(Self(unsafe { result::malloc_sync(bytes) }?))
    }

    pub(crate) const fn address(&self) -> CUdeviceptr {
        self.0
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // SAFETY: it is ours and used no more.
        let _ = unsafe { result::free_sync(self.0) };
    }
}

/// Zeroed host memory that kernels write, freed with its owner, which sees to it that no kernel uses it then.
#[derive(Debug)]
pub(crate) struct MappedMemory {
    host: NonNull<u8>,
    device: CUdeviceptr,
}

// SAFETY: page-locked memory belongs to the process, not to a thread.
unsafe impl Send for MappedMemory {}

impl MappedMemory {
    /// In the current context.
    pub(crate) fn new(bytes: usize) -> Result<Self, DriverError> {
        // Write-combined memory would be slow to read.
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: there is a current context.
        let host = unsafe { result::malloc_host(bytes, flags) }?.cast::<u8>();
        let host = NonNull::new(host).ok_or_else(DriverError::out_of_memory)?;
        let mut memory = Self { host, device: 0 };
        // SAFETY: the memory was just allocated with this size, and mapped.
        unsafe {
            host.write_bytes(0, bytes);
            let device = &raw mut memory.device;
            DriverError::check(sys::cuMemHostGetDevicePointer_v2(
                device,
                host.as_ptr().cast(),
                0,
            ))?;
        }
        Ok(memory)
    }

    pub(crate) const fn host(&self) -> NonNull<u8> {
        self.host
    }

    pub(crate) const fn device(&self) -> CUdeviceptr {
        self.device
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        // SAFETY: it is ours and used no more.
        let _ = unsafe { result::free_host(self.host.as_ptr().cast()) };
    }
}

/// Launches a kernel. The driver copies the arguments before it returns.
///
/// # Safety
///
/// The arguments point to values of the kernel's parameters, in its order.
pub(crate) unsafe fn launch(
    function: &CudaFunction,
    stream: &CudaStream,
    launch: &Launch,
    arguments: &mut [*mut c_void],
) -> Result<(), DriverError> {
    let Launch {
        grid,
        block,
        shared,
        cooperative,
    } = *launch;
    let function = function.cu_function();
    let stream = stream.cu_stream();
    let arguments = arguments.as_mut_ptr();
    // SAFETY: function and stream exist; the rest is the caller's.
    DriverError::check(unsafe {
        if cooperative {
            sys::cuLaunchCooperativeKernel(
                function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, stream,
                arguments,
            )
        } else {
            sys::cuLaunchKernel(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared,
                stream,
                arguments,
                ptr::null_mut(),
            )
        }
    })
}

/// The threads of a block that fills a multiprocessor best, at most `limit` if that is not 0. The context is current.
pub(crate) fn best_block(
    function: &CudaFunction,
    shared: u32,
    limit: u32,
) -> Result<u32, DriverError> {
    let (mut blocks, mut threads): (c_int, c_int) = (0, 0);
    // SAFETY: the function exists; the call writes two integers, and calls nothing.
    DriverError::check(unsafe {
        sys::cuOccupancyMaxPotentialBlockSize(
            &raw mut blocks,
            &raw mut threads,
            function.cu_function(),
            None,
            shared as usize,
            c_int::try_from(limit).unwrap_or(c_int::MAX),
        )
    })?;
    Ok(u32::try_from(threads).unwrap_or(0))
}

/// What the driver's compiler says about PTX that did not load. The context is current.
pub(crate) fn compiler_log(ptx: &CStr) -> Option<String> {
    const SIZE: c_uint = 16 << 10;
    let mut log = vec![0_u8; SIZE as usize];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        SIZE as usize as *mut c_void,
    ];
    let mut module = ptr::null_mut();
    // SAFETY: two options with their values (a buffer and its size, as the driver wants it, in place of a
    // pointer); the text ends with a zero.
    let result = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            ptx.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if result == CUresult::CUDA_SUCCESS {
        // SAFETY: it was loaded just now, and nobody else has it.
        let _ = unsafe { result::module::unload(module) };
        return None;
    }
    let log = CStr::from_bytes_until_nul(&log).ok()?.to_string_lossy();
    let log = log.trim();
    (!log.is_empty()).then(|| log.to_owned())
}
