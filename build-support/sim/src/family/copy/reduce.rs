//! What `cp.reduce.async.bulk` does with each element: an operation of the family of atomics, executed on memory
//! that others may change at the same time.

use gpuk_ptx::Type;

use crate::context::{Cx, Stop};
use crate::decode::Mods;
use crate::float::narrow::{bf16_to_f32, canonical, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::shadow::Shadow;
use crate::transfer::{self, Range};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    And,
    Or,
    Xor,
    Add,
    Increment,
    Decrement,
    Min,
    Max,
}

/// An operation on elements of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reduction {
    what: What,
    pub(super) ty: Type,
}

impl Reduction {
    /// Takes `.op`, `.noftz` and `.type`.
    pub(super) fn decode(mods: &mut Mods<'_>) -> Option<Self> {
        let what = mods.read(|text| {
            Some(match text {
                "and" => What::And,
                "or" => What::Or,
                "xor" => What::Xor,
                "add" => What::Add,
                "inc" => What::Increment,
                "dec" => What::Decrement,
                "min" => What::Min,
                "max" => What::Max,
                _ => return None,
            })
        })?;
        mods.take("noftz");
        let ty = mods.ty()?;
        let known = match what {
            What::And | What::Or | What::Xor => matches!(ty, Type::B32 | Type::B64),
            What::Increment | What::Decrement => ty == Type::U32,
            What::Add => matches!(
                ty,
                Type::U32 | Type::S32 | Type::U64 | Type::F16 | Type::Bf16 | Type::F32 | Type::F64
            ),
            What::Min | What::Max => matches!(
                ty,
                Type::U32 | Type::S32 | Type::U64 | Type::S64 | Type::F16 | Type::Bf16
            ),
        };
        known.then_some(Self { what, ty })
    }

    /// Reduces elements into memory. The elements of a range are done one after the other.
    pub(super) fn apply<S: Shadow>(
        self,
        cx: &mut Cx<'_, S>,
        range: Range,
        bytes: &mut [u8],
    ) -> Result<(), Stop> {
        let step = self.ty.bytes().max(1) as usize;
        transfer::change(cx, range, step as u32, &mut |at, there| {
            let mut word = [0; 8];
            if let Some(element) = bytes.get(at..at + step) {
                word[..step].copy_from_slice(element);
            }
            self.of(there, u64::from_le_bytes(word))
        })
    }

    /// What an element becomes.
    fn of(self, there: u64, value: u64) -> u64 {
        let (a, b) = (there as u32, value as u32);
        match (self.what, self.ty) {
            (What::And, _) => there & value,
            (What::Or, _) => there | value,
            (What::Xor, _) => there ^ value,
            (What::Increment, _) => u64::from(if a >= b { 0 } else { a + 1 }),
            (What::Decrement, _) => u64::from(if a == 0 || a > b { b } else { a - 1 }),
            (What::Add, Type::U32 | Type::S32) => a.wrapping_add(b).into(),
            (What::Add, Type::F32) => canonical(f32::from_bits(a) + f32::from_bits(b)).into(),
            (What::Add, Type::F64) => (f64::from_bits(there) + f64::from_bits(value)).to_bits(),
            (What::Add, Type::F16) => f32_to_f16(f16_to_f32(a) + f16_to_f32(b)).into(),
            (What::Add, Type::Bf16) => f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b)).into(),
            (What::Add, _) => there.wrapping_add(value),
            (what, Type::F16) => f32_to_f16(extreme(what, f16_to_f32(a), f16_to_f32(b))).into(),
            (what, Type::Bf16) => f32_to_bf16(extreme(what, bf16_to_f32(a), bf16_to_f32(b))).into(),
            (What::Min, Type::S32) => u64::from(a.cast_signed().min(b.cast_signed()) as u32),
            (What::Max, Type::S32) => u64::from(a.cast_signed().max(b.cast_signed()) as u32),
            (What::Min, Type::S64) => there.cast_signed().min(value.cast_signed()) as u64,
            (What::Max, Type::S64) => there.cast_signed().max(value.cast_signed()) as u64,
            (What::Min, _) => there.min(value),
            (What::Max, _) => there.max(value),
        }
    }
}

/// The smaller or larger number; a NaN gives way, and -0 is below 0.
fn extreme(what: What, a: f32, b: f32) -> f32 {
    if a.is_nan() {
        return b;
    }
    if b.is_nan() {
        return a;
    }
    let less = a < b || a == b && a.is_sign_negative();
    if less == (what == What::Min) { a } else { b }
}
