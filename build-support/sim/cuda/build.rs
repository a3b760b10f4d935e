//! Gives the library the name that programs look for.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // Its thread runs on when a program closes it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
