//! A whole PTX module: its text and what stands in it.

use std::fmt;

use crate::edit::Edits;
use crate::error::ParseError;
use crate::function::Function;
use crate::name::Name;
use crate::parse;
use crate::span::Span;
use crate::variable::Variable;
use crate::words::Words;

/// A module as read. The text is kept, so that what nobody edits stays as it is.
#[derive(Debug, Clone)]
pub struct Module {
    text: String,
    header: Header,
    items: Vec<Item>,
}

/// What stands before everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: (u32, u32),
    pub(crate) version_span: Span,
    pub(crate) target: Name,
    pub(crate) target_span: Span,
    pub(crate) options: Vec<Name>,
    pub(crate) address_size: u32,
}

/// Something at module scope, with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it stands.
    pub span: Span,
}

/// What stands at module scope.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// `.file`.
    File(File),
    /// `.section`: debug information, kept as text.
    Section {
        /// With its dot, if it has one.
        name: Name,
        /// The braces and what is between them.
        body: Span,
    },
    /// The variables of one statement.
    Variables(Vec<Variable>),
    /// A function.
    Function(Function),
    /// `.alias`: another name of a function.
    Alias {
        /// The other name.
        alias: Name,
        /// The function.
        function: Name,
    },
    /// A directive that this reader does not know, kept as text.
    Other,
}

/// A source file, as `.loc` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What `.loc` calls it.
    pub number: u32,
    /// Its path as the compiler saw it.
    pub name: Name,
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    ///
    /// If the text is not PTX. Instructions and directives that are only unknown are no error.
    pub fn parse(text: impl Into<String>) -> Result<Self, ParseError> {
        parse::parse(text.into())
    }

    pub(crate) const fn new(text: String, header: Header, items: Vec<Item>) -> Self {
        Self {
            text,
            header,
            items,
        }
    }

    /// The text the module was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands at `span`; empty for a span of another module.
    #[must_use]
    pub fn at(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// The PTX ISA version: `(9, 0)`.
    #[must_use]
    pub const fn version(&self) -> (u32, u32) {
        self.header.version
    }

    /// Where the version's number stands.
    #[must_use]
    pub const fn version_span(&self) -> Span {
        self.header.version_span
    }

    /// The target with its suffix: `sm_90a`.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.header.target
    }

    /// Where the target stands.
    #[must_use]
    pub const fn target_span(&self) -> Span {
        self.header.target_span
    }

    /// What follows the target: `debug`, `texmode_independent`.
    pub fn target_options(&self) -> impl Iterator<Item = &str> {
        self.header.options.iter().map(|option| &**option)
    }

    /// The target's compute capability times ten: 90 of `sm_90a`.
    #[must_use]
    pub fn capability(&self) -> Option<u32> {
        self.header
            .target
            .strip_prefix("sm_")?
            .trim_end_matches(|c: char| c.is_ascii_lowercase())
            .parse()
            .ok()
    }

    /// Bits of an address.
    #[must_use]
    pub const fn address_size(&self) -> u32 {
        self.header.address_size
    }

    /// Everything at module scope, in order.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The source files.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::File(file) => Some(file),
            _ => None,
        })
    }

    /// The name of the source file that `.loc` calls `number`.
    #[must_use]
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files()
            .find(|file| file.number == number)
            .map(|file| &*file.name)
    }

    /// All functions, declarations too.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Function(function) => Some(function),
            _ => None,
        })
    }

    /// The kernels.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions().filter(|function| function.is_entry())
    }

    /// The kernel of that symbol.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Function> {
        self.entries().find(|function| &*function.name == name)
    }

    /// All variables at module scope.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Variables(variables) => Some(variables),
                _ => None,
            })
            .flatten()
    }

    /// The variable of that name at module scope.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables().find(|variable| &*variable.name == name)
    }

    /// The variables at module scope whose names begin so.
    pub fn variables_with_prefix<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = &'a Variable> {
        self.variables()
            .filter(move |variable| variable.name.starts_with(prefix))
    }

    /// Edits that remove the variables at module scope whose names begin so, each with its line's end.
    ///
    /// A variable that something still mentions, as the debug information of `nvcc -G` does, loses only its
    /// initializer; one whose statement declares others too stays.
    #[must_use]
    pub fn removal_of_variables(&self, prefix: &str) -> Edits {
        let words = Words::new(self);
        let mut edits = Edits::new();
        for variable in self.variables_with_prefix(prefix) {
            if !variable.alone {
                continue;
            }
            let sized = variable.dims.iter().all(Option::is_some);
            if words.count(&variable.name) == 1 {
                edits.delete(self.with_line_end(variable.span));
            } else if let (Some(init), true) = (variable.init_span, sized) {
                edits.delete(init);
            }
        }
        edits
    }

    /// The span and, if nothing else follows on its line, the line's end.
    pub(crate) fn with_line_end(&self, span: Span) -> Span {
        let rest = self.text.get(span.end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        if rest[blank..].starts_with('\n') {
            Span::new(span.start, span.end + blank + 1)
        } else {
            span
        }
    }
}

/// Writes the text as it was read.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
