//! The barriers of a block (PTX ISA 9.7.13.1): who has come, and what they counted.

/// Barriers of a block.
pub(crate) const BARRIERS: usize = 16;

/// One barrier.
#[derive(Debug, Clone, Default)]
pub(crate) struct Barrier {
    /// The lanes of each warp that have come.
    pub(crate) arrived: Vec<u32>,
    /// The instruction at which each warp's lanes came.
    at: Vec<u32>,
    /// Threads that take part, if the instruction said how many.
    expected: Option<u32>,
    /// Whether anybody has come.
    pub(crate) open: bool,
    /// Threads whose predicate was true, and of how many.
    yes: u32,
    of: u32,
}

/// What is wrong with how threads use a barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// The lanes of a warp came at two instructions.
    Divergence { first: u32 },
    /// Two counts of threads.
    Counts { first: Option<u32> },
}

impl Barrier {
    pub(crate) fn reset(&mut self, warps: usize) {
        self.arrived.clear();
        self.arrived.resize(warps, 0);
        self.at.clear();
        self.at.resize(warps, u32::MAX);
        self.expected = None;
        self.open = false;
        self.yes = 0;
        self.of = 0;
    }

    /// Lanes of a warp come, `yes` of them with a true predicate.
    pub(crate) fn arrive(
        &mut self,
        warp: u32,
        lanes: u32,
        expected: Option<u32>,
        (aligned, instruction): (bool, u32),
        yes: u32,
    ) -> Result<(), Misuse> {
        let at = &mut self.at[warp as usize];
        if aligned && *at != u32::MAX && *at != instruction {
            return Err(Misuse::Divergence { first: *at });
        }
        *at = instruction;
        if self.open && self.expected != expected {
            return Err(Misuse::Counts {
                first: self.expected,
            });
        }
        self.open = true;
        self.expected = expected;
        self.arrived[warp as usize] |= lanes;
        self.yes += yes;
        self.of += lanes.count_ones();
        Ok(())
    }

    /// Whether all have come that take part. `live` has the lanes of each warp that have not left. A warp
    /// counts whole once all its lanes that are left have come, as it does on the device.
    pub(crate) fn is_complete(&self, live: &[u32]) -> bool {
        if !self.open {
            return false;
        }
        let warps = self.arrived.iter().zip(live);
        match self.expected {
            None => warps.fold(true, |all, (come, live)| all & (come & live == *live)),
            Some(expected) => {
                let come = warps.map(|(come, live)| match *come {
                    0 => 0,
                    come if come & live == *live => 32,
                    come => come.count_ones(),
                });
                come.sum::<u32>() >= expected
            }
        }
    }

    /// How many threads said yes, and whether all did.
    pub(crate) const fn counted(&self) -> (u32, bool) {
        (self.yes, self.yes == self.of)
    }

    /// Threads that have come, and how many are expected.
    pub(crate) fn progress(&self) -> (u32, Option<u32>) {
        let come = self.arrived.iter().map(|come| come.count_ones()).sum();
        (come, self.expected)
    }
}
