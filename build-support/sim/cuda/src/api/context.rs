//! Contexts.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::boundary::{In, Out, exported};
use crate::code::Code;
use crate::context::{self, Context};
use crate::driver::{Driver, driver};
use crate::refusal::Answer;

/// `CUctx_flags`: scheduling, host memory, local memory, core dumps, synchronous copies.
const FLAGS: u32 = 0xff;
/// Scheduling: automatic, spinning, yielding or blocking.
const SCHEDULING: [u32; 4] = [0, 1, 2, 4];
const SCHEDULING_MASK: u32 = 7;
/// `CU_CTX_MAP_HOST`, which is always so.
const MAP_HOST: u32 = 8;
/// What contexts are as new as.
const API_VERSION: u32 = 3020;
/// The priorities of streams, lowest and highest.
pub(crate) const PRIORITIES: (i32, i32) = (0, -5);

fn check_flags(flags: u32) -> Answer {
    if flags & !FLAGS != 0 || !SCHEDULING.contains(&(flags & SCHEDULING_MASK)) {
        return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
    }
    Ok(())
}

fn create(place: Out<usize>, flags: u32, device: i32) -> Answer {
    place.check()?;
    let driver = driver()?;
    driver.check_device(device)?;
    check_flags(flags)?;
    driver.check()?;
    let context = driver
        .contexts
        .insert(|handle| Context::new(handle, flags, false));
    place.put(context.handle)?;
    context::push(context)
}

/// The context of that handle, or the current one for null.
fn named(driver: &Driver, handle: usize) -> Answer<Arc<Context>> {
    if handle == 0 {
        return driver.current_of_any_state();
    }
    let context = driver.contexts.get_or(handle, Code::INVALID_CONTEXT)?;
    if !context.is_alive() && !context.is_primary {
        return Err(Code::INVALID_CONTEXT.because(format!("context {handle:#x} was destroyed")));
    }
    Ok(context)
}

/// The context of that handle to be made current. The driver takes destroyed ones.
fn to_be_current(driver: &Driver, handle: usize) -> Answer<Arc<Context>> {
    driver.contexts.get_or(handle, Code::INVALID_CONTEXT)
}

exported! {
    /// One more user of the device's primary context.
    fn cuDevicePrimaryCtxRetain(context: Out<usize>, device: i32) {
        context.check()?;
        let driver = driver()?;
        driver.check_device(device)?;
        context.put(driver.retain_primary()?.handle)
    }

    /// One user less. The last one's release destroys what is in it.
    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        driver.release_primary()
    }

    /// Destroys what is in the primary context, whoever uses it.
    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        driver.reset_primary();
        Ok(())
    }

    /// Sets how threads wait.
    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        let driver = driver()?;
        driver.check_device(device)?;
        check_flags(flags)?;
        driver.primary.flags.store(flags, Ordering::Release);
        Ok(())
    }

    /// How threads wait, and whether anybody uses the primary context.
    fn cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        let driver = driver()?;
        driver.check_device(device)?;
        flags.put(driver.primary.flags.load(Ordering::Acquire))?;
        active.put(i32::from(driver.primary.is_alive()))
    }

    /// Creates a context and makes it current.
    fn cuCtxCreate_v2(context: Out<usize>, flags: u32, device: i32) {
        create(context, flags, device)
    }

    /// As `cuCtxCreate_v2`, for some of the multiprocessors.
    fn cuCtxCreate_v3(context: Out<usize>, affinities: *mut c_void, count: i32, flags: u32, device: i32) {
        if count != 0 || !affinities.is_null() {
            return Err(Code::UNSUPPORTED_EXEC_AFFINITY.because("contexts have all multiprocessors"));
        }
        create(context, flags, device)
    }

    /// As `cuCtxCreate_v2`, with parameters: three words, of which the first two are of affinity, and the third is of
    /// graphics.
    fn cuCtxCreate_v4(context: Out<usize>, params: In<[usize; 3]>, flags: u32, device: i32) {
        if !params.is_null() && params.get()? != [0; 3] {
            return Err(Code::NOT_SUPPORTED.because("contexts have no affinity and no graphics"));
        }
        create(context, flags, device)
    }

    /// Destroys a context with all that is in it.
    fn cuCtxDestroy_v2(context: usize) {
        let driver = driver()?;
        if context == 0 {
            return Err(Code::INVALID_VALUE.because("the context is null"));
        }
        let context = driver.contexts.get_or(context, Code::INVALID_CONTEXT)?;
        if context.is_primary {
            return Err(Code::INVALID_CONTEXT.because("the primary context is released, not destroyed"));
        }
        if !context.is_alive() {
            return Err(Code::CONTEXT_IS_DESTROYED.because("the context was destroyed before"));
        }
        driver.destroy(&context);
        if context::current()?.is_some_and(|current| Arc::ptr_eq(&current, &context)) {
            context::pop()?;
        }
        Ok(())
    }

    /// Makes a context current over the one that is.
    fn cuCtxPushCurrent_v2(context: usize) {
        let driver = driver()?;
        if context == 0 {
            return Err(Code::INVALID_VALUE.because("the context is null"));
        }
        context::push(to_be_current(driver, context)?)
    }

    /// Makes the context current that was before.
    fn cuCtxPopCurrent_v2(context: Out<usize>) {
        driver()?;
        match context::pop()? {
            Some(popped) => {
                context.put_if_any(popped.handle);
                Ok(())
            }
            None => Err(Code::INVALID_CONTEXT.because("the thread has no current context")),
        }
    }

    /// Makes a context current instead of the one that is.
    fn cuCtxSetCurrent(context: usize) {
        let driver = driver()?;
        if context == 0 {
            return context::set_current(None);
        }
        context::set_current(Some(to_be_current(driver, context)?))
    }

    /// The current context, or null.
    fn cuCtxGetCurrent(context: Out<usize>) {
        driver()?;
        context.put(context::current()?.map_or(0, |context| context.handle))
    }

    /// The device of the current context.
    fn cuCtxGetDevice(device: Out<i32>) {
        driver()?.current_of_any_state()?;
        device.put(0)
    }

    /// The device of a context.
    fn cuCtxGetDevice_v2(device: Out<i32>, context: usize) {
        named(driver()?, context)?;
        device.put(0)
    }

    /// How threads wait.
    fn cuCtxGetFlags(flags: Out<u32>) {
        let context = driver()?.current_of_any_state()?;
        let known = context.flags.load(Ordering::Acquire);
        flags.put(if context.is_primary { known | MAP_HOST } else { known })
    }

    /// Sets how threads wait.
    fn cuCtxSetFlags(flags: u32) {
        let context = driver()?.current()?;
        check_flags(flags)?;
        context.flags.store(flags, Ordering::Release);
        Ok(())
    }

    /// A number that no other context of the process has.
    fn cuCtxGetId(context: usize, id: Out<u64>) {
        id.put(named(driver()?, context)?.id)
    }

    /// Waits for all work in the current context.
    fn cuCtxSynchronize() {
        let driver = driver()?;
        let context = driver.current()?;
        driver.captures.permit_wait_for(&context)?;
        driver.wait_for_all()
    }

    /// Waits for all work in a context.
    fn cuCtxSynchronize_v2(context: usize) {
        let driver = driver()?;
        let context = named(driver, context)?;
        context.check()?;
        driver.check()?;
        driver.captures.permit_wait_for(&context)?;
        driver.wait_for_all()
    }

    /// Sets a limit, which is given back but bounds nothing.
    fn cuCtxSetLimit(limit: u32, value: usize) {
        let driver = driver()?;
        let context = driver.current()?;
        driver.captures.permit()?;
        context.set_limit(limit, value)
    }

    /// A limit.
    fn cuCtxGetLimit(value: Out<usize>, limit: u32) {
        value.check()?;
        value.put(driver()?.current()?.limit(limit)?)
    }

    /// Which of cache and shared memory is preferred.
    fn cuCtxGetCacheConfig(config: Out<u32>) {
        config.put(driver()?.current()?.cache.load(Ordering::Acquire))
    }

    /// Sets which of cache and shared memory is preferred; there is no cache.
    fn cuCtxSetCacheConfig(config: u32) {
        let driver = driver()?;
        let context = driver.current()?;
        driver.captures.permit()?;
        if config > 3 {
            return Err(Code::INVALID_VALUE.because(format!("there is no preference {config}")));
        }
        context.cache.store(config, Ordering::Release);
        Ok(())
    }

    /// How wide the banks of shared memory are.
    fn cuCtxGetSharedMemConfig(config: Out<u32>) {
        config.put(driver()?.current()?.banks.load(Ordering::Acquire))
    }

    /// Sets how wide the banks of shared memory are; they are as they are.
    fn cuCtxSetSharedMemConfig(config: u32) {
        driver()?.current()?;
        if config > 2 {
            return Err(Code::INVALID_VALUE.because(format!("there is no width {config}")));
        }
        Ok(())
    }

    /// What version of the API a context is of.
    fn cuCtxGetApiVersion(context: usize, version: Out<u32>) {
        named(driver()?, context)?;
        version.put(API_VERSION)
    }

    /// The priorities that streams can have.
    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        driver()?.current()?;
        least.put_if_any(PRIORITIES.0);
        greatest.put_if_any(PRIORITIES.1);
        Ok(())
    }

    /// Forgets what is kept in the cache, which there is none of.
    fn cuCtxResetPersistingL2Cache() {
        driver()?.current().map(drop)
    }

    /// Lets the current context reach another device's memory; there is no other.
    fn cuCtxEnablePeerAccess(peer: usize, flags: u32) {
        let driver = driver()?;
        driver.current()?;
        named(driver, peer)?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("the flags are not 0"));
        }
        Err(Code::PEER_ACCESS_UNSUPPORTED.because("the contexts are of one device"))
    }

    /// Takes it back.
    fn cuCtxDisablePeerAccess(peer: usize) {
        let driver = driver()?;
        driver.current()?;
        named(driver, peer)?;
        Err(Code::PEER_ACCESS_NOT_ENABLED.because("it was not enabled"))
    }
}
