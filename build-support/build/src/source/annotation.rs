//! `GPUK_IN(n * width)` and its like: what `gpuk.cuh` leaves of them in the preprocessed text.
//!
//! Each is an attribute that no compiler knows, `__attribute__((__gpuk__("in", "n * TILE", n * 16)))`: the macro's name,
//! its argument as written, and as the preprocessor resolved it. The compiler never sees it ([`without`]).

use super::cursor::Tokens;
use super::lexer::{Token, TokenKind};
use crate::diagnostic::Place;

/// An annotation as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredAnnotation {
    /// Which: `in`, `out_opt`, `launch`.
    pub(crate) word: String,
    /// The parameter it stands at; `None` where it stands at the kernel.
    pub(crate) param: Option<usize>,
    /// What stands in its parentheses, as written.
    pub(crate) written: String,
    /// The same with macros resolved.
    pub(crate) tokens: Vec<Spot>,
    /// Where it stands; the column is that of what is in its parentheses.
    pub(crate) place: Place,
}

/// A token and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// How an annotation begins.
const OPEN: [&str; 5] = ["__attribute__", "(", "(", "__gpuk__", "("];

impl Tokens<'_, '_> {
    /// Whether an annotation starts here.
    pub(super) fn is_annotation(self, at: usize) -> bool {
        let mut open = OPEN.iter().enumerate();
        open.all(|(index, text)| self.is(at + index, text))
    }
}

/// The annotations among tokens, those of `param` if they are a parameter's.
pub(super) fn annotations(
    tokens: &[Token<'_>],
    param: Option<usize>,
    place: impl Fn(&Token<'_>) -> Place,
) -> Vec<DeclaredAnnotation> {
    let all = Tokens(tokens);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(end) = all.after_attribute(at) else {
            at += 1;
            continue;
        };
        if all.is_annotation(at) {
            let inner = &tokens[at + OPEN.len()..end.saturating_sub(3).max(at + OPEN.len())];
            found.extend(annotation(inner, param, &place));
        }
        at = end;
    }
    found
}

/// What stands in the innermost parentheses.
fn annotation(
    tokens: &[Token<'_>],
    param: Option<usize>,
    place: impl Fn(&Token<'_>) -> Place,
) -> Option<DeclaredAnnotation> {
    let [word, _, written, _, tokens @ ..] = tokens else {
        return None;
    };
    let spot = |token: &Token<'_>| Spot {
        text: token.text.to_owned(),
        place: place(token),
    };
    Some(DeclaredAnnotation {
        word: literal(word)?,
        param,
        written: literal(written)?,
        tokens: tokens.iter().map(spot).collect(),
        place: place(word),
    })
}

/// What the preprocessor made a string of.
fn literal(token: &Token<'_>) -> Option<String> {
    let inner = token.text.strip_prefix('"')?.strip_suffix('"')?;
    let is_literal = token.kind == TokenKind::Literal;
    is_literal.then(|| inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// The text with annotations as the preprocessor leaves them, for a declaration that no preprocessor reads.
pub(crate) fn marked(text: &str) -> String {
    const NAMES: [&str; 7] = [
        "in",
        "out",
        "inout",
        "in_opt",
        "out_opt",
        "inout_opt",
        "launch",
    ];
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("GPUK_") {
        let (before, from) = rest.split_at(at);
        out += before;
        let name = NAMES.iter().find_map(|name| {
            let upper = format!("GPUK_{}(", name.to_uppercase());
            from.starts_with(&upper).then_some((name, upper.len()))
        });
        let Some((name, open)) = name else {
            let (word, behind) = from.split_at("GPUK_".len());
            out += word;
            rest = behind;
            continue;
        };
        let end = open - 1 + closed(&from.as_bytes()[open - 1..]);
        let inner = from.get(open..end.saturating_sub(1)).unwrap_or_default();
        out += &format!("__attribute__((__gpuk__({name:?}, {inner:?}, {inner})))");
        rest = from.get(end..).unwrap_or_default();
    }
    out + rest
}

/// The text without annotations; lines stay where they are.
pub(crate) fn without(text: &[u8]) -> Vec<u8> {
    const MARK: &[u8] = b"__attribute__((__gpuk__(";
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = position(rest, MARK) {
        out.extend_from_slice(&rest[..at]);
        let end = at + closed(&rest[at..]);
        out.extend(rest[at..end].iter().filter(|byte| **byte == b'\n'));
        rest = &rest[end..];
    }
    out.extend_from_slice(rest);
    out
}

fn position(text: &[u8], mark: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.iter().position(|byte| *byte == mark[0])?;
        if text[at..].starts_with(mark) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Where the parentheses that open in the text are closed.
fn closed(text: &[u8]) -> usize {
    let (mut depth, mut at, mut quote) = (0_usize, 0, None);
    while let Some(&byte) = text.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            // Not the separator in `1'000`.
            (None, b'\'') if at > 0 && text[at - 1].is_ascii_hexdigit() => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') if depth == 1 => return at + 1,
            (None, b')') => depth -= 1,
            (None, _) => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_sees_no_annotation() {
        let text = "f(__attribute__((__gpuk__(\"in\", \"n[\\\")\\\"]\",\nn))) int *x, __attribute__((aligned(4))) int y)";
        let plain = "f(\n int *x, __attribute__((aligned(4))) int y)";
        assert_eq!(without(text.as_bytes()), plain.as_bytes());
        let digits = b"__attribute__((__gpuk__(\"in\", \"1'000\", 1'000))) int *x";
        assert_eq!(without(digits), b" int *x");
        assert_eq!(without(b"__attribute__((__gpuk__("), b"");
        assert_eq!(without(b"_a __attribute__"), b"_a __attribute__");
    }
}
