//! Executing loads and stores.
//!
//! Most accesses of a warp lie in one allocation, or in the block's shared memory, inside of it and aligned.
//! That is found out with a few vector operations; everything else takes the careful way.

use super::{Named, Op, Rows, fence_before};
use crate::access::{self, Base, Region, Wanted};
use crate::context::{Cx, Stop};
use crate::memory::Buffer;
use crate::memory::buffer::{Cell, Lanes as Checked, Offset};
use crate::program::Code;
use crate::register::{ALL, Dst, File, LANES, Src, Word, each, lanes_of};
use crate::seen::{self, Does};
use crate::shadow::{Lanes, Semantics, Shadow, Space};
use crate::wide::wide;

wide!(pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> = run);

#[inline(always)]
fn run<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    if op.ordering.semantics != Semantics::Weak {
        return ordered(op, cx);
    }
    if let Base::Row { row, wide, offset } = op.base {
        let done = match op.space {
            Named::Shared if !wide => quick_shared(op, cx, row, offset)?,
            Named::Global | Named::Generic | Named::Const => quick_global(op, cx)?,
            _ => false,
        };
        if done {
            return Ok(());
        }
    }
    careful(op, cx)
}

impl Op {
    /// The row of element `at`.
    #[inline(always)]
    fn row(&self, code: &Code, at: usize) -> u32 {
        match self.rows {
            Rows::One(row) => row,
            Rows::Many(list) => code.pooled(list).get(at).copied().unwrap_or(0),
        }
    }

    /// What a lane stores; as many bytes as the access has.
    fn bytes_of(&self, file: &File<'_>, code: &Code, lane: usize) -> [u8; 32] {
        let mut out = [0; 32];
        let elements = out.chunks_mut(usize::from(self.bytes));
        for (at, element) in elements.take(self.count.into()).enumerate() {
            let row = Src(self.row(code, at));
            let value = if self.bits == 64 {
                file.get::<u64>(row)[lane]
            } else {
                u64::from(file.get::<u32>(row)[lane])
            };
            element.copy_from_slice(&value.to_le_bytes()[..self.bytes.into()]);
        }
        out
    }

    /// Whether it may read what others said.
    fn acquires(&self) -> bool {
        !self.store && self.ordering.semantics != Semantics::Weak
    }

    const fn wanted(&self) -> Wanted {
        Wanted {
            bytes: self.bytes as u32 * self.count as u32,
            store: self.store,
            atomic: false,
        }
    }
}

/// All lanes in the block's shared memory. Whether they were.
#[inline(always)]
fn quick_shared<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    row: Src,
    offset: i32,
) -> Result<bool, Stop> {
    let Some(buffer) = cx.shared.get(cx.block.rank as usize) else {
        return Ok(false);
    };
    let mut at = each(&cx.file.get::<u32>(row), |base| {
        base.wrapping_add_signed(offset)
    });
    access::fill(&mut at, cx.mask);
    let Some(lanes) = buffer.lanes(&at, op.wanted().bytes as usize) else {
        return Ok(false);
    };
    if S::ACTIVE {
        let offsets = each(&at, u64::from);
        let seen = seen::shared_lanes(cx.warp, &offsets, cx.mask);
        show(op, cx, Space::Shared, &seen, (buffer, &at))?;
    }
    transfer(op, cx, &lanes, cx.mask);
    Ok(true)
}

/// All lanes in the allocation that the instruction accessed last. Whether they were.
#[inline(always)]
fn quick_global<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<bool, Stop> {
    let hint = cx.worker.hints.get(cx.number() as usize);
    let view = cx.view;
    let Some(allocation) = hint.and_then(|hint| view.get(*hint)) else {
        return Ok(false);
    };
    if op.store && !allocation.is_writable() {
        return Ok(false);
    }
    let addresses = access::addresses(cx, op.base);
    let base = allocation.base;
    let offsets = each(&addresses, |address: u64| address.wrapping_sub(base));
    let bytes = op.wanted().bytes as usize;
    let Some(lanes) = allocation.buffer.lanes(&offsets, bytes) else {
        return Ok(false);
    };
    if S::ACTIVE && !op.early {
        let seen = seen::global_lanes(cx.warp, allocation, &addresses, cx.mask);
        show(
            op,
            cx,
            allocation.space(),
            &seen,
            (&allocation.buffer, &offsets),
        )?;
    }
    transfer(op, cx, &lanes, cx.mask);
    Ok(true)
}

/// Shows an access to the shadow.
#[inline]
fn show<S: Shadow, O: Offset>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    space: Space,
    lanes: &Lanes<'_>,
    (buffer, offsets): (&Buffer, &[O; LANES]),
) -> Result<(), Stop> {
    let access = op.access(space, cx.number());
    let (shadow, block) = (cx.grid.shadow, &mut cx.block.shadow);
    let seen = if op.store {
        let (file, code) = (&cx.file, cx.code);
        let total = op.total() as usize;
        let same = |lane: usize, other: Option<usize>| {
            let written = op.bytes_of(file, code, lane);
            if let Some(other) = other {
                return written[..total] == op.bytes_of(file, code, other)[..total];
            }
            let mut there = [0; 32];
            let read = buffer.read(offsets[lane].place() as u64, &mut there[..total]);
            read.is_some() && written[..total] == there[..total]
        };
        seen::show(shadow, block, &access, lanes, Does::Store(&same))
    } else {
        seen::show(shadow, block, &access, lanes, Does::Load)
    };
    seen.map_err(|found| cx.found(&found))
}

/// Accesses that order others.
#[inline(never)]
fn ordered<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    fence_before(op.ordering.semantics);
    careful(op, cx)?;
    if op.ordering.semantics == Semantics::Acquire {
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
    }
    Ok(())
}

#[inline(never)]
fn careful<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    match (op.space, op.base) {
        (Named::Param, Base::Fixed(at)) => return param(op, cx, at.into(), cx.mask),
        (_, Base::Fixed(at)) => {
            let at = u64::from(cx.frame + at);
            return local(op, cx, &[at; LANES], cx.mask);
        }
        _ => {}
    }
    let addresses = access::addresses(cx, op.base);
    access::check_alignment(cx, &addresses, op.total())?;
    let mut left = cx.mask;
    while left != 0 {
        let (region, part) = match access::region(op.space, &addresses, left) {
            Some(region) => (region, left),
            // Generic addresses that lie in several spaces.
            None => access::first_region(&addresses, left),
        };
        in_region(op, cx, region, &addresses, part)?;
        left &= !part;
    }
    Ok(())
}

fn in_region<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    region: Region,
    addresses: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    let from = |start: u64| each(addresses, |address: u64| address.wrapping_sub(start));
    match region {
        Region::Global => global(op, cx, addresses, mask),
        Region::Shared { start } => shared(op, cx, &from(start), mask),
        Region::Local { start } => local(op, cx, &from(start), mask),
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
fn transfer<S: Shadow, O: Offset>(op: &Op, cx: &mut Cx<'_, S>, lanes: &Checked<'_, O>, mask: u32) {
    if let Rows::One(row) = op.rows {
        match (op.store, op.bytes, op.bits) {
            (false, 4, 32) => return load::<u32, S, O>(cx, lanes, (row, 0), mask),
            (false, 8, _) => return load::<u64, S, O>(cx, lanes, (row, 0), mask),
            (true, 4, 32) => {
                lanes.set(0, <u32 as Word>::row(&cx.file, Src(row)), mask);
                return;
            }
            (true, 8, _) => {
                lanes.set(0, <u64 as Word>::row(&cx.file, Src(row)), mask);
                return;
            }
            _ => {}
        }
    }
    elements(op, cx, lanes, mask);
}

/// Elements as wide as a register.
#[inline(always)]
fn load<T: Cell + Word, S: Shadow, O: Offset>(
    cx: &mut Cx<'_, S>,
    lanes: &Checked<'_, O>,
    (row, skip): (u32, usize),
    mask: u32,
) {
    if mask == ALL {
        lanes.get_to(skip, T::row_mut(&mut cx.file, Dst(row)));
    } else {
        cx.file.put(Dst(row), &lanes.get::<T>(skip), mask);
    }
}

wide!(fn elements<S: Shadow, O: Offset>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    lanes: &Checked<'_, O>,
    mask: u32,
) = every_element);

/// Vectors, and elements narrower or wider than a register.
#[inline(always)]
fn every_element<S: Shadow, O: Offset>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    lanes: &Checked<'_, O>,
    mask: u32,
) {
    for at in 0..usize::from(op.count) {
        let row = op.row(cx.code, at);
        let skip = at * usize::from(op.bytes);
        match (op.store, op.bytes, op.bits) {
            (false, 4, 32) => {
                load::<u32, S, O>(cx, lanes, (row, skip), mask);
            }
            (false, 8, _) => {
                load::<u64, S, O>(cx, lanes, (row, skip), mask);
            }
            (true, ..) => stored(op, cx, lanes, (row, skip), mask),
            (false, ..) => loaded(op, cx, lanes, (row, skip), mask),
        }
    }
}

/// Loads that are extended.
#[inline(always)]
fn loaded<S: Shadow, O: Offset>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    lanes: &Checked<'_, O>,
    (row, skip): (u32, usize),
    mask: u32,
) {
    match op.bytes {
        8 => load_row(op, cx, row, lanes.get::<u64>(skip), mask),
        4 => load_row(op, cx, row, lanes.get::<u32>(skip), mask),
        2 => load_row(op, cx, row, lanes.get::<u16>(skip), mask),
        _ => load_row(op, cx, row, lanes.get::<u8>(skip), mask),
    }
}

/// Stores of the low part of a register.
#[inline(always)]
fn stored<S: Shadow, O: Offset>(
    op: &Op,
    cx: &Cx<'_, S>,
    lanes: &Checked<'_, O>,
    (row, skip): (u32, usize),
    mask: u32,
) {
    if op.bytes == 8 {
        lanes.set(skip, <u64 as Word>::row(&cx.file, Src(row)), mask);
        return;
    }
    let low = if op.bits == 64 {
        each(&cx.file.get(Src(row)), |value: u64| value as u32)
    } else {
        cx.file.get(Src(row))
    };
    match op.bytes {
        4 => lanes.set(skip, &low, mask),
        2 => lanes.set(skip, &each(&low, |value| value as u16), mask),
        _ => lanes.set(skip, &each(&low, |value| value as u8), mask),
    }
}

/// A value as it comes from memory.
trait Element: Cell {
    fn widen(self, signed: bool) -> u64;
}
macro_rules! element {
    ($($type:ty, $signed:ty;)+) => {
        $(impl Element for $type {
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
    values: [T; LANES],
    mask: u32,
) {
    let signed = op.signed;
    if op.bits == 64 {
        let out = each(&values, |value: T| value.widen(signed));
        cx.file.put(Dst(row), &out, mask);
    } else {
        let keep = u32::MAX >> (32 - u32::from(op.bits));
        let out = each(&values, |value: T| value.widen(signed) as u32 & keep);
        cx.file.put(Dst(row), &out, mask);
    }
}

fn global<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    let wanted = op.wanted();
    let mut left = mask;
    while left != 0 {
        if op.early && !access::is_inside(cx, addresses, left, wanted) {
            dropped(op, cx, &mut left);
            continue;
        }
        let Some(part) = access::part(cx, addresses, left, wanted)? else {
            dropped(op, cx, &mut left);
            continue;
        };
        left &= !part.mask;
        if S::ACTIVE && !op.early {
            let seen = seen::global_lanes(cx.warp, part.allocation(), addresses, part.mask);
            show(op, cx, part.space(), &seen, (part.buffer(), &part.offsets))?;
        }
        if let Some(lanes) = part.buffer().lanes(&part.offsets, wanted.bytes as usize) {
            transfer(op, cx, &lanes, part.mask);
        }
        if S::ACTIVE && op.acquires() {
            let access = op.access(part.space(), cx.number());
            seen::moved(cx, &access, &part, addresses);
        }
    }
    Ok(())
}

fn shared<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    offsets: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    let wanted = op.wanted();
    let mut left = mask;
    while left != 0 {
        let Some(part) = access::shared_part(cx, offsets, left, wanted)? else {
            dropped(op, cx, &mut left);
            continue;
        };
        left &= !part.mask;
        if S::ACTIVE {
            let seen = Lanes {
                owner: part.owner,
                ..seen::shared_lanes(cx.warp, &part.offsets, part.mask)
            };
            show(op, cx, Space::Shared, &seen, (part.buffer, &part.offsets))?;
        }
        if let Some(lanes) = part.buffer.lanes(&part.offsets, wanted.bytes as usize) {
            transfer(op, cx, &lanes, part.mask);
        }
        if S::ACTIVE && op.acquires() {
            let access = op.access(Space::Shared, cx.number());
            seen::moved_shared(cx, &access, &part);
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
        let row = op.row(cx.code, at);
        load_row(op, cx, row, [0_u8; LANES], lane);
    }
}

/// Local memory and the parameters of device functions: each lane has its own.
fn local<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    mask: u32,
) -> Result<(), Stop> {
    let top = u64::from(cx.top());
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
        let row = op.row(cx.code, at);
        let skip = (at * usize::from(op.bytes)) as u64;
        let places = each(addresses, |address: u64| address.wrapping_add(skip));
        if op.store {
            let values = if op.bits == 64 {
                cx.file.get::<u64>(Src(row))
            } else {
                each(&cx.file.get::<u32>(Src(row)), u64::from)
            };
            cx.local.store(&places, op.bytes, &values, inside);
            continue;
        }
        let values = cx.local.load(&places, op.bytes, inside);
        match op.bytes {
            8 => load_row(op, cx, row, values, inside),
            4 => load_row(op, cx, row, each(&values, |v: u64| v as u32), inside),
            2 => load_row(op, cx, row, each(&values, |v: u64| v as u16), inside),
            _ => load_row(op, cx, row, each(&values, |v: u64| v as u8), inside),
        }
    }
    Ok(())
}

/// A kernel's parameters, which are the same for every lane.
fn param<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>, at: u64, mask: u32) -> Result<(), Stop> {
    let params = &cx.grid.launch.params;
    let bytes = usize::try_from(at).ok().and_then(|start| {
        let end = start.checked_add(op.total() as usize)?;
        params.get(start..end)
    });
    let lane = mask.trailing_zeros() as usize;
    if op.store {
        return Err(access::stored_param(cx, lane, at, op.total()));
    }
    let Some(bytes) = bytes else {
        return Err(access::outside_param(cx, lane, at, op.total()));
    };
    let mut words = [0_u64; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(op.bytes.into())) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    for (at, word) in words.into_iter().enumerate().take(op.count.into()) {
        let row = op.row(cx.code, at);
        match op.bytes {
            8 => load_row(op, cx, row, [word; LANES], mask),
            4 => load_row(op, cx, row, [word as u32; LANES], mask),
            2 => load_row(op, cx, row, [word as u16; LANES], mask),
            _ => load_row(op, cx, row, [word as u8; LANES], mask),
        }
    }
    Ok(())
}
