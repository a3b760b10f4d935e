//! How accesses come to the shadow.

use crate::access::{Part, SharedPart, Wanted};
use crate::context::{Cx, Stop};
use crate::memory::Allocation;
use crate::register::LANES;
use crate::shadow::{self, Access, Found, Lanes, Same, Shadow};

/// Shows an access of global or constant memory to the shadow, before the bytes are moved.
pub(crate) fn global<S: Shadow>(
    cx: &mut Cx<'_, S>,
    access: &Access,
    part: &Part<'_>,
    addresses: &[u64; LANES],
    wanted: Wanted,
) -> Result<(), Stop> {
    let lanes = global_lanes(cx.warp, part.allocation(), addresses, part.mask);
    let does = wanted.does();
    show(cx.grid.shadow, &mut cx.block.shadow, access, &lanes, does)
        .map_err(|found| cx.found(&found))
}

/// Shows an access of shared memory to the shadow, before the bytes are moved.
pub(crate) fn shared<S: Shadow>(
    cx: &mut Cx<'_, S>,
    access: &Access,
    part: &SharedPart<'_>,
    wanted: Wanted,
) -> Result<(), Stop> {
    let lanes = Lanes {
        owner: part.owner,
        ..shared_lanes(cx.warp, &part.offsets, part.mask)
    };
    let does = wanted.does();
    show(cx.grid.shadow, &mut cx.block.shadow, access, &lanes, does)
        .map_err(|found| cx.found(&found))
}

/// Tells the shadow that bytes of global memory that order others were moved.
pub(crate) fn moved<S: Shadow>(
    cx: &mut Cx<'_, S>,
    access: &Access,
    part: &Part<'_>,
    addresses: &[u64; LANES],
) {
    let lanes = global_lanes(cx.warp, part.allocation(), addresses, part.mask);
    (cx.grid.shadow).moved(&mut cx.block.shadow, access, &lanes);
}

/// As [`moved`], of shared memory.
pub(crate) fn moved_shared<S: Shadow>(cx: &mut Cx<'_, S>, access: &Access, part: &SharedPart<'_>) {
    let lanes = Lanes {
        owner: part.owner,
        ..shared_lanes(cx.warp, &part.offsets, part.mask)
    };
    (cx.grid.shadow).moved(&mut cx.block.shadow, access, &lanes);
}

/// What lanes do, for a shadow.
#[derive(Clone, Copy)]
pub(crate) enum Does<'a> {
    Load,
    /// Whether what a lane writes is what another one does, or what is there.
    Store(&'a Same<'a>),
    Atomic,
}

/// Lanes of global or constant memory.
pub(crate) fn global_lanes<'a>(
    warp: u32,
    allocation: &'a Allocation,
    addresses: &'a [u64; LANES],
    mask: u32,
) -> Lanes<'a> {
    Lanes {
        warp,
        mask,
        addresses,
        allocation: Some(shadow::Allocation {
            number: allocation.number,
            base: allocation.base,
            bytes: allocation.bytes(),
            kind: allocation.kind,
        }),
        written: allocation.written.as_ref(),
        owner: None,
    }
}

/// Lanes of the block's own shared memory.
pub(crate) const fn shared_lanes(warp: u32, offsets: &[u64; LANES], mask: u32) -> Lanes<'_> {
    Lanes {
        warp,
        mask,
        addresses: offsets,
        allocation: None,
        written: None,
        owner: None,
    }
}

/// Calls what the shadow has for it.
#[inline(always)]
pub(crate) fn show<S: Shadow>(
    shadow: &S,
    block: &mut S::Block,
    access: &Access,
    lanes: &Lanes<'_>,
    does: Does<'_>,
) -> Result<(), Box<Found>> {
    match does {
        Does::Load => shadow.load(block, access, lanes),
        Does::Store(same) => shadow.store(block, access, lanes, same),
        Does::Atomic => shadow.atomic(block, access, lanes),
    }
}
