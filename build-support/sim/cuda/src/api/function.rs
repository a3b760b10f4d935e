//! Kernels' attributes and parameters.

use crate::boundary::{Out, exported};
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::module::Function;
use crate::module::assembler::target_number;
use crate::refusal::Answer;
use std::sync::Arc;

/// 10 times the major version of the target of a kernel's PTX, and the minor one.
pub(super) fn target(module: &gpuk_sim::Module) -> u32 {
    target_number(module.target())
}

fn find(driver: &Driver, function: usize) -> Answer<Arc<Function>> {
    let function = driver.functions.get(function)?;
    driver.check()?;
    Ok(function)
}

/// Offset and bytes of a parameter.
pub(super) fn param(function: &gpuk_sim::Function, index: usize) -> Answer<(usize, usize)> {
    let params = function.params();
    // Programs ask until there are no more.
    let param = params.get(index).ok_or(Code::INVALID_VALUE)?;
    Ok((param.offset as usize, param.size as usize))
}

exported! {
    /// An attribute of a kernel.
    fn cuFuncGetAttribute(value: Out<i32>, attribute: u32, function: usize) {
        value.check()?;
        let driver = driver()?;
        let function = find(driver, function)?;
        let target = target(function.sim.module());
        value.put(function.settings.get(attribute, &function.sim, target, &driver.profile)?)
    }

    /// Sets an attribute of a kernel.
    fn cuFuncSetAttribute(function: usize, attribute: u32, value: i32) {
        let driver = driver()?;
        let function = find(driver, function)?;
        function.settings.set(attribute, value, &function.sim, &driver.profile)
    }

    /// Sets which of cache and shared memory a kernel prefers; there is no cache.
    fn cuFuncSetCacheConfig(function: usize, config: u32) {
        find(driver()?, function)?;
        if config > 3 {
            return Err(Code::INVALID_VALUE.because(format!("there is no preference {config}")));
        }
        Ok(())
    }

    /// Sets how wide the banks of shared memory are for a kernel; they are as they are.
    fn cuFuncSetSharedMemConfig(function: usize, config: u32) {
        find(driver()?, function)?;
        if config > 2 {
            return Err(Code::INVALID_VALUE.because(format!("there is no width {config}")));
        }
        Ok(())
    }

    /// Where a parameter is among the parameters, and its bytes.
    fn cuFuncGetParamInfo(function: usize, index: usize, offset: Out<usize>, size: Out<usize>) {
        let driver = driver()?;
        let function = driver.functions.get_or(function, Code::INVALID_VALUE)?;
        let (at, bytes) = param(&function.sim, index)?;
        offset.put(at)?;
        size.put_if_any(bytes);
        Ok(())
    }

    /// Whether a kernel is loaded: with its module.
    fn cuFuncIsLoaded(state: Out<u32>, function: usize) {
        const LOADED: u32 = 1;
        find(driver()?, function)?;
        state.put(LOADED)
    }

    /// Loads a kernel.
    fn cuFuncLoad(function: usize) {
        find(driver()?, function).map(drop)
    }
}
