//! C++ types in Rust, and in C++ again for the documentation.

use super::ident::ident;
use super::names::Names;
use crate::kernel::{Scalar, Type};

/// How types are written.
#[derive(Clone, Copy)]
pub(super) struct Types<'a> {
    names: &'a Names,
    /// In front of the run time's items: `::gpuk::`, or nothing for people.
    root: &'a str,
}

impl<'a> Types<'a> {
    /// As code, named from the root.
    pub(super) fn code(names: &'a Names) -> Self {
        let root = "::gpuk::";
        Self { names, root }
    }

    /// For people, unqualified.
    pub(super) fn short(names: &'a Names) -> Self {
        Self { names, root: "" }
    }

    /// The Rust type.
    pub(super) fn rust(&self, ty: &Type) -> String {
        match ty {
            Type::Scalar(it) => self.scalar(*it),
            Type::Vector(name) => format!("{}{}", self.path("vector::"), vector(name)),
            Type::Struct(path) | Type::Enum(path) => self.names.structure(path),
            Type::Bytes(size) => format!("{}<{size}>", self.path("Bytes")),
            Type::Array(item, length) => format!("[{}; {length}]", self.rust(item)),
            Type::Address => "u64".to_owned(),
            Type::Generic(text) => text.clone(),
        }
    }

    fn scalar(&self, it: Scalar) -> String {
        let (module, name) = scalar(it);
        match module {
            "" => name.to_owned(),
            _ => format!("{}{name}", self.path(module)),
        }
    }

    pub(super) fn path(&self, item: &str) -> String {
        match self.root {
            "" => item.rsplit("::").next().unwrap_or_default().to_owned(),
            root => format!("{root}{item}"),
        }
    }
}

/// A number's Rust type: the module of the run time that has it, if it is not Rust's own, and its name.
pub(super) fn scalar(scalar: Scalar) -> (&'static str, &'static str) {
    match scalar {
        Scalar::Bool => ("", "bool"),
        Scalar::I8 => ("", "i8"),
        Scalar::I16 => ("", "i16"),
        Scalar::I32 => ("", "i32"),
        Scalar::I64 => ("", "i64"),
        Scalar::I128 => ("", "i128"),
        Scalar::U8 => ("", "u8"),
        Scalar::U16 => ("", "u16"),
        Scalar::U32 => ("", "u32"),
        Scalar::U64 => ("", "u64"),
        Scalar::U128 => ("", "u128"),
        Scalar::F32 => ("", "f32"),
        Scalar::F64 => ("", "f64"),
        Scalar::F16 => ("half::", "f16"),
        Scalar::Bf16 => ("half::", "bf16"),
        Scalar::F8E4M3 => ("float8::", "F8E4M3"),
        Scalar::F8E5M2 => ("float8::", "F8E5M2"),
        Scalar::F4E2M1 => ("float4::", "F4E2M1"),
        Scalar::F4E2M1x2 => ("float4::", "F4E2M1x2"),
        Scalar::C32 => ("vector::", "Complex32"),
        Scalar::C64 => ("vector::", "Complex64"),
    }
}

/// `float4` → `Float4`; the pairs of halves have names without the reserved underscores.
fn vector(name: &str) -> String {
    match name {
        "__half2" => return "Half2".to_owned(),
        "__nv_bfloat162" => return "Bfloat162".to_owned(),
        _ => {}
    }
    let name = ident(name);
    let (first, rest) = name.split_at(1);
    first.to_ascii_uppercase() + rest
}

/// The C++ type of a field, its array's extents behind.
pub(super) fn cpp(ty: &Type) -> String {
    match ty {
        Type::Scalar(scalar) => cpp_scalar(*scalar).to_owned(),
        Type::Vector(name) | Type::Struct(name) | Type::Enum(name) => name.clone(),
        Type::Bytes(1) => "1 byte".to_owned(),
        Type::Bytes(size) => format!("{size} bytes"),
        Type::Array(item, length) => {
            let item = cpp(item);
            match item.split_once('[') {
                Some((item, rest)) => format!("{item}[{length}][{rest}"),
                None => format!("{item}[{length}]"),
            }
        }
        Type::Address => "void *".to_owned(),
        Type::Generic(text) => text.clone(),
    }
}

fn cpp_scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 => "signed char",
        Scalar::I16 => "short",
        Scalar::I32 => "int",
        Scalar::I64 => "long long",
        Scalar::I128 => "__int128",
        Scalar::U8 => "unsigned char",
        Scalar::U16 => "unsigned short",
        Scalar::U32 => "unsigned int",
        Scalar::U64 => "unsigned long long",
        Scalar::U128 => "unsigned __int128",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::F16 => "__half",
        Scalar::Bf16 => "__nv_bfloat16",
        Scalar::F8E4M3 => "__nv_fp8_e4m3",
        Scalar::F8E5M2 => "__nv_fp8_e5m2",
        Scalar::F4E2M1 => "__nv_fp4_e2m1",
        Scalar::F4E2M1x2 => "__nv_fp4x2_e2m1",
        Scalar::C32 => "complex<float>",
        Scalar::C64 => "complex<double>",
    }
}
