//! Where checks of more than bounds are attached: races and uninitialised memory.
//!
//! The engine is compiled once for each [`Shadow`]. With [`Off`] every call is empty and
//! [`ACTIVE`](Shadow::ACTIVE) removes what prepares it, so checking bounds alone pays nothing.
//!
//! How the engine calls it, all on the thread that runs the block:
//!
//! - [`launch`](Shadow::launch) once, before any block.
//! - [`block_start`](Shadow::block_start) when a block becomes resident, [`block_end`](Shadow::block_end) when
//!   its last thread is gone. What lies between goes with the block as `&mut Self::Block`. Blocks of one launch run
//!   on several cores at once, so what they share in `self` must be `Sync`.
//! - [`load`](Shadow::load), [`store`](Shadow::store), [`atomic`](Shadow::atomic) once for each instruction that
//!   a warp executes on global or shared memory (generic addresses come as what they point to; constant memory as
//!   `Space::Const`; parameters and local memory do not come), after bounds and alignment were found right and
//!   before the bytes are moved; [`moved`](Shadow::moved) after that for strong reads and atomic operations. A warp whose lanes lie in several spaces or allocations gives a call for each part.
//! - [`barrier`](Shadow::barrier) when the last thread arrives at a barrier of the block, once for all that waited
//!   or did `bar.arrive`, of which [`arrive`](Shadow::arrive) told when; [`warp_sync`](Shadow::warp_sync) when the
//!   named lanes of a warp met at a `.sync` instruction (`bar.warp.sync`, `shfl.sync`, `vote.sync` and so on);
//!   [`fence`](Shadow::fence) for `membar` and `fence`; [`cluster_arrive`](Shadow::cluster_arrive) for lanes that
//!   come to the barrier of a cluster and [`cluster_barrier`](Shadow::cluster_barrier) for all its blocks once it
//!   is complete.
//!
//! An instruction that moves bytes later than it is executed (`cp.async` and bulk copies) shows what it reads with
//! `load` when it is issued and what it writes with `store` when the bytes land, both as accesses of the thread that
//! issued it: `seen::global` and `seen::shared`. What it lands before
//! (`cp.async.wait_group`, an `mbarrier`) needs no call if it is the issuing thread that waits; if others wait, the
//! wait is an acquire and the arrival a release of the `mbarrier`'s address: show both as `atomic` accesses with
//! these semantics. One that reads or writes for a warp as a whole (`ldmatrix`, `stmatrix`) shows each lane's own
//! row.
//!
//! An `Err` ends the launch with that finding; one to report and go on after goes into
//! [`Shadow::findings`], from which the engine takes them at the block's end.
//!
//! `Checks` is what the options ask for:
//!
//! - `checks`: which check sees which access
//! - `race`: whether an access is ordered after the others of the same bytes
//! - `pass`: what can be told of a page alone, as fast as can be
//! - `page`: who accessed which bytes last; `log`: who else did, in the block
//! - `clock`: what the threads of a block know of each other; `order`: of other blocks, by what they say to each
//!   other in memory

mod checks;
mod clock;
mod log;
mod order;
mod page;
mod pass;
mod race;

pub(crate) use self::checks::Checks;

use crate::finding::Kind;
use crate::memory::{Kind as MemoryKind, Written};
use crate::register::LANES;

/// A state space that a shadow sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory. Addresses are generic ones.
    Global,
    /// A block's shared memory. Addresses are offsets.
    Shared,
    /// Constant memory. Addresses are generic ones.
    Const,
}

/// How far an access or a fence reaches (PTX ISA 8.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// No scope: a weak access.
    Weak,
    /// Block.
    Cta,
    /// Cluster.
    Cluster,
    /// Device.
    Gpu,
    /// Everything.
    Sys,
}

/// What an access orders (PTX ISA 8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Semantics {
    /// `.weak`, or nothing said.
    Weak,
    /// `.volatile` or `.mmio`.
    Volatile,
    /// `.relaxed`.
    Relaxed,
    /// `.acquire`.
    Acquire,
    /// `.release`.
    Release,
    /// `.acq_rel`.
    AcquireRelease,
    /// `.sc`, of fences.
    SequentiallyConsistent,
}

/// The properties of an instruction that accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Where.
    pub space: Space,
    /// Bytes of each lane, all elements of a vector together.
    pub bytes: u32,
    /// What it orders.
    pub semantics: Semantics,
    /// Whom it is ordered for.
    pub scope: Scope,
    /// `ld.global.nc`: through the cache that does not see writes.
    pub non_coherent: bool,
    /// Number of the instruction in its module, for [`crate::Module::place`].
    pub instruction: u32,
}

/// The lanes of an access.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<'a> {
    /// Number of the warp in its block.
    pub warp: u32,
    /// Which lanes access memory.
    pub mask: u32,
    /// The first address of each lane, in the space's own numbers; those of other lanes mean nothing.
    pub addresses: &'a [u64; LANES],
    /// The allocation that all of them lie in, for global and constant memory.
    pub allocation: Option<Allocation>,
    /// Which of its bytes were written, if that is kept account of.
    pub written: Option<&'a Written>,
    /// The number of the block whose shared memory it is, if it is another one's than the lanes'.
    pub owner: Option<u64>,
}

/// An allocation, as a shadow sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Rises with every allocation of a device and never comes again.
    pub number: u64,
    /// Its first address.
    pub base: u64,
    /// Its bytes.
    pub bytes: u64,
    /// What it is for.
    pub kind: MemoryKind,
}

/// A block that becomes resident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockStart {
    /// `blockIdx`.
    pub index: [u32; 3],
    /// Its number in the grid, x running fastest.
    pub linear: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of its shared memory, static and dynamic.
    pub shared: u32,
}

/// A launch that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchStart {
    /// `gridDim`.
    pub grid: [u32; 3],
    /// `blockDim`.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
}

/// What a shadow found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What is wrong.
    pub kind: Kind,
    /// The instruction's number.
    pub instruction: u32,
    /// The block's number in the grid.
    pub block: u64,
    /// The thread's number in its block.
    pub thread: u32,
    /// The first address concerned, in the space's own numbers.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
    /// Where.
    pub space: Space,
    /// The other access of a race.
    pub other: Option<OtherAccess>,
    /// One sentence.
    pub text: String,
}

impl Found {
    /// What is the same for findings that are one, found by several threads or blocks.
    pub(crate) fn key(&self) -> (Kind, u32, Option<u32>) {
        let other = self.other.map(|other| other.instruction);
        (self.kind, self.instruction, other)
    }
}

/// The other access of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherAccess {
    /// The instruction's number.
    pub instruction: u32,
    /// The block's number in the grid.
    pub block: u64,
    /// The thread's number in its block.
    pub thread: u32,
    /// `read`, `write` or `atomic`.
    pub access: &'static str,
}

/// Whether the bytes that a lane writes are another's, or those that are there.
pub type Same<'a> = dyn Fn(usize, Option<usize>) -> bool + 'a;

/// Sees every access and every synchronisation of a launch.
#[expect(
    unused_variables,
    reason = "what a shadow does not look at needs no body"
)]
pub trait Shadow: Sync {
    /// Whether anything is looked at; the engine prepares nothing for a shadow that does not.
    const ACTIVE: bool;
    /// What belongs to a resident block.
    type Block: Send;

    /// A launch begins.
    fn launch(&self, launch: &LaunchStart) {}

    /// A block becomes resident.
    fn block_start(&self, block: &BlockStart) -> Self::Block;

    /// A block's last thread is gone.
    fn block_end(&self, block: &mut Self::Block) {}

    /// Lanes read.
    ///
    /// # Errors
    ///
    /// With what ends the launch.
    fn load(
        &self,
        block: &mut Self::Block,
        access: &Access,
        lanes: &Lanes<'_>,
    ) -> Result<(), Box<Found>> {
        Ok(())
    }

    /// Lanes write. `same` says whether the bytes that a lane writes are those that another lane writes, or,
    /// without another one, those that are there.
    ///
    /// # Errors
    ///
    /// With what ends the launch.
    fn store(
        &self,
        block: &mut Self::Block,
        access: &Access,
        lanes: &Lanes<'_>,
        same: &Same<'_>,
    ) -> Result<(), Box<Found>> {
        Ok(())
    }

    /// Lanes read, and write what they made of it, each at once.
    ///
    /// # Errors
    ///
    /// With what ends the launch.
    fn atomic(
        &self,
        block: &mut Self::Block,
        access: &Access,
        lanes: &Lanes<'_>,
    ) -> Result<(), Box<Found>> {
        Ok(())
    }

    /// Strong reads and atomic operations have moved their bytes. Another core may have written them, and said so,
    /// since the access was shown.
    fn moved(&self, block: &mut Self::Block, access: &Access, lanes: &Lanes<'_>) {}

    /// Lanes came to a barrier of the block and do not wait.
    fn arrive(&self, block: &mut Self::Block, number: u32, warp: u32, lanes: u32) {}

    /// Threads met at a barrier of the block; `members` has a mask of lanes for each warp, `live` those that have not
    /// left.
    fn barrier(&self, block: &mut Self::Block, number: u32, members: &[u32], live: &[u32]) {}

    /// Lanes came to the barrier of their cluster; they wait with another instruction.
    fn cluster_arrive(&self, block: &mut Self::Block, warp: u32, lanes: u32) {}

    /// The blocks of a cluster met.
    fn cluster_barrier(&self, blocks: &mut [&mut Self::Block]) {}

    /// Lanes of a warp met at a `.sync` instruction; `live` are those of the warp that have not left.
    fn warp_sync(&self, block: &mut Self::Block, warp: u32, members: u32, live: u32) {}

    /// Lanes of a warp executed a fence.
    fn fence(
        &self,
        block: &mut Self::Block,
        warp: u32,
        mask: u32,
        scope: Scope,
        semantics: Semantics,
    ) {
    }

    /// What was found and is to be reported without ending the launch.
    fn findings(&self, block: &mut Self::Block) -> Vec<Found> {
        Vec::new()
    }
}

/// Looks at nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Off;

impl Shadow for Off {
    const ACTIVE: bool = false;
    type Block = ();

    #[inline(always)]
    fn block_start(&self, _block: &BlockStart) {}
}
