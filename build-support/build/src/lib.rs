//! Compiles CUDA kernels ahead of time and generates typed Rust launch wrappers.

pub mod code;
pub mod config;
pub mod ctype;
pub mod diagnostic;
pub mod discover;
pub mod fs;
pub mod kernel;
mod message;
pub mod package;
pub mod render;
pub mod run;
pub mod source;
