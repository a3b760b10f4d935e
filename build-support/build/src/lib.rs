//! Compiles CUDA kernels ahead of time and generates typed Rust launch wrappers.
//!
//! A build script is one line, `fn main() { gpuk_build::main() }`; what is compiled and how is said in
//! `[package.metadata.gpuk]`, see [`config::Config`]. The crate takes the wrappers in by
//! `gpuk::include_kernels!()` and launches through them with the crate `gpuk`.
//!
//! [`pipeline`] is the page to read first: it calls the stages in order. `cargo gpuk` drives the same pipeline.

pub mod annotation;
mod archs;
mod budget;
mod capture;
mod cargo;
mod check;
pub mod code;
pub mod commands;
pub mod config;
mod ctype;
pub mod diagnostic;
mod digest;
pub mod discover;
mod driver;
mod drivers;
mod emit;
pub mod env;
pub mod error;
pub mod explain;
mod folders;
mod fresh;
pub mod fs;
pub mod function;
pub mod generate;
pub mod headers;
pub mod host;
pub mod inspect;
pub mod instance;
mod join;
pub mod kernel;
mod make;
mod message;
mod outline;
pub mod package;
mod peak;
pub mod pipeline;
pub mod pool;
mod probe;
pub mod progress;
mod prune;
mod recipe;
pub mod render;
pub mod report;
pub mod resources;
mod response;
pub mod run;
mod signature;
pub mod site;
mod source;
mod store;
pub mod toolchain;
mod tools;
mod unit;
pub mod vendor;
mod work;
mod wrap;

pub use driver::{Build, ScriptError, main};
