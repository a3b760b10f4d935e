//! A parameter's type against its room in the PTX.

use super::Slot;
use super::size::Room;
use super::types::{Types, Why};
use crate::ctype::CType;
use crate::kernel::{ParamType, Scalar, Type};

/// How a parameter of a type is passed.
pub(super) fn param(types: &mut Types<'_>, ty: &CType, slot: Slot) -> Result<ParamType, Why> {
    let passed = match ty {
        CType::Pointer(to, _) if matches!(**to, CType::Function(..)) => {
            ParamType::Value(Type::Scalar(Scalar::U64))
        }
        CType::Pointer(to, _) | CType::Array(to, _) => ParamType::Pointer {
            // What lies behind an address need not be known to launch.
            to: types.value(to).ok(),
            mutable: !is_constant(to),
        },
        _ => ParamType::Value(types.value(ty)?),
    };
    let room = match &passed {
        ParamType::Value(ty) => types.room(ty).ok_or(Why::Unknown(CType::Ellipsis))?,
        ParamType::Pointer { .. } => Room { size: 8, align: 8 },
    };
    match (room.size, room.align) == (slot.size, slot.align) {
        true => Ok(passed),
        false => Err(Why::Room([room.size, room.align], [slot.size, slot.align])),
    }
}

/// Whether nobody may write what lies there; an array is as constant as its elements.
pub(super) fn is_constant(ty: &CType) -> bool {
    match ty {
        CType::Named(_, qualifiers) | CType::Pointer(_, qualifiers) => qualifiers.constant,
        CType::Array(of, _) => is_constant(of),
        _ => false,
    }
}
