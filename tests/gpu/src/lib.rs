//! The wrappers of `kernels/`. Their tests need a device; here they have to compile without a warning.
#![deny(warnings, missing_docs)]

pub mod recorded;

gpuk::include_kernels!();
