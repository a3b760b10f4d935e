fn main() {
    gpuk_build::main();
}
