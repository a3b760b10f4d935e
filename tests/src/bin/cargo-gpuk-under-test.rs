//! The binary under test: cargo builds the binaries of a test's own package before the test.

fn main() -> std::process::ExitCode {
    cargo_gpuk::main_impl()
}
