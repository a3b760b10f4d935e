//! `cargo gpuk` behaves as cargo's own commands do, requirement by requirement.
//!
//! | requirement | shown by |
//! | --- | --- |
//! | started by cargo or by its own name; help, version, suggestions; flags in a wrong place | `line` |
//! | `--manifest-path`, `-p` with specs and patterns, `--workspace`, `--exclude`, default members | `select` |
//! | `--locked`, `--offline`, `--frozen`, `--config`, features and profile reach cargo, which is `$CARGO`; arguments behind `--` | `pass` |
//! | `--target-dir`, `CARGO_TARGET_DIR`, `build.target-dir`, a build folder of its own | `place` |
//! | `-q`, `-v`, `CARGO_TERM_QUIET`, `CARGO_TERM_VERBOSE`; `--color`, `NO_COLOR`, `CARGO_TERM_COLOR` | `show` |
//! | results on standard output, talk on standard error; pipes that close; progress on terminals | `stream` |
//! | `--message-format` and cargo's envelope; one code for each way to end | `message` |
//! | interrupts | `signal` |
//! | a build script's findings in an editor, `cargo gpuk check --rust` as its check command | `../analyzer` |
//! | configuration: places, precedence, unknown keys | `../settings`, `../bad_input`, unit tests of `gpuk-build` |
//! | what a build script writes, declares and reruns for | `../script`, `../rebuild`, `../skip` |
//! | results below cargo's folders, a store that may be shared | `../rebuild`, `../interrupt`, `place` |
//! | completions, docs.rs, vendored kernels | `../editor`, `../skip`, `../vendor` |
//!
//! Left out, with the reason:
//!
//! - flags between `cargo` and `gpuk`: cargo drops them and tells nobody; the help says so.
//! - `--target`: kernels do not depend on the host's target, and a program of another target runs neither here nor in
//!   the simulator. Build scripts read cargo's.
//! - `[term]` of cargo's configuration files: cargo shows it to no subcommand; the variables of the same names are read.
//!   Profiles that only these files define are unknown for the same reason.
//! - a flag that lets a run without kernels pass: its exit code is one of its own, which a script can let pass.
//! - unknown keys of the configuration are errors, not warnings: a misspelt `checks = "off"` would change what runs.
//! - a file of gpuk's own, `required-version`: the manifest and `Cargo.lock` say all that there is.
//! - `CUDA_COMPUTE_CAP`: a variable of other builders, which means something else to each of them; `GPUK_ARCHS` is ours.
//! - `VAR_<target>` for gpuk's own variables: images are for devices. `CXX_<target>` is read.
//! - SARIF and man pages: what prints them reads the JSON messages and `--help`.

#![expect(clippy::unwrap_used, reason = "tests")]

mod line;
mod message;
mod pass;
mod place;
mod select;
mod show;
#[cfg(target_os = "linux")]
mod signal;
mod stream;

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A kernel that compiles.
const SET: &str = "extern \"C\" __global__ void set(char *p) { p[0] = 1; }\n";

/// One that does not.
const WRONG: &str = "extern \"C\" __global__ void set(char *p) {\n    p[0] = one;\n}\n";

/// A package with a kernel.
fn project() -> Project {
    Project::new("p", GPUK).file("kernels/set.cu", SET)
}

/// A package without kernels: `build` reads the workspace, and ends with 104.
fn bare() -> Project {
    Project::new("p", GPUK)
}

/// Exit code where no selected package has kernels.
const NOTHING: Option<i32> = Some(104);
