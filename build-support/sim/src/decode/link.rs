//! What the names of a module mean to its functions.

use std::collections::HashMap;

use gpuk_ptx::Name;

use crate::family::call::System;
use crate::register::Src;

/// A name of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A variable in global or constant memory: its address.
    Address(u64),
    /// A shared variable: its number.
    Shared(u32),
    /// A function with a body: its number.
    Function(u32),
    /// A function that the system brings.
    System(System),
}

/// The names of a module.
#[derive(Debug, Default)]
pub(crate) struct Link {
    pub(crate) symbols: HashMap<Name, Symbol>,
    /// The variables that functions declare, by where their names stand.
    pub(crate) inner: HashMap<usize, Symbol>,
}

/// A constant row that holds a shared variable's address, which each kernel lays out for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedPatch {
    /// The row.
    pub(crate) row: Src,
    /// Whether it is a 64-bit one.
    pub(crate) wide: bool,
    /// The variable's number.
    pub(crate) variable: u32,
    /// Bytes added.
    pub(crate) offset: i64,
}
