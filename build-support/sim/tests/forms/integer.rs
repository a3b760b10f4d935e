//! Integer instructions against Rust's own arithmetic, in 128 bits where that helps.

use crate::form::Is::{B16, B32, B64};
use crate::form::{Form, form};

fn s16(a: u64) -> i128 {
    (a as i16).into()
}

fn s32(a: u64) -> i128 {
    (a as i32).into()
}

fn s64(a: u64) -> i128 {
    (a as i64).into()
}

fn sat32(a: i128) -> u64 {
    a.clamp(i32::MIN.into(), i32::MAX.into()) as u64
}

fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

pub(crate) fn sums_and_differences() -> Vec<Form> {
    vec![
        form("add.u16 %d, %a, %b;", B16, [B16, B16], |a, b, _| a + b),
        form("add.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| a + b),
        form("add.u64 %d, %a, %b;", B64, [B64, B64], |a, b, _| {
            a.wrapping_add(b)
        }),
        form("sub.s16 %d, %a, %b;", B16, [B16, B16], |a, b, _| {
            a.wrapping_sub(b)
        }),
        form("sub.u32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            a.wrapping_sub(b)
        }),
        form("sub.s64 %d, %a, %b;", B64, [B64, B64], |a, b, _| {
            a.wrapping_sub(b)
        }),
        form("add.sat.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            sat32(s32(a) + s32(b))
        }),
        form("sub.sat.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            sat32(s32(a) - s32(b))
        }),
        form("neg.s16 %d, %a;", B16, [B16], |a, _, _| a.wrapping_neg()),
        form("neg.s32 %d, %a;", B32, [B32], |a, _, _| a.wrapping_neg()),
        form("neg.s64 %d, %a;", B64, [B64], |a, _, _| a.wrapping_neg()),
        form("abs.s16 %d, %a;", B16, [B16], |a, _, _| {
            s16(a).unsigned_abs() as u64
        }),
        form("abs.s32 %d, %a;", B32, [B32], |a, _, _| {
            s32(a).unsigned_abs() as u64
        }),
        form("abs.s64 %d, %a;", B64, [B64], |a, _, _| {
            s64(a).unsigned_abs() as u64
        }),
        form(
            "sad.u16 %d, %a, %b, %c;",
            B16,
            [B16, B16, B16],
            |a, b, c| a.abs_diff(b) + c,
        ),
        form(
            "sad.s16 %d, %a, %b, %c;",
            B16,
            [B16, B16, B16],
            |a, b, c| s16(a).abs_diff(s16(b)) as u64 + c,
        ),
        form(
            "sad.u32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| a.abs_diff(b) + c,
        ),
        form(
            "sad.s32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| s32(a).abs_diff(s32(b)) as u64 + c,
        ),
        form(
            "sad.u64 %d, %a, %b, %c;",
            B64,
            [B64, B64, B64],
            |a, b, c| a.abs_diff(b).wrapping_add(c),
        ),
        form(
            "sad.s64 %d, %a, %b, %c;",
            B64,
            [B64, B64, B64],
            |a, b, c| (s64(a).abs_diff(s64(b)) as u64).wrapping_add(c),
        ),
        form("add.u16x2 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            (a + b) & 0xffff | ((a >> 16) + (b >> 16)) << 16
        }),
    ]
}

pub(crate) fn products() -> Vec<Form> {
    vec![
        form("mul.lo.u16 %d, %a, %b;", B16, [B16, B16], |a, b, _| a * b),
        form("mul.lo.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| a * b),
        form("mul.lo.u64 %d, %a, %b;", B64, [B64, B64], |a, b, _| {
            wide(a, b) as u64
        }),
        form("mul.hi.u16 %d, %a, %b;", B16, [B16, B16], |a, b, _| {
            (a * b) >> 16
        }),
        form("mul.hi.s16 %d, %a, %b;", B16, [B16, B16], |a, b, _| {
            ((s16(a) * s16(b)) >> 16) as u64
        }),
        form("mul.hi.u32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            (a * b) >> 32
        }),
        form("mul.hi.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            ((s32(a) * s32(b)) >> 32) as u64
        }),
        form("mul.hi.u64 %d, %a, %b;", B64, [B64, B64], |a, b, _| {
            (wide(a, b) >> 64) as u64
        }),
        form("mul.hi.s64 %d, %a, %b;", B64, [B64, B64], |a, b, _| {
            ((s64(a) * s64(b)) >> 64) as u64
        }),
        form("mul.wide.u16 %d, %a, %b;", B32, [B16, B16], |a, b, _| a * b),
        form("mul.wide.s16 %d, %a, %b;", B32, [B16, B16], |a, b, _| {
            (s16(a) * s16(b)) as u64
        }),
        form("mul.wide.u32 %d, %a, %b;", B64, [B32, B32], |a, b, _| a * b),
        form("mul.wide.s32 %d, %a, %b;", B64, [B32, B32], |a, b, _| {
            (s32(a) * s32(b)) as u64
        }),
        form("mul24.lo.u32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            (a & 0xff_ffff) * (b & 0xff_ffff)
        }),
        form("mul24.hi.u32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            ((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16
        }),
        form("mul24.lo.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            s24(a, b) as u64
        }),
        form("mul24.hi.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            (s24(a, b) >> 16) as u64
        }),
        form(
            "mad24.lo.s32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| (s24(a, b) as u64).wrapping_add(c),
        ),
        form(
            "mad24.hi.sat.s32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| sat32((s24(a, b) >> 16) + s32(c)),
        ),
    ]
}

/// The product of two 24-bit numbers with sign.
fn s24(a: u64, b: u64) -> i128 {
    let extend = |x: u64| {
        let low = i128::from(x & 0xff_ffff);
        if low >= 1 << 23 { low - (1 << 24) } else { low }
    };
    extend(a) * extend(b)
}

pub(crate) fn products_with_a_sum() -> Vec<Form> {
    vec![
        form(
            "mad.lo.u16 %d, %a, %b, %c;",
            B16,
            [B16, B16, B16],
            |a, b, c| a * b + c,
        ),
        form(
            "mad.lo.s32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| (wide(a, b) + u128::from(c)) as u64,
        ),
        form(
            "mad.lo.s64 %d, %a, %b, %c;",
            B64,
            [B64, B64, B64],
            |a, b, c| (wide(a, b) as u64).wrapping_add(c),
        ),
        form(
            "mad.hi.u16 %d, %a, %b, %c;",
            B16,
            [B16, B16, B16],
            |a, b, c| ((a * b) >> 16) + c,
        ),
        form(
            "mad.hi.s16 %d, %a, %b, %c;",
            B16,
            [B16, B16, B16],
            |a, b, c| (((s16(a) * s16(b)) >> 16) as u64).wrapping_add(c),
        ),
        form(
            "mad.hi.u32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| ((a * b) >> 32) + c,
        ),
        form(
            "mad.hi.s32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| (((s32(a) * s32(b)) >> 32) + s32(c)) as u64,
        ),
        form(
            "mad.hi.sat.s32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| sat32(((s32(a) * s32(b)) >> 32) + s32(c)),
        ),
        form(
            "mad.hi.u64 %d, %a, %b, %c;",
            B64,
            [B64, B64, B64],
            |a, b, c| ((wide(a, b) >> 64) as u64).wrapping_add(c),
        ),
        form(
            "mad.hi.s64 %d, %a, %b, %c;",
            B64,
            [B64, B64, B64],
            |a, b, c| (((s64(a) * s64(b)) >> 64) as u64).wrapping_add(c),
        ),
        form(
            "mad.wide.u16 %d, %a, %b, %c;",
            B32,
            [B16, B16, B32],
            |a, b, c| a * b + c,
        ),
        form(
            "mad.wide.s16 %d, %a, %b, %c;",
            B32,
            [B16, B16, B32],
            |a, b, c| ((s16(a) * s16(b)) as u64).wrapping_add(c),
        ),
        form(
            "mad.wide.u32 %d, %a, %b, %c;",
            B64,
            [B32, B32, B64],
            |a, b, c| (a * b).wrapping_add(c),
        ),
        form(
            "mad.wide.s32 %d, %a, %b, %c;",
            B64,
            [B32, B32, B64],
            |a, b, c| ((s32(a) * s32(b)) as u64).wrapping_add(c),
        ),
    ]
}

pub(crate) fn quotients_and_remainders() -> Vec<Form> {
    // What a division by zero gives is not defined; all ones is what devices give.
    let or = |b: u64, value: i128, zero: u64| if b == 0 { zero } else { value as u64 };
    let div = |a: i128, b: i128| if b == 0 { -1 } else { a / b };
    let rem = |a: i128, b: i128| if b == 0 { -1 } else { a % b };
    vec![
        form("div.u16 %d, %a, %b;", B16, [B16, B16], move |a, b, _| {
            or(b, (a / b.max(1)).into(), u64::MAX)
        }),
        form("div.s16 %d, %a, %b;", B16, [B16, B16], move |a, b, _| {
            div(s16(a), s16(b)) as u64
        }),
        form("div.u32 %d, %a, %b;", B32, [B32, B32], move |a, b, _| {
            or(b, (a / b.max(1)).into(), u64::MAX)
        }),
        form("div.s32 %d, %a, %b;", B32, [B32, B32], move |a, b, _| {
            div(s32(a), s32(b)) as u64
        }),
        form("div.u64 %d, %a, %b;", B64, [B64, B64], move |a, b, _| {
            or(b, (a / b.max(1)).into(), u64::MAX)
        }),
        form("div.s64 %d, %a, %b;", B64, [B64, B64], move |a, b, _| {
            div(s64(a), s64(b)) as u64
        }),
        form("rem.u16 %d, %a, %b;", B16, [B16, B16], move |a, b, _| {
            or(b, (a % b.max(1)).into(), u64::MAX)
        }),
        form("rem.s16 %d, %a, %b;", B16, [B16, B16], move |a, b, _| {
            rem(s16(a), s16(b)) as u64
        }),
        form("rem.u32 %d, %a, %b;", B32, [B32, B32], move |a, b, _| {
            or(b, (a % b.max(1)).into(), u64::MAX)
        }),
        form("rem.s32 %d, %a, %b;", B32, [B32, B32], move |a, b, _| {
            rem(s32(a), s32(b)) as u64
        }),
        form("rem.u64 %d, %a, %b;", B64, [B64, B64], move |a, b, _| {
            or(b, (a % b.max(1)).into(), u64::MAX)
        }),
        form("rem.s64 %d, %a, %b;", B64, [B64, B64], move |a, b, _| {
            rem(s64(a), s64(b)) as u64
        }),
    ]
}

/// Halves of a word, each treated by itself.
fn halves(a: u64, b: u64, f: impl Fn(u64, u64) -> i128) -> u64 {
    let high = f(a >> 16, b >> 16) as u64 & 0xffff;
    f(a & 0xffff, b & 0xffff) as u64 & 0xffff | high << 16
}

pub(crate) fn smaller_and_larger() -> Vec<Form> {
    vec![
        form("min.u16 %d, %a, %b;", B16, [B16, B16], |a, b, _| a.min(b)),
        form("max.u16 %d, %a, %b;", B16, [B16, B16], |a, b, _| a.max(b)),
        form("min.s16 %d, %a, %b;", B16, [B16, B16], |a, b, _| {
            s16(a).min(s16(b)) as u64
        }),
        form("max.s16 %d, %a, %b;", B16, [B16, B16], |a, b, _| {
            s16(a).max(s16(b)) as u64
        }),
        form("min.u32 %d, %a, %b;", B32, [B32, B32], |a, b, _| a.min(b)),
        form("max.u32 %d, %a, %b;", B32, [B32, B32], |a, b, _| a.max(b)),
        form("min.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            s32(a).min(s32(b)) as u64
        }),
        form("max.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            s32(a).max(s32(b)) as u64
        }),
        form("min.relu.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            s32(a).min(s32(b)).max(0) as u64
        }),
        form("max.relu.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            s32(a).max(s32(b)).max(0) as u64
        }),
        form("min.u64 %d, %a, %b;", B64, [B64, B64], |a, b, _| a.min(b)),
        form("max.u64 %d, %a, %b;", B64, [B64, B64], |a, b, _| a.max(b)),
        form("min.s64 %d, %a, %b;", B64, [B64, B64], |a, b, _| {
            s64(a).min(s64(b)) as u64
        }),
        form("max.s64 %d, %a, %b;", B64, [B64, B64], |a, b, _| {
            s64(a).max(s64(b)) as u64
        }),
        form("min.u16x2 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            halves(a, b, |a, b| a.min(b).into())
        }),
        form("max.u16x2 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            halves(a, b, |a, b| a.max(b).into())
        }),
        form("min.s16x2 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            halves(a, b, |a, b| s16(a).min(s16(b)))
        }),
        form("max.s16x2 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            halves(a, b, |a, b| s16(a).max(s16(b)))
        }),
        form("min.relu.s16x2 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            halves(a, b, |a, b| s16(a).min(s16(b)).max(0))
        }),
        form("max.relu.s16x2 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            halves(a, b, |a, b| s16(a).max(s16(b)).max(0))
        }),
    ]
}

/// Sums of products of parts: bytes of `b` from `first` on with parts of `bits` of `a`.
fn dot(a: u64, b: u64, c: u64, signed: (bool, bool), bits: u32, first: u32) -> u64 {
    let part = |x: u64, at: u32, bits: u32, signed: bool| {
        let part = i128::from(x >> (at * bits) & ((1 << bits) - 1));
        if signed && part >> (bits - 1) != 0 {
            part - (1 << bits)
        } else {
            part
        }
    };
    let products =
        (0..32 / bits).map(|at| part(a, at, bits, signed.0) * part(b, first + at, 8, signed.1));
    (products.sum::<i128>() + i128::from(c)) as u64
}

pub(crate) fn dot_products() -> Vec<Form> {
    let three = [B32, B32, B32];
    vec![
        form("dp4a.u32.u32 %d, %a, %b, %c;", B32, three, |a, b, c| {
            dot(a, b, c, (false, false), 8, 0)
        }),
        form("dp4a.s32.s32 %d, %a, %b, %c;", B32, three, |a, b, c| {
            dot(a, b, c, (true, true), 8, 0)
        }),
        form("dp4a.s32.u32 %d, %a, %b, %c;", B32, three, |a, b, c| {
            dot(a, b, c, (true, false), 8, 0)
        }),
        form("dp4a.u32.s32 %d, %a, %b, %c;", B32, three, |a, b, c| {
            dot(a, b, c, (false, true), 8, 0)
        }),
        form("dp2a.lo.s32.s32 %d, %a, %b, %c;", B32, three, |a, b, c| {
            dot(a, b, c, (true, true), 16, 0)
        }),
        form("dp2a.hi.u32.u32 %d, %a, %b, %c;", B32, three, |a, b, c| {
            dot(a, b, c, (false, false), 16, 2)
        }),
        form("dp2a.hi.s32.u32 %d, %a, %b, %c;", B32, three, |a, b, c| {
            dot(a, b, c, (true, false), 16, 2)
        }),
    ]
}

pub(crate) fn the_carry_flag() -> Vec<Form> {
    let sum128 = |a: u64, b: u64| u128::from(a) + u128::from(b);
    vec![
        // 64 bits from two halves of 32, and the carry out of them.
        form(
            "{ .reg .b32 al, ah, bl, bh; mov.b64 {al, ah}, %a; mov.b64 {bl, bh}, %b; \
             add.cc.u32 al, al, bl; addc.u32 ah, ah, bh; mov.b64 %d, {al, ah}; }",
            B64,
            [B64, B64],
            |a, b, _| a.wrapping_add(b),
        ),
        form(
            "{ .reg .b32 al, ah, bl, bh; mov.b64 {al, ah}, %a; mov.b64 {bl, bh}, %b; \
             sub.cc.u32 al, al, bl; subc.u32 ah, ah, bh; mov.b64 %d, {al, ah}; }",
            B64,
            [B64, B64],
            |a, b, _| a.wrapping_sub(b),
        ),
        form(
            "{ .reg .b64 t; add.cc.u64 t, %a, %b; addc.cc.u64 t, %a, %b; addc.u64 %d, 0, 0; }",
            B64,
            [B64, B64],
            move |a, b, _| {
                let first = sum128(a, b) >> 64;
                ((sum128(a, b) + first) >> 64) as u64
            },
        ),
        form(
            "{ .reg .b64 t; sub.cc.s64 t, %a, %b; subc.cc.s64 t, %a, %b; subc.s64 %d, 0, 0; }",
            B64,
            [B64, B64],
            |a, b, _| {
                let first = a < b;
                let second = u128::from(a) < u128::from(b) + u128::from(first);
                if second { u64::MAX } else { 0 }
            },
        ),
        // A product of 64 bits by 32, added to 64 bits, from parts.
        form(
            "{ .reg .b32 al, ah, cl, ch; mov.b64 {al, ah}, %a; mov.b64 {cl, ch}, %c; \
             mad.lo.cc.u32 cl, al, %b, cl; madc.hi.u32 ch, al, %b, ch; \
             mad.lo.u32 ch, ah, %b, ch; mov.b64 %d, {cl, ch}; }",
            B64,
            [B64, B32, B64],
            |a, b, c| (wide(a, b) as u64).wrapping_add(c),
        ),
        // The upper half of a product of 64 bits by 64, as provers have it.
        form(
            "{ .reg .b64 l, h; mad.lo.cc.u64 l, %a, %b, %c; madc.hi.u64 %d, %a, %b, 0; }",
            B64,
            [B64, B64, B64],
            |a, b, c| ((wide(a, b) + u128::from(c)) >> 64) as u64,
        ),
        form(
            "{ .reg .b64 l; mad.hi.cc.s64 l, %a, %b, %c; addc.u64 %d, 0, 0; }",
            B64,
            [B64, B64, B64],
            |a, b, c| {
                let high = ((s64(a) * s64(b)) >> 64) as u64;
                (sum(high, c) >> 64) as u64
            },
        ),
    ]
}

fn sum(a: u64, b: u64) -> u128 {
    u128::from(a) + u128::from(b)
}
