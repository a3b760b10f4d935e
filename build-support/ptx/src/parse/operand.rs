//! Instructions. Operands that fit no form are kept as text, so that new instructions stay readable.

use super::{MAX_DEPTH, Parser, number};
use crate::error::ParseError;
use crate::instruction::{Address, Call, Guard, Instruction, Operand, Register};
use crate::lex::{Token, TokenKind};
use crate::name::Name;
use crate::span::Span;
use crate::variable::Value;

impl Parser<'_> {
    pub(super) fn instruction(&mut self) -> Result<Instruction, ParseError> {
        let guard = if self.eat(b'@') {
            let negated = self.eat(b'!');
            let (name, _) = self.word("a predicate")?;
            Some(Guard {
                negated,
                predicate: self.named(name),
            })
        } else {
            None
        };
        let (opcode, _) = self.word("an instruction")?;
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.dotted() {
            modifiers.push(self.names.intern(modifier));
            self.at += 1;
        }
        let start = self.at;
        let mut instruction = Instruction {
            guard,
            opcode,
            modifiers,
            operands: Vec::new(),
            call: None,
        };
        if &*instruction.opcode == "call" {
            instruction.call = self.call().filter(|_| self.eat(b';'));
            if instruction.call.is_some() {
                return Ok(instruction);
            }
        } else if self.eat(b';') {
            return Ok(instruction);
        } else if let Some(operands) = self.list(0)
            && self.eat(b';')
        {
            instruction.operands = operands;
            return Ok(instruction);
        }
        self.at = start;
        instruction.operands = vec![self.unknown()?];
        Ok(instruction)
    }

    /// Everything up to the semicolon, which is taken too.
    fn unknown(&mut self) -> Result<Operand, ParseError> {
        let start = self.at;
        let first = self.peek().span;
        self.skip_statement()?;
        // All but the semicolon.
        let end = self.at - 1;
        let words: Vec<Token> = (self.tokens[start..end].iter().copied())
            .filter(|token| token.kind == TokenKind::Word)
            .collect();
        let mut parts = Vec::with_capacity(words.len());
        for word in words {
            let name = self.names.intern(self.text_of(word));
            parts.push(self.named(name));
        }
        let span = Span::new(first.start, self.last().start);
        Ok(Operand::Other(span, parts))
    }

    /// What a name means here.
    fn named(&self, name: Name) -> Operand {
        if &*name == "_" {
            Operand::Sink
        } else if let Some(id) = self.scopes.resolve(&name) {
            Operand::Register(Register { name, id })
        } else if name.starts_with('%') {
            Operand::Special(name)
        } else {
            Operand::Symbol(name, 0)
        }
    }

    /// Operands between commas, one at least.
    fn list(&mut self, depth: usize) -> Option<Vec<Operand>> {
        let mut operands = Vec::with_capacity(4);
        loop {
            operands.push(self.operand(depth)?);
            if !self.eat(b',') {
                return Some(operands);
            }
        }
    }

    fn operand(&mut self, depth: usize) -> Option<Operand> {
        if depth > MAX_DEPTH {
            return None;
        }
        let token = self.peek();
        match token.kind {
            TokenKind::Punct(b'{') => {
                self.at += 1;
                let parts = self.list(depth + 1)?;
                self.eat(b'}').then_some(Operand::Vector(parts))
            }
            TokenKind::Punct(b'[') => {
                self.at += 1;
                let base = self.operand(depth + 1)?;
                let (base, offset) = match base {
                    Operand::Symbol(name, offset) => (Operand::Symbol(name, 0), offset),
                    base => (base, self.offset().ok()?),
                };
                let rest = if self.eat(b',') {
                    self.list(depth + 1)?
                } else {
                    Vec::new()
                };
                self.eat(b']')
                    .then(|| Operand::Address(Box::new(Address { base, offset, rest })))
            }
            TokenKind::Punct(b'!') => {
                self.at += 1;
                Some(Operand::Not(Box::new(self.operand(depth + 1)?)))
            }
            TokenKind::Punct(b'-') => {
                self.at += 1;
                match self.constant()? {
                    Operand::Int(bits) => Some(Operand::Int(bits.wrapping_neg())),
                    Operand::F32(bits) => Some(Operand::F32(bits ^ (1 << 31))),
                    Operand::F64(bits) => Some(Operand::F64(bits ^ (1 << 63))),
                    _ => None,
                }
            }
            TokenKind::Number => self.constant(),
            TokenKind::Word => {
                let first = self.named_operand(token)?;
                if !self.eat(b'|') {
                    return Some(first);
                }
                let second = self.operand(depth + 1)?;
                Some(Operand::Pair(Box::new(first), Box::new(second)))
            }
            _ => None,
        }
    }

    fn constant(&mut self) -> Option<Operand> {
        let token = self.advance();
        if token.kind != TokenKind::Number {
            return None;
        }
        Some(match number::number(self.text_of(token))? {
            Value::Int(bits) => Operand::Int(bits),
            Value::F32(bits) => Operand::F32(bits),
            Value::F64(bits) => Operand::F64(bits),
            Value::Address { .. } => return None,
        })
    }

    fn named_operand(&mut self, token: Token) -> Option<Operand> {
        self.at += 1;
        let name = self.names.intern(self.text_of(token));
        let named = self.named(name);
        let Some(element) = self.dotted() else {
            return Some(match named {
                Operand::Symbol(name, _) => Operand::Symbol(name, self.offset().ok()?),
                named => named,
            });
        };
        let part = self.advance();
        match named {
            Operand::Register(register) => {
                let element = self.names.intern(element);
                Some(Operand::Element(register, element))
            }
            Operand::Special(_) => {
                let whole = token.span.to(part.span);
                let name = self.text.get(whole.range())?;
                Some(Operand::Special(self.names.intern(name)))
            }
            _ => None,
        }
    }

    /// `(results), target, (args), prototype`, all but the target optional.
    fn call(&mut self) -> Option<Call> {
        let mut returns = Vec::new();
        if self.is(b'(') {
            returns = self.parenthesized()?.0;
            self.eat(b',').then_some(())?;
        }
        let token = self.peek();
        let target = self.operand(0)?;
        let mut call = Call {
            returns,
            target,
            target_span: token.span,
            args: Vec::new(),
            args_span: None,
            prototype: None,
        };
        while self.eat(b',') {
            if self.is(b'(') && call.args_span.is_none() {
                let (args, span) = self.parenthesized()?;
                call.args = args;
                call.args_span = Some(span);
            } else {
                call.prototype = Some(self.word("a label").ok()?.0);
            }
        }
        Some(call)
    }

    fn parenthesized(&mut self) -> Option<(Vec<Operand>, Span)> {
        let open = self.advance().span;
        let operands = if self.is(b')') {
            Vec::new()
        } else {
            self.list(0)?
        };
        let close = self.is(b')').then(|| self.advance().span)?;
        Some((operands, open.to(close)))
    }
}
