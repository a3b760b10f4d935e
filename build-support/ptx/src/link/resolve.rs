//! Which definition a name means.

use std::collections::{BTreeMap, BTreeSet};

use super::{LinkError, Missing};
use crate::function::{Function, Param};
use crate::module::{ItemKind, Module};
use crate::variable::{Linkage, Space, Variable};
use crate::words::Words;

/// What becomes of every symbol.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// For each module, its symbols that get other names.
    pub(super) renamed: Vec<BTreeMap<String, String>>,
    /// For each shared name that is defined, the module whose definition counts.
    pub(super) owners: BTreeMap<String, usize>,
    /// For each shared name that is not, the module whose declaration stays.
    pub(super) declared: BTreeMap<String, usize>,
    pub(super) missing: Vec<Missing>,
}

impl Resolved {
    /// Whether a module's definition or declaration of a name stays.
    pub(super) fn keeps(&self, module: usize, name: &str, linkage: Linkage) -> bool {
        let owner = self.owners.get(name).or(self.declared.get(name));
        linkage == Linkage::Internal || owner.is_none_or(|owner| *owner == module)
    }
}

/// A symbol of one module.
#[derive(Clone, Copy)]
enum Symbol<'m> {
    Function(&'m Function),
    Variable(&'m Variable),
}

impl Symbol<'_> {
    fn linkage(self) -> Linkage {
        match self {
            Self::Function(it) => it.linkage,
            Self::Variable(it) => it.linkage,
        }
    }

    fn is_defined(self) -> bool {
        match self {
            Self::Function(it) => it.body.is_some(),
            Self::Variable(it) => it.linkage != Linkage::Extern,
        }
    }

    /// What a declaration and a definition have to agree about.
    fn shape(self) -> String {
        match self {
            Self::Function(it) => {
                let list = |params: &[Param]| {
                    let rooms = params.iter().map(|param| {
                        let size = param.size().map_or("?".to_owned(), |size| size.to_string());
                        format!("{size} bytes aligned to {}", param.alignment())
                    });
                    rooms.collect::<Vec<_>>().join(", ")
                };
                format!(
                    "parameters ({}) and result ({})",
                    list(&it.params),
                    list(&it.returns)
                )
            }
            Self::Variable(it) => match it.size() {
                Some(size) => format!("{size} bytes in {}", it.space),
                None => format!("no size in {}", it.space),
            },
        }
    }

    /// Whether this declaration is one of that definition.
    fn fits(self, definition: Self) -> bool {
        match (self, definition) {
            (Self::Function(_), Self::Function(_)) => self.shape() == definition.shape(),
            (Self::Variable(a), Self::Variable(b)) => {
                a.space == b.space && (a.size().is_none() || a.size() == b.size())
            }
            _ => false,
        }
    }

    fn is_extern_shared(self) -> bool {
        matches!(self, Self::Variable(it) if it.space == Space::Shared)
    }
}

pub(super) fn resolve(modules: &[Module]) -> Result<Resolved, Vec<LinkError>> {
    let mut resolved = Resolved::default();
    let mut errors = Vec::new();
    let mut shared: BTreeMap<&str, Vec<(usize, Symbol<'_>)>> = BTreeMap::new();
    let mut own: Vec<BTreeSet<&str>> = Vec::new();
    for (at, module) in modules.iter().enumerate() {
        let mut internal = labels(module);
        for (name, symbol) in symbols(module) {
            if symbol.linkage() == Linkage::Internal {
                internal.insert(name);
            } else {
                shared.entry(name).or_default().push((at, symbol));
            }
        }
        own.push(internal);
    }
    for (name, symbols) in &shared {
        match owner(name, symbols) {
            Err(error) => errors.push(error),
            Ok(Some((at, definition))) => {
                resolved.owners.insert((*name).to_owned(), at);
                errors.extend(misfits(name, symbols, (at, definition)));
            }
            Ok(None) => declare(name, symbols, &mut resolved),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    resolved.renamed = renamed(modules, &own, &shared.keys().copied().collect());
    Ok(resolved)
}

fn symbols(module: &Module) -> impl Iterator<Item = (&str, Symbol<'_>)> {
    let functions = module.functions();
    let functions = functions.map(|it| (&*it.name, Symbol::Function(it)));
    functions.chain(
        module
            .variables()
            .map(|it| (&*it.name, Symbol::Variable(it))),
    )
}

/// Labels in sections, which debug information and lines of inlined code name.
fn labels(module: &Module) -> BTreeSet<&str> {
    let words = Words::new(module);
    let sections = module.items().iter().filter_map(|item| match &item.kind {
        ItemKind::Section { body, .. } => Some(*body),
        _ => None,
    });
    let is_label = |end: usize| {
        let rest = module.text().get(end..).unwrap_or_default();
        rest.trim_start().starts_with(':')
    };
    let labels = sections.flat_map(|body| {
        let within = words.within(body);
        let labels = within.filter(|(_, span)| is_label(span.end));
        labels.map(|(word, _)| word).collect::<Vec<_>>()
    });
    labels.collect()
}

/// The definition that counts: the strong one, else the first, else none.
fn owner<'m>(
    name: &str,
    symbols: &[(usize, Symbol<'m>)],
) -> Result<Option<(usize, Symbol<'m>)>, LinkError> {
    let defined = symbols.iter().filter(|(_, symbol)| symbol.is_defined());
    let strong = |symbol: &Symbol<'_>| symbol.linkage() == Linkage::Visible;
    let mut strongs = defined.clone().filter(|(_, symbol)| strong(symbol));
    let first = strongs.next();
    let other = first.and_then(|(first, _)| strongs.find(|(at, _)| at != first));
    if let (Some((first, _)), Some((second, _))) = (first, other) {
        return Err(LinkError::Duplicate {
            symbol: name.to_owned(),
            modules: [*first, *second],
        });
    }
    Ok(first.or(defined.clone().next()).copied())
}

/// Who disagrees with the definition; of weak functions the first one's body is as good as another's.
fn misfits(
    name: &str,
    symbols: &[(usize, Symbol<'_>)],
    (owner, definition): (usize, Symbol<'_>),
) -> Vec<LinkError> {
    let misfit = |(_, symbol): &&(usize, Symbol<'_>)| !symbol.fits(definition);
    let misfits = symbols.iter().filter(misfit);
    let error = |(at, symbol): &(usize, Symbol<'_>)| LinkError::Mismatch {
        symbol: name.to_owned(),
        modules: [*at, owner],
        declared: symbol.shape(),
        defined: definition.shape(),
    };
    misfits.map(error).collect()
}

/// Keeps one declaration: of shared memory the one that asks for the most alignment.
fn declare(name: &str, symbols: &[(usize, Symbol<'_>)], resolved: &mut Resolved) {
    let align = |symbol: &Symbol<'_>| match symbol {
        Symbol::Variable(it) => it.alignment(),
        Symbol::Function(_) => 0,
    };
    // The first of equals.
    let kept = symbols.iter().rev().max_by_key(|(_, symbol)| align(symbol));
    let Some((at, symbol)) = kept else { return };
    resolved.declared.insert(name.to_owned(), *at);
    if !symbol.is_extern_shared() {
        resolved.missing.push(Missing {
            symbol: name.to_owned(),
            module: *at,
            variable: matches!(symbol, Symbol::Variable(_)),
        });
    }
}

/// New names for what several modules have, each for itself.
fn renamed(
    modules: &[Module],
    own: &[BTreeSet<&str>],
    shared: &BTreeSet<&str>,
) -> Vec<BTreeMap<String, String>> {
    let words: Vec<_> = modules.iter().map(Words::new).collect();
    let mut taken: BTreeSet<String> = shared.iter().map(|&name| name.to_owned()).collect();
    let mut renamed = Vec::new();
    for names in own {
        let mut of_module = BTreeMap::new();
        for &name in names {
            let mut new = name.to_owned();
            let mut number = 1_u32;
            while taken.contains(&new)
                || (new != name && words.iter().any(|words| words.count(&new) > 0))
            {
                number += 1;
                new = format!("{name}${number}");
            }
            taken.insert(new.clone());
            if new != name {
                of_module.insert(name.to_owned(), new);
            }
        }
        renamed.push(of_module);
    }
    renamed
}
