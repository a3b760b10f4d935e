//! The header and what stands at module scope.

use super::Parser;
use crate::error::ParseError;
use crate::lex::TokenKind;
use crate::module::{File, Header, Item, ItemKind};
use crate::name::Name;
use crate::span::Span;
use crate::variable::{Linkage, Space};

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Result<(Header, Vec<Item>), ParseError> {
        let header = self.header()?;
        let mut items = Vec::new();
        while self.peek().kind != TokenKind::End {
            let start = self.peek().span;
            let kind = self.item()?;
            items.push(Item {
                kind,
                span: start.to(self.last()),
            });
        }
        Ok((header, items))
    }

    fn header(&mut self) -> Result<Header, ParseError> {
        if self.dotted() != Some("version") {
            return Err(self.error("`.version`"));
        }
        self.at += 1;
        let version_span = self.peek().span;
        let version = self.version()?;
        if self.dotted() != Some("target") {
            return Err(self.error("`.target`"));
        }
        self.at += 1;
        let (target, target_span) = self.word("a target such as `sm_80`")?;
        let mut options = Vec::new();
        while self.eat(b',') {
            options.push(self.word("a target option")?.0);
        }
        let mut address_size = 32;
        if self.dotted() == Some("address_size") {
            self.at += 1;
            address_size = self.small("an address size")?;
        }
        Ok(Header {
            version,
            version_span,
            target,
            target_span,
            options,
            address_size,
        })
    }

    fn version(&mut self) -> Result<(u32, u32), ParseError> {
        let token = self.peek();
        let version = self
            .text_of(token)
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let version = version.ok_or_else(|| self.error("a version such as `8.0`"))?;
        self.at += 1;
        Ok(version)
    }

    fn item(&mut self) -> Result<ItemKind, ParseError> {
        let start = self.peek().span;
        let mut linkage = Linkage::Internal;
        while let Some(found) = self.dotted().and_then(Linkage::from_name) {
            linkage = found;
            self.at += 1;
        }
        let Some(directive) = self.dotted() else {
            return Err(self.error("a directive"));
        };
        if directive == "entry" || directive == "func" {
            return self.function(linkage, start).map(ItemKind::Function);
        }
        if Space::from_name(directive).is_some() {
            return self.variables(linkage, start).map(ItemKind::Variables);
        }
        match directive {
            "file" => self.file().map(ItemKind::File),
            "section" => self.section(),
            "alias" => {
                self.at += 1;
                let (alias, _) = self.word("the alias")?;
                self.expect(b',')?;
                let (function, _) = self.word("the function")?;
                self.expect(b';')?;
                Ok(ItemKind::Alias { alias, function })
            }
            _ => {
                self.at += 1;
                self.skip_statement()?;
                Ok(ItemKind::Other)
            }
        }
    }

    /// `.file 1 "name"`, perhaps with `, time, size`.
    pub(super) fn file(&mut self) -> Result<File, ParseError> {
        self.at += 1;
        let number = self.small("a file number")?;
        let name = self.string("a file name")?;
        while self.eat(b',') {
            self.integer("a number")?;
        }
        Ok(File { number, name })
    }

    fn section(&mut self) -> Result<ItemKind, ParseError> {
        self.at += 1;
        let token = self.peek();
        if !matches!(token.kind, TokenKind::Dotted | TokenKind::Word) {
            return Err(self.error("a section name"));
        }
        self.at += 1;
        let name: Name = self.names.intern(self.text_of(token));
        let open = self.expect(b'{')?;
        loop {
            match self.peek().kind {
                TokenKind::Punct(b'}') => break,
                TokenKind::End | TokenKind::Punct(b'{') => {
                    return Err(self.error("`}` at the end of the section"));
                }
                _ => self.at += 1,
            }
        }
        let close = self.expect(b'}')?;
        Ok(ItemKind::Section {
            name,
            body: Span::new(open.start, close.end),
        })
    }
}
