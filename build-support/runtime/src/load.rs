//! Why kernels were not loaded.

use thiserror::Error;

use crate::choice::NoImage;
use crate::driver::DriverError;
use crate::image::Image;

/// Why kernels were not loaded.
#[derive(Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No image is for the device and its driver.
    #[error(transparent)]
    NoImage(#[from] NoImage),

    /// The driver refused every image that seemed to fit.
    #[error("{}", explain(.0))]
    Refused(Vec<Refusal>),

    /// The image lacks a kernel: it is left out for this architecture, by `__CUDA_ARCH__` for instance.
    #[error("kernel `{kernel}` is not in the {image}: it has no entry `{entry}`")]
    NoKernel {
        /// The kernel.
        kernel: &'static str,
        /// Its symbol.
        entry: &'static str,
        /// The image loaded.
        image: &'static Image,
    },

    /// The wrapper was generated for another variable than the image has.
    #[error(
        "variable `{symbol}` has {expected} bytes in the wrapper, but {} the {image}; wrapper and image do not belong \
         together",
        has(.found)
    )]
    Variable {
        /// Its symbol.
        symbol: &'static str,
        /// Bytes, in the wrapper.
        expected: usize,
        /// Bytes, in the image; `None` if it has no such variable.
        found: Option<usize>,
        /// The image loaded.
        image: &'static Image,
    },

    /// The wrapper was generated for another kernel than the image has.
    #[error(
        "kernel `{kernel}`: parameter `{parameter}` has {expected_size} bytes at offset {expected_offset} in the \
         wrapper, but {size} at {offset} in the {image}; wrapper and image do not belong together"
    )]
    Parameter {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Bytes, in the wrapper.
        expected_size: usize,
        /// Bytes, in the wrapper.
        expected_offset: usize,
        /// Bytes, in the image.
        size: usize,
        /// Bytes, in the image.
        offset: usize,
        /// The image loaded.
        image: &'static Image,
    },

    /// The wrapper was generated for another kernel than the image has.
    #[error(
        "kernel `{kernel}`: the wrapper passes {expected} parameters, but in the {image} the kernel takes \
         {found}; wrapper and image do not belong together"
    )]
    ParameterCount {
        /// The kernel.
        kernel: &'static str,
        /// How many the wrapper passes, the hidden one included.
        expected: usize,
        /// How many the kernel takes: fewer, or "more".
        found: Count,
        /// The image loaded.
        image: &'static Image,
    },

    /// The checks that the image was made with are not those of its table: a failure would name another one.
    #[error(
        "the {image} and its table of {expected} checks do not belong together: {}\n\
         help: build again, and let nothing change the files in between",
        made_with(.found)
    )]
    Table {
        /// The image loaded.
        image: &'static Image,
        /// How many checks the table has.
        expected: usize,
        /// How many the image says that it has; `None` if it says nothing of checks, or not in a way known here.
        found: Option<usize>,
    },

    /// The driver failed at something else.
    #[error("kernels could not be loaded: {0}")]
    Driver(#[source] DriverError),
}

/// A number of parameters, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Count {
    /// So many.
    #[error("{0}")]
    Exactly(usize),
    /// More than the wrapper passes.
    #[error("more")]
    More,
}

/// An image that the driver did not load.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The image.
    pub image: &'static Image,
    /// What the driver said.
    pub error: DriverError,
    /// What the driver's compiler said about PTX.
    pub log: Option<String>,
}

impl Refusal {
    /// Whether another image may do better.
    pub(crate) const fn is_about_image(&self) -> bool {
        // Image, binary, PTX, PTX version, compiler, source, shared object, missing symbols.
        matches!(self.error.code(), 200 | 209 | 218 | 221..=223 | 300 | 302..=303 | 500)
    }
}

fn has(found: &Option<usize>) -> String {
    match found {
        None => "is not in".to_owned(),
        Some(bytes) => format!("{bytes} in"),
    }
}

fn made_with(found: &Option<usize>) -> String {
    match found {
        None => "it says nothing of its checks, or in the way of another version".to_owned(),
        Some(1) => "it was made with another one".to_owned(),
        Some(count) => format!("it was made with {count} others"),
    }
}

fn explain(refusals: &[Refusal]) -> String {
    let mut text = "the driver loads none of the images that are for this device".to_owned();
    for Refusal { image, error, log } in refusals {
        text.push_str(&format!("\n  {image}: {error}"));
        for line in log.iter().flat_map(|log| log.lines()) {
            text.push_str(&format!("\n    {line}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys::CUresult;

    use super::*;

    static IMAGES: [Image; 2] = [
        Image::Cubin {
            arch: "sm_90",
            bytes: &[],
            sites: &[],
        },
        Image::Ptx {
            arch: "sm_80",
            version: (9, 0),
            bytes: &[],
            sites: &[],
        },
    ];

    fn refusal(image: &'static Image, error: CUresult, log: Option<&str>) -> Refusal {
        Refusal {
            image,
            error: DriverError::check(error).unwrap_err(),
            log: log.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn refusals_tell_what_the_driver_said() {
        let cubin = refusal(&IMAGES[0], CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU, None);
        let log = "ptxas application ptx input, line 9; error   : Unknown symbol 'f'\nptxas fatal   : Ptx assembly aborted";
        let ptx = refusal(&IMAGES[1], CUresult::CUDA_ERROR_INVALID_PTX, Some(log));
        assert!(cubin.is_about_image() && ptx.is_about_image());
        insta::assert_snapshot!(LoadError::Refused(vec![cubin, ptx]), @"
        the driver loads none of the images that are for this device
          cubin sm_90: CUDA_ERROR_NO_BINARY_FOR_GPU (209): the image has no code for this device
          PTX 9.0 sm_80: CUDA_ERROR_INVALID_PTX (218): the driver's compiler refused the PTX
            ptxas application ptx input, line 9; error   : Unknown symbol 'f'
            ptxas fatal   : Ptx assembly aborted
        ");
        let memory = refusal(&IMAGES[1], CUresult::CUDA_ERROR_OUT_OF_MEMORY, None);
        assert!(!memory.is_about_image());
    }

    #[test]
    fn wrappers_of_other_kernels_are_told_apart() {
        let image = &IMAGES[1];
        let texts = [
            LoadError::NoKernel {
                kernel: "scale",
                entry: "_Z5scalePf",
                image,
            },
            LoadError::Parameter {
                kernel: "scale",
                parameter: "n",
                expected_size: 4,
                expected_offset: 8,
                size: 8,
                offset: 8,
                image,
            },
            LoadError::ParameterCount {
                kernel: "scale",
                expected: 3,
                found: Count::More,
                image,
            },
            LoadError::ParameterCount {
                kernel: "scale",
                expected: 3,
                found: Count::Exactly(2),
                image,
            },
            LoadError::Variable {
                symbol: "table",
                expected: 256,
                found: Some(128),
                image,
            },
            LoadError::Variable {
                symbol: "table",
                expected: 256,
                found: None,
                image,
            },
            LoadError::Table {
                image,
                expected: 2,
                found: Some(3),
            },
            LoadError::Table {
                image,
                expected: 2,
                found: None,
            },
        ];
        insta::assert_snapshot!(texts.map(|error| error.to_string()).join("\n"), @"
        kernel `scale` is not in the PTX 9.0 sm_80: it has no entry `_Z5scalePf`
        kernel `scale`: parameter `n` has 4 bytes at offset 8 in the wrapper, but 8 at 8 in the PTX 9.0 sm_80; wrapper and image do not belong together
        kernel `scale`: the wrapper passes 3 parameters, but in the PTX 9.0 sm_80 the kernel takes more; wrapper and image do not belong together
        kernel `scale`: the wrapper passes 3 parameters, but in the PTX 9.0 sm_80 the kernel takes 2; wrapper and image do not belong together
        variable `table` has 256 bytes in the wrapper, but 128 in the PTX 9.0 sm_80; wrapper and image do not belong together
        variable `table` has 256 bytes in the wrapper, but is not in the PTX 9.0 sm_80; wrapper and image do not belong together
        the PTX 9.0 sm_80 and its table of 2 checks do not belong together: it was made with 3 others
        help: build again, and let nothing change the files in between
        the PTX 9.0 sm_80 and its table of 2 checks do not belong together: it says nothing of its checks, or in the way of another version
        help: build again, and let nothing change the files in between
        ");
    }
}
