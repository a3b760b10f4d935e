//! A preprocessed text in pieces, with what each declares and what it names.

use std::collections::HashMap;
use std::sync::Arc;

use super::declaration::Piece;
use super::splitter::Splitter;
use super::token::{self, Directive, Token, TokenKind};

/// A text, split.
#[derive(Debug)]
pub(crate) struct Headers {
    pub(super) text: Arc<str>,
    pub(super) directives: Vec<Directive>,
    pub(super) markers: Vec<Marker>,
    pub(super) parts: Vec<Part>,
    pub(super) words: HashMap<String, u32>,
    /// The folder of `cuda_runtime.h`, which nvcc passes as `-I`, so that its headers carry no flag 3.
    toolkit: Option<String>,
}

/// A declaration, or a stretch of the user's own.
#[derive(Debug)]
pub(super) struct Part {
    /// Where it starts and ends.
    pub(super) start: u32,
    pub(super) end: u32,
    /// What it declares; `None` where it stays in any case.
    pub(super) names: Option<Vec<u32>>,
    /// Every word in it.
    pub(super) uses: Vec<u32>,
}

/// A line marker: the lines behind it are those of a file from a number on.
#[derive(Debug)]
pub(super) struct Marker {
    /// Where the line behind it starts.
    pub(super) end: u32,
    pub(super) line: u32,
    /// The file's name with its quotes.
    pub(super) file: (u32, u32),
    /// Whether it carries flag 3.
    pub(super) quiet: bool,
    /// Whether nothing of the user's is behind it.
    system: bool,
}

impl Headers {
    /// Splits the text of headers alone.
    pub(crate) fn new(text: Arc<str>) -> Option<Self> {
        Self::read(text, None)
    }

    /// The text as it was.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Splits what stands behind other headers; its words are numbered on.
    pub(super) fn after(headers: &Self, text: &str) -> Option<Self> {
        Self::read(text.into(), Some(headers))
    }

    fn read(text: Arc<str>, before: Option<&Self>) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let (tokens, directives) = token::split(&text);
        let mut headers = Self {
            text,
            directives,
            markers: Vec::new(),
            parts: Vec::new(),
            words: HashMap::new(),
            toolkit: before.and_then(|before| before.toolkit.clone()),
        };
        headers.mark();
        let mut pieces = Vec::new();
        for (from, to, own) in headers.stretches(&tokens) {
            let splitter = Splitter {
                text: &headers.text,
                tokens: &tokens,
                end: to,
            };
            let found = if own { None } else { splitter.pieces(from) };
            let whole = Piece {
                from,
                to,
                names: None,
                members: Vec::new(),
            };
            pieces.extend(found.unwrap_or_else(|| vec![whole]));
        }
        let mut numbers = Numbers {
            base: before.map(|before| &before.words),
            words: HashMap::new(),
        };
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            let names = piece.names.as_ref();
            let names = names.map(|names| names.iter().map(|name| numbers.of(name)).collect());
            let tokens = &tokens[piece.from..piece.to];
            let mut uses: Vec<_> = words_of(&headers.text, tokens)
                .filter(|word| !piece.members.contains(word))
                .map(|word| numbers.of(word))
                .collect();
            uses.extend(implied(&headers.text, tokens).map(|word| numbers.of(word)));
            uses.sort_unstable();
            uses.dedup();
            let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
                continue;
            };
            parts.push(Part {
                start: first.start,
                end: last.end,
                names,
                uses,
            });
        }
        let words = numbers
            .words
            .into_iter()
            .map(|(word, number)| (word.to_owned(), number));
        headers.words = words.collect();
        headers.parts = parts;
        Some(headers)
    }

    /// The number of a word, if it stands here.
    pub(super) fn number(&self, word: &str) -> Option<u32> {
        self.words.get(word).copied()
    }

    /// The marker whose lines a place is among.
    pub(super) fn marker_of(&self, place: u32) -> Option<&Marker> {
        let behind = self.markers.partition_point(|marker| marker.end <= place);
        self.markers.get(behind.checked_sub(1)?)
    }

    fn mark(&mut self) {
        for directive in &self.directives {
            let line = &self.text[directive.start as usize..directive.end as usize];
            let Some((number, file, flags)) = marker(line) else {
                continue;
            };
            if self.toolkit.is_none()
                && let Some(folder) = file.strip_suffix("cuda_runtime.h")
            {
                self.toolkit = Some(folder.to_owned()).filter(|folder| !folder.is_empty());
            }
            let of_toolkit = self
                .toolkit
                .as_ref()
                .is_some_and(|folder| file.starts_with(folder.as_str()));
            let quote = directive.start + u32::try_from(line.find('"').unwrap_or(0)).unwrap_or(0);
            let len = u32::try_from(file.len()).unwrap_or(0);
            self.markers.push(Marker {
                end: directive.end,
                line: number,
                file: (quote, quote + len + 2),
                quiet: flags.contains('3'),
                system: flags.contains('3') || of_toolkit || file.starts_with('<'),
            });
        }
    }

    /// Stretches of tokens as `(from, to, own)`. Within brackets of the user's own everything is the user's own.
    fn stretches(&self, tokens: &[Token]) -> Vec<(usize, usize, bool)> {
        let mut stretches: Vec<(usize, usize, bool)> = Vec::new();
        let mut markers = self.markers.iter().peekable();
        let (mut system, mut depth) = (false, 0_i64);
        for (index, token) in tokens.iter().enumerate() {
            while let Some(marker) = markers.next_if(|marker| marker.end <= token.start) {
                system = marker.system;
            }
            let own = !system || depth != 0;
            if own {
                depth += match token.kind {
                    TokenKind::Mark(b'{' | b'(' | b'[') => 1,
                    TokenKind::Mark(b'}' | b')' | b']') => -1,
                    _ => 0,
                };
            }
            match stretches.last_mut() {
                Some((_, to, last)) if *last == own => *to = index + 1,
                _ => stretches.push((index, index + 1, own)),
            }
        }
        stretches
    }
}

/// Numbers for words, those of the text before first.
struct Numbers<'t> {
    base: Option<&'t HashMap<String, u32>>,
    words: HashMap<&'t str, u32>,
}

impl<'t> Numbers<'t> {
    fn of(&mut self, word: &'t str) -> u32 {
        if let Some(number) = self.base.and_then(|base| base.get(word)) {
            return *number;
        }
        let next = self.base.map_or(0, HashMap::len) + self.words.len();
        let next = u32::try_from(next).unwrap_or(u32::MAX);
        *self.words.entry(word).or_insert(next)
    }
}

/// The words of a text that is no header.
pub(super) fn words(text: &str) -> Vec<String> {
    let (tokens, _) = token::split(text);
    words_of(text, &tokens).map(str::to_owned).collect()
}

fn words_of<'t>(text: &'t str, tokens: &[Token]) -> impl Iterator<Item = &'t str> {
    let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
    words.map(|token| &text[token.start as usize..token.end as usize])
}

/// Names that the compiler looks for where they do not stand: those of range-`for` and of structured bindings.
fn implied(text: &str, tokens: &[Token]) -> impl Iterator<Item = &'static str> {
    let word = |token: &Token| &text[token.start as usize..token.end as usize];
    let (mut ranges, mut bindings) = (false, false);
    for (index, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Word {
            continue;
        }
        match word(token) {
            "for" => ranges |= has_colon(&tokens[index + 1..]),
            "auto" => {
                let mut rest = tokens[index + 1..].iter();
                let next = rest
                    .find(|token| token.kind != TokenKind::Mark(b'&') && word(token) != "const");
                bindings |= next.is_some_and(|token| token.kind == TokenKind::Mark(b'['));
            }
            _ => {}
        }
    }
    let ranges = ["begin", "end"].into_iter().filter(move |_| ranges);
    let bindings = ["tuple_size", "tuple_element", "get"]
        .into_iter()
        .filter(move |_| bindings);
    ranges.chain(bindings)
}

/// Whether the bracket that starts here has a colon of its own that belongs to no `?`.
fn has_colon(tokens: &[Token]) -> bool {
    let mut depth = 0;
    let is_colon = |at: usize| {
        tokens
            .get(at)
            .is_some_and(|token| token.kind == TokenKind::Mark(b':'))
    };
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Mark(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Mark(b')' | b']' | b'}') => depth -= 1,
            TokenKind::Mark(b';' | b'?') if depth == 1 => return false,
            TokenKind::Mark(b':') if depth == 1 && !is_colon(at - 1) && !is_colon(at + 1) => {
                return true;
            }
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    false
}

/// `# 12 "file" 1 3`: the number, the name as it is written, the flags.
pub(super) fn marker(line: &str) -> Option<(u32, &str, &str)> {
    let rest = line
        .strip_prefix("# ")
        .or_else(|| line.strip_prefix("#line "))?;
    let (number, rest) = rest.split_once(' ')?;
    let rest = rest.strip_prefix('"')?;
    let (file, flags) = rest.rsplit_once('"')?;
    Some((number.parse().ok()?, file, flags.trim_end()))
}
