//! The only place that reads the environment: a snapshot that remembers which variables were asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Mutex;

/// A snapshot of environment variables, passed on as a value.
///
/// Every variable that is asked for is remembered, set or not, so that a build script can name them all in
/// `cargo::rerun-if-env-changed`.
#[derive(Debug)]
pub struct Env {
    variables: BTreeMap<OsString, OsString>,
    read: Mutex<BTreeSet<String>>,
    ignore_case: bool,
}

impl Env {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self::new(std::env::vars_os(), cfg!(windows))
    }

    /// An environment of exactly these variables.
    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self::new(
            pairs.into_iter().map(|(k, v)| (k.into(), v.into())),
            cfg!(windows),
        )
    }

    fn new(pairs: impl Iterator<Item = (OsString, OsString)>, ignore_case: bool) -> Self {
        let variables = pairs
            .map(|(key, value)| match ignore_case {
                true => (key.to_ascii_uppercase(), value),
                false => (key, value),
            })
            .collect();
        Self {
            variables,
            read: Mutex::default(),
            ignore_case,
        }
    }

    /// A variable's value, an empty one included.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        if let Ok(mut read) = self.read.lock() {
            read.insert(name.to_owned());
        }
        let value = match self.ignore_case {
            true => self.variables.get(OsStr::new(&name.to_ascii_uppercase())),
            false => self.variables.get(OsStr::new(name)),
        };
        value.map(OsString::as_os_str)
    }

    /// A variable's value; an empty one counts as not set, as it does for nvcc.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.raw(name).filter(|value| !value.is_empty())
    }

    /// A variable's value as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// The variables asked for so far, sorted.
    pub fn read(&self) -> Vec<String> {
        self.read
            .lock()
            .map(|read| read.iter().cloned().collect())
            .unwrap_or_default()
    }
}

/// The system's folder for temporary files.
pub(crate) fn temporary() -> PathBuf {
    std::env::temp_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_was_asked_for() {
        let env = Env::from_pairs([("CUDA_HOME", ""), ("NVCC", "/x/nvcc")]);
        assert_eq!(env.get("CUDA_HOME"), None);
        assert_eq!(env.raw("CUDA_HOME"), Some(OsStr::new("")));
        assert_eq!(env.path("NVCC"), Some(PathBuf::from("/x/nvcc")));
        assert_eq!(env.get("PATH"), None);
        assert_eq!(env.read(), ["CUDA_HOME", "NVCC", "PATH"]);
    }

    #[test]
    fn names_fold_where_the_system_folds_them() {
        let pairs = [("Path".into(), "C:\\x".into())];
        let env = Env::new(pairs.into_iter(), true);
        assert_eq!(env.get("PATH"), Some(OsStr::new("C:\\x")));
    }
}
