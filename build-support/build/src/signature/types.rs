//! The Rust counterparts of C++ types.

use std::collections::BTreeMap;

use super::size;
use crate::ctype::{CType, Name};
use crate::instance::TemplateValue;
use crate::kernel::{Field, Kernel, ParamType, Scalar, Struct, Type};
use crate::probe::{Answers, Layout};
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
    /// Its class has something that no Rust field can be.
    Obstacle(Name, Obstacle),
    /// Its fields do not account for its bytes.
    Gap(Name),
    /// A field of its class has no counterpart.
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

/// Finds counterparts, and keeps the structs that they need.
pub(super) struct Types<'a> {
    answers: &'a Answers,
    structs: BTreeMap<String, Result<Struct, Why>>,
    /// Paths of the structs found, a field's struct before the struct that holds it.
    order: Vec<String>,
}

impl<'a> Types<'a> {
    pub(super) fn new(answers: &'a Answers) -> Self {
        Self {
            answers,
            structs: BTreeMap::new(),
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
        let path = name.path();
        if let Some(CType::Named(underlying, _)) = self.answers.enums.get(&path)
            && let Some(scalar) = underlying.as_simple().and_then(scalar)
        {
            return Ok(Type::Scalar(scalar));
        }
        let Some(layout) = self.answers.layouts.get(&path) else {
            return Err(Why::Unknown(ty.clone()));
        };
        if !self.structs.contains_key(&path) {
            let made = self.structure(layout, &path);
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
        if layout.polymorphic {
            return Err(Why::Polymorphic(name.clone()));
        }
        if !layout.trivially_copyable {
            return Err(Why::NotCopyable(name.clone()));
        }
        if let Some(obstacle) = layout.obstacle {
            return Err(Why::Obstacle(name.clone(), obstacle));
        }
        let mut fields = Vec::new();
        for field in &layout.fields {
            let ty = self.value(&field.ty);
            fields.push(Field {
                name: field.name.clone(),
                ty: ty
                    .map_err(|why| Why::Field(name.clone(), field.name.clone(), Box::new(why)))?,
                offset: field.offset,
            });
        }
        fields.sort_by_key(|field| field.offset);
        let made = Struct {
            name: super::names::plain(name),
            path: path.to_owned(),
            size: layout.size,
            align: layout.align,
            fields,
        };
        match self.accounts_for_its_bytes(&made) {
            true => Ok(made),
            false => Err(Why::Gap(name.clone())),
        }
    }

    /// Whether the fields lie one behind the other with no more than padding between.
    ///
    /// A field that was not read leaves a hole as large as itself or moves its neighbours.
    fn accounts_for_its_bytes(&self, made: &Struct) -> bool {
        let mut end = 0;
        for field in &made.fields {
            let Some(room) = self.room(&field.ty) else {
                return false;
            };
            if field.offset < end || field.offset - end >= made.align.max(room.align) {
                return false;
            }
            end = field.offset + room.size;
        }
        // An empty class has one byte.
        let tail = made.size.checked_sub(end);
        tail.is_some_and(|tail| tail < made.align || (made.fields.is_empty() && tail <= made.align))
    }

    /// Size and alignment of a type.
    pub(super) fn room(&self, ty: &Type) -> Option<size::Room> {
        size::room(ty, &|path| {
            let made = self.structs.get(path)?.as_ref().ok()?;
            Some(size::Room {
                size: made.size,
                align: made.align,
            })
        })
    }

    /// The structs that kernels mention, directly or by fields.
    pub(super) fn structs_of(&self, kernels: &[Kernel]) -> Vec<Struct> {
        let mut wanted = Vec::new();
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
        let mut kept: Vec<Struct> = Vec::new();
        // A struct stands behind its fields' structs: from the last to the first, all who mention it are known.
        for made in found {
            if wanted.contains(&made.path) {
                made.fields
                    .iter()
                    .for_each(|field| mentioned(&field.ty, &mut wanted));
                kept.push(made.clone());
            }
        }
        kept.reverse();
        super::names::name_structs(&mut kept);
        kept
    }
}

fn mentioned(ty: &Type, into: &mut Vec<String>) {
    match ty {
        Type::Struct(path) => into.push(path.clone()),
        Type::Array(of, _) => mentioned(of, into),
        Type::Scalar(_) | Type::Vector(_) | Type::Address | Type::Generic(_) => {}
    }
}

/// Whether a word is a type of the language itself.
pub(super) fn is_fundamental(word: &str) -> bool {
    word == "void" || (scalar(word).is_some() && !word.starts_with("__nv_") && word != "__half")
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
        _ => return None,
    })
}
