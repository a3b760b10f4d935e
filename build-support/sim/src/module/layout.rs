//! Where parameters and shared variables lie.

use std::collections::BTreeSet;

use gpuk_ptx::Param;

use crate::family::call::laid_out;

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamLayout {
    /// Its first byte.
    pub offset: u32,
    /// Its bytes.
    pub size: u32,
    /// Its alignment.
    pub align: u32,
}

/// Where a kernel's parameters lie.
pub(super) fn params(params: &[Param]) -> Vec<ParamLayout> {
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    (laid_out(params).into_iter())
        .map(|(offset, size, align)| ParamLayout {
            offset: number(offset),
            size: number(size),
            align: number(align),
        })
        .collect()
}

/// A shared variable of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedVariable {
    pub(super) bytes: u64,
    pub(super) align: u64,
    /// `.extern`: of the size that the launch says.
    pub(super) dynamic: bool,
}

/// Where a kernel puts its shared variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedLayout {
    /// By number; `u32::MAX` for what the kernel does not use.
    pub(super) offsets: Vec<u32>,
    pub(super) static_bytes: u32,
    pub(super) dynamic: u32,
}

/// Lays out the variables that are used, in the order of the text. All dynamic ones begin at one place.
pub(super) fn shared(variables: &[SharedVariable], used: &BTreeSet<u32>) -> SharedLayout {
    let mut offsets = vec![u32::MAX; variables.len()];
    let mut end = 0_u64;
    let mut dynamic_align = 16_u64;
    for number in used {
        let Some(variable) = variables.get(*number as usize) else {
            continue;
        };
        let align = variable.align.clamp(1, 1 << 16).next_power_of_two();
        if variable.dynamic {
            dynamic_align = dynamic_align.max(align);
            continue;
        }
        end = end.next_multiple_of(align);
        offsets[*number as usize] = u32::try_from(end).unwrap_or(u32::MAX);
        end = end.saturating_add(variable.bytes);
    }
    let dynamic = end.checked_next_multiple_of(dynamic_align);
    let dynamic = dynamic.and_then(|dynamic| u32::try_from(dynamic).ok());
    let dynamic = dynamic.unwrap_or(u32::MAX);
    for number in used {
        let number = *number as usize;
        if variables.get(number).is_some_and(|found| found.dynamic) {
            offsets[number] = dynamic;
        }
    }
    SharedLayout {
        offsets,
        static_bytes: u32::try_from(end).unwrap_or(u32::MAX),
        dynamic,
    }
}
