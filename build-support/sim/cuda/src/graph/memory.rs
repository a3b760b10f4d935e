//! Memory that a graph allocates.
//!
//! Its address is fixed when the node is made, and the same in every launch; the memory is there from when the
//! node has run until it is freed by another node, or by the program. Here the bytes are kept as long as the graph
//! is, and whether they are there is noted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gpuk_sim::Device;

use crate::driver;
use crate::memory::How;

/// An allocation of a graph.
#[derive(Debug)]
pub(crate) struct GraphMemory {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    device: Holder,
    live: AtomicBool,
    /// Whether the capture that allocated it has freed it.
    pub(crate) freed_in_graph: AtomicBool,
}

struct Holder(Arc<Device>);

impl std::fmt::Debug for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Device")
    }
}

impl GraphMemory {
    pub(crate) fn new(device: &Arc<Device>, address: u64, bytes: u64) -> Self {
        Self {
            address,
            bytes,
            device: Holder(Arc::clone(device)),
            live: AtomicBool::new(false),
            freed_in_graph: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Ordering::Acquire)
    }

    pub(crate) fn set_live(&self, live: bool) {
        self.live.store(live, Ordering::Release);
    }
}

impl Drop for GraphMemory {
    /// The graph and everything made of it are gone. What a launch has left behind is the program's to free.
    fn drop(&mut self) {
        let Some(driver) = driver::started() else {
            return;
        };
        if self.is_live() {
            driver.allocations.adopt(self.address);
            return;
        }
        driver
            .allocations
            .remove(self.address, |how| matches!(how, How::Graph(_)));
        let _ = self.device.0.memory().free(self.address);
    }
}
