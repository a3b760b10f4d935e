//! Doing work.

#![expect(unsafe_code, reason = "calling the program's host functions")]

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Instant;

use gpuk_sim::AccessError;

use crate::boundary::as_host_function;
use crate::code::Code;
use crate::driver::Driver;
use crate::report;
use crate::work::{Kernel, Op};

impl Driver {
    /// Does a piece of work, whatever happens in it: nobody else would.
    pub(crate) fn run(&self, op: &Op) {
        // Of what is half done after a panic only the device's memory is seen again, and it stays consistent.
        if catch_unwind(AssertUnwindSafe(|| self.do_work(op))).is_err() {
            report::panicked();
            self.lose(Code::UNKNOWN);
        }
    }

    /// After a fault nothing is done any more but what tells the program that it is over.
    fn do_work(&self, op: &Op) {
        if let Op::Callback(callback) = op {
            let code = self.lost.load(Ordering::Acquire);
            // SAFETY: the program's promise that it may be called so.
            as_host_function(|| unsafe {
                (callback.function)(callback.stream, code, callback.data.0);
            });
            return;
        }
        if let Op::Stamp(stamp) = op {
            // Set once: a new recording has a new stamp.
            let _ = stamp.set(Instant::now());
            return;
        }
        if self.is_lost() {
            return;
        }
        let memory = self.device.memory();
        match op {
            // A launch of a graph has a stamp for each event that it records.
            Op::Nothing | Op::Record(_) | Op::Wait | Op::Callback(_) | Op::Stamp(_) => {}
            Op::Kernel(kernel) => self.launch(kernel),
            Op::Copy(copy) => self.note_access("copy", copy.run(memory)),
            Op::Fill(fill) => self.note_access("memset", fill.run(memory)),
            Op::Host(host) => {
                // SAFETY: the program's promise that it may be called so.
                as_host_function(|| unsafe { (host.function)(host.data.0) });
            }
            Op::Free(address) => {
                // Whoever asked for it has looked whether it is there.
                let _ = memory.free(*address);
            }
            Op::Allocate(memory) => memory.set_live(true),
            Op::Release(memory) => memory.set_live(false),
        }
    }

    fn launch(&self, kernel: &Kernel) {
        let result = self.device.launch(&kernel.function.sim, &kernel.launch);
        let more = match result {
            Ok(report) => {
                for finding in &report.findings {
                    report::finding(finding, &kernel.origin);
                }
                for finding in &report.allowed {
                    report::allowed(finding, &kernel.origin);
                }
                report.more
            }
            Err(fault) => {
                report::fault(&fault, &kernel.origin);
                self.lose(Code(fault.code()));
                0
            }
        };
        if more > 0 {
            report::more(more, kernel.function.sim.name());
        }
    }

    /// A copy that was right when it was asked for and cannot be done now: another thread or stream has freed the
    /// memory in between.
    fn note_access(&self, what: &str, result: Result<(), AccessError>) {
        if let Err(error) = result {
            report::access(what, &error);
            self.lose(Code::ILLEGAL_ADDRESS);
        }
    }
}

/// What a kernel printed goes where the program's own output goes.
pub(crate) fn print(text: &str) {
    if !text.is_empty() {
        let mut out = std::io::stdout();
        // A closed output is the program's business.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}
