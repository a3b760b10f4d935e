//! Which statement can follow which, in one function.

use std::collections::{HashMap, HashSet};

use crate::flow::{Flow, NodeId};
use crate::instruction::{Instruction, Operand};
use crate::name::Name;
use crate::statement::StatementKind;

/// The steps that a thread can take.
#[derive(Debug)]
pub(super) struct Steps {
    next: Vec<Vec<NodeId>>,
    previous: Vec<Vec<NodeId>>,
    /// Statements after which the function is done and its caller goes on.
    returns: HashSet<NodeId>,
}

impl Steps {
    pub(super) fn new(flow: &Flow<'_>) -> Self {
        let mut steps = Self {
            next: vec![Vec::new(); flow.nodes.len()],
            previous: vec![Vec::new(); flow.nodes.len()],
            returns: HashSet::new(),
        };
        let labels = Labels::new(flow);
        for node in 0..flow.nodes.len() {
            steps.steps(flow, &labels, node);
        }
        steps
    }

    fn steps(&mut self, flow: &Flow<'_>, labels: &Labels<'_>, node: NodeId) {
        let mut goes_on = true;
        if let Some(instruction) = flow.instruction(node) {
            let always = instruction.guard.is_none();
            match &*instruction.opcode {
                "bra" | "brx" => {
                    goes_on = !always;
                    for target in labels.targets(flow, node, instruction) {
                        self.step(node, target);
                    }
                }
                "ret" => {
                    goes_on = !always;
                    self.returns.insert(node);
                }
                "exit" | "trap" => goes_on = !always,
                _ => {}
            }
        }
        if goes_on {
            match following(flow, node) {
                Some(next) => self.step(node, next),
                None => drop(self.returns.insert(node)),
            }
        }
    }

    fn step(&mut self, from: NodeId, to: NodeId) {
        if let (Some(next), true) = (self.next.get_mut(from), to < self.previous.len()) {
            next.push(to);
            self.previous[to].push(from);
        }
    }

    /// Whether the function can be done after a statement.
    pub(super) fn returns(&self, node: NodeId) -> bool {
        self.returns.contains(&node)
    }

    /// All that can follow `start`, itself only if it can follow itself. No way leads on from what `ends`.
    pub(super) fn after(&self, start: NodeId, ends: &dyn Fn(NodeId) -> bool) -> HashSet<NodeId> {
        reach(&self.next, start, ends)
    }

    /// All that can come before `start`.
    pub(super) fn before(&self, start: NodeId, ends: &dyn Fn(NodeId) -> bool) -> HashSet<NodeId> {
        reach(&self.previous, start, ends)
    }

    /// The nearest statements before `node` from which a thread can go elsewhere, or `node` if there are none.
    pub(super) fn forks(&self, node: NodeId) -> Vec<NodeId> {
        let forks = |node: NodeId| self.next.get(node).is_some_and(|next| next.len() > 1);
        let before = self.before(node, &forks);
        let mut found: Vec<_> = before.into_iter().filter(|node| forks(*node)).collect();
        found.push(node);
        found
    }
}

fn reach(steps: &[Vec<NodeId>], start: NodeId, ends: &dyn Fn(NodeId) -> bool) -> HashSet<NodeId> {
    let mut found = HashSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        if node != start && ends(node) {
            continue;
        }
        for next in steps.get(node).into_iter().flatten() {
            if found.insert(*next) {
                open.push(*next);
            }
        }
    }
    found
}

/// The statement behind `node`: inside a block its first, at a block's end what follows the block.
fn following(flow: &Flow<'_>, node: NodeId) -> Option<NodeId> {
    if let Some(StatementKind::Block(_)) = flow.kind(node)
        && let Some(first) = flow.inside(node).next()
    {
        return Some(first);
    }
    let outwards = std::iter::successors(Some(node), |node| flow.block(*node));
    let mut next = outwards.filter_map(|node| flow.after(node).next());
    next.next()
}

/// The labels of a body; inline assembly has its own in each block.
struct Labels<'m> {
    places: HashMap<(Option<NodeId>, &'m str), NodeId>,
    /// What a `brx.idx` can go to.
    lists: HashMap<&'m str, &'m [Name]>,
}

impl<'m> Labels<'m> {
    fn new(flow: &Flow<'m>) -> Self {
        let mut places: HashMap<(Option<NodeId>, &str), NodeId> = HashMap::new();
        let mut lists: HashMap<&str, &[Name]> = HashMap::new();
        for node in 0..flow.nodes.len() {
            match flow.kind(node) {
                Some(StatementKind::Label(name)) => {
                    places.insert((flow.block(node), name), node);
                }
                Some(StatementKind::BranchTargets { label, targets }) => {
                    lists.insert(label, &targets[..]);
                }
                _ => {}
            }
        }
        Self { places, lists }
    }

    fn targets(&self, flow: &Flow<'_>, node: NodeId, branch: &Instruction) -> Vec<NodeId> {
        let names = branch.operands.iter().filter_map(|operand| match operand {
            Operand::Symbol(name, _) => Some(&**name),
            _ => None,
        });
        let names = names.flat_map(|name| match self.lists.get(name) {
            Some(list) => list.iter().map(|name| &**name).collect(),
            None => vec![name],
        });
        names
            .filter_map(|name| self.place(flow, node, name))
            .collect()
    }

    /// The label of that name in the innermost block around `node`.
    fn place(&self, flow: &Flow<'_>, node: NodeId, name: &str) -> Option<NodeId> {
        let mut block = flow.block(node);
        loop {
            if let Some(found) = self.places.get(&(block, name)) {
                return Some(*found);
            }
            block = flow.block(block?);
        }
    }
}
