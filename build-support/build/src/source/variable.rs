//! Variables in the device's memory.

use super::DeclaredVariable;
use super::cursor::{Tokens, joined};
use super::declarator::{before_default, further_name_at, name_at};
use super::lexer::Token;
use super::parser::{Header, Parser};

/// What marks a variable of the device, in gcc's, nvcc's and cl.exe's spelling.
const MARKS: &[&str] = &[
    "constant",
    "device",
    "managed",
    "__constant__",
    "__device__",
    "__managed__",
];

/// Variables of gpuk's own header.
const OWN: &str = "__gpuk";

impl Parser<'_, '_> {
    /// Keeps the variables that a declaration without a parameter list declares, if they are the device's.
    pub(super) fn variables(&mut self, from: usize, end: usize, header: &Header) {
        let all = &self.tokens.0[from..end.saturating_sub(1).max(from)];
        if !is_of_device(Tokens(all)) {
            return;
        }
        let mut text: Option<String> = None;
        for part in Tokens(all).split_commas() {
            let plain = Tokens(before_default(part)).without_attributes();
            let name = match text {
                None => name_at(&plain),
                Some(_) => further_name_at(&plain),
            };
            let Some(name) = name else { continue };
            let token = plain[name];
            let text = text.get_or_insert_with(|| {
                let mut shape = plain.clone();
                shape.remove(name);
                joined(&shape)
            });
            if token.text.starts_with(OWN) {
                continue;
            }
            let text = text.clone();
            let place = self.place_of(&token);
            self.out.variables.push(DeclaredVariable {
                scope: self.scope.clone(),
                name: token.text.to_owned(),
                template: header.is_some(),
                text,
                place,
            });
        }
    }
}

/// Whether an attribute puts what is declared into the device's memory for as long as the module is loaded.
fn is_of_device(all: Tokens<'_, '_>) -> bool {
    let (mut at, mut found) = (0, false);
    while at < all.0.len() {
        let Some(end) = all.after_attribute(at) else {
            at += 1;
            continue;
        };
        let has = |word: &str| {
            all.0[at..end]
                .iter()
                .any(|token: &Token<'_>| token.is(word))
        };
        if has("shared") || has("__shared__") {
            return false;
        }
        found |= MARKS.iter().any(|mark| has(mark));
        at = end;
    }
    found
}
