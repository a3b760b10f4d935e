//! The Rust counterparts of C++ types.

use std::collections::BTreeMap;

use super::members::{Members, Shared};
use super::size::{self, Room};
use crate::annotation;
use crate::ctype::{Arg, CType, Name, Part};
use crate::function::{Function, HostType};
use crate::instance::TemplateValue;
use crate::kernel::{Enum, Field, Kernel, ParamType, Scalar, Signatures, Struct, Symbol, Type};
use crate::probe::{Answers, EnumAnswer, Layout};
use crate::source::Obstacle;

/// Why a type has no counterpart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// Nothing is known about it.
    Unknown(CType),
    /// It is a reference.
    Reference,
    /// Its class has virtual functions.
    Polymorphic(Name),
    /// Copying its class is more than copying bytes.
    NotCopyable(Name),
    /// Its class holds a reference.
    HoldsReference(Name),
    /// A field of its class cannot be passed.
    Field(Name, String, Box<Self>),
    /// The PTX has other room for it: bytes and alignment wanted, bytes and alignment there.
    Room([u64; 2], [u64; 2]),
}

impl Why {
    /// Whether it is about a type that depends on template arguments.
    pub(super) fn is_about_instance(&self) -> bool {
        match self {
            Self::Unknown(CType::Named(name, _)) => name.0.iter().any(|part| part.args.is_some()),
            Self::Field(_, _, inner) => inner.is_about_instance(),
            _ => false,
        }
    }
}

/// Finds counterparts, and keeps the structs and enums that they need.
pub(super) struct Types<'a> {
    answers: &'a Answers,
    structs: BTreeMap<String, Result<Struct, Why>>,
    enums: BTreeMap<String, Enum>,
    /// Paths of the structs found, a field's struct before the struct that holds it.
    order: Vec<String>,
}

impl<'a> Types<'a> {
    pub(super) fn new(answers: &'a Answers) -> Self {
        Self {
            answers,
            structs: BTreeMap::new(),
            enums: BTreeMap::new(),
            order: Vec::new(),
        }
    }

    /// The counterpart of a type by value: a parameter's or a field's, where a pointer is but an address.
    pub(super) fn value(&mut self, ty: &CType) -> Result<Type, Why> {
        match ty {
            CType::Named(name, _) => self.named(name, ty),
            CType::Pointer(..) => Ok(Type::Address),
            CType::Array(of, Some(length)) => Ok(Type::Array(Box::new(self.value(of)?), *length)),
            CType::Reference(_) => Err(Why::Reference),
            // A pointer to a member is an offset, one to a member function two words (Itanium C++ ABI, 2.3).
            CType::Member(to, ..) if cfg!(not(windows)) => {
                let word = Type::Scalar(Scalar::I64);
                Ok(match **to {
                    CType::Function(..) => Type::Array(Box::new(word), 2),
                    _ => word,
                })
            }
            _ => Err(Why::Unknown(ty.clone())),
        }
    }

    fn named(&mut self, name: &Name, ty: &CType) -> Result<Type, Why> {
        if let Some(word) = name.as_simple() {
            if let Some(scalar) = scalar(word) {
                return Ok(Type::Scalar(scalar));
            }
            if word == "dim3" {
                return Ok(Type::Vector("uint3".to_owned()));
            }
            if size::vector(word).is_some() {
                return Ok(Type::Vector(word.to_owned()));
            }
        }
        if let Some(scalar) = library_scalar(name) {
            return Ok(Type::Scalar(scalar));
        }
        // Types without a name would all be one.
        if name.last().is_none_or(|part| part.word == Part::UNNAMED) {
            return Err(Why::Unknown(ty.clone()));
        }
        let path = name.path();
        if let Some(answer) = self.answers.enums.get(&path)
            && let Some(made) = enumeration(answer)
        {
            self.enums.insert(path.clone(), made);
            return Ok(Type::Enum(path));
        }
        if !self.structs.contains_key(&path) {
            let made = match self.answers.layouts.get(&path) {
                Some(layout) => self.structure(layout, &path),
                None => self.unknown(name, ty, &path),
            };
            if made.is_ok() {
                self.order.push(path.clone());
            }
            self.structs.insert(path.clone(), made);
        }
        match self.structs.get(&path) {
            Some(Err(why)) => Err(why.clone()),
            _ => Ok(Type::Struct(path)),
        }
    }

    fn structure(&mut self, layout: &Layout, path: &str) -> Result<Struct, Why> {
        let name = &layout.name;
        plain_data(name, layout.polymorphic, layout.trivially_copyable)?;
        if layout.obstacle == Some(Obstacle::Reference) {
            return Err(Why::HoldsReference(name.clone()));
        }
        let mut members = Members {
            more: layout.obstacle.is_some(),
            ..Members::default()
        };
        for field in &layout.fields {
            let room = Room {
                size: field.size,
                align: field.align,
            };
            let ty = match self.value(&field.ty) {
                Ok(ty) if self.room(&ty) == Some(room) => ty,
                Ok(_) | Err(Why::Unknown(_)) => Type::Bytes(field.size),
                Err(why) => {
                    let (name, field) = (name.clone(), field.name.clone());
                    return Err(Why::Field(name, field, Box::new(why)));
                }
            };
            let name = field.name.clone();
            match field.shared {
                true => members.shared.push(Shared {
                    name,
                    ty,
                    first: 8 * field.offset,
                    width: 8 * field.size,
                    bits: false,
                }),
                false => members.own.push((
                    Field {
                        name,
                        ty,
                        offset: field.offset,
                    },
                    room,
                )),
            }
        }
        for bits in self.answers.bits.get(path).into_iter().flatten() {
            if let Ok(ty) = self.value(&bits.ty) {
                members.shared.push(Shared {
                    name: bits.name.clone(),
                    ty,
                    first: bits.first,
                    width: bits.width,
                    bits: true,
                });
            }
        }
        let (fields, views) = members.place(Room {
            size: layout.size,
            align: layout.align,
        });
        Ok(Struct {
            name: super::names::plain(name),
            path: path.to_owned(),
            size: layout.size,
            align: layout.align,
            fields,
            views,
        })
    }

    /// A type of which the compiler told size and alignment alone.
    fn unknown(&self, name: &Name, ty: &CType, path: &str) -> Result<Struct, Why> {
        let room = self.answers.rooms.get(&ty.unqualified().to_string());
        let room = room.ok_or_else(|| Why::Unknown(ty.clone()))?;
        plain_data(name, room.polymorphic, room.trivially_copyable)?;
        let members = Members {
            more: true,
            ..Members::default()
        };
        let (fields, views) = members.place(Room {
            size: room.size,
            align: room.align,
        });
        Ok(Struct {
            name: super::names::plain(name),
            path: path.to_owned(),
            size: room.size,
            align: room.align,
            fields,
            views,
        })
    }

    /// The number that a type is: its own, or the one under an enum.
    pub(super) fn number(&self, ty: &Type) -> Option<Scalar> {
        match ty {
            Type::Scalar(scalar) => Some(*scalar),
            Type::Enum(path) => self.enums.get(path).map(|made| made.scalar),
            _ => None,
        }
    }

    /// Size and alignment of a type.
    pub(super) fn room(&self, ty: &Type) -> Option<Room> {
        size::room(ty, &|path| {
            if let Some(made) = self.enums.get(path) {
                return Some(size::scalar(made.scalar));
            }
            let made = self.structs.get(path)?.as_ref().ok()?;
            Some(Room {
                size: made.size,
                align: made.align,
            })
        })
    }

    /// A struct that was found.
    pub(super) fn found(&self, path: &str) -> Option<&Struct> {
        self.structs.get(path)?.as_ref().ok()
    }

    /// Kernels, variables and functions with the structs and enums that they mention, directly or by fields.
    pub(super) fn signatures(
        &self,
        kernels: Vec<Kernel>,
        symbols: Vec<Symbol>,
        functions: Vec<Function>,
    ) -> Signatures {
        let mut wanted = Vec::new();
        for function in &functions {
            let params = function.params.iter().map(|param| &param.ty);
            let returns = function.returns.iter().map(|(_, ty)| ty);
            let types = params.chain(returns).filter_map(HostType::innermost);
            types.for_each(|ty| mentioned(ty, &mut wanted));
        }
        for symbol in &symbols {
            mentioned(&symbol.ty, &mut wanted);
        }
        for arg in kernels
            .iter()
            .filter_map(|kernel| kernel.instance.as_ref())
            .flat_map(|it| &it.args)
        {
            if let TemplateValue::Type(ty) = &arg.value {
                mentioned(ty, &mut wanted);
            }
        }
        for param in kernels.iter().flat_map(|kernel| &kernel.params) {
            match &param.ty {
                ParamType::Value(ty) | ParamType::Pointer { to: Some(ty), .. } => {
                    mentioned(ty, &mut wanted)
                }
                ParamType::Pointer { to: None, .. } => {}
            }
        }
        let found = self
            .order
            .iter()
            .rev()
            .filter_map(|path| self.structs.get(path)?.as_ref().ok());
        let mut structs: Vec<Struct> = Vec::new();
        // A struct stands behind its fields' structs: from the last to the first, all who mention it are known.
        for made in found {
            if wanted.contains(&made.path) {
                let fields = made.fields.iter().map(|field| &field.ty);
                let views = made.views.iter().map(|view| &view.ty);
                fields
                    .chain(views)
                    .for_each(|ty| mentioned(ty, &mut wanted));
                structs.push(made.clone());
            }
        }
        structs.reverse();
        let enums = self.enums.values();
        let enums = enums.filter(|made| wanted.contains(&made.path));
        let mut enums: Vec<_> = enums.cloned().collect();
        super::names::name_types(&mut structs, &mut enums);
        Signatures {
            kernels,
            structs,
            enums,
            symbols,
            functions,
            templates: Vec::new(),
        }
    }
}

/// Whether bytes are all that a launch has to copy.
fn plain_data(name: &Name, polymorphic: bool, trivially_copyable: bool) -> Result<(), Why> {
    match (polymorphic, trivially_copyable) {
        (true, _) => Err(Why::Polymorphic(name.clone())),
        (false, false) => Err(Why::NotCopyable(name.clone())),
        (false, true) => Ok(()),
    }
}

fn enumeration(answer: &EnumAnswer) -> Option<Enum> {
    let CType::Named(underlying, _) = &answer.underlying else {
        return None;
    };
    Some(Enum {
        name: super::names::plain(&answer.name),
        path: answer.name.path(),
        scalar: scalar(underlying.as_simple()?)?,
        values: answer.values.clone(),
    })
}

impl annotation::Types for Types<'_> {
    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        let made = self.structs.get(structure)?.as_ref().ok()?;
        let found = made.fields.iter().find(|it| it.name == field)?;
        Some(found.ty.clone())
    }

    fn size(&self, ty: &CType) -> Option<u64> {
        let ty = match ty {
            CType::Pointer(..) => Type::Address,
            CType::Named(name, _) => match name.as_simple().map(|word| (word, scalar(word))) {
                Some((_, Some(scalar))) => Type::Scalar(scalar),
                Some((word, None)) if size::vector(word).is_some() => Type::Vector(word.to_owned()),
                _ => Type::Struct(name.path()),
            },
            _ => return None,
        };
        self.room(&ty).map(|room| room.size)
    }
}

fn mentioned(ty: &Type, into: &mut Vec<String>) {
    match ty {
        Type::Struct(path) | Type::Enum(path) => into.push(path.clone()),
        Type::Array(of, _) => mentioned(of, into),
        Type::Scalar(_) | Type::Vector(_) | Type::Address | Type::Bytes(_) | Type::Generic(_) => {}
    }
}

/// The classes and enums of libraries that are numbers to Rust.
fn library_scalar(name: &Name) -> Option<Scalar> {
    let (last, scope) = name.0.split_last()?;
    let library = scope.first()?.word.as_str();
    match (last.word.as_str(), last.args.as_deref()) {
        ("byte", None) if matches!(library, "std" | "cuda") => Some(Scalar::U8),
        ("complex", Some([Arg::Type(of)])) if matches!(library, "thrust" | "cuda") => {
            match of.to_string().as_str() {
                "float" => Some(Scalar::C32),
                "double" => Some(Scalar::C64),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a word is a type of the language itself.
pub(super) fn is_fundamental(word: &str) -> bool {
    word == "void" || (scalar(word).is_some() && !word.starts_with("__nv_") && word != "__half")
}

/// The room of a type that needs no declaration: a number or a vector.
pub(crate) fn room_of(name: &Name) -> Option<super::Slot> {
    let word = name.as_simple()?;
    let room = match scalar(word) {
        Some(it) => size::scalar(it),
        None => size::vector(if word == "dim3" { "uint3" } else { word })?,
    };
    Some(super::Slot {
        size: room.size,
        align: room.align,
    })
}

fn scalar(word: &str) -> Option<Scalar> {
    // `long` has four bytes where nvcc's host is Windows, `wchar_t` two.
    let (long, unsigned_long, wide) = if cfg!(windows) {
        (Scalar::I32, Scalar::U32, Scalar::U16)
    } else {
        (Scalar::I64, Scalar::U64, Scalar::I32)
    };
    Some(match word {
        "bool" => Scalar::Bool,
        "char" | "signed char" => Scalar::I8,
        "unsigned char" | "char8_t" => Scalar::U8,
        "short" => Scalar::I16,
        "unsigned short" | "char16_t" => Scalar::U16,
        "int" => Scalar::I32,
        "unsigned int" | "char32_t" => Scalar::U32,
        "wchar_t" => wide,
        "long" => long,
        "unsigned long" => unsigned_long,
        "long long" => Scalar::I64,
        "unsigned long long" => Scalar::U64,
        "__int128" => Scalar::I128,
        "unsigned __int128" => Scalar::U128,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        "__half" => Scalar::F16,
        "__nv_bfloat16" => Scalar::Bf16,
        "__nv_fp8_e4m3" => Scalar::F8E4M3,
        "__nv_fp8_e5m2" => Scalar::F8E5M2,
        "__nv_fp4_e2m1" => Scalar::F4E2M1,
        "__nv_fp4x2_e2m1" => Scalar::F4E2M1x2,
        _ => return None,
    })
}
