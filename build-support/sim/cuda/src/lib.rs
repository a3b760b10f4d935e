//! The CUDA driver API over gpuk's simulator: a library that programs load as `libcuda.so.1`.
//!
//! Whatever is on the loader's path under that name is the driver to a program, so a program on cudarc, with gpuk's
//! wrappers or without, runs unchanged: its PTX is executed and checked on the CPU by `gpuk_sim`. Machine code is
//! refused as code for another device is, so that programs fall back to PTX.
//!
//! - `api`: the functions, by the sections of NVIDIA's reference
//! - `boundary`: what all of them do; `refusal`, `code`: how they fail
//! - `driver`: what there is; `handle`: what programs hold of it
//! - `context`, `stream`, `event`, `capture`, `graph`: what work waits for
//! - `queue`, `order`, `work`: doing it, in the order in which it was given
//! - `memory`, `module`, `launch`, `device`: what is checked before that
//! - `report`, `leak`, `log`, `origin`, `exit`: what people are told
//!
//! # Environment
//!
//! - `GPUK_SIM_REPORT`: a file that findings are appended to, one JSON object a line (`report`); else they are
//!   drawn on standard error
//! - `GPUK_SIM_LEAKS`: what becomes of memory that is not freed (`leak`)
//! - `GPUK_SIM_LOG`: what is said of calls that fail (`log`)
//! - `GPUK_SIM_DRIVER_VERSION`: the version of CUDA that the driver says it is of, `13.0` if it is not set; the PTX
//!   that programs choose and that is taken depends on it
//! - the options of `gpuk_sim::Options`: `GPUK_SIM_…`
//! - `CUDA_VISIBLE_DEVICES`: hides the device, if it names no device 0
//!
//! # What differs from a device
//!
//! A handle that was destroyed gives an error where a device's driver may crash. Work of all streams is done in
//! the order in which it was given, so what a program forgot to wait for in another stream is not found, and a
//! kernel that waits for one of another stream never ends. After a fault the context says so as soon as it is known,
//! not when it is waited for. Memory of graphs stays mapped as long as the graph does. What the simulator does not
//! have is absent from the library: textures and arrays, interprocess and virtual memory management, external memory,
//! operations on memory from streams, linking, and the undocumented tables that CUDA's run time library needs, so
//! that programs on that do not run.
//!
//! # Its files
//!
//! Programs look for `libcuda.so` and for `libcuda.so.1`. Both names must be links to one file, or a process may
//! load two drivers.

pub mod api;
mod boundary;
mod capture;
mod code;
mod context;
mod device;
mod driver;
mod event;
mod exit;
mod graph;
mod handle;
mod launch;
mod leak;
mod log;
mod memory;
mod module;
mod order;
mod origin;
mod queue;
mod refusal;
mod report;
mod stream;
mod work;

pub use code::Code;
