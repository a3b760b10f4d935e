//! Splits a PTX text into tokens. White space and comments are skipped; every token knows its place.

use crate::span::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier: `add`, `%r1`, `$L__BB0_2`, `sm_90a`.
    Word,
    /// A dot and what follows it at once: `.global`, `.2d`, `.shared::cluster`.
    Dotted,
    /// `12`, `0x1F`, `077`, `0b11`, each perhaps with `U`; `1.5`, `1e30`, `0f3F800000`, `0d…`.
    Number,
    /// `"…"`, without escapes.
    Text,
    /// One character of punctuation.
    Punct(u8),
    /// The end of the text.
    End,
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// A text that does not split into tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LexError {
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
}

/// Splits the whole text. The last token is [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, LexError> {
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        at: 0,
    };
    // nvcc prints about one token in four bytes.
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Bytes of identifiers after the first (PTX ISA 4.5); those beyond ASCII occur in mangled names.
const fn is_follow(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|byte| wanted(*byte)) {
            self.at += 1;
        }
    }

    fn skip_blank(&mut self) -> Result<(), LexError> {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') => self.skip_while(|byte| byte != b'\n'),
                (b'/', b'*') => {
                    let rest = &self.bytes[self.at + 2..];
                    let Some(end) = rest.windows(2).position(|pair| pair == b"*/") else {
                        return Err(LexError {
                            at: self.at,
                            expected: "`*/` at the end of this comment",
                        });
                    };
                    self.at += 2 + end + 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn next(&mut self) -> Result<Token, LexError> {
        self.skip_blank()?;
        let start = self.at;
        let kind = match self.peek(0) {
            0 if start >= self.bytes.len() => TokenKind::End,
            b'"' => {
                self.at += 1;
                self.skip_while(|byte| byte != b'"' && byte != b'\n');
                if self.peek(0) != b'"' {
                    return Err(LexError {
                        at: start,
                        expected: "`\"` at the end of this string",
                    });
                }
                self.at += 1;
                TokenKind::Text
            }
            b'.' if is_follow(self.peek(1)) => {
                self.at += 1;
                self.skip_while(is_follow);
                while self.peek(0) == b':' && self.peek(1) == b':' && is_follow(self.peek(2)) {
                    self.at += 2;
                    self.skip_while(is_follow);
                }
                TokenKind::Dotted
            }
            byte if byte.is_ascii_digit() => {
                self.number();
                TokenKind::Number
            }
            byte if byte == b'%' && !is_follow(self.peek(1)) => {
                self.at += 1;
                TokenKind::Punct(byte)
            }
            byte if byte == b'%' || is_follow(byte) => {
                self.at += 1;
                self.skip_while(is_follow);
                TokenKind::Word
            }
            byte if byte.is_ascii_punctuation() => {
                self.at += 1;
                TokenKind::Punct(byte)
            }
            _ => {
                return Err(LexError {
                    at: start,
                    expected: "PTX, not a control character",
                });
            }
        };
        Ok(Token {
            kind,
            span: Span::new(start, self.at),
        })
    }

    fn number(&mut self) {
        let hex_float = self.peek(0) == b'0' && matches!(self.peek(1), b'f' | b'F' | b'd' | b'D');
        let hex = self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X');
        self.skip_while(is_follow);
        if hex || hex_float {
            return;
        }
        if self.peek(0) == b'.' && (self.peek(1).is_ascii_digit() || !is_follow(self.peek(1))) {
            self.at += 1;
            self.skip_while(is_follow);
        }
        let exponent = self
            .at
            .checked_sub(1)
            .is_some_and(|last| matches!(self.bytes[last], b'e' | b'E'));
        if exponent && matches!(self.peek(0), b'+' | b'-') && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.skip_while(is_follow);
        }
    }
}
