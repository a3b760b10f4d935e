//! The end of the process.

#![expect(
    unsafe_code,
    reason = "asking the C library to call when the process ends"
)]

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::driver;
use crate::leak;
use crate::log::{self, Level};
use crate::memory::Allocations;

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// How long what was launched and never waited for may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sees to it that what is left is looked at when the process ends.
pub(crate) fn at_exit() {
    // SAFETY: the function takes nothing and may be called at any time. If it is not called, less is reported.
    let _ = unsafe { atexit(end) };
}

extern "C" fn end() {
    // Nothing can be done about a failure here.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let Some(driver) = driver::started() else {
            return;
        };
        // Its findings would be lost.
        if !driver.queue.wait_at_most(PATIENCE) {
            log::line(Level::Error, "the process ends before its kernels do");
        }
        if !driver.is_lost() {
            leak::tell(&Allocations::leaks(&driver.allocations.all()), true);
        }
    }));
}
