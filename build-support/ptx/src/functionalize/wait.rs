//! Instructions at which threads wait for other threads, such that one that has left is missed.
//!
//! What passes without the threads that have left is not here: barriers without a count, shuffles and votes, the
//! cluster's barrier by itself (measured on an H200, compute capability 9.0).

use std::collections::HashSet;

use super::steps::Steps;
use crate::flow::{Flow, NodeId, Role, each_operand};
use crate::instruction::{Instruction, Operand};
use crate::statement::RegisterId;

/// What threads wait at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wait {
    /// `bar` or `barrier` with a number of threads (PTX ISA 9.7.13.1): exited warps are not taken off it.
    CountedBarrier,
    /// An arrival at an `mbarrier`, a thread's own or that of its copies (PTX ISA 9.7.13.15): the number of arrivals is
    /// fixed when it is initialized.
    Arrival,
    /// The barrier of a cooperative grid, for which each block's first thread arrives.
    Grid,
    /// A loop that reads memory until another thread has written it.
    Spin,
    /// The barrier of a cluster whose blocks read each other's shared memory: that of a block that has left is gone.
    Cluster,
    /// `setmaxnreg`, by which the warps of a group pass registers on (PTX ISA 9.7.19.5).
    Registers,
}

impl Wait {
    /// Whether only threads of the same block wait, so that nobody does for a block that has left as a whole.
    #[must_use]
    pub const fn is_within_block(self) -> bool {
        !matches!(self, Self::Grid | Self::Cluster | Self::Spin)
    }
}

/// The waits of a function.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) found: Vec<(NodeId, Wait)>,
    /// Whether it reaches into the shared memory of other blocks.
    pub(super) shares: bool,
}

impl Waits {
    pub(super) fn new(flow: &Flow<'_>, steps: &Steps) -> Self {
        let mut waits = Self::default();
        let mut workspace = None;
        for node in 0..flow.nodes.len() {
            let Some(instruction) = flow.instruction(node) else {
                continue;
            };
            waits.shares |= shares(instruction);
            if let Some(wait) = plain(instruction) {
                waits.found.push((node, wait));
            } else if is_watch(instruction) && is_spin(flow, steps, node) {
                let workspace = workspace.get_or_insert_with(|| from_environment(flow));
                let grid = address(instruction).is_some_and(|base| workspace.contains(&base));
                waits
                    .found
                    .push((node, if grid { Wait::Grid } else { Wait::Spin }));
            }
        }
        waits
    }
}

/// What an instruction waits for by itself.
fn plain(instruction: &Instruction) -> Option<Wait> {
    let has = |modifier| instruction.has(modifier);
    let operands = instruction.operands.len();
    match &*instruction.opcode {
        "barrier" if has("cluster") => has("arrive").then_some(Wait::Cluster),
        "bar" | "barrier" if has("warp") => None,
        // `bar.red` has a result and a predicate too.
        "bar" | "barrier" => {
            (operands > if has("red") { 3 } else { 1 }).then_some(Wait::CountedBarrier)
        }
        "mbarrier" => ["init", "arrive", "arrive_drop", "expect_tx", "complete_tx"]
            .iter()
            .any(|modifier| has(modifier))
            .then_some(Wait::Arrival),
        "setmaxnreg" => Some(Wait::Registers),
        _ => {
            let arrives = |modifier: &str| {
                modifier == "mbarrier" && has("arrive") || modifier.starts_with("mbarrier::")
            };
            let mut modifiers = instruction.modifiers.iter();
            (modifiers.any(|modifier| arrives(modifier))).then_some(Wait::Arrival)
        }
    }
}

/// Whether it reads or writes, or makes an address for, the shared memory of another block.
fn shares(instruction: &Instruction) -> bool {
    match &*instruction.opcode {
        "mapa" => true,
        "ld" | "st" | "atom" | "red" => instruction.has("shared::cluster"),
        _ => false,
    }
}

/// A read that sees what other threads write meanwhile.
fn is_watch(instruction: &Instruction) -> bool {
    let watches = ["acquire", "volatile", "relaxed", "mmio"];
    &*instruction.opcode == "ld" && watches.iter().any(|modifier| instruction.has(modifier))
}

/// The register that an instruction's address is in.
fn address(instruction: &Instruction) -> Option<RegisterId> {
    let mut operands = instruction.operands.iter();
    operands.find_map(|operand| match operand {
        Operand::Address(address) => address.base.register().map(|register| register.id),
        _ => None,
    })
}

/// Whether a read stands in a loop that does nothing but read that address again.
fn is_spin(flow: &Flow<'_>, steps: &Steps, node: NodeId) -> bool {
    let acts = |node: NodeId| {
        let acts = ["st", "atom", "red", "call", "bar", "barrier", "cp"];
        (flow.instruction(node)).is_some_and(|found| acts.contains(&&*found.opcode))
    };
    let after = steps.after(node, &acts);
    if !after.contains(&node) {
        return false;
    }
    let round: HashSet<NodeId> = steps
        .before(node, &acts)
        .intersection(&after)
        .copied()
        .collect();
    let moved = |base: RegisterId| {
        let sets = flow.definitions(base);
        sets.iter().any(|set| round.contains(set))
    };
    let base = flow.instruction(node).and_then(address);
    !base.is_some_and(moved)
}

/// The registers that hang on `%envreg1` and `%envreg2`, where a cooperative launch has its workspace.
pub(super) fn from_environment(flow: &Flow<'_>) -> HashSet<RegisterId> {
    let mut known = HashSet::new();
    loop {
        let before = known.len();
        for node in &flow.nodes {
            let Some(instruction) = node.statement.instruction() else {
                continue;
            };
            if matches!(&*instruction.opcode, "ld" | "atom" | "call") {
                continue;
            }
            let (mut hangs, mut sets) = (false, Vec::new());
            each_operand(instruction, &mut |operand, role| {
                operand.walk(&mut |part| match part {
                    Operand::Special(name) => hangs |= name.starts_with("%envreg"),
                    Operand::Register(register) if role == Role::Result => sets.push(register.id),
                    Operand::Register(register) => hangs |= known.contains(&register.id),
                    _ => {}
                });
            });
            if hangs {
                known.extend(sets);
            }
        }
        if known.len() == before {
            return known;
        }
    }
}
