//! Lanes that wait for others of their warp, at a `.sync` instruction that names them.
//!
//! They may wait at different instructions and in different calls, as long as these are of one kind and have
//! one mask; so what each lane brings is kept until all are there.

use super::run::Surroundings;
use super::{Group, State, Warp};
use crate::context::Stop;
use crate::family::warp::{self, Captured, Op as WarpOp};
use crate::program::Op;
use crate::register::{File, LANES, lanes_of};
use crate::shadow::Shadow;

impl Warp {
    /// A group comes to such an instruction and others that it names are not there.
    pub(super) fn sync<S: Shadow>(
        &mut self,
        group: Group,
        op: WarpOp,
        mask: u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        let rest = group.mask & !mask;
        if rest != 0 {
            self.groups.push(group.part(rest, group.pc + 1));
        }
        let frame = &mut self.frames[group.frame as usize];
        let code = around.grid.module.code(frame.function);
        let file = File {
            registers: &mut frame.registers,
            constants: &code.constants,
        };
        let captured = warp::capture(&op, &file);
        let members = warp::members(&op, &file).unwrap_or([mask; LANES]);
        let mut left = mask;
        while left != 0 {
            let named = members[left.trailing_zeros() as usize];
            let part = warp::same(&members, named, left);
            left &= !part;
            let state = State::Sync {
                members: named,
                captured: Box::new(captured.clone()),
            };
            self.groups.push(group.part(part, group.pc).waiting(state));
        }
        self.recheck(around)
    }

    /// Lets those go on whose others are all there, or have left.
    pub(super) fn recheck<S: Shadow>(
        &mut self,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        loop {
            let mut complete = None;
            for group in &self.groups {
                let State::Sync { members, .. } = group.state else {
                    continue;
                };
                let there = self.waiting(members, group, around);
                if members & self.live & !there == 0 {
                    complete = Some((members, there));
                    break;
                }
            }
            let Some((members, there)) = complete else {
                return Ok(());
            };
            self.complete(members, there, around);
        }
    }

    /// The instruction that a group is at.
    fn op_of<S: Shadow>(&self, group: &Group, around: &Surroundings<'_, S>) -> Option<WarpOp> {
        let function = self.frames[group.frame as usize].function;
        let code = around.grid.module.code(function);
        match code.instructions.get(group.pc as usize)?.op {
            Op::Warp(op) => Some(op),
            _ => None,
        }
    }

    /// The lanes that wait with that mask at an instruction of the same kind as the group's.
    fn waiting<S: Shadow>(&self, named: u32, group: &Group, around: &Surroundings<'_, S>) -> u32 {
        let what = self.op_of(group, around).map(|op| op.what);
        (self.groups.iter())
            .filter(|other| matches!(other.state, State::Sync { members, .. } if members == named))
            .filter(|other| self.op_of(other, around).map(|op| op.what) == what)
            .fold(0, |there, other| there | other.mask)
    }

    fn complete<S: Shadow>(&mut self, named: u32, there: u32, around: &mut Surroundings<'_, S>) {
        let mut all = Captured {
            a: [0; LANES],
            b: [0; LANES],
            c: [0; LANES],
        };
        let takes_part = |group: &Group| {
            group.mask & there != 0
                && matches!(group.state, State::Sync { members, .. } if members == named)
        };
        for group in self.groups.iter().filter(|group| takes_part(group)) {
            let State::Sync { captured, .. } = &group.state else {
                continue;
            };
            for lane in lanes_of(group.mask) {
                all.a[lane] = captured.a[lane];
                all.b[lane] = captured.b[lane];
                all.c[lane] = captured.c[lane];
            }
        }
        for at in 0..self.groups.len() {
            if !takes_part(&self.groups[at]) {
                continue;
            }
            let op = self.op_of(&self.groups[at], around);
            let group = &mut self.groups[at];
            let frame = &mut self.frames[group.frame as usize];
            let code = around.grid.module.code(frame.function);
            let mut file = File {
                registers: &mut frame.registers,
                constants: &code.constants,
            };
            if let Some(op) = op {
                warp::finish(&op, &mut file, group.mask, there, &all);
            }
            group.state = State::Ready;
            group.pc += 1;
        }
        if S::ACTIVE {
            let shadow = around.grid.shadow;
            shadow.warp_sync(&mut around.block.shadow, self.index, there, self.live);
        }
    }
}
