//! Sizes and alignments of counterparts.

use crate::kernel::{Scalar, Type};

/// Bytes that a type takes and aligns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) size: u64,
    pub(super) align: u64,
}

/// The room of a type; `named` knows that of structs and enums, by path.
pub(super) fn room(ty: &Type, named: &dyn Fn(&str) -> Option<Room>) -> Option<Room> {
    match ty {
        Type::Scalar(it) => Some(scalar(*it)),
        Type::Vector(name) => vector(name),
        Type::Struct(path) | Type::Enum(path) => named(path),
        Type::Bytes(size) => Some(Room {
            size: *size,
            align: 1,
        }),
        Type::Array(of, length) => {
            let of = room(of, named)?;
            let size = of.size.checked_mul(*length)?;
            Some(Room { size, ..of })
        }
        Type::Address => Some(square(8)),
        Type::Generic(_) => None,
    }
}

/// The room of a number.
pub(super) fn scalar(scalar: Scalar) -> Room {
    square(width(scalar))
}

fn square(size: u64) -> Room {
    Room { size, align: size }
}

fn width(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::F8E4M3 | Scalar::F8E5M2 => 1,
        Scalar::F4E2M1 | Scalar::F4E2M1x2 => 1,
        Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => 2,
        Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
        Scalar::I64 | Scalar::U64 | Scalar::F64 | Scalar::C32 => 8,
        Scalar::I128 | Scalar::U128 | Scalar::C64 => 16,
    }
}

/// The room of a vector type, by its C++ name (CUDA C++ programming guide, built-in vector types).
pub(super) fn vector(name: &str) -> Option<Room> {
    if matches!(name, "__half2" | "__nv_bfloat162") {
        return Some(square(4));
    }
    let digit = name.find(|c: char| c.is_ascii_digit())?;
    let (scalar, lanes) = name.split_at(digit);
    let bytes = match scalar {
        "char" | "uchar" => 1,
        "short" | "ushort" => 2,
        "int" | "uint" | "float" => 4,
        "long" | "ulong" if cfg!(windows) => 4,
        "long" | "ulong" | "longlong" | "ulonglong" | "double" => 8,
        _ => return None,
    };
    let (lanes, align) = match lanes {
        "1" => (1, bytes),
        "2" => (2, 2 * bytes),
        "3" => (3, bytes),
        "4" => (4, (4 * bytes).min(16)),
        "4_16a" if bytes == 8 => (4, 16),
        "4_32a" if bytes == 8 => (4, 32),
        _ => return None,
    };
    Some(Room {
        size: lanes * bytes,
        align,
    })
}
