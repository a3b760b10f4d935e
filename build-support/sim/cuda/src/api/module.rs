//! Modules.

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::sync::Arc;

use crate::boundary::{In, Out, Text, exported};
use crate::code::Code;
use crate::driver::driver;
use crate::module::Module;
use crate::module::image;
use crate::module::jit::JitOptions;
use crate::refusal::Answer;

/// An image as a program gives it.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Image(*const c_void);

impl Image {
    /// The PTX in it.
    pub(super) fn ptx(self, capability: u32) -> Answer<String> {
        // SAFETY: the caller's promise.
        unsafe { image::ptx(self.0, capability) }
    }
}

/// The PTX in a file.
pub(super) fn ptx_of_file(path: &str, capability: u32) -> Answer<String> {
    let path = Path::new(path);
    let bytes = std::fs::read(path).map_err(|error| {
        let code = if path.is_dir() {
            Code::OUT_OF_MEMORY
        } else {
            Code::FILE_NOT_FOUND
        };
        code.because(format!("{}: {error}", path.display()))
    })?;
    image::ptx_of_file(&bytes, capability)
}

fn load(place: Out<usize>, image: Image, options: &JitOptions) -> Answer {
    place.check()?;
    let driver = driver()?;
    let context = driver.current()?;
    let ptx = image
        .ptx(driver.profile.capability)
        .inspect_err(|refusal| {
            options.tell(&refusal.why);
        })?;
    place.put(driver.load_module(&context, &ptx, options)?.handle)
}

fn find(module: usize) -> Answer<Arc<Module>> {
    let driver = driver()?;
    let module = driver.modules.get(module)?;
    driver.check()?;
    Ok(module)
}

fn name(name: Text) -> Answer<String> {
    let name = name.get()?;
    if name.is_empty() {
        return Err(Code::INVALID_VALUE.because("the name is empty"));
    }
    Ok(name)
}

exported! {
    /// Loads a file.
    fn cuModuleLoad(module: Out<usize>, path: Text) {
        module.check()?;
        let path = path.get()?;
        let driver = driver()?;
        let context = driver.current()?;
        let ptx = ptx_of_file(&path, driver.profile.capability)?;
        module.put(driver.load_module(&context, &ptx, &JitOptions::default())?.handle)
    }

    /// Loads an image.
    fn cuModuleLoadData(module: Out<usize>, image: Image) {
        load(module, image, &JitOptions::default())
    }

    /// Loads an image with options.
    fn cuModuleLoadDataEx(
        module: Out<usize>,
        image: Image,
        count: u32,
        options: In<u32>,
        values: Out<*mut c_void>,
    ) {
        load(module, image, &JitOptions::read(count, options, values)?)
    }

    /// Loads a fatbin.
    fn cuModuleLoadFatBinary(module: Out<usize>, image: Image) {
        load(module, image, &JitOptions::default())
    }

    /// Unloads a module.
    fn cuModuleUnload(module: usize) {
        let driver = driver()?;
        let module = find(module)?;
        driver.captures.permit()?;
        if module.library.is_some() {
            return Err(Code::NOT_PERMITTED.because("the module is a library's, and is unloaded with it"));
        }
        driver.unload(&module);
        Ok(())
    }

    /// Whether kernels are loaded when they are first used; they are loaded with their module.
    fn cuModuleGetLoadingMode(mode: Out<u32>) {
        const EAGER: u32 = 1;
        driver()?;
        mode.put(EAGER)
    }

    /// A kernel.
    fn cuModuleGetFunction(function: Out<usize>, module: usize, kernel: Text) {
        function.check()?;
        let driver = driver()?;
        let module = find(module)?;
        function.put(driver.function(&module, &name(kernel)?)?.handle)
    }

    /// How many kernels there are.
    fn cuModuleGetFunctionCount(count: Out<u32>, module: usize) {
        count.put(u32::try_from(find(module)?.sim.functions().len()).unwrap_or(u32::MAX))
    }

    /// The kernels.
    fn cuModuleEnumerateFunctions(functions: Out<usize>, room: u32, module: usize) {
        functions.check()?;
        let driver = driver()?;
        let module = find(module)?;
        let mut all = Vec::new();
        for function in module.sim.functions() {
            all.push(driver.function(&module, function.name())?.handle);
        }
        functions.put_all(all, room as usize);
        Ok(())
    }

    /// A variable.
    fn cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, module: usize, variable: Text) {
        let module = find(module)?;
        if address.is_null() && bytes.is_null() {
            return Err(Code::INVALID_VALUE.because("both places are null"));
        }
        let variable = name(variable)?;
        // As driver 580 has it; older ones say that it is not found.
        let (start, len) = module.sim.global(&variable).ok_or_else(|| {
            Code::INVALID_VALUE.because(format!("the module has no variable `{variable}`"))
        })?;
        address.put_if_any(start);
        bytes.put_if_any(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }

    /// The name of a kernel.
    fn cuFuncGetName(place: Out<*const c_char>, function: usize) {
        let function = driver()?.functions.get(function)?;
        // It stays as long as the module.
        place.put(function.name.as_ptr())
    }

    /// The module of a kernel.
    fn cuFuncGetModule(module: Out<usize>, function: usize) {
        module.put(driver()?.functions.get(function)?.module)
    }
}
