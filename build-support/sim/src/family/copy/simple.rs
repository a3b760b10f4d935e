//! `cp.async` (PTX ISA 9.7.9.25.3): 4, 8 or 16 bytes of each thread from global to shared memory.

use gpuk_ptx::{Instruction, Operand, Type};

use super::operands;
use crate::access::{self, Base};
use crate::context::{Cx, Stop};
use crate::copies::{Copy, MOST, Tracked};
use crate::decode::{Decoder, Mods};
use crate::family::matrix::rows::base;
use crate::family::memory::{self, Named};
use crate::finding::Kind;
use crate::register::{LANES, Pred, Src, lanes_of};
use crate::shadow::Shadow;
use crate::transfer::{self, Request, Words};

/// What of the source is copied; the rest of the destination becomes zeros.
#[derive(Debug, Clone, Copy)]
enum Part {
    All,
    /// So many bytes.
    Bytes(Src),
    /// Nothing where the predicate holds.
    Unless(Pred),
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    to: Base,
    from: Base,
    bytes: u8,
    part: Part,
}

pub(super) fn decode(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let all = mods.take("ca");
    (all != mods.take("cg")).then_some(())?;
    let shared = memory::space(&mut mods);
    let global = memory::space(&mut mods);
    (shared == Named::Shared && global == Named::Global).then_some(())?;
    let hint = memory::cache(&mut mods);
    mods.done()?;
    let (to, from, bytes, part) = match operands(i, hint)? {
        [to, from, bytes] => (to, from, bytes, None),
        [to, from, bytes, part] => (to, from, bytes, Some(part)),
        _ => return None,
    };
    let bytes = Decoder::immediate(bytes, Type::U32)?;
    matches!((bytes, all), (4 | 8, true) | (16, _)).then_some(())?;
    let part = match part {
        None => Part::All,
        Some(Operand::Not(_)) => return None,
        Some(part) => match d.src32(part, Type::U32) {
            Some(row) => Part::Bytes(row),
            None => Part::Unless(d.predicate(part)?),
        },
    };
    Some(Op {
        to: base(d, to)?,
        from: base(d, from)?,
        bytes: bytes as u8,
        part,
    })
}

pub(super) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let bytes = u32::from(op.bytes);
    let mask = cx.mask;
    let to = access::addresses(cx, op.to);
    let from = access::addresses(cx, op.from);
    let sizes = match op.part {
        Part::All => [bytes; LANES],
        Part::Bytes(row) => cx.file.get(row),
        Part::Unless(p) => {
            let none = cx.file.predicate(p);
            let mut sizes = [bytes; LANES];
            lanes_of(none).for_each(|lane| sizes[lane] = 0);
            sizes
        }
    };
    if let Some(lane) = lanes_of(mask).find(|lane| sizes[*lane] > bytes) {
        let text = format!(
            "{} bytes of the source are to be copied to {bytes} bytes",
            sizes[lane]
        );
        return Err(cx.stop(Kind::OutOfBounds, lane, text));
    }
    let request = Request {
        space: Named::Shared,
        addresses: &to,
        bytes,
        mask,
        by: None,
    };
    let lands = transfer::check(cx, request)?;
    let words = load(cx, &from, &sizes, bytes)?;
    if cx.block.copies(cx.warp).simple.len() >= MOST {
        some(cx, cx.warp, None, |copy| copy.mask)?;
    }
    let warp = cx.warp;
    let number = cx.block.issued;
    cx.block.issued += 1;
    let copies = cx.block.copies(warp);
    let mut left = lands;
    while left != 0 {
        // Lanes that committed equally many groups.
        let group = copies.committed[left.trailing_zeros() as usize];
        let mask = lanes_of(left)
            .filter(|lane| copies.committed[*lane] == group)
            .fold(0, |mask, lane| mask | 1 << lane);
        left &= !mask;
        copies.simple.push(Copy {
            mask,
            group,
            number,
            addresses: to,
            bytes,
            words,
        });
    }
    Ok(())
}

const fn global(addresses: &[u64; LANES], bytes: u32, mask: u32) -> Request<'_> {
    Request {
        space: Named::Global,
        addresses,
        bytes,
        mask,
        by: None,
    }
}

/// What is copied, with zeros for what of the source is not.
fn load<S: Shadow>(
    cx: &mut Cx<'_, S>,
    from: &[u64; LANES],
    sizes: &[u32; LANES],
    bytes: u32,
) -> Result<Words, Stop> {
    let some = |size: &dyn Fn(u32) -> bool| {
        lanes_of(cx.mask)
            .filter(|lane| size(sizes[*lane]))
            .fold(0, |mask, lane| mask | 1 << lane)
    };
    let whole = some(&|size| size == bytes);
    let partly = some(&|size| size != bytes && size != 0);
    let mut words = [[0; LANES]; 2];
    if whole != 0 {
        words = transfer::load(cx, global(from, bytes, whole))?;
    }
    for lane in lanes_of(partly) {
        for at in 0..sizes[lane] as usize {
            let addresses = from.map(|address| address.wrapping_add(at as u64));
            let [byte, _] = transfer::load(cx, global(&addresses, 1, 1 << lane))?;
            words[at / 8][lane] |= byte[lane] << (8 * (at % 8));
        }
    }
    Ok(words)
}

/// Lands what the lanes' groups hold but for the last `groups` of them; everything for `None`.
pub(super) fn wait<S: Shadow>(cx: &mut Cx<'_, S>, groups: Option<u32>) -> Result<(), Stop> {
    let committed = cx.block.copies(cx.warp).committed;
    let mask = cx.mask;
    some(cx, cx.warp, None, |copy| {
        lanes_of(copy.mask & mask)
            .filter(|lane| match groups {
                Some(groups) => copy.group < committed[*lane].saturating_sub(groups),
                None => true,
            })
            .fold(0, |mask, lane| mask | 1 << lane)
    })
}

/// Lands what an `mbarrier` of the block tracks. `by` is a lane that tests it.
pub(crate) fn land_tracked<S: Shadow>(
    cx: &mut Cx<'_, S>,
    offset: u64,
    by: usize,
) -> Result<(), Stop> {
    let mut at = 0;
    while let Some(tracked) = cx.block.tracked.get(at).copied() {
        if tracked.offset != offset {
            at += 1;
            continue;
        }
        cx.block.tracked.remove(at);
        let Tracked {
            warp, mask, before, ..
        } = tracked;
        some(cx, warp, Some(by), |copy| match copy.number < before {
            true => copy.mask & mask,
            false => 0,
        })?;
    }
    Ok(())
}

/// Lands the copies of a warp for the lanes that `which` gives, in the order in which they were issued.
fn some<S: Shadow>(
    cx: &mut Cx<'_, S>,
    warp: u32,
    by: Option<usize>,
    which: impl Fn(&Copy) -> u32,
) -> Result<(), Stop> {
    let mut copies = std::mem::take(&mut cx.block.copies(warp).simple);
    for copy in &mut copies {
        let mask = which(copy);
        if mask == 0 {
            continue;
        }
        copy.mask &= !mask;
        let request = Request {
            space: Named::Shared,
            addresses: &copy.addresses,
            bytes: copy.bytes,
            mask,
            by,
        };
        transfer::store(cx, request, &copy.words)?;
    }
    copies.retain(|copy| copy.mask != 0);
    cx.block.copies(warp).simple = copies;
    Ok(())
}
