//! A cargo project in a temporary folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Output;

/// A project, in a folder that goes away with this value unless the test keeps it.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    _temporary: Option<tempfile::TempDir>,
    program: PathBuf,
    env: Vec<(String, Option<String>)>,
}

impl Project {
    /// A package `name` without sources; `program` is the `cargo-gpuk` under test.
    ///
    /// # Panics
    /// The folder cannot be made.
    #[must_use]
    pub fn new(name: &str, program: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("gpuk-").tempdir();
        let folder = folder.expect("a temporary folder can be made");
        Self {
            folder: folder.path().to_owned(),
            _temporary: Some(folder),
            program: PathBuf::from(program),
            env: Vec::new(),
        }
        .begun(name)
    }

    /// As [`new`](Self::new), in a folder that stays: what takes minutes to build is there the next time.
    ///
    /// # Panics
    /// The folder cannot be made.
    #[must_use]
    pub fn kept(name: &str, program: &str, folder: &Path) -> Self {
        std::fs::create_dir_all(folder).expect("folders can be made");
        Self {
            folder: folder.to_owned(),
            _temporary: None,
            program: PathBuf::from(program),
            env: Vec::new(),
        }
        .begun(name)
    }

    fn begun(self, name: &str) -> Self {
        self
            .file("Cargo.toml", &format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n"))
            .file("src/lib.rs", "")
    }

    /// Adds or replaces a file.
    ///
    /// # Panics
    /// It cannot be written.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// Adds or replaces a file.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) {
        let path = self.root().join(path);
        let folder = path.parent().expect("a file lies in a folder");
        std::fs::create_dir_all(folder).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    }

    /// Adds lines to `[package.metadata.gpuk]`.
    ///
    /// # Panics
    /// The manifest cannot be written.
    #[must_use]
    pub fn config(self, lines: &str) -> Self {
        let manifest = std::fs::read_to_string(self.root().join("Cargo.toml"));
        let manifest = manifest.expect("the manifest is there");
        self.file(
            "Cargo.toml",
            &format!("{manifest}\n[package.metadata.gpuk]\n{lines}\n"),
        )
    }

    /// Gives it a build script that builds its kernels, with this workspace's crates and what they were locked with.
    ///
    /// All such projects below `folder`, for tests `CARGO_TARGET_TMPDIR`, share their dependencies' artifacts.
    ///
    /// # Panics
    /// A file cannot be read or written.
    #[must_use]
    pub fn scripted(self, folder: &str) -> Self {
        let support = workspace_root().join("build-support");
        let (runtime, build) = (support.join("runtime"), support.join("build"));
        let target = Path::new(folder).join("script").display().to_string();
        let read = |path: PathBuf| std::fs::read_to_string(path).expect("the file is there");
        let manifest = read(self.root().join("Cargo.toml"));
        let lock = read(workspace_root().join("Cargo.lock"));
        self.env("CARGO_TARGET_DIR", Some(&target))
            .file("build.rs", "fn main() {\n    gpuk_build::main();\n}\n")
            .file("Cargo.lock", &lock)
            .file(
                "Cargo.toml",
                &format!(
                    "{manifest}\n[dependencies]\ngpuk = {{ path = {runtime:?} }}\n\n[build-dependencies]\ngpuk-build = {{ path = {build:?} }}\n"
                ),
            )
    }

    /// Sets or unsets a variable for the commands to come.
    #[must_use]
    pub fn env(mut self, name: &str, value: Option<&str>) -> Self {
        self.env.push((name.to_owned(), value.map(str::to_owned)));
        self
    }

    /// The project's folder, links resolved.
    ///
    /// # Panics
    /// The folder is gone.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.canonicalize().expect("the folder is there")
    }

    /// Runs `cargo gpuk` in the project.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn gpuk(&self, args: &[&str]) -> Output {
        self.run(&mut self.gpuk_command(args))
    }

    /// `cargo gpuk`, not yet started.
    #[must_use]
    pub fn gpuk_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(self.program.as_os_str());
        command.args(args);
        command
    }

    /// Any program in the project, not yet started.
    #[must_use]
    pub fn command_of(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.command(program.as_ref());
        command.args(args);
        command
    }

    /// Runs cargo itself in the project.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn cargo(&self, args: &[&str]) -> Output {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.run(self.command(&cargo).args(args))
    }

    /// The CUDA toolkit that would be used, from the command itself.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn toolkit(&self) -> PathBuf {
        let doctor = self.gpuk(&["doctor", "--message-format", "json"]).ok();
        let doctor: serde_json::Value =
            serde_json::from_str(&doctor.stdout).expect("doctor prints JSON");
        let root = doctor["toolchain"]["root"].as_str();
        PathBuf::from(root.expect("doctor names the toolkit"))
    }

    fn command(&self, program: &OsStr) -> Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "tests drive programs from outside"
        )]
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env("CARGO_TERM_COLOR", "never")
            .env("CI", "true");
        for name in [
            "CARGO_TARGET_DIR",
            "GPUK_ARCHS",
            "GPUK_DEBUG_CHECKS",
            "RUSTFLAGS",
            "CARGO_TERM_QUIET",
            "CARGO_TERM_VERBOSE",
        ] {
            command.env_remove(name);
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn run(&self, command: &mut Command) -> Output {
        let output = command.output().expect("the program starts");
        Output::new(&output, &self.root())
    }
}

/// The folder of gpuk's own workspace.
///
/// # Panics
/// This package has been moved out of it.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.expect("the tests lie in the workspace").to_owned()
}
