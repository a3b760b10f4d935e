//! What a call passes, and the statements that only serve to pass it.

use std::collections::HashMap;

use crate::flow::{Flow, NodeId};
use crate::instruction::{Call, Instruction, Operand};
use crate::name::Name;
use crate::statement::StatementKind;

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Arguments<'m> {
    /// What is passed, in order.
    pub(super) values: Vec<&'m Operand>,
    /// The stores to `.param` variables.
    pub(super) stores: Vec<NodeId>,
    /// Names of those variables.
    pub(super) params: Vec<Name>,
}

impl<'m> Arguments<'m> {
    /// Follows the arguments of the call at `node` back to where they are stored.
    pub(super) fn new(
        flow: &Flow<'m>,
        node: NodeId,
        instruction: &Instruction,
        call: &'m Call,
    ) -> Result<Self, String> {
        let params: Vec<Name> = (call.args.iter())
            .filter_map(|arg| match arg {
                Operand::Symbol(name, 0) => Some(Name::clone(name)),
                _ => None,
            })
            .collect();
        let mut stored: HashMap<&str, &'m Operand> = HashMap::new();
        let mut stores = Vec::new();
        let mut from = node;
        while stored.len() < params.len() {
            for earlier in flow.before(from) {
                if !passes_over(flow, earlier) {
                    return Err("its arguments are stored too far away".to_owned());
                }
                let Some((name, store)) = store(flow, earlier, &params) else {
                    continue;
                };
                let whole = (store.guard.is_none() || store.guard == instruction.guard)
                    && matches!(&store.operands[..], [Operand::Address(to), _] if to.offset == 0);
                let (true, [_, value]) = (whole, &store.operands[..]) else {
                    return Err(format!("`{name}` is stored in parts"));
                };
                if stored.insert(name, value).is_some() {
                    return Err(format!("`{name}` is stored twice"));
                }
                if changes(flow, value, earlier, node) {
                    return Err(format!(
                        "a value stored to `{name}` changes before the call"
                    ));
                }
                stores.push(earlier);
                if stored.len() == params.len() {
                    break;
                }
            }
            if stored.len() < params.len() {
                from = flow.block(from).ok_or("its arguments are not stored")?;
            }
        }
        let values = call.args.iter().map(|arg| match arg {
            Operand::Symbol(name, _) => (stored.get(&**name).copied())
                .ok_or_else(|| format!("`{name}` is passed with an offset")),
            other => Ok(other),
        });
        Ok(Self {
            values: values.collect::<Result<_, _>>()?,
            stores,
            params,
        })
    }
}

/// Whether a statement is one that runs whenever the one behind it does.
fn passes_over(flow: &Flow<'_>, node: NodeId) -> bool {
    match flow.kind(node) {
        Some(StatementKind::Label(_) | StatementKind::Block(_)) => false,
        Some(StatementKind::Instruction(found)) => !matches!(
            &*found.opcode,
            "call" | "bra" | "brx" | "ret" | "exit" | "trap"
        ),
        _ => true,
    }
}

/// The name of the `.param` variable that a statement stores to, if it is one of `params`.
fn store<'m>(flow: &Flow<'m>, node: NodeId, params: &[Name]) -> Option<(&'m str, &'m Instruction)> {
    let store = flow.instruction(node)?;
    if &*store.opcode != "st" || !store.has("param") {
        return None;
    }
    let Some(Operand::Address(address)) = store.operands.first() else {
        return None;
    };
    match &address.base {
        Operand::Symbol(name, _) if params.contains(name) => Some((name, store)),
        _ => None,
    }
}

/// Whether a register is set between two statements.
fn changes(flow: &Flow<'_>, value: &Operand, from: NodeId, to: NodeId) -> bool {
    value.register().is_some_and(|register| {
        (flow.definitions(register.id).iter()).any(|set| from < *set && *set < to)
    })
}
