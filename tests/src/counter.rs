//! A toolkit that counts.

use std::path::PathBuf;

use crate::Project;

/// A toolkit whose nvcc, cicc and ptxas log each start and then run the real ones.
#[derive(Debug)]
pub struct Counter {
    folder: tempfile::TempDir,
}

impl Counter {
    /// Counts the toolkit that `program`, the `cargo-gpuk` under test, finds.
    ///
    /// # Panics
    /// There is none, or no folder can be made.
    #[must_use]
    #[cfg(unix)]
    pub fn new(program: &str) -> Self {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let real = Project::new("p", program).toolkit();
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let counter = Self { folder };
        let (fake, log) = (counter.toolkit(), counter.log());
        for folder in ["bin", "nvvm/bin"] {
            std::fs::create_dir_all(fake.join(folder)).expect("folders can be made");
        }
        for linked in [
            "include",
            "lib",
            "lib64",
            "nvvm/libdevice",
            "bin/crt",
            "bin/nvcc.profile",
            "bin/cudafe++",
            "bin/fatbinary",
        ] {
            if real.join(linked).exists() {
                symlink(real.join(linked), fake.join(linked)).expect("links can be made");
            }
        }
        for program in ["bin/nvcc", "nvvm/bin/cicc", "bin/ptxas"] {
            let (name, real) = (program.rsplit('/').next(), real.join(program));
            let script = format!(
                "#!/bin/sh\necho {} >> '{}'\nexec '{}' \"$@\"\n",
                name.unwrap_or_default(),
                log.display(),
                real.display()
            );
            let fake = fake.join(program);
            let allowed = std::fs::Permissions::from_mode(0o755);
            std::fs::write(&fake, script).expect("files can be written");
            std::fs::set_permissions(fake, allowed).expect("it is ours");
        }
        counter
    }

    /// Its compiler, for `NVCC`.
    #[must_use]
    pub fn nvcc(&self) -> String {
        self.toolkit().join("bin/nvcc").display().to_string()
    }

    /// Its folder.
    #[must_use]
    pub fn toolkit(&self) -> PathBuf {
        self.folder.path().join("toolkit")
    }

    /// Which of its programs run meanwhile, sorted.
    pub fn ran(&self, run: impl FnOnce()) -> Vec<String> {
        let _ = std::fs::remove_file(self.log());
        run();
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let mut ran: Vec<_> = log.lines().map(str::to_owned).collect();
        ran.sort();
        ran
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}
