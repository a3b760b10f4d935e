//! Video instructions, scalar and packed (PTX ISA 9.7.20).
//!
//! Each takes parts of its operands apart, sign-extends them, computes in enough bits, and merges the result with or
//! adds it to a third operand.

use gpuk_ptx::{Instruction, Operand, Type};

use crate::decode::{Decoder, Mods};
use crate::program::Args;
use crate::register::File;

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Add,
    Sub,
    Average,
    AbsDiff,
    Min,
    Max,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What is done with the result and the third operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The result alone.
    Nothing,
    Add,
    Min,
    Max,
    /// The result takes the place of a part of it: first bit and bits.
    Merge {
        at: u8,
        bits: u8,
    },
}

/// A part of a register: its first bit and its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    at: u8,
    bits: u8,
}

/// An instruction of this family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    shape: Shape,
    what: What,
    /// Whether the result, `a` and `b` have signs.
    signed: [bool; 3],
    saturate: bool,
    args: Args,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Scalar {
        a: Part,
        b: Part,
        then: Then,
        wrap: bool,
    },
    /// Elements of so many bits, chosen from those of `a` and `b` by number; the mask says which results count.
    Packed {
        bits: u8,
        a: [u8; 4],
        b: [u8; 4],
        mask: u8,
        add: bool,
    },
    /// `a * b + c`, shifted right.
    Multiply {
        a: Part,
        b: Part,
        plus_one: bool,
        shift: u8,
    },
}

pub(crate) fn decode(i: &Instruction, d: &mut Decoder<'_>) -> Option<Op> {
    let name = i.opcode.strip_prefix('v')?;
    let (name, bits) = match name.strip_suffix(['2', '4']) {
        Some(name) if i.opcode.ends_with('2') => (name, Some(16)),
        Some(name) => (name, Some(8)),
        None => (name, None),
    };
    let mods = Mods::new(i);
    let what = match name {
        "add" => Some(What::Add),
        "sub" => Some(What::Sub),
        "avrg" if bits.is_some() => Some(What::Average),
        "absdiff" => Some(What::AbsDiff),
        "min" => Some(What::Min),
        "max" => Some(What::Max),
        "shl" if bits.is_none() => Some(What::Shl),
        "shr" if bits.is_none() => Some(What::Shr),
        "set" => None,
        "mad" if bits.is_none() => return multiply(i, d, mods),
        _ => return None,
    };
    common(what, bits, i, d, mods)
}

fn signed(mods: &mut Mods<'_>) -> Option<bool> {
    match mods.ty()? {
        Type::S32 => Some(true),
        Type::U32 => Some(false),
        _ => None,
    }
}

fn common(
    what: Option<What>,
    bits: Option<u8>,
    i: &Instruction,
    d: &mut Decoder<'_>,
    mut mods: Mods<'_>,
) -> Option<Op> {
    // A comparison gives 0 or 1, and has no type for its result.
    let compares = what.is_none();
    let result = if compares { false } else { signed(&mut mods)? };
    let signed = [result, signed(&mut mods)?, signed(&mut mods)?];
    let what = match what {
        Some(what) => what,
        None => mods.read(comparison)?,
    };
    let saturate = mods.take("sat");
    let shifts = matches!(what, What::Shl | What::Shr);
    let wrap = shifts && mods.take("wrap");
    if shifts && !wrap {
        mods.take("clamp").then_some(())?;
    }
    let second = mods.read(|text| {
        Some(match text {
            "add" => Then::Add,
            "min" => Then::Min,
            "max" => Then::Max,
            _ => return None,
        })
    });
    mods.done()?;
    let [target, a, b, rest @ ..] = &*i.operands else {
        return None;
    };
    let (target, place) = selected(target);
    let (a, from_a) = selected(a);
    let (b, from_b) = selected(b);
    let c = match rest {
        [] => None,
        [c] => Some(c),
        _ => return None,
    };
    let shape = match bits {
        None => {
            let then = match (second, place) {
                (Some(second), None) => second,
                (None, Some(place)) => {
                    let Part { at, bits } = part(place)?;
                    Then::Merge { at, bits }
                }
                (None, None) => Then::Nothing,
                _ => return None,
            };
            ((then != Then::Nothing) == c.is_some()).then_some(())?;
            let a = from_a.map_or(Some(WHOLE), part)?;
            let b = from_b.map_or(Some(WHOLE), part)?;
            Shape::Scalar { a, b, then, wrap }
        }
        Some(bits) => {
            c?;
            let add = match second {
                None => false,
                Some(Then::Add) => !saturate,
                Some(_) => return None,
            };
            let count = 32 / bits;
            let all: [u8; 4] = [0, 1, 2, 3];
            Shape::Packed {
                bits,
                a: from_a.map_or(Some(all), |text| elements(text, count))?,
                b: from_b.map_or(Some(all.map(|at| at + count)), |text| elements(text, count))?,
                mask: place.map_or(Some(u8::MAX), |text| mask(text, count))?,
                add,
            }
        }
    };
    let a = d.src32(&a, Type::B32)?;
    Some(Op {
        shape,
        what,
        signed,
        saturate,
        args: Args {
            a,
            b: d.src32(&b, Type::B32)?,
            c: c.map_or(Some(a), |c| d.src32(c, Type::B32))?,
            d: d.dst32(&target)?,
        },
    })
}

fn multiply(i: &Instruction, d: &mut Decoder<'_>, mut mods: Mods<'_>) -> Option<Op> {
    let signed = [signed(&mut mods)?, signed(&mut mods)?, signed(&mut mods)?];
    let plus_one = mods.take("po");
    let saturate = mods.take("sat");
    let shift = mods.read(|text| match text {
        "shr7" => Some(7),
        "shr15" => Some(15),
        _ => None,
    });
    mods.done()?;
    let [target, a, b, c] = &*i.operands else {
        return None;
    };
    let (a, from_a) = selected(a);
    let (b, from_b) = selected(b);
    Some(Op {
        shape: Shape::Multiply {
            a: from_a.map_or(Some(WHOLE), part)?,
            b: from_b.map_or(Some(WHOLE), part)?,
            plus_one,
            shift: shift.unwrap_or(0),
        },
        what: What::Add,
        signed,
        saturate,
        args: Args {
            a: d.src32(&a, Type::B32)?,
            b: d.src32(&b, Type::B32)?,
            c: d.src32(c, Type::B32)?,
            d: d.dst32(target)?,
        },
    })
}

const WHOLE: Part = Part { at: 0, bits: 32 };

fn comparison(text: &str) -> Option<What> {
    Some(match text {
        "eq" => What::Eq,
        "ne" => What::Ne,
        "lt" => What::Lt,
        "le" => What::Le,
        "gt" => What::Gt,
        "ge" => What::Ge,
        _ => return None,
    })
}

/// An operand without its selector, and the selector.
fn selected(operand: &Operand) -> (Operand, Option<&str>) {
    match operand {
        Operand::Element(register, selector) => {
            (Operand::Register(register.clone()), Some(selector))
        }
        operand => (operand.clone(), None),
    }
}

/// `b0` to `b3`, `h0`, `h1`.
fn part(selector: &str) -> Option<Part> {
    let (kind, number) = selector.split_at_checked(1)?;
    let number: u8 = number.parse().ok()?;
    let bits = match kind {
        "b" if number < 4 => 8,
        "h" if number < 2 => 16,
        _ => return None,
    };
    Some(Part {
        at: number * bits,
        bits,
    })
}

/// `b3210`, `h10`: numbers of elements, the highest first.
fn elements(selector: &str, count: u8) -> Option<[u8; 4]> {
    let digits = selector.get(1..)?;
    (digits.len() == usize::from(count)).then_some(())?;
    let mut list = [0; 4];
    for (slot, digit) in list.iter_mut().zip(digits.bytes().rev()) {
        let number = digit.wrapping_sub(b'0');
        (number < 2 * count).then_some(())?;
        *slot = number;
    }
    Some(list)
}

/// `b20`, `h1`: the elements that count.
fn mask(selector: &str, count: u8) -> Option<u8> {
    selector.get(1..)?.bytes().try_fold(0, |mask, digit| {
        let number = digit.wrapping_sub(b'0');
        (number < count).then(|| mask | 1 << number)
    })
}

/// The part of a value, with its sign if it has one.
fn extract(value: u64, Part { at, bits }: Part, signed: bool) -> i64 {
    let above = 64 - u32::from(bits);
    let top = (value >> at) << above;
    if signed {
        top as i64 >> above
    } else {
        (top >> above) as i64
    }
}

fn clamp(value: i64, bits: u8, signed: bool) -> i64 {
    if signed {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

fn compute(what: What, a: i64, b: i64) -> i64 {
    match what {
        What::Add => a + b,
        What::Sub => a - b,
        What::Average if a + b >= 0 => (a + b + 1) >> 1,
        What::Average => (a + b) >> 1,
        What::AbsDiff => (a - b).abs(),
        What::Min => a.min(b),
        What::Max => a.max(b),
        What::Shl => a << b,
        What::Shr => a >> b,
        What::Eq => (a == b).into(),
        What::Ne => (a != b).into(),
        What::Lt => (a < b).into(),
        What::Le => (a <= b).into(),
        What::Gt => (a > b).into(),
        What::Ge => (a >= b).into(),
    }
}

#[inline(never)]
pub(crate) fn execute(op: &Op, f: &mut File<'_>, mask: u32) {
    let Args { d, a, b, c } = op.args;
    f.map3(mask, d, (a, b, c), |a: u32, b: u32, c: u32| {
        match op.shape {
            Shape::Scalar {
                a: from_a,
                b: from_b,
                then,
                wrap,
            } => scalar(op, (a, from_a), (b, from_b), c, then, wrap),
            Shape::Packed {
                bits,
                a: from_a,
                b: from_b,
                mask,
                add,
            } => packed(
                op,
                u64::from(b) << 32 | u64::from(a),
                (from_a, from_b),
                c,
                (bits, mask, add),
            ),
            Shape::Multiply {
                a: from_a,
                b: from_b,
                plus_one,
                shift,
            } => {
                let [_, a_signed, b_signed] = op.signed;
                let signed = a_signed || b_signed;
                let product = i128::from(extract(a.into(), from_a, a_signed))
                    * i128::from(extract(b.into(), from_b, b_signed));
                let c = extract(c.into(), WHOLE, signed);
                let sum = product + i128::from(c) + i128::from(plus_one);
                let value = sum >> shift;
                if op.saturate && signed {
                    value.clamp(i32::MIN.into(), i32::MAX.into()) as u32
                } else if op.saturate {
                    value.clamp(0, u32::MAX.into()) as u32
                } else {
                    value as u32
                }
            }
        }
    });
}

fn scalar(
    op: &Op,
    (a, from_a): (u32, Part),
    (b, from_b): (u32, Part),
    c: u32,
    then: Then,
    wrap: bool,
) -> u32 {
    let [signed, a_signed, b_signed] = op.signed;
    let a = extract(a.into(), from_a, a_signed);
    let mut b = extract(b.into(), from_b, b_signed);
    if matches!(op.what, What::Shl | What::Shr) {
        b = if wrap { b & 31 } else { b.min(32) };
    }
    let value = compute(op.what, a, b);
    let bits = match then {
        Then::Merge { bits, .. } => bits,
        _ => 32,
    };
    let value = if op.saturate {
        clamp(value, bits, signed)
    } else {
        value
    };
    match then {
        Then::Nothing => value as u32,
        Then::Add => (value as u32).wrapping_add(c),
        Then::Min if signed => (value as i32).min(c as i32) as u32,
        Then::Min => (value as u32).min(c),
        Then::Max if signed => (value as i32).max(c as i32) as u32,
        Then::Max => (value as u32).max(c),
        Then::Merge { at, bits } => {
            let field = ((1_u32 << bits) - 1) << at;
            c & !field | (value as u32) << at & field
        }
    }
}

fn packed(
    op: &Op,
    both: u64,
    (from_a, from_b): ([u8; 4], [u8; 4]),
    c: u32,
    (bits, mask, add): (u8, u8, bool),
) -> u32 {
    let [signed, a_signed, b_signed] = op.signed;
    let field = (1_u32 << bits) - 1;
    let mut out = if add { c } else { 0 };
    for at in 0..32 / bits {
        let part = |from: [u8; 4]| Part {
            at: from[usize::from(at)] * bits,
            bits,
        };
        let a = extract(both, part(from_a), a_signed);
        let b = extract(both, part(from_b), b_signed);
        let value = compute(op.what, a, b);
        let value = if op.saturate {
            clamp(value, bits, signed)
        } else {
            value
        };
        let counts = mask >> at & 1 != 0;
        let shift = at * bits;
        if add {
            out = out.wrapping_add(if counts { value as u32 } else { 0 });
        } else if counts {
            out |= (value as u32 & field) << shift;
        } else {
            out |= c & field << shift;
        }
    }
    out
}
