//! Splits headers into declarations, and says which names each declares.
//!
//! Where a declaration is not of a form that is known here, it is one that stays.

use super::splitter::{Splitter, WITH_BRACKETS};

/// What stands between two places of a header, at the level of namespaces.
#[derive(Debug)]
pub(super) struct Piece<'t> {
    /// Its tokens.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The names it declares, perhaps some more; `None` where it has to stay.
    pub(super) names: Option<Vec<&'t str>>,
    /// Words in it that mean something of its own.
    pub(super) members: Vec<&'t str>,
}

pub(super) const KEYWORDS: [&str; 44] = [
    "alignas",
    "auto",
    "bool",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "const",
    "constexpr",
    "decltype",
    "double",
    "enum",
    "explicit",
    "extern",
    "false",
    "float",
    "friend",
    "inline",
    "int",
    "long",
    "noexcept",
    "nullptr",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "template",
    "this",
    "thread_local",
    "true",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "void",
    "volatile",
];

/// What makes a function exist only where it is used.
const LOCAL: [&str; 6] = [
    "static",
    "inline",
    "__inline__",
    "__inline",
    "constexpr",
    "template",
];
const DEVICE: [&str; 10] = [
    "device",
    "__device__",
    "global",
    "__global__",
    "constant",
    "__constant__",
    "shared",
    "__shared__",
    "managed",
    "__managed__",
];

impl<'t> Splitter<'t, '_> {
    /// The pieces from a token on. None where the brackets do not match: then nothing can be told apart.
    pub(super) fn pieces(&self, from: usize) -> Option<Vec<Piece<'t>>> {
        let mut pieces = Vec::new();
        let (mut at, mut depth) = (from, 0_usize);
        while at < self.end {
            let (to, names) = match self.kind(at) {
                b';' => (at + 1, Some(Vec::new())),
                b'}' => {
                    depth = depth.checked_sub(1)?;
                    (at + 1, None)
                }
                _ => match self.block(at) {
                    Some(open) => {
                        depth += 1;
                        (open + 1, None)
                    }
                    None => self.declaration(at)?,
                },
            };
            let members = names.as_ref().map(|_| self.members(at, to));
            pieces.push(Piece {
                from: at,
                to,
                names,
                members: members.unwrap_or_default(),
            });
            at = to;
        }
        (depth == 0).then_some(pieces)
    }

    /// The brace that a namespace or a language linkage opens.
    fn block(&self, at: usize) -> Option<usize> {
        if self.word(at) == "extern" && self.kind(at + 1) == b'"' && self.kind(at + 2) == b'{' {
            return Some(at + 2);
        }
        let at = at + usize::from(self.word(at) == "inline");
        if self.word(at) != "namespace" {
            return None;
        }
        let mut at = at + 1;
        loop {
            at = match self.kind(at) {
                b'{' => return Some(at),
                b'i' | b':' => at + 1,
                b'(' | b'[' => self.closed(at)?,
                _ => return None,
            };
        }
    }

    /// Behind the declaration here, and its names.
    fn declaration(&self, from: usize) -> Option<(usize, Option<Vec<&'t str>>)> {
        match self.known(from) {
            Some((to, names)) => Some((to, names)),
            None => Some((self.terminated(from)?, None)),
        }
    }

    fn known(&self, from: usize) -> Option<(usize, Option<Vec<&'t str>>)> {
        let mut at = from;
        while self.word(at) == "__extension__" {
            at += 1;
        }
        match self.word(at) {
            "typedef" => return self.listed(at),
            "using" => {
                return match self.word(at + 1) {
                    "namespace" | "enum" => None,
                    _ => self.listed(at),
                };
            }
            "static_assert" | "_Static_assert" => {
                return Some((self.simple(at)?, Some(Vec::new())));
            }
            "namespace" | "asm" | "__asm__" => return None,
            _ => {}
        }
        let mut is_template = false;
        while self.word(at) == "template" {
            is_template = true;
            at = self
                .closed_angle(at + 1)
                .filter(|_| self.kind(at + 1) == b'<')?;
        }
        if self.word(at) == "using" {
            return self.listed(at);
        }
        if self.word(at) == "extern" && self.kind(at + 1) == b'"' {
            at += 2;
        }
        let head = at;
        loop {
            let word = self.word(at);
            match self.kind(at) {
                b'i' if WITH_BRACKETS.contains(&word) && self.kind(at + 1) == b'(' => {
                    at = self.closed(at + 1)?
                }
                b'i' if matches!(word, "requires" | "concept") => return None,
                b'i' if word == "operator" => return self.operator(from, head, at),
                b'i' if matches!(word, "class" | "struct" | "union" | "enum") => {
                    if let Some(found) = self.class(at, is_template) {
                        return Some(found);
                    }
                    at += 1;
                }
                b'i' | b':' | b'*' | b'&' => at += 1,
                b'<' => at = self.closed_angle(at)?,
                b'[' => at = self.closed(at)?,
                b'(' => return self.function(from, head, at, is_template),
                b'=' | b';' | b'{' | b',' => return self.variable(from, head, is_template),
                _ => return None,
            }
        }
    }

    /// `typedef` and `using`: every name in them but members of classes.
    fn listed(&self, from: usize) -> Option<(usize, Option<Vec<&'t str>>)> {
        let to = self.simple(from)?;
        let alias = self.word(from) == "using" && (from..to).any(|at| self.kind(at) == b'=');
        let names = match self.word(from) {
            "using" if alias => vec![self.word(from + 1)],
            "using" => vec![self.word(to - 2)],
            _ => self.declared(from + 1, to),
        };
        (!names.is_empty() && names != [""]).then_some((to, Some(names)))
    }

    fn variable(
        &self,
        from: usize,
        head: usize,
        is_template: bool,
    ) -> Option<(usize, Option<Vec<&'t str>>)> {
        let to = self.simple(from)?;
        let words = || (from..to).map(|at| self.word(at));
        let local =
            words().any(|word| matches!(word, "extern" | "static" | "constexpr" | "inline"));
        if words().any(|word| DEVICE.contains(&word)) && !local {
            return None;
        }
        // A template is one variable, whatever commas its initializer has.
        let initializer = (head..to).find(|at| matches!(self.kind(*at), b'=' | b'{'));
        let names = self.declared(head, initializer.filter(|_| is_template).unwrap_or(to));
        (!names.is_empty()).then_some((to, Some(names)))
    }

    /// A class or an enumeration with a body, or its mere announcement.
    fn class(&self, keyword: usize, is_template: bool) -> Option<(usize, Option<Vec<&'t str>>)> {
        let mut at = keyword + 1;
        let open = loop {
            let word = self.word(at);
            at = match self.kind(at) {
                b'{' => break at,
                b';' => {
                    let names = self.declared(keyword, at);
                    return Some((at + 1, (!names.is_empty()).then_some(names)));
                }
                b'i' if WITH_BRACKETS.contains(&word) && self.kind(at + 1) == b'(' => {
                    self.closed(at + 1)?
                }
                b'i' | b':' | b',' => at + 1,
                // A base may have an operator in its arguments: `B<T(-1) < T(0)>`.
                b'<' if is_template => self.closed_angle(at).unwrap_or(at + 1),
                b'<' => self.closed_angle(at)?,
                b'[' if self.kind(at + 1) == b'[' => self.closed(at)?,
                _ if is_template => at + 1,
                _ => return None,
            };
            if at >= self.end {
                return None;
            }
        };
        let body = self.closed(open)?;
        // What follows it may be variables of the class, but not a function that returns one.
        let to = self.behind_words(body)?;
        let to = match self.kind(to) {
            b';' => to + 1,
            _ => return None,
        };
        let mut names = match self.word(keyword) {
            "enum" => self.declared(keyword, to),
            _ => self.class_name(keyword + 1, open),
        };
        names.extend(self.declared(body, to));
        (!names.is_empty()).then_some((to, Some(names)))
    }

    /// The name of a class and of what it is a member of.
    fn class_name(&self, from: usize, open: usize) -> Vec<&'t str> {
        let (mut names, mut at) = (Vec::new(), from);
        while at < open {
            let word = self.word(at);
            at = match self.kind(at) {
                b'i' if WITH_BRACKETS.contains(&word) && self.kind(at + 1) == b'(' => {
                    self.closed(at + 1).unwrap_or(open)
                }
                b'i' => {
                    names.push(word);
                    at + 1
                }
                b':' if self.kind(at + 1) == b':' => at + 2,
                b'<' => self.closed_angle(at).unwrap_or(open),
                b'[' => self.closed(at).unwrap_or(open),
                b':' => open,
                _ => at + 1,
            };
        }
        names
    }

    /// An operator is named by its operands: without their types nothing uses it.
    fn operator(
        &self,
        from: usize,
        head: usize,
        at: usize,
    ) -> Option<(usize, Option<Vec<&'t str>>)> {
        let mut open = at + 1;
        while self.kind(open) != b'('
            || (self.kind(open + 1) == b')' && self.kind(open + 2) == b'(')
        {
            open += 1;
            if open >= self.end || open > at + 12 {
                return None;
            }
        }
        // `operator()(…)`: the first pair is its name.
        if self.kind(open) == b')' {
            open += 1;
        }
        let close = self.closed(open)?;
        let to = self.behind(close)?;
        let mut names = self.types(open, close);
        let params: Vec<_> = (from..head).map(|at| self.word(at)).collect();
        names.retain(|name| !params.contains(name));
        (!names.is_empty()).then_some((to, Some(names)))
    }

    fn function(
        &self,
        from: usize,
        head: usize,
        open: usize,
        is_template: bool,
    ) -> Option<(usize, Option<Vec<&'t str>>)> {
        let mut name = open - 1;
        if self.kind(name) == b'>' {
            // A specialization: its arguments lie between.
            let angle = (head..name).rev().find(|at| self.kind(*at) == b'<')?;
            name = angle.checked_sub(1)?;
        }
        let word = self.word(name);
        let close = self.closed(open)?;
        if name < head || word.is_empty() || KEYWORDS.contains(&word) || self.kind(close) == b'(' {
            return None;
        }
        let to = self.behind(close)?;
        let has_body = self.kind(to - 1) == b'}';
        let words = || {
            (from..open)
                .chain(close..to.min(close + 40))
                .map(|at| self.word(at))
        };
        let local = is_template || words().any(|word| LOCAL.contains(&word));
        if has_body && !local && words().any(|word| DEVICE.contains(&word)) {
            return None;
        }
        Some((to, Some(self.scopes(head, name))))
    }

    /// By which names a function is found: its own with those before it, or the class of which it is a member.
    fn scopes(&self, head: usize, name: usize) -> Vec<&'t str> {
        let (mut names, mut at) = (vec![self.word(name)], name);
        while at >= head + 3 && self.kind(at - 1) == b':' && self.kind(at - 2) == b':' {
            let scope = at - 3;
            if self.kind(scope) == b'>' {
                // `C<T>::f`: whoever has the class has its members.
                let opens = |open: &usize| {
                    self.kind(*open) == b'<' && self.closed_angle(*open) == Some(scope + 1)
                };
                let open = (head + 1..scope).find(opens);
                return match open.map(|open| self.word(open - 1)) {
                    Some(class) if !class.is_empty() => vec![class],
                    _ => names,
                };
            }
            if self.word(scope).is_empty() {
                break;
            }
            names.push(self.word(scope));
            at = scope;
        }
        names
    }
}
