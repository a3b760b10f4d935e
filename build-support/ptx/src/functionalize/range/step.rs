//! How a value changes from round to round.

use crate::flow::{Flow, Graph, Loop, NodeId, Role, each_operand};
use crate::instruction::{Instruction, Operand, Register};
use crate::name::Name;
use crate::scalar::Type;
use crate::statement::{Registers, StatementKind};

/// A loop, of which every round goes from its header to its one latch.
#[derive(Debug)]
pub(super) struct Rounds<'a> {
    pub(super) flow: &'a Flow<'a>,
    graph: &'a Graph,
    lp: &'a Loop,
    latch: usize,
}

/// What a register holds where it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// The same in every round.
    Constant,
    /// What the round before left, set once a round by this statement.
    Carried(NodeId),
    /// What this statement set in the same round.
    Set(NodeId),
}

/// A part of a step: a number, times a register that stays the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) factor: i64,
    pub(super) register: Option<Register>,
}

/// How far chains of instructions are followed.
const MAX_DEPTH: usize = 16;

impl<'a> Rounds<'a> {
    pub(super) const fn new(
        flow: &'a Flow<'a>,
        graph: &'a Graph,
        lp: &'a Loop,
        latch: usize,
    ) -> Self {
        Self {
            flow,
            graph,
            lp,
            latch,
        }
    }

    /// What a register holds where statement `at` reads it; `None` if that depends on the way taken.
    pub(super) fn held(&self, register: &Register, at: NodeId) -> Option<Held> {
        let inside = |node: &&NodeId| self.lp.blocks.contains(&self.graph.block(**node));
        let mut set = self.flow.definitions(register.id).iter().filter(inside);
        let Some(only) = set.next().copied() else {
            return Some(Held::Constant);
        };
        if set.next().is_some() || self.flow.instruction(only)?.guard.is_some() {
            return None;
        }
        if only < at {
            // The text goes only forward, so this is the same round.
            return self.graph.before(only, at).then_some(Held::Set(only));
        }
        let each_round = self.graph.dominates(self.graph.block(only), self.latch);
        each_round.then_some(Held::Carried(only))
    }

    /// The registers that only carry something from one statement of a round to a later one.
    pub(super) fn passing(&self, nodes: std::ops::RangeInclusive<NodeId>) -> Vec<(Name, Type)> {
        let hidden: Vec<&Registers> = (nodes.clone())
            .filter_map(|node| match self.flow.kind(node) {
                Some(StatementKind::Registers(rows)) => self.flow.body.registers.get(rows.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        let mut found: Vec<(Name, Type)> = Vec::new();
        for node in nodes.clone() {
            let Some(instruction) = self.flow.instruction(node) else {
                continue;
            };
            each_operand(instruction, &mut |operand, role| {
                let Operand::Register(register) = operand else {
                    return;
                };
                let alone = role == Role::Result
                    && instruction.guard.is_none()
                    && self.flow.definitions(register.id) == [node]
                    && (self.flow.mentions(register.id).iter()).all(|user| {
                        nodes.contains(user)
                            && (*user == node || (*user > node && self.graph.before(node, *user)))
                    })
                    && !instruction
                        .operands
                        .iter()
                        .skip(1)
                        .any(|source| mentions(source, register));
                let seen = !hidden
                    .iter()
                    .any(|other| register.name.starts_with(&*other.name));
                if let Some(declared) = self.flow.body.declaration(register.id)
                    && alone
                    && seen
                    && declared.lanes == 1
                {
                    found.push((Name::clone(&register.name), declared.ty));
                }
            });
        }
        found
    }

    pub(super) fn constant(&self, operand: &Operand, at: NodeId) -> bool {
        match operand {
            Operand::Int(_) => true,
            Operand::Register(register) => self.held(register, at) == Some(Held::Constant),
            _ => false,
        }
    }

    /// How much more an operand is at `at` than in the round before, modulo its width.
    pub(super) fn step(&self, operand: &Operand, at: NodeId) -> Option<Vec<Term>> {
        self.step_within(operand, at, MAX_DEPTH)
    }

    fn step_within(&self, operand: &Operand, at: NodeId, depth: usize) -> Option<Vec<Term>> {
        let register = match operand {
            Operand::Int(_) => return Some(Vec::new()),
            Operand::Register(register) => register,
            _ => return None,
        };
        let depth = depth.checked_sub(1)?;
        match self.held(register, at)? {
            Held::Constant => Some(Vec::new()),
            Held::Carried(set) => {
                self.more(&Operand::Register(register.clone()), register, set, depth)
            }
            Held::Set(set) => {
                let of = |operand: &Operand| self.step_within(operand, set, depth);
                let found = self.flow.instruction(set)?;
                let [_, sources @ ..] = &found.operands[..] else {
                    return None;
                };
                match (kind(found)?, sources) {
                    ("mov", [a]) => of(a),
                    ("add", [a, b]) => Some(plus(of(a)?, of(b)?)),
                    ("sub", [a, b]) => Some(plus(of(a)?, times(of(b)?, -1))),
                    ("neg", [a]) => Some(times(of(a)?, -1)),
                    ("shl", [a, Operand::Int(bits @ 0..=31)]) => Some(times(of(a)?, 1 << bits)),
                    ("mul", [a, b]) => self.product(a, b, set, depth),
                    ("mad", [a, b, c]) => Some(plus(self.product(a, b, set, depth)?, of(c)?)),
                    _ => None,
                }
            }
        }
    }

    fn product(&self, a: &Operand, b: &Operand, at: NodeId, depth: usize) -> Option<Vec<Term>> {
        let (grows, stays) = if self.constant(b, at) { (a, b) } else { (b, a) };
        if !self.constant(stays, at) {
            return None;
        }
        let step = self.step_within(grows, at, depth)?;
        match stays {
            Operand::Int(factor) => Some(times(step, factor.cast_signed())),
            Operand::Register(register) => (step.into_iter())
                .map(|term| match term.register {
                    None => Some(Term {
                        factor: term.factor,
                        register: Some(register.clone()),
                    }),
                    Some(_) => None,
                })
                .collect(),
            _ => None,
        }
    }

    /// How much more what `set` leaves in `result` is than what `carried` held when the round began.
    fn more(
        &self,
        result: &Operand,
        carried: &Register,
        set: NodeId,
        depth: usize,
    ) -> Option<Vec<Term>> {
        let depth = depth.checked_sub(1)?;
        let found = self.flow.instruction(set)?;
        let [first, sources @ ..] = &found.operands[..] else {
            return None;
        };
        if first != result {
            return None;
        }
        let of = |operand: &Operand| {
            let register = operand.register()?;
            match self.held(register, set)? {
                Held::Carried(_) if register.id == carried.id => Some(Vec::new()),
                Held::Set(earlier) => self.more(operand, carried, earlier, depth),
                _ => None,
            }
        };
        match (kind(found)?, sources) {
            ("mov", [a]) => of(a),
            ("add", [a, b]) if self.constant(b, set) => Some(plus(of(a)?, vec![term(b, 1)?])),
            ("add", [a, b]) if self.constant(a, set) => Some(plus(of(b)?, vec![term(a, 1)?])),
            ("sub", [a, b]) if self.constant(b, set) => Some(plus(of(a)?, vec![term(b, -1)?])),
            _ => None,
        }
    }
}

fn mentions(operand: &Operand, register: &Register) -> bool {
    let mut found = false;
    operand
        .walk(&mut |part| found |= matches!(part, Operand::Register(other) if other == register));
    found
}

/// The opcode of integer arithmetic whose low bits depend on the low bits of its operands only; a conversion
/// that cuts is a `mov`.
fn kind(instruction: &Instruction) -> Option<&str> {
    let modifiers: Vec<&str> = instruction.modifiers.iter().map(|word| &**word).collect();
    let integer = |ty: &str| matches!(ty, "s32" | "u32" | "b32" | "s64" | "u64" | "b64");
    match (&*instruction.opcode, &modifiers[..]) {
        ("cvt", ["u32" | "s32", "u64" | "s64"]) => Some("mov"),
        (opcode @ ("mov" | "add" | "sub" | "neg" | "shl"), [ty]) if integer(ty) => Some(opcode),
        (opcode @ ("mul" | "mad"), ["lo", ty]) if integer(ty) => Some(opcode),
        _ => None,
    }
}

fn term(operand: &Operand, factor: i64) -> Option<Term> {
    match operand {
        Operand::Int(bits) => Some(Term {
            factor: bits.cast_signed().wrapping_mul(factor),
            register: None,
        }),
        Operand::Register(register) => Some(Term {
            factor,
            register: Some(register.clone()),
        }),
        _ => None,
    }
}

/// The sum, like terms together.
fn plus(mut a: Vec<Term>, b: Vec<Term>) -> Vec<Term> {
    for term in b {
        match a.iter_mut().find(|known| known.register == term.register) {
            Some(known) => known.factor = known.factor.wrapping_add(term.factor),
            None => a.push(term),
        }
    }
    a.retain(|term| term.factor != 0);
    a
}

fn times(mut terms: Vec<Term>, factor: i64) -> Vec<Term> {
    for term in &mut terms {
        term.factor = term.factor.wrapping_mul(factor);
    }
    terms.retain(|term| term.factor != 0);
    terms
}
