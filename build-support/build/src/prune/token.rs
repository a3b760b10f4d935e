//! Tokens of preprocessed text by their places, and its lines that start with `#`.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    /// A string or a character.
    Literal,
    /// A character of its own.
    Mark(u8),
}

/// A token by its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A line that starts with `#`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Directive {
    pub(super) start: u32,
    /// Behind its line end.
    pub(super) end: u32,
}

/// Splits a text; its lines are where the preprocessor left them.
pub(super) fn split(text: &str) -> (Vec<Token>, Vec<Directive>) {
    let bytes = text.as_bytes();
    let (mut tokens, mut directives) = (Vec::with_capacity(bytes.len() / 5), Vec::new());
    let (mut at, mut line_start) = (0, true);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'\n' => {
                at += 1;
                line_start = true;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => {
                at += 1;
                continue;
            }
            b'#' if line_start => {
                at = end_of_line(bytes, at);
                directives.push(Directive {
                    start: place(start),
                    end: place(at),
                });
                continue;
            }
            b'"' | b'\'' => at = quoted(bytes, at),
            b'0'..=b'9' => at = number(bytes, at),
            _ if is_word(byte) => {
                at = bytes[at..]
                    .iter()
                    .position(|b| !is_word(*b))
                    .map_or(bytes.len(), |len| at + len);
                at = literal(bytes, start, at);
            }
            _ => at += 1,
        }
        line_start = false;
        let kind = match byte {
            b'0'..=b'9' => TokenKind::Number,
            b'"' | b'\'' => TokenKind::Literal,
            _ if is_word(byte) => match bytes[at - 1] {
                b'"' | b'\'' => TokenKind::Literal,
                _ => TokenKind::Word,
            },
            other => TokenKind::Mark(other),
        };
        tokens.push(Token {
            kind,
            start: place(start),
            end: place(at),
        });
    }
    (tokens, directives)
}

/// A text of four gigabytes or more is not split in the first place.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    rest.iter()
        .position(|b| *b == b'\n')
        .map_or(bytes.len(), |len| at + len + 1)
}

fn quoted(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        end += 1;
        match byte {
            b'\\' => end += 1,
            b'\n' => break,
            _ if byte == quote => break,
            _ => {}
        }
    }
    end.min(bytes.len())
}

fn number(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        let sign =
            matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E' | b'p' | b'P');
        let separator = byte == b'\''
            && bytes
                .get(end + 1)
                .is_some_and(|b| b.is_ascii_alphanumeric());
        if !(is_word(byte) || byte == b'.' || sign || separator) {
            break;
        }
        end += 1;
    }
    end
}

/// A word that is the prefix of a literal takes it along.
fn literal(bytes: &[u8], start: usize, end: usize) -> usize {
    let prefix = &bytes[start..end];
    match bytes.get(end) {
        Some(b'"') if prefix.ends_with(b"R") && prefix.len() <= 3 => raw(bytes, end),
        Some(b'"' | b'\'') if matches!(prefix, b"L" | b"u" | b"U" | b"u8") => quoted(bytes, end),
        _ => end,
    }
}

fn raw(bytes: &[u8], at: usize) -> usize {
    let Some(open) = bytes[at..].iter().position(|b| *b == b'(') else {
        return bytes.len();
    };
    let close = [b")", &bytes[at + 1..at + open], b"\""].concat();
    let body = at + open;
    let mut places = bytes[body..].windows(close.len());
    places
        .position(|window| window == close)
        .map_or(bytes.len(), |len| body + len + close.len())
}
