//! Where in the program a launch was asked for.
//!
//! The driver API does not say; the calling thread's stack does, if the program has line information. The frames
//! are taken at each launch, which costs some microseconds, and looked up only when there is something to report.

use std::backtrace::Backtrace;
use std::fmt;
use std::sync::Arc;

/// The calls that led to a launch.
#[derive(Clone)]
pub(crate) struct Origin(Arc<Backtrace>);

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Origin")
    }
}

/// A line of the program.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) line: u32,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Origin {
    /// The calls that led here.
    pub(crate) fn here() -> Self {
        Self(Arc::new(Backtrace::force_capture()))
    }

    /// The innermost line that is the program's own: not of the driver, of what wraps it, or of generated code.
    pub(crate) fn line(&self) -> Option<Line> {
        first_own(&self.0.to_string())
    }
}

/// Beginnings of the names of functions that launch on behalf of others.
const OTHERS: [&str; 10] = [
    "std::",
    "core::",
    "alloc::",
    "cudarc::",
    "gpuk::",
    "gpuk_sim",
    "libloading::",
    "__",
    "_start",
    "rust_",
];

fn first_own(backtrace: &str) -> Option<Line> {
    let mut name = "";
    for line in backtrace.lines() {
        let line = line.trim_start();
        let Some(place) = line.strip_prefix("at ") else {
            name = line.split_once(": ").map_or("", |(_, name)| name);
            continue;
        };
        let bare = name.trim_start_matches('<').trim_start_matches('&');
        // `cuLaunchKernel`, not a function of the program that begins with the same letters.
        let is_driver = bare.strip_prefix("cu").is_some_and(|rest| {
            rest.starts_with(|first: char| first.is_ascii_uppercase()) && !bare.contains("::")
        });
        let is_other = OTHERS.iter().any(|other| bare.starts_with(other)) || is_driver;
        let is_generated = place.contains("/build/") && place.contains("/out/");
        let is_of_rust = place.starts_with("/rustc/");
        if is_other || is_generated || is_of_rust || name.is_empty() {
            continue;
        }
        let mut parts = place.rsplitn(3, ':');
        let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
        return Some(Line {
            file: file.strip_prefix("./").unwrap_or(file).to_owned(),
            line: line.parse().ok()?,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_own_line_is_found() {
        let backtrace = "\
   0: std::backtrace::Backtrace::force_capture
             at /rustc/abc/library/std/src/backtrace.rs:313:18
   1: gpuk_sim_cuda::origin::Origin::here
             at ./build-support/sim/cuda/src/origin.rs:40:23
   2: cuLaunchKernel
             at ./build-support/sim/cuda/src/boundary.rs:70:13
   3: cudarc::driver::result::launch_kernel
             at ./cudarc-0.19.10/src/driver/result.rs:1400:5
   4: <cudarc::driver::safe::launch::LaunchArgs>::launch
             at ./cudarc-0.19.10/src/driver/safe/launch.rs:200:9
   5: demo::kernels::Kernels::gather
             at ./target/debug/build/demo-1234/out/kernels.rs:12:9
   6: custom::run
             at ./src/main.rs:17:5
";
        let line = first_own(backtrace).unwrap();
        assert_eq!(line.to_string(), "src/main.rs:17");
        assert_eq!(first_own("   0: something\n"), None);
    }
}
