//! The parser: one pass over the tokens, in time linear in the text, in depth limited by [`MAX_DEPTH`].
//!
//! - here: the cursor that all parts share
//! - `module`: the header and what stands at module scope
//! - `variable`: declarators and initializers
//! - `function`: signatures and directives
//! - `body`: statements
//! - `operand`: instructions
//! - `scope`: which register a name means

mod body;
mod function;
mod module;
mod number;
mod operand;
mod scope;
mod variable;

use crate::error::ParseError;
use crate::lex::{self, Token, TokenKind};
use crate::module::Module;
use crate::name::{Name, Names};
use crate::span::{Position, Span};

/// How deep blocks, vectors and initializers may be nested. nvcc prints three levels at most.
pub(crate) const MAX_DEPTH: usize = 64;

pub(crate) fn parse(text: String) -> Result<Module, ParseError> {
    let tokens = lex::tokens(&text).map_err(|error| ParseError {
        position: Position::of(&text, error.at),
        expected: error.expected.to_owned(),
        found: found(&text[error.at..]),
    })?;
    let mut parser = Parser {
        text: &text,
        tokens,
        at: 0,
        names: Names::default(),
        scopes: scope::Scopes::default(),
    };
    let (header, items) = parser.module()?;
    Ok(Module::new(text, header, items))
}

/// The start of what stands there, short enough for a message.
fn found(rest: &str) -> String {
    let line = rest.lines().next().unwrap_or_default();
    match line.char_indices().nth(40) {
        _ if rest.is_empty() => "the end of the text".to_owned(),
        None => format!("`{line}`"),
        Some((cut, _)) => format!("`{}…`", &line[..cut]),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    names: Names,
    scopes: scope::Scopes,
}

impl<'t> Parser<'t> {
    fn ahead(&self, count: usize) -> Token {
        self.tokens.get(self.at + count).copied().unwrap_or(Token {
            kind: TokenKind::End,
            span: Span::new(self.text.len(), self.text.len()),
        })
    }

    fn peek(&self) -> Token {
        self.ahead(0)
    }

    fn text_of(&self, token: Token) -> &'t str {
        self.text.get(token.span.range()).unwrap_or_default()
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// The place of the last token taken.
    fn last(&self) -> Span {
        self.at
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or(Span::new(0, 0), |token| token.span)
    }

    fn error(&self, expected: impl Into<String>) -> ParseError {
        let at = self.peek().span.start;
        ParseError {
            position: Position::of(self.text, at),
            expected: expected.into(),
            found: found(self.text.get(at..).unwrap_or_default()),
        }
    }

    fn is(&self, punct: u8) -> bool {
        self.peek().kind == TokenKind::Punct(punct)
    }

    fn eat(&mut self, punct: u8) -> bool {
        let there = self.is(punct);
        if there {
            self.at += 1;
        }
        there
    }

    fn expect(&mut self, punct: u8) -> Result<Span, ParseError> {
        if self.is(punct) {
            Ok(self.advance().span)
        } else {
            Err(self.error(format!("`{}`", char::from(punct))))
        }
    }

    /// The name after the dot of the next token, if it is one.
    fn dotted(&self) -> Option<&'t str> {
        let token = self.peek();
        (token.kind == TokenKind::Dotted)
            .then(|| self.text_of(token).get(1..))
            .flatten()
    }

    fn word(&mut self, expected: &str) -> Result<(Name, Span), ParseError> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.error(expected));
        }
        self.at += 1;
        Ok((self.names.intern(self.text_of(token)), token.span))
    }

    fn integer(&mut self, expected: &str) -> Result<u64, ParseError> {
        let token = self.peek();
        let value = match token.kind {
            TokenKind::Number => number::integer(self.text_of(token)),
            _ => None,
        };
        let value = value.ok_or_else(|| self.error(expected))?;
        self.at += 1;
        Ok(value)
    }

    fn small(&mut self, expected: &str) -> Result<u32, ParseError> {
        let at = self.at;
        let value = self.integer(expected)?;
        u32::try_from(value).map_err(|_| {
            self.at = at;
            self.error(expected)
        })
    }

    fn string(&mut self, expected: &str) -> Result<Name, ParseError> {
        let token = self.peek();
        if token.kind != TokenKind::Text {
            return Err(self.error(expected));
        }
        self.at += 1;
        let text = self.text_of(token).trim_matches('"');
        Ok(self.names.intern(text))
    }

    /// Skips to and past the next `;` outside of braces.
    fn skip_statement(&mut self) -> Result<(), ParseError> {
        let mut depth = 0_usize;
        loop {
            match self.peek().kind {
                TokenKind::Punct(b';') if depth == 0 => {
                    self.at += 1;
                    return Ok(());
                }
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') if depth == 0 => return Err(self.error("`;`")),
                TokenKind::Punct(b'}') => depth -= 1,
                TokenKind::End => return Err(self.error("`;`")),
                _ => {}
            }
            self.at += 1;
        }
    }
}
