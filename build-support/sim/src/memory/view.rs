//! What a launch sees of global memory: the allocations that were live when it last looked.

use std::sync::Arc;

use super::Allocation;

/// Live allocations, by rising address.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) generation: u64,
    allocations: Arc<[Arc<Allocation>]>,
}

impl View {
    pub(crate) fn new(generation: u64, allocations: Arc<[Arc<Allocation>]>) -> Self {
        Self {
            generation,
            allocations,
        }
    }

    /// The allocation at an index that [`find`](Self::find) gave.
    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> Option<&Allocation> {
        self.allocations.get(index as usize).map(|found| &**found)
    }

    /// Index of the allocation that holds `address`.
    pub(crate) fn find(&self, address: u64) -> Option<u32> {
        let after = (self.allocations).partition_point(|known| known.base <= address);
        let index = after.checked_sub(1)?;
        self.allocations[index]
            .holds(address)
            .then_some(index as u32)
    }
}
