//! Executing instructions.

use super::{Group, State, Warp};
use crate::block::BlockState;
use crate::context::{Cx, Stop};
use crate::family::{
    approx, atomic, barrier, bits, compare, control, convert, copy, double, float, half, integer,
    matrix, mbarrier, memory, moves, quad, small, special, stack, video, warp,
};
use crate::fault::Fault;
use crate::grid::Grid;
use crate::memory::{Buffer, View};
use crate::program::Op;
use crate::register::{ALL, File, lanes_of};
use crate::shadow::Shadow;
use crate::system;
use crate::worker::Worker;

/// Warp instructions that a warp may execute before another one's turn.
const SLICE: u32 = 1 << 14;
/// Warp instructions that a group may execute before another one's turn.
const QUANTUM: u32 = 1 << 10;

/// What stopped a group.
enum Event {
    /// It met another one, or fell apart.
    Regroup,
    /// It used up its steps.
    Spent,
    /// It let others go first.
    Yield,
    /// Lanes call; the rest goes on.
    Call {
        call: u32,
        mask: u32,
    },
    Return {
        mask: u32,
    },
    Exit {
        mask: u32,
    },
    Barrier {
        op: barrier::Op,
        mask: u32,
    },
    Sync {
        op: warp::Op,
        mask: u32,
    },
    /// Lanes wait for the end of a phase of an `mbarrier`.
    Doze {
        doze: mbarrier::Doze,
        mask: u32,
    },
    /// All lanes of the warp are wanted, and some are elsewhere.
    Align {
        mask: u32,
    },
}

/// How a slice of a warp ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It can go on.
    Ready,
    /// All that are left wait.
    Blocked,
    /// Nobody is left.
    Done,
}

/// What the warps of a block share while they run.
pub(crate) struct Surroundings<'a, S: Shadow> {
    pub(crate) block: &'a mut BlockState<S>,
    pub(crate) worker: &'a mut Worker,
    pub(crate) grid: &'a Grid<'a, S>,
    pub(crate) view: &'a View,
    pub(crate) shared: &'a [Buffer],
}

impl Warp {
    /// Runs until nothing can, or others have a turn.
    pub(crate) fn run<S: Shadow>(
        &mut self,
        around: &mut Surroundings<'_, S>,
    ) -> Result<Outcome, Stop> {
        let mut slice = SLICE;
        let mut fair = false;
        loop {
            let Some(mut group) = self.pick(fair) else {
                return Ok(if self.live == 0 {
                    Outcome::Done
                } else {
                    Outcome::Blocked
                });
            };
            fair = false;
            let crowded = self.is_ready();
            let mut steps = if crowded { slice.min(QUANTUM) } else { slice };
            let before = steps;
            let event = self.advance(&mut group, &mut steps, around)?;
            slice -= before - steps;
            match event {
                Event::Regroup => self.groups.push(group),
                Event::Spent => {
                    self.groups.push(group);
                    fair = crowded;
                }
                Event::Yield => {
                    self.groups.push(group);
                    fair = crowded;
                    if !crowded {
                        return Ok(Outcome::Ready);
                    }
                }
                Event::Call { call, mask } => self.call(group, call, mask, around)?,
                Event::Return { mask } => self.give_back(group, mask, around)?,
                Event::Exit { mask } => self.exit(group, mask, around)?,
                Event::Barrier { op, mask } => self.barrier(group, op, mask, around)?,
                Event::Sync { op, mask } => self.sync(group, op, mask, around)?,
                Event::Doze { doze, mask } => {
                    let rest = group.mask & !mask;
                    if rest != 0 {
                        self.groups.push(group.part(rest, group.pc + 1));
                    }
                    let stirs = around.worker.stirs;
                    let state = State::Phase { doze, stirs };
                    self.groups.push(group.part(mask, group.pc).waiting(state));
                    self.dozes = true;
                }
                Event::Align { mask } => self.align(group, mask, around)?,
            }
            if slice == 0 {
                return Ok(Outcome::Ready);
            }
        }
    }

    /// Runs one group.
    fn advance<S: Shadow>(
        &mut self,
        group: &mut Group,
        steps: &mut u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<Event, Stop> {
        let limit = self.limit(group);
        let frame = &mut self.frames[group.frame as usize];
        let mut registers = std::mem::take(&mut frame.registers);
        let code = around.grid.module.code(frame.function);
        let mut cx = Cx {
            file: File {
                registers: &mut registers,
                constants: &code.constants,
            },
            mask: 0,
            warp: self.index,
            live: self.live,
            local: &mut self.local,
            frame: frame.base,
            taken: &mut frame.taken,
            code,
            pc: 0,
            view: around.view,
            shared: around.shared,
            block: around.block,
            worker: around.worker,
            grid: around.grid,
        };
        let before = *steps;
        let event = execute(group, limit, steps, &mut cx, &mut self.groups);
        around.worker.steps += u64::from(before - *steps);
        self.frames[group.frame as usize].registers = registers;
        event
    }
}

/// Executes a group's instructions until something other than the next one is to be done.
fn execute<S: Shadow>(
    group: &mut Group,
    limit: u32,
    steps: &mut u32,
    cx: &mut Cx<'_, S>,
    groups: &mut Vec<Group>,
) -> Result<Event, Stop> {
    let code = cx.code;
    let all = group.mask;
    let count = u64::from(all.count_ones());
    let before = *steps;
    loop {
        if group.pc >= limit {
            return Ok(Event::Regroup);
        }
        if *steps == 0 {
            return Ok(Event::Spent);
        }
        *steps -= 1;
        let instruction = &code.instructions[group.pc as usize];
        let mask = all & cx.file.predicate(instruction.guard);
        cx.worker.executed += count;
        cx.mask = mask;
        cx.pc = group.pc;
        if mask == 0 {
            group.pc += 1;
            continue;
        }
        match &instruction.op {
            Op::Integer(op) => integer::execute(op, &mut cx.file, mask),
            Op::Float(op) => float::execute(op, &mut cx.file, mask),
            Op::Memory(op) => memory::execute(op, cx)?,
            Op::Move(op) => moves::execute(op, cx),
            Op::Bits(op) => bits::execute(op, &mut cx.file, mask),
            Op::Compare(op) => compare::execute(op, &mut cx.file, mask),
            Op::Convert(op) => convert::execute(op, &mut cx.file, mask),
            Op::Small(op) => small::execute(op, &mut cx.file, mask),
            Op::Video(op) => video::execute(op, &mut cx.file, mask),
            Op::Stack(op) => stack::execute(op, cx)?,
            Op::Double(op) => double::execute(op, &mut cx.file, mask),
            Op::Half(op) => half::execute(op, &mut cx.file, mask),
            Op::Approx(op) => approx::execute(op, &mut cx.file, mask),
            Op::Special(op) => {
                cx.worker.now = cx.worker.steps + u64::from(before - *steps);
                special::execute(op, cx);
            }
            Op::Atomic(op) => atomic::execute(op, cx)?,
            Op::Quad(op) => quad::execute(op, cx)?,
            Op::Control(op) => match *op {
                control::Op::Branch { target } => {
                    let rest = all & !mask;
                    if rest == 0 {
                        group.pc = target;
                        continue;
                    }
                    groups.push(group.part(rest, group.pc + 1));
                    group.pc = target;
                    group.mask = mask;
                    return Ok(Event::Regroup);
                }
                control::Op::BranchIndex { index, targets } => {
                    branch_index(group, index, targets, mask, cx, groups);
                    return Ok(Event::Regroup);
                }
                control::Op::Return => {
                    if group.frame == 0 {
                        copy::leave(cx)?;
                    }
                    return Ok(Event::Return { mask });
                }
                control::Op::Exit => {
                    copy::leave(cx)?;
                    return Ok(Event::Exit { mask });
                }
                control::Op::Trap => {
                    let lane = mask.trailing_zeros() as usize;
                    return Err(Box::new(Fault::Trap(cx.site(lane))));
                }
                control::Op::Nothing => {}
                control::Op::Yield => {
                    group.pc += 1;
                    return Ok(Event::Yield);
                }
            },
            Op::Call(op) => {
                let call = &code.calls[op.call as usize];
                if let crate::family::call::Callee::System(system) = call.callee {
                    system::call(system, call, cx)?;
                } else {
                    return Ok(Event::Call {
                        call: op.call,
                        mask,
                    });
                }
            }
            Op::Warp(op) => {
                if !warp::execute(op, all, cx)? {
                    return Ok(Event::Sync { op: *op, mask });
                }
            }
            Op::Copy(op) => copy::execute(op, cx)?,
            Op::Mbarrier(op) => match mbarrier::execute(op, group.released.take(), cx)? {
                mbarrier::Outcome::Next => {}
                mbarrier::Outcome::Doze(doze) => return Ok(Event::Doze { doze, mask }),
                mbarrier::Outcome::Yield => {
                    group.pc += 1;
                    return Ok(Event::Yield);
                }
            },
            Op::Matrix(op) => {
                if mask != ALL {
                    return Ok(Event::Align { mask });
                }
                matrix::execute(op, cx)?;
            }
            Op::Barrier(op) => {
                if !barrier::execute(op, group, cx) {
                    return Ok(Event::Barrier { op: *op, mask });
                }
            }
            Op::Unsupported => {
                let lane = mask.trailing_zeros() as usize;
                return Err(Box::new(Fault::Unsupported(cx.site(lane))));
            }
        }
        group.pc += 1;
    }
}

/// `brx.idx`: each lane to the target of its index.
fn branch_index<S: Shadow>(
    group: &mut Group,
    index: crate::register::Src,
    targets: crate::program::Pooled,
    mask: u32,
    cx: &Cx<'_, S>,
    groups: &mut Vec<Group>,
) {
    let next = group.pc + 1;
    let targets = cx.code.pooled(targets);
    let index: [u32; 32] = cx.file.get(index);
    let place = |lane: usize| {
        // An index past the end is undefined; the last target is as good as any.
        let at = (index[lane] as usize).min(targets.len().saturating_sub(1));
        targets.get(at).copied().unwrap_or(next)
    };
    let mut left = mask;
    let rest = group.mask & !mask;
    while left != 0 {
        let target = place(left.trailing_zeros() as usize);
        let part = lanes_of(left)
            .filter(|lane| place(*lane) == target)
            .fold(0, |part, lane| part | 1 << lane);
        left &= !part;
        if left == 0 && rest == 0 {
            group.pc = target;
            group.mask = part;
            return;
        }
        groups.push(group.part(part, target));
    }
    group.pc = next;
    group.mask = rest;
}

impl Warp {
    /// Lanes leave the kernel, and every call they are in.
    pub(super) fn exit<S: Shadow>(
        &mut self,
        group: Group,
        mask: u32,
        around: &mut Surroundings<'_, S>,
    ) -> Result<(), Stop> {
        self.live &= !mask;
        let mut frame = group.frame;
        while let Some(found) = self.frames.get_mut(frame as usize) {
            found.lanes &= !mask;
            frame = found.parent;
        }
        let rest = group.mask & !mask;
        if rest != 0 {
            self.groups.push(group.part(rest, group.pc + 1));
        }
        // Who waits for those that left waits no longer.
        self.recheck(around)?;
        self.realign(around)?;
        around.block.left(self.index, self.live);
        Ok(())
    }

    /// Lets the groups that waited for a barrier of the block go on.
    pub(crate) fn release(&mut self, number: u32, result: u32) {
        for group in &mut self.groups {
            if let State::Barrier { number: waited } = group.state
                && waited == number
            {
                group.state = State::Ready;
                group.released = Some(result);
            }
        }
    }
}
