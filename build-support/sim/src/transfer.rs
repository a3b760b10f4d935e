//! Moving up to 16 bytes of each lane between global or shared memory and an instruction that has other places
//! for them than a load or a store.

use crate::access::{self, Region, SharedPart, Wanted};
use crate::context::{Cx, Stop};
use crate::family::memory::Named;
use crate::finding::Kind;
use crate::memory::{Buffer, window};
use crate::register::{LANES, each, lanes_of};
use crate::seen;
use crate::shadow::{Access, Scope, Semantics, Shadow, Space};

/// The bytes of each lane, lowest first: words of 64 bits.
pub(crate) type Words = [[u64; LANES]; 2];

/// What is moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) space: Named,
    pub(crate) addresses: &'a [u64; LANES],
    /// 1, 2, 4, 8 or 16 of each lane.
    pub(crate) bytes: u32,
    pub(crate) mask: u32,
    /// The lane whose accesses these are for checks of races, if not each lane's own.
    pub(crate) by: Option<usize>,
}

/// What is done with the bytes.
enum Act<'a> {
    Load(&'a mut Words),
    Store(&'a Words),
    /// Nothing: they are only looked for.
    Check,
}

/// Loads; zeros where the launch goes on after a finding.
pub(crate) fn load<S: Shadow>(cx: &mut Cx<'_, S>, request: Request<'_>) -> Result<Words, Stop> {
    let mut words = [[0; LANES]; 2];
    every(cx, request, &mut Act::Load(&mut words))?;
    Ok(words)
}

/// Stores.
pub(crate) fn store<S: Shadow>(
    cx: &mut Cx<'_, S>,
    request: Request<'_>,
    words: &Words,
) -> Result<(), Stop> {
    every(cx, request, &mut Act::Store(words))?;
    Ok(())
}

/// Sees that bytes can be stored, and gives the lanes that can.
pub(crate) fn check<S: Shadow>(cx: &mut Cx<'_, S>, request: Request<'_>) -> Result<u32, Stop> {
    every(cx, request, &mut Act::Check)
}

/// Gives the lanes for which it was done.
fn every<S: Shadow>(
    cx: &mut Cx<'_, S>,
    request: Request<'_>,
    act: &mut Act<'_>,
) -> Result<u32, Stop> {
    let outer = std::mem::replace(&mut cx.mask, request.mask);
    let done = parts(cx, request, act);
    cx.mask = outer;
    done
}

fn parts<S: Shadow>(
    cx: &mut Cx<'_, S>,
    request: Request<'_>,
    act: &mut Act<'_>,
) -> Result<u32, Stop> {
    let mut addresses = *request.addresses;
    access::fill(&mut addresses, request.mask);
    access::check_alignment(cx, &addresses, request.bytes)?;
    let wanted = Wanted {
        bytes: request.bytes,
        store: !matches!(act, Act::Load(_)),
        atomic: false,
    };
    let (mut left, mut done) = (request.mask, 0);
    while left != 0 {
        let (region, part) = match access::region(request.space, &addresses, left) {
            Some(region) => (region, left),
            None => access::first_region(&addresses, left),
        };
        left &= !part;
        done |= match region {
            Region::Global => global(cx, &addresses, part, wanted, act)?,
            Region::Shared { start } => {
                let offsets = each(&addresses, |address: u64| address.wrapping_sub(start));
                shared(cx, &offsets, part, (wanted, request.by), act)?
            }
            Region::Local { .. } | Region::Param { .. } => {
                let lane = part.trailing_zeros() as usize;
                let address = addresses[lane];
                let text = format!("{address:#x} is neither in global nor in shared memory");
                return Err(cx.stop(Kind::WrongSpace, lane, text));
            }
        };
    }
    Ok(done)
}

fn global<S: Shadow>(
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    mask: u32,
    wanted: Wanted,
    act: &mut Act<'_>,
) -> Result<u32, Stop> {
    let (mut left, mut done) = (mask, 0);
    while left != 0 {
        let Some(part) = access::part(cx, addresses, left, wanted)? else {
            left &= left - 1;
            continue;
        };
        left &= !part.mask;
        done |= part.mask;
        if S::ACTIVE && !matches!(act, Act::Check) {
            let access = plain(part.space(), wanted.bytes, cx.number());
            seen::global(cx, &access, &part, addresses, wanted)?;
        }
        transfer(part.buffer(), &part.offsets, part.mask, wanted.bytes, act);
    }
    Ok(done)
}

fn shared<S: Shadow>(
    cx: &mut Cx<'_, S>,
    offsets: &[u64; LANES],
    mask: u32,
    (wanted, by): (Wanted, Option<usize>),
    act: &mut Act<'_>,
) -> Result<u32, Stop> {
    let (mut left, mut done) = (mask, 0);
    while left != 0 {
        let Some(part) = access::shared_part(cx, offsets, left, wanted)? else {
            left &= left - 1;
            continue;
        };
        left &= !part.mask;
        done |= part.mask;
        if S::ACTIVE && !matches!(act, Act::Check) {
            show(cx, &part, (wanted, by))?;
        }
        transfer(part.buffer, &part.offsets, part.mask, wanted.bytes, act);
    }
    Ok(done)
}

/// Shows an access of shared memory to the shadow.
fn show<S: Shadow>(
    cx: &mut Cx<'_, S>,
    part: &SharedPart<'_>,
    (wanted, by): (Wanted, Option<usize>),
) -> Result<(), Stop> {
    let access = plain(Space::Shared, wanted.bytes, cx.number());
    let Some(by) = by else {
        return seen::shared(cx, &access, part, wanted);
    };
    for lane in lanes_of(part.mask) {
        let part = SharedPart {
            mask: 1 << by,
            offsets: [part.offsets[lane]; LANES],
            ..*part
        };
        seen::shared(cx, &access, &part, wanted)?;
    }
    Ok(())
}

/// Shows that lanes order others by 8 bytes of shared memory.
pub(crate) fn order<S: Shadow>(
    cx: &mut Cx<'_, S>,
    (rank, offset): (u32, u64),
    mask: u32,
    (semantics, scope): (Semantics, Scope),
) -> Result<(), Stop> {
    if !S::ACTIVE {
        return Ok(());
    }
    let field = u64::from(rank + 1) << window::RANK_SHIFT;
    let wanted = Wanted {
        bytes: 8,
        store: true,
        atomic: true,
    };
    let Some(part) = access::shared_part(cx, &[field | offset; LANES], mask, wanted)? else {
        return Ok(());
    };
    let access = Access {
        semantics,
        scope,
        ..plain(Space::Shared, 8, cx.number())
    };
    seen::shared(cx, &access, &part, wanted)?;
    seen::moved_shared(cx, &access, &part);
    Ok(())
}

/// A range of bytes that one lane moves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) space: Named,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    pub(crate) lane: usize,
}

/// Bytes of a range; `None` if they are not all there and the launch goes on.
pub(crate) fn read<S: Shadow>(cx: &mut Cx<'_, S>, range: Range) -> Result<Option<Vec<u8>>, Stop> {
    let mut bytes = vec![0; range.bytes as usize];
    let there = of_range(cx, range, false, &mut |buffer, at| {
        buffer.read(at, &mut bytes);
    })?;
    if there {
        shown(cx, range, false)?;
    }
    Ok(there.then_some(bytes))
}

/// Writes the bytes of a range.
pub(crate) fn write<S: Shadow>(cx: &mut Cx<'_, S>, range: Range, bytes: &[u8]) -> Result<(), Stop> {
    shown(cx, range, true)?;
    of_range(cx, range, true, &mut |buffer, at| {
        buffer.write(at, bytes);
    })?;
    Ok(())
}

/// Changes the elements of a range, of `step` bytes each: `new` gives what one becomes, by where it begins and what
/// it was.
pub(crate) fn change<S: Shadow>(
    cx: &mut Cx<'_, S>,
    range: Range,
    step: u32,
    new: &mut dyn FnMut(usize, u64) -> u64,
) -> Result<(), Stop> {
    use std::sync::atomic::Ordering::Relaxed;
    of_range(cx, range, true, &mut |buffer, start| {
        for at in (0..range.bytes as usize).step_by(step as usize) {
            let place = start + at as u64;
            let mut fresh = |old: u64| Some(new(at, old));
            // Nobody looks at whether it worked: places were found there and aligned.
            match step {
                8 => {
                    if let Some(word) = buffer.atomic64(place) {
                        let _ = word.fetch_update(Relaxed, Relaxed, fresh);
                    }
                }
                4 => {
                    if let Some(word) = buffer.atomic32(place) {
                        let _ = word.fetch_update(Relaxed, Relaxed, |old| {
                            fresh(old.into()).map(|new| new as u32)
                        });
                    }
                }
                _ => {
                    if let Some(word) = buffer.atomic16(place) {
                        let _ = word.fetch_update(Relaxed, Relaxed, |old| {
                            fresh(old.into()).map(|new| new as u16)
                        });
                    }
                }
            }
        }
    })?;
    Ok(())
}

/// Whether the bytes of a range are there.
pub(crate) fn probe<S: Shadow>(
    cx: &mut Cx<'_, S>,
    range: Range,
    store: bool,
) -> Result<bool, Stop> {
    of_range(cx, range, store, &mut |_, _| {})
}

/// Shows a range to the shadow, 16 bytes after 16 bytes. A range of more is a multiple of them.
fn shown<S: Shadow>(cx: &mut Cx<'_, S>, range: Range, store: bool) -> Result<(), Stop> {
    if !S::ACTIVE {
        return Ok(());
    }
    let mask = 1 << range.lane;
    let last = range.address + u64::from(range.bytes);
    let wanted = Wanted {
        bytes: range.bytes.min(16),
        store,
        atomic: false,
    };
    for address in (range.address..last).step_by(16) {
        let addresses = [address; LANES];
        match access::region(range.space, &addresses, mask) {
            Some(Region::Shared { start }) => {
                let offsets = [address.wrapping_sub(start); LANES];
                if let Some(part) = access::shared_part(cx, &offsets, mask, wanted)? {
                    show(cx, &part, (wanted, None))?;
                }
            }
            _ => {
                if let Some(part) = access::part(cx, &addresses, mask, wanted)? {
                    let access = plain(part.space(), wanted.bytes, cx.number());
                    seen::global(cx, &access, &part, &addresses, wanted)?;
                }
            }
        }
    }
    Ok(())
}

/// Does something with the bytes of a range, if they are there. Whether they are.
fn of_range<S: Shadow>(
    cx: &mut Cx<'_, S>,
    range: Range,
    store: bool,
    act: &mut dyn FnMut(&Buffer, u64),
) -> Result<bool, Stop> {
    let Range {
        space,
        address,
        bytes,
        lane,
    } = range;
    let mask = 1 << lane;
    let addresses = [address; LANES];
    let wanted = Wanted {
        bytes,
        store,
        atomic: false,
    };
    match access::region(space, &addresses, mask) {
        Some(Region::Global) => {
            let Some(part) = access::part(cx, &addresses, mask, wanted)? else {
                return Ok(false);
            };
            act(part.buffer(), part.offsets[lane]);
        }
        Some(Region::Shared { start }) => {
            let offsets = [address.wrapping_sub(start); LANES];
            let Some(part) = access::shared_part(cx, &offsets, mask, wanted)? else {
                return Ok(false);
            };
            act(part.buffer, part.offsets[lane]);
        }
        _ => {
            let text = format!("{address:#x} is neither in global nor in shared memory");
            return Err(cx.stop(Kind::WrongSpace, lane, text));
        }
    }
    Ok(true)
}

const fn plain(space: Space, bytes: u32, instruction: u32) -> Access {
    Access {
        space,
        bytes,
        semantics: Semantics::Weak,
        scope: Scope::Weak,
        non_coherent: false,
        instruction,
    }
}

/// Moves the bytes of checked lanes.
fn transfer(buffer: &Buffer, offsets: &[u64; LANES], mask: u32, bytes: u32, act: &mut Act<'_>) {
    let Some(lanes) = buffer.lanes(offsets, bytes as usize) else {
        return;
    };
    match act {
        Act::Check => {}
        Act::Load(words) => {
            for word in 0..bytes.div_ceil(8) as usize {
                let values = match bytes {
                    8.. => lanes.get::<u64>(8 * word),
                    4 => each(&lanes.get::<u32>(0), u64::from),
                    2 => each(&lanes.get::<u16>(0), u64::from),
                    _ => each(&lanes.get::<u8>(0), u64::from),
                };
                for lane in 0..LANES {
                    let keep = mask >> lane & 1 == 0;
                    words[word][lane] = if keep {
                        words[word][lane]
                    } else {
                        values[lane]
                    };
                }
            }
        }
        Act::Store(words) => {
            for word in 0..bytes.div_ceil(8) as usize {
                let values = &words[word];
                match bytes {
                    8.. => lanes.set(8 * word, values, mask),
                    4 => lanes.set(0, &each(values, |value: u64| value as u32), mask),
                    2 => lanes.set(0, &each(values, |value: u64| value as u16), mask),
                    _ => lanes.set(0, &each(values, |value: u64| value as u8), mask),
                }
            }
        }
    }
}
