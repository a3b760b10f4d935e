//! Loads and stores (PTX ISA 9.7.9).

use gpuk_ptx::{Instruction, Operand, Type};

use crate::access::{self, Base, Region, Wanted};
use crate::context::{Cx, Stop};
use crate::decode::operand::{Place, Source};
use crate::decode::{Decoder, Mods};
use crate::memory::buffer::{Cell, Lanes as Checked};
use crate::options::Uninitialised;
use crate::register::{Dst, LANES, Src, Word, lanes_of};
use crate::shadow::{Access, Scope, Semantics, Shadow, Space};

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
    })
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

    /// The row of element `at`.
    #[inline(always)]
    fn row<S: Shadow>(&self, cx: &Cx<'_, S>, at: usize) -> u32 {
        match self.rows {
            Rows::One(row) => row,
            Rows::Many(list) => cx.code.pooled(list).get(at).copied().unwrap_or(0),
        }
    }
}

#[inline]
pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    if op.ordering.semantics != Semantics::Weak {
        fence_before(op.ordering.semantics);
    }
    match (op.space, op.base) {
        (Named::Param, Base::Fixed(at)) => param(op, cx, at.into(), cx.mask)?,
        (Named::Local, Base::Fixed(at)) => {
            let at = u64::from(cx.frame + at);
            local(op, cx, &[at; LANES], cx.mask)?;
        }
        (_, Base::Fixed(_)) => {}
        (space, base) => {
            let addresses = access::addresses(cx, base);
            access::check_alignment(cx, &addresses, op.total())?;
            match access::region(space, &addresses, cx.mask) {
                Some(region) => in_region(op, cx, region, &addresses, cx.mask)?,
                None => split(op, cx, &addresses)?,
            }
        }
    }
    if op.ordering.semantics == Semantics::Acquire {
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
    }
    Ok(())
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

/// Generic addresses that lie in several spaces.
#[cold]
fn split<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>, addresses: &[u64; LANES]) -> Result<(), Stop> {
    let mut left = cx.mask;
    while left != 0 {
        let (region, part) = access::first_region(addresses, left);
        in_region(op, cx, region, addresses, part)?;
        left &= !part;
    }
    Ok(())
}

#[inline]
fn in_region<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    region: Region,
    addresses: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    match region {
        Region::Global => global(op, cx, addresses, mask),
        Region::Shared { start } => shared(op, cx, &addresses.map(|a| a.wrapping_sub(start)), mask),
        Region::Local { start } => local(op, cx, &addresses.map(|a| a.wrapping_sub(start)), mask),
        Region::Param { start } => {
            for lane in lanes_of(mask) {
                let at = addresses[lane].wrapping_sub(start);
                param(op, cx, at, 1 << lane)?;
            }
            Ok(())
        }
    }
}

/// Moves the elements of checked lanes from or to registers.
#[inline(always)]
fn transfer<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>, lanes: &Checked<'_>, mask: u32, replaced: u32) {
    for at in 0..usize::from(op.count) {
        let row = op.row(cx, at);
        let skip = at * usize::from(op.bytes);
        if op.store {
            match (op.bytes, op.bits) {
                (8, _) => lanes.set::<u64>(skip, &cx.file.get(Src(row)), mask),
                (4, 64) => {
                    let row: [u64; LANES] = cx.file.get(Src(row));
                    lanes.set::<u32>(skip, &row.map(|value| value as u32), mask);
                }
                (4, _) => lanes.set::<u32>(skip, &cx.file.get(Src(row)), mask),
                (2, _) => lanes.set::<u16>(skip, &narrow(op, cx, row).map(|v| v as u16), mask),
                _ => lanes.set::<u8>(skip, &narrow(op, cx, row).map(|v| v as u8), mask),
            }
            continue;
        }
        match op.bytes {
            8 => load_row(op, cx, row, lanes.get::<u64>(skip), mask, replaced),
            4 => load_row(op, cx, row, lanes.get::<u32>(skip), mask, replaced),
            2 => load_row(op, cx, row, lanes.get::<u16>(skip), mask, replaced),
            _ => load_row(op, cx, row, lanes.get::<u8>(skip), mask, replaced),
        }
    }
}

/// The low 32 bits of a stored register.
#[inline(always)]
fn narrow<S: Shadow>(op: &Op, cx: &Cx<'_, S>, row: u32) -> [u32; LANES] {
    if op.bits == 64 {
        cx.file.get::<u64>(Src(row)).map(|value| value as u32)
    } else {
        cx.file.get(Src(row))
    }
}

/// A value as it comes from memory.
pub(crate) trait Element: Cell {
    const ONES: Self;
    fn widen(self, signed: bool) -> u64;
}
macro_rules! element {
    ($($type:ty, $signed:ty;)+) => {
        $(impl Element for $type {
            const ONES: Self = <$type>::MAX;
            #[inline(always)]
            fn widen(self, signed: bool) -> u64 {
                if signed {
                    self as $signed as i64 as u64
                } else {
                    self as u64
                }
            }
        })+
    };
}
element!(u8, i8; u16, i16; u32, i32; u64, i64;);

/// Extends loaded values to the register and writes it.
#[inline(always)]
fn load_row<T: Element, S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    row: u32,
    mut values: [T; LANES],
    mask: u32,
    replaced: u32,
) {
    if S::ACTIVE && replaced != 0 {
        let fill = match cx.grid.options().uninitialised {
            Uninitialised::Nan => T::ONES,
            _ => T::default(),
        };
        for lane in lanes_of(replaced) {
            values[lane] = fill;
        }
    }
    if op.bits == 64 {
        put(cx, row, &values.map(|value| value.widen(op.signed)), mask);
    } else {
        let keep = if op.bits < 32 {
            (1 << op.bits) - 1
        } else {
            u32::MAX
        };
        let out = values.map(|value| value.widen(op.signed) as u32 & keep);
        put(cx, row, &out, mask);
    }
}

#[inline(always)]
fn put<T: Word, S: Shadow>(cx: &mut Cx<'_, S>, row: u32, values: &[T; LANES], mask: u32) {
    cx.file.put(Dst(row), values, mask);
}

#[inline(always)]
fn global<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    let wanted = Wanted {
        bytes: op.total(),
        store: op.store,
        atomic: false,
    };
    let mut left = mask;
    while left != 0 {
        let Some(part) = access::part(cx, addresses, left, wanted)? else {
            dropped(op, cx, &mut left);
            continue;
        };
        left &= !part.mask;
        let mut replaced = 0;
        if S::ACTIVE {
            let access = op.access(part.space(), cx.number());
            replaced = access::seen(cx, &access, &part, addresses, wanted)?;
        }
        if let Some(lanes) = part.buffer().lanes(&part.offsets, op.total() as usize) {
            transfer(op, cx, &lanes, part.mask, replaced);
        }
    }
    Ok(())
}

#[inline(always)]
fn shared<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    offsets: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    let wanted = Wanted {
        bytes: op.total(),
        store: op.store,
        atomic: false,
    };
    let mut left = mask;
    while left != 0 {
        let Some(part) = access::shared_part(cx, offsets, left, wanted)? else {
            dropped(op, cx, &mut left);
            continue;
        };
        left &= !part.mask;
        let mut replaced = 0;
        if S::ACTIVE && part.own {
            let access = op.access(Space::Shared, cx.number());
            replaced = access::seen_shared(cx, &access, &part, wanted)?;
        }
        if let Some(lanes) = part.buffer.lanes(&part.offsets, op.total() as usize) {
            transfer(op, cx, &lanes, part.mask, replaced);
        }
    }
    Ok(())
}

/// The lowest lane's access lies outside and the launch goes on: a load gives zeros.
#[cold]
fn dropped<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>, left: &mut u32) {
    let lane = *left & left.wrapping_neg();
    *left &= !lane;
    if op.store {
        return;
    }
    for at in 0..usize::from(op.count) {
        let row = op.row(cx, at);
        load_row(op, cx, row, [0_u8; LANES], lane, 0);
    }
}

/// Local memory and the parameters of device functions: each lane has its own.
fn local<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    let top = u64::from(cx.frame + cx.code.local);
    let total = u64::from(op.total());
    let mut inside = mask;
    for lane in lanes_of(mask) {
        if addresses[lane].saturating_add(total) > top {
            access::outside_local(cx, lane, addresses[lane], op.total(), op.store)?;
            inside &= !(1 << lane);
        }
    }
    let mut outside = mask & !inside;
    while outside != 0 {
        dropped(op, cx, &mut outside);
    }
    for at in 0..usize::from(op.count) {
        let row = op.row(cx, at);
        let skip = (at * usize::from(op.bytes)) as u64;
        let places = addresses.map(|address| address.wrapping_add(skip));
        if op.store {
            let values = if op.bits == 64 {
                cx.file.get::<u64>(Src(row))
            } else {
                cx.file.get::<u32>(Src(row)).map(u64::from)
            };
            cx.local.store(&places, op.bytes, &values, inside);
        } else {
            let values = cx.local.load(&places, op.bytes, inside);
            match op.bytes {
                8 => load_row(op, cx, row, values, inside, 0),
                4 => load_row(op, cx, row, values.map(|value| value as u32), inside, 0),
                2 => load_row(op, cx, row, values.map(|value| value as u16), inside, 0),
                _ => load_row(op, cx, row, values.map(|value| value as u8), inside, 0),
            }
        }
    }
    Ok(())
}

/// A kernel's parameters, which are the same for every lane.
fn param<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>, at: u64, mask: u32) -> Result<(), Stop> {
    let params = &cx.grid.launch.params;
    let total = u64::from(op.total());
    let bytes = usize::try_from(at).ok().and_then(|start| {
        let end = start.checked_add(op.total() as usize)?;
        params.get(start..end)
    });
    let lane = mask.trailing_zeros() as usize;
    if op.store {
        return Err(access::stored_param(cx, lane, at, op.total()));
    }
    let Some(bytes) = bytes else {
        return Err(access::outside_param(cx, lane, at, total as u32));
    };
    let mut words = [0_u64; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(op.bytes.into())) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    for (at, word) in words.into_iter().enumerate().take(op.count.into()) {
        let row = op.row(cx, at);
        match op.bytes {
            8 => load_row(op, cx, row, [word; LANES], mask, 0),
            4 => load_row(op, cx, row, [word as u32; LANES], mask, 0),
            2 => load_row(op, cx, row, [word as u16; LANES], mask, 0),
            _ => load_row(op, cx, row, [word as u8; LANES], mask, 0),
        }
    }
    Ok(())
}
