//! Half precision and bfloat16: every operation rounded once, against exact results in double precision.

use crate::form::Is::{self, B16, Bf16, Bf16x2, F16, F16x2};
use crate::form::{Form, form};
use half::{bf16, f16};

/// A format: from bits, and from an exact number.
#[derive(Clone, Copy)]
struct Format {
    name: &'static str,
    is: Is,
    packed: Is,
    wide: fn(u64) -> f64,
    /// The number that the sum of two rounds to, the second smaller than the last place of the first.
    narrow: fn(f64, f64) -> u64,
}

const NAN: u64 = 0x7fff;

/// A sum as one number whose last bit is odd if it is not exact; then rounding to fewer bits is right.
fn odd(head: f64, tail: f64) -> f64 {
    let bits = head.to_bits();
    if tail == 0.0 || tail.is_nan() || !head.is_finite() || bits & 1 == 1 {
        return head;
    }
    let away = (tail > 0.0) == (head > 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

const FORMATS: [Format; 2] = [
    Format {
        name: "f16",
        is: F16,
        packed: F16x2,
        wide: |bits| f16::from_bits(bits as u16).to_f64(),
        narrow: |head, tail| crate::narrow::F16.nearest(odd(head, tail)).into(),
    },
    Format {
        name: "bf16",
        is: Bf16,
        packed: Bf16x2,
        wide: |bits| bf16::from_bits(bits as u16).to_f64(),
        narrow: |head, tail| crate::narrow::BF16.nearest(odd(head, tail)).into(),
    },
];

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let head = a + b;
    let of_b = head - a;
    (head, (a - (head - of_b)) + (b - of_b))
}

/// The form for one number and for two in a register.
fn both(
    format: Format,
    text: &str,
    count: usize,
    f: impl Fn(u64, u64, u64) -> u64 + Copy + 'static,
) -> [Form; 2] {
    let operands = ["%a", "%b", "%c"][..count].join(", ");
    let one = format!("{text}.{} %d, {operands};", format.name);
    let two = format!("{text}.{}x2 %d, {operands};", format.name);
    let packed = move |a: u64, b: u64, c: u64| {
        let low = f(a & 0xffff, b & 0xffff, c & 0xffff);
        f(a >> 16, b >> 16, c >> 16) << 16 | low
    };
    [
        form(one.leak(), B16, vec![format.is; count], f),
        form(
            two.leak(),
            format.packed,
            vec![format.packed; count],
            packed,
        ),
    ]
}

pub(crate) fn arithmetic() -> Vec<Form> {
    let mut forms = Vec::new();
    for format in FORMATS {
        let Format { wide, narrow, .. } = format;
        let add = move |a, b, _| {
            let (head, tail) = two_sum(wide(a), wide(b));
            narrow(head, tail)
        };
        let sub = move |a, b, _| {
            let (head, tail) = two_sum(wide(a), -wide(b));
            narrow(head, tail)
        };
        let mul = move |a, b, _| narrow(wide(a) * wide(b), 0.0);
        let fma = move |a, b, c| {
            let (head, tail) = two_sum(wide(a) * wide(b), wide(c));
            narrow(head, tail)
        };
        let relu = move |a, b, c| {
            let value = fma(a, b, c);
            if value & 0x8000 != 0 { 0 } else { value }
        };
        forms.extend(both(format, "add", 2, add));
        forms.extend(both(format, "add.rn", 2, add));
        forms.extend(both(format, "sub", 2, sub));
        forms.extend(both(format, "mul.rn", 2, mul));
        forms.extend(both(format, "fma.rn", 3, fma));
        forms.extend(both(format, "fma.rn.relu", 3, relu));
        let number = move |a, changed| if wide(a).is_nan() { NAN } else { changed };
        forms.extend(both(format, "neg", 1, move |a, _, _| number(a, a ^ 0x8000)));
        forms.extend(both(format, "abs", 1, move |a, _, _| number(a, a & 0x7fff)));
    }
    forms
}

pub(crate) fn saturated_and_flushed() -> Vec<Form> {
    let f16_format = FORMATS[0];
    let Format { wide, narrow, .. } = f16_format;
    let saturate = |bits: u64| match bits {
        bits if bits & 0x8000 != 0 || bits > 0x7c00 => 0,
        bits => bits.min(0x3c00),
    };
    let flush = |bits: u64| {
        if bits & 0x7c00 == 0 {
            bits & 0x8000
        } else {
            bits
        }
    };
    // What is subnormal as if exponents went on below becomes zero.
    let flushed = move |head: f64, tail: f64| {
        let scaled = narrow(head * 1024.0, tail * 1024.0) & 0x7fff;
        let bits = narrow(head, tail);
        if scaled < 0x2c00 { bits & 0x8000 } else { bits }
    };
    let mut forms = Vec::new();
    forms.extend(both(f16_format, "add.sat", 2, move |a, b, _| {
        let (head, tail) = two_sum(wide(a), wide(b));
        saturate(narrow(head, tail))
    }));
    forms.extend(both(f16_format, "mul.ftz", 2, move |a, b, _| {
        flushed(wide(flush(a)) * wide(flush(b)), 0.0)
    }));
    forms.extend(both(f16_format, "fma.rn.ftz.sat", 3, move |a, b, c| {
        let (head, tail) = two_sum(wide(flush(a)) * wide(flush(b)), wide(flush(c)));
        saturate(flushed(head, tail))
    }));
    forms
}

pub(crate) fn smaller_and_larger() -> Vec<Form> {
    let mut forms = Vec::new();
    for format in FORMATS {
        let wide = format.wide;
        let pick = move |a: u64, b: u64, max: bool| {
            let (x, y) = (wide(a), wide(b));
            match (x.is_nan(), y.is_nan()) {
                (true, true) => NAN,
                (true, false) => b,
                (false, true) => a,
                _ if x.total_cmp(&y).is_lt() != max => a,
                _ => b,
            }
        };
        forms.extend(both(format, "min", 2, move |a, b, _| pick(a, b, false)));
        forms.extend(both(format, "max", 2, move |a, b, _| pick(a, b, true)));
        forms.extend(both(format, "max.NaN", 2, move |a, b, _| {
            if wide(a).is_nan() || wide(b).is_nan() {
                NAN
            } else {
                pick(a, b, true)
            }
        }));
        forms.extend(both(format, "min.xorsign.abs", 2, move |a, b, _| {
            let found = pick(a & 0x7fff, b & 0x7fff, false);
            if wide(found).is_nan() {
                NAN
            } else {
                found | (a ^ b) & 0x8000
            }
        }));
    }
    forms
}
