//! Compiled images. Which one is loaded is the business of `choice`, loading it that of `module`.

use std::fmt;

use crate::site::Site;

/// The kernels of one source file, compiled for one architecture.
#[derive(Clone, Copy)]
pub enum Image {
    /// Machine code.
    Cubin {
        /// `sm_90`, `sm_90a`, `sm_100f`.
        arch: &'static str,
        /// The file.
        bytes: &'static [u8],
        /// The checks its records name.
        sites: &'static [Site],
    },
    /// PTX, which the driver compiles when it loads it.
    Ptx {
        /// Its `.target`.
        arch: &'static str,
        /// Its `.version`, major and minor.
        version: (u32, u32),
        /// The text, without a terminating zero.
        bytes: &'static [u8],
        /// The checks its records name.
        sites: &'static [Site],
    },
}

impl Image {
    /// The architecture it was compiled for.
    #[must_use]
    pub const fn arch(&self) -> &'static str {
        match self {
            Self::Cubin { arch, .. } | Self::Ptx { arch, .. } => arch,
        }
    }

    /// The image itself.
    #[must_use]
    pub const fn bytes(&self) -> &'static [u8] {
        match self {
            Self::Cubin { bytes, .. } | Self::Ptx { bytes, .. } => bytes,
        }
    }

    /// The checks its records name.
    #[must_use]
    pub const fn sites(&self) -> &'static [Site] {
        match self {
            Self::Cubin { sites, .. } | Self::Ptx { sites, .. } => sites,
        }
    }
}

/// What messages call the image: `cubin sm_90`, `PTX 9.0 sm_80`.
impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cubin { arch, .. } => write!(f, "cubin {arch}"),
            Self::Ptx { arch, version, .. } => write!(f, "PTX {}.{} {arch}", version.0, version.1),
        }
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({self}, {} bytes)", self.bytes().len())
    }
}
