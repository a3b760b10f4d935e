//! What the driver knows of memory: who allocated it, how, and whether it may still be used.
//!
//! - here: the allocations
//! - `pool`: memory pools
//! - `plan`: copies and sets as programs ask for them, checked
//!
//! The bytes are `gpuk_sim`'s. An allocation leaves the table here when the program frees it, and its bytes go
//! when the work before that is done.

pub(crate) mod plan;
pub(crate) mod pool;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use gpuk_sim::memory::window;
use gpuk_sim::{AllocationInfo, Memory};

use crate::code::Code;
use crate::graph::memory::GraphMemory;
use crate::leak::{self, Leak};
use crate::origin::Origin;
use crate::refusal::Answer;
use pool::Pool;

/// How memory was allocated, and so how it is freed.
#[derive(Debug, Clone)]
pub(crate) enum How {
    /// `cuMemAlloc`.
    Device,
    /// `cuMemAllocAsync`, from a pool.
    Pooled(Arc<Pool>),
    /// `cuMemHostAlloc`, with its flags.
    Host(u32),
    /// `cuMemHostRegister`, with its flags.
    Registered(u32),
    /// `cuMemAllocManaged`.
    Managed,
    /// By a graph.
    Graph(Weak<GraphMemory>),
}

impl How {
    /// Whether the host can use the address.
    pub(crate) const fn is_host(&self) -> bool {
        matches!(self, Self::Host(_) | Self::Registered(_) | Self::Managed)
    }

    /// Whether it is there: a graph's memory is not always.
    fn is_there(&self) -> bool {
        match self {
            Self::Graph(memory) => memory.upgrade().is_some_and(|memory| memory.is_live()),
            _ => true,
        }
    }

    /// Whether it is the host's own memory, page-locked.
    pub(crate) const fn is_pinned(&self) -> bool {
        matches!(self, Self::Host(_) | Self::Registered(_))
    }
}

/// An allocation.
#[derive(Debug, Clone)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) how: How,
    /// Handle of the context that it goes with.
    pub(crate) context: usize,
    /// Rises with every allocation.
    pub(crate) number: u64,
    /// The calls that led to it, if leaks are to name them.
    origin: Option<Origin>,
}

impl Allocation {
    const fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    fn info(&self) -> AllocationInfo {
        use gpuk_sim::memory::Kind;
        AllocationInfo {
            number: self.number,
            address: self.base,
            bytes: self.bytes,
            kind: match self.how {
                How::Host(_) => Kind::Pinned,
                How::Registered(_) => Kind::Mapped,
                How::Managed => Kind::Managed,
                How::Device | How::Pooled(_) | How::Graph(_) => Kind::Device,
            },
            name: None,
            freed: false,
        }
    }
}

#[derive(Debug, Default)]
struct Known {
    by_base: BTreeMap<u64, Allocation>,
    count: u64,
}

/// The allocations of all contexts.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    known: Mutex<Known>,
}

impl Allocations {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, base: u64, bytes: u64, how: How, context: usize) {
        let origin = leak::origin();
        let mut known = self.known();
        known.count += 1;
        let allocation = Allocation {
            base,
            bytes,
            how,
            context,
            number: known.count,
            origin,
        };
        known.by_base.insert(base, allocation);
    }

    /// The one that holds an address. A graph's counts only while it is there.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        self.find_in_graph(address)
            .filter(|found| found.how.is_there())
    }

    /// As [`find`](Self::find), for work of a graph, which runs when the graph's memory is there.
    pub(crate) fn find_in_graph(&self, address: u64) -> Option<Allocation> {
        let known = self.known();
        let (_, found) = known.by_base.range(..=address).next_back()?;
        found.holds(address).then(|| found.clone())
    }

    /// The one that begins at an address, even if it is a graph's that is not there.
    pub(crate) fn at(&self, base: u64) -> Option<Allocation> {
        self.known().by_base.get(&base).cloned()
    }

    /// Takes out the one that begins at an address, if it is of that kind.
    pub(crate) fn remove(&self, base: u64, is_meant: impl Fn(&How) -> bool) -> Option<Allocation> {
        let mut known = self.known();
        let found = known.by_base.get(&base)?;
        if !is_meant(&found.how) {
            return None;
        }
        known.by_base.remove(&base)
    }

    /// Makes a graph's memory the program's.
    pub(crate) fn adopt(&self, base: u64) {
        if let Some(found) = self.known().by_base.get_mut(&base) {
            found.how = How::Device;
        }
    }

    /// Takes out those of which that is so.
    pub(crate) fn take(&self, is_meant: impl Fn(&Allocation) -> bool) -> Vec<Allocation> {
        let mut known = self.known();
        let (taken, kept): (BTreeMap<_, _>, _) = std::mem::take(&mut known.by_base)
            .into_iter()
            .partition(|(_, allocation)| is_meant(allocation));
        known.by_base = kept;
        taken.into_values().collect()
    }

    /// Whether a range overlaps one that is known.
    pub(crate) fn overlaps(&self, base: u64, bytes: u64) -> bool {
        let end = base.saturating_add(bytes);
        let known = self.known();
        let before = known.by_base.range(..end).next_back();
        before.is_some_and(|(_, found)| found.base + found.bytes > base)
    }

    /// What a program should have freed, oldest first.
    pub(crate) fn leaks(allocations: &[Allocation]) -> Vec<Leak> {
        let mut leaks: Vec<_> = allocations
            .iter()
            // The host's own memory is not lost.
            .filter(|allocation| !matches!(allocation.how, How::Registered(_)))
            .filter(|allocation| allocation.how.is_there())
            .map(|allocation| Leak {
                info: allocation.info(),
                origin: allocation.origin.clone(),
            })
            .collect();
        leaks.sort_by_key(|leak| leak.info.number);
        leaks
    }

    pub(crate) fn all(&self) -> Vec<Allocation> {
        self.known().by_base.values().cloned().collect()
    }
}

/// Whether a number is an address of device memory, which no host pointer is.
pub(crate) const fn is_device_address(address: u64) -> bool {
    address >= window::DEVICE
}

/// Fails unless `bytes` at `address` lie in one allocation, or in a module's variable. For work of a graph its own
/// memory counts, too.
pub(crate) fn check_range(
    allocations: &Allocations,
    memory: &Memory,
    address: u64,
    bytes: u64,
    in_graph: bool,
) -> Answer {
    if bytes == 0 {
        return Ok(());
    }
    let fits = |base: u64, len: u64| address - base <= len && bytes <= len - (address - base);
    let known = if in_graph {
        allocations.find_in_graph(address)
    } else {
        allocations.find(address)
    };
    if let Some(found) = known {
        if fits(found.base, found.bytes) {
            return Ok(());
        }
        return Err(Code::INVALID_VALUE.because(format!(
            "{bytes} bytes at {address:#x} go beyond the {} bytes at {:#x}",
            found.bytes, found.base
        )));
    }
    let variable = memory
        .allocation(address)
        .filter(|found| found.name.is_some());
    match variable {
        Some(found) if fits(found.address, found.bytes) => Ok(()),
        _ => Err(Code::INVALID_VALUE.because(describe(allocations, memory, address))),
    }
}

/// What an address is that is in no allocation.
pub(crate) fn describe(allocations: &Allocations, memory: &Memory, address: u64) -> String {
    if address == 0 {
        return "the address is null".to_owned();
    }
    if let Some(found) = allocations.at(address)
        && matches!(found.how, How::Graph(_))
    {
        return format!("{address:#x} is memory of a graph that is not there now");
    }
    match memory.near(address) {
        Some(near) if near.freed => format!(
            "{address:#x} is in {} bytes at {:#x} that were freed",
            near.bytes, near.address
        ),
        Some(near) if address.wrapping_sub(near.address) < near.bytes => {
            format!(
                "{address:#x} is in {} bytes at {:#x} that are being freed",
                near.bytes, near.address
            )
        }
        Some(near) => format!(
            "{address:#x} is in no allocation; the nearest is {} bytes at {:#x}",
            near.bytes, near.address
        ),
        None => format!("{address:#x} is in no allocation"),
    }
}
