//! What came back.

use std::collections::BTreeMap;

use super::ask::{Asked, Question};
use super::text::{bits_variable, numbers_variable, offset_variable, types_variable};
use crate::ctype::{Arg, CType, Name};
use crate::source::{Declarations, Obstacle, TemplateKind};

/// What the compiler said about the types of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    /// Parameter types of non-template kernels, by index into [`Declarations::kernels`].
    pub(crate) kernels: BTreeMap<usize, Vec<CType>>,
    /// Instances of kernel templates, by index into [`Declarations::instantiations`].
    pub(crate) instances: BTreeMap<usize, InstanceAnswer>,
    /// What functions of the host return and take, by index into [`Declarations::functions`].
    pub(crate) functions: BTreeMap<usize, (CType, Vec<CType>)>,
    /// Variables, by index into [`Declarations::variables`].
    pub(crate) variables: BTreeMap<usize, CType>,
    /// Structs by their [`Name::path`].
    pub(crate) layouts: BTreeMap<String, Layout>,
    /// By the enum's [`Name::path`].
    pub(crate) enums: BTreeMap<String, EnumAnswer>,
    /// Bit-fields of structs, by the struct's [`Name::path`].
    pub(crate) bits: BTreeMap<String, Vec<BitsAnswer>>,
    /// What is known of the types of parameters by value, by the type without qualifiers.
    pub(crate) rooms: BTreeMap<String, ClassRoom>,
}

/// An enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnumAnswer {
    /// Its name as the compiler prints it.
    pub(crate) name: Name,
    /// The type under it.
    pub(crate) underlying: CType,
    /// Names and values, widened to 64 bits.
    pub(crate) values: Vec<(String, u64)>,
}

/// Where a bit-field is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BitsAnswer {
    /// Its name.
    pub(crate) name: String,
    /// Its declared type.
    pub(crate) ty: CType,
    /// Its lowest bit, counted from that of the struct's first byte.
    pub(crate) first: u64,
    /// How many bits.
    pub(crate) width: u64,
}

/// What is known of a type of whatever name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClassRoom {
    /// `sizeof`, in bytes.
    pub(crate) size: u64,
    /// `alignof`, in bytes.
    pub(crate) align: u64,
    /// Whether copying its bytes copies it.
    pub(crate) trivially_copyable: bool,
    /// Whether it has virtual functions.
    pub(crate) polymorphic: bool,
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
    /// Why the fields are not all, if they are not.
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
    /// `sizeof` its type, in bytes.
    pub(crate) size: u64,
    /// `alignof` its type, in bytes.
    pub(crate) align: u64,
    /// Whether others lie in the same bytes.
    pub(crate) shared: bool,
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
                let params = params_of(list.next()?)?;
                self.take_rooms(asked, &params, variables);
                self.kernels.insert(*kernel, params);
            }
            Question::Instance { instance, args, .. } => {
                let params = params_of(list.next()?)?;
                self.take_rooms(asked, &params, variables);
                let args = args
                    .iter()
                    .zip(list)
                    .map(|((kind, _), printed)| printed_arg(*kind, printed));
                let args = args.collect();
                self.instances
                    .insert(*instance, InstanceAnswer { args, params });
            }
            Question::Function { index, .. } => {
                self.functions.insert(*index, function_of(list.next()?)?);
            }
            Question::Variable { variable, .. } => {
                self.variables.insert(*variable, type_of(list.next()?)?);
            }
            Question::Enum { values, .. } => {
                let CType::Named(name, _) = type_of(list.next()?)? else {
                    return None;
                };
                let numbers = numbers(variables.get(&numbers_variable(asked.number))?);
                let values = values.iter().cloned().zip(numbers.into_iter().skip(1));
                let answer = EnumAnswer {
                    underlying: type_of(list.next()?)?,
                    values: values.collect(),
                    name,
                };
                self.enums.insert(answer.name.path(), answer);
            }
            Question::Bits { fields, .. } => {
                let CType::Named(name, _) = type_of(list.next()?)? else {
                    return None;
                };
                let clear = variables.get(&numbers_variable(asked.number))?;
                let mut bits = Vec::new();
                for (nth, (field, ty)) in fields.iter().zip(list).enumerate() {
                    let set = variables.get(&bits_variable(asked.number, nth))?;
                    let (first, width) = run_of_bits(clear, set)?;
                    bits.push(BitsAnswer {
                        name: field.clone(),
                        ty: type_of(ty)?,
                        first,
                        width,
                    });
                }
                self.bits.insert(name.path(), bits);
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
                for (nth, field) in fields.iter().enumerate() {
                    let ty = type_of(list.next()?)?;
                    let [offset, size, align] = [numbers.next()?, numbers.next()?, numbers.next()?];
                    let (ty, offset) = match ty {
                        CType::Member(ty, ..) if !field.public => {
                            let offset = variables.get(&offset_variable(asked.number, nth))?;
                            (*ty, numbers_of(offset).next()?)
                        }
                        ty => (ty, offset),
                    };
                    layout.fields.push(LayoutField {
                        name: field.name.clone(),
                        ty,
                        offset,
                        size,
                        align,
                        shared: field.shared,
                    });
                }
                self.layouts.insert(layout.name.path(), layout);
            }
        }
        Some(())
    }

    fn take_rooms(
        &mut self,
        asked: &Asked,
        params: &[CType],
        variables: &BTreeMap<String, Vec<u8>>,
    ) {
        let bytes = variables.get(&numbers_variable(asked.number));
        let numbers = numbers(bytes.map_or(&[], Vec::as_slice));
        let (rooms, _) = numbers.as_chunks::<4>();
        for (param, [size, align, trivially_copyable, polymorphic]) in params.iter().zip(rooms) {
            let room = ClassRoom {
                size: *size,
                align: *align,
                trivially_copyable: *trivially_copyable != 0,
                polymorphic: *polymorphic != 0,
            };
            self.rooms.insert(param.unqualified().to_string(), room);
        }
    }
}

/// The first bit and the number of bits in which two values differ, which lie side by side.
fn run_of_bits(clear: &[u8], set: &[u8]) -> Option<(u64, u64)> {
    let bit = |bytes: &[u8], at: u64| bytes[(at / 8) as usize] >> (at % 8) & 1;
    let count = 8 * clear.len().min(set.len()) as u64;
    let mut differing = (0..count).filter(|&at| bit(clear, at) != bit(set, at));
    let first = differing.next()?;
    let mut end = first + 1;
    for at in differing {
        if at != end {
            return None;
        }
        end += 1;
    }
    Some((first, end - first))
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
    function_of(arg).map(|(_, params)| params)
}

/// What a pointer's function returns and takes.
fn function_of(arg: Arg) -> Option<(CType, Vec<CType>)> {
    match arg {
        Arg::Type(CType::Pointer(to, _)) => match *to {
            CType::Function(returns, params) => Some((*returns, params)),
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
