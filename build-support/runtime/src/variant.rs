//! A kernel that the architectures of a build do not have alike: only some have it, or have checks in it.

use crate::error::LaunchError;
use crate::function::Function;
use crate::kernel::KernelInfo;

/// What one architecture has of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// `sm_90`, as the images name it.
    pub arch: &'static str,
    /// Whether checks report from it, through the hidden last parameter.
    pub checked: bool,
}

/// A kernel that the loaded image may lack, because it was compiled for some of the architectures only.
#[derive(Debug)]
pub struct OptionalFunction {
    pub(crate) info: &'static KernelInfo,
    pub(crate) function: Option<Function>,
    /// Major and minor.
    pub(crate) device: (u32, u32),
    /// Of the loaded image.
    pub(crate) arch: &'static str,
    pub(crate) variants: &'static [Variant],
}

impl OptionalFunction {
    /// Whether the loaded image has the kernel.
    #[must_use]
    pub const fn is_some(&self) -> bool {
        self.function.is_some()
    }

    /// The kernel.
    ///
    /// # Errors
    ///
    /// [`LaunchError::NotForDevice`] if the loaded image lacks it.
    pub fn get(&self) -> Result<&Function, LaunchError> {
        self.function
            .as_ref()
            .ok_or_else(|| LaunchError::NotForDevice {
                kernel: self.info.name,
                device: self.device,
                loaded: self.arch,
                archs: self.variants.iter().map(|it| it.arch).collect(),
            })
    }
}
