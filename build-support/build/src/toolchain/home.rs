//! Where gpuk keeps what it installs.

use std::path::PathBuf;

use super::platform::{Os, Platform};
use super::version::Version;
use crate::env::Env;

/// gpuk's own folder: `GPUK_HOME`, else the system's folder for a user's data. None where no home is known.
pub fn home(env: &Env, platform: &Platform) -> Option<PathBuf> {
    if let Some(home) = env.path("GPUK_HOME") {
        return Some(home);
    }
    match platform.os {
        Os::Windows => env.path("LOCALAPPDATA").map(|dir| dir.join("gpuk")),
        Os::MacOs => env
            .path("HOME")
            .map(|dir| dir.join("Library/Application Support/gpuk")),
        // The base directory specification says that a relative path is to be ignored.
        Os::Linux => env
            .path("XDG_DATA_HOME")
            .filter(|dir| dir.is_absolute())
            .or_else(|| env.path("HOME").map(|dir| dir.join(".local/share")))
            .map(|dir| dir.join("gpuk")),
    }
}

/// The folder of the toolchains in gpuk's own folder.
pub fn toolchains(env: &Env, platform: &Platform) -> Option<PathBuf> {
    home(env, platform).map(|home| home.join("toolchains"))
}

/// A toolchain's folder in that folder: `cuda-13.0`.
pub fn folder(version: Version) -> String {
    format!("cuda-{}", version.release())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_is_where_the_system_wants_it() {
        let env = |pairs: &[(&'static str, &'static str)]| Env::from_pairs(pairs.iter().copied());
        let on = |os| Platform {
            os,
            ..Platform::host()
        };
        let at = |env: Env, os| {
            home(&env, &on(os)).map(|path| path.to_string_lossy().replace('\\', "/"))
        };
        let user = [("HOME", "/u")];
        assert_eq!(at(env(&user), Os::Linux).unwrap(), "/u/.local/share/gpuk");
        assert_eq!(
            at(env(&user), Os::MacOs).unwrap(),
            "/u/Library/Application Support/gpuk"
        );
        assert_eq!(
            at(env(&[("LOCALAPPDATA", "/l")]), Os::Windows).unwrap(),
            "/l/gpuk"
        );
        let xdg = [("HOME", "/u"), ("XDG_DATA_HOME", "/x")];
        assert_eq!(at(env(&xdg), Os::Linux).unwrap(), "/x/gpuk");
        let relative = [("HOME", "/u"), ("XDG_DATA_HOME", "x")];
        assert_eq!(
            at(env(&relative), Os::Linux).unwrap(),
            "/u/.local/share/gpuk"
        );
        let own = [("HOME", "/u"), ("GPUK_HOME", "/g")];
        assert_eq!(at(env(&own), Os::Windows).unwrap(), "/g");
        assert_eq!(at(env(&[]), Os::Linux), None);
    }
}
