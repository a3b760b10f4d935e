//! Statements.

use std::ops::Range;

use super::variable::Specifiers;
use super::{MAX_DEPTH, Parser};
use crate::error::ParseError;
use crate::lex::TokenKind;
use crate::name::Name;
use crate::scalar::Type;
use crate::statement::{Body, Inlined, Loc, Statement, StatementKind};
use crate::variable::{Linkage, Space};

impl Parser<'_> {
    pub(super) fn body(&mut self) -> Result<Body, ParseError> {
        let open = self.expect(b'{')?;
        let statements = self.statements(1)?;
        Ok(Body {
            statements,
            registers: self.scopes.take(),
            span: open.to(self.last()),
        })
    }

    /// Everything up to and with the closing brace.
    fn statements(&mut self, depth: usize) -> Result<Vec<Statement>, ParseError> {
        if depth > MAX_DEPTH {
            return Err(self.error("a block that is less deeply nested"));
        }
        self.scopes.open();
        let mut statements = Vec::new();
        while !self.eat(b'}') {
            let start = self.peek().span;
            let kind = self.statement(depth)?;
            statements.push(Statement {
                kind,
                span: start.to(self.last()),
            });
        }
        self.scopes.close();
        Ok(statements)
    }

    fn statement(&mut self, depth: usize) -> Result<StatementKind, ParseError> {
        match self.peek().kind {
            TokenKind::Punct(b'{') => {
                self.at += 1;
                self.statements(depth + 1).map(StatementKind::Block)
            }
            TokenKind::Punct(b';') => {
                self.at += 1;
                Ok(StatementKind::Other)
            }
            TokenKind::Dotted => self.declaration(),
            TokenKind::Word if self.ahead(1).kind == TokenKind::Punct(b':') => {
                let (label, _) = self.word("a label")?;
                self.at += 1;
                self.labelled(label)
            }
            TokenKind::Word | TokenKind::Punct(b'@') => self
                .instruction()
                .map(|instruction| StatementKind::Instruction(Box::new(instruction))),
            _ => Err(self.error("a statement or `}`")),
        }
    }

    fn labelled(&mut self, label: Name) -> Result<StatementKind, ParseError> {
        match self.dotted() {
            Some("branchtargets") => {
                let targets = self.targets()?;
                Ok(StatementKind::BranchTargets { label, targets })
            }
            Some("calltargets") => {
                let targets = self.targets()?;
                Ok(StatementKind::CallTargets { label, targets })
            }
            Some("callprototype") => {
                self.at += 1;
                let returns = if self.is(b'(') {
                    self.params()?.0
                } else {
                    Vec::new()
                };
                self.word("`_`")?;
                let params = if self.is(b'(') {
                    self.params()?.0
                } else {
                    Vec::new()
                };
                self.skip_statement()?;
                Ok(StatementKind::CallPrototype {
                    label,
                    returns,
                    params,
                })
            }
            _ => Ok(StatementKind::Label(label)),
        }
    }

    fn targets(&mut self) -> Result<Vec<Name>, ParseError> {
        self.at += 1;
        let mut targets = Vec::new();
        loop {
            targets.push(self.word("a target")?.0);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b';')?;
        Ok(targets)
    }

    fn declaration(&mut self) -> Result<StatementKind, ParseError> {
        let start = self.peek().span;
        let mut linkage = Linkage::Internal;
        while let Some(found) = self.dotted().and_then(Linkage::from_name) {
            linkage = found;
            self.at += 1;
        }
        let directive = self.dotted().unwrap_or_default();
        if Space::from_name(directive).is_some() {
            return self.variables(linkage, start).map(StatementKind::Variables);
        }
        match directive {
            "reg" => self.registers().map(StatementKind::Registers),
            "branchtargets" | "calltargets" | "callprototype" => {
                Err(self.error("a label before this directive"))
            }
            "loc" => self.loc().map(StatementKind::Loc),
            "file" => self.file().map(|_| StatementKind::Other),
            "pragma" => {
                self.at += 1;
                let mut pragmas = Vec::new();
                loop {
                    pragmas.push(self.string("a pragma in quotes")?);
                    if !self.eat(b',') {
                        break;
                    }
                }
                self.expect(b';')?;
                Ok(StatementKind::Pragma(pragmas))
            }
            _ => {
                self.at += 1;
                self.skip_statement()?;
                Ok(StatementKind::Other)
            }
        }
    }

    /// `.reg .b32 %r<13>, a;`
    fn registers(&mut self) -> Result<Range<usize>, ParseError> {
        self.at += 1;
        let first = self.scopes.len();
        let mut specifiers = Specifiers::default();
        while self.specifier(&mut specifiers)? {}
        let ty = specifiers.ty.ok_or_else(|| self.error("a type"))?;
        loop {
            let (name, _) = self.word("a register's name")?;
            let count = if self.eat(b'<') {
                let count = self.small("a number of registers")?;
                self.expect(b'>')?;
                Some(count)
            } else {
                None
            };
            self.declare(name, count, ty, specifiers.lanes.unwrap_or(1))?;
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b';')?;
        Ok(first..self.scopes.len())
    }

    pub(super) fn declare(
        &mut self,
        name: Name,
        count: Option<u32>,
        ty: Type,
        lanes: u64,
    ) -> Result<(), ParseError> {
        self.scopes
            .declare(name, count, ty, lanes)
            .ok_or_else(|| self.error("fewer than 2^32 registers"))
    }

    /// `.loc 2 94 5, function_name $L__info_string0, inlined_at 1 3 44`
    fn loc(&mut self) -> Result<Loc, ParseError> {
        self.at += 1;
        let (file, line, column) = self.place()?;
        let mut inlined = None;
        let mut function = None;
        let mut offset = 0;
        while self.eat(b',') {
            match &*self.word("`function_name` or `inlined_at`")?.0 {
                "function_name" => {
                    function = Some(self.word("a label")?.0);
                    offset = self.offset()?.cast_unsigned();
                }
                "inlined_at" => {
                    let (file, line, column) = self.place()?;
                    inlined = Some(Inlined {
                        function: function.take(),
                        offset,
                        file,
                        line,
                        column,
                    });
                }
                _ => {
                    self.at -= 1;
                    return Err(self.error("`function_name` or `inlined_at`"));
                }
            }
        }
        Ok(Loc {
            file,
            line,
            column,
            inlined,
        })
    }

    fn place(&mut self) -> Result<(u32, u32, u32), ParseError> {
        Ok((
            self.small("a file number")?,
            self.small("a line")?,
            self.small("a column")?,
        ))
    }
}
