//! The boundary to C: what every function of the library does before and after its own work.
//!
//! Arguments come in types that are a pointer to the caller and say here what may be done with it. Whoever calls a
//! C function promises that its pointers are what cuda.h says; that promise is what the `SAFETY` comments rest on.

#![expect(unsafe_code, reason = "reading and writing what callers point to")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::Code;
use crate::log::{self, Level};
use crate::refusal::Answer;

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether the thread runs a host function of a stream, which may call nothing (`cuLaunchHostFunc`).
pub(crate) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.try_with(Cell::get).unwrap_or(false)
}

/// Runs a host function of a stream.
pub(crate) fn as_host_function(run: impl FnOnce()) {
    let _ = IN_HOST_FUNCTION.try_with(|flag| flag.set(true));
    // What the caller's function does is its own business; nothing of ours is half done while it runs.
    let _ = catch_unwind(AssertUnwindSafe(run));
    let _ = IN_HOST_FUNCTION.try_with(|flag| flag.set(false));
}

/// Does the work of the function `name` and turns what comes of it into its result. No panic leaves the library.
pub(crate) fn call(name: &str, work: impl FnOnce() -> Answer) -> u32 {
    let code = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Code(0),
        Ok(Err(refusal)) => {
            if !refusal.why.is_empty() {
                // Programs that have PTX as well try machine code first.
                let level = match refusal.code {
                    Code::NO_BINARY_FOR_GPU => Level::Info,
                    _ => Level::Error,
                };
                log::line(level, &format!("`{name}`: {refusal}"));
            }
            refusal.code
        }
        Err(_) => {
            log::line(
                Level::Error,
                &format!("`{name}`: a panic inside the simulator"),
            );
            Code::UNKNOWN
        }
    };
    if log::wants(Level::Trace) {
        log::line(Level::Trace, &format!("`{name}` returns {}", code.0));
    }
    code.0
}

/// Defines functions of the library. Their bodies give an [`Answer`].
macro_rules! exported {
    ($(
        $(#[$meta:meta])*
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block
    )*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// The arguments are what cuda.h asks for.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> u32 {
            $crate::boundary::call(stringify!($name), || $body)
        }
    )*};
}

pub(crate) use exported;

/// Where a value is written.
#[derive(Debug)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// Writes, or fails if there is no place.
    pub(crate) fn put(self, value: T) -> Answer {
        self.check()?;
        // SAFETY: the caller's promise. It need not be aligned as Rust wants it.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes, unless there is no place.
    pub(crate) fn put_if_any(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as above.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    pub(crate) const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Fails if there is no place.
    pub(crate) fn check(self) -> Answer {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE.because("a place for the result is null"));
        }
        Ok(())
    }

    /// What is there now.
    pub(crate) fn get(self) -> Answer<T>
    where
        T: Copy,
    {
        self.check()?;
        // SAFETY: the caller's promise that the function may read it too.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Writes as many values as there is room for.
    pub(crate) fn put_all(self, values: impl IntoIterator<Item = T>, room: usize) {
        for (index, value) in values.into_iter().take(room).enumerate() {
            // SAFETY: the caller's promise of room for so many.
            unsafe { self.0.add(index).write_unaligned(value) };
        }
    }

    /// The same place for another type.
    pub(crate) const fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// A place that the program gave as a number.
    pub(crate) fn new(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address))
    }
}

impl Out<usize> {
    /// An item of a list, which is one that the caller was told the length of.
    pub(crate) fn at(self, index: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index).read_unaligned() }
    }

    /// Sets one.
    pub(crate) fn set_at(self, index: usize, value: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index).write_unaligned(value) };
    }
}

/// A structure or list that is read.
#[derive(Debug)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Reads, or fails if there is nothing.
    pub(crate) fn get(self) -> Answer<T> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE.because("a structure to read is null"));
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads so many values.
    pub(crate) fn list(self, count: usize) -> Answer<Vec<T>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE.because(format!("a list of {count} is null")));
        }
        // SAFETY: the caller's promise of so many.
        Ok((0..count)
            .map(|index| unsafe { self.0.add(index).read_unaligned() })
            .collect())
    }

    /// An item of a list, which is one that the caller knows to be there.
    pub(crate) fn at(self, index: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index).read_unaligned() }
    }
}

impl<T> In<T> {
    pub(crate) const fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) const fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// What is at an address that the program gave as a number.
    pub(crate) fn new(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance(address))
    }
}

/// A text that ends with a zero.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// The text, or fails if there is none.
    pub(crate) fn get(self) -> Answer<String> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE.because("a name is null"));
        }
        // SAFETY: the caller's promise of a zero at its end.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }
}

/// The bytes of a text without its zero.
///
/// # Safety
///
/// The text ends with a zero.
pub(crate) unsafe fn text_bytes<'a>(start: *const c_void) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(start.cast()) }.to_bytes()
}
