//! Instructions in which the lanes of a warp work together (PTX ISA 9.7.9.6 and 9.7.13).

use gpuk_ptx::{Instruction, Operand, Type};

use crate::context::{Cx, Stop};
use crate::decode::{Decoder, Mods};
use crate::finding::Kind;
use crate::float::narrow::{NAN32, canonical};
use crate::register::{Dst, File, LANES, Pred, Src, each, lanes_of};
use crate::shadow::Shadow;

/// Whose value a lane gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What a vote counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// What a reduction computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduce {
    Add,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
    MinF { abs: bool, nan: bool },
    MaxF { abs: bool, nan: bool },
}

/// What the lanes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Shuffle(Shuffle),
    Vote(Vote),
    MatchAny {
        wide: bool,
    },
    MatchAll {
        wide: bool,
    },
    Reduce(Reduce),
    ActiveMask,
    Elect,
    /// `bar.warp.sync`.
    Meet,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    pub(crate) what: What,
    /// Where the value goes; a scratch row if there is none.
    d: Dst,
    /// Where the predicate goes.
    p: Option<Dst>,
    a: Src,
    b: Src,
    c: Src,
    q: Pred,
    /// The member mask of a `.sync` instruction.
    members: Option<Src>,
}

/// What each lane brings.
#[derive(Debug, Clone)]
pub(crate) struct Captured {
    /// Values; predicates as 0 and 1.
    pub(crate) a: [u64; LANES],
    pub(crate) b: [u32; LANES],
    pub(crate) c: [u32; LANES],
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    match &*i.opcode {
        "shfl" => shuffle(i, d, mods),
        "vote" => vote(i, d, mods),
        "match" => matching(i, d, mods),
        "redux" => reduce(i, d, mods),
        "activemask" => {
            (mods.ty()? == Type::B32).then_some(())?;
            mods.done()?;
            let [target] = &*i.operands else { return None };
            let target = d.dst32(target)?;
            Some(plain(What::ActiveMask, target, d))
        }
        "elect" => {
            mods.take("sync").then_some(())?;
            mods.done()?;
            let [target, members] = &*i.operands else {
                return None;
            };
            let (target, p) = pair(target);
            let target = d.dst32(target)?;
            Some(Op {
                p: p.map(|p| d.dst_predicate(p)).unwrap_or_default(),
                members: Some(d.src32(members, Type::B32)?),
                ..plain(What::Elect, target, d)
            })
        }
        "bar" => {
            (mods.take("warp") && mods.take("sync")).then_some(())?;
            mods.done()?;
            let [members] = &*i.operands else {
                return None;
            };
            let target = d.scratch32();
            Some(Op {
                members: Some(d.src32(members, Type::B32)?),
                ..plain(What::Meet, target, d)
            })
        }
        _ => None,
    }
}

/// An instruction without sources.
fn plain(what: What, target: Dst, d: &mut Decoder<'_>) -> Op {
    let zero = d.constant32(0);
    Op {
        what,
        d: target,
        p: None,
        a: zero,
        b: zero,
        c: zero,
        q: Pred::TRUE,
        members: None,
    }
}

/// `d|p`.
fn pair(operand: &Operand) -> (&Operand, Option<&Operand>) {
    match operand {
        Operand::Pair(d, p) => (d, Some(p)),
        d => (d, None),
    }
}

fn shuffle(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let sync = mods.take("sync");
    let mode = mods.read(|text| {
        Some(match text {
            "up" => Shuffle::Up,
            "down" => Shuffle::Down,
            "bfly" => Shuffle::Butterfly,
            "idx" => Shuffle::Index,
            _ => return None,
        })
    })?;
    (mods.ty()? == Type::B32).then_some(())?;
    mods.done()?;
    let (target, a, b, c, members) = match (&*i.operands, sync) {
        ([target, a, b, c], false) => (target, a, b, c, None),
        ([target, a, b, c, members], true) => (target, a, b, c, Some(members)),
        _ => return None,
    };
    let (target, p) = pair(target);
    let target = d.dst32(target)?;
    let p = match p {
        Some(p) => Some(d.dst_predicate(p)?),
        None => None,
    };
    let members = match members {
        Some(members) => Some(d.src32(members, Type::B32)?),
        None => None,
    };
    Some(Op {
        p,
        a: d.src32(a, Type::B32)?,
        b: d.src32(b, Type::B32)?,
        c: d.src32(c, Type::B32)?,
        members,
        ..plain(What::Shuffle(mode), target, d)
    })
}

fn vote(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let sync = mods.take("sync");
    let mode = mods.read(|text| {
        Some(match text {
            "all" => Vote::All,
            "any" => Vote::Any,
            "uni" => Vote::Uniform,
            "ballot" => Vote::Ballot,
            _ => return None,
        })
    })?;
    let ty = mods.ty()?;
    mods.done()?;
    let (target, a, members) = match (&*i.operands, sync) {
        ([target, a], false) => (target, a, None),
        ([target, a, members], true) => (target, a, Some(d.src32(members, Type::B32)?)),
        _ => return None,
    };
    let (row, p) = match (mode, ty) {
        (Vote::Ballot, Type::B32) => (d.dst32(target)?, None),
        (Vote::Ballot, _) => return None,
        (_, Type::Pred) => (d.scratch32(), Some(d.dst_predicate(target)?)),
        _ => return None,
    };
    Some(Op {
        p,
        q: d.predicate(a)?,
        members,
        ..plain(What::Vote(mode), row, d)
    })
}

fn matching(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let any = mods.take("any");
    let all = mods.take("all");
    (mods.take("sync") && any != all).then_some(())?;
    let ty = mods.ty()?;
    mods.done()?;
    matches!(ty, Type::B32 | Type::B64).then_some(())?;
    let wide = ty == Type::B64;
    let [target, a, members] = &*i.operands else {
        return None;
    };
    let (target, p) = pair(target);
    let target = d.dst32(target)?;
    let p = match p {
        Some(p) => Some(d.dst_predicate(p)?),
        None => None,
    };
    (p.is_none() || all).then_some(())?;
    let what = if any {
        What::MatchAny { wide }
    } else {
        What::MatchAll { wide }
    };
    Some(Op {
        p,
        a: d.src(a, ty)?,
        members: Some(d.src32(members, Type::B32)?),
        ..plain(what, target, d)
    })
}

fn reduce(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    mods.take("sync").then_some(())?;
    let name = mods.read(|text| {
        matches!(text, "add" | "min" | "max" | "and" | "or" | "xor").then(|| text.to_owned())
    })?;
    let abs = mods.take("abs");
    let nan = mods.take("NaN");
    let ty = mods.ty()?;
    mods.done()?;
    let what = match (&*name, ty) {
        ("min", Type::F32) => Reduce::MinF { abs, nan },
        ("max", Type::F32) => Reduce::MaxF { abs, nan },
        _ if abs || nan => return None,
        ("add", Type::U32 | Type::S32) => Reduce::Add,
        ("min", Type::U32) => Reduce::MinU,
        ("max", Type::U32) => Reduce::MaxU,
        ("min", Type::S32) => Reduce::MinS,
        ("max", Type::S32) => Reduce::MaxS,
        ("and", Type::B32) => Reduce::And,
        ("or", Type::B32) => Reduce::Or,
        ("xor", Type::B32) => Reduce::Xor,
        _ => return None,
    };
    let [target, a, members] = &*i.operands else {
        return None;
    };
    let target = d.dst32(target)?;
    Some(Op {
        a: d.src32(a, ty)?,
        members: Some(d.src32(members, Type::B32)?),
        ..plain(What::Reduce(what), target, d)
    })
}

/// The member mask of every lane; `None` for an instruction that takes whoever is there.
pub(crate) fn members(op: &Op, file: &File<'_>) -> Option<[u32; LANES]> {
    op.members.map(|row| file.get(row))
}

/// What the lanes bring.
pub(crate) fn capture(op: &Op, file: &File<'_>) -> Captured {
    let a = match op.what {
        What::MatchAny { wide: true } | What::MatchAll { wide: true } => file.get::<u64>(op.a),
        What::Vote(_) => {
            let q = file.predicate(op.q);
            let mut out = [0; LANES];
            for lane in 0..LANES {
                out[lane] = u64::from(q >> lane & 1);
            }
            out
        }
        _ => each(&file.get::<u32>(op.a), u64::from),
    };
    Captured {
        a,
        b: file.get(op.b),
        c: file.get(op.c),
    }
}

/// Executes the instruction if all lanes that it names are here; `group` has all lanes at this place. Whether
/// it did.
#[inline]
pub(crate) fn execute<S: Shadow>(op: &Op, group: u32, cx: &mut Cx<'_, S>) -> Result<bool, Stop> {
    let mask = cx.mask;
    let Some(members) = members(op, &cx.file) else {
        let here = capture(op, &cx.file);
        // What is active is what is here, whatever the guard.
        let _ = group;
        finish(op, &mut cx.file, mask, mask, &here);
        return Ok(true);
    };
    if let Some(lane) = lanes_of(mask).find(|lane| members[*lane] >> lane & 1 == 0) {
        let text = format!(
            "member mask {:#010x} does not name the lane {lane} that executes it",
            members[lane]
        );
        return Err(cx.stop(Kind::BadMask, lane, text));
    }
    let mut left = mask;
    while left != 0 {
        let named = members[left.trailing_zeros() as usize];
        if named & cx.live & !mask != 0 {
            return Ok(false);
        }
        left &= !named;
    }
    let here = capture(op, &cx.file);
    let mut left = mask;
    while left != 0 {
        let named = members[left.trailing_zeros() as usize];
        let part = same(&members, named, mask);
        finish(op, &mut cx.file, part, part, &here);
        if S::ACTIVE {
            let shadow = cx.grid.shadow;
            shadow.warp_sync(&mut cx.block.shadow, cx.warp, part, cx.live);
        }
        left &= !part;
    }
    Ok(true)
}

/// The lanes of `mask` that have the member mask `named`.
pub(crate) fn same(members: &[u32; LANES], named: u32, mask: u32) -> u32 {
    let mut part = 0;
    for lane in 0..LANES {
        part |= u32::from(members[lane] == named) << lane;
    }
    part & mask
}

/// Gives the lanes in `mask` what comes of what the lanes in `all` brought.
pub(crate) fn finish(op: &Op, file: &mut File<'_>, mask: u32, all: u32, brought: &Captured) {
    match op.what {
        What::Shuffle(mode) => shuffled(op, mode, file, mask, brought),
        What::Vote(vote) => {
            let yes = ones(&brought.a) & all;
            let result = match vote {
                Vote::Ballot => {
                    file.put(op.d, &[yes; LANES], mask);
                    return;
                }
                Vote::All => yes == all,
                Vote::Any => yes != 0,
                Vote::Uniform => yes == all || yes == 0,
            };
            set(op, file, if result { u32::MAX } else { 0 }, mask);
        }
        What::MatchAny { .. } => {
            let mut out = [0_u32; LANES];
            for lane in lanes_of(mask) {
                let equal = lanes_of(all).filter(|other| brought.a[*other] == brought.a[lane]);
                out[lane] = equal.fold(0, |equal, other| equal | 1 << other);
            }
            file.put(op.d, &out, mask);
        }
        What::MatchAll { .. } => {
            let first = brought.a[all.trailing_zeros() as usize % LANES];
            let equal = lanes_of(all).all(|lane| brought.a[lane] == first);
            file.put(op.d, &[if equal { all } else { 0 }; LANES], mask);
            set(op, file, if equal { u32::MAX } else { 0 }, mask);
        }
        What::Reduce(reduce) => {
            let mut values = lanes_of(all).map(|lane| brought.a[lane] as u32);
            let first = values.next().unwrap_or(0);
            let result = match reduce {
                Reduce::MinF { .. } | Reduce::MaxF { .. } => reduce_float(reduce, all, brought),
                _ => values.fold(first, |a, b| reduced(reduce, a, b)),
            };
            file.put(op.d, &[result; LANES], mask);
        }
        What::ActiveMask => file.put(op.d, &[all; LANES], mask),
        What::Elect => {
            let leader = all.trailing_zeros();
            file.put(op.d, &[leader; LANES], mask);
            set(op, file, 1 << (leader % 32), mask);
        }
        What::Meet => {}
    }
}

fn set(op: &Op, file: &mut File<'_>, values: u32, mask: u32) {
    if let Some(p) = op.p {
        file.put_predicate(p, values, mask);
    }
}

fn ones(row: &[u64; LANES]) -> u32 {
    let mut bits = 0;
    for lane in 0..LANES {
        bits |= ((row[lane] & 1) as u32) << lane;
    }
    bits
}

/// PTX ISA 9.7.9.6, the pseudocode of `shfl.sync`.
fn shuffled(op: &Op, mode: Shuffle, file: &mut File<'_>, mask: u32, brought: &Captured) {
    let mut out = [0; LANES];
    let mut valid = 0;
    for lane in 0..LANES as u32 {
        let at = lane as usize;
        let amount = brought.b[at] & 31;
        let clamp = brought.c[at] & 31;
        let segment = brought.c[at] >> 8 & 31;
        let high = lane & segment | clamp & !segment;
        let low = lane & segment;
        let (source, inside) = match mode {
            Shuffle::Up => {
                let source = lane.wrapping_sub(amount);
                (source, source as i32 >= high as i32)
            }
            Shuffle::Down => (lane + amount, lane + amount <= high),
            Shuffle::Butterfly => (lane ^ amount, lane ^ amount <= high),
            Shuffle::Index => {
                let source = low | amount & !segment;
                (source, source <= high)
            }
        };
        let source = if inside { source } else { lane };
        out[at] = brought.a[source as usize & 31] as u32;
        valid |= u32::from(inside) << lane;
    }
    file.put(op.d, &out, mask);
    set(op, file, valid, mask);
}

fn reduced(reduce: Reduce, a: u32, b: u32) -> u32 {
    match reduce {
        Reduce::Add => a.wrapping_add(b),
        Reduce::MinU => a.min(b),
        Reduce::MaxU => a.max(b),
        Reduce::MinS => (a as i32).min(b as i32) as u32,
        Reduce::MaxS => (a as i32).max(b as i32) as u32,
        Reduce::And => a & b,
        Reduce::Or => a | b,
        _ => a ^ b,
    }
}

fn reduce_float(reduce: Reduce, all: u32, brought: &Captured) -> u32 {
    let (max, abs, nan) = match reduce {
        Reduce::MaxF { abs, nan } => (true, abs, nan),
        Reduce::MinF { abs, nan } => (false, abs, nan),
        _ => return 0,
    };
    let mut best: Option<f32> = None;
    let mut any = false;
    for lane in lanes_of(all) {
        let value = f32::from_bits(brought.a[lane] as u32);
        let value = if abs { value.abs() } else { value };
        any |= value.is_nan();
        if value.is_nan() {
            continue;
        }
        best = Some(match best {
            Some(best) if (best.total_cmp(&value).is_lt()) != max => best,
            _ => value,
        });
    }
    match best {
        Some(_) if any && nan => NAN32,
        Some(best) => canonical(best),
        None => NAN32,
    }
}
