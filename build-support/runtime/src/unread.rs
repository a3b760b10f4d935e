//! What becomes of failures that nobody read.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use crate::failure::FailedCheck;

type Hook = Arc<dyn Fn(&FailedCheck) + Send + Sync>;

static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

/// Calls `hook` for each failure whose [`ErrorPayload`](crate::ErrorPayload) was dropped unread, instead of
/// writing it to the standard error output.
///
/// The hook runs on whichever thread finds the failure, some time after the launch, at the latest when the
/// context's last kernels are dropped or in [`settle`](crate::settle). A panic in it goes no further.
pub fn set_unread_hook(hook: impl Fn(&FailedCheck) + Send + Sync + 'static) {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
}

/// Undoes [`set_unread_hook`].
pub fn clear_unread_hook() {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Says that a check failed and nobody asked. Called from `Drop`, so it never panics.
pub(crate) fn report(failed: &FailedCheck) {
    // Cloned, so that the hook can set another.
    let hook = HOOK.read().unwrap_or_else(PoisonError::into_inner).clone();
    match hook {
        // The panic's own hook has printed it.
        Some(hook) => drop(catch_unwind(AssertUnwindSafe(|| hook(failed)))),
        // Whoever closed the standard error output does not want to know.
        None => drop(writeln!(
            io::stderr().lock(),
            "warning: an error payload was dropped unread\n{failed}"
        )),
    }
}
