//! A loaded kernel, and its launch.

#![expect(unsafe_code, reason = "launching kernels")]

use std::array;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::CUfunction_attribute;
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DeviceRepr};

use crate::argument::Argument;
use crate::call::{self, Current};
use crate::driver::DriverError;
use crate::error::LaunchError;
use crate::failure::Origin;
use crate::flight::{Flight, Parts};
use crate::kernel::KernelInfo;
use crate::launch::Launch;
use crate::launched::{By, Launched};
use crate::limits::Limits;
use crate::on::Target;
use crate::payload::ErrorPayload;
use crate::pool::Pool;
use crate::scope::{Scope, Turn};
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
    /// Threads of the block that the driver suggests, once asked.
    pub(crate) suggested: OnceLock<u32>,
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

    /// What the kernel's checks report through; the last, and nothing where the kernel has none.
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

    /// Launches the kernel. In a scope, the scope has its outcome, and the payload says nothing.
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
        target: Target<'_>,
        launch: Launch,
        arguments: [Pass<'_>; N],
    ) -> Result<ErrorPayload, LaunchError> {
        let Target { stream, scope } = target;
        // Of a template's instances, some may have checks.
        let count = match arguments.last() {
            Some(Pass(Passed::Hidden)) if !self.info.checked => N - 1,
            _ => N,
        };
        let mut turn = scope.map(Scope::turn);
        let origin = Origin {
            info: self.info,
            sites: self.sites,
            launched_at: Location::caller(),
            launch: turn.as_ref().map(Turn::number),
        };
        if let Some(launches @ 1..) = turn.as_ref().map(Turn::late) {
            return Err(LaunchError::LateSkip {
                kernel: self.info.name,
                launches,
            });
        }
        self.limits.allow(self.info, &launch)?;
        self.accept(stream, &arguments[..count])?;
        if launch.is_empty() {
            if let Some(turn) = turn {
                turn.launched(None);
            }
            return Ok(ErrorPayload::passed());
        }
        let driver = |error| self.driver(error);
        // Also tells whether waiting for an argument failed.
        let bound = stream.context().bind_to_thread();
        bound.map_err(|error| driver(error.into()))?;
        if launch.shared > self.shared.load(Ordering::Relaxed) {
            self.raise_shared().map_err(driver)?;
        }
        let captured = self.pool.is_some() && call::is_capturing(stream);
        let mut slot = None;
        let gate = match (&self.pool, &mut turn) {
            (None, _) => 0,
            (Some(pool), Some(turn)) => turn.gate(pool, captured).map_err(driver)?,
            (Some(pool), None) => slot.insert(pool.take().map_err(driver)?).gate(),
        };
        let mut pointers: [*mut c_void; N] = array::from_fn(|index| match arguments[index].0 {
            Passed::Buffer(_, argument) => ptr::from_ref(&argument.address).cast_mut().cast(),
            Passed::Value { value, .. } => value.cast_mut(),
            Passed::Hidden => ptr::from_ref(&gate).cast_mut().cast(),
        });
        let launch = launch.grid(self.info.driver_grid(launch.grid));
        // SAFETY: function and stream exist, in the same context; `accept` has compared number and sizes of the
        // arguments, the rest is the caller's promise.
        let result =
            unsafe { call::launch(&self.function, stream, &launch, &mut pointers[..count]) };
        if let Err(error) = result {
            if let (Some(pool), Some(slot)) = (&self.pool, slot) {
                pool.give(slot);
            }
            return Err(driver(error));
        }
        if let Some(turn) = turn {
            turn.launched(Some((origin, self.pool.is_some())));
            return Ok(ErrorPayload::passed());
        }
        let parts = match slot {
            Some(slot) => Parts::One(Launched {
                slot,
                by: By::Launch(origin),
            }),
            None => Parts::Nothing,
        };
        let pool = self.pool.clone();
        let flight = Flight::new(stream, Some(origin), pool, parts, captured);
        Ok(ErrorPayload::new(flight))
    }

    /// The threads of a block that the driver's occupancy calculator suggests, asked once: a kernel's dynamic shared
    /// memory is the same each time.
    pub(crate) fn suggested_block(&self, shared: u32) -> Result<u32, LaunchError> {
        if let Some(threads) = self.suggested.get() {
            return Ok(*threads);
        }
        let _current = Current::enter(&self.context).map_err(|error| self.driver(error))?;
        let limit = self.info.max_threads.unwrap_or(0);
        let threads = call::best_block(&self.function, shared, limit);
        let threads = threads.map_err(|error| self.driver(error))?;
        Ok(*self.suggested.get_or_init(|| threads))
    }

    pub(crate) fn driver(&self, error: DriverError) -> LaunchError {
        LaunchError::Driver {
            kernel: self.info.name,
            error,
        }
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
