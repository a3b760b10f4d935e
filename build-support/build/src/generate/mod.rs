//! Draws the Rust wrappers of a package's kernels: pure functions from [`ModuleBindings`] to text.
//!
//! A file of kernels becomes a module: `Kernels` with one `unsafe` method per kernel, the structs its kernels
//! take, and the images. [`package`] joins the modules of a package into the `kernels.rs` that the crate
//! `include!`s; nothing here writes it. The text is laid out as rustfmt does, carries no time and no absolute
//! path of its own, and names everything from the root (`::gpuk`, `::std`, `::core`), so that it compiles in
//! any module of any edition from 2018.
//!
//! Launching is `unsafe`, so a crate that includes the wrappers cannot `#![forbid(unsafe_code)]`; it may
//! `#![deny(unsafe_code)]`, which the modules allow for themselves.
//!
//! Names are the kernels' own, see [`module_names`] for modules and `names` for the rest.

mod annotated;
mod bindings;
mod describe;
mod docs;
mod enumeration;
mod expr;
mod function;
mod generics;
mod ident;
mod image;
mod instances;
mod kernel;
mod layout;
mod method;
mod module;
mod names;
mod needs;
mod out;
mod shared;
mod structure;
mod symbol;
mod template;
mod types;
mod variant;
mod view;

pub(crate) use image::slashed;

pub use bindings::{ImageBinding, ImageKind, ModuleBindings, Variant};
pub use function::host_signature;
pub use method::signature;
pub(crate) use module::ABI;
pub use module::{module, package};
pub use names::module_names;
