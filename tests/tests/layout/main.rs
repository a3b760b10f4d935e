//! Random structs, by value through kernels: the layout that gpuk gives them in Rust is the compiler's.
//!
//! A file of its own says what the compiler makes of each: it marks one member after the other with ones, and the
//! simulator runs it. Rust marks the same members of gpuk's structs. All bytes have to be the same, so size, offset and
//! bits of every member are. `GPUK_LAYOUTS` asks for another number of structs, `GPUK_LAYOUTS_SEED` for other ones.

mod draw;
mod oracle;
mod structs;

use gpuk_tests::Project;
use structs::Structs;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// Structs of one source.
const OF_A_FILE: usize = 20;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_random_structs_are_laid_out_as_the_compiler_does() {
    let seed = number("GPUK_LAYOUTS_SEED", 1);
    let count = number("GPUK_LAYOUTS", 40) as usize;
    let mut project = Project::new("layouts", GPUK).scripted(env!("CARGO_TARGET_TMPDIR"));
    let mut library = "#![deny(warnings)]\ngpuk::include_kernels!();\n".to_owned();
    library += &format!("#[cfg(test)]\nmod tests {{\n{}", draw::HELP);
    for (nth, from) in (0..count).step_by(OF_A_FILE).enumerate() {
        let structs = Structs::random(seed + nth as u64, OF_A_FILE.min(count - from));
        let module = format!("s{nth}");
        let expected = oracle::ask(&project, &structs);
        library += &draw::test(&module, &structs, &expected);
        project = project.file(format!("kernels/{module}.cu"), &draw::kernels(&structs));
    }
    let project = project.file("src/lib.rs", &(library + "}\n"));
    eprintln!("{count} structs, seed {seed}");
    let _ = project
        .cargo(&["test", "--offline", "--quiet", "--lib"])
        .ok();
}
