//! Instructions that all lanes of a warp execute together: those of matrices, which are `.sync.aligned`.
//!
//! Lanes that come to one wait until the others are there. Where that cannot be any more the lanes are named.

use super::run::Surroundings;
use super::{Group, State, Warp};
use crate::context::Stop;
use crate::fault::Fault;
use crate::finding::{Finding, Kind};
use crate::register::ALL;
use crate::shadow::Shadow;

impl Warp {
    /// Some lanes come to such an instruction, others of their group do not.
    pub(super) fn align<S: Shadow>(
        &mut self,
        group: Group,
        mask: u32,
        around: &Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        let rest = group.mask & !mask;
        if rest != 0 {
            self.groups.push(group.part(rest, group.pc + 1));
        }
        self.groups
            .push(group.part(mask, group.pc).waiting(State::Aligned));
        self.realign(around)
    }

    /// Lets those go on that are all at one place.
    pub(super) fn realign<S: Shadow>(&mut self, around: &Surroundings<'_, S>) -> Result<(), Stop> {
        let waits = |group: &&Group| matches!(group.state, State::Aligned);
        let Some(first) = self.groups.iter().find(waits) else {
            return Ok(());
        };
        if self.live != ALL {
            let text = format!(
                "all 32 lanes of a warp must execute it, and lanes {:#010x} have left or never were",
                !self.live
            );
            let lane = first.mask.trailing_zeros() as usize;
            let site = self.site(first, lane, around);
            return Err(Box::new(Fault::Finding(Box::new(Finding {
                kind: Kind::BadMask,
                kernel: site.kernel,
                place: site.place,
                thread: site.thread,
                instruction: site.instruction,
                address: None,
                size: 0,
                space: None,
                allocation: None,
                other: None,
                text,
            }))));
        }
        let (pc, frame) = (first.pc, first.frame);
        let here = |group: &&Group| waits(group) && (group.pc, group.frame) == (pc, frame);
        let mask = self
            .groups
            .iter()
            .filter(here)
            .fold(0, |all, group| all | group.mask);
        if mask == ALL {
            for group in &mut self.groups {
                group.state = State::Ready;
            }
        }
        Ok(())
    }
}
