//! Loads and stores (PTX ISA 9.7.9): decoding. Executing them is in `run`.

mod run;

pub(crate) use self::run::execute;

use gpuk_ptx::functionalize::EARLY;
use gpuk_ptx::{Instruction, Operand, Type};

use crate::access::Base;
use crate::decode::operand::{Place, Source};
use crate::decode::{Decoder, Mods};
use crate::shadow::{Access, Scope, Semantics, Space};

/// A state space as an instruction names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// What an access orders and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ordering {
    pub(crate) semantics: Semantics,
    pub(crate) scope: Scope,
    pub(crate) non_coherent: bool,
}

/// The rows that a vector is moved from or to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows {
    One(u32),
    Many(crate::program::Pooled),
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    store: bool,
    space: Named,
    /// Bytes of an element.
    bytes: u8,
    /// Elements.
    count: u8,
    signed: bool,
    /// Bits of each register.
    bits: u8,
    ordering: Ordering,
    base: Base,
    rows: Rows,
    /// Whether a check may still say that the load should not have been made.
    early: bool,
}

/// Takes what says how an access is ordered and cached. A missing scope is the system's.
pub(crate) fn ordering(mods: &mut Mods<'_>) -> Option<Ordering> {
    let mmio = mods.take("mmio");
    let volatile = mods.take("volatile");
    let semantics = mods.read(|text| {
        Some(match text {
            "weak" => Semantics::Weak,
            "relaxed" => Semantics::Relaxed,
            "acquire" => Semantics::Acquire,
            "release" => Semantics::Release,
            "acq_rel" => Semantics::AcquireRelease,
            "sc" => Semantics::SequentiallyConsistent,
            _ => return None,
        })
    });
    let scope = scope(mods);
    let non_coherent = mods.take("nc");
    let semantics = match semantics {
        _ if volatile || mmio => Semantics::Volatile,
        Some(semantics) => semantics,
        None => Semantics::Weak,
    };
    let scope = match (semantics, scope) {
        (Semantics::Weak, None) => Scope::Weak,
        (_, None) => Scope::Sys,
        (_, Some(scope)) => scope,
    };
    Some(Ordering {
        semantics,
        scope,
        non_coherent,
    })
}

pub(crate) fn scope(mods: &mut Mods<'_>) -> Option<Scope> {
    mods.read(|text| {
        Some(match text {
            "cta" => Scope::Cta,
            "cluster" => Scope::Cluster,
            "gpu" => Scope::Gpu,
            "sys" => Scope::Sys,
            _ => return None,
        })
    })
}

/// Takes the state space; generic if none is named.
pub(crate) fn space(mods: &mut Mods<'_>) -> Named {
    let named = mods.read(|text| {
        Some(match text {
            "global" => Named::Global,
            "const" => Named::Const,
            "shared" | "shared::cta" | "shared::cluster" => Named::Shared,
            "local" => Named::Local,
            "param" | "param::entry" | "param::func" => Named::Param,
            _ => return None,
        })
    });
    named.unwrap_or(Named::Generic)
}

/// Takes what says how an access is cached, which changes nothing here. Whether it takes one more operand.
pub(crate) fn cache(mods: &mut Mods<'_>) -> bool {
    let known = |text: &str| {
        matches!(
            text,
            "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "unified"
        ) || text.starts_with("L1::")
            || text.starts_with("L2::") && text != "L2::cache_hint"
    };
    while mods.read(|text| known(text).then_some(())).is_some() {}
    mods.take("L2::cache_hint")
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let store = match &*i.opcode {
        "ld" | "ldu" => false,
        "st" => true,
        _ => return None,
    };
    let mut mods = Mods::new(i);
    let ordering = ordering(&mut mods)?;
    let space = space(&mut mods);
    let hint = cache(&mut mods);
    let count = mods.read(|text| match text {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    let ty = mods.ty()?;
    mods.done()?;
    (i.operands.len() == if hint { 3 } else { 2 }).then_some(())?;
    let (address, data) = if store {
        (&i.operands[0], &i.operands[1])
    } else {
        (&i.operands[1], &i.operands[0])
    };
    let place = d.place(address)?;
    let count: u8 = count.unwrap_or(1);
    let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32);
    (ty.bits() >= 8).then_some(())?;
    let (rows, bits) = if store {
        stored(d, data, ty, count)?
    } else {
        loaded(d, data, ty, count)?
    };
    let (bytes, count) = match ty.bytes() {
        16 => (8, count * 2),
        bytes => (bytes as u8, count),
    };
    (u32::from(bytes) * u32::from(count) <= 32).then_some(())?;
    let (space, base) = match (place, space) {
        (Place::KernelParam(at), Named::Param | Named::Generic) => (Named::Param, Base::Fixed(at)),
        (Place::Frame(at), Named::Param | Named::Local) => (Named::Local, Base::Fixed(at)),
        (Place::Row(Source { row, wide }, offset), space) => {
            // Parameters of a device function lie in local memory.
            let space = match space {
                Named::Param if !d.entry => Named::Local,
                space => space,
            };
            (space, Base::Row { row, wide, offset })
        }
        _ => return None,
    };
    let rows = match &*rows {
        [row] => Rows::One(*row),
        rows => Rows::Many(d.pool(rows)?),
    };
    Some(Op {
        store,
        space,
        bytes,
        count,
        signed,
        bits,
        ordering,
        base,
        rows,
        early: !store && is_early(data),
    })
}

/// Whether the functionalizing pass made a load earlier than the source has it.
fn is_early(data: &Operand) -> bool {
    data.register()
        .is_some_and(|register| register.name.starts_with(EARLY))
}

/// The rows that a load writes, and their width.
fn loaded(d: &mut Decoder<'_>, data: &Operand, ty: Type, count: u8) -> Option<(Vec<u32>, u8)> {
    let elements = d.elements(data);
    (elements.len() == usize::from(count)).then_some(())?;
    if ty.bits() == 128 {
        let mut rows = Vec::new();
        for element in elements {
            let row = d.row128(&element)?;
            rows.extend([row.0, row.0 + 1]);
        }
        return Some((rows, 64));
    }
    let mut rows = Vec::new();
    let mut width = None;
    for element in elements {
        let target = d.target(&element, ty)?;
        let sink = matches!(*element, Operand::Sink);
        (target.bits != 128).then_some(())?;
        // A sink takes the width of the others.
        if !sink
            && width
                .replace(target.bits)
                .is_some_and(|width| width != target.bits)
        {
            return None;
        }
        rows.push((target, sink));
    }
    let width = width.unwrap_or(ty.bits().max(8) as u8);
    let mut list = Vec::new();
    for (target, sink) in rows {
        list.push(match (sink, width) {
            (true, 64) => d.scratch64().0,
            (true, _) => d.scratch32().0,
            (false, _) => target.row.0,
        });
    }
    (u64::from(width) >= ty.bits()).then_some((list, width))
}

/// The rows that a store reads, and their width.
fn stored(d: &mut Decoder<'_>, data: &Operand, ty: Type, count: u8) -> Option<(Vec<u32>, u8)> {
    let elements = d.elements(data);
    (elements.len() == usize::from(count)).then_some(())?;
    if ty.bits() == 128 {
        let mut rows = Vec::new();
        for element in elements {
            let row = d.row128(&element)?;
            rows.extend([row.0, row.0 + 1]);
        }
        return Some((rows, 64));
    }
    let mut rows = Vec::new();
    let mut width = None;
    for element in elements {
        let source = d.source(&element, ty)?;
        if width
            .replace(source.wide)
            .is_some_and(|wide| wide != source.wide)
        {
            return None;
        }
        rows.push(source.row.0);
    }
    let wide = width?;
    (wide || ty.bits() <= 32).then_some((rows, if wide { 64 } else { 32 }))
}

impl Op {
    fn total(&self) -> u32 {
        u32::from(self.bytes) * u32::from(self.count)
    }

    fn access(&self, space: Space, instruction: u32) -> Access {
        Access {
            space,
            bytes: self.total(),
            semantics: self.ordering.semantics,
            scope: self.ordering.scope,
            non_coherent: self.ordering.non_coherent,
            instruction,
        }
    }
}

/// Accesses are relaxed; what they order beyond that is the fence's.
#[inline(always)]
pub(crate) fn fence_before(semantics: Semantics) {
    use std::sync::atomic::{Ordering, fence};
    match semantics {
        Semantics::Release | Semantics::AcquireRelease => fence(Ordering::Release),
        Semantics::SequentiallyConsistent => fence(Ordering::SeqCst),
        _ => {}
    }
}
