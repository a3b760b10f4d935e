//! Every name that a text mentions, wherever it stands.

use std::collections::{HashMap, HashSet};

use crate::lex::{self, TokenKind};
use crate::module::Module;
use crate::span::Span;

/// The words of a module's text, of its debug sections too.
#[derive(Debug)]
pub(crate) struct Words<'m> {
    places: Vec<(&'m str, Span)>,
    known: HashMap<&'m str, usize>,
}

impl<'m> Words<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        // The module was read from this text, so it splits into tokens.
        let tokens = lex::tokens(module.text()).unwrap_or_default();
        let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
        let places: Vec<_> = words
            .map(|word| (module.at(word.span), word.span))
            .collect();
        let mut known = HashMap::new();
        for (word, _) in &places {
            *known.entry(*word).or_default() += 1;
        }
        Self { places, known }
    }

    /// How often a word stands in the text.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.known.get(word).copied().unwrap_or(0)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = (&'m str, Span)> {
        self.places.iter().copied()
    }

    /// The words in a span.
    pub(crate) fn within(&self, span: Span) -> impl Iterator<Item = (&'m str, Span)> {
        let first = (self.places).partition_point(|(_, place)| place.start < span.start);
        let rest = self.places.get(first..).unwrap_or_default().iter().copied();
        rest.take_while(move |(_, place)| place.end <= span.end)
    }

    /// `base`, or `base1`, `base2`, …, such that no word begins with it and an underscore.
    pub(crate) fn free_prefix(&self, base: &str) -> String {
        let taken: HashSet<_> = (self.known.keys())
            .filter_map(|word| word.split_once('_'))
            .map(|(prefix, _)| prefix)
            .collect();
        free(base, |name| taken.contains(name))
    }

    /// `base`, or `base1`, `base2`, …, such that it is no word.
    pub(crate) fn free_name(&self, base: &str) -> String {
        free(base, |name| self.known.contains_key(name))
    }
}

fn free(base: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = base.to_owned();
    let mut number = 1_u64;
    while taken(&name) {
        name = format!("{base}{number}");
        number += 1;
    }
    name
}
