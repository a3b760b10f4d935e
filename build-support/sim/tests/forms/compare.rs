//! Comparisons of every kind and type.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    reason = "a comparison is written as the instruction has it"
)]

use crate::form::Is::{self, B16, B32, B64, Bf16x2, F16, F16x2, F32, F64, Pred};
use crate::form::{Form, form};
use half::{bf16, f16};

/// Leaks the text of a form that is made.
fn text(text: String) -> &'static str {
    text.leak()
}

type Ordered = fn(&std::cmp::Ordering) -> bool;
const ORDERED: [(&str, Ordered); 6] = [
    ("eq", |o| o.is_eq()),
    ("ne", |o| o.is_ne()),
    ("lt", |o| o.is_lt()),
    ("le", |o| o.is_le()),
    ("gt", |o| o.is_gt()),
    ("ge", |o| o.is_ge()),
];

pub(crate) fn integers() -> Vec<Form> {
    fn int(ty: &str, is: Is, of: fn(u64) -> i128) -> Vec<Form> {
        let unsigned = !ty.starts_with('s');
        let names = |name: &'static str| match name {
            "lt" if unsigned => "lo",
            "le" if unsigned => "ls",
            "gt" if unsigned => "hi",
            "ge" if unsigned => "hs",
            name => name,
        };
        let form_of = |(name, holds): (&'static str, Ordered)| {
            let name = if ty == "u32" { names(name) } else { name };
            let text = text(format!("setp.{name}.{ty} %d, %a, %b;"));
            form(text, Pred, [is, is], move |a, b, _| {
                u64::from(holds(&of(a).cmp(&of(b))))
            })
        };
        // Bits have no order.
        let count = if ty.starts_with('b') { 2 } else { 6 };
        ORDERED.into_iter().take(count).map(form_of).collect()
    }
    let all = [
        int("u16", B16, |a| a.into()),
        int("s16", B16, |a| (a as i16).into()),
        int("b16", B16, |a| a.into()),
        int("u32", B32, |a| a.into()),
        int("s32", B32, |a| (a as i32).into()),
        int("b32", B32, |a| a.into()),
        int("u64", B64, |a| a.into()),
        int("s64", B64, |a| (a as i64).into()),
        int("b64", B64, |a| a.into()),
    ];
    all.into_iter().flatten().collect()
}

/// Every comparison of floating-point numbers.
fn float(ty: &str, is: Is, of: fn(u64) -> f64) -> Vec<Form> {
    let mut forms = Vec::new();
    for (name, holds) in ORDERED {
        let compare = move |a, b| {
            let order = of(a).partial_cmp(&of(b));
            order.map(|order| u64::from(holds(&order)))
        };
        let plain = text(format!("setp.{name}.{ty} %d, %a, %b;"));
        forms.push(form(plain, Pred, [is, is], move |a, b, _| {
            compare(a, b).unwrap_or(0)
        }));
        let unordered = text(format!("setp.{name}u.{ty} %d, %a, %b;"));
        forms.push(form(unordered, Pred, [is, is], move |a, b, _| {
            compare(a, b).unwrap_or(1)
        }));
    }
    let num = text(format!("setp.num.{ty} %d, %a, %b;"));
    forms.push(form(num, Pred, [is, is], move |a, b, _| {
        u64::from(!of(a).is_nan() && !of(b).is_nan())
    }));
    let nan = text(format!("setp.nan.{ty} %d, %a, %b;"));
    forms.push(form(nan, Pred, [is, is], move |a, b, _| {
        u64::from(of(a).is_nan() || of(b).is_nan())
    }));
    forms
}

fn flushed(value: f32) -> f64 {
    if value.is_subnormal() {
        0.0
    } else {
        value.into()
    }
}

pub(crate) fn floats() -> Vec<Form> {
    let all = [
        float("f32", F32, |a| f32::from_bits(a as u32).into()),
        float("f64", F64, f64::from_bits),
        float("f16", F16, |a| f16::from_bits(a as u16).to_f64()),
        float("bf16", Is::Bf16, |a| bf16::from_bits(a as u16).to_f64()),
    ];
    let mut forms: Vec<_> = all.into_iter().flatten().collect();
    forms.push(form(
        "setp.lt.ftz.f32 %d, %a, %b;",
        Pred,
        [F32, F32],
        |a, b, _| {
            let of = |bits| flushed(f32::from_bits(bits as u32));
            u64::from(of(a) < of(b))
        },
    ));
    forms.push(form(
        "setp.eq.ftz.f16 %d, %a, %b;",
        Pred,
        [F16, F16],
        |a, b, _| {
            let of = |bits| {
                let value = f16::from_bits(bits as u16);
                if value.is_normal() {
                    value.to_f32()
                } else if value.to_f32().abs() < 1.0 {
                    0.0
                } else {
                    value.to_f32()
                }
            };
            u64::from(of(a) == of(b))
        },
    ));
    forms
}

pub(crate) fn joined_with_a_predicate_and_both_results() -> Vec<Form> {
    vec![
        form(
            "setp.lt.and.s32 %d, %a, %b, %c;",
            Pred,
            [B32, B32, Pred],
            |a, b, c| u64::from((a as i32) < b as i32) & c,
        ),
        form(
            "setp.lt.or.s32 %d, %a, %b, !%c;",
            Pred,
            [B32, B32, Pred],
            |a, b, c| u64::from((a as i32) < b as i32) | (c ^ 1),
        ),
        form(
            "setp.eq.xor.u64 %d, %a, %b, %c;",
            Pred,
            [B64, B64, Pred],
            |a, b, c| u64::from(a == b) ^ c,
        ),
        form(
            "{ .reg .pred p; setp.lt.and.s32 p|%d, %a, %b, %c; }",
            Pred,
            [B32, B32, Pred],
            |a, b, c| u64::from((a as i32) >= b as i32) & c,
        ),
        form("setp.gt.f32 _|%d, %a, %b;", Pred, [F32, F32], |a, b, _| {
            u64::from(!(f32::from_bits(a as u32) > f32::from_bits(b as u32)))
        }),
    ]
}

pub(crate) fn results_in_registers() -> Vec<Form> {
    let halves = |a: u64, b: u64, yes: u64, f: fn(f32, f32) -> bool| {
        let of = |bits: u64| f16::from_bits(bits as u16).to_f32();
        let low = if f(of(a), of(b)) { yes } else { 0 };
        let high = if f(of(a >> 16), of(b >> 16)) { yes } else { 0 };
        low | high << 16
    };
    vec![
        form("set.lt.u32.s32 %d, %a, %b;", B32, [B32, B32], |a, b, _| {
            if (a as i32) < b as i32 { u64::MAX } else { 0 }
        }),
        form("set.ge.f32.f32 %d, %a, %b;", B32, [F32, F32], |a, b, _| {
            let holds = f32::from_bits(a as u32) >= f32::from_bits(b as u32);
            if holds { 1.0_f32.to_bits().into() } else { 0 }
        }),
        form(
            "set.eq.and.s32.u64 %d, %a, %b, %c;",
            B32,
            [B64, B64, Pred],
            |a, b, c| {
                if a == b && c == 1 { u64::MAX } else { 0 }
            },
        ),
        form("set.ne.u32.f64 %d, %a, %b;", B32, [F64, F64], |a, b, _| {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            if a < b || a > b { u64::MAX } else { 0 }
        }),
        form("set.lt.f16.f16 %d, %a, %b;", B16, [F16, F16], |a, b, _| {
            if f16::from_bits(a as u16) < f16::from_bits(b as u16) {
                0x3c00
            } else {
                0
            }
        }),
        form(
            "set.gt.f16x2.f16x2 %d, %a, %b;",
            B32,
            [F16x2, F16x2],
            move |a, b, _| halves(a, b, 0x3c00, |a, b| a > b),
        ),
        form(
            "set.equ.u32.f16x2 %d, %a, %b;",
            B32,
            [F16x2, F16x2],
            move |a, b, _| halves(a, b, 0xffff, |a, b| a == b || a.is_nan() || b.is_nan()),
        ),
        form(
            "{ .reg .pred p, q; setp.lt.f16x2 p|q, %a, %b; selp.u32 %d, 2, 0, q; \
             @p add.u32 %d, %d, 1; }",
            B32,
            [F16x2, F16x2],
            move |a, b, _| {
                let found = halves(a, b, 1, |a, b| a < b);
                found & 1 | (found >> 16) << 1
            },
        ),
        form(
            "{ .reg .pred p, q; setp.le.bf16x2 p|q, %a, %b; selp.u32 %d, 2, 0, q; \
             @p add.u32 %d, %d, 1; }",
            B32,
            [Bf16x2, Bf16x2],
            |a, b, _| {
                let le = |at: u32| {
                    let of = |bits: u64| bf16::from_bits((bits >> at) as u16);
                    u64::from(of(a) <= of(b))
                };
                le(0) | le(16) << 1
            },
        ),
    ]
}
