//! The statements of a trace, and what each must come after.

use std::collections::{BTreeSet, HashMap};

use super::Trace;
use crate::flow::{Effect, Flow, Graph, NodeId, Role, each_operand, effect, overlaps};
use crate::functionalize::guard::Guarded;
use crate::instruction::Operand;
use crate::span::Span;
use crate::statement::{RegisterId, StatementKind};

/// What a unit is.
#[derive(Debug)]
pub(super) enum Unit {
    /// A statement with its effect.
    Statement(Effect),
    /// A check.
    Check { guard: Guarded },
}

/// A unit, its place and its order.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) kind: Unit,
    pub(super) node: NodeId,
    /// The units that it must come after.
    pub(super) after: BTreeSet<usize>,
}

impl Placed {
    pub(super) const fn effect(&self) -> Option<Effect> {
        match self.kind {
            Unit::Statement(effect) => Some(effect),
            Unit::Check { .. } => None,
        }
    }
}

/// What a unit reads and sets.
#[derive(Debug, Default)]
struct Registers {
    reads: BTreeSet<RegisterId>,
    sets: BTreeSet<RegisterId>,
}

/// The units of a trace in the order of the text; `None` where something cannot be moved over.
pub(super) fn units(
    flow: &Flow<'_>,
    graph: &Graph,
    trace: &Trace,
    early: Option<&str>,
) -> Option<Vec<Placed>> {
    let mut units: Vec<(Unit, NodeId, Registers)> = Vec::new();
    let cold = |block| trace.guards.iter().any(|guard| guard.cold == block);
    for block in trace.first..=trace.last {
        if cold(block) || !graph.reached(block) {
            continue;
        }
        for node in graph.blocks[block].first..graph.blocks[block].end {
            if flow.block(node).is_some() {
                continue;
            }
            if let Some(guard) = trace.guards.iter().find(|guard| guard.branch == node) {
                let mut registers = Registers::default();
                read(flow, node, &mut registers);
                for inside in graph.blocks[guard.cold].first..graph.blocks[guard.cold].end {
                    read(flow, inside, &mut registers);
                }
                // What the failing block sets, nobody else reads.
                registers.reads.append(&mut registers.sets);
                units.push((Unit::Check { guard: *guard }, node, registers));
                continue;
            }
            let mut registers = Registers::default();
            let effect = match flow.kind(node)? {
                StatementKind::Label(_) if block == trace.first => Effect::Fixed,
                StatementKind::Label(_) | StatementKind::Loc(_) => continue,
                StatementKind::Instruction(found) => {
                    read(flow, node, &mut registers);
                    effect(found)
                }
                StatementKind::Block(_) => {
                    let mut inside = flow.inside(node).peekable();
                    inside.peek()?;
                    let mut all = Effect::Pure;
                    for inner in inside {
                        all = all.max(match flow.kind(inner)? {
                            StatementKind::Instruction(found) => effect(found),
                            StatementKind::Registers(_) | StatementKind::Variables(_) => {
                                Effect::Pure
                            }
                            StatementKind::Loc(_) => Effect::Pure,
                            StatementKind::Label(_) | StatementKind::Block(_) => return None,
                            _ => Effect::Fixed,
                        });
                        read(flow, inner, &mut registers);
                    }
                    all
                }
                _ => Effect::Fixed,
            };
            units.push((Unit::Statement(effect), node, registers));
        }
    }
    Some(depend(flow, units, early))
}

/// Adds what a statement reads and sets.
fn read(flow: &Flow<'_>, node: NodeId, registers: &mut Registers) {
    let Some(found) = flow.instruction(node) else {
        return;
    };
    let keeps = found.guard.is_some() || effect(found) == Effect::Fixed;
    each_operand(found, &mut |operand, role| {
        let sets = match operand {
            Operand::Address(_) => false,
            Operand::Other(..) => true,
            _ => role == Role::Result,
        };
        operand.walk(&mut |part| {
            if let Operand::Register(register) | Operand::Element(register, _) = part {
                let part = matches!(part, Operand::Element(..));
                if sets {
                    registers.sets.insert(register.id);
                }
                if !sets || keeps || part {
                    registers.reads.insert(register.id);
                }
            }
        });
    });
}

/// What every unit must come after.
fn depend(
    flow: &Flow<'_>,
    units: Vec<(Unit, NodeId, Registers)>,
    early: Option<&str>,
) -> Vec<Placed> {
    let mut set: HashMap<RegisterId, usize> = HashMap::new();
    let mut read: HashMap<RegisterId, Vec<usize>> = HashMap::new();
    let (mut fixed, mut check) = (None, None);
    // Reads and writes since the last fixed unit.
    let mut memory: Vec<(usize, Effect, NodeId)> = Vec::new();
    let mut placed = Vec::with_capacity(units.len());
    for (index, (kind, node, registers)) in units.into_iter().enumerate() {
        let mut after = BTreeSet::new();
        for register in &registers.reads {
            after.extend(set.get(register));
            read.entry(*register).or_default().push(index);
        }
        for register in &registers.sets {
            after.extend(set.insert(*register, index));
            after.extend(read.remove(register).unwrap_or_default());
        }
        after.remove(&index);
        if !matches!(kind, Unit::Statement(Effect::Pure)) {
            after.extend(fixed);
            if !early.is_some_and(|early| loads_into(flow, node, early)) {
                after.extend(check);
            }
        }
        match &kind {
            Unit::Statement(Effect::Pure) => {}
            Unit::Statement(effect @ (Effect::Read | Effect::Write)) => {
                let other = memory.iter().filter(|(_, other, place)| {
                    (*effect == Effect::Write || *other == Effect::Write)
                        && overlap(flow, *place, node)
                });
                after.extend(other.map(|(index, _, _)| index));
                memory.push((index, *effect, node));
            }
            Unit::Statement(Effect::Fixed) => {
                after.extend(memory.drain(..).map(|(index, _, _)| index));
                fixed = Some(index);
            }
            Unit::Check { .. } => check = Some(index),
        }
        placed.push(Placed { kind, node, after });
    }
    placed
}

/// Whether a statement loads a register whose name begins so.
fn loads_into(flow: &Flow<'_>, node: NodeId, prefix: &str) -> bool {
    let found = flow
        .instruction(node)
        .filter(|found| &*found.opcode == "ld");
    let to = found.and_then(|found| found.operands.first()?.register());
    to.is_some_and(|register| register.name.starts_with(prefix))
}

/// Whether two statements can be of the same memory; those of whole scopes always.
fn overlap(flow: &Flow<'_>, a: NodeId, b: NodeId) -> bool {
    match (flow.instruction(a), flow.instruction(b)) {
        (Some(a), Some(b)) => overlaps(a, b),
        _ => true,
    }
}

/// The line that a statement is of, as the text of its `.loc`.
pub(super) fn loc(flow: &Flow<'_>, node: NodeId) -> Option<Span> {
    flow.nodes.get(node)?.line
}
