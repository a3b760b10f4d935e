//! Bodies of structs, classes, unions and enums.

use super::cursor::{Tokens, joined};
use super::declarator::{before_default, further_name_at, is_inner_declarator, name_at};
use super::lexer::Token;
use super::parser::{Header, Parser};
use super::{DeclaredBase, DeclaredField, DeclaredType, FieldKind, Obstacle, TypeKind};

/// A class head: what stands before the body.
struct Head {
    kind: TypeKind,
    /// The position of `struct`, `class`, `union` or `enum`.
    key: usize,
    /// As written; empty for an unnamed one.
    path: Vec<String>,
    name_at: usize,
    base: Option<(usize, usize)>,
    specialization: bool,
    open: usize,
}

/// A class definition in a declaration.
struct Definition {
    /// The position after the body.
    declarators: usize,
    /// The position after the declaration.
    end: usize,
    /// The members of a struct or union without a name, and whether there are more.
    anonymous: Option<(Vec<DeclaredField>, Option<Obstacle>)>,
    /// Its name, if it has one.
    name: String,
}

impl Parser<'_, '_> {
    /// Reads a declaration that defines a class or an enum, and gives the position after it.
    pub(super) fn class(&mut self, from: usize, header: &Header) -> Option<usize> {
        self.definition(from, header, true)
            .map(|definition| definition.end)
    }

    fn definition(&mut self, from: usize, header: &Header, public: bool) -> Option<Definition> {
        self.deeper(|parser| parser.definition_here(from, header, public))?
    }

    fn definition_here(
        &mut self,
        from: usize,
        header: &Header,
        public: bool,
    ) -> Option<Definition> {
        let tokens = self.tokens;
        let mut key = from;
        while matches!(
            tokens.text(key),
            "typedef"
                | "static"
                | "const"
                | "constexpr"
                | "extern"
                | "inline"
                | "volatile"
                | "mutable"
        ) || tokens.after_attribute(key).is_some()
        {
            key = tokens.after_attribute(key).unwrap_or(key + 1);
        }
        let mut head = self.head(key)?;
        let body_end = tokens.after_group(head.open);
        let extent = self.extent(body_end);
        let mut definition = Definition {
            declarators: body_end,
            end: extent.end,
            anonymous: None,
            name: head.path.last().cloned().unwrap_or_default(),
        };
        if tokens.is(from, "typedef") {
            self.typedef_names(body_end, extent.head_end, &mut head);
        }
        let name = head.path.pop();
        let mut scope = self.scope.clone();
        scope.append(&mut head.path);
        let mut declared = DeclaredType {
            scope,
            name: name.clone().unwrap_or_default(),
            kind: head.kind,
            template: header.clone(),
            bases: Vec::new(),
            fields: Vec::new(),
            enumerators: Vec::new(),
            obstacle: head.specialization.then_some(Obstacle::Specialization),
            public,
            place: self.place(head.name_at),
        };
        self.bases(&head, &mut declared);
        if head.kind == TypeKind::Enum {
            declared.enumerators = self.enumerators(head.open, body_end);
        } else {
            let outer = std::mem::replace(&mut self.scope, declared.scope.clone());
            self.scope.extend(name.clone());
            self.members(&head, body_end, &mut declared, header);
            self.scope = outer;
        }
        match name {
            Some(_) => self.out.types.push(declared),
            None if head.kind == TypeKind::Enum => {}
            None => definition.anonymous = Some((declared.fields, declared.obstacle)),
        }
        Some(definition)
    }

    /// The names between the braces of an enum.
    fn enumerators(&self, open: usize, body_end: usize) -> Vec<String> {
        let inside = &self.tokens.0[open + 1..body_end.saturating_sub(1).max(open + 1)];
        let names = Tokens(inside).split_commas().into_iter();
        let name = names.filter(|part| Tokens(part).is_word(0));
        name.map(|part| part[0].text.to_owned()).collect()
    }

    fn bases(&self, head: &Head, into: &mut DeclaredType) {
        let Some((from, to)) = head.base else { return };
        let struct_ = self.tokens.is(head.key, "struct");
        for base in Tokens(&self.tokens.0[from..to]).split_commas() {
            let access =
                |token: &&Token<'_>| matches!(token.text, "public" | "private" | "protected");
            let public = base
                .iter()
                .find(access)
                .map_or(struct_, |token| token.is("public"));
            if base.iter().any(|token| token.is("virtual")) {
                into.obstacle.get_or_insert(Obstacle::Base);
            }
            let name: Vec<_> = base
                .iter()
                .filter(|token| !access(token))
                .copied()
                .collect();
            into.bases.push(DeclaredBase {
                text: joined(&name),
                public,
            });
        }
    }

    /// The names after the body of a `typedef struct {…} P, *PP;`.
    fn typedef_names(&mut self, from: usize, to: usize, head: &mut Head) {
        let plain = Tokens(&self.tokens.0[from..to]).without_attributes();
        for declarator in Tokens(&plain).split_commas() {
            let Some(name) = further_name_at(declarator).map(|at| declarator[at].text) else {
                continue;
            };
            match head.path.last() {
                Some(own) => self
                    .out
                    .aliases
                    .entry(name.to_owned())
                    .or_default()
                    .push(own.clone()),
                None if declarator.len() == 1 => head.path.push(name.to_owned()),
                None => {}
            }
        }
    }

    fn head(&self, key: usize) -> Option<Head> {
        let tokens = self.tokens;
        let kind = match tokens.text(key) {
            "struct" | "class" => TypeKind::Struct,
            "union" => TypeKind::Union,
            "enum" => TypeKind::Enum,
            _ => return None,
        };
        let mut at = key + 1;
        if kind == TypeKind::Enum && matches!(tokens.text(at), "class" | "struct") {
            at += 1;
        }
        at = tokens.after_attributes(at);
        let mut head = Head {
            kind,
            key,
            path: Vec::new(),
            name_at: key,
            base: None,
            specialization: false,
            open: 0,
        };
        loop {
            match tokens.text(at) {
                "{" => {
                    head.open = at;
                    return Some(head);
                }
                ":" => {
                    let open = self.body_after(at + 1)?;
                    head.base = Some((at + 1, open)).filter(|_| kind != TypeKind::Enum);
                    head.open = open;
                    return Some(head);
                }
                "::" | "final" => at += 1,
                "<" => {
                    head.specialization = true;
                    at = tokens.after_angles(at)?;
                }
                _ if tokens.after_attribute(at).is_some() => at = tokens.after_attributes(at),
                // Two words in a row: a variable or a function of the type.
                word if tokens.is_word(at) && (head.path.is_empty() || tokens.is(at - 1, "::")) => {
                    head.path.push(word.to_owned());
                    head.name_at = at;
                    at += 1;
                }
                _ => return None,
            }
        }
    }

    /// The `{` after base classes or an enum's type.
    fn body_after(&self, mut at: usize) -> Option<usize> {
        loop {
            match self.tokens.text(at) {
                "{" => return Some(at),
                "" | ";" | "}" | ")" => return None,
                "<" => at = self.tokens.after_angles(at)?,
                "(" => at = self.tokens.after_group(at),
                _ => at += 1,
            }
        }
    }

    fn members(&mut self, head: &Head, body_end: usize, into: &mut DeclaredType, header: &Header) {
        let tokens = self.tokens;
        let mut public = !tokens.is(head.key, "class");
        let mut at = head.open + 1;
        while at + 1 < body_end {
            let start = at;
            at = match tokens.text(at) {
                ";" => at + 1,
                "public" | "private" | "protected" if tokens.is(at + 1, ":") => {
                    public = tokens.is(at, "public");
                    at + 2
                }
                "using" => self.using(at),
                "typedef" | "friend" | "static_assert" | "static" => {
                    self.other_member(at, header, public && into.public)
                }
                "template" => self.member_template(at, header, public && into.public),
                _ => self.member(at, into, header, public),
            }
            .max(start + 1);
        }
    }

    /// A member that is no field, though it may define a type.
    fn other_member(&mut self, at: usize, header: &Header, public: bool) -> usize {
        match self.definition(at, header, public) {
            Some(definition) => definition.end,
            None if self.tokens.is(at, "typedef") => self.typedef(at),
            None => self.extent(at).end,
        }
    }

    fn member_template(&mut self, at: usize, header: &Header, public: bool) -> usize {
        let (own, next) = self.header(at);
        let mut all = header.clone().unwrap_or_default();
        all.extend(own.unwrap_or_default());
        self.other_member(next.max(at + 1), &Some(all), public)
    }

    fn member(
        &mut self,
        at: usize,
        into: &mut DeclaredType,
        header: &Header,
        public: bool,
    ) -> usize {
        if let Some(definition) = self.definition(at, header, public && into.public) {
            let base = Some(definition.name.as_str());
            let named = self.fields(definition.declarators, definition.end, into, public, base);
            if let Some((fields, obstacle)) = definition.anonymous
                && named == 0
            {
                let union = into.kind == TypeKind::Union;
                into.fields.extend(fields.into_iter().map(|mut field| {
                    field.public &= public;
                    field.kind = if union {
                        field.kind.shared()
                    } else {
                        field.kind
                    };
                    field
                }));
                into.obstacle = into.obstacle.or(obstacle);
            }
            return definition.end;
        }
        let extent = self.extent(at);
        if extent.call.is_none() && !self.is_no_field(at, extent.head_end) {
            self.fields(at, extent.end, into, public, None);
        }
        extent.end
    }

    /// Whether a member is a function after all, or static.
    fn is_no_field(&self, from: usize, to: usize) -> bool {
        (from..to).any(|at| matches!(self.tokens.text(at), "operator" | "~" | "static"))
    }

    /// Reads the fields declared between two positions; gives how many.
    ///
    /// `base` is their type where it stands before `from`.
    fn fields(
        &self,
        from: usize,
        end: usize,
        into: &mut DeclaredType,
        public: bool,
        base: Option<&str>,
    ) -> usize {
        let before = into.fields.len();
        let mut text = base.map(str::to_owned);
        let end = end.saturating_sub(1).max(from);
        for part in Tokens(&self.tokens.0[from..end]).split_commas() {
            let plain = Tokens(before_default(part)).without_attributes();
            let bit_field = Self::bit_field(&plain);
            let plain = &plain[..bit_field.unwrap_or(plain.len())];
            let kind = match bit_field {
                Some(_) => FieldKind::Bits,
                None => FieldKind::Own,
            };
            if plain.iter().any(|token| token.is("&") || token.is("&&")) {
                into.obstacle.get_or_insert(Obstacle::Reference);
            }
            let name = match text {
                None => name_at(plain),
                Some(_) => further_name_at(plain),
            };
            let Some(name) = name else { continue };
            let text = text.get_or_insert_with(|| {
                let mut shape = plain.to_vec();
                shape.remove(name);
                joined(&shape)
            });
            into.fields.push(DeclaredField {
                name: plain[name].text.to_owned(),
                text: text.clone(),
                public,
                kind: match into.kind {
                    TypeKind::Union => kind.shared(),
                    _ => kind,
                },
            });
        }
        into.fields.len() - before
    }

    /// The `:` of a bit-field.
    fn bit_field(plain: &[Token<'_>]) -> Option<usize> {
        let all = Tokens(plain);
        let mut at = 0;
        while at < plain.len() {
            match all.text(at) {
                ":" => return Some(at),
                "(" if !is_inner_declarator(all, at) => at = all.after_group(at),
                _ => at += 1,
            }
        }
        None
    }
}
