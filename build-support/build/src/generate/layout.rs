//! Sizes and alignments, and where Rust would put a struct's fields.
//!
//! The compiler's layout is the truth; what Rust does by itself is found here so that the difference can be
//! written out: an alignment, padding, or packing.

use crate::kernel::{Scalar, Signatures, Struct, Type};

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
            Type::Array(item, length) => Self::of(signatures, item).map(|item| Self {
                size: item.size * length,
                ..item
            }),
            Type::Address => Some(Self::POINTER),
        }
    }

    fn scalar(scalar: Scalar) -> Self {
        let size = match scalar {
            Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::F8E4M3 | Scalar::F8E5M2 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
            Scalar::I128 | Scalar::U128 => 16,
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

/// How a struct must be written for Rust to lay it out as the compiler did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// `packed(N)`: fields stand where their types do not align.
    pub(super) packed: Option<u64>,
    /// `align(N)`: more than any field asks for.
    pub(super) align: Option<u64>,
    /// Bytes of padding in front of each field that Rust would not leave by itself; 0 for most.
    pub(super) before: Vec<u64>,
    /// Bytes of padding behind the last.
    pub(super) behind: u64,
}

impl Placement {
    /// Places the fields of a struct.
    pub(super) fn of(signatures: &Signatures, structure: &Struct) -> Self {
        let layout = |ty| Layout::of(signatures, ty);
        let natural = structure
            .fields
            .iter()
            .filter_map(|field| layout(&field.ty))
            .map(|layout| layout.align)
            .max()
            .unwrap_or(1);
        let unaligned = structure.fields.iter().any(|field| {
            layout(&field.ty).is_some_and(|it| !field.offset.is_multiple_of(it.align))
        });
        let packed = unaligned || structure.align < natural;
        let limit = if packed { structure.align } else { u64::MAX };

        let mut end = 0;
        let mut before = Vec::new();
        for field in &structure.fields {
            let placed = layout(&field.ty);
            let align = placed.map_or(1, |it| it.align.min(limit)).max(1);
            // Where the types are known to nobody, the compile-time assertions decide.
            let gap = field.offset.saturating_sub(end);
            let by_rust = placed.is_none() || u64::next_multiple_of(end, align) == field.offset;
            before.push(if by_rust { 0 } else { gap });
            end = field.offset + placed.map_or(0, |it| it.size);
        }
        let align = (structure.align > natural && !packed).then_some(structure.align);
        let rust_size = end.next_multiple_of(structure.align.max(1));
        Self {
            packed: packed.then_some(structure.align),
            align,
            before,
            behind: if rust_size < structure.size {
                structure.size - end
            } else {
                0
            },
        }
    }

    /// Whether padding is written out.
    pub(super) fn is_padded(&self) -> bool {
        self.behind > 0 || self.before.iter().any(|bytes| *bytes > 0)
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
