//! Calling and returning.
//!
//! Lanes that make the same call from the same frame share a frame, even when they come one after the other:
//! rows have a place for every lane. So lanes that parted before a call can meet again inside it.

use super::run::Surroundings;
use super::{Frame, Group, NONE, State, Warp};
use crate::context::Stop;
use crate::family::call::{Actual, Callee, target};
use crate::family::stack::Taken;
use crate::fault::{Fault, Site};
use crate::memory::window;
use crate::program::{Code, Formal};
use crate::register::{File, LANES, lanes_of};
use crate::shadow::Shadow;

impl Warp {
    pub(super) fn call<S: Shadow>(
        &mut self,
        group: Group,
        number: u32,
        mask: u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        let caller = self.frames[group.frame as usize].function;
        let code = around.grid.module.code(caller);
        let call = &code.calls[number as usize];
        let rest = group.mask & !mask;
        if rest != 0 {
            self.groups.push(group.part(rest, group.pc + 1));
        }
        match call.callee {
            Callee::Function(function) => self.enter(&group, function, number, mask, around),
            Callee::Pointer(row) => {
                let file = File {
                    registers: &mut self.frames[group.frame as usize].registers,
                    constants: &code.constants,
                };
                let addresses: [u64; LANES] = file.get(row);
                let mut left = mask;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    let address = addresses[lane];
                    let part = lanes_of(left)
                        .filter(|lane| addresses[*lane] == address)
                        .fold(0, |part, lane| part | 1 << lane);
                    left &= !part;
                    let offset = address.wrapping_sub(window::CODE);
                    let function = u32::try_from(offset / window::CODE_STEP).ok();
                    let function = function
                        .filter(|_| offset.is_multiple_of(window::CODE_STEP))
                        .filter(|function| around.grid.module.is_callable(*function));
                    let Some(function) = function else {
                        let site = self.site(&group, lane, around);
                        return Err(Box::new(Fault::BadCall { address, site }));
                    };
                    self.enter(&group, function, number, part, around)?;
                }
                Ok(())
            }
            Callee::System(_) => Ok(()),
        }
    }

    pub(crate) fn site<S: Shadow>(
        &self,
        group: &Group,
        lane: usize,
        around: &Surroundings<'_, S>,
    ) -> Box<Site> {
        let module = around.grid.module;
        let code = module.code(self.frames[group.frame as usize].function);
        let number = code.first + group.pc;
        Box::new(Site {
            kernel: around.grid.kernel().to_owned(),
            instruction: module.instruction(number),
            place: module.place(number),
            thread: crate::finding::Thread {
                block: around.block.index,
                thread: around.grid.thread(self.index * 32 + lane as u32),
            },
        })
    }

    fn enter<S: Shadow>(
        &mut self,
        group: &Group,
        function: u32,
        number: u32,
        mask: u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        let module = around.grid.module;
        let callee = module.code(function);
        let caller = module.code(self.frames[group.frame as usize].function);
        let parent = &self.frames[group.frame as usize];
        let base = (parent.base + caller.local + parent.taken.most).next_multiple_of(16);
        let depth = parent.depth + 1;
        let shared = self.frames.iter().position(|frame| {
            frame.lanes != 0
                && (frame.parent, frame.site, frame.function) == (group.frame, group.pc, function)
                && frame.base == base
        });
        let index = match shared {
            Some(index) => index as u32,
            None => {
                let limit = around.grid.options().stack;
                if u64::from(base) + u64::from(callee.local) > u64::from(limit) {
                    let lane = mask.trailing_zeros() as usize;
                    let site = self.site(group, lane, around);
                    return Err(Box::new(Fault::Stack { limit, site }));
                }
                // Calls that use no local memory must end somewhere too.
                if depth > limit / 16 {
                    let lane = mask.trailing_zeros() as usize;
                    let site = self.site(group, lane, around);
                    return Err(Box::new(Fault::Stack { limit, site }));
                }
                let mut registers = around.worker.registers.pop().unwrap_or_default();
                registers.prepare(callee.counts, callee.zero);
                self.local.reserve(base + callee.local);
                let frame = Frame {
                    function,
                    parent: group.frame,
                    site: group.pc,
                    depth,
                    lanes: 0,
                    base,
                    taken: Taken::default(),
                    registers,
                };
                self.place(frame, around)
            }
        };
        self.frames[index as usize].lanes |= mask;
        let call = &caller.calls[number as usize];
        for (actual, formal) in call.args.iter().zip(&callee.params) {
            self.pass((group.frame, caller, *actual), (index, *formal), mask);
        }
        self.groups.push(Group {
            frame: index,
            ..group.part(mask, 0)
        });
        Ok(())
    }

    /// Puts a frame where one is free.
    fn place<S: Shadow>(&mut self, frame: Frame, around: &mut Surroundings<'_, S>) -> u32 {
        let free = (self.frames.iter()).position(|frame| frame.lanes == 0);
        match free {
            Some(index) => {
                let old = std::mem::replace(&mut self.frames[index], frame);
                around.worker.registers.push(old.registers);
                index as u32
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    /// An argument goes from the caller to the callee.
    fn pass(
        &mut self,
        (caller, code, actual): (u32, &Code, Actual),
        (callee, formal): (u32, Formal),
        mask: u32,
    ) {
        let from = &mut self.frames[caller as usize];
        let from_base = from.base;
        let file = File {
            registers: &mut from.registers,
            constants: &code.constants,
        };
        let value: Option<[u64; LANES]> = match actual {
            Actual::Param(_) => None,
            Actual::R32(row) => Some(file.get::<u32>(row).map(u64::from)),
            Actual::R64(row) => Some(file.get(row)),
            Actual::Predicate(p) => {
                let p = file.predicate(p);
                let mut out = [0; LANES];
                for lane in 0..LANES {
                    out[lane] = u64::from(p >> lane & 1);
                }
                Some(out)
            }
        };
        let to = &mut self.frames[callee as usize];
        let value = match (actual, formal, value) {
            (Actual::Param(from), Formal::Param { offset, bytes }, _) => {
                self.local
                    .copy(to.base + offset, from_base + from, bytes, mask);
                return;
            }
            (Actual::Param(from), _, _) => {
                let at = u64::from(from_base + from);
                let bytes = if matches!(formal, Formal::R64(_)) {
                    8
                } else {
                    4
                };
                self.local.load(&[at; LANES], bytes, mask)
            }
            (_, _, Some(value)) => value,
            _ => return,
        };
        let mut file = File {
            registers: &mut to.registers,
            constants: &code.constants,
        };
        match formal {
            Formal::Param { offset, bytes } => {
                let at = u64::from(to.base + offset);
                let bytes = if bytes > 4 { 8 } else { 4 };
                self.local.store(&[at; LANES], bytes, &value, mask);
            }
            Formal::R32(d) => file.put(d, &value.map(|value| value as u32), mask),
            Formal::R64(d) => file.put(d, &value, mask),
            Formal::Predicate(d) => file.put_predicate(d, bits_of(&value), mask),
        }
    }

    /// Lanes return to the caller.
    pub(super) fn give_back<S: Shadow>(
        &mut self,
        group: Group,
        mask: u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        let frame = &self.frames[group.frame as usize];
        let (parent, site, function) = (frame.parent, frame.site, frame.function);
        if parent == NONE {
            return self.exit(group, mask, around);
        }
        let module = around.grid.module;
        let caller = module.code(self.frames[parent as usize].function);
        let callee = module.code(function);
        if let crate::program::Op::Call(op) = caller.instructions[site as usize].op {
            let call = &caller.calls[op.call as usize];
            for (actual, formal) in call.returns.iter().zip(&callee.returns) {
                self.bring((group.frame, callee, *formal), (parent, *actual), mask);
            }
        }
        self.frames[group.frame as usize].lanes &= !mask;
        let rest = group.mask & !mask;
        if rest != 0 {
            self.groups.push(group.part(rest, group.pc + 1));
        }
        self.groups.push(Group {
            frame: parent,
            state: State::Ready,
            ..group.part(mask, site + 1)
        });
        Ok(())
    }

    /// A value given back goes from the callee to the caller.
    fn bring(
        &mut self,
        (callee, code, formal): (u32, &Code, Formal),
        (caller, actual): (u32, Actual),
        mask: u32,
    ) {
        let from = &mut self.frames[callee as usize];
        let from_base = from.base;
        let file = File {
            registers: &mut from.registers,
            constants: &code.constants,
        };
        let value: Option<[u64; LANES]> = match formal {
            Formal::Param { .. } => None,
            Formal::R32(d) => Some(file.get::<u32>(d.src()).map(u64::from)),
            Formal::R64(d) => Some(file.get(d.src())),
            Formal::Predicate(d) => {
                let p = file.registers.p[d.0 as usize];
                let mut out = [0; LANES];
                for lane in 0..LANES {
                    out[lane] = u64::from(p >> lane & 1);
                }
                Some(out)
            }
        };
        let to = &mut self.frames[caller as usize];
        let value = match (formal, actual, value) {
            (Formal::Param { offset, bytes }, Actual::Param(at), _) => {
                self.local
                    .copy(to.base + at, from_base + offset, bytes, mask);
                return;
            }
            (Formal::Param { offset, .. }, _, _) => {
                let at = u64::from(from_base + offset);
                let bytes = if matches!(actual, Actual::R64(_)) {
                    8
                } else {
                    4
                };
                self.local.load(&[at; LANES], bytes, mask)
            }
            (_, _, Some(value)) => value,
            _ => return,
        };
        let mut file = File {
            registers: &mut to.registers,
            constants: &code.constants,
        };
        match actual {
            Actual::Param(at) => {
                let bytes = if matches!(formal, Formal::R64(_)) {
                    8
                } else {
                    4
                };
                let at = u64::from(to.base + at);
                self.local.store(&[at; LANES], bytes, &value, mask);
            }
            Actual::R32(row) => file.put(target(row), &value.map(|value| value as u32), mask),
            Actual::R64(row) => file.put(target(row), &value, mask),
            Actual::Predicate(p) => {
                if let Some(index) = p.index() {
                    let d = crate::register::Dst(index as u32);
                    file.put_predicate(d, bits_of(&value), mask);
                }
            }
        }
    }
}

/// The lanes whose value is not zero.
fn bits_of(value: &[u64; LANES]) -> u32 {
    (0..LANES).fold(0, |bits, lane| bits | u32::from(value[lane] != 0) << lane)
}
