//! Kernels of gpuk's own, that carry outcomes from slot to slot in the order of a stream: to where a later launch
//! looks for a failure before it, and out of a graph's slots after each replay. What a slot is, is `slot`'s.

#![expect(unsafe_code, reason = "launching kernels")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaContext, CudaFunction, CudaStream};
use cudarc::nvrtc::Ptx;

use crate::call;
use crate::driver::DriverError;
use crate::launch::Launch;
use crate::slot::Slot;

/// Addresses that one launch takes; a kernel's parameters have room for 4096 bytes (CUDA programming guide, function
/// parameters).
const ADDRESSES: usize = 480;

/// The kernels in a context.
#[derive(Debug)]
pub(crate) struct Relay {
    fold: CudaFunction,
    carry: CudaFunction,
}

impl Relay {
    /// The context is current.
    pub(crate) fn load(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let module = context.load_module(Ptx::from_src(include_str!("relay.ptx")))?;
        Ok(Self {
            fold: module.load_function("gpuk_fold")?,
            carry: module.load_function("gpuk_move")?,
        })
    }

    /// Lets the launches that look at this gate know of failures in these slots, which may be another context's.
    ///
    /// The stream's context is current, and all work on the slots comes before.
    pub(crate) fn fold(
        &self,
        stream: &CudaStream,
        from: &[Slot],
        to: Slot,
    ) -> Result<(), DriverError> {
        let records: Vec<_> = from.iter().map(Slot::mapped).collect();
        rows(&records)
            .try_for_each(|(addresses, count)| self.fold_row(stream, &addresses, count, to))
    }

    /// Lets the launches that look at this gate know of a failure. The stream's context is current.
    pub(crate) fn fold_failure(&self, stream: &CudaStream, to: Slot) -> Result<(), DriverError> {
        self.fold_row(stream, &[0; ADDRESSES], 0, to)
    }

    fn fold_row(
        &self,
        stream: &CudaStream,
        addresses: &[CUdeviceptr; ADDRESSES],
        count: u32,
        to: Slot,
    ) -> Result<(), DriverError> {
        let to = to.gate();
        let arguments = [pointer(addresses), pointer(&count), pointer(&to)];
        launch(&self.fold, stream, arguments)
    }

    /// Moves the first failure in these slots to another one, with its index among them, and makes them as new.
    ///
    /// The stream's context is current, and all work on the slots comes before, on this stream.
    pub(crate) fn carry(
        &self,
        stream: &CudaStream,
        from: &[Slot],
        to: Slot,
    ) -> Result<(), DriverError> {
        let gates: Vec<_> = from.iter().map(Slot::gate).collect();
        let mut number = 0_u32;
        for (addresses, count) in rows(&gates) {
            let to = to.gate();
            let arguments = [
                pointer(&addresses),
                pointer(&count),
                pointer(&number),
                pointer(&to),
            ];
            launch(&self.carry, stream, arguments)?;
            number += count;
        }
        Ok(())
    }
}

/// The addresses by launches.
fn rows(all: &[CUdeviceptr]) -> impl Iterator<Item = ([CUdeviceptr; ADDRESSES], u32)> {
    all.chunks(ADDRESSES).map(|some| {
        let mut row = [0; ADDRESSES];
        row[..some.len()].copy_from_slice(some);
        (row, some.len() as u32)
    })
}

fn pointer<T>(value: &T) -> *mut c_void {
    ptr::from_ref(value).cast_mut().cast()
}

fn launch<const N: usize>(
    function: &CudaFunction,
    stream: &CudaStream,
    mut arguments: [*mut c_void; N],
) -> Result<(), DriverError> {
    let launch = Launch::default().block([ADDRESSES as u32, 1, 1]);
    // SAFETY: the arguments are those of `relay.cu`.
    unsafe { call::launch(function, stream, &launch, &mut arguments) }
}

#[cfg(test)]
mod tests {
    use gpuk_device::record::{PRIOR, gate, payload};

    use super::*;

    #[test]
    fn the_kernels_have_the_layout_of_the_record() {
        let source = include_str!("relay.cu");
        let words = |bytes: usize| bytes / 8;
        for line in [
            format!("RECORD_WORDS = {};", words(payload::SIZE)),
            format!("FIRST_WORD = {};", words(payload::FIRST)),
            format!("VALUES_WORD = {};", words(payload::VALUES)),
            format!("STATE = {};", payload::STATE / 4),
            format!("COUNTERS = {};", gate::COUNTERS),
            format!("ADDRESSES = {ADDRESSES};"),
            format!("PRIOR = 1u << {};", PRIOR.trailing_zeros()),
        ] {
            assert!(source.contains(&line), "{line}");
        }
        let gate = [
            gate::BEST,
            gate::RECORD,
            gate::SKIPPED,
            gate::COUNTS,
            gate::COUNTER_STRIDE,
        ];
        assert_eq!(gate, [0, 8, 16, 128, 128]);
        assert_eq!(payload::LAUNCH, 0);
        let ptx = include_str!("relay.ptx");
        assert!(ptx.contains(&format!("gpuk_move_param_0[{}]", 8 * ADDRESSES)));
    }
}
