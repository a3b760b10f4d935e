//! Kernel templates whose instances share one generic method.
//!
//! They do if Rust can name what each is made with: every type argument has a counterpart, every value is one of a const
//! generic, and no two instances are the same to Rust. Otherwise each instance is a kernel like any other. How
//! many instances there are does not matter, so that one more changes no name.

use std::collections::{BTreeMap, BTreeSet};

use crate::annotation::{Annotations, Expression};
use crate::instance::{Depends, Instance, TemplateArg, TemplateValue};
use crate::kernel::{Bounds, Kernel, ParamType, Signatures, Type};

/// A template.
pub(super) struct Template<'a> {
    /// What its method is called.
    pub(super) name: String,
    /// In the order of the module, at least one.
    pub(super) instances: Vec<(&'a Kernel, &'a Instance)>,
    /// The parameters that its method has, by index.
    pub(super) params: Vec<usize>,
    /// What becomes of the type of each of the kernel's parameters.
    pub(super) forms: Vec<Form>,
}

/// A kernel parameter's type over all instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The same in all.
    Same,
    /// A template parameter, by index.
    Argument(usize),
    /// Each instance has its own.
    Own,
}

/// The templates of a module whose instances share a method.
pub(super) fn all(signatures: &Signatures) -> Vec<Template<'_>> {
    let mut groups: Vec<Vec<(&Kernel, &Instance)>> = Vec::new();
    for kernel in &signatures.kernels {
        let Some(instance) = &kernel.instance else {
            continue;
        };
        let same = |group: &&mut Vec<(&Kernel, &Instance)>| {
            let first = group.first().map(|(_, it)| (&it.template, &it.place));
            first == Some((&instance.template, &instance.place))
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push((kernel, instance)),
            None => groups.push(vec![(kernel, instance)]),
        }
    }
    let mut templates: Vec<_> = groups.into_iter().filter_map(Template::of).collect();
    while unnamed(signatures, &mut templates) {}
    templates
}

/// Gives templates names that no kernel and no other template has; takes out those that can have none, and says
/// whether there were any.
fn unnamed(signatures: &Signatures, templates: &mut Vec<Template<'_>>) -> bool {
    for template in templates.iter_mut() {
        template.name = template.words(1);
    }
    let taken = taken(signatures, templates);
    for template in templates.iter_mut() {
        if taken[&template.name] > 1 {
            template.name = template.words(usize::MAX);
        }
    }
    let taken = self::taken(signatures, templates);
    let all = templates.len();
    templates.retain(|template| taken[&template.name] == 1);
    templates.len() < all
}

/// How many methods want each name.
fn taken(signatures: &Signatures, templates: &[Template<'_>]) -> BTreeMap<String, usize> {
    let alone = (signatures.kernels.iter())
        .filter(|kernel| !templates.iter().any(|template| template.has(kernel)))
        .map(|kernel| &kernel.name);
    let mut taken = BTreeMap::new();
    for name in alone.chain(templates.iter().map(|template| &template.name)) {
        *taken.entry(name.clone()).or_default() += 1;
    }
    taken
}

impl<'a> Template<'a> {
    fn of(instances: Vec<(&'a Kernel, &'a Instance)>) -> Option<Self> {
        let &(first, header) = instances.first()?;
        let alike = |(kernel, instance): &(&Kernel, &Instance)| {
            instance.args.len() == header.args.len()
                && kernel.params.len() == first.params.len()
                && instance.params.len() == first.params.len()
                && kernel.annotations == first.annotations
        };
        if !instances.iter().all(alike) {
            return None;
        }
        let mut template = Self {
            name: String::new(),
            instances,
            params: Vec::new(),
            forms: Vec::new(),
        };
        for (index, arg) in header.args.iter().enumerate() {
            let args: Vec<_> = template.args(index).collect();
            let args = args.iter();
            // `enable_if` and its like.
            if arg.name.is_none() && args.clone().all(|other| other.text == arg.text) {
                continue;
            }
            let expressible = match &arg.value {
                TemplateValue::Type(_) => args
                    .clone()
                    .all(|other| matches!(other.value, TemplateValue::Type(_))),
                TemplateValue::Const(scalar, _) => args.clone().all(
                    |other| matches!(&other.value, TemplateValue::Const(other, _) if other == scalar),
                ),
                TemplateValue::Other => false,
            };
            if !expressible {
                return None;
            }
            template.params.push(index);
        }
        let forms = (0..first.params.len()).map(|index| template.form(index));
        template.forms = forms.collect::<Option<_>>()?;
        let shared = template.names_shared_numbers(&first.annotations) && template.are_distinct();
        (!template.params.is_empty() && shared).then_some(template)
    }

    /// Whether annotations compute with what has the same type in all instances.
    fn names_shared_numbers(&self, annotations: &Annotations) -> bool {
        let mut shared = true;
        for expression in annotations.expressions() {
            expression.visit(&mut |it| {
                if let Expression::Value(value) = it {
                    shared &= self.forms[value.param] == Form::Same;
                }
            });
        }
        shared
    }

    /// A template argument of all instances.
    fn args(&self, index: usize) -> impl Iterator<Item = &'a TemplateArg> {
        let instances = self.instances.iter();
        instances.filter_map(move |(_, instance)| instance.args.get(index))
    }

    /// Whether no two instances are made with the same, to Rust: `long` and `long long` are.
    fn are_distinct(&self) -> bool {
        let mut seen: Vec<Vec<&TemplateValue>> = Vec::new();
        self.instances.iter().all(|(_, instance)| {
            let args = self.params.iter().filter_map(|at| instance.args.get(*at));
            let key: Vec<_> = args.map(|arg| &arg.value).collect();
            let new = !seen.contains(&key);
            seen.push(key);
            new
        })
    }

    /// What becomes of a parameter's type; nothing if the instances do not pass it the same way.
    fn form(&self, index: usize) -> Option<Form> {
        let types = self.instances.iter().map(|(kernel, instance)| {
            let ty = &kernel.params[index].ty;
            (ty, instance.params[index].depends, instance)
        });
        let (first, depends, _) = types.clone().next()?;
        let alike = |ty: &ParamType| match (first, ty) {
            (ParamType::Value(_), ParamType::Value(_)) => true,
            (
                ParamType::Pointer { to, mutable },
                ParamType::Pointer {
                    to: other,
                    mutable: writes,
                },
            ) => (mutable, to.is_some()) == (writes, other.is_some()),
            _ => false,
        };
        if !types.clone().all(|(ty, ..)| alike(ty)) {
            return None;
        }
        let argument = |at: usize| {
            types.clone().all(|(ty, _, instance)| {
                let arg = instance.args.get(at).map(|arg| &arg.value);
                matches!((pointee(ty), arg), (Some(ty), Some(TemplateValue::Type(arg))) if ty == arg)
            })
        };
        Some(match depends {
            _ if pointee(first).is_none() => Form::Same,
            Depends::Argument(at) if self.params.contains(&at) && argument(at) => {
                Form::Argument(at)
            }
            Depends::Nothing if types.clone().all(|(ty, ..)| ty == first) => Form::Same,
            _ => Form::Own,
        })
    }

    /// Whether a kernel is an instance of it.
    pub(super) fn has(&self, kernel: &Kernel) -> bool {
        let first = self.instances.first();
        let pair = first.map(|(_, it)| (&it.template, &it.place));
        pair.is_some() && pair == kernel.instance.as_ref().map(|it| (&it.template, &it.place))
    }

    /// The C++ name.
    pub(super) fn path(&self) -> &'a str {
        let first = self.instances.first();
        first.map_or("", |(_, instance)| &instance.template)
    }

    /// The last words of its C++ name.
    fn words(&self, count: usize) -> String {
        let words: Vec<_> = self.path().split("::").collect();
        words[words.len().saturating_sub(count)..].join("_")
    }

    /// The declarations of its parameters as all instances have them, their types those given.
    pub(super) fn shared(&self, of: impl Fn(usize, &Type) -> Type) -> Option<Kernel> {
        let &(first, header) = self.instances.first()?;
        let mut kernel = first.clone();
        self.name.clone_into(&mut kernel.name);
        self.path().clone_into(&mut kernel.path);
        kernel.place = header.place.clone();
        for (index, param) in kernel.params.iter_mut().enumerate() {
            match &mut param.ty {
                ParamType::Value(ty) | ParamType::Pointer { to: Some(ty), .. } => {
                    *ty = of(index, ty);
                }
                ParamType::Pointer { to: None, .. } => {}
            }
            header.params[index].text.clone_into(&mut param.declared);
        }
        let docs = self.instances.iter().map(|(kernel, _)| &kernel.docs);
        let docs = docs.clone().find(|docs| !docs.is_empty()).cloned();
        kernel.docs = docs.unwrap_or_default();
        let bounds: BTreeSet<_> = self.instances.iter().map(|(it, _)| &it.bounds).collect();
        if bounds.len() > 1 {
            kernel.bounds = Bounds::default();
        }
        Some(kernel)
    }
}

/// The type by value, or behind the pointer if it is known.
pub(super) fn pointee(ty: &ParamType) -> Option<&Type> {
    match ty {
        ParamType::Value(ty) => Some(ty),
        ParamType::Pointer { to, .. } => to.as_ref(),
    }
}
