//! A module whose checks record, and what they recorded.

#![allow(dead_code, reason = "each test uses some of it")]

use gpuk_device::record::{MAX_VALUES, NO_WORD, TAG_BITS, gate, payload, split};
use gpuk_ptx::functionalize::{Options, Site, functionalize};
use gpuk_sim::{Launch, MemoryKind};

use crate::common::Sim;

/// A module whose checks record, with a gate and a record.
pub(crate) struct Checked {
    pub(crate) sim: Sim,
    pub(crate) sites: Vec<Site>,
    gate: u64,
    record: u64,
}

/// What a record says.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) site: usize,
    pub(crate) key: u64,
    pub(crate) values: Vec<u64>,
    pub(crate) count: u64,
}

impl Checked {
    pub(crate) fn new(ptx: &str) -> Self {
        Self::with(ptx, true)
    }

    /// With checks ahead of where they stand, or not.
    pub(crate) fn with(ptx: &str, ahead: bool) -> Self {
        let module = gpuk_ptx::Module::parse(ptx).unwrap();
        let done = functionalize(
            &module,
            &Options {
                asserts: true,
                ahead,
            },
        )
        .unwrap();
        let sim = Sim::new(&done.text);
        let memory = sim.device.memory();
        let gate = memory.alloc(gate::SIZE as u64, MemoryKind::Device).unwrap();
        let record = memory
            .alloc(payload::SIZE as u64, MemoryKind::Mapped)
            .unwrap();
        let checked = Self {
            sites: done.sites,
            gate,
            record,
            sim,
        };
        checked.clear();
        checked
    }

    pub(crate) fn clear(&self) {
        let mut bytes = [0; gate::SIZE];
        bytes[gate::BEST..][..8].copy_from_slice(&NO_WORD.to_le_bytes());
        bytes[gate::RECORD..][..8].copy_from_slice(&self.record.to_le_bytes());
        self.sim.device.memory().write(self.gate, &bytes).unwrap();
        let mut bytes = [0; payload::SIZE];
        let words = 8 * payload::PARTS * MAX_VALUES;
        bytes[payload::VALUES..][..words].fill(0xff);
        bytes[payload::FIRST..][..8].fill(0xff);
        self.sim.device.memory().write(self.record, &bytes).unwrap();
    }

    fn word(&self, at: u64) -> u64 {
        self.sim.download::<u64>(at, 1)[0]
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        let state: u32 = self.sim.download(self.record + payload::STATE as u64, 1)[0];
        if state == 0 {
            return None;
        }
        let (key, site) = split(self.word(self.record + payload::FIRST as u64));
        let site = usize::from(site);
        let values = (0..self.sites[site].types.len()).map(|value| {
            (0..payload::PARTS).fold(0, |bits, part| {
                let at = payload::VALUES + 8 * (payload::PARTS * value + part);
                let (owner, tag) = split(self.word(self.record + at as u64));
                let part = TAG_BITS * part as u32;
                if owner == key {
                    bits | u64::from(tag) << part
                } else {
                    bits
                }
            })
        });
        Some(Failure {
            site,
            key,
            values: values.collect(),
            count: gate::count(
                &(self.sim)
                    .download::<u8>(self.gate + gate::COUNTS as u64, gate::SIZE - gate::COUNTS),
            ),
        })
    }

    pub(crate) fn launch(&self, name: &str, launch: Launch, args: &[&[u8]]) {
        let gate = self.gate.to_le_bytes();
        let args: Vec<&[u8]> = args.iter().copied().chain([&gate[..]]).collect();
        let report = self.sim.launch_with(name, launch, &args).unwrap();
        assert!(report.findings.is_empty());
    }
}
