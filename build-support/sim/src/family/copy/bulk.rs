//! `cp.async.bulk` and `cp.reduce.async.bulk` (PTX ISA 9.7.9.25.4.1 and 9.7.9.25.4.2): a range of bytes between global
//! and shared memory, or to another block's shared memory.

use gpuk_ptx::{Instruction, Type};

use super::{Reduction, operands};
use crate::access::{self, Base};
use crate::context::{Cx, Stop};
use crate::copies::{Bulk, Flight, MOST, Source};
use crate::decode::{Decoder, Mods};
use crate::family::matrix::rows::base;
use crate::family::mbarrier;
use crate::family::memory::{self, Named};
use crate::finding::Kind;
use crate::memory::window;
use crate::register::{Src, lanes_of};
use crate::shadow::Shadow;
use crate::transfer::{self, Range};

/// How it is known that a copy is complete.
#[derive(Debug, Clone, Copy)]
enum Completion {
    /// By the thread's groups.
    Group,
    /// By an `mbarrier`; and in which blocks of the cluster the bytes land, if not where the address says.
    Barrier(Base, Option<Src>),
    /// Not at all: a prefetch.
    None,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    to: Named,
    from: Named,
    target: Base,
    source: Base,
    size: Src,
    completion: Completion,
    reduce: Option<Reduction>,
}

pub(super) fn decode(
    i: &Instruction,
    d: &mut Decoder<'_>,
    mut mods: Mods<'_>,
    reduces: bool,
) -> Option<Op> {
    if reduces {
        mods.take("bulk").then_some(())?;
    }
    let prefetch = mods.take("prefetch") && mods.take("L2");
    let to = if prefetch {
        Named::Global
    } else {
        memory::space(&mut mods)
    };
    let from = memory::space(&mut mods);
    let tracked = mods.take("mbarrier::complete_tx::bytes");
    let grouped = mods.take("bulk_group");
    let multicast = mods.take("multicast::cluster");
    let hint = memory::cache(&mut mods);
    let reduce = if reduces {
        Some(Reduction::decode(&mut mods)?)
    } else {
        None
    };
    mods.done()?;
    let operands = operands(i, hint)?;
    let (target, source, size, completion) = match (to, from, operands) {
        (Named::Global, Named::Global, [source, size]) if prefetch => {
            (source, source, size, Completion::None)
        }
        (Named::Global, Named::Shared, [target, source, size]) if grouped && !tracked => {
            (target, source, size, Completion::Group)
        }
        (Named::Shared, _, [target, source, size, barrier]) if tracked && !multicast => {
            let barrier = base(d, barrier)?;
            (target, source, size, Completion::Barrier(barrier, None))
        }
        (Named::Shared, Named::Global, [target, source, size, barrier, blocks])
            if tracked && multicast =>
        {
            let blocks = d.src32(blocks, Type::U16)?;
            let barrier = base(d, barrier)?;
            (
                target,
                source,
                size,
                Completion::Barrier(barrier, Some(blocks)),
            )
        }
        _ => return None,
    };
    matches!(from, Named::Global | Named::Shared).then_some(())?;
    (reduce.is_none() || from == Named::Shared).then_some(())?;
    Some(Op {
        to,
        from,
        target: base(d, target)?,
        source: base(d, source)?,
        size: d.src32(size, Type::U32)?,
        completion,
        reduce,
    })
}

pub(super) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let targets = access::addresses(cx, op.target);
    let sources = access::addresses(cx, op.source);
    let sizes: [u32; 32] = cx.file.get(op.size);
    for lane in lanes_of(cx.mask) {
        let (to, from, bytes) = (targets[lane], sources[lane], sizes[lane]);
        let askew = [to, from, bytes.into()]
            .into_iter()
            .find(|part| part % 16 != 0);
        if let Some(part) = askew {
            let text = format!(
                "a bulk copy of {bytes} bytes from {from:#x} to {to:#x}, of which {part:#x} is no multiple of 16"
            );
            return Err(cx.stop(Kind::Misaligned, lane, text));
        }
        if bytes == 0 {
            continue;
        }
        let range = |space, address| Range {
            space,
            address,
            bytes,
            lane,
        };
        match op.completion {
            Completion::None => {
                transfer::probe(cx, range(op.from, from), false)?;
            }
            Completion::Group => {
                let there = transfer::probe(cx, range(op.to, to), true)?;
                if !(there & transfer::probe(cx, range(op.from, from), false)?) {
                    continue;
                }
                if cx.block.copies(cx.warp).bulk.len() >= MOST {
                    finish(cx, false, |_| true)?;
                }
                let copies = cx.block.copies(cx.warp);
                copies.bulk.push(Bulk {
                    lane: lane as u32,
                    group: copies.bulk_committed[lane],
                    source: Source::Shared(from),
                    address: to,
                    bytes,
                    reduce: op.reduce,
                });
            }
            Completion::Barrier(barrier, blocks) => {
                let barrier = access::addresses(cx, barrier)[lane];
                let blocks = blocks.map(|row| cx.file.get::<u32>(row)[lane] & 0xffff);
                fly(op, cx, range(op.to, to), from, (barrier, blocks))?;
            }
        }
    }
    Ok(())
}

/// Issues a copy that an `mbarrier` counts.
fn fly<S: Shadow>(
    op: &Op,
    cx: &mut Cx<'_, S>,
    to: Range,
    from: u64,
    (barrier, blocks): (u64, Option<u32>),
) -> Result<(), Stop> {
    let source = Range {
        space: op.from,
        address: from,
        ..to
    };
    let own = cx.block.rank;
    let ranks: Vec<Option<u32>> = match blocks {
        None => vec![None],
        Some(blocks) => lanes_of(blocks).map(|rank| Some(rank as u32)).collect(),
    };
    let mut bytes = None;
    if op.from == Named::Global {
        let Some(read) = transfer::read(cx, source)? else {
            return Ok(());
        };
        bytes = Some(read);
    } else if !transfer::probe(cx, source, false)? {
        return Ok(());
    }
    for rank in ranks {
        // With a mask of blocks, addresses mean the same place in each of them.
        let place = |address: u64| match rank {
            None => with_rank(address, own),
            Some(rank) => {
                let offset = address & ((1 << window::RANK_SHIFT) - 1);
                u64::from(rank + 1) << window::RANK_SHIFT | offset
            }
        };
        let to = Range {
            address: place(to.address),
            ..to
        };
        let barrier = mbarrier::locate(cx, Named::Shared, place(barrier), to.lane)?;
        if !transfer::probe(cx, to, true)? {
            continue;
        }
        let cluster = cx.grid.first_of(cx.block.index);
        let flight = Flight {
            cluster,
            barrier,
            source: match &bytes {
                Some(bytes) => Source::Bytes(bytes.clone()),
                None => Source::Shared(with_rank(from, own)),
            },
            address: to.address,
            bytes: to.bytes,
            reduce: op.reduce,
        };
        send(cx, flight, to.lane)?;
    }
    cx.worker.stirs += 1;
    Ok(())
}

/// Keeps what is on its way.
pub(super) fn send<S: Shadow>(cx: &mut Cx<'_, S>, flight: Flight, lane: usize) -> Result<(), Stop> {
    if cx.worker.flights.len() >= MOST {
        let text = format!("{MOST} copies are on their way that no test of an mbarrier waited for");
        return Err(cx.stop(Kind::BadBarrier, lane, text));
    }
    cx.worker.flights.push(flight);
    Ok(())
}

/// The same place, named so that it means the same for every block of the cluster.
pub(super) fn with_rank(address: u64, own: u32) -> u64 {
    match address >> window::RANK_SHIFT {
        0 => u64::from(own + 1) << window::RANK_SHIFT | address,
        _ => address,
    }
}

/// What is copied.
fn bytes_of<S: Shadow>(
    cx: &mut Cx<'_, S>,
    source: Source,
    (bytes, lane): (u32, usize),
) -> Result<Option<Vec<u8>>, Stop> {
    match source {
        Source::Bytes(bytes) => Ok(Some(bytes)),
        Source::Shared(address) => transfer::read(
            cx,
            Range {
                space: Named::Shared,
                address,
                bytes,
                lane,
            },
        ),
    }
}

/// Writes what was copied, or what it and what is there make.
fn put<S: Shadow>(
    cx: &mut Cx<'_, S>,
    range: Range,
    mut bytes: Vec<u8>,
    reduce: Option<Reduction>,
) -> Result<(), Stop> {
    if let Some(reduction) = reduce {
        return reduction.apply(cx, range, &mut bytes);
    }
    transfer::write(cx, range, &bytes)
}

/// Lands what an `mbarrier` counts, and gives how many bytes that is. `lane` is one that tests it.
pub(crate) fn land<S: Shadow>(
    cx: &mut Cx<'_, S>,
    barrier: (u32, u64),
    lane: usize,
) -> Result<i64, Stop> {
    let cluster = cx.grid.first_of(cx.block.index);
    let mut total = 0;
    let mut rest = Vec::new();
    for flight in std::mem::take(&mut cx.worker.flights) {
        if (flight.cluster, flight.barrier) != (cluster, barrier) {
            rest.push(flight);
            continue;
        }
        total += i64::from(flight.bytes);
        if let Some(bytes) = bytes_of(cx, flight.source, (flight.bytes, lane))? {
            let range = Range {
                space: Named::Shared,
                address: flight.address,
                bytes: flight.bytes,
                lane,
            };
            put(cx, range, bytes, flight.reduce)?;
        }
    }
    cx.worker.flights = rest;
    Ok(total)
}

/// Reads what the lanes' groups copy but for the last `groups` of them, and unless `read` is enough writes it.
pub(super) fn wait<S: Shadow>(cx: &mut Cx<'_, S>, groups: u32, read: bool) -> Result<(), Stop> {
    let warp = cx.warp;
    let committed = cx.block.copies(warp).bulk_committed;
    let mask = cx.mask;
    finish(cx, read, |copy| {
        let lane = copy.lane as usize;
        mask >> lane & 1 != 0 && copy.group < committed[lane].saturating_sub(groups)
    })
}

/// Lanes leave: what they copy to global memory is written.
pub(crate) fn leave<S: Shadow>(cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    if cx.block.copies(cx.warp).bulk.is_empty() {
        return Ok(());
    }
    let mask = cx.mask;
    finish(cx, false, |copy| mask >> copy.lane & 1 != 0)
}

fn finish<S: Shadow>(
    cx: &mut Cx<'_, S>,
    read: bool,
    which: impl Fn(&Bulk) -> bool,
) -> Result<(), Stop> {
    let warp = cx.warp;
    let mut kept = Vec::new();
    for mut copy in std::mem::take(&mut cx.block.copies(warp).bulk) {
        if !which(&copy) {
            kept.push(copy);
            continue;
        }
        let lane = copy.lane as usize;
        let Some(bytes) = bytes_of(cx, copy.source, (copy.bytes, lane))? else {
            continue;
        };
        if read {
            copy.source = Source::Bytes(bytes);
            kept.push(copy);
            continue;
        }
        let range = Range {
            space: Named::Global,
            address: copy.address,
            bytes: copy.bytes,
            lane,
        };
        put(cx, range, bytes, copy.reduce)?;
    }
    cx.block.copies(warp).bulk = kept;
    Ok(())
}
