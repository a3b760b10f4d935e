//! Loading a source file's kernels into a context.

use std::ffi::CString;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, OnceLock};

use cudarc::driver::sys::{
    CUdevice_attribute as Attribute, CUfunction_attribute as FunctionAttribute, CUresult,
};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use cudarc::nvrtc::Ptx;
use gpuk_device::driver::DriverVersion;
use gpuk_device::table;

use crate::arch::Capability;
use crate::call::{self, Current};
use crate::choice;
use crate::driver::DriverError;
use crate::function::Function;
use crate::image::Image;
use crate::kernel::KernelInfo;
use crate::library;
use crate::limits::{DeviceLimits, Limits};
use crate::load::{Count, LoadError, Refusal};
use crate::pool::Pool;
use crate::site::Site;
use crate::variant::{OptionalFunction, Variant};

/// From this on the driver says where a kernel's parameters lie (`cuFuncGetParamInfo`).
const PARAM_INFO: DriverVersion = DriverVersion::of_cuda(12, 4);

/// One image in a context.
#[derive(Debug)]
pub struct Module {
    module: Arc<CudaModule>,
    context: Arc<CudaContext>,
    image: &'static Image,
    capability: Capability,
    device: DeviceLimits,
    driver: DriverVersion,
    /// If there are checks.
    pool: Option<Arc<Pool>>,
}

fn driver(error: cudarc::driver::DriverError) -> LoadError {
    LoadError::Driver(error.into())
}

impl Module {
    /// Loads the best of the images for the context's device.
    ///
    /// An image that the driver does not load, such as machine code on a simulator, gives way to the next.
    ///
    /// # Errors
    ///
    /// If no image fits, the driver loads none, or the one it loads was made with other checks than its table has.
    pub fn load(context: &Arc<CudaContext>, images: &'static [Image]) -> Result<Self, LoadError> {
        context.bind_to_thread().map_err(driver)?;
        let attribute = |which| call::attribute(context, which).map_err(LoadError::Driver);
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let version = call::driver_version().map_err(LoadError::Driver)?;
        let mut refusals = Vec::new();
        for image in choice::choose(images, capability, version)? {
            match load(context, image) {
                Ok(module) => {
                    return Ok(Self {
                        pool: compare_table(context, &module, image)?,
                        module,
                        context: Arc::clone(context),
                        image,
                        capability,
                        device: device_limits(context).map_err(LoadError::Driver)?,
                        driver: version,
                    });
                }
                Err(refusal) if refusal.is_about_image() => refusals.push(refusal),
                Err(refusal) => return Err(LoadError::Driver(refusal.error)),
            }
        }
        Err(LoadError::Refused(refusals))
    }

    /// A kernel of the module.
    ///
    /// # Errors
    ///
    /// If the image does not have it, or not with these parameters.
    pub fn function(&self, info: &'static KernelInfo) -> Result<Function, LoadError> {
        self.find(info, info.checked)
    }

    /// A kernel that only some architectures have, or have checks in.
    ///
    /// # Errors
    ///
    /// If the image is of an architecture among `variants` and does not have the kernel, or not with these parameters.
    pub fn variant(
        &self,
        info: &'static KernelInfo,
        variants: &'static [Variant],
    ) -> Result<OptionalFunction, LoadError> {
        let arch = self.image.arch();
        let found = variants.iter().find(|variant| variant.arch == arch);
        let function = found.map(|variant| self.find(info, variant.checked));
        Ok(OptionalFunction {
            info,
            function: function.transpose()?,
            device: self.capability,
            arch,
            variants,
        })
    }

    /// A kernel as this image has it: with checks or without.
    fn find(&self, info: &'static KernelInfo, checked: bool) -> Result<Function, LoadError> {
        let missing = || LoadError::NoKernel {
            kernel: info.name,
            entry: info.entry,
            image: self.image,
        };
        if info.entry.contains('\0') {
            return Err(missing());
        }
        let function = self.module.load_function(info.entry).map_err(|error| {
            if error.0 == CUresult::CUDA_ERROR_NOT_FOUND {
                missing()
            } else {
                driver(error)
            }
        })?;
        if self.driver >= PARAM_INFO {
            self.compare(info, checked, &function)?;
        }
        let attribute = |which| -> Result<u32, LoadError> {
            let value = function.get_attribute(which).map_err(driver)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let limits = Limits {
            device: self.device,
            threads: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            registers: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            fixed_shared: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        };
        let shared = attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
        let pool = match (&self.pool, checked) {
            (_, false) => None,
            (Some(pool), true) => Some(Arc::clone(pool)),
            (None, true) => Some(Pool::of(&self.context).map_err(LoadError::Driver)?),
        };
        Ok(Function {
            function,
            context: Arc::clone(&self.context),
            pool,
            info,
            sites: self.image.sites(),
            limits,
            shared: AtomicU32::new(shared),
            raising: Mutex::new(()),
            suggested: OnceLock::new(),
        })
    }

    /// Compares the wrapper's parameters with what the driver says of the kernel's.
    fn compare(
        &self,
        info: &KernelInfo,
        checked: bool,
        function: &CudaFunction,
    ) -> Result<(), LoadError> {
        let info = &KernelInfo { checked, ..*info };
        let get = |index| {
            #[expect(unsafe_code, reason = "asking about a loaded function")]
            // SAFETY: the function is loaded as long as its module, which it has.
            unsafe {
                library::param_info(function.cu_function(), index)
            }
        };
        let count = |found| LoadError::ParameterCount {
            kernel: info.name,
            expected: info.arguments(),
            found,
            image: self.image,
        };
        let mut found = Vec::new();
        for index in 0..info.arguments() {
            found.push(match get(index) {
                // The driver is new enough, but does not tell.
                None => return Ok(()),
                // It answers so past the last parameter, and has no other way to say how many there are.
                Some(Err(error)) if error.is_invalid_value() => {
                    return Err(count(Count::Exactly(index)));
                }
                Some(Err(error)) => return Err(LoadError::Driver(error)),
                Some(Ok(found)) => found,
            });
        }
        let other = |base| {
            let mut places = info.layout(base).zip(&found);
            places.find(|(place, found)| (place.offset, place.size) != **found)
        };
        let fits = info.bases().any(|base| other(base).is_none());
        if let Some((place, (offset, size))) = other(0).filter(|_| !fits) {
            return Err(LoadError::Parameter {
                kernel: info.name,
                parameter: place.name,
                expected_size: place.size,
                expected_offset: place.offset,
                size: *size,
                offset: *offset,
                image: self.image,
            });
        }
        match get(info.arguments()) {
            Some(Ok(_)) => Err(count(Count::More)),
            _ => Ok(()),
        }
    }

    /// The image that was loaded.
    #[must_use]
    pub const fn image(&self) -> &'static Image {
        self.image
    }

    pub(crate) const fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// cudarc's module.
    #[must_use]
    pub const fn cudarc(&self) -> &Arc<CudaModule> {
        &self.module
    }
}

fn load(context: &Arc<CudaContext>, image: &'static Image) -> Result<Arc<CudaModule>, Refusal> {
    let mut bytes = image.bytes().to_vec();
    if matches!(image, Image::Ptx { .. }) {
        bytes.push(0);
    }
    context
        .load_module(Ptx::from_binary(bytes))
        .map_err(|error| Refusal {
            image,
            error: error.into(),
            log: compiler_log(context, image),
        })
}

/// Compares the checks that the image was made with to those of its table. The slots of the context if there are any.
fn compare_table(
    context: &Arc<CudaContext>,
    module: &Arc<CudaModule>,
    image: &'static Image,
) -> Result<Option<Arc<Pool>>, LoadError> {
    let sites = image.sites();
    if sites.is_empty() {
        return Ok(None);
    }
    let pool = Pool::of(context).map_err(LoadError::Driver)?;
    let mut bytes = [0; table::SIZE];
    let stream = context.default_stream();
    let found = match module.get_global(table::SYMBOL, &stream) {
        // The documentation has the first; drivers were seen to give the second.
        Err(cudarc::driver::DriverError(
            CUresult::CUDA_ERROR_NOT_FOUND | CUresult::CUDA_ERROR_INVALID_VALUE,
        )) => None,
        Err(error) => return Err(driver(error)),
        Ok(variable) => (pool.variable(&variable, &mut bytes)).map_err(LoadError::Driver)?,
    };
    let found = found.map(|()| bytes);
    let expected = table::variable(sites.iter().map(Site::hash));
    if found == Some(expected) {
        return Ok(Some(pool));
    }
    let known = found.filter(|found| found[..4] == expected[..4]);
    let count = known.map(|found| u32::from_le_bytes([found[4], found[5], found[6], found[7]]));
    Err(LoadError::Table {
        image,
        expected: sites.len(),
        found: count.and_then(|count| usize::try_from(count).ok()),
    })
}

/// Loads once more, to hear why not.
fn compiler_log(context: &CudaContext, image: &Image) -> Option<String> {
    let Image::Ptx { bytes, .. } = image else {
        return None;
    };
    let _current = Current::enter(context).ok()?;
    call::compiler_log(&CString::new(*bytes).ok()?)
}

fn device_limits(context: &CudaContext) -> Result<DeviceLimits, DriverError> {
    let get = |attribute| call::attribute(context, attribute);
    Ok(DeviceLimits {
        grid: [
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        block: [
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        threads: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        // Before compute capability 7.0 there is nothing to opt into, and the second may say 0.
        shared: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?.max(get(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?),
    })
}
