//! Walks over tokens: what closes, and what ends a declaration.

use super::token::{Token, TokenKind};

/// The tokens of one stretch of headers.
pub(super) struct Splitter<'t, 'a> {
    pub(super) text: &'t str,
    pub(super) tokens: &'a [Token],
    pub(super) end: usize,
}

/// Takes brackets after it along and declares nothing by them.
pub(super) const WITH_BRACKETS: [&str; 17] = [
    "__attribute__",
    "__attribute",
    "__declspec",
    "alignas",
    "_Alignas",
    "decltype",
    "__decltype",
    "__typeof__",
    "__typeof",
    "typeof",
    "noexcept",
    "explicit",
    "__asm__",
    "asm",
    "throw",
    "sizeof",
    "__pragma",
];

impl<'t> Splitter<'t, '_> {
    pub(super) fn word(&self, at: usize) -> &'t str {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word && at < self.end => {
                &self.text[token.start as usize..token.end as usize]
            }
            _ => "",
        }
    }

    /// A mark by itself; `i` for a word, `0` for a number, `"` for a literal, 0 at the end.
    pub(super) fn kind(&self, at: usize) -> u8 {
        let token = self.tokens[..self.end].get(at);
        token.map_or(0, |token| match token.kind {
            TokenKind::Word => b'i',
            TokenKind::Number => b'0',
            TokenKind::Literal => b'"',
            TokenKind::Mark(mark) => mark,
        })
    }

    /// Behind the bracket that closes the one here.
    pub(super) fn closed(&self, at: usize) -> Option<usize> {
        let mut open = Vec::new();
        for at in at..self.end {
            match self.kind(at) {
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                kind @ (b')' | b']' | b'}') if open.pop() != Some(kind) => return None,
                _ => {}
            }
            if open.is_empty() {
                return Some(at + 1);
            }
        }
        None
    }

    /// Behind the `>` that closes the `<` here.
    pub(super) fn closed_angle(&self, at: usize) -> Option<usize> {
        let (mut at, mut depth) = (at, 0_usize);
        loop {
            match self.kind(at) {
                b'<' => depth += 1,
                b'>' if self.kind(at.wrapping_sub(1)) == b'-' => {}
                b'>' => depth -= 1,
                b'(' | b'[' | b'{' => {
                    at = self.closed(at)?;
                    continue;
                }
                0 | b';' | b')' | b']' | b'}' => return None,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }

    /// Behind the semicolon or the body that ends whatever is here.
    pub(super) fn terminated(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            match self.kind(at) {
                b';' => return Some(at + 1),
                b'{' => {
                    at = self.closed(at)?;
                    // Behind a function's body nothing follows; behind a class or an initializer a semicolon does.
                    let rest = self.behind_words(at)?;
                    if self.kind(rest) != b';' && self.kind(rest) != b'{' {
                        return Some(at);
                    }
                    if self.kind(at) == b';' {
                        return Some(at + 1);
                    }
                    // `int f() {} int x;` or `struct S {} s;`: to the semicolon, which is at most one declaration more.
                }
                b'(' | b'[' => at = self.closed(at)?,
                0 | b'}' | b')' | b']' => return None,
                _ => at += 1,
            }
        }
    }

    /// Behind the semicolon of a declaration without a body.
    pub(super) fn simple(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at = match self.kind(at) {
                b';' => return Some(at + 1),
                b'(' | b'[' | b'{' => self.closed(at)?,
                0 | b')' | b']' | b'}' => return None,
                _ => at + 1,
            };
        }
    }

    /// Behind words, attributes and what declares pointers.
    pub(super) fn behind_words(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at = match self.kind(at) {
                b'i' if WITH_BRACKETS.contains(&self.word(at)) && self.kind(at + 1) == b'(' => {
                    self.closed(at + 1)?
                }
                b'i' | b',' | b'*' | b'&' => at + 1,
                _ => return Some(at),
            };
        }
    }

    pub(super) fn behind_initializer(&self, from: usize, to: usize) -> usize {
        let mut at = from + 1;
        while at < to && !matches!(self.kind(at), b',' | b';') {
            at = match self.kind(at) {
                b'(' | b'[' | b'{' => self.closed(at).unwrap_or(to),
                _ => at + 1,
            };
        }
        at
    }

    /// Behind what follows the parameters of a function: `;`, or its body.
    pub(super) fn behind(&self, close: usize) -> Option<usize> {
        let (mut at, mut initializers) = (close, false);
        loop {
            at = match self.kind(at) {
                b';' => return Some(at + 1),
                b'{' if initializers && matches!(self.kind(at - 1), b'i' | b'>') => {
                    self.closed(at)?
                }
                b'{' => return self.closed(at),
                b':' if self.kind(at + 1) == b':' => at + 2,
                b':' => {
                    initializers = true;
                    at + 1
                }
                b'(' | b'[' => self.closed(at)?,
                0 | b')' | b']' | b'}' => return None,
                b'i' if matches!(self.word(at), "requires" | "try") => return None,
                _ => at + 1,
            };
        }
    }
}
