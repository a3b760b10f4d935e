//! A loaded kernel, and its launch.

#![expect(unsafe_code, reason = "launching kernels")]

use std::array;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUfunction_attribute};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DeviceRepr};

use crate::argument::Argument;
use crate::call;
use crate::driver::DriverError;
use crate::error::LaunchError;
use crate::failure::Origin;
use crate::kernel::KernelInfo;
use crate::launch::Launch;
use crate::limits::Limits;
use crate::payload::ErrorPayload;
use crate::pool::Pool;
use crate::site::Site;

/// A kernel in a context.
#[derive(Debug)]
pub struct Function {
    pub(crate) function: CudaFunction,
    pub(crate) context: Arc<CudaContext>,
    pub(crate) info: &'static KernelInfo,
    pub(crate) sites: &'static [Site],
    /// Of a kernel with checks.
    pub(crate) pool: Option<Arc<Pool>>,
    pub(crate) limits: Limits,
    /// Bytes of dynamic shared memory that a launch may ask for as the function stands.
    pub(crate) shared: AtomicU32,
    pub(crate) raising: Mutex<()>,
}

/// An argument of a launch.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a>(Passed<'a>);

#[derive(Debug, Clone, Copy)]
enum Passed<'a> {
    Buffer(&'static str, &'a Argument<'a>),
    Value {
        value: *const c_void,
        size: usize,
        borrowed: PhantomData<&'a ()>,
    },
    Hidden,
}

impl<'a> Pass<'a> {
    /// A buffer for the parameter of that name.
    #[must_use]
    pub const fn buffer(parameter: &'static str, argument: &'a Argument<'a>) -> Self {
        Self(Passed::Buffer(parameter, argument))
    }

    /// A value, copied by the launch.
    #[must_use]
    pub const fn value<T: DeviceRepr>(value: &'a T) -> Self {
        Self(Passed::Value {
            value: ptr::from_ref(value).cast(),
            size: size_of::<T>(),
            borrowed: PhantomData,
        })
    }

    /// What the kernel's checks report through.
    #[must_use]
    pub const fn hidden() -> Self {
        Self(Passed::Hidden)
    }
}

impl Function {
    /// The kernel.
    #[must_use]
    pub const fn info(&self) -> &'static KernelInfo {
        self.info
    }

    /// cudarc's function, for its attributes and occupancy.
    #[must_use]
    pub const fn cudarc(&self) -> &CudaFunction {
        &self.function
    }

    /// Launches the kernel.
    ///
    /// # Errors
    ///
    /// If the launch exceeds what the device or the kernel allows, if a buffer or the stream belongs to another
    /// context, or if the driver refuses. Nothing was launched then.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, in its order, and the kernel accesses nothing but what they point to
    /// and what they say it may.
    #[track_caller]
    pub unsafe fn launch<const N: usize>(
        &self,
        stream: &Arc<CudaStream>,
        launch: Launch,
        arguments: [Pass<'_>; N],
    ) -> Result<ErrorPayload, LaunchError> {
        let origin = Origin {
            info: self.info,
            sites: self.sites,
            launched_at: Location::caller(),
        };
        self.limits.allow(self.info, &launch)?;
        self.accept(stream, &arguments)?;
        if launch.is_empty() {
            return Ok(ErrorPayload::passed());
        }
        let driver = |error| LaunchError::Driver {
            kernel: self.info.name,
            error,
        };
        // Also tells whether waiting for an argument failed.
        let bound = stream.context().bind_to_thread();
        bound.map_err(|error| driver(error.into()))?;
        if launch.shared > self.shared.load(Ordering::Relaxed) {
            self.raise_shared().map_err(driver)?;
        }
        let captured = self.pool.is_some() && call::is_capturing(stream);
        let slot = match &self.pool {
            Some(pool) => Some((pool, pool.take().map_err(driver)?)),
            None => None,
        };
        let gate = slot.as_ref().map_or(&0, |(_, slot)| slot.gate());
        let mut pointers: [*mut c_void; N] = array::from_fn(|index| match arguments[index].0 {
            Passed::Buffer(_, argument) => ptr::from_ref(&argument.address).cast_mut().cast(),
            Passed::Value { value, .. } => value.cast_mut(),
            Passed::Hidden => ptr::from_ref(gate).cast_mut().cast(),
        });
        let Launch {
            grid,
            block,
            shared,
            cooperative,
        } = launch;
        let function = self.function.cu_function();
        let stream_handle = stream.cu_stream();
        let pointers = pointers.as_mut_ptr();
        // SAFETY: function and stream exist, in the same context; `accept` has compared number and sizes of the
        // arguments, the rest is the caller's promise. The driver copies them before it returns.
        let result = unsafe {
            if cooperative {
                sys::cuLaunchCooperativeKernel(
                    function,
                    grid[0],
                    grid[1],
                    grid[2],
                    block[0],
                    block[1],
                    block[2],
                    shared,
                    stream_handle,
                    pointers,
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
                    stream_handle,
                    pointers,
                    ptr::null_mut(),
                )
            }
        };
        if let Err(error) = DriverError::check(result) {
            if let Some((pool, slot)) = slot {
                pool.give(slot);
            }
            return Err(driver(error));
        }
        Ok(ErrorPayload::new(stream, origin, slot, captured))
    }

    /// Compares the arguments with the kernel's parameters, and where they live with where it runs.
    fn accept(&self, stream: &CudaStream, arguments: &[Pass<'_>]) -> Result<(), LaunchError> {
        let info = self.info;
        let kernel = info.name;
        if arguments.len() != info.arguments() {
            return Err(LaunchError::ArgumentCount {
                kernel,
                found: arguments.len(),
                expected: info.arguments(),
            });
        }
        let stream_device = stream.context().ordinal();
        if *stream.context() != self.context {
            return Err(LaunchError::ForeignStream {
                kernel,
                kernel_device: self.context.ordinal(),
                stream_device,
            });
        }
        for (index, argument) in arguments.iter().enumerate() {
            // The hidden one has no entry, and nothing to compare.
            let param = info.params.get(index);
            let found = match argument.0 {
                Passed::Buffer(parameter, argument) => {
                    if let Some(buffer_device) = argument.foreign {
                        return Err(LaunchError::ForeignBuffer {
                            kernel,
                            parameter,
                            buffer_device,
                            stream_device,
                        });
                    }
                    let Argument { address, align, .. } = *argument;
                    if !address.is_multiple_of(align as u64) {
                        return Err(LaunchError::Misaligned {
                            kernel,
                            parameter,
                            address,
                            align,
                        });
                    }
                    size_of_val(&address)
                }
                Passed::Value { size, .. } => size,
                Passed::Hidden => size_of::<u64>(),
            };
            if let Some(param) = param
                && param.size != found
            {
                return Err(LaunchError::ArgumentSize {
                    kernel,
                    parameter: param.name,
                    found,
                    expected: param.size,
                });
            }
        }
        Ok(())
    }

    /// Lets the function have as much dynamic shared memory as the device has; once. The context is current.
    #[cold]
    fn raise_shared(&self) -> Result<(), DriverError> {
        let _raising = self.raising.lock().unwrap_or_else(PoisonError::into_inner);
        let most = self.limits.dynamic_shared();
        if self.shared.load(Ordering::Relaxed) >= most {
            return Ok(());
        }
        let bytes = i32::try_from(most).unwrap_or(i32::MAX);
        self.function.set_attribute(
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            bytes,
        )?;
        self.shared.store(most, Ordering::Relaxed);
        Ok(())
    }
}
