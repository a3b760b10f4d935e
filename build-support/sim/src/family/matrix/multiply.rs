//! `mma` and `wmma.mma` (PTX ISA 9.7.15.4 and 9.7.15.5): `d = a × b + c`.
//!
//! Both become products of 16 × 8 or 8 × 8 elements. `wmma` fragments are held as an H200 holds them, which
//! is how `mma` has them: m16n16 is two products side by side, m32n8 two one above the other, and m8n32 is
//! m32n8 with the factors exchanged.

use gpuk_ptx::{Instruction, Operand, Type};

use super::sum::{self, COLUMNS, DEPTH, Factor, ROWS, Sum};
use super::{double, eight, gather, integer};
use crate::context::Cx;
use crate::decode::{Decoder, Mods};
use crate::float::narrow::{canonical, f16_to_f32, f32_to_f16};
use crate::program::Pooled;
use crate::register::File;
use crate::shadow::Shadow;
use crate::wide::wide;

/// Whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    /// 8 or 4.
    pub(super) bits: u8,
    pub(super) signed: bool,
}

/// A format of 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Eight {
    E4m3,
    E5m2,
}

/// A format as a modifier names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Factor(Factor),
    Eight(Eight),
    F32,
    F64,
    Whole(Whole),
    Bits,
    S32,
}

impl Named {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let whole = |bits, signed| Self::Whole(Whole { bits, signed });
        Some(match name {
            "f16" => Self::Factor(Factor::F16),
            "bf16" => Self::Factor(Factor::Bf16),
            "tf32" => Self::Factor(Factor::Tf32),
            "e4m3" => Self::Eight(Eight::E4m3),
            "e5m2" => Self::Eight(Eight::E5m2),
            "f32" => Self::F32,
            "f64" => Self::F64,
            "s8" => whole(8, true),
            "u8" => whole(8, false),
            "s4" => whole(4, true),
            "u4" => whole(4, false),
            "b1" => Self::Bits,
            "s32" => Self::S32,
            _ => return None,
        })
    }

    pub(super) const fn sum(self) -> Option<Sum> {
        match self {
            Self::F32 => Some(Sum::F32),
            Self::Factor(Factor::F16) => Some(Sum::F16),
            _ => None,
        }
    }

    /// Bits of an element of a factor in a register; 64 for `f64`.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Self::Factor(Factor::Tf32) | Self::F32 | Self::S32 => 32,
            Self::Factor(_) => 16,
            Self::Eight(_) => 8,
            Self::F64 => 64,
            Self::Whole(whole) => whole.bits as u32,
            Self::Bits => 1,
        }
    }
}

/// What is multiplied and summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Float {
        a: Factor,
        b: Factor,
    },
    Eight {
        a: Eight,
        b: Eight,
    },
    Double,
    Whole {
        a: Whole,
        b: Whole,
        saturate: bool,
    },
    /// Bits that are counted after `and`, else after `xor`.
    Bits {
        and: bool,
    },
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    numbers: Numbers,
    /// What is added to and what comes out; of whole numbers and `f64` there is one kind.
    c: Sum,
    d: Sum,
    /// 2 for products of 16 rows, 1 for those of 8.
    halves: u8,
    /// Products that the instruction consists of.
    products: u8,
    /// Whether these have the same `a` and each its own `b`, else the other way round.
    beside: bool,
    /// Registers of a product's `a`, `b`, `c` and `d`.
    counts: [u8; 4],
    /// The registers: all of `a`, of `b`, of `c`, of `d`.
    rows: Pooled,
}

/// `m16n8k16`.
pub(super) fn shape(mods: &mut Mods<'_>) -> Option<[u32; 3]> {
    mods.read(|text| {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
    })
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let mut mods = Mods::new(i);
    let whole = match &*i.opcode {
        "mma" => false,
        "wmma" => mods.take("mma").then_some(true)?,
        _ => return None,
    };
    (mods.take("sync") && mods.take("aligned")).then_some(())?;
    let [m, n, k] = shape(&mut mods)?;
    let mut named = Vec::new();
    while let Some(one) = mods.read(Named::from_name) {
        named.push(one);
    }
    let f16 = Named::Factor(Factor::F16);
    let [to, a, b, from] = match *named {
        [to, a, b, from] => [to, a, b, from],
        // Of the oldest form only the sums' formats are named.
        [to, from] if whole => [to, f16, f16, from],
        _ => return None,
    };
    let saturate = mods.take("satfinite");
    mods.take("rn");
    let (and, xor) = (mods.take("and"), mods.take("xor"));
    let counts_bits = mods.take("popc");
    (counts_bits == (a == Named::Bits) && (and | xor) == counts_bits).then_some(())?;
    let columns = mods.take("col");
    let rows = mods.take("row");
    if !whole {
        // What other layouts `mma.m8n8k4` has belongs to another family.
        (rows && columns).then_some(())?;
        (position(i, "row") < position(i, "col")).then_some(())?;
    }
    while whole && (mods.take("col") || mods.take("row")) {}
    mods.done()?;
    let numbers = match (to, a, b, from) {
        (Named::S32, Named::Whole(a), Named::Whole(b), Named::S32) if a.bits == b.bits => {
            Numbers::Whole { a, b, saturate }
        }
        (Named::S32, Named::Bits, Named::Bits, Named::S32) if !saturate => Numbers::Bits { and },
        (Named::F64, Named::F64, Named::F64, Named::F64) if !saturate => Numbers::Double,
        _ => {
            // `.satfinite` of `f16` is of no effect on what is not too large, and no more to be had.
            (!saturate && to.sum().is_some() && from.sum().is_some()).then_some(())?;
            match (a, b) {
                (Named::Eight(a), Named::Eight(b)) if to == from => Numbers::Eight { a, b },
                (Named::Factor(Factor::F16), Named::Factor(Factor::F16)) => Numbers::Float {
                    a: Factor::F16,
                    b: Factor::F16,
                },
                (Named::Factor(x), Named::Factor(y))
                    if x == y && to == from && to == Named::F32 =>
                {
                    Numbers::Float { a: x, b: x }
                }
                _ => return None,
            }
        }
    };
    let bits = a.bits();
    let [a, b, c, target] = &*i.operands else {
        return None;
    };
    let (mut a, mut b, mut c, mut target) = {
        // The destination stands first.
        let (target, a, b, c) = (a, b, c, target);
        let wide = numbers == Numbers::Double;
        (
            sources(d, a, wide)?,
            sources(d, b, wide)?,
            sources(d, c, wide)?,
            targets(d, target, wide)?,
        )
    };
    // Registers along the summed dimension: four lanes hold one each.
    let chunks = (k * bits).checked_div(if bits == 64 { 256 } else { 128 })?;
    (chunks > 0 && k * bits == chunks * if bits == 64 { 256 } else { 128 }).then_some(())?;
    let sum = |named: Named| named.sum().unwrap_or(Sum::F32);
    let (halves, products, beside, swap) = match ([m, n], whole) {
        ([16, 8], false) => (2, 1, true, false),
        ([8, 8], _) => (1, 1, true, false),
        ([16, 16], true) => (2, 2, true, false),
        ([32, 8], true) => (2, 2, false, false),
        ([8, 32], true) => (2, 2, false, true),
        _ => return None,
    };
    if swap {
        std::mem::swap(&mut a, &mut b);
    }
    let numbers = match numbers {
        Numbers::Whole { a, b, saturate } if swap => Numbers::Whole {
            a: b,
            b: a,
            saturate,
        },
        numbers => numbers,
    };
    let (own_a, own_b) = if beside { (1, products) } else { (products, 1) };
    let held = |sum: Sum| halves * if sum == Sum::F16 { 1 } else { 2 };
    let counts = [halves * chunks, chunks, held(sum(from)), held(sum(to))];
    let lens = [
        counts[0] * own_a,
        counts[1] * own_b,
        counts[2] * products,
        counts[3] * products,
    ];
    // Fragments of `f16` have the same registers several times.
    let repeats = |list: &mut Vec<u32>, len: u32| {
        let fits = list.len() == len as usize || whole && bits == 16 && list.len() == 8 && len <= 8;
        list.truncate(len as usize);
        fits
    };
    let fits = repeats(&mut a, lens[0]) && repeats(&mut b, lens[1]);
    (fits && c.len() == lens[2] as usize && target.len() == lens[3] as usize).then_some(())?;
    (chunks <= 4).then_some(())?;
    a.append(&mut b);
    a.append(&mut c);
    a.append(&mut target);
    Some(Op {
        numbers,
        c: sum(from),
        d: sum(to),
        halves: halves as u8,
        products: products as u8,
        beside,
        counts: counts.map(|count| count as u8),
        rows: d.pool(&a)?,
    })
}

/// Where a modifier stands.
fn position(i: &Instruction, wanted: &str) -> Option<usize> {
    i.modifiers.iter().position(|name| &**name == wanted)
}

/// The rows of the registers of a factor or of what is added.
pub(super) fn sources(d: &mut Decoder<'_>, operand: &Operand, wide: bool) -> Option<Vec<u32>> {
    let elements = d.elements(operand);
    let rows = elements.iter().map(|element| {
        if wide {
            d.src64(element, Type::F64).map(|row| row.0)
        } else {
            d.src32(element, Type::B32).map(|row| row.0)
        }
    });
    rows.collect()
}

/// The rows of the registers that are written.
pub(super) fn targets(d: &mut Decoder<'_>, operand: &Operand, wide: bool) -> Option<Vec<u32>> {
    let elements = d.elements(operand);
    let rows = elements.iter().map(|element| {
        if wide {
            d.dst64(element).map(|row| row.0)
        } else {
            d.dst32(element).map(|row| row.0)
        }
    });
    rows.collect()
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) {
    let list = cx.code.pooled(op.rows);
    multiply(op, &mut cx.file, list);
}

wide!(fn multiply(op: &Op, file: &mut File<'_>, list: &[u32]) = run);

#[inline(always)]
fn run(op: &Op, file: &mut File<'_>, list: &[u32]) {
    let counts = op.counts.map(usize::from);
    let products = usize::from(op.products);
    let (own_a, own_b) = if op.beside {
        (1, products)
    } else {
        (products, 1)
    };
    let (a, rest) = list.split_at((counts[0] * own_a).min(list.len()));
    let (b, rest) = rest.split_at((counts[1] * own_b).min(rest.len()));
    let (c, d) = rest.split_at((counts[2] * products).min(rest.len()));
    let part = |list: &'_ [u32], count: usize, at: usize| -> std::ops::Range<usize> {
        let start = (count * at).min(list.len());
        start..(start + count).min(list.len())
    };
    // A destination may be a register of a factor that the second product reads.
    let mut sums = [[[0; COLUMNS]; ROWS]; 2];
    for at in 0..products.min(2) {
        let a = &a[part(a, counts[0], if op.beside { 0 } else { at })];
        let b = &b[part(b, counts[1], if op.beside { at } else { 0 })];
        let c = &c[part(c, counts[2], at)];
        if op.numbers == Numbers::Double {
            double::multiply(file, (a, b, c, d), op.halves.into());
            return;
        }
        sums[at] = match op.c {
            Sum::F32 => gather::sums(file, c),
            Sum::F16 => gather::half_sums(file, c),
        };
        product(op, file, (a, b), &mut sums[at]);
    }
    for at in 0..products.min(2) {
        let d = &d[part(d, counts[3], at)];
        match op.d {
            Sum::F32 => gather::put_sums(file, d, &sums[at]),
            Sum::F16 => gather::put_half_sums(file, d, &sums[at]),
        }
    }
}

/// One product, which is added to `c`.
#[inline(always)]
fn product(op: &Op, file: &File<'_>, (a, b): (&[u32], &[u32]), c: &mut [[u32; COLUMNS]; ROWS]) {
    let halves = usize::from(op.halves);
    match op.numbers {
        Numbers::Float { a: fa, b: fb } => {
            let mixed = op.c != op.d;
            if mixed && op.c == Sum::F16 {
                each(c, f16_to_f32_bits);
            }
            let sum = if mixed { Sum::F32 } else { op.d };
            let depth;
            let (rows, columns): ([[u32; DEPTH]; ROWS], [[u32; COLUMNS]; DEPTH]) =
                if fa == Factor::Tf32 {
                    depth = 4 * b.len();
                    (
                        gather::rows::<32, DEPTH>(file, a, halves),
                        gather::columns::<32, DEPTH>(file, b),
                    )
                } else {
                    depth = 8 * b.len();
                    (
                        gather::rows::<16, DEPTH>(file, a, halves),
                        gather::columns::<16, DEPTH>(file, b),
                    )
                };
            sum::accumulate((&rows, &columns), (fa, fb), (8 * halves, depth), c, sum);
            if mixed && op.d == Sum::F16 {
                each(c, |bits| f32_to_f16(f32::from_bits(bits)));
            }
        }
        Numbers::Eight { a: ea, b: eb } => eight::multiply(file, (a, b), (ea, eb), c, op.d),
        Numbers::Whole {
            a: wa,
            b: wb,
            saturate,
        } => integer::multiply(file, (a, b), (wa, wb), halves, c, saturate),
        Numbers::Bits { and } => integer::bits(file, (a, b), and, halves, c),
        Numbers::Double => {}
    }
}

fn f16_to_f32_bits(bits: u32) -> u32 {
    canonical(f16_to_f32(bits))
}

#[inline(always)]
fn each(sums: &mut [[u32; COLUMNS]; ROWS], f: impl Fn(u32) -> u32) {
    for row in sums {
        for value in row {
            *value = f(*value);
        }
    }
}
