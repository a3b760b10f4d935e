//! Moving between registers, and addresses between spaces (PTX ISA 9.7.9: `mov`, `cvta`, `isspacep`).

use gpuk_ptx::{Instruction, Operand, Type};

use crate::context::Cx;
use crate::decode::{Decoder, Mods};
use crate::memory::window;
use crate::program::Pooled;
use crate::register::{Dst, LANES, Pred, Src, each};
use crate::shadow::Shadow;

/// A range of generic addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Window {
    Shared,
    Local,
    Param,
}

impl Window {
    const fn start(self) -> u64 {
        match self {
            Self::Shared => window::SHARED,
            Self::Local => window::LOCAL,
            Self::Param => window::PARAM,
        }
    }
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Copy32 {
        d: Dst,
        a: Src,
    },
    /// Into a register of 16 bits.
    Copy16 {
        d: Dst,
        a: Src,
    },
    Copy64 {
        d: Dst,
        a: Src,
    },
    CopyPredicate {
        d: Dst,
        a: Pred,
    },
    /// Parts of `bits` each, lowest first, into one row of 32 bits.
    Pack32 {
        d: Dst,
        parts: Pooled,
        bits: u8,
    },
    /// Parts of `bits` each, lowest first, into one row of 64 bits.
    Pack64 {
        d: Dst,
        parts: Pooled,
        bits: u8,
    },
    /// The parts of a row of 32 bits.
    Unpack32 {
        a: Src,
        parts: Pooled,
        bits: u8,
    },
    /// The parts of a row of 64 bits.
    Unpack64 {
        a: Src,
        parts: Pooled,
        bits: u8,
    },
    /// The address of a variable in the frame, in local memory.
    FrameAddress {
        d: Dst,
        wide: bool,
        offset: i32,
    },
    /// The address of a shared variable, where the kernel put it.
    SharedAddress {
        d: Dst,
        wide: bool,
        variable: u32,
        offset: i32,
    },
    /// An address in a window to a generic one.
    ToGeneric {
        d: Dst,
        a: Src,
        window: Window,
    },
    /// A generic address to one in a window.
    FromGeneric {
        d: Dst,
        a: Src,
        window: Window,
    },
    /// Whether a generic address lies in a window.
    IsIn {
        p: Dst,
        a: Src,
        window: Window,
    },
    /// Whether a generic address lies in none, so in global memory, or in constant memory among it.
    IsGlobal {
        p: Dst,
        a: Src,
        constant: bool,
    },
    /// A shared address of another block of the cluster.
    MapA {
        d: Dst,
        wide: bool,
        generic: bool,
        a: Src,
        rank: Src,
    },
    /// The rank of the block that a shared address belongs to.
    Rank {
        d: Dst,
        wide: bool,
        generic: bool,
        a: Src,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    match &*i.opcode {
        "mov" => {
            let ty = mods.ty()?;
            mods.done()?;
            let [target, source] = &*i.operands else {
                return None;
            };
            mov(ty, target, source, d)
        }
        "cvta" => cvta(i, d, mods),
        "isspacep" => {
            let [p, a] = &*i.operands else { return None };
            let space = mods.read(|text| Some(text.to_owned()))?;
            mods.done()?;
            let a = d.src64(a, Type::U64)?;
            let p = d.dst_predicate(p)?;
            let constant = space == "const";
            if constant || space == "global" {
                return Some(Op::IsGlobal { p, a, constant });
            }
            let window = window_of(&space)?;
            Some(Op::IsIn { p, a, window })
        }
        "mapa" | "getctarank" => cluster(i, d, mods),
        // How accesses are cached changes nothing here.
        "createpolicy" => {
            let target = d.dst64(i.operands.first()?)?;
            let a = d.constant64(0);
            Some(Op::Copy64 { d: target, a })
        }
        _ => None,
    }
}

fn window_of(space: &str) -> Option<Window> {
    Some(match space {
        "shared" | "shared::cta" | "shared::cluster" => Window::Shared,
        "local" => Window::Local,
        "param" | "param::entry" => Window::Param,
        _ => return None,
    })
}

fn mov(ty: Type, target: &Operand, source: &Operand, d: &mut Decoder<'_>) -> Option<Op> {
    let is_vector = |operand: &Operand| matches!(operand, Operand::Vector(_));
    if is_vector(target) || is_vector(source) {
        return pack(ty, target, source, d);
    }
    Some(match ty.bits() {
        1 => Op::CopyPredicate {
            a: d.predicate(source)?,
            d: d.dst_predicate(target)?,
        },
        8 | 16 => Op::Copy16 {
            a: d.src32(source, ty)?,
            d: d.dst32(target)?,
        },
        32 => Op::Copy32 {
            a: d.src32(source, ty)?,
            d: d.dst32(target)?,
        },
        64 => Op::Copy64 {
            a: d.src64(source, ty)?,
            d: d.dst64(target)?,
        },
        _ => {
            let (a, t) = (d.row128(source)?, d.row128(target)?);
            d.emit_guarded(crate::program::Op::Move(Op::Copy64 { d: t, a: a.src() }));
            Op::Copy64 {
                d: Dst(t.0 + 1),
                a: Src(a.0 + 1),
            }
        }
    })
}

/// `mov` with a vector on one side.
fn pack(ty: Type, target: &Operand, source: &Operand, d: &mut Decoder<'_>) -> Option<Op> {
    let whole = ty.bits();
    let (vector, unpack) = match (target, source) {
        (Operand::Vector(parts), _) => (parts, true),
        (_, Operand::Vector(parts)) => (parts, false),
        _ => return None,
    };
    let bits = whole / vector.len() as u64;
    (matches!(vector.len(), 2 | 4 | 8) && bits >= 8).then_some(())?;
    let part = match bits {
        8 => Type::B8,
        16 => Type::B16,
        32 => Type::B32,
        64 => Type::B64,
        _ => return None,
    };
    if whole == 128 {
        // Two parts of 64 bits each, or four of 32.
        return pack128(target, source, vector, part, unpack, d);
    }
    let mut rows = Vec::new();
    for element in vector {
        rows.push(if unpack {
            d.dst32(element)?.0
        } else {
            d.src32(element, part)?.0
        });
    }
    let parts = d.pool(&rows)?;
    let bits = bits as u8;
    Some(match (unpack, whole) {
        (true, 64) => Op::Unpack64 {
            a: d.src64(source, ty)?,
            parts,
            bits,
        },
        (true, _) => Op::Unpack32 {
            a: d.src32(source, ty)?,
            parts,
            bits,
        },
        (false, 64) => Op::Pack64 {
            d: d.dst64(target)?,
            parts,
            bits,
        },
        (false, _) => Op::Pack32 {
            d: d.dst32(target)?,
            parts,
            bits,
        },
    })
}

fn pack128(
    target: &Operand,
    source: &Operand,
    vector: &[Operand],
    part: Type,
    unpack: bool,
    d: &mut Decoder<'_>,
) -> Option<Op> {
    let whole = d.row128(if unpack { source } else { target })?;
    let half = vector.len() / 2;
    let mut ops = Vec::new();
    for (at, elements) in vector.chunks(half).enumerate() {
        let row = Dst(whole.0 + at as u32);
        let op = match (elements, unpack) {
            ([element], true) => Op::Copy64 {
                d: d.dst64(element)?,
                a: row.src(),
            },
            ([element], false) => Op::Copy64 {
                d: row,
                a: d.src64(element, Type::B64)?,
            },
            (elements, true) => {
                let rows: Option<Vec<u32>> = elements.iter().map(|e| Some(d.dst32(e)?.0)).collect();
                Op::Unpack64 {
                    a: row.src(),
                    parts: d.pool(&rows?)?,
                    bits: part.bits() as u8,
                }
            }
            (elements, false) => {
                let rows: Option<Vec<u32>> =
                    elements.iter().map(|e| Some(d.src32(e, part)?.0)).collect();
                Op::Pack64 {
                    d: row,
                    parts: d.pool(&rows?)?,
                    bits: part.bits() as u8,
                }
            }
        };
        ops.push(op);
    }
    let last = ops.pop()?;
    for op in ops {
        d.emit_guarded(crate::program::Op::Move(op));
    }
    Some(last)
}

fn cvta(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let to = mods.take("to");
    let space = mods.read(|text| match text {
        "global" | "const" => Some(None),
        text => window_of(text).map(Some),
    })?;
    (mods.ty()? == Type::U64).then_some(())?;
    mods.done()?;
    let [target, a] = &*i.operands else {
        return None;
    };
    let a = d.src64(a, Type::U64)?;
    let d = d.dst64(target)?;
    Some(match (space, to) {
        (None, _) => Op::Copy64 { d, a },
        (Some(window), false) => Op::ToGeneric { d, a, window },
        (Some(window), true) => Op::FromGeneric { d, a, window },
    })
}

fn cluster(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let generic = !mods.take("shared::cluster");
    let ty = mods.ty()?;
    mods.done()?;
    let wide = match ty {
        Type::U32 if !generic => false,
        Type::U64 => true,
        _ => return None,
    };
    match (&*i.opcode, &*i.operands) {
        ("mapa", [target, a, rank]) => Some(Op::MapA {
            wide,
            generic,
            a: d.src(a, ty)?,
            rank: d.src32(rank, Type::U32)?,
            d: d.dst(target, ty)?,
        }),
        ("getctarank", [target, a]) => Some(Op::Rank {
            wide,
            generic,
            a: d.src(a, ty)?,
            d: d.dst32(target)?,
        }),
        _ => None,
    }
}

#[inline]
pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) {
    let mask = cx.mask;
    let f = &mut cx.file;
    match *op {
        Op::Copy32 { d, a } => {
            let row: [u32; LANES] = f.get(a);
            f.put(d, &row, mask);
        }
        Op::Copy16 { d, a } => f.map1(mask, d, a, |a: u32| a & 0xffff),
        Op::Copy64 { d, a } => {
            let row: [u64; LANES] = f.get(a);
            f.put(d, &row, mask);
        }
        Op::CopyPredicate { d, a } => {
            let row = f.predicate(a);
            f.put_predicate(d, row, mask);
        }
        Op::Pack32 { d, parts, bits } => {
            let mut out = [0; LANES];
            for (at, part) in cx.code.pooled(parts).iter().enumerate() {
                let row: [u32; LANES] = f.get(Src(*part));
                let (shift, keep) = (at as u32 * u32::from(bits), ones(bits) as u32);
                for lane in 0..LANES {
                    out[lane] |= (row[lane] & keep) << shift;
                }
            }
            f.put(d, &out, mask);
        }
        Op::Pack64 { d, parts, bits } => {
            let mut out = [0; LANES];
            for (at, part) in cx.code.pooled(parts).iter().enumerate() {
                let row: [u32; LANES] = f.get(Src(*part));
                let (shift, keep) = (at as u32 * u32::from(bits), ones(bits));
                for lane in 0..LANES {
                    out[lane] |= (u64::from(row[lane]) & keep) << shift;
                }
            }
            f.put(d, &out, mask);
        }
        Op::Unpack32 { a, parts, bits } => {
            let row: [u32; LANES] = f.get(a);
            for (at, part) in cx.code.pooled(parts).iter().enumerate() {
                let (shift, keep) = (at as u32 * u32::from(bits), ones(bits) as u32);
                f.put(
                    Dst(*part),
                    &each(&row, |value: u32| value >> shift & keep),
                    mask,
                );
            }
        }
        Op::Unpack64 { a, parts, bits } => {
            let row: [u64; LANES] = f.get(a);
            for (at, part) in cx.code.pooled(parts).iter().enumerate() {
                let (shift, keep) = (at as u32 * u32::from(bits), ones(bits));
                let out = each(&row, |value: u64| (value >> shift & keep) as u32);
                f.put(Dst(*part), &out, mask);
            }
        }
        Op::FrameAddress { d, wide, offset } => {
            let address = cx.frame.wrapping_add_signed(offset);
            if wide {
                f.put(d, &[u64::from(address); LANES], mask);
            } else {
                f.put(d, &[address; LANES], mask);
            }
        }
        Op::SharedAddress {
            d,
            wide,
            variable,
            offset,
        } => {
            let start = cx.grid.entry.shared_offset(variable);
            let address = start.wrapping_add_signed(offset);
            if wide {
                f.put(d, &[u64::from(address); LANES], mask);
            } else {
                f.put(d, &[address; LANES], mask);
            }
        }
        Op::ToGeneric { d, a, window } => {
            let start = window.start();
            f.map1(mask, d, a, |a: u64| a.wrapping_add(start));
        }
        Op::FromGeneric { d, a, window } => {
            let start = window.start();
            f.map1(mask, d, a, |a: u64| a.wrapping_sub(start));
        }
        Op::IsIn { p, a, window } => {
            let start = window.start();
            let inside = f.test2((a, a), |a: u64, _: u64| {
                a.wrapping_sub(start) < window::SIZE
            });
            f.put_predicate(p, inside, mask);
        }
        Op::IsGlobal { p, a, constant } => {
            let view = cx.view;
            let inside = f.test2((a, a), |a: u64, _: u64| {
                let found = view.find(a).and_then(|index| view.get(index));
                let is_constant = found.is_some_and(|found| !found.is_writable());
                a.wrapping_sub(window::SHARED) >= 3 * window::SIZE && is_constant == constant
            });
            f.put_predicate(p, inside, mask);
        }
        Op::MapA {
            d,
            wide,
            generic,
            a,
            rank,
        } => {
            let base = if generic { window::SHARED } else { 0 };
            let map = |a: u64, rank: u32| {
                let offset = a & ((1 << window::RANK_SHIFT) - 1);
                base + (u64::from(rank + 1) << window::RANK_SHIFT | offset)
            };
            if wide {
                f.map2(mask, d, (a, rank), map);
            } else {
                f.map2(mask, d, (a, rank), |a: u32, rank| {
                    map(a.into(), rank) as u32
                });
            }
        }
        Op::Rank {
            d,
            wide,
            generic,
            a,
        } => {
            let own = cx.block.rank;
            let base = if generic { window::SHARED } else { 0 };
            let rank = |a: u64| match (a.wrapping_sub(base) >> window::RANK_SHIFT) as u32 {
                0 => own,
                rank => rank - 1,
            };
            if wide {
                f.map1(mask, d, a, rank);
            } else {
                f.map1(mask, d, a, |a: u32| rank(a.into()));
            }
        }
    }
}

const fn ones(bits: u8) -> u64 {
    u64::MAX >> (64 - bits as u32)
}
