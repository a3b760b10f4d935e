//! The new text: what stays of each module, under its new names, declared before it is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::resolve::Resolved;
use super::{LinkError, Linked};
use crate::edit::Edits;
use crate::function::{Function, FunctionKind};
use crate::lex::{self, Token, TokenKind};
use crate::module::{Item, ItemKind, Module};
use crate::span::Span;
use crate::variable::{Linkage, Value, Variable};

pub(super) fn text(modules: &[Module], resolved: Resolved) -> Result<Linked, LinkError> {
    let mut files = Files::default();
    let mut parts = Parts::default();
    for (at, module) in modules.iter().enumerate() {
        let one = One::new(at, module, &resolved, &mut files)?;
        for item in module.items() {
            one.item(item, &mut parts)?;
        }
    }
    Ok(Linked {
        text: parts.text(modules, &files),
        renamed: resolved.renamed,
        missing: resolved.missing,
    })
}

/// The source files of all modules.
#[derive(Default)]
struct Files {
    /// What stands behind the number.
    named: Vec<String>,
}

impl Files {
    fn number(&mut self, rest: &str) -> usize {
        let known = self.named.iter().position(|named| named == rest);
        known.map_or_else(
            || {
                self.named.push(rest.to_owned());
                self.named.len()
            },
            |at| at + 1,
        )
    }
}

/// What the new text is made of.
#[derive(Default)]
struct Parts {
    declarations: Vec<String>,
    variables: Vec<Stored>,
    functions: Vec<String>,
    rest: Vec<String>,
    /// By name.
    sections: BTreeMap<String, String>,
}

struct Stored {
    name: String,
    /// The symbols that its initializer names.
    needs: BTreeSet<String>,
    text: String,
}

impl Parts {
    fn text(self, modules: &[Module], files: &Files) -> String {
        let mut text = String::new();
        let version = modules.iter().map(Module::version).max().unwrap_or((0, 0));
        let first = modules.first();
        let options = first.into_iter().flat_map(Module::target_options);
        let options: String = options.map(|option| format!(", {option}")).collect();
        let (target, bits) = first.map_or(("", 64), |it| (it.target(), it.address_size()));
        let (major, minor) = version;
        let _ = writeln!(
            text,
            ".version {major}.{minor}\n.target {target}{options}\n.address_size {bits}\n"
        );
        let variables = in_order(self.variables);
        for part in [self.declarations, variables, self.functions, self.rest] {
            for line in part {
                text.push_str(&line);
                text.push('\n');
            }
        }
        for (at, rest) in files.named.iter().enumerate() {
            let _ = writeln!(text, "\t.file\t{} {rest}", at + 1);
        }
        for (name, body) in self.sections {
            let _ = writeln!(text, "\t.section\t{name}\n\t{{{body}\t}}");
        }
        text
    }
}

/// A variable whose address another holds comes before that; the order stays otherwise.
fn in_order(mut variables: Vec<Stored>) -> Vec<String> {
    let mut ordered = Vec::new();
    while !variables.is_empty() {
        let names: BTreeSet<_> = variables.iter().map(|it| it.name.clone()).collect();
        let free = |it: &Stored| {
            !it.needs
                .iter()
                .any(|need| *need != it.name && names.contains(need))
        };
        // Each other's addresses cannot be held in PTX; ptxas says so.
        let next = variables.iter().position(free).unwrap_or(0);
        ordered.push(variables.remove(next).text);
    }
    ordered
}

/// One of the modules.
struct One<'a> {
    at: usize,
    module: &'a Module,
    resolved: &'a Resolved,
    tokens: Vec<Token>,
    /// New numbers of its files.
    files: BTreeMap<String, usize>,
}

impl<'a> One<'a> {
    fn new(
        at: usize,
        module: &'a Module,
        resolved: &'a Resolved,
        files: &mut Files,
    ) -> Result<Self, LinkError> {
        let mut numbers = BTreeMap::new();
        for item in module.items() {
            if let ItemKind::File(file) = &item.kind {
                let text = module.at(item.span);
                let name = text.find('"').and_then(|from| text.get(from..));
                let name = name.unwrap_or_default().trim_end();
                numbers.insert(file.number.to_string(), files.number(name));
            }
        }
        let tokens = lex::tokens(module.text()).map_err(|_| unreadable(at))?;
        Ok(Self {
            at,
            module,
            resolved,
            tokens,
            files: numbers,
        })
    }

    fn item(&self, item: &Item, parts: &mut Parts) -> Result<(), LinkError> {
        match &item.kind {
            ItemKind::File(_) => {}
            ItemKind::Section { name, body } => {
                let inner = Span::new(body.start + 1, body.end.saturating_sub(1));
                let text = self.renamed(inner, inner.start)?;
                parts
                    .sections
                    .entry(name.to_string())
                    .or_default()
                    .push_str(&text);
            }
            ItemKind::Variables(variables) => self.variables(item, variables, parts)?,
            ItemKind::Function(function) => self.function(function, parts)?,
            ItemKind::Alias { .. } | ItemKind::Other => {
                let text = self.renamed(item.span, item.span.start)?;
                if !parts.rest.contains(&text) {
                    parts.rest.push(text);
                }
            }
        }
        Ok(())
    }

    fn variables(
        &self,
        item: &Item,
        variables: &[Variable],
        parts: &mut Parts,
    ) -> Result<(), LinkError> {
        let keeps = |it: &Variable| self.resolved.keeps(self.at, &it.name, it.linkage);
        let kept = variables.iter().filter(|it| keeps(it)).count();
        if kept == 0 {
            return Ok(());
        }
        if kept < variables.len() {
            return Err(LinkError::Module {
                module: self.at,
                what: "a statement declares variables that several modules share, and others"
                    .to_owned(),
            });
        }
        let needs = variables.iter().flat_map(Variable::values);
        let needs = needs.filter_map(|value| match value {
            Value::Address { symbol, .. } => Some(self.name(symbol)),
            _ => None,
        });
        let needs = needs.collect();
        let name = variables
            .first()
            .map_or_else(String::new, |it| self.name(&it.name));
        let end = variables
            .first()
            .map_or(item.span.start, |it| it.name_span.start);
        let defined = variables.iter().any(|it| it.linkage != Linkage::Extern);
        let text = self.item_text(item.span, end, defined)?;
        // A declaration that a definition in this module follows is none.
        if !defined && self.resolved.owners.contains_key(&name) {
            return Ok(());
        }
        parts.variables.push(Stored { name, needs, text });
        Ok(())
    }

    fn function(&self, function: &Function, parts: &mut Parts) -> Result<(), LinkError> {
        let Function {
            name,
            linkage,
            kind,
            span,
            ..
        } = function;
        let Some(body) = &function.body else {
            let defined =
                *linkage == Linkage::Internal || self.resolved.owners.contains_key(&**name);
            if !defined && self.resolved.keeps(self.at, name, *linkage) {
                let text = self.item_text(*span, function.name_span.start, false)?;
                parts.declarations.push(text);
            }
            return Ok(());
        };
        if !self.resolved.keeps(self.at, name, *linkage) {
            return Ok(());
        }
        let from_outside = *kind == FunctionKind::Entry && *linkage != Linkage::Internal;
        let seen = if from_outside { ".visible " } else { "" };
        if *kind == FunctionKind::Func {
            let head = Span::new(span.start, body.span.start);
            let head = self.item_text(head, function.name_span.start, true)?;
            parts.declarations.push(format!("{}\n;", head.trim_end()));
        }
        let text = self.item_text(*span, function.name_span.start, true)?;
        parts.functions.push(format!("{seen}{text}"));
        Ok(())
    }

    /// The text with new names, without the linkage that stands before `head_end` if it is defined.
    fn item_text(&self, span: Span, head_end: usize, defined: bool) -> Result<String, LinkError> {
        let text = self.renamed(span, if defined { head_end } else { span.start })?;
        Ok(text.trim().to_owned())
    }

    fn name(&self, name: &str) -> String {
        let renamed = self.resolved.renamed.get(self.at);
        let new = renamed.and_then(|renamed| renamed.get(name));
        new.map_or(name, String::as_str).to_owned()
    }

    /// What stands in a span, its symbols and files renamed, and no linkage before `head_end`.
    fn renamed(&self, span: Span, head_end: usize) -> Result<String, LinkError> {
        let first = self
            .tokens
            .partition_point(|token| token.span.start < span.start);
        let inside = self.tokens.get(first..).unwrap_or_default().iter();
        let inside = inside.take_while(|token| token.span.end <= span.end);
        let mut edits = Edits::new();
        let place = |at: Span| Span::new(at.start - span.start, at.end - span.start);
        let mut file_follows = false;
        for token in inside {
            let word = self.module.at(token.span);
            match token.kind {
                TokenKind::Dotted => {
                    file_follows = word == ".loc";
                    let linkage = word.get(1..).and_then(Linkage::from_name).is_some();
                    if linkage && token.span.start < head_end {
                        edits.delete(place(token.span));
                    }
                }
                TokenKind::Word => {
                    file_follows = word == "inlined_at";
                    let new = self.name(word);
                    if new != word {
                        edits.replace(place(token.span), new);
                    }
                }
                TokenKind::Number if file_follows => {
                    file_follows = false;
                    if let Some(number) = self.files.get(word) {
                        edits.replace(place(token.span), number.to_string());
                    }
                }
                _ => file_follows = false,
            }
        }
        edits
            .apply(self.module.at(span))
            .map_err(|_| unreadable(self.at))
    }
}

fn unreadable(module: usize) -> LinkError {
    LinkError::Module {
        module,
        what: "it cannot be read again".to_owned(),
    }
}
