//! Parameters of nodes, as programs give them.

use std::ffi::c_void;

use crate::boundary::In;
use crate::code::Code;
use crate::refusal::Answer;
use crate::work::{Fill, HostFunction, Opaque};

/// `CUDA_KERNEL_NODE_PARAMS_v1`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct KernelParams {
    pub(crate) function: usize,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) params: In<*const c_void>,
    pub(crate) extra: In<*const c_void>,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct KernelParams2 {
    pub(crate) first: KernelParams,
    /// A library's kernel, if there is no function.
    pub(crate) kernel: usize,
    pub(crate) context: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct MemsetParams {
    address: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct HostParams {
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: Opaque,
}

impl MemsetParams {
    pub(crate) fn fill(&self) -> Answer<Fill> {
        if !matches!(self.element, 1 | 2 | 4) {
            return Err(Code::INVALID_VALUE.because(format!(
                "elements of {} bytes; they have 1, 2 or 4",
                self.element
            )));
        }
        Ok(Fill {
            address: self.address,
            value: self.value,
            element: self.element,
            pitch: self.pitch as u64,
            width: self.width as u64,
            height: self.height as u64,
        })
    }
}

impl HostParams {
    pub(crate) fn host(&self) -> Answer<HostFunction> {
        let function = self
            .function
            .ok_or_else(|| Code::INVALID_VALUE.because("the function is null"))?;
        Ok(HostFunction {
            function,
            data: self.data,
        })
    }
}
