//! Which declaration an entry comes from, and with which parameter types.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::config::Signature;
use crate::ctype::{Arg, CType, Name};
use crate::diagnostic::Place;
use crate::kernel::ends_with;
use crate::probe::{Answers, InstanceAnswer};
use crate::source::{Declarations, DeclaredAnnotation, DeclaredKernel};

use super::Entry;
use super::refusal::Stranger;
use super::spelt::{decayed, spells};
use super::symbol::{self, Function};

/// Where an entry comes from.
#[derive(Debug)]
pub(super) struct Origin<'d> {
    /// With the template arguments, if any.
    pub(super) name: Name,
    pub(super) place: Place,
    pub(super) types: Vec<CType>,
    /// Whether it is an instance that nobody asked for by name: one that host code in the file launches.
    pub(super) implicit: bool,
    declared: &'d DeclaredKernel,
    /// What it is an instance of.
    pub(super) template: Option<OfTemplate<'d>>,
}

/// The template of an instance.
#[derive(Debug)]
pub(super) struct OfTemplate<'d> {
    pub(super) declared: &'d DeclaredKernel,
    /// For each argument: its type, if it is a value.
    pub(super) values: Vec<Option<CType>>,
}

impl<'d> Origin<'d> {
    /// A declaration of the configuration.
    pub(super) fn of_signature(signature: &'d Signature, place: &Place) -> Self {
        let declared = signature.declared();
        Self {
            name: Name::simple(&declared.name),
            place: place.clone(),
            types: signature.types().to_vec(),
            implicit: false,
            declared,
            template: None,
        }
    }

    /// A name for each parameter: as declared, else `param_2`; those of a pack are numbered.
    pub(super) fn param_names(&self) -> Vec<String> {
        let declared = &self.declared.params;
        let pack = declared.iter().position(|param| param.pack);
        let extra = self
            .types
            .len()
            .saturating_sub(declared.len().saturating_sub(1));
        let name = |at: usize| {
            let (index, nth) = match pack {
                Some(pack) if at >= pack + extra => (at + 1 - extra, None),
                Some(pack) if at >= pack => (pack, Some(at - pack)),
                _ => (at, None),
            };
            let name = declared.get(index).and_then(|param| param.name.as_deref());
            match (name, nth) {
                (Some(name), None) => name.to_owned(),
                (Some(name), Some(nth)) => format!("{name}_{nth}"),
                (None, _) => format!("param_{at}"),
            }
        };
        (0..self.types.len()).map(name).collect()
    }

    /// The parameter that is declared at a place; none if that is a pack.
    fn position(&self, declared: usize) -> Option<usize> {
        let params = &self.declared.params;
        let pack = params.iter().position(|param| param.pack);
        match pack.map(|pack| declared.cmp(&pack)) {
            None | Some(Ordering::Less) => Some(declared),
            Some(Ordering::Equal) => None,
            Some(Ordering::Greater) => (declared + self.types.len()).checked_sub(params.len()),
        }
    }

    /// The parameters of its template with their arguments.
    pub(super) fn template_args(&self) -> Vec<(String, Arg)> {
        let params = self.declared.template.iter().flatten();
        let args = self.name.last().and_then(|part| part.args.as_ref());
        let named = params
            .take_while(|param| !param.pack)
            .zip(args.into_iter().flatten());
        let named = named.filter_map(|(param, arg)| Some((param.name.clone()?, arg.clone())));
        named.collect()
    }

    /// The number of parameters that can be instantiated from a declaration.
    fn fits(declared: &DeclaredKernel, count: usize) -> bool {
        let pack = declared.params.iter().any(|param| param.pack);
        declared.params.len() == count || (pack && declared.params.len() <= count + 1)
    }
}

/// Finds origins.
pub(super) struct Origins<'d> {
    declarations: &'d Declarations,
    answers: &'d Answers,
    /// The positions of the kernels of a name.
    named: HashMap<&'d str, Vec<usize>>,
}

impl<'d> Origins<'d> {
    pub(super) fn new(declarations: &'d Declarations, answers: &'d Answers) -> Self {
        let mut named: HashMap<_, Vec<_>> = HashMap::new();
        for (at, kernel) in declarations.kernels.iter().enumerate() {
            named.entry(kernel.name.as_str()).or_default().push(at);
        }
        Self {
            declarations,
            answers,
            named,
        }
    }

    /// The kernels of a name with their positions, in the order of the text.
    fn named(&self, name: &str) -> impl DoubleEndedIterator<Item = (usize, &'d DeclaredKernel)> {
        let kernels = &self.declarations.kernels;
        let named = self.named.get(name).map_or(&[][..], Vec::as_slice);
        named.iter().map(|&at| (at, &kernels[at]))
    }

    /// Finds an entry's origin.
    pub(super) fn of(&self, entry: &Entry) -> Result<Origin<'d>, Stranger> {
        if let Some(declared) = self.best(&entry.name, |kernel| kernel.c_linkage, &[]) {
            let types = self.answer(declared).or_else(|| from_text(declared));
            return Ok(Origin {
                name: Name::simple(&declared.name),
                place: declared.place.clone(),
                types: types.ok_or_else(|| Stranger::NoAnswer(declared.place.clone()))?,
                implicit: false,
                declared,
                template: None,
            });
        }
        let function = symbol::function(&entry.name).ok_or(Stranger::Unknown)?;
        match function.name.last().is_some_and(|part| part.args.is_some()) {
            false => self.plain(function),
            true => self.instance(function),
        }
    }

    /// The annotations of an origin, each at the parameter that it is about; those of another declaration of the kernel
    /// where the origin's own has none.
    pub(super) fn annotations(&self, origin: &Origin<'_>) -> Vec<DeclaredAnnotation> {
        let own = origin.declared;
        let kernels = self.named(&own.name).map(|(_, kernel)| kernel);
        let mut others = kernels.filter(|it| {
            let same = it.scope == own.scope && it.params.len() == own.params.len();
            same && !it.annotations.is_empty()
        });
        let found = match own.annotations.as_slice() {
            [] if !own.overloaded => others.next().map_or(&[][..], |it| &it.annotations),
            own => own,
        };
        let placed = found.iter().cloned().map(|mut annotation| {
            // One of a pack is at no parameter, and so is a finding.
            let position = |at| origin.position(at).unwrap_or(usize::MAX);
            annotation.param = annotation.param.map(position);
            annotation
        });
        placed.collect()
    }

    fn plain(&self, function: Function) -> Result<Origin<'d>, Stranger> {
        let path = function.name.path();
        let is_other = |kernel: &DeclaredKernel| {
            let mut params = kernel.params.iter().zip(&function.params);
            params.any(|(param, ty)| self.spells(&param.text, ty) == Some(false))
        };
        let fits = |kernel: &DeclaredKernel| {
            kernel.template.is_none()
                && kernel.path() == path
                && Origin::fits(kernel, function.params.len())
                && !(kernel.overloaded && is_other(kernel))
        };
        let name = last(&function.name);
        let declared = self.best(name, fits, &function.params);
        let declared = declared.ok_or(Stranger::Unknown)?;
        Ok(Origin {
            types: self.answer(declared).unwrap_or(function.params),
            name: function.name,
            place: declared.place.clone(),
            implicit: false,
            declared,
            template: None,
        })
    }

    fn instance(&self, function: Function) -> Result<Origin<'d>, Stranger> {
        let path = without_args(&function.name).path();
        let fits = |kernel: &DeclaredKernel| {
            kernel.template.is_some()
                && kernel.path() == path
                && Origin::fits(kernel, function.params.len())
        };
        let name = last(&function.name);
        let declared = self.best(name, fits, &function.params);
        let declared = declared.ok_or(Stranger::Unknown)?;
        let specialized = declared.template.as_ref().is_some_and(Vec::is_empty);
        let primary = |kernel: &DeclaredKernel| {
            fits(kernel) && kernel.template.as_ref().is_some_and(|it| !it.is_empty())
        };
        let template = self.best(name, primary, &function.params);
        let answers = self.instance_answers(&function);
        let (first, others) = answers.split_first().unzip();
        let same = |first: &&&InstanceAnswer| {
            let others: &[_] = others.unwrap_or_default();
            others.iter().all(|other| other.params == first.params)
        };
        Ok(Origin {
            implicit: first.is_none() && !specialized && !self.awaits_answer(&path),
            types: first
                .filter(same)
                .map_or(function.params, |answer| answer.params.clone()),
            name: function.name,
            place: declared.place.clone(),
            declared,
            template: template.map(|declared| OfTemplate {
                declared,
                values: function.values,
            }),
        })
    }

    /// The declaration of a name that fits best: most parameters spelt as their types are, then a definition.
    fn best(
        &self,
        name: &str,
        fits: impl Fn(&DeclaredKernel) -> bool,
        types: &[CType],
    ) -> Option<&'d DeclaredKernel> {
        let kernels = self.named(name).map(|(_, kernel)| kernel);
        let fitting = kernels.filter(|kernel| fits(kernel));
        let rank = |kernel: &&DeclaredKernel| {
            let params = kernel.params.iter().zip(types);
            let spelt = params.filter(|(param, ty)| self.spells(&param.text, ty) == Some(true));
            (spelt.count(), kernel.defined)
        };
        // The first of equals.
        fitting.rev().max_by_key(rank)
    }

    fn spells(&self, text: &str, ty: &CType) -> Option<bool> {
        spells(self.declarations, text, ty)
    }

    /// The compiler's answer about a kernel, whichever of its declarations was asked for.
    fn answer(&self, declared: &DeclaredKernel) -> Option<Vec<CType>> {
        if declared.overloaded && !declared.c_linkage {
            return None;
        }
        let kernels = self.named(&declared.name);
        let mut same = kernels.filter(|(_, other)| other.scope == declared.scope);
        same.find_map(|(index, _)| self.answers.kernels.get(&index).cloned())
    }

    /// The compiler's answers about explicit instantiations that this one can be.
    fn instance_answers(&self, function: &Function) -> Vec<&'d InstanceAnswer> {
        let args = function.name.last().and_then(|part| part.args.as_ref());
        let path = without_args(&function.name).path();
        let fits = |(index, answer): &(&usize, &InstanceAnswer)| {
            let instance = self.declarations.instantiations.get(**index);
            instance.is_some_and(|instance| ends_with(&path, &instance.name))
                && answer.params.len() == function.params.len()
                && answer
                    .args
                    .iter()
                    .zip(args.into_iter().flatten())
                    .all(|(answer, arg)| may_be_equal(answer.as_ref(), arg))
                && answer
                    .params
                    .iter()
                    .zip(&function.params)
                    .all(|(answer, param)| may_be_equal_types(answer, param))
        };
        let answers = self.answers.instances.iter().filter(fits);
        answers.map(|(_, answer)| answer).collect()
    }

    /// Whether there is an explicit instantiation of the template that the compiler told nothing about: it can be any.
    fn awaits_answer(&self, path: &str) -> bool {
        let instances = self.declarations.instantiations.iter().enumerate();
        let mut silent = instances.filter(|(index, _)| !self.answers.instances.contains_key(index));
        silent.any(|(_, instance)| ends_with(path, &instance.name))
    }
}

fn last(name: &Name) -> &str {
    name.last().map_or("", |part| part.word.as_str())
}

fn without_args(name: &Name) -> Name {
    let mut name = name.clone();
    if let Some(last) = name.0.last_mut() {
        last.args = None;
    }
    name
}

/// Whether two spellings can be of one argument: of enumerators and addresses there are several.
fn may_be_equal(answer: Option<&Arg>, arg: &Arg) -> bool {
    let Some(answer) = answer else { return true };
    let enumerator = |arg: &Arg| match arg {
        Arg::Value(text) => text.starts_with(['(', '&']),
        Arg::Type(_) => false,
    };
    answer == arg || enumerator(answer) || enumerator(arg)
}

/// Whether a type can be what a mangled name spells: a dependent name (`traits<T>::type`) is not resolved
/// there.
fn may_be_equal_types(answer: &CType, spelt: &CType) -> bool {
    fn dependent(ty: &CType) -> bool {
        match ty {
            CType::Named(name, _) => {
                let (_, scope) = name.0.split_last().unzip();
                scope.is_some_and(|scope| scope.iter().any(|part| part.args.is_some()))
                    || name.last().is_some_and(|part| part.args.is_some())
            }
            CType::Pointer(to, _) | CType::Reference(to) | CType::Array(to, _) => dependent(to),
            _ => true,
        }
    }
    decayed(answer.clone()) == decayed(spelt.clone()) || dependent(spelt)
}

/// The types of a kernel that the compiler was not asked about or did not answer for, where they are spelt
/// in fundamental types alone.
fn from_text(declared: &DeclaredKernel) -> Option<Vec<CType>> {
    fn fundamental(ty: &CType) -> bool {
        match ty {
            CType::Named(name, _) => name.as_simple().is_some_and(super::types::is_fundamental),
            CType::Pointer(to, _) => fundamental(to),
            _ => false,
        }
    }
    let types = declared.params.iter().map(|param| {
        let ty = decayed(param.text.parse().ok()?);
        fundamental(&ty).then_some(ty)
    });
    types.collect()
}
