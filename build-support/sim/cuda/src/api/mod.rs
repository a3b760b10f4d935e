//! The functions of the library, by the sections of the CUDA driver API's reference.
//!
//! Handles are numbers here (see `handle`), device pointers 64-bit ones. A function that is not here is not in the
//! library: programs find that out as with an older driver.

#![expect(
    unsafe_code,
    reason = "functions of C, whose names the library has to export"
)]

pub mod capture;
pub mod context;
pub mod copy;
pub mod device;
pub mod entry;
pub mod event;
pub mod function;
pub mod graph;
pub mod host;
pub mod init;
pub mod launch;
pub mod library;
pub mod memory;
pub mod module;
pub mod node;
pub mod occupancy;
pub mod pointer;
pub mod pool;
pub mod set;
pub mod stream;
pub mod unified;
