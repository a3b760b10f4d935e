//! Launches on a device. `cargo test -p gpuk --test gpu -- --ignored gpu_`
//!
//! The tests that begin otherwise are run one by one: `alone_` leaves the device's context unusable, `measure_`
//! prints times.

#![expect(unsafe_code, reason = "launching kernels")]
#![expect(clippy::unwrap_used, reason = "tests")]

mod alone;
#[allow(dead_code, unreachable_pub, reason = "generated code is public")]
#[path = "../kernels/mod.rs"]
mod kernels;
mod load;
mod payload;
mod refusal;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpuk::{CudaContext, CudaSlice, CudaStream, ErrorPayload, FailedCheck, Launch};

use kernels::Kernels;

/// A device with the kernels on it, for one test at a time: the hook is the process's.
struct Device {
    context: Arc<CudaContext>,
    kernels: Kernels,
    _alone: MutexGuard<'static, ()>,
}

impl Device {
    fn new() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let context = gpuk::device(0).unwrap();
        Self {
            kernels: Kernels::load(&context).unwrap(),
            context,
            _alone: alone,
        }
    }

    /// Gathers from four rows by these indices; those out of range fail.
    #[track_caller]
    fn gather(&self, stream: &Arc<CudaStream>, idx: &[i32]) -> (ErrorPayload, CudaSlice<f32>) {
        let src = stream.clone_htod(&[10.0_f32, 11.0, 12.0, 13.0]).unwrap();
        let idx = stream.clone_htod(idx).unwrap();
        let dst = stream.alloc_zeros(idx.len()).unwrap();
        let launch = Launch::default().block([32, 1, 1]).elements(idx.len());
        let n = i32::try_from(idx.len()).unwrap();
        // SAFETY: the buffers have as many items.
        unsafe { self.kernels.gather(stream, launch, &src, &idx, dst, n, 4) }.unwrap()
    }

    /// Occupies the stream for a while.
    #[track_caller]
    fn spin(&self, stream: &Arc<CudaStream>, cycles: u64, fail: bool) -> ErrorPayload {
        // SAFETY: the kernel accesses nothing.
        unsafe { self.kernels.spin(stream, Launch::default(), cycles, fail) }
            .unwrap()
            .0
    }
}

/// Some hundredths of a second.
const LONG: u64 = 50_000_000;

/// Counts the failures reported unread while `run` runs.
fn unread(run: impl FnOnce()) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    gpuk::set_unread_hook(move |_: &FailedCheck| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    run();
    gpuk::clear_unread_hook();
    count.load(Ordering::SeqCst)
}
