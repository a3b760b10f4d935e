//! Single and double precision. To nearest Rust's own arithmetic is the oracle; other roundings are found from
//! it by the sign of its error, which fused multiply-adds give exactly.

use crate::form::Is::{B32, B64, F32, F64, Pred};
use crate::form::{Form, form};

const NAN32: u64 = 0x7fff_ffff;
const SIGN32: u64 = 0x8000_0000;

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The bits, of a NaN those that instructions give.
fn bits32(value: f32) -> u64 {
    if value.is_nan() {
        NAN32
    } else {
        value.to_bits().into()
    }
}

/// The bits of a double; a NaN's depend on the operands, and are not for these tests.
fn bits64(value: f64) -> Option<u64> {
    (!value.is_nan()).then(|| value.to_bits())
}

fn flush(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

/// The number that an exact one rounds to, or zero if it is subnormal as if exponents went on below.
fn rounded(exact: f64) -> f32 {
    let scaled = (exact * 2f64.powi(64)) as f32;
    if scaled.abs() < 2f32.powi(64 - 126) {
        0.0_f32.copysign(exact as f32)
    } else {
        exact as f32
    }
}

fn saturate(value: f32) -> f32 {
    if value.is_nan() || value <= 0.0 {
        0.0
    } else {
        value.min(1.0)
    }
}

pub(crate) fn single_to_nearest() -> Vec<Form> {
    let two = |f: fn(f32, f32) -> f32| move |a, b, _| bits32(f(f32_of(a), f32_of(b)));
    // In double precision all these are close enough to exact that rounding again is right.
    let ftz = |f: fn(f64, f64) -> f64| {
        move |a, b, _| bits32(rounded(f(flush(f32_of(a)).into(), flush(f32_of(b)).into())))
    };
    vec![
        form("add.f32 %d, %a, %b;", F32, [F32, F32], two(|a, b| a + b)),
        form("add.rn.f32 %d, %a, %b;", F32, [F32, F32], two(|a, b| a + b)),
        form("sub.f32 %d, %a, %b;", F32, [F32, F32], two(|a, b| a - b)),
        form("mul.f32 %d, %a, %b;", F32, [F32, F32], two(|a, b| a * b)),
        form("div.rn.f32 %d, %a, %b;", F32, [F32, F32], two(|a, b| a / b)),
        form(
            "add.ftz.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            ftz(|a, b| a + b),
        ),
        form(
            "sub.ftz.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            ftz(|a, b| a - b),
        ),
        form(
            "mul.ftz.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            ftz(|a, b| a * b),
        ),
        form(
            "div.rn.ftz.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            ftz(|a, b| a / b),
        ),
        form(
            "add.sat.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            two(|a, b| saturate(a + b)),
        ),
        form(
            "mul.sat.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            two(|a, b| saturate(a * b)),
        ),
        form(
            "fma.rn.f32 %d, %a, %b, %c;",
            F32,
            [F32, F32, F32],
            |a, b, c| bits32(f32_of(a).mul_add(f32_of(b), f32_of(c))),
        ),
        form(
            "mad.rn.f32 %d, %a, %b, %c;",
            F32,
            [F32, F32, F32],
            |a, b, c| bits32(f32_of(a).mul_add(f32_of(b), f32_of(c))),
        ),
        form(
            "fma.rn.ftz.sat.f32 %d, %a, %b, %c;",
            F32,
            [F32, F32, F32],
            |a, b, c| {
                let [a, b, c] = [a, b, c].map(|bits| flush(f32_of(bits)));
                let value = flush(a.mul_add(b, c));
                let least = value.abs() == f32::MIN_POSITIVE;
                let exact = f64::from(a) * f64::from(b) + f64::from(c);
                bits32(saturate(if least { rounded(exact) } else { value }))
            },
        ),
        form("rcp.rn.f32 %d, %a;", F32, [F32], |a, _, _| {
            bits32(1.0 / f32_of(a))
        }),
        form("sqrt.rn.f32 %d, %a;", F32, [F32], |a, _, _| {
            bits32(f32_of(a).sqrt())
        }),
        form("sqrt.rn.ftz.f32 %d, %a;", F32, [F32], |a, _, _| {
            bits32(flush(f32_of(a)).sqrt())
        }),
        form("neg.f32 %d, %a;", F32, [F32], |a, _, _| bits32(-f32_of(a))),
        form("neg.ftz.f32 %d, %a;", F32, [F32], |a, _, _| {
            bits32(-flush(f32_of(a)))
        }),
        form("abs.f32 %d, %a;", F32, [F32], |a, _, _| {
            bits32(f32_of(a).abs())
        }),
        form("copysign.f32 %d, %a, %b;", F32, [F32, F32], |a, b, _| {
            a & SIGN32 | b & !SIGN32
        }),
    ]
}

/// An exact number as a sum of two, the second smaller than the last place of the first.
#[derive(Clone, Copy)]
struct Sum {
    head: f64,
    tail: f64,
    /// The sign of an exact zero, rounded to nearest and down.
    zero: [f64; 2],
}

fn two_sum(a: f64, b: f64) -> Sum {
    let head = a + b;
    let of_b = head - a;
    let tail = (a - (head - of_b)) + (b - of_b);
    // Zeros of one sign keep it; what cancels is positive, and negative when rounded down.
    let same = a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative();
    let zero = if same { [a, a] } else { [0.0, -0.0] };
    Sum { head, tail, zero }
}

fn exactly(head: f64) -> Sum {
    Sum {
        head,
        tail: 0.0,
        zero: [head, head],
    }
}

/// The sum rounded to single precision: 'z'ero, 'm'inus, 'p'lus.
fn directed32(sum: Sum, way: char) -> f32 {
    let near = sum.head as f32;
    if !sum.head.is_finite() {
        return near;
    }
    if sum.head == 0.0 && sum.tail == 0.0 {
        return sum.zero[usize::from(way == 'm')] as f32;
    }
    let negative = sum.head < 0.0 || sum.head == 0.0 && sum.tail < 0.0;
    let up = match way {
        'z' => negative,
        'm' => false,
        _ => true,
    };
    if near.is_infinite() {
        // It is finite, so one side is the largest finite number.
        return if up == negative {
            near.signum() * f32::MAX
        } else {
            near
        };
    }
    // The difference of numbers that close is exact.
    let error = sum.head - f64::from(near);
    let above = error > 0.0 || error == 0.0 && sum.tail > 0.0;
    let below = error < 0.0 || error == 0.0 && sum.tail < 0.0;
    let rounded = match (above, below, up) {
        (true, _, true) => near.next_up(),
        (_, true, false) => near.next_down(),
        _ => near,
    };
    if rounded == 0.0 {
        0.0_f32.copysign(if negative { -1.0 } else { 1.0 })
    } else {
        rounded
    }
}

/// A quotient or root whose residual has that sign.
fn from_residual(head: f64, residual: f64) -> Sum {
    Sum {
        head,
        tail: residual,
        zero: [head, head],
    }
}

fn quotient(a: f64, b: f64) -> Sum {
    let head = a / b;
    if !head.is_finite() || head == 0.0 || !b.is_finite() {
        return exactly(head);
    }
    let residual = (-head).mul_add(b, a);
    from_residual(head, residual * b.signum())
}

fn root(a: f64) -> Sum {
    let head = a.sqrt();
    if !head.is_finite() || head == 0.0 {
        return exactly(head);
    }
    from_residual(head, (-head).mul_add(head, a))
}

fn wide(bits: u64) -> f64 {
    f32_of(bits).into()
}

pub(crate) fn single_to_other_sides() -> Vec<Form> {
    let add = |way| move |a, b, _| bits32(directed32(two_sum(wide(a), wide(b)), way));
    let sub = |way| move |a, b, _| bits32(directed32(two_sum(wide(a), -wide(b)), way));
    let mul = |way| move |a, b, _| bits32(directed32(exactly(wide(a) * wide(b)), way));
    let fma = |way| move |a, b, c| bits32(directed32(two_sum(wide(a) * wide(b), wide(c)), way));
    let div = |way| move |a, b, _| bits32(directed32(quotient(wide(a), wide(b)), way));
    let rcp = |way| move |a, _, _| bits32(directed32(quotient(1.0, wide(a)), way));
    let sqrt = |way| move |a, _, _| bits32(directed32(root(wide(a)), way));
    vec![
        form("add.rz.f32 %d, %a, %b;", F32, [F32, F32], add('z')),
        form("add.rm.f32 %d, %a, %b;", F32, [F32, F32], add('m')),
        form("add.rp.f32 %d, %a, %b;", F32, [F32, F32], add('p')),
        form("sub.rm.f32 %d, %a, %b;", F32, [F32, F32], sub('m')),
        form("mul.rz.f32 %d, %a, %b;", F32, [F32, F32], mul('z')),
        form("mul.rm.f32 %d, %a, %b;", F32, [F32, F32], mul('m')),
        form("mul.rp.f32 %d, %a, %b;", F32, [F32, F32], mul('p')),
        form("fma.rz.f32 %d, %a, %b, %c;", F32, [F32, F32, F32], fma('z')),
        form("fma.rm.f32 %d, %a, %b, %c;", F32, [F32, F32, F32], fma('m')),
        form("fma.rp.f32 %d, %a, %b, %c;", F32, [F32, F32, F32], fma('p')),
        form("div.rz.f32 %d, %a, %b;", F32, [F32, F32], div('z')),
        form("div.rm.f32 %d, %a, %b;", F32, [F32, F32], div('m')),
        form("div.rp.f32 %d, %a, %b;", F32, [F32, F32], div('p')),
        form("rcp.rz.f32 %d, %a;", F32, [F32], rcp('z')),
        form("rcp.rp.f32 %d, %a;", F32, [F32], rcp('p')),
        form("sqrt.rz.f32 %d, %a;", F32, [F32], sqrt('z')),
        form("sqrt.rm.f32 %d, %a;", F32, [F32], sqrt('m')),
        form("sqrt.rp.f32 %d, %a;", F32, [F32], sqrt('p')),
        form("add.rz.ftz.f32 %d, %a, %b;", F32, [F32, F32], |a, b, _| {
            let [a, b] = [a, b].map(|bits| f64::from(flush(f32_of(bits))));
            bits32(flush(directed32(two_sum(a, b), 'z')))
        }),
        form("mul.rp.sat.f32 %d, %a, %b;", F32, [F32, F32], |a, b, _| {
            bits32(saturate(directed32(exactly(wide(a) * wide(b)), 'p')))
        }),
    ]
}

pub(crate) fn double_to_nearest() -> Vec<Form> {
    let two = |f: fn(f64, f64) -> f64| move |a, b, _| bits64(f(f64_of(a), f64_of(b)));
    vec![
        form("add.f64 %d, %a, %b;", F64, [F64, F64], two(|a, b| a + b)),
        form("sub.rn.f64 %d, %a, %b;", F64, [F64, F64], two(|a, b| a - b)),
        form("mul.f64 %d, %a, %b;", F64, [F64, F64], two(|a, b| a * b)),
        form("div.rn.f64 %d, %a, %b;", F64, [F64, F64], two(|a, b| a / b)),
        form(
            "fma.rn.f64 %d, %a, %b, %c;",
            F64,
            [F64, F64, F64],
            |a, b, c| bits64(f64_of(a).mul_add(f64_of(b), f64_of(c))),
        ),
        form("rcp.rn.f64 %d, %a;", F64, [F64], |a, _, _| {
            bits64(1.0 / f64_of(a))
        }),
        form("sqrt.rn.f64 %d, %a;", F64, [F64], |a, _, _| {
            bits64(f64_of(a).sqrt())
        }),
        form("neg.f64 %d, %a;", F64, [F64], |a, _, _| bits64(-f64_of(a))),
        form("abs.f64 %d, %a;", F64, [F64], |a, _, _| {
            bits64(f64_of(a).abs())
        }),
        form("copysign.f64 %d, %a, %b;", F64, [F64, F64], |a, b, _| {
            a & 1 << 63 | b & !(1 << 63)
        }),
    ]
}

/// The result to nearest, moved to the side that the sign of its error says.
fn directed64(near: f64, error: f64, way: char) -> f64 {
    let up = match way {
        'z' => near < 0.0,
        'm' => false,
        _ => true,
    };
    match (error > 0.0, error < 0.0, up) {
        (true, _, true) => near.next_up(),
        (_, true, false) => near.next_down(),
        _ => near,
    }
}

/// Whether errors of such results are exact: neither close to the largest nor to the smallest numbers.
fn tame(values: &[f64]) -> bool {
    values
        .iter()
        .all(|value| (1e-250..1e250).contains(&value.abs()))
}

pub(crate) fn double_to_other_sides() -> Vec<Form> {
    let add = |way| {
        move |a, b, _| {
            let sum = two_sum(f64_of(a), f64_of(b));
            tame(&[sum.head]).then(|| directed64(sum.head, sum.tail, way).to_bits())
        }
    };
    let mul = |way| {
        move |a, b, _| {
            let (a, b) = (f64_of(a), f64_of(b));
            let near = a * b;
            let error = a.mul_add(b, -near);
            tame(&[near]).then(|| directed64(near, error, way).to_bits())
        }
    };
    let div = |way| {
        move |a, b, _| {
            let (a, b) = (f64_of(a), f64_of(b));
            let sum = quotient(a, b);
            tame(&[a, b, sum.head]).then(|| directed64(sum.head, sum.tail, way).to_bits())
        }
    };
    let sqrt = |way| {
        move |a, _, _| {
            let sum = root(f64_of(a));
            tame(&[f64_of(a)])
                .then(|| bits64(directed64(sum.head, sum.tail, way)))
                .flatten()
        }
    };
    // Products that are exact and sums whose error is: what is left of a fused operation.
    let fma = |way| {
        move |a: u64, b, c| {
            let (a, b, c) = (f64_of(a & !0x7ff_ffff), f64_of(b & !0x7ff_ffff), f64_of(c));
            let sum = two_sum(a * b, c);
            (tame(&[a * b, sum.head])).then(|| directed64(sum.head, sum.tail, way).to_bits())
        }
    };
    const CUT: &str = "{ .reg .b64 x, y; and.b64 x, %a, 0xfffffffff8000000; \
        and.b64 y, %b, 0xfffffffff8000000; fma.rz.f64 %d, x, y, %c; }";
    const CUT_UP: &str = "{ .reg .b64 x, y; and.b64 x, %a, 0xfffffffff8000000; \
        and.b64 y, %b, 0xfffffffff8000000; fma.rp.f64 %d, x, y, %c; }";
    vec![
        form("add.rz.f64 %d, %a, %b;", F64, [F64, F64], add('z')),
        form("add.rm.f64 %d, %a, %b;", F64, [F64, F64], add('m')),
        form("add.rp.f64 %d, %a, %b;", F64, [F64, F64], add('p')),
        form("mul.rz.f64 %d, %a, %b;", F64, [F64, F64], mul('z')),
        form("mul.rm.f64 %d, %a, %b;", F64, [F64, F64], mul('m')),
        form("mul.rp.f64 %d, %a, %b;", F64, [F64, F64], mul('p')),
        form("div.rz.f64 %d, %a, %b;", F64, [F64, F64], div('z')),
        form("div.rm.f64 %d, %a, %b;", F64, [F64, F64], div('m')),
        form("div.rp.f64 %d, %a, %b;", F64, [F64, F64], div('p')),
        form("sqrt.rz.f64 %d, %a;", F64, [F64], sqrt('z')),
        form("sqrt.rm.f64 %d, %a;", F64, [F64], sqrt('m')),
        form("sqrt.rp.f64 %d, %a;", F64, [F64], sqrt('p')),
        form(CUT, F64, [F64, F64, F64], fma('z')),
        form(CUT_UP, F64, [F64, F64, F64], fma('p')),
        // At the ends of the range.
        form(
            "add.rz.f64 %d, %a, 0d7FEFFFFFFFFFFFFF;",
            F64,
            [F64],
            |a, _, _| {
                let a = f64_of(a);
                (a.is_finite() && a > 0.0).then(|| f64::MAX.to_bits())
            },
        ),
        form(
            "mul.rz.f64 %d, %a, 0d0010000000000000;",
            F64,
            [F64],
            |a, _, _| {
                // Half of the least normal number, and below: cut off in units of the least.
                let a = f64_of(a);
                let quarter = (0.5..1.0).contains(&a.abs());
                let units = (a.abs() * 2f64.powi(52)).floor() as u64;
                quarter.then(|| units | u64::from(a < 0.0) << 63)
            },
        ),
    ]
}

/// The smaller or larger as PTX ISA 9.7.3 has them: −0 below +0, numbers before NaNs.
fn extreme32(a: f32, b: f32, max: bool) -> u64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => NAN32,
        (true, false) => b.to_bits().into(),
        (false, true) => a.to_bits().into(),
        _ if a.total_cmp(&b).is_lt() != max => a.to_bits().into(),
        _ => b.to_bits().into(),
    }
}

pub(crate) fn smaller_and_larger() -> Vec<Form> {
    let pick = |max| move |a, b, _| extreme32(f32_of(a), f32_of(b), max);
    let nan = |max| {
        move |a, b, _| {
            let (a, b) = (f32_of(a), f32_of(b));
            if a.is_nan() || b.is_nan() {
                NAN32
            } else {
                extreme32(a, b, max)
            }
        }
    };
    vec![
        form("min.f32 %d, %a, %b;", F32, [F32, F32], pick(false)),
        form("max.f32 %d, %a, %b;", F32, [F32, F32], pick(true)),
        form("min.NaN.f32 %d, %a, %b;", F32, [F32, F32], nan(false)),
        form("max.NaN.f32 %d, %a, %b;", F32, [F32, F32], nan(true)),
        form("max.ftz.f32 %d, %a, %b;", F32, [F32, F32], |a, b, _| {
            extreme32(flush(f32_of(a)), flush(f32_of(b)), true)
        }),
        form(
            "min.xorsign.abs.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            |a, b, _| {
                let found = extreme32(f32_of(a).abs(), f32_of(b).abs(), false);
                if found == NAN32 {
                    found
                } else {
                    found | (a ^ b) & SIGN32
                }
            },
        ),
        form(
            "max.f32 %d, %a, %b, %c;",
            F32,
            [F32, F32, F32],
            |a, b, c| {
                let first = extreme32(f32_of(a), f32_of(b), true);
                extreme32(f32_of(first), f32_of(c), true)
            },
        ),
        form("min.f64 %d, %a, %b;", F64, [F64, F64], |a, b, _| {
            let (a, b) = (f64_of(a), f64_of(b));
            match (a.is_nan(), b.is_nan()) {
                (true, true) => None,
                (true, false) => Some(b.to_bits()),
                (false, true) => Some(a.to_bits()),
                _ if a.total_cmp(&b).is_lt() => Some(a.to_bits()),
                _ => Some(b.to_bits()),
            }
        }),
        form("max.f64 %d, %a, %b;", F64, [F64, F64], |a, b, _| {
            let (a, b) = (f64_of(a), f64_of(b));
            match (a.is_nan(), b.is_nan()) {
                (true, true) => None,
                (true, false) => Some(b.to_bits()),
                (false, true) => Some(a.to_bits()),
                _ if a.total_cmp(&b).is_gt() => Some(a.to_bits()),
                _ => Some(b.to_bits()),
            }
        }),
    ]
}

pub(crate) fn classes() -> Vec<Form> {
    vec![
        form("testp.finite.f32 %d, %a;", Pred, [F32], |a, _, _| {
            u64::from(f32_of(a).is_finite())
        }),
        form("testp.infinite.f32 %d, %a;", Pred, [F32], |a, _, _| {
            u64::from(f32_of(a).is_infinite())
        }),
        form("testp.number.f32 %d, %a;", Pred, [F32], |a, _, _| {
            u64::from(!f32_of(a).is_nan())
        }),
        form("testp.notanumber.f64 %d, %a;", Pred, [F64], |a, _, _| {
            u64::from(f64_of(a).is_nan())
        }),
        form("testp.normal.f32 %d, %a;", Pred, [F32], |a, _, _| {
            u64::from(f32_of(a).is_normal() || f32_of(a) == 0.0)
        }),
        form("testp.subnormal.f64 %d, %a;", Pred, [F64], |a, _, _| {
            u64::from(f64_of(a).is_subnormal())
        }),
    ]
}

pub(crate) fn constants() -> Vec<Form> {
    vec![
        form("add.f32 %d, %a, 0f3FC00000;", F32, [F32], |a, _, _| {
            bits32(f32_of(a) + 1.5)
        }),
        form(
            "mul.f64 %d, %a, 0d4000000000000000;",
            F64,
            [F64],
            |a, _, _| bits64(f64_of(a) * 2.0),
        ),
        form("add.f32 %d, %a, 1.5;", F32, [F32], |a, _, _| {
            bits32(f32_of(a) + 1.5)
        }),
        form("add.s32 %d, %a, -1;", B32, [B32], |a, _, _| {
            a.wrapping_sub(1)
        }),
        form(
            "and.b64 %d, %a, 0xFFFFFFFF00000000;",
            B64,
            [B64],
            |a, _, _| a >> 32 << 32,
        ),
        form("add.s32 %d, %a, WARP_SZ;", B32, [B32], |a, _, _| a + 32),
    ]
}
