//! What the device and the host agree on.
//!
//! - [`HEADER`]: the text of `gpuk.cuh`, which kernels include.
//! - [`abi`]: the functions the header calls when a check fails; the PTX pass replaces those calls.
//! - [`record`]: the layout of the gate and the record that the replaced calls write and the host reads.
//! - [`driver`]: which drivers take which PTX.
//! - [`table`]: by what an image tells which checks it was made with.
//!
//! Nothing here runs but hashes; `gpuk-ptx` writes by these constants and `gpuk` reads by them.

pub mod abi;
pub mod driver;
pub mod record;
pub mod table;

/// The text of `gpuk.cuh`.
pub const HEADER: &str = include_str!("../gpuk.cuh");

/// The name kernels include the header by.
pub const HEADER_NAME: &str = "gpuk.cuh";
