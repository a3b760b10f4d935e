//! What differs between operating systems, as a value, so that every path is tested on any of them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::env::Env;

/// An operating system, as far as CUDA's layout goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    /// Linux, and any other Unix but macOS.
    Linux,
    /// macOS, for which NVIDIA publishes no compiler since 10.2.
    MacOs,
    /// Windows.
    Windows,
}

/// Why nothing is compiled on macOS, and what works there all the same.
pub(crate) const NO_COMPILER_FOR_MACOS: &str = "NVIDIA publishes no CUDA compiler for macOS; compile on Linux or \
    Windows. On macOS a crate builds with what `cargo gpuk vendor` wrote there, or with wrappers of the sources alone \
    (`GPUK_SKIP=1`), and `cargo gpuk test --sim` runs vendored kernels";

/// The machine that compiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// Its operating system.
    pub os: Os,
    /// Its processor, in Rust's word: `x86_64`, `aarch64`.
    pub arch: String,
    /// What absolute default folders are relative to; `/` but in tests.
    pub root: PathBuf,
}

/// How programs find the driver's library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loader {
    /// The variable with the folders that the loader looks into.
    pub variable: &'static str,
    /// What stands between them.
    pub separator: char,
    /// The library's name that programs try first.
    pub first: &'static str,
    /// The name that NVIDIA's library has.
    pub driver: &'static str,
}

impl Platform {
    /// The machine that this runs on.
    pub fn host() -> Self {
        let os = match std::env::consts::OS {
            "windows" => Os::Windows,
            "macos" => Os::MacOs,
            _ => Os::Linux,
        };
        Self {
            os,
            arch: std::env::consts::ARCH.to_owned(),
            root: PathBuf::from("/"),
        }
    }

    /// A program's file name.
    pub fn exe(&self, stem: &str) -> String {
        match self.os {
            Os::Windows => format!("{stem}.exe"),
            Os::Linux | Os::MacOs => stem.to_owned(),
        }
    }

    /// How programs find the driver's library here. Windows looks for NVIDIA's name in its own folder before those of
    /// the variable, for the other name in these alone. For macOS there is no driver but gpuk's simulator.
    pub fn loader(&self) -> Loader {
        let (variable, separator, first, driver) = match self.os {
            Os::Linux => ("LD_LIBRARY_PATH", ':', "libcuda.so", "libcuda.so.1"),
            Os::MacOs => ("DYLD_LIBRARY_PATH", ':', "libcuda.dylib", "libcuda.dylib"),
            Os::Windows => ("PATH", ';', "cuda.dll", "nvcuda.dll"),
        };
        Loader {
            variable,
            separator,
            first,
            driver,
        }
    }

    /// The triple that a host compiler compiles for here.
    pub fn triple(&self) -> String {
        let rest = match self.os {
            Os::Windows => "pc-windows-msvc",
            Os::MacOs => "apple-darwin",
            Os::Linux => "unknown-linux-gnu",
        };
        format!("{}-{rest}", self.arch)
    }

    /// CUDA's name for the machine in `targets/<name>`.
    pub fn cuda_target(&self) -> String {
        match (self.os, self.arch.as_str()) {
            (Os::Linux, "aarch64") => "sbsa-linux".to_owned(),
            (Os::Windows, _) => "x64".to_owned(),
            (_, arch) => format!("{arch}-linux"),
        }
    }

    /// Splits a list of folders as `PATH` has them.
    pub fn split(&self, list: &OsStr) -> Vec<PathBuf> {
        if self.os == Self::host().os {
            return std::env::split_paths(list)
                .filter(|dir| !dir.as_os_str().is_empty())
                .collect();
        }
        let separator = if self.os == Os::Windows { ';' } else { ':' };
        list.to_string_lossy()
            .split(separator)
            .map(|dir| PathBuf::from(dir.replace('"', "")))
            .filter(|dir| !dir.as_os_str().is_empty())
            .collect()
    }

    /// The first file of that name in the folders of `PATH` that can be run.
    pub fn on_path(&self, stem: &str, env: &Env) -> Option<PathBuf> {
        self.in_dirs(stem, env.get("PATH")?)
    }

    /// The first file of that name in a list of folders that can be run.
    pub fn in_dirs(&self, stem: &str, dirs: &OsStr) -> Option<PathBuf> {
        let mut name = OsString::from(stem);
        if self.os == Os::Windows && Path::new(stem).extension().is_none() {
            name.push(".exe");
        }
        self.split(dirs)
            .into_iter()
            .map(|dir| dir.join(&name))
            .find(|file| is_executable(file))
    }

    /// An absolute default folder.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Whether a file is there and may be run.
#[cfg(unix)]
pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Whether a file is there and may be run.
#[cfg(not(unix))]
pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_at_their_own_separator() {
        let mut platform = Platform::host();
        platform.os = Os::Windows;
        let dirs = platform.split(OsStr::new(r#"C:\Program Files\x;"D:\y";;E:\z""#));
        assert_eq!(
            dirs,
            [r"C:\Program Files\x", r"D:\y", r"E:\z"].map(PathBuf::from)
        );
        platform.os = Os::Linux;
        assert_eq!(
            platform.split(OsStr::new("/a::/b")),
            ["/a", "/b"].map(PathBuf::from)
        );
    }

    #[test]
    fn programs_lists_and_libraries_are_named_as_the_system_names_them() {
        let on = |os| Platform {
            os,
            arch: "x86_64".to_owned(),
            root: PathBuf::from("/"),
        };
        let names = |os| {
            let Loader {
                variable,
                separator,
                first,
                driver,
            } = on(os).loader();
            let (nvcc, triple) = (on(os).exe("nvcc"), on(os).triple());
            format!("{nvcc} {triple} {variable} {separator} {first} {driver}")
        };
        assert_eq!(
            names(Os::Linux),
            "nvcc x86_64-unknown-linux-gnu LD_LIBRARY_PATH : libcuda.so libcuda.so.1"
        );
        assert_eq!(
            names(Os::MacOs),
            "nvcc x86_64-apple-darwin DYLD_LIBRARY_PATH : libcuda.dylib libcuda.dylib"
        );
        assert_eq!(
            names(Os::Windows),
            "nvcc.exe x86_64-pc-windows-msvc PATH ; cuda.dll nvcuda.dll"
        );
    }
}
