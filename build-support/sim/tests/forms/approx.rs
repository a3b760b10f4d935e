//! What PTX computes approximately: within the bounds that the ISA gives (9.7.3), and exact where it says so.

use crate::common::{Random, Sim};
use crate::form::Is::{self, Bf16, F16, F32, F64};
use crate::form::{Form, form, module};

const NAN32: u32 = 0x7fff_ffff;

/// Steps between two numbers.
fn ulps(a: f32, b: f32) -> u32 {
    let order = |x: f32| {
        let bits = x.to_bits() as i32;
        i64::from(bits ^ ((bits >> 31) as u32 >> 1) as i32)
    };
    order(a).abs_diff(order(b)) as u32
}

/// Runs a form of one operand and gives operands with results.
fn run(text: &'static str, values: &[f32]) -> Vec<(f32, f32)> {
    let forms = [form(text, F32, [F32], |_, _, _| 0)];
    let options = gpuk_sim::Options {
        capability: (12, 0),
        ..gpuk_sim::Options::default()
    };
    let sim = Sim::with(&module(&forms), options);
    let inputs: Vec<_> = values.iter().map(|v| [v.to_bits().into(), 0, 0]).collect();
    let found = forms[0].run(&sim, "k0", &inputs).unwrap();
    (values.iter().copied())
        .zip(found.into_iter().map(|bits| f32::from_bits(bits as u32)))
        .collect()
}

/// Numbers of all exponents between two powers of two.
fn spread(low: i32, high: i32) -> Vec<f32> {
    let mut random = Random(7);
    (0..4096)
        .map(|at| {
            let exponent = (low + at % (high - low + 1) + 127) as u32;
            let bits = random.next() as u32;
            f32::from_bits(bits & 0x807f_ffff | exponent << 23)
        })
        .collect()
}

fn near(text: &'static str, values: &[f32], bound: u32, exact: fn(f64) -> f64) {
    for (x, found) in run(text, values) {
        let expected = exact(x.into()) as f32;
        if expected.is_nan() {
            assert_eq!(found.to_bits(), NAN32, "{text} of {x:e}");
        } else {
            let off = ulps(found, expected);
            // A whole half turn has a sine of zero, but not in double precision.
            let zero = found == 0.0 && expected.abs() < 1e-12;
            assert!(
                off <= bound || zero,
                "{text} of {x:e}: {found:e}, {expected:e}"
            );
        }
    }
}

/// The angle that a device takes for one: turns as a float, cut off, and what is left of whole ones.
fn angle(x: f64) -> f64 {
    let exact = x * f64::from(0.159_154_94_f32);
    let near = exact as f32;
    let turns = if f64::from(near).abs() > exact.abs() {
        f32::from_bits(near.to_bits() - 1)
    } else {
        near
    };
    f64::from(turns).fract() * std::f64::consts::TAU
}

#[test]
fn single() {
    let positive: Vec<f32> = spread(-126, 127).iter().map(|x| x.abs()).collect();
    near("rcp.approx.f32 %d, %a;", &spread(-126, 127), 1, |x| 1.0 / x);
    near("sqrt.approx.f32 %d, %a;", &positive, 1, f64::sqrt);
    near("rsqrt.approx.f32 %d, %a;", &positive, 1, |x| 1.0 / x.sqrt());
    near("lg2.approx.f32 %d, %a;", &positive, 1, f64::log2);
    near("ex2.approx.f32 %d, %a;", &spread(-30, 8), 1, f64::exp2);
    near("ex2.approx.ftz.f32 %d, %a;", &spread(-30, 5), 1, f64::exp2);
    near("sin.approx.f32 %d, %a;", &spread(-30, 20), 1, |x| {
        angle(x).sin()
    });
    near("cos.approx.f32 %d, %a;", &spread(-30, 20), 1, |x| {
        angle(x).cos()
    });
    near("tanh.approx.f32 %d, %a;", &spread(-30, 5), 1, f64::tanh);
    // Close to one, where a logarithm is small.
    let ones: Vec<f32> = (0..2000).map(|i| 1.0 + (i - 1000) as f32 * 1e-6).collect();
    near("lg2.approx.f32 %d, %a;", &ones, 1, f64::log2);
}

#[test]
fn given_results() {
    let infinity = f32::INFINITY;
    let nan = f32::from_bits(NAN32);
    let subnormal = f32::from_bits(1);
    let tables: &[(&str, &[(f32, f32)])] = &[
        (
            "rcp.approx.f32 %d, %a;",
            &[
                (0.0, infinity),
                (-0.0, -infinity),
                (infinity, 0.0),
                (-infinity, -0.0),
                (nan, nan),
            ],
        ),
        (
            "rcp.approx.ftz.f32 %d, %a;",
            &[(subnormal, infinity), (-subnormal, -infinity)],
        ),
        (
            "sqrt.approx.f32 %d, %a;",
            &[
                (-1.0, nan),
                (-0.0, -0.0),
                (0.0, 0.0),
                (infinity, infinity),
                (-infinity, nan),
            ],
        ),
        (
            "rsqrt.approx.f32 %d, %a;",
            &[
                (-1.0, nan),
                (-0.0, -infinity),
                (0.0, infinity),
                (infinity, 0.0),
            ],
        ),
        (
            "sin.approx.f32 %d, %a;",
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (infinity, nan),
                (-infinity, nan),
                (nan, nan),
            ],
        ),
        (
            "cos.approx.f32 %d, %a;",
            &[(0.0, 1.0), (-0.0, 1.0), (infinity, nan)],
        ),
        (
            "lg2.approx.f32 %d, %a;",
            &[
                (0.0, -infinity),
                (-0.0, -infinity),
                (-1.0, nan),
                (infinity, infinity),
                (1.0, 0.0),
            ],
        ),
        (
            "lg2.approx.ftz.f32 %d, %a;",
            &[(subnormal, -infinity), (-subnormal, -infinity)],
        ),
        (
            "ex2.approx.f32 %d, %a;",
            &[
                (-infinity, 0.0),
                (0.0, 1.0),
                (-0.0, 1.0),
                (infinity, infinity),
                (nan, nan),
                (3.0, 8.0),
                (-126.0, f32::MIN_POSITIVE),
                (128.0, infinity),
            ],
        ),
        (
            "ex2.approx.ftz.f32 %d, %a;",
            &[(-130.0, 0.0), (subnormal, 1.0)],
        ),
        (
            "tanh.approx.f32 %d, %a;",
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (infinity, 1.0),
                (-infinity, -1.0),
                (nan, nan),
            ],
        ),
    ];
    for (text, table) in tables {
        let values: Vec<f32> = table.iter().map(|(x, _)| *x).collect();
        for ((x, found), (_, expected)) in run(text, &values).into_iter().zip(*table) {
            assert_eq!(found.to_bits(), expected.to_bits(), "{text} of {x:e}");
        }
    }
}

pub(crate) fn quotients() -> Vec<Form> {
    let full = |a: u64, b: u64| {
        let value = f32::from_bits(a as u32) / f32::from_bits(b as u32);
        u64::from(if value.is_nan() {
            NAN32
        } else {
            value.to_bits()
        })
    };
    vec![
        form(
            "div.full.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            move |a, b, _| full(a, b),
        ),
        form(
            "div.approx.f32 %d, %a, %b;",
            F32,
            [F32, F32],
            move |a, b, _| {
                let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
                let large = y.abs() > 2f32.powi(126) && y.is_finite();
                let sign = (a ^ b) & 0x8000_0000;
                match large {
                    true if x.is_infinite() => NAN32.into(),
                    true if !x.is_nan() => sign,
                    _ => full(a, b),
                }
            },
        ),
    ]
}

#[test]
fn double() {
    const UPPER: u64 = 0xffff_ffff_0000_0000;
    let check_double = |form: Form, kept: u64, exact: fn(f64) -> f64| {
        let options = gpuk_sim::Options {
            capability: (12, 0),
            ..gpuk_sim::Options::default()
        };
        let sim = Sim::with(&module(std::slice::from_ref(&form)), options);
        let inputs = form.inputs();
        for ([a, ..], found) in inputs.iter().zip(form.run(&sim, "k0", &inputs).unwrap()) {
            let x = f64::from_bits(a & kept);
            let expected = exact(x);
            if expected.is_nan() || expected == 0.0 || expected.is_infinite() || x.is_subnormal() {
                continue;
            }
            let found = f64::from_bits(found);
            assert!(((found - expected) / expected).abs() < 1e-6 || expected.is_subnormal());
            assert_eq!(found.to_bits() & !kept, 0);
            assert!(kept == UPPER || found == expected);
        }
    };
    let rcp: fn(f64) -> f64 = |x| 1.0 / x;
    let rsqrt: fn(f64) -> f64 = |x| 1.0 / x.sqrt();
    check_double(
        form("rcp.approx.ftz.f64 %d, %a;", F64, [F64], |_, _, _| 0),
        UPPER,
        rcp,
    );
    check_double(
        form("rsqrt.approx.f64 %d, %a;", F64, [F64], |_, _, _| 0),
        u64::MAX,
        rsqrt,
    );
    check_double(
        form("rsqrt.approx.ftz.f64 %d, %a;", F64, [F64], |_, _, _| 0),
        UPPER,
        rsqrt,
    );
}

pub(crate) fn halves() -> Vec<Form> {
    use half::{bf16, f16};
    let in_f16 = |f: fn(f64) -> f64| {
        move |a: u64, _, _| {
            let value = f16::from_f32(f(f16::from_bits(a as u16).to_f64()) as f32);
            u64::from(if value.is_nan() {
                0x7fff
            } else {
                value.to_bits()
            })
        }
    };
    let in_bf16 = |f: fn(f64) -> f64| {
        move |a: u64, _, _| {
            let x = bf16::from_bits(a as u16).to_f64();
            let value = bf16::from_f32(f(x) as f32);
            let normal = x == 0.0 || x.abs() >= f64::from(f32::MIN_POSITIVE);
            let fits = value.to_f32() == 0.0 || value.to_f32().abs() >= f32::MIN_POSITIVE;
            (normal && fits).then(|| {
                u64::from(if value.is_nan() {
                    0x7fff
                } else {
                    value.to_bits()
                })
            })
        }
    };
    let pair: Is = Is::F16x2;
    vec![
        form("ex2.approx.f16 %d, %a;", F16, [F16], in_f16(f64::exp2)),
        form("tanh.approx.f16 %d, %a;", F16, [F16], in_f16(f64::tanh)),
        form("tanh.approx.f16x2 %d, %a;", pair, [pair], move |a, b, c| {
            let one = in_f16(f64::tanh);
            one(a >> 16, b, c) << 16 | one(a & 0xffff, b, c)
        }),
        form(
            "ex2.approx.ftz.bf16 %d, %a;",
            Bf16,
            [Bf16],
            in_bf16(f64::exp2),
        ),
        form("tanh.approx.bf16 %d, %a;", Bf16, [Bf16], in_bf16(f64::tanh)),
    ]
}
