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

const SHARED: &[&str] = &["shared", "__shared__"];

const MANAGED: &[&str] = &["managed", "__managed__"];

/// Variables of gpuk's own header.
const OWN: &str = "__gpuk";

impl Parser<'_, '_> {
    /// Keeps the variables that a declaration without a parameter list declares, if they are the device's.
    pub(super) fn variables(&mut self, from: usize, end: usize, header: &Header) {
        let all = &self.tokens.0[from..end.saturating_sub(1).max(from)];
        let words = marks(Tokens(all));
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
        // What is shared is not there for as long as the module is loaded.
        if !has(MARKS) || has(SHARED) {
            return;
        }
        let managed = has(MANAGED);
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
                managed,
                text,
                place,
            });
        }
    }
}

/// The words in a declaration's attributes.
fn marks<'s>(all: Tokens<'_, 's>) -> Vec<&'s str> {
    let (mut at, mut found) = (0, Vec::new());
    while at < all.0.len() {
        let Some(end) = all.after_attribute(at) else {
            at += 1;
            continue;
        };
        found.extend(all.0[at..end].iter().map(|token: &Token<'_>| token.text));
        at = end;
    }
    found
}
