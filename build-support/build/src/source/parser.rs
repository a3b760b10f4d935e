//! Declarations at namespace scope.
//!
//! A declaration is found by its end (`;` or a body), whatever stands in it; only kernels, classes, aliases
//! and names of functions are looked at more closely.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::annotation::annotations;
use super::cursor::{Tokens, joined};
use super::declarator::{name_at, params, template_params};
use super::lexer::Token;
use super::{
    Declarations, DeclaredAnnotation, DeclaredInstance, DeclaredKernel, DeclaredParam,
    TemplateParam,
};
use crate::diagnostic::Place;

/// Reads the declarations of a file's tokens.
pub(super) fn parse<'t>(tokens: &[Token<'t>], files: &[PathBuf]) -> Declarations {
    let mut parser = Parser {
        tokens: Tokens(tokens),
        files,
        scope: Vec::new(),
        c_linkage: false,
        depth: 0,
        ahead: None,
        out: Declarations::default(),
        functions: HashMap::new(),
    };
    let mut at = 0;
    while at < tokens.len() {
        // A stray `}` ends no scope of ours: step over it.
        at = parser.scope(at) + 1;
    }
    parser.mark_overloads();
    parser.out
}

/// A template header: `None` outside templates, the parameters of all headers inside.
pub(super) type Header = Option<Vec<TemplateParam>>;

/// A function's parameters, and whether it is a template.
struct Function<'a, 't> {
    params: &'a [Token<'t>],
    template: bool,
}

/// How deep namespaces, `extern "C"` and classes may be nested; what stands deeper is passed over, and the kernels there
/// are told of as all that are found in the PTX alone.
const MAX_DEPTH: usize = 64;

pub(super) struct Parser<'a, 't> {
    pub(super) tokens: Tokens<'a, 't>,
    files: &'a [PathBuf],
    pub(super) scope: Vec<String>,
    c_linkage: bool,
    /// How many scopes and classes are around what is read.
    depth: usize,
    /// Where the annotations in front of the declaration start.
    ahead: Option<usize>,
    pub(super) out: Declarations,
    functions: HashMap<&'t str, Vec<Function<'a, 't>>>,
}

impl<'a, 't> Parser<'a, 't> {
    pub(super) fn place(&self, at: usize) -> Place {
        let token = self.tokens.get(at);
        token.map_or_else(|| self.place_at(0, 0), |token| self.place_of(token))
    }

    pub(super) fn place_of(&self, token: &Token<'_>) -> Place {
        self.place_at(token.file, token.line)
    }

    fn place_at(&self, file: u32, line: u32) -> Place {
        let file = self.files.get(file as usize).cloned().unwrap_or_default();
        Place::line(file, line)
    }

    /// Calls for what stands one level deeper; none where that is too deep.
    pub(super) fn deeper<R>(&mut self, read: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        Some(found)
    }

    /// Reads the declarations of the scope that opens here; gives the position after it.
    fn scope_at(&mut self, open: usize) -> usize {
        let end = self.deeper(|parser| parser.scope(open + 1) + 1);
        end.unwrap_or_else(|| self.tokens.after_group(open))
    }

    /// Reads declarations up to the `}` that closes the scope; gives its position.
    fn scope(&mut self, mut at: usize) -> usize {
        while at < self.tokens.0.len() && !self.tokens.is(at, "}") {
            let next = self.statement(at);
            at = next.max(at + 1);
        }
        at
    }

    fn statement(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        match tokens.text(at) {
            ";" => at + 1,
            "namespace" => self.namespace(at),
            "inline" if tokens.is(at + 1, "namespace") => self.namespace(at + 1),
            "extern" if tokens.text(at + 1).starts_with('"') => {
                let outer = self.c_linkage;
                self.c_linkage = tokens.is(at + 1, "\"C\"");
                let end = if tokens.is(at + 2, "{") {
                    self.scope_at(at + 2)
                } else {
                    self.declaration(at, at + 2, None)
                };
                self.c_linkage = outer;
                end
            }
            "extern" if tokens.is(at + 1, "template") => self.extent(at + 2).end,
            "template" if tokens.is(at + 1, "<") => self.template(at),
            "template" => self.instantiation(at),
            "using" => self.using(at),
            "{" => tokens.after_group(at),
            _ if tokens.is_annotation(at) => {
                self.ahead = Some(at);
                let mut next = at;
                while tokens.is_annotation(next) {
                    next = tokens.after_attribute(next).unwrap_or(next + 1);
                }
                let end = self.statement(next);
                self.ahead = None;
                end
            }
            _ => self.declaration(at, at, None),
        }
    }

    fn namespace(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        let mut names = Vec::new();
        let mut next = tokens.after_attributes(at + 1);
        while tokens.is_word(next) || tokens.is(next, "::") {
            match tokens.text(next) {
                "::" | "inline" => next += 1,
                _ if tokens.after_attribute(next).is_some() => next = tokens.after_attributes(next),
                name => {
                    names.push(name.to_owned());
                    next += 1;
                }
            }
        }
        next = tokens.after_attributes(next);
        if !tokens.is(next, "{") {
            return self.extent(at).end;
        }
        if names.is_empty() {
            names.push(String::new());
        }
        let depth = self.scope.len();
        self.scope.append(&mut names);
        let end = self.scope_at(next);
        self.scope.truncate(depth);
        end
    }

    fn template(&mut self, at: usize) -> usize {
        match self.header(at) {
            (header, next) if next > at => self.declaration(at, next, header),
            _ => self.extent(at).end,
        }
    }

    /// Reads `template<…>`, also several and with `requires`; gives the position after.
    pub(super) fn header(&self, mut at: usize) -> (Header, usize) {
        let tokens = self.tokens;
        let mut header: Header = None;
        while tokens.is(at, "template") && tokens.is(at + 1, "<") {
            let Some(end) = tokens.after_angles(at + 1) else {
                break;
            };
            let params = template_params(&tokens.0[at + 2..end - 1]);
            header.get_or_insert_default().extend(params);
            at = end;
            if tokens.is(at, "requires") {
                at = self.after_constraint(at + 1);
            }
        }
        (header, at)
    }

    /// The position after a constraint: operands joined by `&&` and `||`.
    fn after_constraint(&self, mut at: usize) -> usize {
        let tokens = self.tokens;
        loop {
            while tokens.is(at, "!") {
                at += 1;
            }
            if tokens.is(at, "(") {
                at = tokens.after_group(at);
            } else {
                while tokens.is_word(at) || tokens.is(at, "::") {
                    at += 1;
                    if tokens.is(at, "<") {
                        at = tokens.after_angles(at).unwrap_or(at + 1);
                    }
                    // Without a joint, the next word belongs to the declaration.
                    if !tokens.is(at, "::") && !tokens.is(at - 1, "::") {
                        break;
                    }
                }
            }
            if !matches!(tokens.text(at), "&&" | "||") {
                return at;
            }
            at += 1;
        }
    }

    pub(super) fn using(&mut self, at: usize) -> usize {
        let end = self.extent(at).end;
        if self.tokens.is_word(at + 1) && self.tokens.is(at + 2, "=") {
            self.alias(at + 1, at + 3, end.saturating_sub(1));
        }
        end
    }

    /// A `typedef` that defines no class.
    pub(super) fn typedef(&mut self, at: usize) -> usize {
        let extent = self.extent(at);
        let declared = &self.tokens.0[at + 1..extent.head_end.max(at + 1)];
        if let Some(name) = name_at(declared) {
            self.alias(at + 1 + name, at + 1, at + 1 + name);
        }
        extent.end
    }

    /// Keeps what an alias stands for.
    fn alias(&mut self, name: usize, from: usize, to: usize) {
        let text = joined(&self.tokens.0[from..to.max(from)]);
        let name = self.tokens.text(name).to_owned();
        self.out.aliases.entry(name).or_default().push(text);
    }

    fn instantiation(&mut self, at: usize) -> usize {
        let extent = self.extent(at + 1);
        let head = Tokens(&self.tokens.0[at..extent.head_end]);
        let Some(call) = extent.call.filter(|_| head.mark_kernel()) else {
            return extent.end;
        };
        let Some(name) = self.function_name(at, call) else {
            return extent.end;
        };
        self.out.instantiations.push(DeclaredInstance {
            scope: self.scope.clone(),
            name: name.path.join("::"),
            args: name.args.map(|(from, to)| {
                let parts = Tokens(&self.tokens.0[from..to]).split_commas();
                parts.into_iter().map(joined).collect()
            }),
            params: self.params_at(call),
            place: self.place(name.at),
            asked: false,
        });
        extent.end
    }

    /// The annotations of the function that `call` is the parameter list of.
    fn annotations(&self, first: usize, call: usize) -> Vec<DeclaredAnnotation> {
        let place = |token: &Token<'_>| self.place_of(token);
        let params = Tokens(self.between(call)).split_commas();
        let params = params.into_iter().enumerate();
        let own = annotations(&self.tokens.0[first..call], None, place);
        let of_params = params.flat_map(|(at, tokens)| annotations(tokens, Some(at), place));
        own.into_iter().chain(of_params).collect()
    }

    pub(super) fn params_at(&self, call: usize) -> Vec<DeclaredParam> {
        params(self.between(call))
    }

    /// The tokens inside a group.
    fn between(&self, open: usize) -> &'a [Token<'t>] {
        let close = self.tokens.after_group(open).saturating_sub(1);
        self.tokens.0.get(open + 1..close).unwrap_or_default()
    }

    /// Reads a declaration whose specifiers start at `from`; `first` is where its template header or linkage
    /// does.
    fn declaration(&mut self, first: usize, from: usize, header: Header) -> usize {
        if self.tokens.is(from, "friend") {
            return self.extent(from).end;
        }
        if self.tokens.is(from, "using") || self.tokens.is(from, "concept") {
            return self.using(from);
        }
        if let Some(end) = self.class(from, &header) {
            return end;
        }
        if self.tokens.is(from, "typedef") {
            return self.typedef(from);
        }
        let extent = self.extent(from);
        let Some(call) = extent.call else {
            self.asked(&extent);
            self.variables(from, extent.end, &header);
            return extent.end;
        };
        let Some(name) = self.function_name(from, call) else {
            return extent.end;
        };
        let Some(last) = name.path.last().copied() else {
            return extent.end;
        };
        let function = Function {
            params: self.between(call),
            template: header.is_some(),
        };
        // An explicit specialization is no function of its own.
        if header.as_ref().is_none_or(|params| !params.is_empty()) {
            self.functions.entry(last).or_default().push(function);
        }
        let head = Tokens(&self.tokens.0[first..extent.head_end]);
        if extent.body && self.c_linkage && header.is_none() && name.path.len() == 1 {
            self.host_function(from, name.at, call);
        }
        if head.mark_kernel() {
            let first = self.ahead.unwrap_or(first);
            let mut scope = self.scope.clone();
            let (_, outer) = name.path.split_last().unwrap_or((&"", &[]));
            scope.extend(outer.iter().map(|&part| part.to_owned()));
            let c_linkage = self.c_linkage && header.is_none();
            self.out.kernels.push(DeclaredKernel {
                scope,
                name: last.to_owned(),
                c_linkage,
                is_static: head.0.iter().any(|token| token.is("static")),
                defined: extent.body,
                template: header,
                overloaded: false,
                params: self.params_at(call),
                annotations: self.annotations(first, call),
                place: self.place(name.at),
                first_line: self.first_line(first, name.at),
            });
        }
        extent.end
    }

    /// The line of a declaration's first token, or of its name where that stands in another file.
    fn first_line(&self, first: usize, name: usize) -> u32 {
        let (first, name) = (self.tokens.get(first), self.tokens.get(name));
        let same = first.filter(|first| name.is_some_and(|name| name.file == first.file));
        same.or(name).map_or(0, |token| token.line)
    }

    fn mark_overloads(&mut self) {
        let mut shapes: HashMap<&str, HashSet<(bool, Vec<String>)>> = HashMap::new();
        let kernels = self.out.kernels.iter();
        let kernels: HashSet<_> = kernels.map(|kernel| kernel.name.as_str()).collect();
        for (name, functions) in (self.functions.iter()).filter(|(name, _)| kernels.contains(*name))
        {
            let shapes = shapes.entry(name).or_default();
            shapes.extend(functions.iter().map(|function| {
                let params = params(function.params).into_iter();
                (function.template, params.map(|it| it.text).collect())
            }));
        }
        for kernel in &mut self.out.kernels {
            let Some(shapes) = shapes.get(kernel.name.as_str()) else {
                continue;
            };
            let own = kernel.params.iter().map(|it| it.text.clone()).collect();
            let own = shapes.contains(&(kernel.template.is_some(), own));
            kernel.overloaded = shapes.len() > usize::from(own);
        }
    }
}
