//! Takes checks out, as if they had never been written, but for their conditions.
//!
//! A condition that nothing else needs is the assembler's to take out. For checks that one kernel of a module has
//! and another has not: what no kernel has is never compiled.

use std::collections::{BTreeSet, HashSet};

use gpuk_device::abi::FAIL;

use super::chain::Chains;
use super::cleanup::Cleanup;
use super::failure::{self, Failing};
use super::reach::Reach;
use super::strings::Strings;
use super::{SiteKind, lines};
use crate::edit::{EditError, Edits};
use crate::flow::{Flow, NodeId};
use crate::module::{ItemKind, Module};
use crate::name::Name;
use crate::span::Span;
use crate::words::Words;

/// Takes out the checks that `unwanted` names by their kind and the entries that come to them.
///
/// # Errors
///
/// Two edits collide, which is an error of this crate. Checks that cannot be read stay.
pub fn omit(
    module: &Module,
    unwanted: &dyn Fn(SiteKind, &[&str]) -> bool,
) -> Result<String, EditError> {
    let strings = Strings::new(module);
    let failing = Failing::all(module);
    let checked = failure::find(
        module,
        &failing,
        &strings,
        &Chains::default(),
        &mut Vec::new(),
    );
    let reach = Reach::new(module, &checked);
    let mut omission = Omission {
        module,
        edits: Edits::new(),
        gone: Vec::new(),
        symbols: BTreeSet::new(),
    };
    let (mut some, mut kept) = (false, false);
    for found in checked {
        let entries = module.entries().map(|entry| &*entry.name);
        let entries: Vec<_> = entries
            .filter(|entry| reach.reaches(entry, &found.function.name))
            .collect();
        let failures = found.failures.into_iter();
        let (omitted, others): (Vec<_>, Vec<_>) =
            failures.partition(|failure| unwanted(failure.label.kind, &entries));
        kept |= (others.iter()).any(|failure| matches!(failure.label.kind, SiteKind::Check(_)));
        if !omitted.is_empty() {
            some = true;
            omission.remove(&found.flow, &Cleanup::new(&found.flow, &omitted));
        }
    }
    if some && !kept {
        omission.declaration();
    }
    let words = Words::new(module);
    let unused = strings.unused(&words, &omission.symbols, &omission.gone);
    for span in unused {
        omission.line(span);
    }
    omission.edits.apply(module.text())
}

struct Omission<'m> {
    module: &'m Module,
    edits: Edits,
    gone: Vec<Span>,
    symbols: BTreeSet<Name>,
}

impl Omission<'_> {
    fn remove(&mut self, flow: &Flow<'_>, cleanup: &Cleanup) {
        let replaced: HashSet<NodeId> = cleanup.replaced.iter().copied().collect();
        let within = |node: NodeId| {
            let outer = |node: &NodeId| flow.block(*node);
            std::iter::successors(flow.block(node), outer).any(|node| replaced.contains(&node))
        };
        let mut removed: Vec<_> = (cleanup.removed.iter())
            .filter(|node| !within(**node))
            .collect();
        removed.sort_unstable();
        for node in removed {
            let Some(span) = flow.span(*node) else {
                continue;
            };
            match replaced.contains(node) {
                true => self.line(lines::with_comment(self.module, span)),
                false => self.line(span),
            }
        }
        self.symbols.extend(cleanup.symbols.iter().cloned());
    }

    /// The declaration of a function that nothing calls any more.
    fn declaration(&mut self) {
        for item in self.module.items() {
            if let ItemKind::Function(function) = &item.kind
                && &*function.name == FAIL
            {
                self.line(item.span);
            }
        }
    }

    fn line(&mut self, span: Span) {
        let span = lines::whole(self.module, span);
        self.edits.delete(span);
        self.gone.push(span);
    }
}
