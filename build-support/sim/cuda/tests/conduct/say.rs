//! Calls of the driver by name, each written down with what it answered.

use std::ffi::{CStr, c_void};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use libloading::Library;

/// A driver, and where its answers are written.
pub(crate) struct Driver {
    library: Library,
    answers: File,
}

impl Driver {
    pub(crate) fn new(answers: &Path) -> Self {
        // SAFETY: a driver's library may be loaded.
        let library = unsafe { Library::new("libcuda.so.1") }.unwrap();
        Self {
            library,
            answers: File::options().append(true).open(answers).unwrap(),
        }
    }

    /// Calls a function of at most 13 parameters, none of them a floating point number. `None` if there is none.
    pub(crate) fn call(&self, name: &str, args: &[usize]) -> Option<u32> {
        type Function = unsafe extern "C" fn(
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
        ) -> u32;
        // SAFETY: integers and pointers go the same way in C, each in a word of its own, and the callee looks at no
        // more of them than it has.
        let function = unsafe { self.library.get::<Function>(name.as_bytes()) }.ok()?;
        let a: [usize; 13] = std::array::from_fn(|index| args.get(index).copied().unwrap_or(0));
        // SAFETY: as above; what the pointers point to is the scenario's business.
        Some(unsafe {
            function(
                a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
            )
        })
    }

    pub(crate) fn write(&mut self, line: &str) {
        let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(self.answers, "{line}").unwrap();
    }

    pub(crate) fn answer(&mut self, call: &str, result: Option<u32>, value: &str) {
        let call = call.replace('\n', " ");
        let mut line = match result {
            Some(code) => format!("{call} = {code}"),
            None => format!("{call} is absent"),
        };
        if result == Some(0) && !value.is_empty() {
            write!(line, " -> {value}").unwrap();
        }
        self.write(&line);
    }
}

/// What is passed to a driver's function.
pub(crate) trait Argument {
    fn word(self) -> usize;
}

macro_rules! words {
    ($($type:ty),*) => {$(
        impl Argument for $type {
            fn word(self) -> usize {
                self as usize
            }
        }
    )*};
}

words!(
    i32,
    u32,
    u64,
    usize,
    *mut c_void,
    *const c_void,
    *const u8,
    *mut u8
);

impl<T> Argument for &mut T {
    fn word(self) -> usize {
        std::ptr::from_mut(self) as usize
    }
}

impl<T> Argument for &T {
    fn word(self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

impl Argument for &CStr {
    fn word(self) -> usize {
        self.as_ptr() as usize
    }
}

impl Argument for unsafe extern "C" fn(*mut c_void) {
    fn word(self) -> usize {
        self as usize
    }
}

/// Calls, and writes down the call, its answer, and after `->` what it gave if it succeeded.
macro_rules! say {
    ($driver:expr, $name:ident($($arg:expr),* $(,)?)) => {
        say!($driver, $name($($arg),*) => "")
    };
    ($driver:expr, $name:ident($($arg:expr),* $(,)?) => $value:expr) => {{
        let result = $driver.call(stringify!($name), &[$($crate::say::Argument::word($arg)),*]);
        let text = stringify!($name($($arg),*));
        let value = $value.to_string();
        $driver.answer(text, result, &value);
        result.unwrap_or(u32::MAX)
    }};
}

/// Calls without writing.
macro_rules! quietly {
    ($driver:expr, $name:ident($($arg:expr),* $(,)?)) => {
        $driver.call(stringify!($name), &[$($crate::say::Argument::word($arg)),*]).unwrap_or(u32::MAX)
    };
}

pub(crate) use {quietly, say};
