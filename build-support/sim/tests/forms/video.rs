//! Video instructions, and conversions from and to small floating-point formats.

use crate::form::Is::{B32, B64, F16x2, F32};
use crate::form::{Form, form};

/// A byte or a half of a word, with or without its sign.
fn part(a: u64, at: u32, bits: u32, signed: bool) -> i64 {
    let part = (a >> (at * bits) & ((1 << bits) - 1)) as i64;
    if signed && part >> (bits - 1) != 0 {
        part - (1 << bits)
    } else {
        part
    }
}

pub(crate) fn scalars() -> Vec<Form> {
    let three = [B32, B32, B32];
    vec![
        form(
            "vadd.s32.u32.s32.sat %d, %a.b1, %b.h1;",
            B32,
            [B32, B32],
            |a, b, _| (part(a, 1, 8, false) + part(b, 1, 16, true)) as u64,
        ),
        form(
            "vsub.u32.u32.u32.sat %d, %a, %b;",
            B32,
            [B32, B32],
            |a, b, _| a.saturating_sub(b),
        ),
        form(
            "vabsdiff.s32.s32.s32.add %d, %a, %b, %c;",
            B32,
            three,
            |a, b, c| u64::from((a as i32).abs_diff(b as i32)) + c,
        ),
        form(
            "vmax.s32.s32.s32.sat %d.h1, %a.b3, %b.h0, %c;",
            B32,
            three,
            |a, b, c| {
                let value = part(a, 3, 8, true).max(part(b, 0, 16, true));
                c & 0xffff | (value as u64 & 0xffff) << 16
            },
        ),
        form(
            "vmin.u32.u32.u32.max %d, %a, %b, %c;",
            B32,
            three,
            |a, b, c| a.min(b).max(c),
        ),
        form(
            "vshl.u32.u32.u32.clamp %d, %a, %b;",
            B32,
            [B32, B32],
            |a, b, _| {
                if b > 31 { 0 } else { a << b }
            },
        ),
        form(
            "vshr.s32.s32.u32.wrap %d, %a, %b.b0;",
            B32,
            [B32, B32],
            |a, b, _| (i64::from(a as i32) >> (b & 31)) as u64,
        ),
        form(
            "vset.s32.u32.lt.add %d, %a, %b, %c;",
            B32,
            three,
            |a, b, c| u64::from(i64::from(a as i32) < b as i64) + c,
        ),
        form(
            "vmad.s32.s32.u32.sat %d, %a.h0, %b.h1, %c;",
            B32,
            three,
            |a, b, c| {
                let sum = part(a, 0, 16, true) * part(b, 1, 16, false) + i64::from(c as i32);
                sum.clamp(i32::MIN.into(), i32::MAX.into()) as u64
            },
        ),
        form(
            "vmad.u32.u32.u32.po.shr7 %d, %a.h0, %b.h0, %c;",
            B32,
            three,
            |a, b, c| ((a & 0xffff) * (b & 0xffff) + c + 1) >> 7,
        ),
    ]
}

pub(crate) fn packed() -> Vec<Form> {
    let three = [B32, B32, B32];
    let four = |f: fn(i64, i64) -> i64, signed: bool| {
        move |a: u64, b: u64, _| {
            (0..4).fold(0, |word, at| {
                let value = f(part(a, at, 8, signed), part(b, at, 8, signed));
                word | (value as u64 & 0xff) << (8 * at)
            })
        }
    };
    vec![
        form(
            "vadd4.u32.u32.u32 %d, %a, %b, %c;",
            B32,
            three,
            four(|a, b| a + b, false),
        ),
        form(
            "vadd4.u32.u32.u32.sat %d, %a, %b, %c;",
            B32,
            three,
            four(|a, b| (a + b).min(255), false),
        ),
        form(
            "vsub4.s32.s32.s32.sat %d, %a, %b, %c;",
            B32,
            three,
            four(|a, b| (a - b).clamp(-128, 127), true),
        ),
        form(
            "vavrg4.u32.u32.u32 %d, %a, %b, %c;",
            B32,
            three,
            four(|a, b| (a + b + 1) >> 1, false),
        ),
        form(
            "vmin4.s32.s32.s32 %d, %a, %b, %c;",
            B32,
            three,
            four(i64::min, true),
        ),
        form(
            "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;",
            B32,
            three,
            |a, b, c| {
                let differences =
                    (0..4).map(|at| part(a, at, 8, false).abs_diff(part(b, at, 8, false)));
                differences.sum::<u64>() + c
            },
        ),
        form(
            "vadd4.s32.u32.u32.sat %d.b20, %a.b7531, %b.b6420, %c;",
            B32,
            three,
            |a, b, c| {
                let both = b << 32 | a;
                (0..4).fold(0, |word, at| {
                    let value = part(both, 2 * at + 1, 8, false) + part(both, 2 * at, 8, false);
                    let byte = if at % 2 == 0 {
                        value.min(127) as u64
                    } else {
                        c >> (8 * at)
                    };
                    word | (byte & 0xff) << (8 * at)
                })
            },
        ),
        form(
            "vmax2.s32.s32.s32 %d, %a, %b, %c;",
            B32,
            three,
            |a, b, _| {
                (0..2).fold(0, |word, at| {
                    let value = part(a, at, 16, true).max(part(b, at, 16, true));
                    word | (value as u64 & 0xffff) << (16 * at)
                })
            },
        ),
        form(
            "vset2.u32.u32.ge %d.h1, %a, %b, %c;",
            B32,
            three,
            |a, b, c| c & 0xffff | u64::from(part(a, 1, 16, false) >= part(b, 1, 16, false)) << 16,
        ),
    ]
}

/// A format given by its numbers: the value of each magnitude.
fn values(exponent: i32, mantissa: u32, count: u64) -> Vec<f64> {
    let bias = (1 << (exponent - 1)) - 1;
    (0..count)
        .map(|code| {
            let field = (code >> mantissa) as i32;
            let fraction = (code & ((1 << mantissa) - 1)) as f64 / f64::from(1 << mantissa);
            if field == 0 {
                fraction * 2f64.powi(1 - bias)
            } else {
                (1.0 + fraction) * 2f64.powi(field - bias)
            }
        })
        .collect()
}

/// The code of the closest value, the even one of two; one too large becomes the largest.
fn closest(values: &[f64], value: f64) -> u64 {
    let largest = values.last().copied().unwrap_or(0.0);
    let value = value.abs().min(largest);
    let distance = |code: usize| (values[code] - value).abs();
    let best = (0..values.len()).min_by(|a, b| {
        distance(*a)
            .total_cmp(&distance(*b))
            .then((a & 1).cmp(&(b & 1)))
    });
    best.unwrap_or(0) as u64
}

pub(crate) fn small_formats() -> Vec<Form> {
    let f32_of = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let f16_of = |bits: u64| half::f16::from_bits(bits as u16).to_f64();
    let mut forms = Vec::new();
    for (name, exponent, mantissa, count, nan, bits) in [
        ("e4m3x2", 4, 3, 127, 0x7f, 8),
        ("e5m2x2", 5, 2, 124, 0x7f, 8),
        ("e2m3x2", 2, 3, 32, 0x1f, 8),
        ("e3m2x2", 3, 2, 32, 0x1f, 8),
        ("e2m1x2", 2, 1, 8, 7, 4),
    ] {
        let table = values(exponent, mantissa, count);
        let sign = 1_u64 << (exponent as u32 + mantissa);
        let narrow = {
            let table = table.clone();
            move |value: f64| {
                if value.is_nan() {
                    return nan;
                }
                let sign = if value.is_sign_negative() { sign } else { 0 };
                sign | closest(&table, value)
            }
        };
        // Of `e2m1x2` the register has 8 bits, which a word holds.
        let from32 = if bits == 4 {
            format!("{{ .reg .b8 t; cvt.rn.satfinite.{name}.f32 t, %a, %b; cvt.u32.u8 %d, t; }}")
        } else {
            format!("{{ .reg .b16 t; cvt.rn.satfinite.{name}.f32 t, %a, %b; cvt.u32.u16 %d, t; }}")
        };
        let one = narrow.clone();
        forms.push(form(from32.leak(), B32, [F32, F32], move |a, b, _| {
            one(f32_of(a)) << bits | one(f32_of(b))
        }));
        if bits == 8 {
            let from16 = format!(
                "{{ .reg .b16 t; cvt.rn.satfinite.{name}.f16x2 t, %a; cvt.u32.u16 %d, t; }}"
            );
            let one = narrow.clone();
            forms.push(form(from16.leak(), B32, [F16x2], move |a, _, _| {
                one(f16_of(a >> 16)) << 8 | one(f16_of(a & 0xffff))
            }));
            let relu = format!(
                "{{ .reg .b16 t; cvt.rn.satfinite.relu.{name}.f32 t, %a, %b; cvt.u32.u16 %d, t; }}"
            );
            forms.push(form(relu.leak(), B32, [F32, F32], move |a, b, _| {
                let one = |bits: u64| {
                    if f32_of(bits) < 0.0
                        || f32_of(bits).is_sign_negative() && !f32_of(bits).is_nan()
                    {
                        0
                    } else {
                        narrow(f32_of(bits))
                    }
                };
                one(a) << 8 | one(b)
            }));
            let to16 = format!("{{ .reg .b16 t; cvt.u16.u32 t, %a; cvt.rn.f16x2.{name} %d, t; }}");
            forms.push(form(to16.leak(), B32, [B32], move |a, _, _| {
                let one = |code: u64| {
                    let magnitude = code & (sign - 1);
                    let negative = if code & sign != 0 { 0x8000 } else { 0 };
                    match table.get(magnitude as usize) {
                        Some(value) => negative | u64::from(half::f16::from_f64(*value).to_bits()),
                        None if name == "e5m2x2" && magnitude == 0x7c => negative | 0x7c00,
                        None => 0x7fff,
                    }
                };
                one(a >> 8 & 0xff) << 16 | one(a & 0xff)
            }));
        }
    }
    forms
}

pub(crate) fn pairs_and_mixed_precision() -> Vec<Form> {
    let bits = |value: f32| {
        let bits = if value.is_nan() {
            0x7fff_ffff
        } else {
            value.to_bits()
        };
        u64::from(bits)
    };
    let two = |f: fn(f32, f32, f32) -> f32| {
        move |a: u64, b: u64, c: u64| {
            let part = |row: u64, at: u32| f32::from_bits((row >> at) as u32);
            let half = |at| bits(f(part(a, at), part(b, at), part(c, at)));
            half(32) << 32 | half(0)
        }
    };
    let f16_of = |bits: u64| half::f16::from_bits(bits as u16).to_f32();
    let bf16_of = |bits: u64| half::bf16::from_bits(bits as u16).to_f32();
    let f32_of = |bits: u64| f32::from_bits(bits as u32);
    use crate::form::Is::{Bf16, F16};
    vec![
        form(
            "add.rn.f32x2 %d, %a, %b;",
            B64,
            [B64, B64],
            two(|a, b, _| a + b),
        ),
        form(
            "mul.f32x2 %d, %a, %b;",
            B64,
            [B64, B64],
            two(|a, b, _| a * b),
        ),
        form(
            "fma.rn.f32x2 %d, %a, %b, %c;",
            B64,
            [B64, B64, B64],
            two(f32::mul_add),
        ),
        form(
            "add.f32.f16 %d, %a, %b;",
            F32,
            [F16, F32],
            move |a, b, _| bits(f16_of(a) + f32_of(b)),
        ),
        form(
            "fma.rn.f32.bf16 %d, %a, %b, %c;",
            F32,
            [Bf16, Bf16, F32],
            move |a, b, c| bits(bf16_of(a).mul_add(bf16_of(b), f32_of(c))),
        ),
    ]
}
