//! What most scenarios begin with.

use std::ffi::{CStr, c_void};

use crate::say::{Driver, quietly};

pub(crate) const KERNELS: &CStr = {
    let text = concat!(include_str!("kernels.ptx"), "\0");
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a text"),
    }
};

/// Initializes and makes the primary context current.
pub(crate) fn primary(d: &Driver) -> usize {
    quietly!(d, cuInit(0));
    let mut context = 0_usize;
    quietly!(d, cuDevicePrimaryCtxRetain(&mut context, 0));
    quietly!(d, cuCtxSetCurrent(context));
    context
}

pub(crate) fn alloc(d: &Driver, bytes: usize) -> u64 {
    let mut address = 0_u64;
    quietly!(d, cuMemAlloc_v2(&mut address, bytes));
    address
}

pub(crate) fn stream(d: &Driver) -> usize {
    let mut stream = 0_usize;
    quietly!(d, cuStreamCreate(&mut stream, 1));
    stream
}

pub(crate) fn event(d: &Driver) -> usize {
    let mut event = 0_usize;
    quietly!(d, cuEventCreate(&mut event, 0));
    event
}

/// The test's kernels.
pub(crate) fn module(d: &Driver) -> usize {
    let mut module = 0_usize;
    quietly!(d, cuModuleLoadData(&mut module, KERNELS));
    module
}

pub(crate) fn function(d: &Driver, module: usize, name: &CStr) -> usize {
    let mut function = 0_usize;
    quietly!(d, cuModuleGetFunction(&mut function, module, name));
    function
}

/// Launches one thread.
pub(crate) fn launch(d: &Driver, function: usize, stream: usize, args: &mut [*mut c_void]) -> u32 {
    quietly!(
        d,
        cuLaunchKernel(
            function,
            1_u32,
            1_u32,
            1_u32,
            1_u32,
            1_u32,
            1_u32,
            0_u32,
            stream,
            args.as_mut_ptr() as usize,
            0_usize
        )
    )
}

pub(crate) fn pointer<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}

/// Which of some events or streams answer how, while work is held back by a host function until `release`.
pub(crate) struct Gate {
    sender: std::sync::mpsc::Sender<()>,
}

impl Gate {
    /// Holds back what is given to the stream from now on.
    pub(crate) fn close(d: &Driver, stream: usize) -> Self {
        unsafe extern "C" fn wait(receiver: *mut c_void) {
            // SAFETY: it was leaked for this call.
            let receiver =
                unsafe { Box::from_raw(receiver.cast::<std::sync::mpsc::Receiver<()>>()) };
            let _ = receiver.recv_timeout(std::time::Duration::from_secs(10));
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let receiver = Box::into_raw(Box::new(receiver)).cast::<c_void>();
        quietly!(
            d,
            cuLaunchHostFunc(stream, wait as unsafe extern "C" fn(*mut c_void), receiver)
        );
        Self { sender }
    }

    pub(crate) fn open(self) {
        let _ = self.sender.send(());
    }
}
