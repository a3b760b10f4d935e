//! Signatures and directives of functions.

use super::Parser;
use super::variable::Specifiers;
use crate::error::ParseError;
use crate::function::{Directive, Function, FunctionKind, Param, Pointer};
use crate::lex::TokenKind;
use crate::span::Span;
use crate::variable::{Linkage, Space};

impl Parser<'_> {
    /// A function; the next token is `.entry` or `.func`.
    pub(super) fn function(
        &mut self,
        linkage: Linkage,
        start: Span,
    ) -> Result<Function, ParseError> {
        let kind = match self.dotted() {
            Some("entry") => FunctionKind::Entry,
            _ => FunctionKind::Func,
        };
        self.at += 1;
        self.scopes.reset();
        if self.dotted() == Some("attribute") {
            self.attribute()?;
        }
        let returns = if self.is(b'(') {
            self.params()?.0
        } else {
            Vec::new()
        };
        let (name, name_span) = self.word("a function's name")?;
        let (params, params_span) = if self.is(b'(') {
            let (params, span) = self.params()?;
            (params, Some(span))
        } else {
            (Vec::new(), None)
        };
        for param in returns.iter().chain(&params) {
            if param.register {
                self.declare(param.name.clone(), None, param.ty, param.lanes)?;
            }
        }
        let directives = self.directives()?;
        let body = if self.eat(b';') {
            None
        } else {
            Some(self.body()?)
        };
        Ok(Function {
            kind,
            linkage,
            name,
            name_span,
            returns,
            params,
            params_span,
            directives,
            body,
            span: start.to(self.last()),
        })
    }

    /// `(…)`, perhaps empty.
    pub(super) fn params(&mut self) -> Result<(Vec<Param>, Span), ParseError> {
        let open = self.expect(b'(')?;
        let mut params = Vec::new();
        if !self.is(b')') {
            loop {
                params.push(self.param()?);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        let close = self.expect(b')')?;
        Ok((params, open.to(close)))
    }

    fn param(&mut self) -> Result<Param, ParseError> {
        let start = self.peek().span;
        let register = match self.dotted() {
            Some("reg") => true,
            Some("param") => false,
            _ => return Err(self.error("`.param` or `.reg`")),
        };
        self.at += 1;
        let mut specifiers = Specifiers::default();
        let mut pointer = None;
        loop {
            if self.specifier(&mut specifiers)? {
                continue;
            }
            if self.dotted() != Some("ptr") {
                break;
            }
            self.at += 1;
            let space = self.dotted().and_then(Space::from_name);
            self.at += usize::from(space.is_some());
            let mut align = None;
            if self.dotted() == Some("align") {
                self.at += 1;
                align = Some(self.integer("an alignment")?);
            }
            pointer = Some(Pointer { space, align });
        }
        let ty = specifiers.ty.ok_or_else(|| self.error("a type"))?;
        let (name, _) = self.word("a parameter's name")?;
        let dims = self.dims()?;
        Ok(Param {
            register,
            name,
            align: specifiers.align,
            ty,
            lanes: specifiers.lanes.unwrap_or(1),
            dims,
            pointer,
            span: start.to(self.last()),
        })
    }

    /// Everything up to the body or the semicolon.
    fn directives(&mut self) -> Result<Vec<Directive>, ParseError> {
        let mut directives = Vec::new();
        while let Some(name) = self.dotted() {
            let start = self.advance().span;
            let mut args = Vec::new();
            while matches!(
                self.peek().kind,
                TokenKind::Number | TokenKind::Word | TokenKind::Text
            ) {
                let token = self.advance();
                args.push(self.names.intern(self.text_of(token)));
                self.eat(b',');
            }
            // Unlike the others a `.pragma` ends with a semicolon.
            if name == "pragma" {
                self.eat(b';');
            }
            directives.push(Directive {
                name: self.names.intern(name),
                args,
                span: start.to(self.last()),
            });
        }
        Ok(directives)
    }
}
