//! Variables of a module: `__constant__`, `__device__` and `__managed__`, read and written from the host.

#![expect(unsafe_code, reason = "copying to and from device memory")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdeviceptr, CUresult};
use cudarc::driver::{CudaContext, CudaModule, CudaStream, DevicePtr, DeviceRepr, ValidAsZeroBits};
use thiserror::Error;

use crate::argument::Address;
use crate::call::{self, Current};
use crate::driver::DriverError;
use crate::load::LoadError;
use crate::module::Module;

/// What a generated wrapper knows about a variable before any driver is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolInfo {
    /// Name of the Rust method.
    pub name: &'static str,
    /// The PTX symbol.
    pub symbol: &'static str,
    /// `file:line` of the declaration.
    pub source: &'static str,
}

/// Of a [`Symbol`]: constant memory, which kernels only read.
#[derive(Debug, Clone, Copy)]
pub enum Constant {}

/// Of a [`Symbol`]: global memory, whose address kernels take too.
#[derive(Debug, Clone, Copy)]
pub enum Global {}

/// Of a [`Symbol`]: declared `const`. What kernels were compiled to may have its value in it, so it is not written.
#[derive(Debug, Clone, Copy)]
pub enum Fixed {}

/// Of a [`Symbol`] that may be written.
pub trait Writable {}

impl Writable for Constant {}
impl Writable for Global {}

/// A variable of a module in a context. Every context that the module is loaded into has one of its own.
///
/// Copies keep the order of the stream that they are given to, as launches do: a kernel launched on the stream before
/// a [`write`](Self::write) sees the old value, one launched after it the new one. Nothing orders them with other
/// streams: wait for those, or order the streams by an event (`CudaStream::join`).
pub struct Symbol<T, M = Constant> {
    module: Arc<CudaModule>,
    context: Arc<CudaContext>,
    info: &'static SymbolInfo,
    address: CUdeviceptr,
    kind: PhantomData<fn() -> (T, M)>,
}

/// Why a variable was not read or written.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// The module was loaded into another context than the stream's.
    #[error(
        "variable `{symbol}` is one of a context of device {symbol_device}, but the stream belongs to {} of device \
         {stream_device}",
        if .symbol_device == .stream_device { "another context" } else { "a context" }
    )]
    ForeignStream {
        /// The variable.
        symbol: &'static str,
        /// The device of its context.
        symbol_device: usize,
        /// The device of the stream's.
        stream_device: usize,
    },

    /// The driver refused.
    #[error("variable `{symbol}` could not be copied: {error}")]
    Driver {
        /// The variable.
        symbol: &'static str,
        /// What it said.
        #[source]
        error: DriverError,
    },
}

impl Module {
    /// A variable of the module.
    ///
    /// # Errors
    ///
    /// If the image does not have it, or not with the size of a `T`.
    pub fn symbol<T: DeviceRepr, M>(
        &self,
        info: &'static SymbolInfo,
    ) -> Result<Symbol<T, M>, LoadError> {
        let other = |found| LoadError::Variable {
            symbol: info.symbol,
            expected: size_of::<T>(),
            found,
            image: self.image(),
        };
        let stream = self.context().default_stream();
        let found = match self.cudarc().get_global(info.symbol, &stream) {
            // The documentation has the first; drivers were seen to give the second.
            Err(cudarc::driver::DriverError(
                CUresult::CUDA_ERROR_NOT_FOUND | CUresult::CUDA_ERROR_INVALID_VALUE,
            )) => return Err(other(None)),
            found => found.map_err(|error| LoadError::Driver(error.into()))?,
        };
        if found.len() != size_of::<T>() {
            return Err(other(Some(found.len())));
        }
        let (address, _used) = found.device_ptr(&stream);
        Ok(Symbol {
            module: Arc::clone(self.cudarc()),
            context: Arc::clone(self.context()),
            info,
            address,
            kind: PhantomData,
        })
    }
}

impl<T, M> Symbol<T, M> {
    /// What is known of it without a driver.
    #[must_use]
    pub const fn info(&self) -> &'static SymbolInfo {
        self.info
    }

    /// The module it is a variable of.
    #[must_use]
    pub const fn cudarc(&self) -> &Arc<CudaModule> {
        &self.module
    }

    fn on(&self, stream: &Arc<CudaStream>) -> Result<Current, SymbolError> {
        if *stream.context() != self.context {
            return Err(SymbolError::ForeignStream {
                symbol: self.info.name,
                symbol_device: self.context.ordinal(),
                stream_device: stream.context().ordinal(),
            });
        }
        // A graph would copy from and to memory that is gone when it is launched.
        if call::is_capturing(stream) {
            return Err(self.refused(DriverError::capturing()));
        }
        Current::enter(&self.context).map_err(|error| self.refused(error))
    }

    const fn refused(&self, error: DriverError) -> SymbolError {
        SymbolError::Driver {
            symbol: self.info.name,
            error,
        }
    }
}

impl<T: DeviceRepr + ValidAsZeroBits, M> Symbol<T, M> {
    /// Its value, after all work that was given to the stream; waits for it.
    ///
    /// While a kernel on another stream writes it, what comes back is part old, part new.
    ///
    /// # Errors
    ///
    /// The stream is one of another context, or is being captured into a graph, or the driver refused.
    pub fn read(&self, stream: &Arc<CudaStream>) -> Result<T, SymbolError> {
        let mut value = MaybeUninit::zeroed();
        self.copy(stream, value.as_mut_ptr())?;
        // SAFETY: zero is a value, and so is what the device had there.
        Ok(unsafe { value.assume_init() })
    }

    /// As [`read`](Self::read), into a value that is there: for arrays larger than a thread's stack.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_into(&self, stream: &Arc<CudaStream>, value: &mut T) -> Result<(), SymbolError> {
        self.copy(stream, value)
    }

    fn copy(&self, stream: &Arc<CudaStream>, to: *mut T) -> Result<(), SymbolError> {
        let _current = self.on(stream)?;
        let (from, bytes) = (self.address, size_of::<T>());
        // SAFETY: both have as many bytes; the host's are there until the stream was waited for.
        let copied = DriverError::check(unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream.cu_stream())
        });
        let waited = call::synchronize(stream);
        copied.and(waited).map_err(|error| self.refused(error))
    }
}

impl<T: DeviceRepr, M: Writable> Symbol<T, M> {
    /// Sets it, in the order of the stream. The value is copied before this returns; nothing is waited for.
    ///
    /// # Errors
    ///
    /// The stream is one of another context, or is being captured into a graph, or the driver refused.
    ///
    /// # Safety
    ///
    /// No kernel on another stream uses the variable while it is written. Device addresses in the value are valid for
    /// the kernels that follow them.
    pub unsafe fn write(&self, stream: &Arc<CudaStream>, value: &T) -> Result<(), SymbolError> {
        let _current = self.on(stream)?;
        let (to, bytes) = (self.address, size_of::<T>());
        let from: *const T = value;
        // SAFETY: both have as many bytes. The host's are pageable: the driver has copied them when it returns (CUDA
        // driver API, API synchronization behavior). The rest is the caller's.
        DriverError::check(unsafe {
            sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream.cu_stream())
        })
        .map_err(|error| self.refused(error))
    }
}

impl<T> Symbol<T, Global> {
    /// Where it is, for a kernel's pointer. The module has to stay loaded until that kernel has ended.
    #[must_use]
    pub const fn address(&self) -> Address<T> {
        Address::new(self.address)
    }
}

impl<T, const N: usize> Symbol<[T; N], Global> {
    /// Where its first item is, for a kernel's pointer. The module has to stay loaded until that kernel has ended.
    #[must_use]
    pub const fn items(&self) -> Address<T> {
        Address::new(self.address)
    }
}

impl<T, M> fmt::Debug for Symbol<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbol")
            .field("info", self.info)
            .field("address", &format_args!("{:#x}", self.address))
            .finish_non_exhaustive()
    }
}
