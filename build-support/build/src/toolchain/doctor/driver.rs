//! Whether this machine has a CUDA driver, told from its files alone. Nothing is loaded, so nothing can hang.

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::toolchain::platform::{Os, Platform};

/// Folders that are searched beside the loader's own: containers, WSL, NixOS.
const FOLDERS: [&str; 10] = [
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/lib",
    "/usr/local/lib",
    "/usr/lib64/nvidia",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
];

/// The driver's library, `libcuda.so.1` or `nvcuda.dll`, where the loader would find it.
pub fn driver_library(env: &Env) -> Option<PathBuf> {
    library(env, &Platform::host())
}

pub(crate) fn library(env: &Env, platform: &Platform) -> Option<PathBuf> {
    let (name, folders) = match platform.os {
        Os::MacOs => return None,
        Os::Windows => {
            let root = env
                .path("SystemRoot")
                .unwrap_or_else(|| PathBuf::from(r"C:\Windows"));
            ("nvcuda.dll", vec![root.join("System32")])
        }
        Os::Linux => {
            let mut folders = env
                .get("LD_LIBRARY_PATH")
                .map_or_else(Vec::new, |list| platform.split(list));
            folders.extend(configured(
                &platform.absolute("/etc/ld.so.conf.d"),
                platform,
            ));
            let multiarch = format!("{}-linux-gnu", platform.arch);
            folders.push(platform.absolute("/usr/lib").join(&multiarch));
            folders.push(platform.absolute("/lib").join(&multiarch));
            folders.extend(FOLDERS.iter().map(|folder| platform.absolute(folder)));
            ("libcuda.so.1", folders)
        }
    };
    folders
        .into_iter()
        // A toolkit's stubs are for linking and hold no driver.
        .filter(|folder| !folder.ends_with("stubs"))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The folders that the loader's configuration adds.
fn configured(dir: &Path, platform: &Platform) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .flat_map(|text| {
            text.lines()
                .map(str::trim)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|line| line.starts_with('/'))
        .map(|line| platform.absolute(&line))
        .collect()
}

/// The kernel module's version, as it says it: `580.65.06`.
pub(crate) fn version(platform: &Platform) -> Option<String> {
    let text = std::fs::read_to_string(platform.absolute("/proc/driver/nvidia/version")).ok()?;
    let line = text.lines().find(|line| line.contains("NVRM version"))?;
    let is_version =
        |word: &&str| word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    line.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_and_stubs_are_not() {
        let root = tempfile::tempdir().unwrap();
        let platform = Platform {
            os: Os::Linux,
            arch: "x86_64".to_owned(),
            root: root.path().to_owned(),
        };
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let stub = put("cuda/lib64/stubs/libcuda.so.1", "");
        let env = Env::from_pairs([("LD_LIBRARY_PATH", stub.parent().unwrap())]);
        assert_eq!(library(&env, &platform), None);
        assert_eq!(version(&platform), None);
        let nvidia = put("opt/nvidia/libcuda.so.1", "");
        put("etc/ld.so.conf.d/nvidia.conf", "# driver\n/opt/nvidia\n");
        assert_eq!(library(&env, &platform), Some(nvidia));
        let wsl = put("usr/lib/wsl/lib/libcuda.so.1", "");
        std::fs::remove_file(root.path().join("etc/ld.so.conf.d/nvidia.conf")).unwrap();
        assert_eq!(library(&env, &platform), Some(wsl));
        put(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs)\nGCC version: 12\n",
        );
        assert_eq!(version(&platform).unwrap(), "580.65.06");
    }
}
