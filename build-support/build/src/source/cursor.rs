//! Steps over groups, template arguments and attributes in a token list.

use super::brackets::pair;
use super::lexer::{Token, TokenKind};

#[cfg(test)]
thread_local! {
    /// How often tokens were looked at.
    pub(super) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// A token list that answers out-of-range with nothing.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a, 't>(pub(super) &'a [Token<'t>]);

impl<'a, 't> Tokens<'a, 't> {
    pub(super) fn get(self, at: usize) -> Option<&'a Token<'t>> {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        self.0.get(at)
    }

    /// The text at a position; empty past the end.
    pub(super) fn text(self, at: usize) -> &'t str {
        self.get(at).map_or("", |token| token.text)
    }

    pub(super) fn is(self, at: usize, text: &str) -> bool {
        self.text(at) == text
    }

    pub(super) fn is_word(self, at: usize) -> bool {
        self.get(at)
            .is_some_and(|token| token.kind == TokenKind::Word)
    }

    /// The position after the group that opens here, or after the next one if none does; the end of the list if it never
    /// closes.
    pub(super) fn after_group(self, open: usize) -> usize {
        let is_bracket = |at: &usize| {
            let text = self.text(*at);
            matches!(text, "(" | "[" | "{" | ")" | "]" | "}")
        };
        let Some(first) = (open..self.0.len()).find(is_bracket) else {
            return self.0.len();
        };
        match self.text(first) {
            ")" | "]" | "}" => first + 1,
            _ => self.after_pair(first).unwrap_or(self.0.len()),
        }
    }

    /// The position after the template arguments that `<` opens here; nothing if it is a comparison.
    pub(super) fn after_angles(self, open: usize) -> Option<usize> {
        self.after_pair(open)
    }

    /// The position of the `<` of the template arguments that `>` closes here.
    pub(super) fn before_angles(self, close: usize) -> Option<usize> {
        let distance = self.get(close)?.pair as usize;
        close.checked_sub(distance).filter(|_| distance > 0)
    }

    /// The position after what closes the bracket here, if that is in the list.
    fn after_pair(self, open: usize) -> Option<usize> {
        let distance = self.get(open)?.pair as usize;
        let end = open + distance + 1;
        (distance > 0 && end <= self.0.len()).then_some(end)
    }

    /// The position after the attribute that starts here, if one does.
    pub(super) fn after_attribute(self, at: usize) -> Option<usize> {
        match self.text(at) {
            "__attribute__" | "__attribute" | "__declspec" | "alignas" | "_Alignas"
                if self.is(at + 1, "(") =>
            {
                Some(self.after_group(at + 1))
            }
            "[" if self.is(at + 1, "[") => Some(self.after_group(at)),
            _ => None,
        }
    }

    /// The position after any attributes here.
    pub(super) fn after_attributes(self, mut at: usize) -> usize {
        while let Some(next) = self.after_attribute(at) {
            at = next;
        }
        at
    }

    /// Whether an attribute marks a kernel, in gcc's, nvcc's or cl.exe's spelling.
    pub(super) fn mark_kernel(self) -> bool {
        let mut at = 0;
        while at < self.0.len() {
            let Some(end) = self.after_attribute(at) else {
                at += 1;
                continue;
            };
            let marks = |token: &Token<'_>| matches!(token.text, "global" | "__global__");
            if !self.is_annotation(at) && self.0[at..end].iter().any(marks) {
                return true;
            }
            at = end;
        }
        false
    }

    /// The tokens without attributes.
    pub(super) fn without_attributes(self) -> Vec<Token<'t>> {
        let mut plain = Vec::with_capacity(self.0.len());
        let mut at = 0;
        while let Some(token) = self.get(at) {
            if let Some(next) = self.after_attribute(at) {
                at = next;
            } else {
                plain.push(*token);
                at += 1;
            }
        }
        pair(&mut plain);
        plain
    }

    /// The parts between commas outside any group and any template arguments.
    pub(super) fn split_commas(self) -> Vec<&'a [Token<'t>]> {
        let mut parts = Vec::new();
        let (mut start, mut at, mut value) = (0, 0, false);
        while let Some(token) = self.get(at) {
            match token.text {
                "," => {
                    parts.push(&self.0[start..at]);
                    start = at + 1;
                    value = false;
                }
                "=" => value = true,
                "(" | "[" | "{" => {
                    at = self.after_group(at);
                    continue;
                }
                "<" if at > start && (self.is_word(at - 1) || !value) => {
                    if let Some(next) = self.after_angles(at) {
                        at = next;
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        if start < self.0.len() {
            parts.push(&self.0[start..]);
        }
        parts
    }
}

/// The tokens as text that compiles again, a space between any two.
pub(super) fn joined(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    for token in tokens {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    text
}
