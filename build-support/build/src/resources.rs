//! What a kernel takes of a multiprocessor, as `ptxas -v` says it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one kernel takes, compiled for one architecture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
    /// Bytes of local memory of a thread, those of the functions it calls included where ptxas knows them.
    pub stack: u32,
    /// Bytes of registers that a thread stores to local memory for want of room.
    pub spill_stores: u32,
    /// Bytes of them that it loads again.
    pub spill_loads: u32,
}

/// Reads what ptxas printed; by entry.
pub(crate) fn read(said: &str) -> BTreeMap<String, Resources> {
    let mut found: BTreeMap<String, Resources> = BTreeMap::new();
    let (mut entry, mut function) = ("", "");
    for line in said.lines() {
        let info = line.strip_prefix("ptxas info");
        let info = info.map(|rest| rest.trim_start_matches([' ', ':']));
        match info {
            Some(info) => {
                if let Some(rest) = info.strip_prefix("Compiling entry function '") {
                    entry = rest.split('\'').next().unwrap_or_default();
                } else if let Some(name) = info.strip_prefix("Function properties for ") {
                    function = name.trim();
                } else if info.starts_with("Used ") {
                    let into = found.entry(entry.to_owned()).or_default();
                    into.registers = before(info, " registers").unwrap_or_default();
                    into.shared = before(info, " bytes smem").unwrap_or_default();
                    into.stack = before(info, " bytes cumulative stack size").unwrap_or(into.stack);
                }
            }
            None if function == entry && line.contains(" bytes stack frame") => {
                let into = found.entry(entry.to_owned()).or_default();
                into.stack = before(line, " bytes stack frame").unwrap_or_default();
                into.spill_stores = before(line, " bytes spill stores").unwrap_or_default();
                into.spill_loads = before(line, " bytes spill loads").unwrap_or_default();
            }
            None => {}
        }
    }
    found
}

/// The number before a unit.
fn before(line: &str, unit: &str) -> Option<u32> {
    let (number, _) = line.split_once(unit)?;
    number.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by ptxas 13.0.
    const SAID: &str = "\
ptxas info    : 3 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function '_Z2tkIfEvPT_' for 'sm_80'
ptxas info    : Function properties for _Z2tkIfEvPT_
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
ptxas info    : Compile time = 18.365 ms
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    432 bytes stack frame, 440 bytes spill stores, 436 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 448 bytes cumulative stack size, 256 bytes smem, 364 bytes cmem[0]
ptxas info    : Compile time = 228.095 ms
ptxas info    : Function properties for _Z6helperfi
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
";

    #[test]
    fn each_entry_has_its_own() {
        let found = read(SAID);
        let k = Resources {
            registers: 32,
            shared: 256,
            stack: 448,
            spill_stores: 440,
            spill_loads: 436,
        };
        let tk = Resources {
            registers: 8,
            ..Resources::default()
        };
        let expected = [("_Z2tkIfEvPT_".to_owned(), tk), ("k".to_owned(), k)];
        assert_eq!(found, BTreeMap::from(expected));
        assert!(read("").is_empty());
    }
}
