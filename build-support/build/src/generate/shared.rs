//! What the instances of a template share: a trait that each implements, and the kernel that its method launches.

use super::annotated::is_any_bytes;
use super::generics::angles;
use super::ident::camel;
use super::names::{KernelNames, Scope};
use super::structure::holds_address;
use super::template::{Form, Template, pointee};
use super::types::scalar;
use crate::instance::TemplateValue;
use crate::kernel::{Kernel, ParamType, Signatures, Type};

/// A template's names.
pub(super) struct Shared {
    /// The trait.
    pub(super) name: String,
    /// Its parameters as the trait and the method have them.
    pub(super) params: Vec<GenericParam>,
    /// Types that each instance has of its own.
    pub(super) owned: Vec<Owned>,
    /// Stands for any instance: the types are those of the generic method.
    pub(super) kernel: Kernel,
    /// The names of its method.
    pub(super) names: KernelNames,
}

/// A parameter of a trait and a method.
pub(super) struct GenericParam {
    /// Its name.
    pub(super) name: String,
    /// The Rust type of a const generic; `None` for a type.
    pub(super) of: Option<&'static str>,
    /// As C++ declares it: `class T`.
    pub(super) declared: String,
    /// Whether a kernel parameter has it by value.
    by_value: bool,
}

/// An associated type.
pub(super) struct Owned {
    /// Its name.
    pub(super) name: String,
    /// The kernel parameter, by index.
    pub(super) param: usize,
}

/// What a method that instances share has in addition to one that launches a single kernel.
pub(super) struct Generic {
    /// Its type and const parameters, as declared.
    pub(super) params: Vec<String>,
    /// Their bounds, but for those of the run time.
    pub(super) bound: String,
    /// Types that have to be passed by value.
    pub(super) by_value: Vec<String>,
    /// What finds the function to launch.
    pub(super) function: String,
    /// Kernel parameters, by index, that hold addresses in some instance.
    pub(super) addresses: Vec<usize>,
    /// Kernel parameters, by index, that point to what any bytes are a value of, in all instances.
    pub(super) any_bytes: Vec<usize>,
    /// `template <class T, int N>`.
    pub(super) header: String,
    /// The C++ name of each instance and its constant.
    pub(super) instances: Vec<(String, String)>,
}

impl Shared {
    /// Names what the instances of a template share; `types` are the names of types in the module, `constants` those of
    /// the instances.
    pub(super) fn of(
        signatures: &Signatures,
        template: &Template<'_>,
        name: String,
        method: String,
        constants: Vec<String>,
        mut types: Scope,
    ) -> Option<Self> {
        let (_, first) = template.instances.first()?;
        let mut params = Vec::new();
        for index in &template.params {
            let arg = &first.args[*index];
            let word = arg.name.as_deref().unwrap_or("Arg");
            let of = match &arg.value {
                TemplateValue::Const(it, _) => Some(scalar(*it).1),
                TemplateValue::Type(_) | TemplateValue::Other => None,
            };
            params.push(GenericParam {
                name: types.claim(camel(word)),
                of,
                declared: match &arg.name {
                    Some(name) => format!("{} {name}", arg.kind),
                    None => arg.kind.clone(),
                },
                by_value: false,
            });
        }
        let mut inner = Scope::new(&["INFO"]);
        let mut owned: Vec<Owned> = Vec::new();
        for (param, form) in template.forms.iter().enumerate() {
            if *form == Form::Own {
                let word = &template.instances.first()?.0.params[param].name;
                let name = inner.claim(camel(word));
                owned.push(Owned { name, param });
            }
        }
        let subject = subject(&params).to_owned();
        let bound = format!("{name}{}", rest(&params));
        let of = |index: usize, ty: &Type| match template.forms[index] {
            Form::Same => ty.clone(),
            Form::Argument(at) => {
                let at = template.params.iter().position(|param| *param == at);
                Type::Generic(at.map_or_else(String::new, |at| params[at].name.clone()))
            }
            Form::Own => {
                let own = owned.iter().find(|own| own.param == index);
                let own = own.map_or("", |own| &own.name);
                Type::Generic(match subject.as_str() {
                    SELF => format!("<{SELF} as {bound}>::{own}"),
                    parameter => format!("{parameter}::{own}"),
                })
            }
        };
        let kernel = template.shared(of)?;
        for param in &mut params {
            let own = ParamType::Value(Type::Generic(param.name.clone()));
            param.by_value = kernel.params.iter().any(|it| it.ty == own);
        }
        let mut names = KernelNames::of(&kernel, method, String::new(), types);
        let addresses = |index: &usize| {
            let mut kernels = template.instances.iter();
            kernels.any(|(kernel, _)| {
                let ty = pointee(&kernel.params[*index].ty);
                ty.is_some_and(|ty| holds_address(signatures, ty))
            })
        };
        let any_bytes = |index: &usize| {
            let mut kernels = template.instances.iter();
            kernels.all(|(kernel, _)| {
                let ty = pointee(&kernel.params[*index].ty);
                ty.is_some_and(|ty| is_any_bytes(signatures, ty))
            })
        };
        let header: Vec<_> = params.iter().map(|it| it.declared.as_str()).collect();
        let by_value = params.iter().filter(|it| it.by_value && it.name != subject);
        let paths = template.instances.iter().map(|(kernel, _)| &kernel.path);
        names.generic = Some(Generic {
            params: params.iter().map(GenericParam::declaration).collect(),
            bound: format!("{subject}: {bound}"),
            by_value: by_value.map(|it| it.name.clone()).collect(),
            function: format!("<{subject} as {bound}>::function"),
            addresses: (0..kernel.params.len()).filter(addresses).collect(),
            any_bytes: (0..kernel.params.len()).filter(any_bytes).collect(),
            header: format!("template <{}>", header.join(", ")),
            instances: paths.cloned().zip(constants).collect(),
        });
        Some(Self {
            name,
            params,
            owned,
            kernel,
            names,
        })
    }

    /// The parameters of the trait, with what declares them.
    pub(super) fn trait_params(&self) -> Vec<String> {
        let subject = subject(&self.params);
        let others = self.params.iter().filter(|it| it.name != subject);
        others.map(GenericParam::declaration).collect()
    }

    /// What has to be passed by value: the type that implements the trait, as far as that is a parameter's.
    pub(super) fn subject_is_type(&self) -> bool {
        self.params.iter().any(|it| it.of.is_none())
    }
}

impl GenericParam {
    fn declaration(&self) -> String {
        match self.of {
            Some(of) => format!("const {}: {of}", self.name),
            None => self.name.clone(),
        }
    }
}

/// `Kernels`, to its methods.
const SELF: &str = "Self";

/// What implements the trait: the first type, else `Kernels`.
fn subject(params: &[GenericParam]) -> &str {
    let mut types = params.iter().filter(|it| it.of.is_none());
    types.next().map_or(SELF, |it| &it.name)
}

/// The trait's parameters as arguments.
fn rest(params: &[GenericParam]) -> String {
    let subject = subject(params);
    let others = params.iter().filter(|it| it.name != subject);
    angles(others.map(|it| it.name.clone()))
}
