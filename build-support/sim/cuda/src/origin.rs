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
        // In its long form, which has whole paths.
        first_own(&format!("{:#}", self.0))
    }
}

/// A frame: a function's name, without its path where it was inlined, and where in the source it is.
struct Frame<'a> {
    name: &'a str,
    place: &'a str,
}

impl Frame<'_> {
    /// Whether it is one of the driver API's functions.
    fn is_driver(&self) -> bool {
        let rest = self.name.strip_prefix("cu").unwrap_or_default();
        rest.starts_with(|first: char| first.is_ascii_uppercase()) && !rest.contains("::")
    }

    /// Whether it launches on behalf of another.
    fn is_wrapper(&self) -> bool {
        const NAMES: [&str; 6] = [
            "std::",
            "core::",
            "alloc::",
            "cudarc::",
            "gpuk::",
            "libloading::",
        ];
        const FOLDERS: [&str; 2] = ["cudarc", "gpuk"];
        let name = self.name.trim_start_matches(['<', '&']);
        let mut folders = self.place.split(['/', '\\']);
        // `cudarc-0.19.10`, as in a registry, or `cudarc`, as in a folder of dependencies.
        let is_folder = |folder: &str| {
            let known = FOLDERS
                .iter()
                .filter_map(|known| folder.strip_prefix(known));
            known
                .into_iter()
                .any(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_version))
        };
        NAMES.iter().any(|known| name.starts_with(known))
            || self.place.starts_with("/rustc/")
            || self.place.contains("/build-support/runtime/src/")
            || (self.place.contains("/build/") && self.place.contains("/out/"))
            || folders.any(is_folder)
    }

    fn line(&self) -> Option<Line> {
        let mut parts = self.place.rsplitn(3, ':');
        let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Line {
            file: file.to_owned(),
            line: line.parse().ok()?,
        })
    }
}

fn is_version(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

fn frames(backtrace: &str) -> Vec<Frame<'_>> {
    let mut frames = Vec::new();
    let mut name = "";
    for line in backtrace.lines() {
        let line = line.trim_start();
        if let Some(place) = line.strip_prefix("at ") {
            frames.push(Frame { name, place });
        } else {
            // `12:     0x55d0 - name`, or without the number where a frame is of the same address.
            name = line.split_once(" - ").map_or("", |(_, name)| name);
        }
    }
    frames
}

fn first_own(backtrace: &str) -> Option<Line> {
    let frames = frames(backtrace);
    let driver = frames.iter().position(Frame::is_driver);
    let callers = frames.get(driver.map_or(0, |driver| driver + 1)..)?;
    callers.iter().find(|frame| !frame.is_wrapper())?.line()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_own_line_is_found() {
        let backtrace = "\
   4:     0x7f29 - gpuk_sim_cuda::origin::Origin::here::h97c85bafc0333572
                       at /home/me/sim/cuda/src/origin.rs:36:23
  15:     0x7f29 - call<gpuk_sim_cuda::api::launch::cuLaunchKernel::{closure_env#0}>
                       at /home/me/sim/cuda/src/boundary.rs:35:22
  16:     0x7f29 - cuLaunchKernel
                       at /home/me/sim/cuda/src/boundary.rs:75:13
  17:     0x5556 - cudarc::driver::sys::cuLaunchKernel::hdaa030ebdc973299
                       at /home/me/.cargo/registry/src/index/cudarc-0.19.10/src/driver/sys/mod.rs:12576:9
  19:     0x5556 - launch
                       at /home/me/.cargo/registry/src/index/cudarc-0.19.10/src/driver/safe/launch.rs:220:9
  20:     0x5556 - gather
                       at /home/me/demo/target/debug/build/demo-1234/out/kernels.rs:12:9
  21:     0x5556 - run
                       at /home/me/demo/src/main.rs:17:5
";
        let line = first_own(backtrace).unwrap();
        assert_eq!(line.to_string(), "/home/me/demo/src/main.rs:17");
        assert_eq!(first_own("   0: 0x1234 - something\n"), None);
    }
}
