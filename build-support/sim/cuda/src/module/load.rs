//! Loading PTX.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use crate::code::Code;
use crate::context::Context;
use crate::driver::Driver;
use crate::module::assembler;
use crate::module::function::Settings;
use crate::module::jit::JitOptions;
use crate::module::{Function, Kernel, Library, Module};
use crate::refusal::Answer;

impl Driver {
    /// Loads PTX onto the device.
    fn load(&self, ptx: &str, options: &JitOptions) -> Answer<Arc<gpuk_sim::Module>> {
        let loaded = assembler::header(ptx, &self.profile).and_then(|()| {
            let loaded = self.device.load(ptx);
            loaded.map_err(|error| assembler::refused(&error))
        });
        loaded.map_err(|refused| {
            options.tell(&refused.log);
            refused.refusal()
        })
    }

    /// Loads PTX into a context.
    pub(crate) fn load_module(
        &self,
        context: &Arc<Context>,
        ptx: &str,
        options: &JitOptions,
    ) -> Answer<Arc<Module>> {
        let sim = self.load(ptx, options)?;
        options.tell("");
        Ok(self.add_module(context, sim, None))
    }

    fn add_module(
        &self,
        context: &Arc<Context>,
        sim: Arc<gpuk_sim::Module>,
        library: Option<usize>,
    ) -> Arc<Module> {
        self.modules.insert(|handle| Module {
            handle,
            context: Arc::clone(context),
            sim,
            library,
            functions: Mutex::new(BTreeMap::new()),
        })
    }

    /// Lets go of a module. Launches of its kernels that are under way keep it.
    pub(crate) fn unload(&self, module: &Module) {
        self.modules.remove(module.handle);
        let functions = module
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for handle in functions.values() {
            self.functions.remove(*handle);
        }
    }

    /// A module's function, the same for each who asks.
    pub(crate) fn function(&self, module: &Module, name: &str) -> Answer<Arc<Function>> {
        self.function_with(module, name, None)
    }

    fn function_with(
        &self,
        module: &Module,
        name: &str,
        settings: Option<Arc<Settings>>,
    ) -> Answer<Arc<Function>> {
        let mut known = module
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = known
            .get(name)
            .and_then(|handle| self.functions.find(*handle));
        if let Some(found) = found {
            return Ok(found);
        }
        let sim = module.sim.function(name).ok_or_else(|| {
            let all: Vec<_> = module
                .sim
                .functions()
                .iter()
                .map(|function| function.name().to_owned())
                .collect();
            Code::NOT_FOUND.because(format!(
                "the module has no kernel `{name}`; it has {}",
                listed(&all)
            ))
        })?;
        let settings = settings.unwrap_or_else(|| Arc::new(Settings::new(&sim, &self.profile)));
        let function = self.functions.insert(|handle| Function {
            handle,
            context: Arc::clone(&module.context),
            module: module.handle,
            name: CString::new(name).unwrap_or_default(),
            sim,
            settings,
        });
        known.insert(name.to_owned(), function.handle);
        Ok(function)
    }

    /// Loads PTX for whichever contexts will use it.
    pub(crate) fn load_library(&self, ptx: String, options: &JitOptions) -> Answer<Arc<Library>> {
        let first = self.load(&ptx, options)?;
        options.tell("");
        Ok(self
            .libraries
            .insert(|handle| Library::new(handle, ptx, first)))
    }

    /// A library's kernel, the same for each who asks.
    pub(crate) fn kernel(&self, library: &Arc<Library>, name: &str) -> Answer<Arc<Kernel>> {
        let mut known = library
            .kernels
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = known
            .get(name)
            .and_then(|handle| self.kernels.find(*handle));
        if let Some(found) = found {
            return Ok(found);
        }
        let sim = library.first.function(name).ok_or_else(|| {
            Code::NOT_FOUND.because(format!("the library has no kernel `{name}`"))
        })?;
        let settings = Arc::new(Settings::new(&sim, &self.profile));
        let kernel = self.kernels.insert(|handle| Kernel {
            handle,
            library: Arc::clone(library),
            name: CString::new(name).unwrap_or_default(),
            sim,
            settings,
        });
        known.insert(name.to_owned(), kernel.handle);
        Ok(kernel)
    }

    /// A library's module in a context.
    pub(crate) fn module_of(
        &self,
        library: &Library,
        context: &Arc<Context>,
    ) -> Answer<Arc<Module>> {
        let mut modules = library.modules();
        if let Some(module) = modules.get(&context.handle) {
            return Ok(Arc::clone(module));
        }
        let sim = if modules.is_empty() {
            Arc::clone(&library.first)
        } else {
            self.load(&library.ptx, &JitOptions::default())?
        };
        let module = self.add_module(context, sim, Some(library.handle));
        modules.insert(context.handle, Arc::clone(&module));
        Ok(module)
    }

    /// A kernel's function in a context.
    pub(crate) fn function_of(
        &self,
        kernel: &Kernel,
        context: &Arc<Context>,
    ) -> Answer<Arc<Function>> {
        let module = self.module_of(&kernel.library, context)?;
        let name = kernel.name.to_string_lossy();
        self.function_with(&module, &name, Some(Arc::clone(&kernel.settings)))
    }

    /// Lets go of a library, its kernels and modules.
    pub(crate) fn unload_library(&self, library: &Library) {
        self.libraries.remove(library.handle);
        drop(
            self.kernels
                .take(|kernel| kernel.library.handle == library.handle),
        );
        for module in library.modules().values() {
            self.unload(module);
        }
    }
}

/// Names, as a sentence has them.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<_> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = names.len().saturating_sub(SHOWN);
    if more > 0 {
        format!("{} and {more} more", shown.join(", "))
    } else {
        shown.join(", ")
    }
}
