//! Modules, their functions, and libraries.
//!
//! - here: what is loaded
//! - `image`, `fatbin`, `lz4`: what is given to be loaded
//! - `jit`: options of loading
//! - `assembler`: what the driver's assembler says of PTX that it refuses
//! - `load`: loading
//! - `function`: attributes
//! - `occupancy`: how many blocks fit

pub(crate) mod assembler;
pub(crate) mod fatbin;
pub(crate) mod function;
pub(crate) mod image;
pub(crate) mod jit;
pub(crate) mod load;
mod lz4;
pub(crate) mod occupancy;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::context::Context;
use function::Settings;

/// PTX that was loaded into a context.
pub(crate) struct Module {
    pub(crate) handle: usize,
    pub(crate) context: Arc<Context>,
    pub(crate) sim: Arc<gpuk_sim::Module>,
    /// Whether a library has it, so that it is not unloaded on its own.
    pub(crate) library: Option<usize>,
    /// Handles of its functions by name, as they are asked for.
    pub(crate) functions: Mutex<BTreeMap<String, usize>>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({:#x})", self.handle)
    }
}

/// A kernel of a module.
pub(crate) struct Function {
    pub(crate) handle: usize,
    pub(crate) context: Arc<Context>,
    /// Handle of the module.
    pub(crate) module: usize,
    pub(crate) name: CString,
    /// Keeps the module, and with it the variables, as long as launches need them.
    pub(crate) sim: gpuk_sim::Function,
    /// Shared with the kernel of a library.
    pub(crate) settings: Arc<Settings>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.name.to_string_lossy())
    }
}

/// PTX that is loaded into each context that uses it.
pub(crate) struct Library {
    pub(crate) handle: usize,
    /// What each context's module is loaded from.
    pub(crate) ptx: String,
    /// Loaded without a context, for names and parameters; the first context takes it.
    pub(crate) first: Arc<gpuk_sim::Module>,
    /// Modules by their contexts' handles.
    modules: Mutex<BTreeMap<usize, Arc<Module>>>,
    /// Handles of its kernels by name.
    pub(crate) kernels: Mutex<BTreeMap<String, usize>>,
}

impl Library {
    pub(crate) fn new(handle: usize, ptx: String, first: Arc<gpuk_sim::Module>) -> Self {
        Self {
            handle,
            ptx,
            first,
            modules: Mutex::default(),
            kernels: Mutex::default(),
        }
    }

    pub(crate) fn modules(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, Arc<Module>>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Library({:#x})", self.handle)
    }
}

/// A kernel of a library.
pub(crate) struct Kernel {
    pub(crate) handle: usize,
    pub(crate) library: Arc<Library>,
    pub(crate) name: CString,
    pub(crate) sim: gpuk_sim::Function,
    pub(crate) settings: Arc<Settings>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.name.to_string_lossy())
    }
}
