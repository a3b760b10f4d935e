//! Libraries: modules without a context.

use std::ffi::{CStr, c_char};

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{KERNELS, alloc, pointer, primary};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("libraries", libraries),
    ("unloaded", unloaded),
    ("refused", refused),
];

fn load(d: &Driver) -> usize {
    let mut library = 0_usize;
    quietly!(
        d,
        cuLibraryLoadData(&mut library, KERNELS, 0, 0, 0, 0, 0, 0)
    );
    library
}

fn libraries(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let library = load(d);
    let (mut kernel, mut function, mut module, mut count) = (0_usize, 0_usize, 0_usize, 0_u32);
    say!(d, cuLibraryGetKernel(&mut kernel, library, c"store"));
    say!(d, cuLibraryGetKernel(&mut kernel, library, c"none"));
    say!(d, cuLibraryGetKernel(&mut kernel, 0, c"store"));
    say!(d, cuLibraryGetKernelCount(&mut count, library) => count);
    let mut all = [0_usize; 32];
    say!(d, cuLibraryEnumerateKernels(&mut all, 32, library) => all.iter().filter(|kernel| **kernel != 0).count());
    say!(d, cuKernelGetFunction(&mut function, kernel));
    say!(d, cuLibraryGetModule(&mut module, library));
    let mut value = 0_i32;
    say!(d, cuKernelGetAttribute(&mut value, 0, kernel, 0) => value);
    say!(d, cuKernelGetAttribute(&mut value, 0, kernel, 64));
    primary(d);
    say!(d, cuKernelGetFunction(&mut function, kernel));
    say!(d, cuLibraryGetModule(&mut module, library));
    let mut again = 0_usize;
    say!(d, cuLibraryGetModule(&mut again, library) => again == module);
    say!(d, cuModuleGetFunction(&mut again, module, c"store") => again == function);
    say!(d, cuModuleUnload(module));
    let mut of = 0_usize;
    say!(d, cuKernelGetLibrary(&mut of, kernel) => of == library);
    let mut name = 0_usize;
    say!(d, cuKernelGetName(&mut name, kernel) => text(name));
    let (mut offset, mut size) = (0_usize, 0_usize);
    say!(d, cuKernelGetParamInfo(kernel, 1, &mut offset, &mut size) => format!("{offset} {size}"));
    say!(d, cuKernelGetParamInfo(kernel, 2, &mut offset, &mut size));
    let (mut a, mut number, mut out) = (alloc(d, 4), 5_u32, 0_u32);
    let mut args = [pointer(&mut a), pointer(&mut number)];
    let args = args.as_mut_ptr() as usize;
    say!(d, cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    // SAFETY: as the driver reads it.
    unsafe { pointer(&mut number).cast::<u32>().write_volatile(6) };
    say!(d, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    say!(d, cuKernelSetAttribute(8, 1000, kernel, 0));
    say!(d, cuKernelGetAttribute(&mut value, 8, kernel, 0) => value);
    say!(d, cuFuncGetAttribute(&mut value, 8, function) => value);
    say!(d, cuKernelSetAttribute(0, 1, kernel, 0));
    say!(d, cuKernelSetCacheConfig(kernel, 1, 0));
    let (mut address, mut bytes) = (0_u64, 0_usize);
    say!(d, cuLibraryGetGlobal(&mut address, &mut bytes, library, c"factors") => bytes);
    say!(
        d,
        cuLibraryGetGlobal(&mut address, &mut bytes, library, c"none")
    );
    say!(
        d,
        cuLibraryGetManaged(&mut address, &mut bytes, library, c"factors")
    );
    say!(d, cuFuncGetModule(&mut module, function));
    say!(d, cuFuncGetName(&mut name, function) => text(name));
    say!(d, cuFuncGetAttribute(&mut value, 0, kernel));
    say!(d, cuLibraryUnload(library));
}

fn text(pointer: usize) -> String {
    // SAFETY: the driver's names end with a zero and stay.
    unsafe { CStr::from_ptr(pointer as *const c_char) }
        .to_string_lossy()
        .into_owned()
}

fn unloaded(d: &mut Driver) {
    primary(d);
    let library = load(d);
    say!(d, cuLibraryUnload(0));
    say!(d, cuLibraryUnload(library));
    say!(d, cuLibraryUnload(library));
}

fn refused(d: &mut Driver) {
    quietly!(d, cuInit(0));
    let mut library = 0_usize;
    say!(d, cuLibraryLoadData(&mut library, 0, 0, 0, 0, 0, 0, 0));
    say!(
        d,
        cuLibraryLoadData(&mut library, c"what", 0, 0, 0, 0, 0, 0)
    );
    say!(d, cuLibraryLoadData(&mut library, c".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() { call nothing; ret; }", 0, 0, 0, 0, 0, 0));
    say!(
        d,
        cuLibraryLoadFromFile(&mut library, c"/no/such/file", 0, 0, 0, 0, 0, 0)
    );
}
