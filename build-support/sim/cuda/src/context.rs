//! Contexts, and which of them is a thread's current one.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::code::Code;
use crate::order::Order;
use crate::refusal::Answer;

/// A context of the device.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) handle: usize,
    /// What `cuCtxGetId` gives.
    pub(crate) id: u64,
    /// Whether it is the device's primary context, which is never gone for good.
    pub(crate) is_primary: bool,
    /// `CUctx_flags`.
    pub(crate) flags: AtomicU32,
    /// `CUfunc_cache`.
    pub(crate) cache: AtomicU32,
    /// `CUsharedconfig`.
    pub(crate) banks: AtomicU32,
    /// What its streams wait for of each other.
    pub(crate) order: Mutex<Order>,
    /// By `CUlimit`.
    limits: Mutex<[Option<usize>; LIMITS]>,
    alive: AtomicBool,
}

const LIMITS: usize = 10;

/// What `cuCtxGetLimit` gives on a device of compute capability 9.0; `None` for what it does not have.
const DEFAULT_LIMITS: [Option<usize>; LIMITS] = [
    Some(1024),
    Some(8_650_752),
    Some(8 << 20),
    None,
    Some(2048),
    Some(64),
    Some(11_796_480),
    Some(232_448),
    Some(0),
    None,
];

impl Context {
    pub(crate) fn new(handle: usize, flags: u32, is_primary: bool) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        Self {
            handle,
            id: COUNT.fetch_add(1, Ordering::Relaxed),
            is_primary,
            flags: AtomicU32::new(flags),
            cache: AtomicU32::new(0),
            banks: AtomicU32::new(1),
            order: Mutex::default(),
            limits: Mutex::new(DEFAULT_LIMITS),
            alive: AtomicBool::new(!is_primary),
        }
    }

    /// Whether it can be used.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Makes it usable or not. Returns whether it was.
    pub(crate) fn set_alive(&self, alive: bool) -> bool {
        self.alive.swap(alive, Ordering::AcqRel)
    }

    /// Fails if it was destroyed.
    pub(crate) fn check(&self) -> Answer {
        if self.is_alive() {
            return Ok(());
        }
        let what = if self.is_primary {
            "the primary context was released by all or reset"
        } else {
            "the current context was destroyed"
        };
        Err(Code::CONTEXT_IS_DESTROYED.because(what))
    }

    /// A limit's value.
    pub(crate) fn limit(&self, limit: u32) -> Answer<usize> {
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let value = limits.get(limit as usize).copied();
        value
            .ok_or_else(|| Code::INVALID_VALUE.because(format!("there is no limit {limit}")))?
            .ok_or_else(|| Code::UNSUPPORTED_LIMIT.into())
    }

    /// Sets a limit. It bounds nothing here, but is given back.
    pub(crate) fn set_limit(&self, limit: u32, value: usize) -> Answer {
        let known = self.limit(limit)?;
        let value = match limit {
            0 if value > 512 << 10 => {
                return Err(Code::INVALID_VALUE.because(format!("a stack of {value} bytes")));
            }
            // The device's smallest buffers.
            1 => value.max(512 << 10),
            2 => value.max(4 << 20),
            // Of cache, which is not simulated, and what the device fixes.
            5 | 7 => known,
            _ => value,
        };
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = limits.get_mut(limit as usize) {
            *place = Some(value);
        }
        Ok(())
    }

    /// As new.
    pub(crate) fn forget_settings(&self) {
        self.cache.store(0, Ordering::Release);
        self.banks.store(1, Ordering::Release);
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = DEFAULT_LIMITS;
    }
}

thread_local! {
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
}

/// The thread's stack of current contexts; the last is current.
fn stack<T>(with: impl FnOnce(&mut Vec<Arc<Context>>) -> T) -> Answer<T> {
    STACK
        .try_with(|stack| with(&mut stack.borrow_mut()))
        // A destructor of the thread calls, after ours.
        .map_err(|_| Code::DEINITIALIZED.because("the thread is ending"))
}

/// The thread's current context, whatever its state.
pub(crate) fn current() -> Answer<Option<Arc<Context>>> {
    stack(|stack| stack.last().map(Arc::clone))
}

/// Replaces the current context; without another one it is popped.
pub(crate) fn set_current(context: Option<Arc<Context>>) -> Answer {
    stack(|stack| {
        stack.pop();
        stack.extend(context);
    })
}

pub(crate) fn push(context: Arc<Context>) -> Answer {
    stack(|stack| stack.push(context))
}

pub(crate) fn pop() -> Answer<Option<Arc<Context>>> {
    stack(Vec::pop)
}
