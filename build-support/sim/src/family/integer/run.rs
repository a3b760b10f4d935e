//! Executing what integer instructions do.

use super::{Int, Op, What};
use crate::program::Args;
use crate::register::{ALL, File, LANES, Pred};
use crate::wide::wide;

wide!(pub(crate) fn execute(op: &Op, file: &mut File<'_>, mask: u32) = run);

/// `each!(file, mask, ty, args, |a, b| …)`: the expression for every lane, with the sources as values of the type.
macro_rules! each {
    ($f:ident, $mask:ident, $ty:expr, $args:ident, |$($v:ident),+| $e:expr) => {
        match $ty {
            Int::U16 => each!(@ $f, $mask, $args, u16, u16, u32, |$($v),+| $e),
            Int::S16 => each!(@ $f, $mask, $args, i16, u16, u32, |$($v),+| $e),
            Int::U32 => each!(@ $f, $mask, $args, u32, u32, u32, |$($v),+| $e),
            Int::S32 => each!(@ $f, $mask, $args, i32, u32, u32, |$($v),+| $e),
            Int::U64 => each!(@ $f, $mask, $args, u64, u64, u64, |$($v),+| $e),
            Int::S64 => each!(@ $f, $mask, $args, i64, u64, u64, |$($v),+| $e),
        }
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $w:ty, |$a:ident| $e:expr) => {
        $f.map1($mask, $args.d, $args.a, |a: $w| {
            let $a = a as $t;
            ($e) as $u as $w
        })
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $w:ty, |$a:ident, $b:ident| $e:expr) => {
        $f.map2($mask, $args.d, ($args.a, $args.b), |a: $w, b: $w| {
            let ($a, $b) = (a as $t, b as $t);
            ($e) as $u as $w
        })
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $w:ty, |$a:ident, $b:ident, $c:ident| $e:expr) => {
        $f.map3($mask, $args.d, ($args.a, $args.b, $args.c), |a: $w, b: $w, c: $w| {
            let ($a, $b, $c) = (a as $t, b as $t, c as $t);
            ($e) as $u as $w
        })
    };
}

/// As `each`, with the product of `a` and `b` in twice the width.
macro_rules! product {
    ($f:ident, $mask:ident, $ty:expr, $args:ident, |$p:ident, $c:ident, $bits:ident| $e:expr) => {
        match $ty {
            Int::U16 => product!(@ $f, $mask, $args, u16, u16, u32, u32, |$p, $c, $bits| $e),
            Int::S16 => product!(@ $f, $mask, $args, i16, u16, i32, u32, |$p, $c, $bits| $e),
            Int::U32 => product!(@ $f, $mask, $args, u32, u32, u64, u32, |$p, $c, $bits| $e),
            Int::S32 => product!(@ $f, $mask, $args, i32, u32, i64, u32, |$p, $c, $bits| $e),
            Int::U64 => product!(@ $f, $mask, $args, u64, u64, u128, u64, |$p, $c, $bits| $e),
            Int::S64 => product!(@ $f, $mask, $args, i64, u64, i128, u64, |$p, $c, $bits| $e),
        }
    };
    (@ $f:ident, $mask:ident, $args:ident, $t:ty, $u:ty, $d:ty, $w:ty, |$p:ident, $c:ident, $bits:ident| $e:expr) => {
        $f.map3($mask, $args.d, ($args.a, $args.b, $args.c), |a: $w, b: $w, c: $w| {
            let $p = (a as $t as $d).wrapping_mul(b as $t as $d);
            let $c = c as $t;
            let $bits = <$t>::BITS;
            ($e) as $u as $w
        })
    };
}

#[inline(always)]
fn run(op: &Op, f: &mut File<'_>, mask: u32) {
    match op {
        Op::Plain { what, ty, args } => plain_run(*what, *ty, args, f, mask),
        Op::Carry {
            wide,
            subtract,
            take,
            set,
            args,
            flag,
        } => {
            let carry = match (*take, *subtract) {
                (true, _) => f.predicate(Pred::new(flag.0, false)),
                (false, false) => 0,
                (false, true) => ALL,
            };
            let out = if *wide {
                carry64(f, args, *subtract, carry, mask)
            } else {
                carry32(f, args, *subtract, carry, mask)
            };
            if *set {
                f.put_predicate(*flag, out, mask);
            }
        }
        Op::MadCarry {
            ty,
            high,
            take,
            set,
            args,
            flag,
        } => {
            let carry = if *take {
                f.predicate(Pred::new(flag.0, false))
            } else {
                0
            };
            let out = mad_carry(f, *ty, *high, args, carry, mask);
            if *set {
                f.put_predicate(*flag, out, mask);
            }
        }
        Op::Mad24 {
            signed,
            high,
            saturate,
            args,
        } => {
            let (signed, high, saturate) = (*signed, *high, *saturate);
            f.map3(mask, args.d, (args.a, args.b, args.c), |a, b, c| {
                mad24(a, b, c, signed, high, saturate)
            });
        }
        Op::Dot {
            a_signed,
            b_signed,
            half,
            args,
        } => {
            let (a_signed, b_signed, half) = (*a_signed, *b_signed, *half);
            f.map3(
                mask,
                args.d,
                (args.a, args.b, args.c),
                |a, b, c| match half {
                    None => dp4a(a, b, c, a_signed, b_signed),
                    Some(high) => dp2a(a, b, c, a_signed, b_signed, high),
                },
            );
        }
        Op::Packed { what, signed, args } => {
            let (what, signed) = (*what, *signed);
            f.map2(mask, args.d, (args.a, args.b), |a: u32, b: u32| {
                let part = |at: u32| packed_one(what, signed, (a >> at) as u16, (b >> at) as u16);
                u32::from(part(0)) | u32::from(part(16)) << 16
            });
        }
    }
}

#[inline(always)]
fn plain_run(what: What, ty: Int, args: &Args, f: &mut File<'_>, mask: u32) {
    match what {
        What::Add => each!(f, mask, ty, args, |a, b| a.wrapping_add(b)),
        What::Sub => each!(f, mask, ty, args, |a, b| a.wrapping_sub(b)),
        What::AddSat => each!(f, mask, ty, args, |a, b| a.saturating_add(b)),
        What::SubSat => each!(f, mask, ty, args, |a, b| a.saturating_sub(b)),
        What::MulLo => each!(f, mask, ty, args, |a, b| a.wrapping_mul(b)),
        What::MadLo => each!(f, mask, ty, args, |a, b, c| a
            .wrapping_mul(b)
            .wrapping_add(c)),
        What::MulHi => product!(f, mask, ty, args, |p, _c, bits| p >> bits),
        What::MadHi => product!(f, mask, ty, args, |p, c, bits| (p >> bits)
            .wrapping_add(c.into())),
        What::MadHiSat => {
            f.map3(
                mask,
                args.d,
                (args.a, args.b, args.c),
                |a: u32, b: u32, c: u32| {
                    let product = i64::from(a as i32) * i64::from(b as i32);
                    ((product >> 32) as i32).saturating_add(c as i32) as u32
                },
            );
        }
        What::MulWide => wide_product(ty, args, f, mask, false),
        What::MadWide => wide_product(ty, args, f, mask, true),
        // What a division by zero gives is the machine's business; there is no fault.
        What::Div => each!(f, mask, ty, args, |a, b| if b == 0 {
            !b
        } else {
            a.wrapping_div(b)
        }),
        What::Rem => each!(f, mask, ty, args, |a, b| if b == 0 {
            // As a division by zero does, what devices give.
            !0
        } else {
            a.wrapping_rem(b)
        }),
        What::Abs => match ty {
            Int::U16 | Int::S16 => {
                f.map1(mask, args.d, args.a, |a: u32| {
                    u32::from((a as i16).unsigned_abs())
                });
            }
            Int::U32 | Int::S32 => {
                f.map1(mask, args.d, args.a, |a: u32| (a as i32).unsigned_abs());
            }
            Int::U64 | Int::S64 => {
                f.map1(mask, args.d, args.a, |a: u64| (a as i64).unsigned_abs());
            }
        },
        What::Neg => each!(f, mask, ty, args, |a| a.wrapping_neg()),
        What::Min => each!(f, mask, ty, args, |a, b| a.min(b)),
        What::Max => each!(f, mask, ty, args, |a, b| a.max(b)),
        What::MinRelu => f.map2(mask, args.d, (args.a, args.b), |a: u32, b: u32| {
            (a as i32).min(b as i32).max(0) as u32
        }),
        What::MaxRelu => f.map2(mask, args.d, (args.a, args.b), |a: u32, b: u32| {
            (a as i32).max(b as i32).max(0) as u32
        }),
        What::Sad => each!(f, mask, ty, args, |a, b, c| if a < b {
            b.wrapping_sub(a).wrapping_add(c)
        } else {
            a.wrapping_sub(b).wrapping_add(c)
        }),
    }
}

/// `mul.wide` and `mad.wide`: the whole product, and `c` in its width.
#[inline(always)]
fn wide_product(ty: Int, args: &Args, f: &mut File<'_>, mask: u32, add: bool) {
    macro_rules! wide {
        ($t:ty, $d:ty, $w:ty, $to:ty) => {
            if add {
                f.map3(
                    mask,
                    args.d,
                    (args.a, args.b, args.c),
                    |a: $w, b: $w, c: $to| {
                        (a as $t as $d)
                            .wrapping_mul(b as $t as $d)
                            .wrapping_add(c as $d) as $to
                    },
                )
            } else {
                f.map2(mask, args.d, (args.a, args.b), |a: $w, b: $w| {
                    (a as $t as $d).wrapping_mul(b as $t as $d) as $to
                })
            }
        };
    }
    match ty {
        Int::U16 => wide!(u16, u32, u32, u32),
        Int::S16 => wide!(i16, i32, u32, u32),
        Int::U32 => wide!(u32, u64, u32, u64),
        Int::S32 => wide!(i32, i64, u32, u64),
        Int::U64 | Int::S64 => {}
    }
}

macro_rules! carry {
    ($name:ident, $w:ty) => {
        /// Gives the carries of all lanes.
        #[inline(always)]
        fn $name(f: &mut File<'_>, args: &Args, subtract: bool, carry: u32, mask: u32) -> u32 {
            let (a, b) = (f.get::<$w>(args.a), f.get::<$w>(args.b));
            let mut out = [0; LANES];
            let mut flags = 0;
            for lane in 0..LANES {
                let flag = carry >> lane & 1 != 0;
                let b = if subtract { !b[lane] } else { b[lane] };
                let (value, first) = a[lane].overflowing_add(b);
                let (value, second) = value.overflowing_add(flag.into());
                out[lane] = value;
                flags |= u32::from(first | second) << lane;
            }
            f.put(args.d, &out, mask);
            flags
        }
    };
}
carry!(carry32, u32);
carry!(carry64, u64);

#[inline(always)]
fn mad_carry(f: &mut File<'_>, ty: Int, high: bool, args: &Args, carry: u32, mask: u32) -> u32 {
    macro_rules! mad {
        ($t:ty, $d:ty, $w:ty) => {{
            let (a, b, c) = (
                f.get::<$w>(args.a),
                f.get::<$w>(args.b),
                f.get::<$w>(args.c),
            );
            let mut out = [0; LANES];
            let mut flags = 0;
            for lane in 0..LANES {
                let product = (a[lane] as $t as $d).wrapping_mul(b[lane] as $t as $d);
                let part = if high {
                    (product >> <$w>::BITS) as $w
                } else {
                    product as $w
                };
                let (value, first) = part.overflowing_add(c[lane]);
                let (value, second) = value.overflowing_add((carry >> lane & 1).into());
                out[lane] = value;
                flags |= u32::from(first | second) << lane;
            }
            f.put(args.d, &out, mask);
            flags
        }};
    }
    match ty {
        Int::S32 => mad!(i32, i64, u32),
        Int::U64 => mad!(u64, u128, u64),
        Int::S64 => mad!(i64, i128, u64),
        _ => mad!(u32, u64, u32),
    }
}

#[inline(always)]
fn mad24(a: u32, b: u32, c: u32, signed: bool, high: bool, saturate: bool) -> u32 {
    let extend = |x: u32| {
        if signed {
            i64::from((x << 8) as i32 >> 8)
        } else {
            i64::from(x & 0xff_ffff)
        }
    };
    let product = extend(a) * extend(b);
    let part = if high { product >> 16 } else { product } as u32;
    if saturate {
        (part as i32).saturating_add(c as i32) as u32
    } else {
        part.wrapping_add(c)
    }
}

#[inline(always)]
fn byte(value: u32, at: u32, signed: bool) -> i32 {
    let byte = (value >> (8 * at)) as u8;
    if signed {
        i32::from(byte as i8)
    } else {
        i32::from(byte)
    }
}

#[inline(always)]
fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let products = (0..4).map(|at| byte(a, at, a_signed).wrapping_mul(byte(b, at, b_signed)));
    products.fold(c, |sum, product| sum.wrapping_add(product as u32))
}

#[inline(always)]
fn dp2a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool, high: bool) -> u32 {
    let first = if high { 2 } else { 0 };
    let products = (0..2).map(|at| {
        let half = (a >> (16 * at)) as u16;
        let half = if a_signed {
            i32::from(half as i16)
        } else {
            i32::from(half)
        };
        half.wrapping_mul(byte(b, first + at, b_signed))
    });
    products.fold(c, |sum, product| sum.wrapping_add(product as u32))
}

#[inline(always)]
fn packed_one(what: What, signed: bool, a: u16, b: u16) -> u16 {
    let (sa, sb) = (a as i16, b as i16);
    match (what, signed) {
        (What::Add, _) => a.wrapping_add(b),
        (What::Sub, _) => a.wrapping_sub(b),
        (What::Min, false) => a.min(b),
        (What::Max, false) => a.max(b),
        (What::Min, true) => sa.min(sb) as u16,
        (What::Max, true) => sa.max(sb) as u16,
        (What::MinRelu, _) => sa.min(sb).max(0) as u16,
        (_, _) => sa.max(sb).max(0) as u16,
    }
}
