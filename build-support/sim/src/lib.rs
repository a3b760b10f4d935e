//! Runs PTX on the CPU and checks every access.
//!
//! [`Device`] has memory and runs launches; [`Device::load`] makes a [`Module`] of PTX; a [`Function`] of it is
//! launched with a [`Launch`]. What a kernel does wrong comes back as a [`Fault`] or a [`Finding`], with the
//! source line, the thread, the address and the allocation concerned.
//!
//! - `decode`, `program`, `family`: PTX as instructions that a warp executes for all its lanes at once
//! - `warp`, `block`, `grid`: who executes them when
//! - `memory`, `access`: where bytes lie, and whether they may be reached
//! - [`shadow`]: where checks of more than bounds are attached
//!
//! It is for testing kernels that ship on NVIDIA GPUs. It shows neither what `ptxas` and the hardware do wrong,
//! nor timing, nor reorderings of a weak memory beyond the schedules that it tries.

#![expect(
    clippy::needless_range_loop,
    reason = "a loop over lanes reads and writes several rows by the lane"
)]

mod access;
mod allow;
mod barrier;
mod block;
mod context;
mod copies;
mod decode;
mod device;
mod family;
mod fault;
mod finding;
mod float;
mod grid;
mod launch;
pub mod memory;
mod module;
mod options;
mod phase;
mod place;
mod program;
mod register;
mod seen;
pub mod shadow;
mod system;
mod transfer;
mod warp;
mod wide;
mod worker;

pub use allow::Allowed;
pub use device::{Device, Printer};
pub use fault::{Deadlock, Fault, Site, Waiting};
pub use finding::{Finding, Kind, Near, Other, Thread};
pub use launch::{Launch, Report};
pub use memory::{AccessError, AllocationInfo, FreeError, Kind as MemoryKind, Memory, OutOfMemory};
pub use module::{Complaint, Function, Global, LoadError, Module, ParamLayout, Unsupported};
pub use options::{Options, OptionsError, OutOfBounds, Races, Uninitialised};
pub use place::{Frame, Place};
