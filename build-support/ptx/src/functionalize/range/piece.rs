//! The text of a loop, and copies of it.

use std::collections::HashMap;

use crate::flow::{Flow, NodeId};
use crate::module::Module;
use crate::span::Span;
use crate::statement::StatementKind;
use crate::words::Words;

/// The text of a loop.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) module: &'a Module,
    pub(super) words: &'a Words<'a>,
    pub(super) flow: &'a Flow<'a>,
    pub(super) first: NodeId,
    pub(super) last: NodeId,
}

impl Piece<'_> {
    pub(super) fn span(&self) -> Option<Span> {
        let (first, last) = (self.flow.span(self.first)?, self.flow.span(self.last)?);
        Some(first.to(last))
    }

    /// The label that it begins with.
    pub(super) fn label(&self) -> Option<&str> {
        match self.flow.kind(self.first)? {
            StatementKind::Label(name) => Some(name),
            _ => None,
        }
    }

    /// The same without its dollar.
    pub(super) fn header(&self) -> Option<&str> {
        self.label().map(bare)
    }

    /// The `.loc` that a statement is of, for where other text stands in front of it.
    pub(super) fn line(&self, node: NodeId) -> String {
        let line = self.flow.nodes.get(node).and_then(|node| node.line);
        line.map_or_else(String::new, |line| format!("\t{}\n", self.module.at(line)))
    }

    /// New names for its labels, which begin with `own`.
    pub(super) fn labels(&self, own: &str) -> HashMap<&str, String> {
        let labels = (self.first..=self.last).filter_map(|node| match self.flow.kind(node) {
            Some(StatementKind::Label(name)) => Some(&**name),
            _ => None,
        });
        labels
            .map(|name| (name, format!("{own}{}", bare(name))))
            .collect()
    }

    /// The text at `span` with some names changed.
    pub(super) fn copy(&self, span: Span, names: &HashMap<&str, String>) -> String {
        let mut text = String::new();
        let mut done = span.start;
        for (word, place) in self.words.within(span) {
            if let Some(name) = names.get(word) {
                text.push_str(self.module.at(Span::new(done, place.start)));
                text.push_str(name);
                done = place.end;
            }
        }
        text.push_str(self.module.at(Span::new(done, span.end)));
        text
    }
}

/// A name without the sign in front of it.
pub(super) fn bare(name: &str) -> &str {
    name.trim_start_matches(['$', '%'])
}
