//! A body laid out flat: which statements stand beside each other, mention a register, or set it.

use std::collections::HashMap;

use crate::instruction::{Instruction, Operand};
use crate::name::Name;
use crate::span::Span;
use crate::statement::{Body, Loc, RegisterId, Statement, StatementKind};

/// A statement's index in [`Flow::nodes`].
pub(crate) type NodeId = usize;

/// A statement and its neighbours.
#[derive(Debug)]
pub(crate) struct Node<'m> {
    pub(crate) statement: &'m Statement,
    /// The block that it stands in; `None` for the body itself.
    pub(crate) block: Option<NodeId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
    loc: Option<&'m Loc>,
    /// The place of that `.loc`.
    pub(crate) line: Option<Span>,
}

/// The statements of a body in the order of the text; a block comes before what stands in it.
#[derive(Debug)]
pub(crate) struct Flow<'m> {
    pub(crate) body: &'m Body,
    pub(crate) nodes: Vec<Node<'m>>,
    mentions: HashMap<RegisterId, Vec<NodeId>>,
    definitions: HashMap<RegisterId, Vec<NodeId>>,
    /// By block, those inside it included.
    symbols: HashMap<(Option<NodeId>, Name), Vec<NodeId>>,
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
    pub(crate) fn new(body: &'m Body) -> Self {
        let mut flow = Self {
            body,
            nodes: Vec::new(),
            mentions: HashMap::new(),
            definitions: HashMap::new(),
            symbols: HashMap::new(),
        };
        flow.add(&body.statements, None, &mut None, &mut None);
        flow
    }

    fn add(
        &mut self,
        statements: &'m [Statement],
        block: Option<NodeId>,
        loc: &mut Option<&'m Loc>,
        line: &mut Option<Span>,
    ) {
        let mut previous: Option<NodeId> = None;
        for statement in statements {
            let id = self.nodes.len();
            if let StatementKind::Loc(found) = &statement.kind {
                *line = Some(statement.span);
                if found.line > 0 {
                    *loc = Some(found);
                }
            }
            if let Some(node) = previous.and_then(|previous| self.nodes.get_mut(previous)) {
                node.next = Some(id);
            }
            self.nodes.push(Node {
                statement,
                block,
                previous,
                next: None,
                loc: *loc,
                line: *line,
            });
            previous = Some(id);
            match &statement.kind {
                StatementKind::Block(inner) => self.add(inner, Some(id), loc, line),
                StatementKind::Instruction(instruction) => self.index(id, instruction),
                _ => {}
            }
        }
    }

    fn index(&mut self, id: NodeId, instruction: &Instruction) {
        each_operand(instruction, &mut |operand, role| {
            let sets = match operand {
                Operand::Address(_) => false,
                Operand::Other(..) => true,
                _ => role == Role::Result,
            };
            operand.walk(&mut |part| match part {
                Operand::Register(register) | Operand::Element(register, _) => {
                    push(&mut self.mentions, register.id, id);
                    if sets {
                        push(&mut self.definitions, register.id, id);
                    }
                }
                Operand::Symbol(name, _) => {
                    let mut block = self.block(id);
                    push(&mut self.symbols, (block, Name::clone(name)), id);
                    while let Some(inner) = block {
                        block = self.block(inner);
                        push(&mut self.symbols, (block, Name::clone(name)), id);
                    }
                }
                _ => {}
            });
        });
    }

    /// The statements that mention a register.
    pub(crate) fn mentions(&self, register: RegisterId) -> &[NodeId] {
        self.mentions.get(&register).map_or(&[], Vec::as_slice)
    }

    /// The statements that may set a register.
    pub(crate) fn definitions(&self, register: RegisterId) -> &[NodeId] {
        self.definitions.get(&register).map_or(&[], Vec::as_slice)
    }

    /// The statements in a block, however deep, that mention a symbol.
    pub(crate) fn symbol(&self, block: Option<NodeId>, name: &Name) -> &[NodeId] {
        let key = (block, Name::clone(name));
        self.symbols.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn kind(&self, node: NodeId) -> Option<&'m StatementKind> {
        self.nodes.get(node).map(|node| &node.statement.kind)
    }

    pub(crate) fn instruction(&self, node: NodeId) -> Option<&'m Instruction> {
        self.nodes.get(node)?.statement.instruction()
    }

    pub(crate) fn span(&self, node: NodeId) -> Option<Span> {
        self.nodes.get(node).map(|node| node.statement.span)
    }

    /// The block that `node` stands in; `None` for the body itself.
    pub(crate) fn block(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node).and_then(|node| node.block)
    }

    /// What `.loc` says of `node`.
    pub(crate) fn loc(&self, node: NodeId) -> Option<&'m Loc> {
        self.nodes.get(node).and_then(|node| node.loc)
    }

    /// What stands before `node` in the same block, the nearest first.
    pub(crate) fn before(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let previous = |node: &NodeId| self.nodes.get(*node).and_then(|node| node.previous);
        std::iter::successors(previous(&node), previous)
    }

    /// What stands after `node` in the same block.
    pub(crate) fn after(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let next = |node: &NodeId| self.nodes.get(*node).and_then(|node| node.next);
        std::iter::successors(next(&node), next)
    }

    /// What stands directly in the block `node`.
    pub(crate) fn inside(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let first = (self.block(node + 1) == Some(node)).then_some(node + 1);
        first
            .into_iter()
            .chain(first.into_iter().flat_map(|first| self.after(first)))
    }
}

fn push<K: std::hash::Hash + Eq>(map: &mut HashMap<K, Vec<NodeId>>, key: K, node: NodeId) {
    let nodes = map.entry(key).or_default();
    if nodes.last() != Some(&node) {
        nodes.push(node);
    }
}

/// What an operand is to its instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Result,
    Source,
    /// The target of a call.
    Target,
}

/// Calls `visit` for every outermost operand, the guard's and a call's too.
pub(crate) fn each_operand<'m>(
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
