//! Reads types printed by the compiler (`const float *`) and by a demangler (`float const*`).

use std::str::FromStr;

use super::depth::beyond;
use super::spelling::{FUNDAMENTAL, fundamental_name, plain_value, value_type};
use super::{Arg, CType, Name, Part, Qualifiers};

/// A text that is no type that this module knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not understood as a type at `{}`", &.text[*.at..])]
pub(crate) struct TypeError {
    /// The whole text.
    pub(crate) text: String,
    /// Where, in bytes.
    pub(crate) at: usize,
}

impl FromStr for CType {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<Self, TypeError> {
        let mut parser = Parser::new(text)?;
        let parsed = parser.ty().filter(|_| parser.rest().is_empty());
        parsed.ok_or_else(|| parser.error())
    }
}

/// Reads a demangled function (`void ns::scale<float>(float*, int)`): its name and its type.
///
/// The return type is `void` where the text has none, as for functions that are no templates.
///
/// # Errors
/// The text is not such a function.
pub(crate) fn function_name(text: &str) -> Result<FunctionName, TypeError> {
    let mut parser = Parser::new(text)?;
    parser
        .function()
        .filter(|_| parser.rest().is_empty())
        .ok_or_else(|| parser.error())
}

/// A demangled function.
#[derive(Debug)]
pub(crate) struct FunctionName {
    pub(crate) name: Name,
    pub(crate) params: Vec<CType>,
    /// For each template argument of the name's last part: its type, if it is a value that tells it.
    pub(crate) values: Vec<Option<CType>>,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The types of the values among the last template arguments.
    values: Vec<Option<CType>>,
}

impl<'t> Parser<'t> {
    /// # Errors
    /// The text is nested deeper than is read.
    fn new(text: &'t str) -> Result<Self, TypeError> {
        if let Some(at) = beyond(text) {
            return Err(TypeError {
                text: text.to_owned(),
                at,
            });
        }
        let mut parser = Self {
            text,
            at: 0,
            values: Vec::new(),
        };
        parser.space();
        Ok(parser)
    }

    fn error(&self) -> TypeError {
        TypeError {
            text: self.text.to_owned(),
            at: self.at,
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes a punctuation, and the space after it.
    fn take(&mut self, punct: &str) -> bool {
        let found = self.rest().starts_with(punct);
        if found {
            self.at += punct.len();
            self.space();
        }
        found
    }

    fn peek_word(&self) -> &'t str {
        let rest = self.rest();
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
            self.space();
        }
        found
    }

    fn qualifiers(&mut self, into: &mut Qualifiers) {
        loop {
            if self.take_word("const") {
                into.constant = true;
            } else if self.take_word("volatile") {
                into.volatile = true;
            } else if self.take_word("__restrict__")
                || self.take_word("__restrict")
                || self.take_word("restrict")
            {
                into.restrict = true;
            } else {
                return;
            }
        }
    }

    fn ty(&mut self) -> Option<CType> {
        if self.take("...") {
            return Some(CType::Ellipsis);
        }
        let base = self.specifiers()?;
        self.declarator(base)
    }

    fn specifiers(&mut self) -> Option<CType> {
        let mut qualifiers = Qualifiers::default();
        self.qualifiers(&mut qualifiers);
        // In front of a type without a name: `struct P::<unnamed>`.
        for key in ["struct", "class", "union", "enum"] {
            self.take_word(key);
        }
        let name = match self.fundamental() {
            Some(word) => Name::simple(word),
            None => self.name()?,
        };
        self.qualifiers(&mut qualifiers);
        Some(CType::Named(name, qualifiers))
    }

    fn fundamental(&mut self) -> Option<String> {
        let mut words = Vec::new();
        while FUNDAMENTAL.contains(&self.peek_word()) {
            let word = self.peek_word();
            self.take_word(word);
            words.push(word);
        }
        if words.is_empty() {
            return None;
        }
        Some(fundamental_name(&words))
    }

    fn name(&mut self) -> Option<Name> {
        let mut parts = Vec::new();
        self.take("::");
        loop {
            parts.push(self.part()?);
            // `P::*` is a pointer to a member, not a part of the name.
            if self.rest().starts_with("::*") || !self.take("::") {
                return Some(Name(parts));
            }
        }
    }

    fn part(&mut self) -> Option<Part> {
        let word = if self.take(Part::UNNAMED) || self.take("(anonymous namespace)") {
            Part::UNNAMED
        } else {
            self.peek_word()
        };
        if word.is_empty()
            || word.starts_with(|c: char| c.is_ascii_digit())
            || FUNDAMENTAL.contains(&word)
        {
            return None;
        }
        self.take_word(word);
        let args = if self.take("<") {
            Some(self.args()?)
        } else {
            None
        };
        Some(Part {
            word: word.to_owned(),
            args,
        })
    }

    fn args(&mut self) -> Option<Vec<Arg>> {
        let (mut args, mut values) = (Vec::new(), Vec::new());
        if self.take(">") {
            self.values = values;
            return Some(args);
        }
        loop {
            let start = self.at;
            args.push(self.arg()?);
            let text = self.text[start..self.at].trim_end();
            values.push(value_type(text));
            if self.take(">") {
                self.values = values;
                return Some(args);
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn arg(&mut self) -> Option<Arg> {
        let start = self.at;
        if let Some(ty) = self.ty()
            && (self.rest().starts_with([',', '>']))
        {
            return Some(match &ty {
                CType::Named(name, _) if matches!(name.as_simple(), Some("true" | "false")) => {
                    Arg::Value(ty.to_string())
                }
                _ => Arg::Type(ty),
            });
        }
        self.at = start;
        let length = self.value_length()?;
        let text = self.rest()[..length].trim_end();
        self.at += length;
        Some(Arg::Value(plain_value(text)))
    }

    /// The length of a template argument that is no type.
    fn value_length(&self) -> Option<usize> {
        let mut depth = 0usize;
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' => {
                    let escaped = chars.next()?.1 == '\\';
                    if escaped {
                        chars.next()?;
                    }
                    chars.by_ref().find(|&(_, c)| c == '\'')?;
                }
                '(' | '[' | '{' | '<' => depth += 1,
                ',' | '>' if depth == 0 => return (at > 0).then_some(at),
                ')' | ']' | '}' | '>' => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    /// Applies pointers, arrays and parameter lists to a type.
    fn declarator(&mut self, base: CType) -> Option<CType> {
        let base = self.pointers(base)?;
        if !self.opens_inner() {
            return self.suffixes(base);
        }
        let open = self.at;
        self.at = self.after_parenthesis()?;
        self.space();
        let outer = self.suffixes(base)?;
        let end = std::mem::replace(&mut self.at, open);
        self.take("(");
        let inner = self.declarator(outer)?;
        if !self.take(")") {
            return None;
        }
        self.at = end;
        Some(inner)
    }

    fn pointers(&mut self, mut base: CType) -> Option<CType> {
        loop {
            if self.take("*") {
                let mut qualifiers = Qualifiers::default();
                self.qualifiers(&mut qualifiers);
                base = CType::Pointer(Box::new(base), qualifiers);
            } else if self.take("&&") || self.take("&") {
                base = CType::Reference(Box::new(base));
            } else if let Some(class) = self.member_pointer() {
                let mut qualifiers = Qualifiers::default();
                self.qualifiers(&mut qualifiers);
                base = CType::Member(Box::new(base), class, qualifiers);
            } else {
                return Some(base);
            }
        }
    }

    fn member_pointer(&mut self) -> Option<Name> {
        let start = self.at;
        let class = self.name().filter(|_| self.take("::*"));
        if class.is_none() {
            self.at = start;
        }
        class
    }

    /// Whether a parenthesis here groups a declarator, `(*)`, and is no parameter list.
    fn opens_inner(&mut self) -> bool {
        let start = self.at;
        let inner = self.take("(")
            && (self.rest().starts_with(['*', '&']) || self.member_pointer().is_some());
        self.at = start;
        inner
    }

    fn after_parenthesis(&self) -> Option<usize> {
        let mut depth = 0usize;
        for (at, c) in self.rest().char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return Some(self.at + at + 1),
                ')' => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    fn suffixes(&mut self, base: CType) -> Option<CType> {
        if self.take("[") {
            let digits = self.peek_word().to_owned();
            self.take_word(&digits);
            let length = match digits.as_str() {
                "" => None,
                _ => Some(digits.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()?),
            };
            if !self.take("]") {
                return None;
            }
            let of = self.suffixes(base)?;
            return Some(CType::Array(Box::new(of), length));
        }
        if self.take("(") {
            let params = self.params()?;
            // The qualifiers of a member function do not change what a pointer to it is.
            self.qualifiers(&mut Qualifiers::default());
            self.take_word("noexcept");
            let returns = self.suffixes(base)?;
            return Some(CType::Function(Box::new(returns), params));
        }
        Some(base)
    }

    /// The parameters after a parenthesis that has been taken, with its end.
    fn params(&mut self) -> Option<Vec<CType>> {
        let mut params = Vec::new();
        if self.take(")") {
            return Some(params);
        }
        if self.rest().starts_with("void)") {
            self.at += "void".len();
            self.take(")");
            return Some(params);
        }
        loop {
            params.push(self.ty()?);
            if self.take(")") {
                return Some(params);
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn function(&mut self) -> Option<FunctionName> {
        self.take_word("static");
        let start = self.at;
        let mut templated = self.ty().is_some();
        if !templated {
            // What follows `void` looks like parameters.
            self.at = start;
            templated = self.specifiers().is_some() && self.rest().starts_with("(anonymous");
        }
        if !templated || (self.peek_word().is_empty() && !self.rest().starts_with("(anonymous")) {
            self.at = start;
        }
        self.values.clear();
        let name = self.name()?;
        let values = std::mem::take(&mut self.values);
        if !self.take("(") {
            return None;
        }
        let params = self.params()?;
        Some(FunctionName {
            name,
            params,
            values,
        })
    }
}
