//! Natural loops.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{BlockId, Graph};

/// A natural loop: a header that dominates all of it, and the blocks from which one comes back there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loop {
    /// Where every round begins.
    pub(crate) header: BlockId,
    /// The blocks that lead back to the header.
    pub(crate) latches: Vec<BlockId>,
    /// All blocks, the header among them.
    pub(crate) blocks: BTreeSet<BlockId>,
}

/// The loops of a graph by their headers. Loops that share a header are one; a cycle with two ways in is none.
pub(crate) fn loops(graph: &Graph) -> Vec<Loop> {
    let mut found: BTreeMap<BlockId, Loop> = BTreeMap::new();
    for (latch, block) in graph.blocks.iter().enumerate() {
        for header in block.successors.iter().copied() {
            if !graph.dominates(header, latch) {
                continue;
            }
            let known = found.entry(header).or_insert_with(|| Loop {
                header,
                latches: Vec::new(),
                blocks: BTreeSet::from([header]),
            });
            known.latches.push(latch);
            let mut open = vec![latch];
            while let Some(inside) = open.pop() {
                if known.blocks.insert(inside) {
                    open.extend(&graph.blocks[inside].predecessors);
                }
            }
        }
    }
    found.into_values().collect()
}
