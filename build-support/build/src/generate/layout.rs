//! Sizes and alignments, and where Rust would put a struct's fields.
//!
//! The compiler's layout is the truth; what Rust does by itself is found here so that the difference can be
//! written out: an alignment, padding, or packing.

use crate::kernel::{Enum, Scalar, Signatures, Struct, Type};

/// Bytes that a type takes and aligns to, in C++ and in `repr(C)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) size: u64,
    pub(super) align: u64,
}

impl Layout {
    pub(super) const POINTER: Self = Self { size: 8, align: 8 };

    /// The layout of a type; `None` for a vector type that CUDA does not have.
    pub(super) fn of(signatures: &Signatures, ty: &Type) -> Option<Self> {
        match ty {
            Type::Scalar(scalar) => Some(Self::scalar(*scalar)),
            Type::Vector(name) => Self::vector(name),
            Type::Struct(path) => find(signatures, path).map(|it| Self {
                size: it.size,
                align: it.align,
            }),
            Type::Enum(path) => enumeration(signatures, path).map(|it| Self::scalar(it.scalar)),
            Type::Array(item, length) => Self::of(signatures, item).map(|item| Self {
                size: item.size * length,
                ..item
            }),
            Type::Bytes(size) => Some(Self {
                size: *size,
                align: 1,
            }),
            Type::Address => Some(Self::POINTER),
            Type::Generic(_) => None,
        }
    }

    fn scalar(scalar: Scalar) -> Self {
        let size = match scalar {
            Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::F8E4M3 | Scalar::F8E5M2 => 1,
            Scalar::F4E2M1 | Scalar::F4E2M1x2 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 | Scalar::C32 => 8,
            Scalar::I128 | Scalar::U128 | Scalar::C64 => 16,
        };
        Self { size, align: size }
    }

    /// The vector types of `vector_types.h` (CUDA C++ programming guide, built-in vector types).
    fn vector(name: &str) -> Option<Self> {
        let digit = name.find(|c: char| c.is_ascii_digit())?;
        let (scalar, rest) = name.split_at(digit);
        let bytes = match scalar {
            "char" | "uchar" => 1,
            "short" | "ushort" => 2,
            "int" | "uint" | "float" => 4,
            "long" | "ulong" if cfg!(windows) => 4,
            "long" | "ulong" | "longlong" | "ulonglong" | "double" => 8,
            _ => return None,
        };
        let (lanes, align) = match rest {
            "1" | "3" => (rest.parse().ok()?, bytes),
            "2" => (2, 2 * bytes),
            "4" => (4, (4 * bytes).min(16)),
            "4_16a" => (4, 16),
            "4_32a" => (4, 32),
            _ => return None,
        };
        let size = lanes * bytes;
        Some(Self { size, align })
    }
}

/// A struct by its C++ name.
pub(super) fn find<'a>(signatures: &'a Signatures, path: &str) -> Option<&'a Struct> {
    signatures.structs.iter().find(|it| it.path == path)
}

/// An enum by its C++ name.
pub(super) fn enumeration<'a>(signatures: &'a Signatures, path: &str) -> Option<&'a Enum> {
    signatures.enums.iter().find(|it| it.path == path)
}

/// How a struct must be written for Rust to lay it out as the compiler did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// `packed(N)`: fields stand where their types do not align.
    pub(super) packed: Option<u64>,
    /// `align(N)`: more than any field asks for.
    pub(super) align: Option<u64>,
    /// What each field is stored as: its type, or the bytes of one that cannot stand where it does.
    pub(super) stored: Vec<Type>,
    /// Bytes of padding in front of each field that Rust would not leave by itself; 0 for most.
    pub(super) before: Vec<u64>,
    /// Bytes of padding behind the last.
    pub(super) behind: u64,
}

impl Placement {
    /// Places the fields of a struct.
    pub(super) fn of(signatures: &Signatures, structure: &Struct) -> Self {
        let mut stored: Vec<_> = structure.fields.iter().map(|it| it.ty.clone()).collect();
        let mut packed = is_packed(signatures, structure, &stored);
        // A packed struct cannot hold what has an alignment of its own (rustc's E0588), so what can do without
        // packing does.
        for only_unfit in [true, false] {
            if packed {
                to_bytes(signatures, structure, &mut stored, |ty, fits| {
                    !(only_unfit && fits) && has_own_alignment(signatures, ty)
                });
                packed = is_packed(signatures, structure, &stored);
            }
        }
        // `packed` and `align` exclude each other (rustc's E0587).
        if packed && natural(signatures, &stored) < structure.align {
            to_bytes(signatures, structure, &mut stored, |_, fits| !fits);
            packed = false;
        }

        let mut before = Vec::new();
        let mut end = 0;
        for (field, ty) in structure.fields.iter().zip(&stored) {
            let layout = Layout::of(signatures, ty);
            let align = layout.map_or(1, |it| it.align);
            let align = if packed {
                align.min(structure.align)
            } else {
                align
            };
            // Of a type that nobody knows the compile-time assertions decide.
            let by_rust = layout.is_none() || u64::next_multiple_of(end, align) == field.offset;
            let gap = field.offset.saturating_sub(end);
            before.push(if by_rust { 0 } else { gap });
            end = field.offset + layout.map_or(0, |it| it.size);
        }
        let more = structure.align > natural(signatures, &stored) && !packed;
        let by_rust = end.next_multiple_of(structure.align.max(1)) >= structure.size;
        Self {
            packed: packed.then_some(structure.align),
            align: more.then_some(structure.align),
            stored,
            before,
            behind: if by_rust { 0 } else { structure.size - end },
        }
    }

    /// Whether padding is written out.
    pub(super) fn is_padded(&self) -> bool {
        self.behind > 0 || self.before.iter().any(|bytes| *bytes > 0)
    }
}

/// The alignment that the fields' types ask for.
fn natural(signatures: &Signatures, stored: &[Type]) -> u64 {
    let layouts = stored.iter().filter_map(|ty| Layout::of(signatures, ty));
    layouts.map(|it| it.align).max().unwrap_or(1)
}

/// Whether a field of the type would not be aligned there.
fn is_unaligned(signatures: &Signatures, ty: &Type, offset: u64) -> bool {
    Layout::of(signatures, ty).is_some_and(|it| !offset.is_multiple_of(it.align))
}

fn is_packed(signatures: &Signatures, structure: &Struct, stored: &[Type]) -> bool {
    let mut fields = structure.fields.iter().zip(stored);
    structure.align < natural(signatures, stored)
        || fields.any(|(field, ty)| is_unaligned(signatures, ty, field.offset))
}

/// Stores the chosen fields as bytes; the choice is told whether the type can stand there in a struct that is
/// not packed.
fn to_bytes(
    signatures: &Signatures,
    structure: &Struct,
    stored: &mut [Type],
    choose: impl Fn(&Type, bool) -> bool,
) {
    for (field, ty) in structure.fields.iter().zip(stored) {
        if let Some(layout) = Layout::of(signatures, ty) {
            let aligned = field.offset.is_multiple_of(layout.align);
            if choose(ty, aligned && layout.align <= structure.align) {
                *ty = Type::Array(Box::new(Type::Scalar(Scalar::U8)), layout.size);
            }
        }
    }
}

/// Whether Rust's type has an alignment that is written out.
fn has_own_alignment(signatures: &Signatures, ty: &Type) -> bool {
    match ty {
        Type::Scalar(Scalar::C32 | Scalar::C64) | Type::Vector(_) => true,
        Type::Scalar(_) | Type::Enum(_) | Type::Bytes(_) | Type::Address | Type::Generic(_) => {
            false
        }
        Type::Array(item, _) => has_own_alignment(signatures, item),
        Type::Struct(path) => find(signatures, path).is_some_and(|it| {
            let Placement { align, stored, .. } = Placement::of(signatures, it);
            align.is_some() || stored.iter().any(|ty| has_own_alignment(signatures, ty))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Field;

    fn place(size: u64, align: u64, fields: &[(Type, u64)]) -> Placement {
        let fields = fields.iter().map(|(ty, offset)| Field {
            name: "x".to_owned(),
            ty: ty.clone(),
            offset: *offset,
        });
        let structure = Struct {
            name: "S".to_owned(),
            path: "S".to_owned(),
            size,
            align,
            fields: fields.collect(),
            views: Vec::new(),
        };
        Placement::of(&Signatures::default(), &structure)
    }

    const CHAR: Type = Type::Scalar(Scalar::I8);
    const FLOAT: Type = Type::Scalar(Scalar::F32);
    const DOUBLE: Type = Type::Scalar(Scalar::F64);

    #[test]
    fn what_rust_does_by_itself_is_not_written() {
        let placement = place(16, 8, &[(CHAR, 0), (DOUBLE, 8)]);
        assert_eq!(placement.before, [0, 0]);
        assert!(!placement.is_padded() && placement.align.is_none() && placement.packed.is_none());
    }

    #[test]
    fn alignment_alone_makes_the_tail() {
        let placement = place(16, 16, &[(FLOAT, 0)]);
        assert_eq!((placement.align, placement.is_padded()), (Some(16), false));
    }

    #[test]
    fn padding_before_and_behind() {
        let placement = place(32, 16, &[(FLOAT, 0), (FLOAT, 16)]);
        assert_eq!((placement.align, placement.before), (Some(16), vec![0, 12]));
        let empty = place(1, 1, &[]);
        assert_eq!((empty.align, empty.behind), (None, 1));
        let base = place(12, 4, &[(FLOAT, 0)]);
        assert_eq!(base.behind, 8);
    }

    #[test]
    fn packed() {
        let placement = place(9, 1, &[(CHAR, 0), (DOUBLE, 1)]);
        assert_eq!((placement.packed, placement.before), (Some(1), vec![0, 0]));
        let half = place(12, 4, &[(CHAR, 0), (DOUBLE, 4)]);
        assert_eq!((half.packed, half.before), (Some(4), vec![0, 0]));
        let vector = Type::Vector("float4".to_owned());
        let bytes = place(18, 2, &[(CHAR, 0), (vector, 2)]);
        assert_eq!((bytes.packed, bytes.align), (None, Some(2)));
        assert_eq!(
            bytes.stored[1],
            Type::Array(Box::new(Type::Scalar(Scalar::U8)), 16)
        );
    }

    #[test]
    fn vectors_are_those_of_cuda() {
        let vector = |name| Layout::vector(name).map(|it| (it.size, it.align));
        assert_eq!(vector("float4"), Some((16, 16)));
        assert_eq!(vector("float3"), Some((12, 4)));
        assert_eq!(vector("uchar3"), Some((3, 1)));
        assert_eq!(vector("ushort2"), Some((4, 4)));
        assert_eq!(vector("double4"), Some((32, 16)));
        assert_eq!(vector("ulonglong4_32a"), Some((32, 32)));
        assert_eq!(vector("float5"), None);
        assert_eq!(vector("dim3"), None);
    }
}
