//! Basic blocks and the edges between them.

use std::collections::HashMap;

use super::layout::{Flow, NodeId};
use crate::instruction::{Instruction, Operand};
use crate::statement::StatementKind;

/// A block's index in [`Graph::blocks`]; blocks are in the order of the text.
pub(crate) type BlockId = usize;

/// Statements that run one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The first statement.
    pub(crate) first: NodeId,
    /// One past the last.
    pub(crate) end: NodeId,
    pub(crate) successors: Vec<BlockId>,
    pub(crate) predecessors: Vec<BlockId>,
}

/// The blocks of a body.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) blocks: Vec<Block>,
    of: Vec<BlockId>,
    /// The immediate dominator of each block that can be reached; that of the entry is itself.
    dominators: Vec<Option<BlockId>>,
}

impl Graph {
    /// Divides a body; `ends` says which statements never go on. `None` if a branch cannot be followed.
    pub(crate) fn new(flow: &Flow<'_>, ends: &dyn Fn(NodeId) -> bool) -> Option<Self> {
        let count = flow.nodes.len();
        let mut labels: HashMap<&str, NodeId> = HashMap::new();
        let mut tables: HashMap<&str, &[crate::name::Name]> = HashMap::new();
        let mut starts = vec![false; count];
        for node in 0..count {
            match flow.kind(node)? {
                StatementKind::Label(name) => {
                    if labels.insert(name, node).is_some() {
                        return None;
                    }
                    starts[node] = true;
                }
                StatementKind::BranchTargets { label, targets } => {
                    tables.insert(label, targets);
                }
                StatementKind::Instruction(found) if goes(found) || ends(node) => {
                    if let Some(next) = starts.get_mut(node + 1) {
                        *next = true;
                    }
                }
                _ => {}
            }
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut of = Vec::with_capacity(count);
        for (node, start) in starts.iter().enumerate() {
            if *start || node == 0 {
                blocks.push(Block {
                    first: node,
                    end: node,
                    successors: Vec::new(),
                    predecessors: Vec::new(),
                });
            }
            let last = blocks.len() - 1;
            blocks[last].end = node + 1;
            of.push(last);
        }
        for id in 0..blocks.len() {
            let last = blocks[id].end - 1;
            let mut successors = Vec::new();
            let mut falls = !ends(last);
            if let Some(found) = flow.instruction(last).filter(|found| goes(found)) {
                falls = falls && found.guard.is_some();
                let mut target = |name: &str| -> Option<()> {
                    successors.push(*of.get(*labels.get(name)?)?);
                    Some(())
                };
                match (&*found.opcode, &found.operands[..]) {
                    ("bra", [Operand::Symbol(name, 0)]) => target(name)?,
                    ("brx", [_, Operand::Symbol(table, 0)]) => {
                        for name in *tables.get(&**table)? {
                            target(name)?;
                        }
                    }
                    ("bra" | "brx", _) => return None,
                    _ => {}
                }
            }
            if falls && id + 1 < blocks.len() {
                successors.push(id + 1);
            }
            successors.sort_unstable();
            successors.dedup();
            for next in &successors {
                blocks[*next].predecessors.push(id);
            }
            blocks[id].successors = successors;
        }
        let dominators = dominators(&blocks);
        Some(Self {
            blocks,
            of,
            dominators,
        })
    }

    /// The block that a statement stands in.
    pub(crate) fn block(&self, node: NodeId) -> BlockId {
        self.of.get(node).copied().unwrap_or_default()
    }

    /// Whether the entry can come to a block.
    pub(crate) fn reached(&self, block: BlockId) -> bool {
        self.dominators.get(block).is_some_and(Option::is_some)
    }

    /// Whether every way from the entry to block `later` leads through block `earlier`.
    pub(crate) fn dominates(&self, earlier: BlockId, later: BlockId) -> bool {
        let mut at = later;
        loop {
            if at == earlier {
                return self.reached(later);
            }
            match self.dominators.get(at).copied().flatten() {
                Some(next) if next != at => at = next,
                _ => return false,
            }
        }
    }

    /// Whether every way from the entry to statement `later` leads through statement `earlier`.
    pub(crate) fn before(&self, earlier: NodeId, later: NodeId) -> bool {
        let (first, second) = (self.block(earlier), self.block(later));
        if first == second {
            earlier < later
        } else {
            self.dominates(first, second)
        }
    }
}

/// Whether an instruction can go elsewhere than to the next.
pub(crate) fn goes(instruction: &Instruction) -> bool {
    matches!(
        &*instruction.opcode,
        "bra" | "brx" | "ret" | "exit" | "trap"
    )
}

/// Immediate dominators, after Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm").
fn dominators(blocks: &[Block]) -> Vec<Option<BlockId>> {
    let mut found = vec![None; blocks.len()];
    let order = postorder(blocks);
    let mut number = vec![0; blocks.len()];
    for (at, block) in order.iter().enumerate() {
        number[*block] = at;
    }
    let Some(entry) = order.last().copied() else {
        return found;
    };
    found[entry] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in order.iter().rev().skip(1).copied() {
            let mut common = None;
            for before in blocks[block].predecessors.iter().copied() {
                if found[before].is_none() {
                    continue;
                }
                common = Some(match common {
                    None => before,
                    Some(other) => meet(&found, &number, before, other),
                });
            }
            if common.is_some() && found[block] != common {
                found[block] = common;
                changed = true;
            }
        }
    }
    found
}

fn meet(found: &[Option<BlockId>], number: &[usize], mut a: BlockId, mut b: BlockId) -> BlockId {
    while a != b {
        let lower = if number[a] < number[b] {
            &mut a
        } else {
            &mut b
        };
        match found[*lower] {
            Some(next) => *lower = next,
            None => return *lower,
        }
    }
    a
}

/// The blocks that can be reached from the first, each behind those that it leads to.
fn postorder(blocks: &[Block]) -> Vec<BlockId> {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    let mut open: Vec<(BlockId, usize)> = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        open.push((0, 0));
    }
    while let Some((block, next)) = open.last_mut() {
        match blocks[*block].successors.get(*next).copied() {
            None => {
                order.push(*block);
                open.pop();
            }
            Some(successor) => {
                *next += 1;
                if !std::mem::replace(&mut seen[successor], true) {
                    open.push((successor, 0));
                }
            }
        }
    }
    order
}
