use gpuk_sim::*;
use std::collections::BTreeMap;
use std::sync::Arc;
fn main() {
    let device = Arc::new(Device::new(Options {
        capability: (12, 0),
        ..Options::default()
    }));
    let mut all: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let ptx = std::fs::read_to_string(&path).unwrap();
        let t = std::time::Instant::now();
        match device.load(&ptx) {
            Ok(module) => {
                let un = module.unsupported();
                println!(
                    "{path}: {} kernels, {} unsupported, {:?}",
                    module.functions().len(),
                    un.len(),
                    t.elapsed()
                );
                for u in un {
                    let op = u
                        .instruction
                        .trim_start_matches(|c| c == '@')
                        .split_whitespace()
                        .find(|w| !w.starts_with('%') && !w.starts_with('!'))
                        .unwrap_or("")
                        .to_owned();
                    let e = all
                        .entry(op)
                        .or_insert((0, format!("{path}: {}", u.instruction)));
                    e.0 += 1;
                }
            }
            Err(e) => println!("{path}: {e}"),
        }
    }
    for (op, (n, ex)) in all {
        println!("{n:6} {op:40} {ex}");
    }
}
