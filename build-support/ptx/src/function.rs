//! Functions: entries, device functions, and their declarations.

use crate::name::Name;
use crate::scalar::Type;
use crate::span::Span;
use crate::statement::Body;
use crate::variable::{Linkage, Space};

/// What a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `.entry`: a kernel.
    Entry,
    /// `.func`: what kernels call.
    Func,
}

/// An `.entry` or `.func`: a definition, or a declaration without a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Which of the two.
    pub kind: FunctionKind,
    /// Who else sees it.
    pub linkage: Linkage,
    /// The symbol.
    pub name: Name,
    /// Where the symbol stands.
    pub name_span: Span,
    /// What a `.func` gives back.
    pub returns: Vec<Param>,
    /// The parameters in order.
    pub params: Vec<Param>,
    /// The parameter list with its parentheses; `None` where there is none.
    pub params_span: Option<Span>,
    /// Performance-tuning and other directives between the parameters and the body.
    pub directives: Vec<Directive>,
    /// `None` for a declaration.
    pub body: Option<Body>,
    /// The whole, from the linkage to the closing brace or semicolon.
    pub span: Span,
}

/// A formal parameter, or a value given back.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Whether it is a `.reg`; else a `.param`.
    pub register: bool,
    /// Its name; `_` in a prototype.
    pub name: Name,
    /// What `.align` says, in bytes.
    pub align: Option<u64>,
    /// Its element's type.
    pub ty: Type,
    /// Elements of a `.v2` or `.v4`; else 1.
    pub lanes: u64,
    /// Array dimensions; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    /// `.ptr`: what the parameter points to.
    pub pointer: Option<Pointer>,
    /// The parameter without its comma.
    pub span: Span,
}

/// What `.ptr` says about a pointer (PTX ISA 7.1 "Kernel Function Parameters").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// The state space it points into; `None` for generic.
    pub space: Option<Space>,
    /// The alignment of what it points to, in bytes.
    pub align: Option<u64>,
}

impl Param {
    /// Size in bytes; `None` for `[]` and past 2^64.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let element = self.ty.bytes().checked_mul(self.lanes)?;
        self.dims
            .iter()
            .try_fold(element, |size, dim| size.checked_mul((*dim)?))
    }

    /// What `.align` says, or the type's own alignment, in bytes.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.align
            .unwrap_or_else(|| self.ty.bytes().saturating_mul(self.lanes))
    }
}

/// A directive with its arguments: `.maxntid 256, 1, 1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Directive {
    /// Without its dot.
    pub name: Name,
    /// Numbers and words in order.
    pub args: Vec<Name>,
    /// The whole.
    pub span: Span,
}

impl Directive {
    /// The argument `index` as a number.
    #[must_use]
    pub fn number(&self, index: usize) -> Option<u32> {
        self.args.get(index)?.parse().ok()
    }

    /// Up to three numbers; those left out are 1.
    #[must_use]
    pub fn shape(&self) -> [u32; 3] {
        [0, 1, 2].map(|index| self.number(index).unwrap_or(1))
    }
}

/// What an entry says about its launch (PTX ISA 11.4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// `.maxntid`: the product is the most threads a block may have.
    pub max_block: Option<[u32; 3]>,
    /// `.reqntid`: the only block shape.
    pub exact_block: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks meant to share a multiprocessor.
    pub min_blocks: Option<u32>,
    /// `.maxnreg`: registers a thread.
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`: the only cluster shape, in blocks.
    pub cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: blocks a cluster.
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`: a launch must give a cluster shape.
    pub explicit_cluster: bool,
    /// `.blocksareclusters`: a launch counts its grid in clusters.
    pub grid_of_clusters: bool,
}

impl Function {
    /// The first directive of that name, given without its dot.
    #[must_use]
    pub fn directive(&self, name: &str) -> Option<&Directive> {
        self.directives.iter().find(|known| &*known.name == name)
    }

    /// What the directives say about the launch.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let shape = |name| self.directive(name).map(Directive::shape);
        let number = |name| self.directive(name).and_then(|found| found.number(0));
        Bounds {
            max_block: shape("maxntid"),
            exact_block: shape("reqntid"),
            min_blocks: number("minnctapersm"),
            max_registers: number("maxnreg"),
            cluster: self
                .directive("reqnctapercluster")
                .filter(|found| !found.args.is_empty())
                .map(Directive::shape),
            max_cluster: number("maxclusterrank"),
            explicit_cluster: self.directive("explicitcluster").is_some(),
            grid_of_clusters: self.directive("blocksareclusters").is_some(),
        }
    }

    /// Whether it is an entry with a body.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        self.kind == FunctionKind::Entry && self.body.is_some()
    }
}
