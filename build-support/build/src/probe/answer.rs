//! What came back.

use std::collections::BTreeMap;

use super::ask::{Asked, Question};
use super::text::{numbers_variable, offset_variable, types_variable};
use crate::ctype::{Arg, CType, Name};
use crate::source::{Declarations, Obstacle, TemplateKind};

/// What the compiler said about the types of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    /// Parameter types of non-template kernels, by index into [`Declarations::kernels`].
    pub(crate) kernels: BTreeMap<usize, Vec<CType>>,
    /// Instances of kernel templates, by index into [`Declarations::instantiations`].
    pub(crate) instances: BTreeMap<usize, InstanceAnswer>,
    /// Structs by their [`Name::path`].
    pub(crate) layouts: BTreeMap<String, Layout>,
    /// The types underlying enums, by the enum's [`Name::path`].
    pub(crate) enums: BTreeMap<String, CType>,
}

/// An instance of a kernel template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstanceAnswer {
    /// Its template arguments; `None` for one that was not asked for.
    pub(crate) args: Vec<Option<Arg>>,
    /// The types of its parameters.
    pub(crate) params: Vec<CType>,
}

/// A struct's layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Its name as the compiler prints it.
    pub(crate) name: Name,
    /// Why the fields are not known, if they are not.
    pub(crate) obstacle: Option<Obstacle>,
    /// `sizeof`, in bytes.
    pub(crate) size: u64,
    /// `alignof`, in bytes.
    pub(crate) align: u64,
    /// Whether copying its bytes copies it.
    pub(crate) trivially_copyable: bool,
    /// Whether it has virtual functions.
    pub(crate) polymorphic: bool,
    /// In the order of the declaration.
    pub(crate) fields: Vec<LayoutField>,
}

/// A field of a [`Layout`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayoutField {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) ty: CType,
    /// `offsetof`, in bytes.
    pub(crate) offset: u64,
}

impl Answers {
    /// Takes one question's answer; nothing if there is none.
    pub(super) fn take(
        &mut self,
        asked: &Asked,
        declarations: &Declarations,
        variables: &BTreeMap<String, Vec<u8>>,
    ) -> Option<()> {
        let mut list = printed_list(variables.get(&types_variable(asked.number))?)?.into_iter();
        match &asked.question {
            Question::Kernel { kernel, .. } => {
                self.kernels.insert(*kernel, params_of(list.next()?)?);
            }
            Question::Instance { instance, args, .. } => {
                let params = params_of(list.next()?)?;
                let args = args
                    .iter()
                    .zip(list)
                    .map(|((kind, _), printed)| printed_arg(*kind, printed));
                let args = args.collect();
                self.instances
                    .insert(*instance, InstanceAnswer { args, params });
            }
            Question::Enum { .. } => {
                let CType::Named(name, _) = type_of(list.next()?)? else {
                    return None;
                };
                self.enums.insert(name.path(), type_of(list.next()?)?);
            }
            Question::Layout {
                declared,
                fields,
                obstacle,
                ..
            } => {
                let CType::Named(name, _) = type_of(list.next()?)? else {
                    return None;
                };
                // A guess by name may have met another type; an alias template is printed by its own name.
                let word = &name.last()?.word;
                if *word != declarations.types.get(*declared)?.name
                    && !declarations.aliases.contains_key(word)
                {
                    return None;
                }
                let numbers = numbers(variables.get(&numbers_variable(asked.number))?);
                let mut numbers = numbers.into_iter();
                let mut layout = Layout {
                    name,
                    obstacle: *obstacle,
                    size: numbers.next()?,
                    align: numbers.next()?,
                    trivially_copyable: numbers.next()? != 0,
                    polymorphic: numbers.next()? != 0,
                    fields: Vec::new(),
                };
                for (nth, (field, public)) in fields.iter().enumerate() {
                    let ty = type_of(list.next()?)?;
                    let (ty, offset) = match ty {
                        CType::Member(ty, ..) if !public => {
                            let offset = variables.get(&offset_variable(asked.number, nth))?;
                            (*ty, numbers_of(offset).next()?)
                        }
                        ty => (ty, numbers.next()?),
                    };
                    layout.fields.push(LayoutField {
                        name: field.clone(),
                        ty,
                        offset,
                    });
                }
                self.layouts.insert(layout.name.path(), layout);
            }
        }
        Some(())
    }
}

/// The arguments of `list<…>` in `constexpr auto __gpuk_probe::type_of() [with T = __gpuk_probe::list<…>]`.
fn printed_list(bytes: &[u8]) -> Option<Vec<Arg>> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
    let (_, printed) = text.split_once("T = ")?;
    match printed.strip_suffix(']')?.parse().ok()? {
        CType::Named(mut name, _) => name.0.pop()?.args,
        _ => None,
    }
}

fn type_of(arg: Arg) -> Option<CType> {
    match arg {
        Arg::Type(ty) => Some(ty),
        Arg::Value(_) => None,
    }
}

fn params_of(arg: Arg) -> Option<Vec<CType>> {
    match arg {
        Arg::Type(CType::Pointer(to, _)) => match *to {
            CType::Function(_, params) => Some(params),
            _ => None,
        },
        _ => None,
    }
}

/// A template argument as it was asked for.
fn printed_arg(kind: TemplateKind, printed: Arg) -> Option<Arg> {
    match (kind, printed) {
        (TemplateKind::Type, arg) => Some(arg),
        // `value<T, V>`
        (TemplateKind::Value, Arg::Type(CType::Named(mut name, _))) => name.0.pop()?.args?.pop(),
        _ => None,
    }
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    numbers_of(bytes).collect()
}

fn numbers_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().map(|chunk| u64::from_le_bytes(*chunk))
}
