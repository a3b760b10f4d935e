//! Compiles CUDA kernels ahead of time and generates typed Rust launch wrappers.

pub mod code;
pub mod diagnostic;
pub mod kernel;
pub mod run;
