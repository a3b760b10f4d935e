//! Libraries and their kernels.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::function::{param, target};
use super::module::{Image, ptx_of_file};
use crate::boundary::{In, Out, Text, exported};
use crate::code::Code;
use crate::driver::driver;
use crate::module::jit::JitOptions;
use crate::module::{Kernel, Library};
use crate::refusal::Answer;

fn find(library: usize) -> Answer<Arc<Library>> {
    driver()?.libraries.get(library)
}

fn kernel(kernel: usize) -> Answer<Arc<Kernel>> {
    driver()?.kernels.get(kernel)
}

exported! {
    /// Loads an image. Unlike a device's driver this looks at it at once, not when a kernel is asked for.
    fn cuLibraryLoadData(
        library: Out<usize>,
        image: Image,
        jit_options: In<u32>,
        jit_values: Out<*mut c_void>,
        jit_count: u32,
        options: In<u32>,
        values: In<*mut c_void>,
        count: u32,
    ) {
        let _ = (options, values, count);
        library.check()?;
        let driver = driver()?;
        let options = JitOptions::read(jit_count, jit_options, jit_values)?;
        let ptx = image.ptx(driver.profile.capability).inspect_err(|refusal| options.tell(&refusal.why))?;
        library.put(driver.load_library(ptx, &options)?.handle)
    }

    /// Loads a file.
    fn cuLibraryLoadFromFile(
        library: Out<usize>,
        path: Text,
        jit_options: In<u32>,
        jit_values: Out<*mut c_void>,
        jit_count: u32,
        options: In<u32>,
        values: In<*mut c_void>,
        count: u32,
    ) {
        let _ = (options, values, count);
        library.check()?;
        let path = path.get()?;
        let driver = driver()?;
        let options = JitOptions::read(jit_count, jit_options, jit_values)?;
        let ptx = ptx_of_file(&path, driver.profile.capability)?;
        library.put(driver.load_library(ptx, &options)?.handle)
    }

    /// Unloads a library.
    fn cuLibraryUnload(library: usize) {
        let driver = driver()?;
        driver.unload_library(&*find(library)?);
        Ok(())
    }

    /// A kernel.
    fn cuLibraryGetKernel(place: Out<usize>, library: usize, name: Text) {
        place.check()?;
        let library = find(library)?;
        place.put(driver()?.kernel(&library, &name.get()?)?.handle)
    }

    /// How many kernels there are.
    fn cuLibraryGetKernelCount(count: Out<u32>, library: usize) {
        count.put(u32::try_from(find(library)?.first.functions().len()).unwrap_or(u32::MAX))
    }

    /// The kernels.
    fn cuLibraryEnumerateKernels(kernels: Out<usize>, room: u32, library: usize) {
        kernels.check()?;
        let driver = driver()?;
        let library = find(library)?;
        let mut all = Vec::new();
        for function in library.first.functions() {
            all.push(driver.kernel(&library, function.name())?.handle);
        }
        kernels.put_all(all, room as usize);
        Ok(())
    }

    /// The library's module in the current context.
    fn cuLibraryGetModule(module: Out<usize>, library: usize) {
        let driver = driver()?;
        let library = find(library)?;
        let context = driver.current()?;
        module.put(driver.module_of(&library, &context)?.handle)
    }

    /// A variable, in the current context.
    fn cuLibraryGetGlobal(address: Out<u64>, bytes: Out<usize>, library: usize, name: Text) {
        let driver = driver()?;
        let library = find(library)?;
        let context = driver.current()?;
        let name = name.get()?;
        let module = driver.module_of(&library, &context)?;
        let (start, len) = module.sim.global(&name).ok_or_else(|| {
            Code::NOT_FOUND.because(format!("the library has no variable `{name}`"))
        })?;
        address.put_if_any(start);
        bytes.put_if_any(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }

    /// A managed variable, which PTX has none of.
    fn cuLibraryGetManaged(address: Out<u64>, bytes: Out<usize>, library: usize, name: Text) {
        let _ = (address, bytes);
        find(library)?;
        Err(Code::NOT_FOUND.because(format!("the library has no managed variable `{}`", name.get()?)))
    }

    /// A kernel's function in the current context.
    fn cuKernelGetFunction(function: Out<usize>, of: usize) {
        let driver = driver()?;
        let of = kernel(of)?;
        let context = driver.current()?;
        function.put(driver.function_of(&of, &context)?.handle)
    }

    /// A kernel's library.
    fn cuKernelGetLibrary(library: Out<usize>, of: usize) {
        library.put(kernel(of)?.library.handle)
    }

    /// A kernel's name, which stays as long as its library.
    fn cuKernelGetName(name: Out<*const c_char>, of: usize) {
        name.put(kernel(of)?.name.as_ptr())
    }

    /// An attribute of a kernel.
    fn cuKernelGetAttribute(value: Out<i32>, attribute: u32, of: usize, device: i32) {
        let driver = driver()?;
        let of = kernel(of)?;
        driver.check_device(device)?;
        let target = target(&of.library.first);
        value.put(of.settings.get(attribute, &of.sim, target, &driver.profile)?)
    }

    /// Sets an attribute of a kernel.
    fn cuKernelSetAttribute(attribute: u32, value: i32, of: usize, device: i32) {
        let driver = driver()?;
        let of = kernel(of)?;
        driver.check_device(device)?;
        of.settings.set(attribute, value, &of.sim, &driver.profile)
    }

    /// Sets which of cache and shared memory a kernel prefers; there is no cache.
    fn cuKernelSetCacheConfig(of: usize, config: u32, device: i32) {
        kernel(of)?;
        driver()?.check_device(device)?;
        if config > 3 {
            return Err(Code::INVALID_VALUE.because(format!("there is no preference {config}")));
        }
        Ok(())
    }

    /// Where a parameter is among the parameters, and its bytes.
    fn cuKernelGetParamInfo(of: usize, index: usize, offset: Out<usize>, size: Out<usize>) {
        let (at, bytes) = param(&kernel(of)?.sim, index)?;
        offset.put(at)?;
        size.put_if_any(bytes);
        Ok(())
    }
}
