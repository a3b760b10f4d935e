//! `cargo gpuk`: the binary.

fn main() -> std::process::ExitCode {
    cargo_gpuk::main_impl()
}
