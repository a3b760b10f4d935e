//! Compiles the kernels.

fn main() {
    gpuk_build::main();
}
