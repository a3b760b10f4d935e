//! Executing what bit instructions do.

use super::{Op, Permute, What, Width};
use crate::program::Args;
use crate::register::{File, each};
use crate::wide::wide;

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    match *op {
        Op::Plain { what, width, args } => match width {
            Width::W16 => run16(what, args, f, mask),
            Width::W32 => run32(what, args, f, mask),
            Width::W64 => run64(what, args, f, mask),
        },
        Op::Predicate { what, d, a, b } => {
            let (a, b) = (f.predicate(a), f.predicate(b));
            let value = match what {
                What::And => a & b,
                What::Or => a | b,
                What::Xor => a ^ b,
                _ => !a,
            };
            f.put_predicate(d, value, mask);
        }
        Op::Lop3 { table, args } => lop3_run(table, args, f, mask),
        Op::Lop3Test {
            table,
            and,
            p,
            q,
            args,
        } => {
            lop3_run(table, args, f, mask);
            let nonzero = f.test2((args.d.src(), args.d.src()), |a: u32, _b: u32| a != 0);
            let q = f.predicate(q);
            f.put_predicate(p, if and { nonzero & q } else { nonzero | q }, mask);
        }
        Op::Prmt { mode, args } => {
            f.map3(mask, args.d, (args.a, args.b, args.c), |a, b, c| {
                permute(mode, a, b, c)
            });
        }
        Op::Bfi { wide, args, len } => {
            let len = each(&f.get(len), |len: u32| byte(len, wide));
            let at = each(&f.get(args.c), |at: u32| byte(at, wide));
            if wide {
                let (a, mut b) = (f.get::<u64>(args.a), f.get::<u64>(args.b));
                for lane in 0..32 {
                    b[lane] = bfi64(a[lane], b[lane], at[lane], len[lane]);
                }
                f.put(args.d, &b, mask);
            } else {
                let (a, mut b) = (f.get::<u32>(args.a), f.get::<u32>(args.b));
                for lane in 0..32 {
                    b[lane] = bfi64(a[lane].into(), b[lane].into(), at[lane], len[lane]) as u32;
                }
                f.put(args.d, &b, mask);
            }
        }
    }
}

#[inline(always)]
fn lop3_run(table: u8, args: Args, f: &mut File<'_>, mask: u32) {
    // Each bit of the table that is set adds one of eight products.
    let on = |bit: u32| if table >> bit & 1 != 0 { u32::MAX } else { 0 };
    let table = [0, 1, 2, 3, 4, 5, 6, 7].map(on);
    f.map3(
        mask,
        args.d,
        (args.a, args.b, args.c),
        |a: u32, b: u32, c: u32| {
            table[0] & !a & !b & !c
                | table[1] & !a & !b & c
                | table[2] & !a & b & !c
                | table[3] & !a & b & c
                | table[4] & a & !b & !c
                | table[5] & a & !b & c
                | table[6] & a & b & !c
                | table[7] & a & b & c
        },
    );
}

#[inline(always)]
fn run16(what: What, args: Args, f: &mut File<'_>, mask: u32) {
    let pair = (args.a, args.b);
    match what {
        What::And => f.map2(mask, args.d, pair, |a: u32, b: u32| a & b & 0xffff),
        What::Or => f.map2(mask, args.d, pair, |a: u32, b: u32| (a | b) & 0xffff),
        What::Xor => f.map2(mask, args.d, pair, |a: u32, b: u32| (a ^ b) & 0xffff),
        What::Not => f.map1(mask, args.d, args.a, |a: u32| !a & 0xffff),
        What::Cnot => f.map1(mask, args.d, args.a, |a: u32| u32::from(a & 0xffff == 0)),
        What::Shl => f.map2(
            mask,
            args.d,
            pair,
            |a: u32, b: u32| {
                if b > 15 { 0 } else { a << b & 0xffff }
            },
        ),
        What::ShrU => f.map2(mask, args.d, pair, |a: u32, b: u32| {
            if b > 15 { 0 } else { (a & 0xffff) >> b }
        }),
        What::ShrS => f.map2(mask, args.d, pair, |a: u32, b: u32| {
            ((a as i16) >> b.min(15)) as u16 as u32
        }),
        _ => {}
    }
}

#[inline(always)]
fn run32(what: What, args: Args, f: &mut File<'_>, mask: u32) {
    let Args { d, a, b, c } = args;
    match what {
        What::And => f.map2(mask, d, (a, b), |a: u32, b: u32| a & b),
        What::Or => f.map2(mask, d, (a, b), |a: u32, b: u32| a | b),
        What::Xor => f.map2(mask, d, (a, b), |a: u32, b: u32| a ^ b),
        What::Not => f.map1(mask, d, a, |a: u32| !a),
        What::Cnot => f.map1(mask, d, a, |a: u32| u32::from(a == 0)),
        What::Shl => f.map2(
            mask,
            d,
            (a, b),
            |a: u32, b: u32| {
                if b > 31 { 0 } else { a << b }
            },
        ),
        What::ShrU => f.map2(
            mask,
            d,
            (a, b),
            |a: u32, b: u32| {
                if b > 31 { 0 } else { a >> b }
            },
        ),
        What::ShrS => f.map2(mask, d, (a, b), |a: u32, b: u32| {
            ((a as i32) >> b.min(31)) as u32
        }),
        What::Popc => f.map1(mask, d, a, u32::count_ones),
        What::Clz => f.map1(mask, d, a, u32::leading_zeros),
        What::BfindU => f.map1(mask, d, a, |a: u32| find(a.leading_zeros(), 32)),
        What::BfindS => f.map1(mask, d, a, |a: u32| {
            find(magnitude32(a).leading_zeros(), 32)
        }),
        What::BfindShiftU => f.map1(mask, d, a, |a: u32| shift_to(a.leading_zeros(), 32)),
        What::BfindShiftS => {
            f.map1(mask, d, a, |a: u32| {
                shift_to(magnitude32(a).leading_zeros(), 32)
            });
        }
        What::Brev => f.map1(mask, d, a, u32::reverse_bits),
        What::BfeU => f.map3(mask, d, (a, b, c), |a: u32, at: u32, len: u32| {
            bfe_unsigned(a.into(), byte(at, false), byte(len, false)) as u32
        }),
        What::BfeS => f.map3(mask, d, (a, b, c), |a: u32, at: u32, len: u32| {
            bfe_signed(a.into(), byte(at, false), byte(len, false), 31) as u32
        }),
        What::Fns => f.map3(mask, d, (a, b, c), fns),
        What::ShfLeftClamp => f.map3(mask, d, (a, b, c), |a, b, c: u32| {
            funnel(a, b, 32 - c.min(32))
        }),
        What::ShfLeftWrap => f.map3(mask, d, (a, b, c), |a, b, c: u32| {
            funnel(a, b, 32 - (c & 31))
        }),
        What::ShfRightClamp => f.map3(mask, d, (a, b, c), |a, b, c: u32| funnel(a, b, c.min(32))),
        What::ShfRightWrap => f.map3(mask, d, (a, b, c), |a, b, c: u32| funnel(a, b, c & 31)),
        What::BmskClamp => f.map2(
            mask,
            d,
            (a, b),
            |a: u32, b: u32| {
                if a > 31 { 0 } else { ones(b) << a }
            },
        ),
        What::BmskWrap => f.map2(mask, d, (a, b), |a: u32, b: u32| ones(b & 31) << (a & 31)),
        What::SzextClampU => f.map2(mask, d, (a, b), |a: u32, b: u32| a & ones(b)),
        What::SzextWrapU => f.map2(mask, d, (a, b), |a: u32, b: u32| a & ones(b & 31)),
        What::SzextClampS => f.map2(mask, d, (a, b), |a: u32, b: u32| sign_extend(a, b.min(32))),
        What::SzextWrapS => f.map2(mask, d, (a, b), |a: u32, b: u32| sign_extend(a, b & 31)),
    }
}

#[inline(always)]
fn run64(what: What, args: Args, f: &mut File<'_>, mask: u32) {
    let Args { d, a, b, c } = args;
    match what {
        What::And => f.map2(mask, d, (a, b), |a: u64, b: u64| a & b),
        What::Or => f.map2(mask, d, (a, b), |a: u64, b: u64| a | b),
        What::Xor => f.map2(mask, d, (a, b), |a: u64, b: u64| a ^ b),
        What::Not => f.map1(mask, d, a, |a: u64| !a),
        What::Cnot => f.map1(mask, d, a, |a: u64| u64::from(a == 0)),
        What::Shl => f.map2(
            mask,
            d,
            (a, b),
            |a: u64, b: u32| {
                if b > 63 { 0 } else { a << b }
            },
        ),
        What::ShrU => f.map2(
            mask,
            d,
            (a, b),
            |a: u64, b: u32| {
                if b > 63 { 0 } else { a >> b }
            },
        ),
        What::ShrS => f.map2(mask, d, (a, b), |a: u64, b: u32| {
            ((a as i64) >> b.min(63)) as u64
        }),
        What::Popc => f.map1(mask, d, a, u64::count_ones),
        What::Clz => f.map1(mask, d, a, u64::leading_zeros),
        What::BfindU => f.map1(mask, d, a, |a: u64| find(a.leading_zeros(), 64)),
        What::BfindS => f.map1(mask, d, a, |a: u64| {
            find(magnitude64(a).leading_zeros(), 64)
        }),
        What::BfindShiftU => f.map1(mask, d, a, |a: u64| shift_to(a.leading_zeros(), 64)),
        What::BfindShiftS => {
            f.map1(mask, d, a, |a: u64| {
                shift_to(magnitude64(a).leading_zeros(), 64)
            });
        }
        What::Brev => f.map1(mask, d, a, u64::reverse_bits),
        What::BfeU => f.map3(mask, d, (a, b, c), |a: u64, at: u32, len: u32| {
            bfe_unsigned(a, byte(at, true), byte(len, true))
        }),
        What::BfeS => f.map3(mask, d, (a, b, c), |a: u64, at: u32, len: u32| {
            bfe_signed(a, byte(at, true), byte(len, true), 63)
        }),
        _ => {}
    }
}

/// `len` ones, 32 at most.
#[inline(always)]
fn ones(len: u32) -> u32 {
    if len > 31 { u32::MAX } else { (1 << len) - 1 }
}

/// The low `len` bits with their sign; nothing of none.
#[inline(always)]
fn sign_extend(a: u32, len: u32) -> u32 {
    match len {
        0 => 0,
        len => ((a << (32 - len)) as i32 >> (32 - len)) as u32,
    }
}

/// The bits that differ from the sign.
#[inline(always)]
fn magnitude32(a: u32) -> u32 {
    a ^ ((a as i32) >> 31) as u32
}

/// The bits that differ from the sign.
#[inline(always)]
fn magnitude64(a: u64) -> u64 {
    a ^ ((a as i64) >> 63) as u64
}

/// The highest bit that is set, from the zeros above it.
#[inline(always)]
fn find(zeros: u32, bits: u32) -> u32 {
    if zeros == bits {
        u32::MAX
    } else {
        bits - 1 - zeros
    }
}

/// How far to shift left to bring that bit to the top.
#[inline(always)]
fn shift_to(zeros: u32, bits: u32) -> u32 {
    if zeros == bits { u32::MAX } else { zeros }
}

/// `b:a` shifted right by up to 32, the low word.
#[inline(always)]
fn funnel(a: u32, b: u32, amount: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) >> amount) as u32
}

/// A place or a length is a byte (PTX ISA 9.7.1): of 32 bits devices take the low one, of 64 the largest if it is
/// larger.
#[inline(always)]
fn byte(value: u32, wide: bool) -> u32 {
    if wide { value.min(0xff) } else { value & 0xff }
}

#[inline(always)]
fn bfe_unsigned(a: u64, at: u32, len: u32) -> u64 {
    let shifted = if at > 63 { 0 } else { a >> at };
    if len > 63 {
        shifted
    } else {
        shifted & ((1 << len) - 1)
    }
}

/// The sign is the field's highest bit, or `a`'s where the field reaches beyond it.
#[inline(always)]
fn bfe_signed(a: u64, at: u32, len: u32, top: u32) -> u64 {
    if len == 0 {
        return 0;
    }
    let sign = a >> (at + len - 1).min(top) & 1;
    // Bits above `a`'s own are zeros before the sign fills them.
    let inside = len.min((top + 1).saturating_sub(at));
    let field = bfe_unsigned(a, at, inside);
    if sign == 0 || inside > 63 {
        field
    } else {
        field | u64::MAX << inside
    }
}

#[inline(always)]
fn bfi64(a: u64, b: u64, at: u32, len: u32) -> u64 {
    let mask = if len > 63 { u64::MAX } else { (1 << len) - 1 };
    if at > 63 {
        b
    } else {
        b & !(mask << at) | (a & mask) << at
    }
}

/// The `offset`-th bit that is set, counted from `base` (PTX ISA 9.7.1.18).
#[inline(always)]
fn fns(bits: u32, base: u32, offset: u32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    let offset = offset as i32;
    if offset == 0 {
        return if bits >> base & 1 != 0 {
            base
        } else {
            u32::MAX
        };
    }
    let (step, mut left) = (offset.signum(), offset.unsigned_abs());
    let mut at = base as i32;
    while (0..32).contains(&at) {
        if bits >> at & 1 != 0 {
            left -= 1;
            if left == 0 {
                return at as u32;
            }
        }
        at += step;
    }
    u32::MAX
}

#[inline(always)]
fn permute(mode: Permute, a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let byte = |at: u32| (bytes >> (8 * (at & 7))) as u32 & 0xff;
    let s = selector & 3;
    let pick =
        |at: [u32; 4]| byte(at[0]) | byte(at[1]) << 8 | byte(at[2]) << 16 | byte(at[3]) << 24;
    match mode {
        Permute::Bytes => {
            let mut out = 0;
            for at in 0..4 {
                let nibble = selector >> (4 * at) & 0xf;
                let picked = byte(nibble);
                let picked = if nibble & 8 != 0 {
                    // The sign of the byte, in all its bits.
                    if picked & 0x80 != 0 { 0xff } else { 0 }
                } else {
                    picked
                };
                out |= picked << (8 * at);
            }
            out
        }
        Permute::F4e => pick([s, s + 1, s + 2, s + 3]),
        Permute::B4e => pick([s, s.wrapping_sub(1), s.wrapping_sub(2), s.wrapping_sub(3)]),
        Permute::Rc8 => pick([s; 4]),
        Permute::Ecl => pick([s, 1.max(s), 2.max(s), 3.max(s)]),
        Permute::Ecr => pick([0, 1.min(s), 2.min(s), 3.min(s)]),
        Permute::Rc16 => {
            let low = (s & 1) * 2;
            pick([low, low + 1, low, low + 1])
        }
    }
}
