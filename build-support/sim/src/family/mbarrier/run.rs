//! Executing what `mbarrier` instructions do.
//!
//! A test that fails lets the thread wait, whether it is `test_wait` or `try_wait`: nothing tells a program which of
//! its own instructions other threads execute meanwhile. It goes on when something happened to some `mbarrier`,
//! or with a failed test when nothing else can go on. See `Grid::rouse` for how long that is done.

use std::sync::atomic::Ordering;

use super::{Also, Op, Wanted, What};
use crate::access;
use crate::context::{Cx, Stop};
use crate::copies::{MOST as MOST_COPIES, Tracked};
use crate::family::copy;
use crate::family::memory::Named;
use crate::finding::Kind;
use crate::memory::window;
use crate::phase::{MOST, Misuse, Phase};
use crate::register::{LANES, lanes_of};
use crate::shadow::{Semantics, Shadow};
use crate::transfer::{self, Request};

/// What is to be done after an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Next,
    /// The lanes wait for the end of a phase.
    Doze(Doze),
    /// They go on, after others had a turn.
    Yield,
}

/// The phase that lanes wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doze {
    pub(crate) phase: Phase,
    pub(crate) address: u64,
}

/// What a group that dozed is told when it goes on: that the test failed. Else it is told which phase it was.
pub(crate) const FAILED: u32 = u32::MAX;

/// The block's rank and the offset in its shared memory of the `mbarrier` of a lane.
pub(crate) fn locate<S: Shadow>(
    cx: &mut Cx<'_, S>,
    space: Named,
    address: u64,
    lane: usize,
) -> Result<(u32, u64), Stop> {
    let start = match space {
        Named::Generic => window::SHARED,
        _ => 0,
    };
    let inner = address.wrapping_sub(start);
    let (rank, offset) = match inner >> window::RANK_SHIFT {
        0 => (cx.block.rank, inner),
        field => (
            u32::try_from(field - 1).unwrap_or(u32::MAX),
            inner & ((1 << window::RANK_SHIFT) - 1),
        ),
    };
    let (kind, text) = match cx.shared.get(rank as usize) {
        _ if !address.is_multiple_of(8) => (
            Kind::Misaligned,
            format!("an mbarrier at {address:#x}, which is no multiple of 8"),
        ),
        None if inner >= window::SIZE => (
            Kind::WrongSpace,
            format!("an mbarrier at {address:#x}, which is not in shared memory"),
        ),
        None => (
            Kind::OutOfBounds,
            format!("an mbarrier at {address:#x}, of block {rank} of the cluster, which has fewer"),
        ),
        Some(buffer) if buffer.atomic64(offset).is_none() => (
            Kind::OutOfBounds,
            format!(
                "an mbarrier at {address:#x} of shared memory, of which the block has {} bytes",
                buffer.len()
            ),
        ),
        Some(_) => return Ok((rank, offset)),
    };
    Err(cx.stop(kind, lane, text))
}

fn load<S: Shadow>(cx: &Cx<'_, S>, (rank, offset): (u32, u64)) -> u64 {
    let buffer = cx.shared.get(rank as usize);
    let word = buffer.and_then(|buffer| buffer.atomic64(offset));
    word.map_or(0, |word| word.load(Ordering::Relaxed))
}

fn store<S: Shadow>(cx: &Cx<'_, S>, (rank, offset): (u32, u64), phase: u64) {
    let buffer = cx.shared.get(rank as usize);
    if let Some(word) = buffer.and_then(|buffer| buffer.atomic64(offset)) {
        word.store(phase, Ordering::Relaxed);
    }
}

/// The `mbarrier` there.
fn phase<S: Shadow>(
    cx: &mut Cx<'_, S>,
    place: (u32, u64),
    (address, lane): (u64, usize),
) -> Result<Phase, Stop> {
    let bits = load(cx, place);
    let phase = Phase::of_bits(bits);
    if phase.expected == 0 && phase.pending == 0 || phase.pending > phase.expected.max(1) {
        let text = format!("no mbarrier was initialised at {address:#x}, or it is no longer one");
        return Err(cx.stop(Kind::BadBarrier, lane, text));
    }
    Ok(phase)
}

fn misuse<S: Shadow>(cx: &Cx<'_, S>, misuse: Misuse, (address, lane): (u64, usize)) -> Stop {
    let text = match misuse {
        Misuse::Arrivals { count, pending } => format!(
            "{count} arrivals at the mbarrier at {address:#x}, whose phase has {pending} left"
        ),
        Misuse::Bytes(bytes) => format!(
            "{bytes} bytes to come at the mbarrier at {address:#x}, which counts no more than {MOST}"
        ),
    };
    cx.stop(Kind::BadBarrier, lane, text)
}

pub(crate) fn execute<S: Shadow>(
    op: &Op,
    released: Option<u32>,
    cx: &mut Cx<'_, S>,
) -> Result<Outcome, Stop> {
    let mask = cx.mask;
    if let What::Pending { d, state } = op.what {
        let states: [u64; LANES] = cx.file.get(state);
        cx.file
            .put(d, &states.map(|state| Phase::of_bits(state).pending), mask);
        return Ok(Outcome::Next);
    }
    let addresses = access::addresses(cx, op.base);
    if let What::Test { d, wanted } = op.what {
        return test(op, cx, &addresses, (d, wanted), released);
    }
    let mut places = [(0, 0); LANES];
    for lane in lanes_of(mask) {
        places[lane] = locate(cx, op.space, addresses[lane], lane)?;
    }
    if !matches!(op.what, What::Init { .. }) {
        order(op, cx, &places, mask)?;
    }
    for lane in lanes_of(mask) {
        one(op, cx, places[lane], (addresses[lane], lane))?;
    }
    Ok(Outcome::Next)
}

/// Shows what the lanes order, those at one `mbarrier` together.
fn order<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    places: &[(u32, u64); LANES],
    mut left: u32,
) -> Result<(), Stop> {
    while S::ACTIVE && left != 0 {
        let place = places[left.trailing_zeros() as usize];
        let part = lanes_of(left)
            .filter(|lane| places[*lane] == place)
            .fold(0, |part, lane| part | 1 << lane);
        left &= !part;
        transfer::order(cx, place, part, op.ordering)?;
    }
    Ok(())
}

/// What a lane does, but for tests.
fn one<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    place: (u32, u64),
    at: (u64, usize),
) -> Result<(), Stop> {
    let (address, lane) = at;
    let value = |cx: &Cx<'_, S>, row| cx.file.get::<u32>(row)[lane];
    if let What::Init { count } = op.what {
        let count = value(cx, count);
        if count == 0 || count > MOST {
            let text = format!("an mbarrier of {count} arrivals, which are not 1 to {MOST}");
            return Err(cx.stop(Kind::BadBarrier, lane, text));
        }
        let request = Request {
            space: op.space,
            addresses: &[address; LANES],
            bytes: 8,
            mask: 1 << lane,
            by: None,
        };
        let words = [[Phase::new(count).bits(); LANES], [0; LANES]];
        return transfer::store(cx, request, &words);
    }
    let mut now = phase(cx, place, at)?;
    let before = now;
    match op.what {
        What::Invalidate => {
            let cluster = cx.grid.first_of(cx.block.index);
            let mut flights = cx.worker.flights.iter();
            if flights.any(|flight| (flight.cluster, flight.barrier) == (cluster, place)) {
                let text = format!("the mbarrier at {address:#x} counts a copy that is on its way");
                return Err(cx.stop(Kind::BadBarrier, lane, text));
            }
            store(cx, place, 0);
            return Ok(());
        }
        What::Bytes { count, came } => {
            let count = i64::from(value(cx, count));
            let count = if came { -count } else { count };
            now.expect(count).map_err(|wrong| misuse(cx, wrong, at))?;
        }
        What::Arrive {
            d,
            count,
            also,
            drop,
        } => {
            if let Also::Expect(bytes) = also {
                let bytes = value(cx, bytes).into();
                now.expect(bytes).map_err(|wrong| misuse(cx, wrong, at))?;
            }
            let count = value(cx, count);
            now.arrive(count).map_err(|wrong| misuse(cx, wrong, at))?;
            if drop {
                now.expected = now.expected.saturating_sub(count);
            }
            if also == Also::NoComplete && now.pending == 0 {
                let text = format!(
                    "an arrival that must not complete the phase of the mbarrier at {address:#x} does"
                );
                return Err(cx.stop(Kind::BadBarrier, lane, text));
            }
            if let Some(d) = d {
                cx.file.put(d, &[before.bits(); LANES], 1 << lane);
            }
        }
        What::Track { counted } => {
            let issued = cx.block.issued;
            let warp = cx.warp;
            let full = cx.block.tracked.len() >= MOST_COPIES;
            let last = (cx.block.tracked.last_mut())
                .filter(|last| (last.offset, last.warp, last.before) == (place.1, warp, issued));
            match last {
                Some(last) => last.mask |= 1 << lane,
                None if full => {
                    let text = format!("{MOST_COPIES} arrivals of copies that no test waited for");
                    return Err(cx.stop(Kind::BadBarrier, lane, text));
                }
                None => cx.block.tracked.push(Tracked {
                    offset: place.1,
                    warp,
                    mask: 1 << lane,
                    before: issued,
                }),
            }
            if counted {
                now.arrive(1).map_err(|wrong| misuse(cx, wrong, at))?;
            }
        }
        What::Init { .. } | What::Test { .. } | What::Pending { .. } => {}
    }
    now.turn();
    store(cx, place, now.bits());
    cx.worker.stirs += 1;
    Ok(())
}

/// Whether the phases that lanes name are over.
fn test<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    (d, wanted): (crate::register::Dst, Wanted),
    released: Option<u32>,
) -> Result<Outcome, Stop> {
    let mask = cx.mask;
    let mut over = 0;
    // The phase that all lanes that failed are in.
    let mut waits: Option<Doze> = None;
    let mut alike = true;
    let mut places = [(0, 0); LANES];
    for lane in lanes_of(mask) {
        let at = (addresses[lane], lane);
        let place = locate(cx, op.space, at.0, lane)?;
        places[lane] = place;
        let now = settle(op, cx, place, at)?;
        let is_over = match wanted {
            Wanted::State(row) => {
                let state: u64 = cx.file.get::<u64>(row)[lane];
                Phase::of_bits(state).number != now.number
            }
            Wanted::Parity(row) => cx.file.get::<u32>(row)[lane] & 1 != now.number & 1,
        };
        // While it dozed the phase may have ended twice.
        let is_over =
            is_over || released.is_some_and(|phase| phase != FAILED && phase != now.number);
        if is_over {
            over |= 1 << lane;
        } else {
            let doze = Doze {
                phase: now,
                address: at.0,
            };
            alike &= waits.is_none_or(|waits| waits == doze);
            waits = Some(doze);
        }
    }
    order(op, cx, &places, over)?;
    match waits {
        Some(doze) if over == 0 && alike && released != Some(FAILED) => {
            return Ok(Outcome::Doze(doze));
        }
        _ => {}
    }
    cx.file.put_predicate(d, over, mask);
    Ok(match waits {
        Some(_) => Outcome::Yield,
        None => Outcome::Next,
    })
}

/// Lands what the `mbarrier` tracks, and gives its state after that.
fn settle<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    place: (u32, u64),
    at: (u64, usize),
) -> Result<Phase, Stop> {
    let mut now = phase(cx, place, at)?;
    let cluster = cx.grid.first_of(cx.block.index);
    let flies = (cx.worker.flights.iter())
        .any(|flight| (flight.cluster, flight.barrier) == (cluster, place));
    let tracks = place.0 == cx.block.rank
        && (cx.block.tracked.iter()).any(|tracked| tracked.offset == place.1);
    if !flies && !tracks {
        return Ok(now);
    }
    // What lands was told to this lane by who issued it, and this lane tells others.
    let (_, scope) = op.ordering;
    let lane = at.1;
    transfer::order(cx, place, 1 << lane, (Semantics::Acquire, scope))?;
    if tracks {
        copy::land_tracked(cx, place.1, lane)?;
    }
    let bytes = copy::land(cx, place, lane)?;
    transfer::order(cx, place, 1 << lane, (Semantics::Release, scope))?;
    now.expect(-bytes).map_err(|wrong| misuse(cx, wrong, at))?;
    if bytes != 0 {
        now.turn();
    }
    store(cx, place, now.bits());
    cx.worker.stirs += 1;
    Ok(now)
}
