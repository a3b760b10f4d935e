//! Conversions between all types, against Rust's conversions and exact comparisons.

#![allow(clippy::type_complexity, reason = "a table of closures")]

use crate::form::Is::{self, B16, B32, B64, Bf16, F16, F32, F64};
use crate::form::{Form, form};
use half::{bf16, f16};

const NAN32: u64 = 0x7fff_ffff;

fn sign(bits: u64, width: u32) -> i128 {
    i128::from((bits << (64 - width)) as i64 >> (64 - width))
}

pub(crate) fn integers() -> Vec<Form> {
    let types = [
        ("u8", 8, false),
        ("s8", 8, true),
        ("u16", 16, false),
        ("s16", 16, true),
        ("u32", 32, false),
        ("s32", 32, true),
        ("u64", 64, false),
        ("s64", 64, true),
    ];
    let register = |bits: u32| match bits {
        8 | 16 => B16,
        32 => B32,
        _ => B64,
    };
    let mut forms = Vec::new();
    for (to, to_bits, to_signed) in types {
        for (from, from_bits, from_signed) in types {
            let (low, high) = if to_signed {
                (-(1_i128 << (to_bits - 1)), (1_i128 << (to_bits - 1)) - 1)
            } else {
                (0, (1_i128 << to_bits) - 1)
            };
            let value = move |bits: u64| {
                let bits = bits & (u64::MAX >> (64 - from_bits));
                if from_signed {
                    sign(bits, from_bits)
                } else {
                    bits.into()
                }
            };
            // A register wider than the type gets the sign or zeros.
            let extend = move |value: i128| {
                let bits = value as u64 & (u64::MAX >> (64 - to_bits));
                if to_signed {
                    sign(bits, to_bits) as u64
                } else {
                    bits
                }
            };
            let text = format!("cvt.{to}.{from} %d, %a;");
            forms.push(form(
                text.leak(),
                register(to_bits),
                [register(from_bits)],
                move |a, _, _| extend(value(a)),
            ));
            // Only where something is out of range.
            let (signs, bits) = ((from_signed, to_signed), (from_bits, to_bits));
            let fits = match signs {
                (true, false) => false,
                (false, true) => bits.0 < bits.1,
                _ => bits.0 <= bits.1,
            };
            if !fits {
                let text = format!("cvt.sat.{to}.{from} %d, %a;");
                forms.push(form(
                    text.leak(),
                    register(to_bits),
                    [register(from_bits)],
                    move |a, _, _| extend(value(a).clamp(low, high)),
                ));
            }
        }
    }
    // Registers wider than either type.
    forms.push(form("cvt.u32.u8 %d, %a;", B32, [B32], |a, _, _| a & 0xff));
    forms.push(form("cvt.s64.s8 %d, %a;", B64, [B64], |a, _, _| {
        sign(a & 0xff, 8) as u64
    }));
    forms.push(form("cvt.s8.s32 %d, %a;", B32, [B32], |a, _, _| {
        sign(a & 0xff, 8) as u64
    }));
    forms
}

/// A number rounded to an integer.
fn integral(value: f64, way: &str) -> f64 {
    match way {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}

pub(crate) fn floats_to_integers() -> Vec<Form> {
    let sources: [(&str, Is, fn(u64) -> f64); 4] = [
        ("f16", F16, |a| f16::from_bits(a as u16).to_f64()),
        ("f32", F32, |a| f32::from_bits(a as u32).into()),
        ("f64", F64, f64::from_bits),
        ("bf16", Bf16, |a| bf16::from_bits(a as u16).to_f64()),
    ];
    let mut forms = Vec::new();
    for (from, is, wide) in sources {
        for way in ["rni", "rzi", "rmi", "rpi"] {
            let mut push = |to: &str, result: Is, f: fn(f64) -> u64| {
                let text = format!("cvt.{way}.{to}.{from} %d, %a;");
                // What a NaN gives is not for this test.
                forms.push(form(text.leak(), result, [is], move |a, _, _| {
                    let value = wide(a);
                    (!value.is_nan()).then(|| f(integral(value, way)))
                }));
            };
            // Rust's casts saturate. Of bf16 there is none to bytes.
            if from != "bf16" {
                push("u8", B16, |value| (value as u8).into());
                push("s8", B16, |value| (value as i8) as u64);
            }
            push("u16", B16, |value| (value as u16).into());
            push("s16", B16, |value| (value as i16) as u64);
            push("u32", B32, |value| (value as u32).into());
            push("s32", B32, |value| (value as i32) as u64);
            push("u64", B64, |value| value as u64);
            push("s64", B64, |value| (value as i64) as u64);
        }
    }
    forms
}

/// The neighbour of `near` on the wanted side of an exact integer, if `near` is not on it.
fn beside32(near: f32, exact: i128, way: &str) -> f32 {
    let found = near as i128;
    let up = match way {
        "rz" => exact < 0,
        "rm" => false,
        _ => true,
    };
    match (found.cmp(&exact), up) {
        (std::cmp::Ordering::Less, true) => near.next_up(),
        (std::cmp::Ordering::Greater, false) => near.next_down(),
        _ => near,
    }
}

fn beside64(near: f64, exact: i128, way: &str) -> f64 {
    let found = near as i128;
    let up = match way {
        "rz" => exact < 0,
        "rm" => false,
        _ => true,
    };
    match (found.cmp(&exact), up) {
        (std::cmp::Ordering::Less, true) => near.next_up(),
        (std::cmp::Ordering::Greater, false) => near.next_down(),
        _ => near,
    }
}

pub(crate) fn integers_to_floats() -> Vec<Form> {
    let sources: [(&str, Is, fn(u64) -> i128); 8] = [
        ("u8", B16, |a| (a & 0xff).into()),
        ("s8", B16, |a| sign(a & 0xff, 8)),
        ("u16", B16, |a| a.into()),
        ("s16", B16, |a| sign(a, 16)),
        ("u32", B32, |a| a.into()),
        ("s32", B32, |a| sign(a, 32)),
        ("u64", B64, |a| a.into()),
        ("s64", B64, |a| sign(a, 64)),
    ];
    let mut forms = Vec::new();
    for (from, is, exact) in sources {
        let nearest = format!("cvt.rn.f32.{from} %d, %a;");
        forms.push(form(nearest.leak(), F32, [is], move |a, _, _| {
            u64::from((exact(a) as f32).to_bits())
        }));
        let nearest = format!("cvt.rn.f64.{from} %d, %a;");
        forms.push(form(nearest.leak(), F64, [is], move |a, _, _| {
            (exact(a) as f64).to_bits()
        }));
        for way in ["rz", "rm", "rp"] {
            let text = format!("cvt.{way}.f32.{from} %d, %a;");
            forms.push(form(text.leak(), F32, [is], move |a, _, _| {
                u64::from(beside32(exact(a) as f32, exact(a), way).to_bits())
            }));
            let text = format!("cvt.{way}.f64.{from} %d, %a;");
            forms.push(form(text.leak(), F64, [is], move |a, _, _| {
                beside64(exact(a) as f64, exact(a), way).to_bits()
            }));
        }
        // As an f64 all these are exact, or beyond what an f16 holds.
        let half = format!("cvt.rn.f16.{from} %d, %a;");
        forms.push(form(half.leak(), F16, [is], move |a, _, _| {
            u64::from(crate::narrow::F16.nearest(exact(a) as f64))
        }));
        let saturated = format!("cvt.rn.sat.f32.{from} %d, %a;");
        forms.push(form(saturated.leak(), F32, [is], move |a, _, _| {
            u64::from((exact(a) as f32).clamp(0.0, 1.0).to_bits())
        }));
    }
    forms
}

fn bits32(value: f32) -> u64 {
    if value.is_nan() {
        NAN32
    } else {
        value.to_bits().into()
    }
}

/// The bits of a number; those of a NaN are for a device to tell.
fn number(value: f32) -> Option<u64> {
    (!value.is_nan()).then(|| value.to_bits().into())
}

fn flush(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

pub(crate) fn floats_to_narrower_ones() -> Vec<Form> {
    let mut forms = vec![
        form("cvt.rn.f32.f64 %d, %a;", F32, [F64], |a, _, _| {
            number(f64::from_bits(a) as f32)
        }),
        form("cvt.rn.ftz.f32.f64 %d, %a;", F32, [F64], |a, _, _| {
            number(flush(f64::from_bits(a) as f32))
        }),
        form("cvt.rn.sat.f32.f64 %d, %a;", F32, [F64], |a, _, _| {
            let value = f64::from_bits(a) as f32;
            if value > 0.0 {
                bits32(value.min(1.0))
            } else {
                0
            }
        }),
    ];
    for way in ["rz", "rm", "rp"] {
        let text = format!("cvt.{way}.f32.f64 %d, %a;");
        forms.push(form(text.leak(), F32, [F64], move |a, _, _| {
            let exact = f64::from_bits(a);
            let near = exact as f32;
            if exact.is_nan() || exact.is_infinite() || exact == 0.0 {
                return number(near);
            }
            let negative = exact < 0.0;
            let up = way == "rp" || way == "rz" && negative;
            let wide = f64::from(near);
            let value = match (exact > wide, exact < wide, up) {
                (true, _, true) => near.next_up(),
                (_, true, false) => near.next_down(),
                _ => near,
            };
            number(if value == 0.0 {
                0.0_f32.copysign(exact as f32)
            } else {
                value
            })
        }));
    }
    for (to, is, narrow) in [
        ("f16", F16, crate::narrow::F16),
        ("bf16", Bf16, crate::narrow::BF16),
    ] {
        let infinity = narrow.infinity;
        let sources: [(&str, Is, fn(u64) -> f64); 2] = [
            ("f32", F32, |a| f32::from_bits(a as u32).into()),
            ("f64", F64, f64::from_bits),
        ];
        for (from, source, exact) in sources {
            for way in ["rn", "rz", "rm", "rp"] {
                let convert = move |a: u64| {
                    let value = exact(a);
                    if value.is_nan() {
                        return 0x7fff;
                    }
                    if way == "rn" {
                        return narrow.nearest(value);
                    }
                    let negative = value.is_sign_negative();
                    let sign = if negative { 0x8000 } else { 0 };
                    let below = narrow.below(value);
                    if value.is_infinite() {
                        return sign | infinity;
                    }
                    // What is too large stays finite if it is rounded towards zero.
                    let below = below.min(infinity - 1);
                    let exact = (narrow.wide)(below) == value.abs();
                    let away = way == "rm" && negative || way == "rp" && !negative;
                    sign | if away && !exact { below + 1 } else { below }
                };
                let text = format!("cvt.{way}.{to}.{from} %d, %a;");
                forms.push(form(text.leak(), is, [source], move |a, _, _| {
                    // What is left of a NaN of 64 bits is for a device to tell.
                    let told = from == "f32" || !exact(a).is_nan();
                    told.then(|| u64::from(convert(a)))
                }));
                if from == "f32" && matches!(way, "rn" | "rz") {
                    let text = format!("cvt.{way}.{to}x2.f32 %d, %a, %b;");
                    forms.push(form(text.leak(), B32, [F32, F32], move |a, b, _| {
                        u64::from(convert(a)) << 16 | u64::from(convert(b))
                    }));
                    let relu = move |a: u64| {
                        let found = convert(a);
                        if found & 0x8000 != 0 { 0 } else { found }
                    };
                    let text = format!("cvt.{way}.relu.{to}.f32 %d, %a;");
                    forms.push(form(text.leak(), is, [F32], move |a, _, _| {
                        u64::from(relu(a))
                    }));
                    let text = format!("cvt.{way}.satfinite.{to}.f32 %d, %a;");
                    forms.push(form(text.leak(), is, [F32], move |a, _, _| {
                        let found = convert(a);
                        u64::from(if found & 0x7fff == infinity {
                            found - 1
                        } else {
                            found
                        })
                    }));
                }
            }
        }
    }
    forms.push(form("cvt.rna.tf32.f32 %d, %a;", B32, [F32], |a, _, _| {
        // Half of the last place that is kept, added to the magnitude.
        let value = f32::from_bits(a as u32);
        if value.is_infinite() {
            return Some(a);
        }
        (!value.is_nan()).then_some((a + 0x1000) & !0x1fff)
    }));
    forms
}

pub(crate) fn floats_to_wider_ones_and_to_integral_ones() -> Vec<Form> {
    let wider32 = |a: u64| f64::from(f32::from_bits(a as u32));
    let mut forms: Vec<Form> = vec![
        form("cvt.f64.f32 %d, %a;", F64, [F32], move |a, _, _| {
            let value = wider32(a);
            (!value.is_nan()).then(|| value.to_bits())
        }),
        form("cvt.ftz.f64.f32 %d, %a;", F64, [F32], |a, _, _| {
            let value = f64::from(flush(f32::from_bits(a as u32)));
            (!value.is_nan()).then(|| value.to_bits())
        }),
        form("cvt.f32.f16 %d, %a;", F32, [F16], |a, _, _| {
            bits32(f16::from_bits(a as u16).to_f32())
        }),
        form("cvt.f64.f16 %d, %a;", F64, [F16], |a, _, _| {
            let value = f16::from_bits(a as u16).to_f64();
            (!value.is_nan()).then(|| value.to_bits())
        }),
        form("cvt.f32.bf16 %d, %a;", F32, [Bf16], |a, _, _| {
            number(bf16::from_bits(a as u16).to_f32())
        }),
        form("cvt.sat.f32.f32 %d, %a;", F32, [F32], |a, _, _| {
            let value = f32::from_bits(a as u32);
            if value > 0.0 {
                bits32(value.min(1.0))
            } else {
                0
            }
        }),
    ];
    for way in ["rni", "rzi", "rmi", "rpi"] {
        let text = format!("cvt.{way}.f32.f32 %d, %a;");
        forms.push(form(text.leak(), F32, [F32], move |a, _, _| {
            bits32(integral(wider32(a), way) as f32)
        }));
        let text = format!("cvt.{way}.ftz.f32.f32 %d, %a;");
        forms.push(form(text.leak(), F32, [F32], move |a, _, _| {
            let value = flush(f32::from_bits(a as u32));
            bits32(integral(value.into(), way) as f32)
        }));
        let text = format!("cvt.{way}.f64.f64 %d, %a;");
        forms.push(form(text.leak(), F64, [F64], move |a, _, _| {
            let value = integral(f64::from_bits(a), way);
            (!value.is_nan()).then(|| value.to_bits())
        }));
        let text = format!("cvt.{way}.f16.f16 %d, %a;");
        forms.push(form(text.leak(), F16, [F16], move |a, _, _| {
            let value = f16::from_bits(
                crate::narrow::F16.nearest(integral(f16::from_bits(a as u16).to_f64(), way)),
            );
            u64::from(if value.is_nan() {
                0x7fff
            } else {
                value.to_bits()
            })
        }));
    }
    forms
}

pub(crate) fn packing() -> Vec<Form> {
    let narrow = |value: u64, bits: u32, signed: bool| {
        let (low, high) = if signed {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        } else {
            (0, (1_i128 << bits) - 1)
        };
        sign(value, 32).clamp(low, high) as u64 & ((1 << bits) - 1)
    };
    vec![
        form(
            "cvt.pack.sat.u16.s32 %d, %a, %b;",
            B32,
            [B32, B32],
            move |a, b, _| narrow(a, 16, false) << 16 | narrow(b, 16, false),
        ),
        form(
            "cvt.pack.sat.s16.s32 %d, %a, %b;",
            B32,
            [B32, B32],
            move |a, b, _| narrow(a, 16, true) << 16 | narrow(b, 16, true),
        ),
        form(
            "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            move |a, b, c| c << 16 | narrow(a, 8, false) << 8 | narrow(b, 8, false),
        ),
        form(
            "cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            move |a, b, c| c << 16 | narrow(a, 8, true) << 8 | narrow(b, 8, true),
        ),
        form(
            "cvt.pack.sat.s4.s32.b32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            move |a, b, c| c << 8 | narrow(a, 4, true) << 4 | narrow(b, 4, true),
        ),
    ]
}
