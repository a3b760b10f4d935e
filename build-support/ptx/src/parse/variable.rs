//! Declarators and initializers of variables (PTX ISA 5.4).

use super::{MAX_DEPTH, Parser, number};
use crate::error::ParseError;
use crate::lex::TokenKind;
use crate::name::Name;
use crate::scalar::Type;
use crate::span::Span;
use crate::variable::{Init, Linkage, Space, Value, Variable};

/// What the dotted words before a declarator say.
#[derive(Debug, Default)]
pub(super) struct Specifiers {
    pub(super) align: Option<u64>,
    pub(super) ty: Option<Type>,
    pub(super) lanes: Option<u64>,
    pub(super) attribute: Option<Name>,
}

impl Parser<'_> {
    /// Takes one specifier; `false` if the next token is none.
    pub(super) fn specifier(&mut self, specifiers: &mut Specifiers) -> Result<bool, ParseError> {
        let Some(directive) = self.dotted() else {
            return Ok(false);
        };
        if let Some(ty) = Type::from_name(directive) {
            specifiers.ty = Some(ty);
            self.at += 1;
            return Ok(true);
        }
        match directive {
            "align" => {
                self.at += 1;
                specifiers.align = Some(self.integer("an alignment")?);
            }
            "v2" | "v4" | "v8" => {
                self.at += 1;
                specifiers.lanes = directive.get(1..).and_then(|lanes| lanes.parse().ok());
            }
            "attribute" => specifiers.attribute = Some(self.attribute()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `.attribute(…)`: what stands between the parentheses.
    pub(super) fn attribute(&mut self) -> Result<Name, ParseError> {
        self.at += 1;
        let open = self.expect(b'(')?;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.peek().kind {
                TokenKind::Punct(b'(') => depth += 1,
                TokenKind::Punct(b')') => depth -= 1,
                TokenKind::End | TokenKind::Punct(b';' | b'{' | b'}') => {
                    return Err(self.error("`)`"));
                }
                _ => {}
            }
            self.at += 1;
        }
        let inside = Span::new(open.end, self.last().start);
        let text = self.text.get(inside.range()).unwrap_or_default();
        Ok(self.names.intern(text.trim()))
    }

    /// A statement that declares variables; the next token is the state space.
    pub(super) fn variables(
        &mut self,
        linkage: Linkage,
        start: Span,
    ) -> Result<Vec<Variable>, ParseError> {
        let space = self.dotted().and_then(Space::from_name);
        let space = space.ok_or_else(|| self.error("a state space"))?;
        self.at += 1;
        let mut specifiers = Specifiers::default();
        while self.specifier(&mut specifiers)? {}
        let ty = specifiers.ty.ok_or_else(|| self.error("a type"))?;
        let mut variables = Vec::new();
        loop {
            let (name, name_span) = self.word("a variable's name")?;
            let dims = self.dims()?;
            let equals = self.peek().span;
            let init = self.eat(b'=').then(|| self.init()).transpose()?;
            let init_span = init.is_some().then(|| equals.to(self.last()));
            variables.push(Variable {
                space,
                linkage,
                name,
                name_span,
                align: specifiers.align,
                ty,
                lanes: specifiers.lanes.unwrap_or(1),
                dims,
                init,
                init_span,
                attribute: specifiers.attribute.clone(),
                span: start,
                alone: true,
            });
            if !self.eat(b',') {
                break;
            }
        }
        let end = self.expect(b';')?;
        let alone = variables.len() == 1;
        for variable in &mut variables {
            variable.span = start.to(end);
            variable.alone = alone;
        }
        Ok(variables)
    }

    /// `[4][]…`
    pub(super) fn dims(&mut self) -> Result<Vec<Option<u64>>, ParseError> {
        let mut dims = Vec::new();
        while self.eat(b'[') {
            if self.eat(b']') {
                dims.push(None);
                continue;
            }
            dims.push(Some(self.integer("a dimension")?));
            self.expect(b']')?;
        }
        Ok(dims)
    }

    fn init(&mut self) -> Result<Init, ParseError> {
        if !self.is(b'{') {
            return self.value().map(Init::Value);
        }
        let mut values = Vec::new();
        let mut depth = 0_usize;
        loop {
            if self.eat(b'{') {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(self.error("an initializer that is less deeply nested"));
                }
                if !self.is(b'}') {
                    continue;
                }
            } else {
                values.push(self.value()?);
            }
            while self.eat(b'}') {
                depth -= 1;
                if depth == 0 {
                    return Ok(Init::List(values));
                }
            }
            self.expect(b',')?;
        }
    }

    fn value(&mut self) -> Result<Value, ParseError> {
        let negative = self.eat(b'-');
        let token = self.peek();
        if token.kind == TokenKind::Number {
            let value = number::number(self.text_of(token));
            let value = value.ok_or_else(|| self.error("a constant"))?;
            self.at += 1;
            return Ok(match value {
                Value::Int(mask) if !negative && self.eat(b'(') => {
                    let address = self.symbol(Some(mask))?;
                    self.expect(b')')?;
                    address
                }
                Value::Int(bits) if negative => Value::Int(bits.wrapping_neg()),
                Value::F32(bits) if negative => Value::F32(bits ^ (1 << 31)),
                Value::F64(bits) if negative => Value::F64(bits ^ (1 << 63)),
                value => value,
            });
        }
        if negative {
            return Err(self.error("a number"));
        }
        self.symbol(None)
    }

    /// `symbol`, `generic(symbol)`, each perhaps with `+ 8`.
    fn symbol(&mut self, mask: Option<u64>) -> Result<Value, ParseError> {
        let (mut symbol, _) = self.word("a constant or a symbol")?;
        let generic = &*symbol == "generic" && self.eat(b'(');
        let mut offset = 0_i64;
        if generic {
            symbol = self.word("a symbol")?.0;
            offset = self.offset()?;
            self.expect(b')')?;
        }
        offset = offset.wrapping_add(self.offset()?);
        Ok(Value::Address {
            symbol,
            offset,
            generic,
            mask,
        })
    }

    /// `+8`, `-8`, `+-8` or nothing.
    pub(super) fn offset(&mut self) -> Result<i64, ParseError> {
        let plus = self.eat(b'+');
        let minus = self.eat(b'-');
        if !plus && !minus {
            return Ok(0);
        }
        let bytes = self.integer("a number of bytes")?.cast_signed();
        Ok(if minus { bytes.wrapping_neg() } else { bytes })
    }
}
