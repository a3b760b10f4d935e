//! Buffers that wrappers allocate for what kernels write.

#![expect(unsafe_code, reason = "allocating memory that is not initialized")]

use cudarc::driver::{CudaSlice, result};

use crate::call;
use crate::driver::DriverError;
use crate::error::LaunchError;
use crate::extent::ExtentError;
use crate::function::Function;
use crate::launch::Launch;
use crate::on::Target;

impl Function {
    /// A buffer for what the kernel writes, freed in the order of the stream.
    ///
    /// Its bytes are what was there before, or zero: where `zeroed` says so, and where an empty launch writes nothing.
    ///
    /// # Errors
    ///
    /// If the stream is being captured, or the device has too little memory.
    ///
    /// # Safety
    ///
    /// Any bytes are a `T`, or they are zeroed.
    pub unsafe fn output<T>(
        &self,
        target: Target<'_>,
        launch: &Launch,
        buffer: &'static str,
        items: usize,
        zeroed: bool,
    ) -> Result<CudaSlice<T>, LaunchError> {
        let stream = target.stream;
        let kernel = self.info.name;
        if call::is_capturing(stream) {
            return Err(LaunchError::Extent {
                kernel,
                error: Box::new(ExtentError::Capturing { buffer, kernel }),
            });
        }
        let driver = |error: cudarc::driver::DriverError| self.driver(error.into());
        let bytes = items.checked_mul(size_of::<T>());
        let Some(bytes) = bytes.filter(|bytes| isize::try_from(*bytes).is_ok()) else {
            return Err(self.driver(DriverError::out_of_memory()));
        };
        let context = stream.context();
        context.bind_to_thread().map_err(driver)?;
        // No driver allocates nothing.
        let allocated = bytes.max(1);
        // SAFETY: the stream exists, and its context is current. As cudarc allocates, so that it frees as it should.
        let address = unsafe {
            match context.has_async_alloc() {
                true => result::malloc_async(stream.cu_stream(), allocated),
                false => result::malloc_sync(allocated),
            }
        };
        let address = address.map_err(driver)?;
        // SAFETY: it has room for the items, and nobody else has it; what they are is the caller's promise.
        let buffer = unsafe { stream.upgrade_device_ptr(address, items) };
        if zeroed || launch.is_empty() {
            // SAFETY: it was allocated on the stream with as many bytes.
            let set = unsafe { result::memset_d8_async(address, 0, allocated, stream.cu_stream()) };
            set.map_err(driver)?;
        }
        Ok(buffer)
    }
}
