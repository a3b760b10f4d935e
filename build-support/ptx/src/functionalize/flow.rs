//! A body laid out flat: which statements mention a register, and which set it.

use std::collections::HashMap;

use crate::instruction::{Instruction, Operand};
use crate::span::Span;
use crate::statement::{Body, RegisterId, Statement, StatementKind};

/// A statement's index in [`Flow::nodes`].
pub(super) type NodeId = usize;

/// A statement and the block it stands in.
#[derive(Debug)]
pub(super) struct Node<'m> {
    pub(super) statement: &'m Statement,
    pub(super) block: Option<NodeId>,
}

/// The statements of a body in the order of the text; a block comes before what stands in it.
#[derive(Debug)]
pub(super) struct Flow<'m> {
    pub(super) body: &'m Body,
    pub(super) nodes: Vec<Node<'m>>,
    mentions: HashMap<RegisterId, Vec<NodeId>>,
    definitions: HashMap<RegisterId, Vec<NodeId>>,
}

/// Opcodes whose first operand is read, not set. One that is missing here only makes a register look set
/// once more than it is, and then a site that hangs on it is refused.
const NO_RESULT: [&str; 12] = [
    "st",
    "red",
    "bra",
    "brx",
    "ret",
    "exit",
    "bar",
    "barrier",
    "cp",
    "prefetch",
    "sust",
    "nanosleep",
];

impl<'m> Flow<'m> {
    pub(super) fn new(body: &'m Body) -> Self {
        let mut flow = Self {
            body,
            nodes: Vec::new(),
            mentions: HashMap::new(),
            definitions: HashMap::new(),
        };
        flow.add(&body.statements, None);
        flow
    }

    fn add(&mut self, statements: &'m [Statement], block: Option<NodeId>) {
        for statement in statements {
            let id = self.nodes.len();
            self.nodes.push(Node { statement, block });
            match &statement.kind {
                StatementKind::Block(inner) => self.add(inner, Some(id)),
                StatementKind::Instruction(instruction) => self.index(id, instruction),
                _ => {}
            }
        }
    }

    fn index(&mut self, id: NodeId, instruction: &Instruction) {
        each_operand(instruction, &mut |operand, role| {
            operand.walk(&mut |part| {
                let (Operand::Register(register) | Operand::Element(register, _)) = part else {
                    return;
                };
                push(&mut self.mentions, register.id, id);
                let address = matches!(operand, Operand::Address(_));
                let unknown = matches!(operand, Operand::Other(..));
                if unknown || (role == Role::Result && !address) {
                    push(&mut self.definitions, register.id, id);
                }
            });
        });
    }

    /// The statements that mention a register.
    pub(super) fn mentions(&self, register: RegisterId) -> &[NodeId] {
        self.mentions.get(&register).map_or(&[], Vec::as_slice)
    }

    /// The statements that may set a register.
    pub(super) fn definitions(&self, register: RegisterId) -> &[NodeId] {
        self.definitions.get(&register).map_or(&[], Vec::as_slice)
    }

    pub(super) fn instruction(&self, node: NodeId) -> Option<&'m Instruction> {
        self.nodes.get(node)?.statement.instruction()
    }

    pub(super) fn span(&self, node: NodeId) -> Option<Span> {
        self.nodes.get(node).map(|node| node.statement.span)
    }

    /// The block that `node` stands in; `None` for the body itself.
    pub(super) fn block(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node).and_then(|node| node.block)
    }

    /// What stands before `node` in the same block, the nearest first.
    pub(super) fn before(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let block = self.block(node);
        (0..node).rev().filter(move |id| self.block(*id) == block)
    }

    /// What stands after `node` in the same block.
    pub(super) fn after(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let block = self.block(node);
        (node + 1..self.nodes.len()).filter(move |id| self.block(*id) == block)
    }

    /// What stands directly in the block `node`.
    pub(super) fn inside(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        (node + 1..self.nodes.len())
            .take_while(move |id| self.block(*id).is_some_and(|block| block >= node))
            .filter(move |id| self.block(*id) == Some(node))
    }
}

fn push(map: &mut HashMap<RegisterId, Vec<NodeId>>, register: RegisterId, node: NodeId) {
    let nodes = map.entry(register).or_default();
    if nodes.last() != Some(&node) {
        nodes.push(node);
    }
}

/// What an operand is to its instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Result,
    Source,
    /// The target of a call.
    Target,
}

/// Calls `visit` for every outermost operand, the guard's and a call's too.
pub(super) fn each_operand<'m>(
    instruction: &'m Instruction,
    visit: &mut dyn FnMut(&'m Operand, Role),
) {
    if let Some(guard) = &instruction.guard {
        visit(&guard.predicate, Role::Source);
    }
    let no_result = NO_RESULT.contains(&&*instruction.opcode);
    for (index, operand) in instruction.operands.iter().enumerate() {
        let result = index == 0 && !no_result;
        visit(operand, if result { Role::Result } else { Role::Source });
    }
    if let Some(call) = &instruction.call {
        call.returns
            .iter()
            .for_each(|part| visit(part, Role::Result));
        visit(&call.target, Role::Target);
        call.args.iter().for_each(|part| visit(part, Role::Source));
    }
}
