//! The driver: the device, its work, and everything that programs have handles of.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use gpuk_sim::{Device, Options};

use crate::boundary::in_host_function;
use crate::capture::{Captures, Joined};
use crate::code::Code;
use crate::context::{self, Context};
use crate::device::Profile;
use crate::event::Event;
use crate::graph::{Body, Exec, Graph, Node};
use crate::handle::{Kind, Table};
use crate::leak;
use crate::log::{self, Level};
use crate::memory::{Allocations, How, pool::Pool};
use crate::module::{Function, Kernel, Library, Module};
use crate::queue::{Hand, Queue, Ticket};
use crate::refusal::Answer;
use crate::stream::{Defaults, LEGACY, PER_THREAD, Stream};
use crate::work::Op;

/// The driver of the process.
pub(crate) struct Driver {
    pub(crate) device: Arc<Device>,
    pub(crate) profile: Profile,
    pub(crate) queue: Queue<Op>,
    pub(crate) contexts: Table<Context>,
    pub(crate) primary: Arc<Context>,
    /// How often the primary context is retained.
    retained: Mutex<u32>,
    pub(crate) streams: Table<Stream>,
    pub(crate) defaults: Defaults,
    pub(crate) events: Table<Event>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) libraries: Table<Library>,
    pub(crate) kernels: Table<Kernel>,
    pub(crate) graphs: Table<Arc<Graph>>,
    pub(crate) nodes: Table<Node>,
    pub(crate) execs: Table<Exec>,
    pub(crate) pools: Table<Pool>,
    pub(crate) default_pool: Arc<Pool>,
    /// Handle of the pool that `cuMemAllocAsync` takes from.
    pub(crate) current_pool: Mutex<usize>,
    pub(crate) allocations: Allocations,
    pub(crate) captures: Captures,
    /// The error of the first fault; from then on nothing works in the process, as with a device.
    pub(crate) lost: AtomicU32,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();

/// Whether the environment leaves the device visible.
fn is_visible() -> bool {
    match std::env::var("CUDA_VISIBLE_DEVICES") {
        Ok(list) => {
            let first = list.split(',').next().unwrap_or_default().trim();
            first == "0" || first.starts_with("GPU-")
        }
        Err(_) => true,
    }
}

/// The version of CUDA that the driver is to be of, if the environment says.
pub(crate) fn driver_version() -> Answer<Option<u32>> {
    let Ok(text) = std::env::var("GPUK_SIM_DRIVER_VERSION") else {
        return Ok(None);
    };
    let parts = text.trim().split_once('.');
    let parsed = parts.and_then(|(major, minor)| {
        let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        (major < 1000 && minor < 100).then_some(major * 1000 + minor * 10)
    });
    match parsed {
        Some(version) => Ok(Some(version)),
        None => Err(Code::INVALID_VALUE.because(format!(
            "`GPUK_SIM_DRIVER_VERSION` is `{text}`; it takes a version of CUDA: `13.0`"
        ))),
    }
}

/// Starts the driver, once.
pub(crate) fn init() -> Answer {
    if in_host_function() {
        return Err(Code::NOT_PERMITTED.because("a host function of a stream calls the driver"));
    }
    if DRIVER.get().is_some() {
        return Ok(());
    }
    if !is_visible() {
        return Err(Code::NO_DEVICE.because("`CUDA_VISIBLE_DEVICES` hides the device"));
    }
    let options =
        Options::from_env().map_err(|error| Code::INVALID_VALUE.because(error.to_string()))?;
    let version = driver_version()?;
    leak::init()?;
    let mut is_first = false;
    DRIVER.get_or_init(|| {
        is_first = true;
        Driver::new(options, version)
    });
    if is_first {
        for (hand, name) in [(Hand::Device, "gpuk-sim"), (Hand::Host, "gpuk-sim-host")] {
            let serve = move || {
                if let Some(driver) = DRIVER.get() {
                    driver.queue.serve(hand, |op| driver.run(&op));
                }
            };
            let started = thread::Builder::new().name(name.to_owned()).spawn(serve);
            started.map_err(|error| Code::OPERATING_SYSTEM.because(error.to_string()))?;
        }
        crate::exit::at_exit();
    }
    Ok(())
}

/// The driver, however it is called.
pub(crate) fn started() -> Option<&'static Driver> {
    DRIVER.get()
}

/// The driver, for a call of a program.
pub(crate) fn driver() -> Answer<&'static Driver> {
    if in_host_function() {
        return Err(Code::NOT_PERMITTED.because("a host function of a stream calls the driver"));
    }
    DRIVER
        .get()
        .ok_or_else(|| Code::NOT_INITIALIZED.because("`cuInit` was not called, or failed"))
}

impl Driver {
    fn new(options: Options, version: Option<u32>) -> Self {
        let contexts = Table::new(Kind::Context);
        let primary = contexts.insert(|handle| Context::new(handle, 0, true));
        let pools = Table::new(Kind::Pool);
        let default_pool = pools.insert(|handle| Pool::new(handle, true));
        let profile = Profile::new(&options, version);
        let device = Device::new(options);
        device.set_printer(Some(Box::new(crate::work::run::print)));
        Self {
            profile,
            device: Arc::new(device),
            queue: Queue::new(),
            contexts,
            primary,
            retained: Mutex::new(0),
            streams: Table::new(Kind::Stream),
            defaults: Defaults::default(),
            events: Table::new(Kind::Event),
            modules: Table::new(Kind::Module),
            functions: Table::new(Kind::Function),
            libraries: Table::new(Kind::Library),
            kernels: Table::new(Kind::Kernel),
            graphs: Table::new(Kind::Graph),
            nodes: Table::new(Kind::Node),
            execs: Table::new(Kind::Exec),
            pools,
            current_pool: Mutex::new(default_pool.handle),
            default_pool,
            allocations: Allocations::default(),
            captures: Captures::default(),
            lost: AtomicU32::new(0),
        }
    }

    /// Fails unless that is the device's ordinal.
    pub(crate) fn check_device(&self, ordinal: i32) -> Answer {
        if ordinal == 0 {
            return Ok(());
        }
        Err(Code::INVALID_DEVICE.because(format!("there is no device {ordinal}, only device 0")))
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire) != 0
    }

    /// Notes a fault; the first one counts.
    pub(crate) fn lose(&self, code: Code) {
        let first = self
            .lost
            .compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
        if first.is_ok() {
            log::line(
                Level::Info,
                &format!("every call from now on returns {code}"),
            );
        }
    }

    /// Fails after a fault.
    pub(crate) fn check(&self) -> Answer {
        match self.lost.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(Code(code).into()),
        }
    }

    /// The thread's current context, alive or not.
    pub(crate) fn current_of_any_state(&self) -> Answer<Arc<Context>> {
        let current = context::current()?;
        current.ok_or_else(|| Code::INVALID_CONTEXT.because("the thread has no current context"))
    }

    /// The thread's current context, for use.
    pub(crate) fn current(&self) -> Answer<Arc<Context>> {
        let current = self.current_of_any_state()?;
        current.check()?;
        self.check()?;
        Ok(current)
    }

    /// The stream of that handle, whatever its state.
    pub(crate) fn stream_of_any_state(&self, handle: usize) -> Answer<Arc<Stream>> {
        match handle {
            0 | LEGACY => Ok(self.defaults.legacy(&self.current_of_any_state()?)),
            PER_THREAD => Ok(self.defaults.per_thread(&self.current_of_any_state()?)),
            _ => self.streams.get(handle),
        }
    }

    /// The stream of that handle, for use.
    pub(crate) fn stream(&self, handle: usize) -> Answer<Arc<Stream>> {
        let stream = self.stream_of_any_state(handle)?;
        stream.context.check()?;
        self.check()?;
        Ok(stream)
    }

    /// The event of that handle, for use.
    pub(crate) fn event(&self, handle: usize) -> Answer<Arc<Event>> {
        let event = self.events.get(handle)?;
        self.check()?;
        Ok(event)
    }

    fn retained(&self) -> MutexGuard<'_, u32> {
        self.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more user of the primary context.
    pub(crate) fn retain_primary(&self) -> Answer<Arc<Context>> {
        self.check()?;
        let mut count = self.retained();
        *count += 1;
        self.primary.set_alive(true);
        Ok(Arc::clone(&self.primary))
    }

    /// One user less.
    pub(crate) fn release_primary(&self) -> Answer {
        let mut count = self.retained();
        if *count == 0 {
            return Err(
                Code::INVALID_CONTEXT.because("the primary context is not retained any more")
            );
        }
        *count -= 1;
        if *count == 0 {
            self.destroy(&self.primary);
        }
        Ok(())
    }

    /// Destroys the primary context whoever uses it.
    pub(crate) fn reset_primary(&self) {
        *self.retained() = 0;
        self.destroy(&self.primary);
    }

    /// Ends a context with all that is in it.
    pub(crate) fn destroy(&self, context: &Arc<Context>) {
        if !context.set_alive(false) {
            return;
        }
        self.captures.drop_of(context);
        self.queue.wait_for_all();
        let is_here = |other: &Arc<Context>| Arc::ptr_eq(other, context);
        self.defaults.forget(context);
        drop(self.streams.take(|stream| is_here(&stream.context)));
        drop(self.events.take(|event| is_here(&event.context)));
        drop(self.functions.take(|function| is_here(&function.context)));
        drop(self.modules.take(|module| is_here(&module.context)));
        for library in self.libraries.select(|_| true) {
            library.modules().remove(&context.handle);
        }
        let left = self
            .allocations
            .take(|allocation| allocation.context == context.handle);
        // After a fault the program could not have freed anything.
        if !self.is_lost() {
            leak::tell(&Allocations::leaks(&left), false);
        }
        for allocation in left {
            if !matches!(allocation.how, How::Graph(_)) {
                let _ = self.device.memory().free(allocation.base);
            }
        }
        context.forget_settings();
        context.flags.store(0, Ordering::Release);
    }

    /// Gives work to a stream, or to the graph that it is captured into.
    pub(crate) fn submit(&self, stream: &Arc<Stream>, op: Op) -> Answer {
        if stream.is_legacy() {
            self.captures.permit_legacy(&stream.context)?;
        }
        if self.capture(stream, &op)? {
            return Ok(());
        }
        stream.push(&self.queue, op);
        Ok(())
    }

    /// Adds work to the graph that a stream is captured into, if it is.
    fn capture(&self, stream: &Stream, op: &Op) -> Answer<bool> {
        let mut place = stream.capture();
        let Some(Joined { capture, after }) = &mut *place else {
            return Ok(false);
        };
        if capture.is_invalid() {
            return Err(Code::STREAM_CAPTURE_INVALIDATED.because("the stream's capture is invalid"));
        }
        let handles: Vec<_> = after.iter().map(|node| node.handle).collect();
        let node = capture.graph.add(self, Body::Op(op.clone()), &handles)?;
        *after = vec![node];
        Ok(true)
    }

    /// As [`submit`](Self::submit), but done at once where that needs no other thread: for short work.
    pub(crate) fn submit_short(&self, stream: &Arc<Stream>, op: Op) -> Answer {
        match self.try_submit(stream, op)? {
            None => Ok(()),
            Some(op) => self.submit(stream, op),
        }
    }

    /// Does work at once if that needs no other thread, or captures it. Returns whether it did.
    pub(crate) fn submit_if_idle(&self, stream: &Arc<Stream>, op: Op) -> Answer<bool> {
        Ok(self.try_submit(stream, op)?.is_none())
    }

    /// The work, if it has to wait.
    fn try_submit(&self, stream: &Arc<Stream>, op: Op) -> Answer<Option<Op>> {
        if stream.is_legacy() {
            self.captures.permit_legacy(&stream.context)?;
        }
        if self.capture(stream, &op)? {
            return Ok(None);
        }
        match stream.begin(&self.queue) {
            Some(_running) => {
                self.run(&op);
                Ok(None)
            }
            None => Ok(Some(op)),
        }
    }

    /// Waits for work, and fails if there was a fault.
    pub(crate) fn wait(&self, tickets: &[Ticket]) -> Answer {
        self.queue.wait(tickets);
        self.check()
    }

    /// Waits for all work so far, and fails if there was a fault.
    pub(crate) fn wait_for_all(&self) -> Answer {
        self.queue.wait_for_all();
        self.check()
    }
}
