//! Which of the words of a declaration it declares, and which it only names.
//!
//! Words too many cost the compiler time, a word too few makes the text one that does not compile: what is not known here
//! counts as declared.

use super::declaration::KEYWORDS;
use super::splitter::{Splitter, WITH_BRACKETS};

impl<'t> Splitter<'t, '_> {
    /// The names that the declarators up to `to` declare, with those of classes and enumerations before them: not their types,
    /// parameters and initializers; of a body those of an enumeration alone.
    pub(super) fn declared(&self, from: usize, to: usize) -> Vec<&'t str> {
        let (mut names, mut at, mut is_enum) = (Vec::new(), from, false);
        while at < to {
            let word = self.word(at);
            at = match self.kind(at) {
                b'{' if !is_enum => self.closed(at).unwrap_or(to),
                b'=' if !is_enum => self.behind_initializer(at, to),
                b'<' if !is_enum => self.closed_angle(at).unwrap_or(at + 1),
                b'[' => self.closed(at).unwrap_or(to),
                b'(' if self.is_parameters(at) => self.closed(at).unwrap_or(to),
                b'i' if self.takes_brackets(at) => self.closed(at + 1).unwrap_or(to),
                b'i' if matches!(word, "class" | "struct" | "union" | "enum") => {
                    is_enum = word == "enum";
                    let tag = self.behind_attributes(at + 1);
                    names.extend(Some(self.word(tag)).filter(|tag| !KEYWORDS.contains(tag)));
                    at + 1
                }
                b'i' if KEYWORDS.contains(&word) || self.is_type(at) => at + 1,
                b'i' => {
                    names.push(word);
                    match self.behind_class(at) {
                        // Whoever has the class has its members.
                        Some(member) => self.behind_name(member),
                        None => at + 1,
                    }
                }
                _ => at + 1,
            };
        }
        names.retain(|name| !name.is_empty());
        names
    }

    /// Whether the word is one of a type: another word stands behind it, or what declares pointers.
    fn is_type(&self, at: usize) -> bool {
        let behind = match self.kind(at + 1) {
            b'<' => self.closed_angle(at + 1).unwrap_or(at + 1),
            _ => at + 1,
        };
        match self.kind(behind) {
            b'i' => !self.takes_brackets(behind),
            b'*' | b'&' => true,
            b'(' => !self.is_parameters(behind),
            _ => false,
        }
    }

    /// Behind `C<T>::`, which only a class is.
    fn behind_class(&self, at: usize) -> Option<usize> {
        let behind = self
            .closed_angle(at + 1)
            .filter(|_| self.kind(at + 1) == b'<')?;
        let is_scope = self.kind(behind) == b':' && self.kind(behind + 1) == b':';
        is_scope.then_some(behind + 2)
    }

    /// Behind a qualified name.
    fn behind_name(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            at = match self.kind(at) {
                b'i' | b':' => at + 1,
                b'<' => match self.closed_angle(at) {
                    Some(behind) => behind,
                    None => return at,
                },
                _ => return at,
            };
        }
    }

    /// Whether the brackets here hold parameters, not a declarator such as `(*name)`, behind which parameters may stand.
    fn is_parameters(&self, open: usize) -> bool {
        let Some(close) = self.closed(open) else {
            return false;
        };
        let first = self.word(open + 1);
        let is_type = KEYWORDS.contains(&first)
            || !first.is_empty() && matches!(self.kind(open + 2), b'i' | b'*' | b'&');
        self.kind(open - 1) == b')' || self.kind(close) != b'(' && (is_type || close == open + 2)
    }

    fn takes_brackets(&self, at: usize) -> bool {
        WITH_BRACKETS.contains(&self.word(at)) && self.kind(at + 1) == b'('
    }

    fn behind_attributes(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            let behind = match self.kind(at) {
                b'i' if self.takes_brackets(at) => self.closed(at + 1),
                b'[' if self.kind(at + 1) == b'[' => self.closed(at),
                b'i' if matches!(self.word(at), "class" | "struct") => Some(at + 1),
                _ => return at,
            };
            match behind {
                Some(behind) => at = behind,
                None => return at,
            }
        }
    }

    /// The words in the types of parameters, of which `open` is the bracket.
    pub(super) fn types(&self, open: usize, close: usize) -> Vec<&'t str> {
        let mut types = Vec::new();
        let mut param: Vec<(usize, &str)> = Vec::new();
        let mut is_default = false;
        let mut at = open + 1;
        while at < close {
            let word = self.word(at);
            at = match self.kind(at) {
                b',' | b')' => {
                    // `const T &name`: a type stands before it already.
                    let named = match param.as_slice() {
                        [.., _, (last, _)] => self.kind(last - 1) != b':',
                        _ => false,
                    };
                    param.truncate(param.len() - usize::from(named));
                    types.extend(param.drain(..).map(|(_, word)| word));
                    is_default = false;
                    at + 1
                }
                b'=' => {
                    is_default = true;
                    at + 1
                }
                b'<' => self.closed_angle(at).unwrap_or(at + 1),
                b'i' if self.takes_brackets(at) => self.closed(at + 1).unwrap_or(close),
                b'i' if !is_default && !KEYWORDS.contains(&word) => {
                    param.push((at, word));
                    match self.behind_class(at) {
                        Some(member) => self.behind_name(member),
                        None => at + 1,
                    }
                }
                _ => at + 1,
            };
        }
        types
    }

    /// The names that mean types of the class's own wherever they stand in it: members that `typedef` and `using` declare. C++
    /// forbids that such a name means something else in the class before that.
    pub(super) fn members(&self, from: usize, to: usize) -> Vec<&'t str> {
        let Some((open, close)) = self.body(from) else {
            return Vec::new();
        };
        let mut members = Vec::new();
        let mut at = open + 1;
        while at < close {
            let end = self.simple(at).unwrap_or(close);
            at = match self.word(at) {
                "typedef" => {
                    members.push(self.word(end - 2));
                    end
                }
                "using" if self.kind(at + 2) == b'=' => {
                    members.push(self.word(at + 1));
                    end
                }
                _ if matches!(self.kind(at), b'(' | b'[' | b'{') => {
                    self.closed(at).unwrap_or(close)
                }
                _ => at + 1,
            };
        }
        let is_elsewhere = |name: &str| {
            (from..to).any(|at| {
                let is_qualified = self.kind(at - 1) == b':' && self.kind(at - 2) == b':';
                self.word(at) == name && !(open < at && at < close && !is_qualified)
            })
        };
        members.retain(|name| !name.is_empty() && !is_elsewhere(name));
        members
    }

    /// The braces of the class that is declared here.
    fn body(&self, from: usize) -> Option<(usize, usize)> {
        let (mut at, mut is_class) = (from, false);
        loop {
            at = match self.kind(at) {
                b'{' if is_class => return Some((at, self.closed(at)?)),
                b'i' if self.takes_brackets(at) => self.closed(at + 1)?,
                b'i' => {
                    is_class |= matches!(self.word(at), "class" | "struct");
                    at + 1
                }
                b'<' => self.closed_angle(at)?,
                b':' | b',' | b'[' | b']' => at + 1,
                _ => return None,
            };
        }
    }
}
