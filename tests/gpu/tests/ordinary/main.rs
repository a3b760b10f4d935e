//! Kernels as people write them, against Rust that says the same another way, and against what a device computed.

mod control;
mod device;
mod field;
mod fold;
mod hash;
mod matrix;
mod number;
mod sort;
mod template;
