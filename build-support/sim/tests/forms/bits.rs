//! Logic, shifts and bit fields, bit by bit.

use crate::form::Is::{B16, B32, B64, Pred, Small};
use crate::form::{Form, form};

/// Bits of a value, lowest first.
fn bit(a: u64, at: u64) -> u64 {
    if at > 63 { 0 } else { a >> at & 1 }
}

/// The value with those bits.
fn made(bits: u64, f: impl Fn(u64) -> u64) -> u64 {
    (0..bits).fold(0, |value, at| value | f(at) << at)
}

pub(crate) fn logic() -> Vec<Form> {
    vec![
        form("and.b16 %d, %a, %b;", B16, [B16, B16], |a, b, _| a & b),
        form("or.b32 %d, %a, %b;", B32, [B32, B32], |a, b, _| a | b),
        form("xor.b64 %d, %a, %b;", B64, [B64, B64], |a, b, _| a ^ b),
        form("and.b64 %d, %a, %b;", B64, [B64, B64], |a, b, _| a & b),
        form("or.b16 %d, %a, %b;", B16, [B16, B16], |a, b, _| a | b),
        form("xor.b16 %d, %a, %b;", B16, [B16, B16], |a, b, _| a ^ b),
        form("not.b16 %d, %a;", B16, [B16], |a, _, _| !a),
        form("not.b32 %d, %a;", B32, [B32], |a, _, _| !a),
        form("not.b64 %d, %a;", B64, [B64], |a, _, _| !a),
        form("cnot.b16 %d, %a;", B16, [B16], |a, _, _| u64::from(a == 0)),
        form("cnot.b32 %d, %a;", B32, [B32], |a, _, _| u64::from(a == 0)),
        form("cnot.b64 %d, %a;", B64, [B64], |a, _, _| u64::from(a == 0)),
        form("and.pred %d, %a, %b;", Pred, [Pred, Pred], |a, b, _| a & b),
        form("or.pred %d, %a, %b;", Pred, [Pred, Pred], |a, b, _| a | b),
        form("xor.pred %d, %a, %b;", Pred, [Pred, Pred], |a, b, _| a ^ b),
        form("not.pred %d, %a;", Pred, [Pred], |a, _, _| a ^ 1),
        form("mov.pred %d, %a;", Pred, [Pred], |a, _, _| a),
        form(
            "lop3.b32 %d, %a, %b, %c, 0xE8;",
            B32,
            [B32, B32, B32],
            |a, b, c| a & b | b & c | a & c,
        ),
        form(
            "lop3.b32 %d, %a, %b, %c, 0x96;",
            B32,
            [B32, B32, B32],
            |a, b, c| a ^ b ^ c,
        ),
        form(
            "lop3.b32 %d, %a, %b, %c, 0x2a;",
            B32,
            [B32, B32, B32],
            |a, b, c| {
                made(32, |at| {
                    0x2a >> (bit(a, at) * 4 + bit(b, at) * 2 + bit(c, at)) & 1
                })
            },
        ),
        form(
            "{ .reg .pred q; .reg .b32 t; setp.gt.u32 q, %a, 100; \
             lop3.or.b32 t|%d, %a, %b, %c, 0x80, q; }",
            Pred,
            [B32, B32, B32],
            |a, b, c| u64::from(a & b & c != 0 || a > 100),
        ),
        form(
            "{ .reg .pred q; setp.gt.u32 q, %a, 100; lop3.and.b32 _|%d, %a, %b, %c, 0xfe, q; }",
            Pred,
            [B32, B32, B32],
            |a, b, c| u64::from(a | b | c != 0 && a > 100),
        ),
    ]
}

pub(crate) fn shifts() -> Vec<Form> {
    let left = |bits: u64| move |a, by, _| if by >= bits { 0 } else { a << by };
    let right = |bits: u64| move |a: u64, by, _| if by >= bits { 0 } else { a >> by };
    let signed = |bits: u64| {
        move |a: u64, by: u64, _: u64| {
            made(bits, |at| bit(a, (at.saturating_add(by)).min(bits - 1)))
        }
    };
    // Bits of `b:a` from `by` on.
    let funnel = |a: u64, b: u64, by: u64| ((b << 32 | a) as u128 >> by) as u64;
    let three = [B32, B32, Small];
    vec![
        form("shl.b16 %d, %a, %b;", B16, [B16, Small], left(16)),
        form("shl.b32 %d, %a, %b;", B32, [B32, Small], left(32)),
        form("shl.b64 %d, %a, %b;", B64, [B64, Small], left(64)),
        form("shr.u16 %d, %a, %b;", B16, [B16, Small], right(16)),
        form("shr.b32 %d, %a, %b;", B32, [B32, Small], right(32)),
        form("shr.u64 %d, %a, %b;", B64, [B64, Small], right(64)),
        form("shr.s16 %d, %a, %b;", B16, [B16, Small], signed(16)),
        form("shr.s32 %d, %a, %b;", B32, [B32, Small], signed(32)),
        form("shr.s64 %d, %a, %b;", B64, [B64, Small], signed(64)),
        form(
            "shf.r.clamp.b32 %d, %a, %b, %c;",
            B32,
            three,
            move |a, b, by| funnel(a, b, by.min(32)),
        ),
        form(
            "shf.r.wrap.b32 %d, %a, %b, %c;",
            B32,
            three,
            move |a, b, by| funnel(a, b, by % 32),
        ),
        form(
            "shf.l.clamp.b32 %d, %a, %b, %c;",
            B32,
            three,
            move |a, b, by| funnel(a, b, 32 - by.min(32)),
        ),
        form(
            "shf.l.wrap.b32 %d, %a, %b, %c;",
            B32,
            three,
            move |a, b, by| funnel(a, b, 32 - by % 32),
        ),
    ]
}

pub(crate) fn counting() -> Vec<Form> {
    let highest = |a: u64, bits: u64| (0..bits).rev().find(|at| bit(a, *at) != 0);
    let differs = |a: u64, bits: u64| {
        let sign = bit(a, bits - 1);
        (0..bits).rev().find(|at| bit(a, *at) != sign)
    };
    let none = u64::from(u32::MAX);
    vec![
        form("popc.b32 %d, %a;", B32, [B32], |a, _, _| {
            (0..32).map(|at| bit(a, at)).sum::<u64>()
        }),
        form("popc.b64 %d, %a;", B32, [B64], |a, _, _| {
            (0..64).map(|at| bit(a, at)).sum::<u64>()
        }),
        form("clz.b32 %d, %a;", B32, [B32], move |a, _, _| {
            highest(a, 32).map_or(32, |at| 31 - at)
        }),
        form("clz.b64 %d, %a;", B32, [B64], move |a, _, _| {
            highest(a, 64).map_or(64, |at| 63 - at)
        }),
        form("bfind.u32 %d, %a;", B32, [B32], move |a, _, _| {
            highest(a, 32).unwrap_or(none)
        }),
        form("bfind.u64 %d, %a;", B32, [B64], move |a, _, _| {
            highest(a, 64).unwrap_or(none)
        }),
        form("bfind.s32 %d, %a;", B32, [B32], move |a, _, _| {
            differs(a, 32).unwrap_or(none)
        }),
        form("bfind.s64 %d, %a;", B32, [B64], move |a, _, _| {
            differs(a, 64).unwrap_or(none)
        }),
        form("bfind.shiftamt.u32 %d, %a;", B32, [B32], move |a, _, _| {
            highest(a, 32).map_or(none, |at| 31 - at)
        }),
        form("bfind.shiftamt.s64 %d, %a;", B32, [B64], move |a, _, _| {
            differs(a, 64).map_or(none, |at| 63 - at)
        }),
        form("brev.b32 %d, %a;", B32, [B32], |a, _, _| {
            made(32, |at| bit(a, 31 - at))
        }),
        form("brev.b64 %d, %a;", B64, [B64], |a, _, _| {
            made(64, |at| bit(a, 63 - at))
        }),
        form("fns.b32 %d, %a, %b, 3;", B32, [B32, B32], |a, from, _| {
            (from..32)
                .filter(|at| bit(a, *at) != 0)
                .nth(2)
                .unwrap_or(0xffff_ffff)
        }),
        form("fns.b32 %d, %a, %b, -2;", B32, [B32, B32], |a, from, _| {
            (0..32)
                .rev()
                .skip_while(|at| from < 32 && *at > from || from > 31)
                .filter(|at| bit(a, *at) != 0)
                .nth(1)
                .unwrap_or(0xffff_ffff)
        }),
    ]
}

pub(crate) fn fields() -> Vec<Form> {
    // PTX ISA 9.7.1, the pseudocode of `bfe`.
    let bfe = |bits: u64, signed: bool| {
        move |a: u64, at: u64, len: u64| {
            // Of 64 bits devices take the largest byte for what is no byte.
            let byte = |value: u64| {
                if bits == 64 {
                    value.min(255)
                } else {
                    value & 0xff
                }
            };
            let (at, len) = (byte(at), byte(len));
            let top = bits - 1;
            let sign = if signed && len != 0 {
                bit(a, (at + len - 1).min(top))
            } else {
                0
            };
            made(bits, |i| {
                if i < len && at + i <= top {
                    bit(a, at + i)
                } else {
                    sign
                }
            })
        }
    };
    let bfi = |bits: u64, a: u64, b: u64, at: u64, len: u64| {
        made(bits, |i| {
            if i >= at && i < at + len {
                bit(a, i - at)
            } else {
                bit(b, i)
            }
        })
    };
    let ones = |len: u64| made(32, |at| u64::from(at < len));
    vec![
        form(
            "bfe.u32 %d, %a, %b, %c;",
            B32,
            [B32, Small, Small],
            bfe(32, false),
        ),
        form(
            "bfe.s32 %d, %a, %b, %c;",
            B32,
            [B32, Small, Small],
            bfe(32, true),
        ),
        form(
            "bfe.u64 %d, %a, %b, %c;",
            B64,
            [B64, Small, Small],
            bfe(64, false),
        ),
        form(
            "bfe.s64 %d, %a, %b, %c;",
            B64,
            [B64, Small, Small],
            bfe(64, true),
        ),
        form(
            "bfi.b32 %d, %a, %b, %c, 5;",
            B32,
            [B32, B32, Small],
            move |a, b, at| bfi(32, a, b, at & 0xff, 5),
        ),
        form(
            "bfi.b64 %d, %a, %b, 7, %c;",
            B64,
            [B64, B64, Small],
            move |a, b, len| bfi(64, a, b, 7, len.min(255)),
        ),
        form(
            "bmsk.clamp.b32 %d, %a, %b;",
            B32,
            [Small, Small],
            move |at, len, _| made(32, |i| u64::from(i >= at && i - at < len)),
        ),
        form(
            "bmsk.wrap.b32 %d, %a, %b;",
            B32,
            [Small, Small],
            move |at, len, _| made(32, |i| u64::from(i >= at % 32 && i - at % 32 < len % 32)),
        ),
        form(
            "szext.clamp.u32 %d, %a, %b;",
            B32,
            [B32, Small],
            move |a, len, _| a & ones(len),
        ),
        form(
            "szext.wrap.u32 %d, %a, %b;",
            B32,
            [B32, Small],
            move |a, len, _| a & ones(len % 32),
        ),
        form(
            "szext.clamp.s32 %d, %a, %b;",
            B32,
            [B32, Small],
            move |a, len, _| {
                let len = len.min(32);
                made(32, |i| if len == 0 { 0 } else { bit(a, i.min(len - 1)) })
            },
        ),
        form(
            "szext.wrap.s32 %d, %a, %b;",
            B32,
            [B32, Small],
            move |a, len, _| {
                let len = len % 32;
                made(32, |i| if len == 0 { 0 } else { bit(a, i.min(len - 1)) })
            },
        ),
    ]
}

pub(crate) fn permutations() -> Vec<Form> {
    let byte = |a: u64, b: u64, at: u64| (b << 32 | a) >> (8 * (at % 8)) & 0xff;
    // Tables of PTX ISA 9.7.9.7: the bytes of the result, the highest first.
    let table = move |rows: [[u64; 4]; 4]| {
        move |a: u64, b: u64, c: u64| {
            let row = rows[(c & 3) as usize];
            row.iter().fold(0, |word, at| word << 8 | byte(a, b, *at))
        }
    };
    let three = [B32, B32, B32];
    vec![
        form("prmt.b32 %d, %a, %b, %c;", B32, three, move |a, b, c| {
            (0..4).fold(0, |word, at| {
                let nibble = c >> (4 * at) & 0xf;
                let byte = byte(a, b, nibble & 7);
                let byte = match (nibble & 8, byte & 0x80) {
                    (0, _) => byte,
                    (_, 0) => 0,
                    _ => 0xff,
                };
                word | byte << (8 * at)
            })
        }),
        form(
            "prmt.b32.f4e %d, %a, %b, %c;",
            B32,
            three,
            table([[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]]),
        ),
        form(
            "prmt.b32.b4e %d, %a, %b, %c;",
            B32,
            three,
            table([[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]]),
        ),
        form(
            "prmt.b32.rc8 %d, %a, %b, %c;",
            B32,
            three,
            table([[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]),
        ),
        form(
            "prmt.b32.ecl %d, %a, %b, %c;",
            B32,
            three,
            table([[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]]),
        ),
        form(
            "prmt.b32.ecr %d, %a, %b, %c;",
            B32,
            three,
            table([[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]]),
        ),
        form(
            "prmt.b32.rc16 %d, %a, %b, %c;",
            B32,
            three,
            table([[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]]),
        ),
    ]
}

pub(crate) fn moves() -> Vec<Form> {
    vec![
        form("mov.b32 %d, %a;", B32, [B32], |a, _, _| a),
        form("mov.b16 %d, %a;", B16, [B16], |a, _, _| a),
        form("mov.u64 %d, %a;", B64, [B64], |a, _, _| a),
        form("mov.b64 %d, {%a, %b};", B64, [B32, B32], |a, b, _| {
            b << 32 | a
        }),
        form("mov.b32 %d, {%a, %b};", B32, [B16, B16], |a, b, _| {
            b << 16 | a
        }),
        form(
            "mov.b64 %d, {%a, %b, %a, %b};",
            B64,
            [B16, B16],
            |a, b, _| b << 48 | a << 32 | b << 16 | a,
        ),
        form(
            "{ .reg .b32 x; mov.b64 {x, %d}, %a; }",
            B32,
            [B64],
            |a, _, _| a >> 32,
        ),
        form("mov.b64 {_, %d}, %a;", B32, [B64], |a, _, _| a >> 32),
        form(
            "{ .reg .b16 x, y, z; mov.b64 {x, y, %d, z}, %a; }",
            B16,
            [B64],
            |a, _, _| a >> 32,
        ),
        form(
            "{ .reg .b128 q; mov.b128 q, {%a, %b}; mov.b128 {_, %d}, q; }",
            B64,
            [B64, B64],
            |_, b, _| b,
        ),
        form(
            "{ .reg .v2 .b32 v; mov.b32 v.x, %a; mov.b32 v.y, %b; add.u32 %d, v.x, v.y; }",
            B32,
            [B32, B32],
            |a, b, _| a + b,
        ),
        form(
            "selp.b32 %d, %a, %b, %c;",
            B32,
            [B32, B32, Pred],
            |a, b, c| {
                if c == 1 { a } else { b }
            },
        ),
        form(
            "selp.b64 %d, %a, %b, %c;",
            B64,
            [B64, B64, Pred],
            |a, b, c| {
                if c == 1 { a } else { b }
            },
        ),
        form(
            "selp.b16 %d, %a, %b, %c;",
            B16,
            [B16, B16, Pred],
            |a, b, c| {
                if c == 1 { a } else { b }
            },
        ),
        form("selp.s32 %d, -1, 7, %a;", B32, [Pred], |a, _, _| {
            if a == 1 { u64::MAX } else { 7 }
        }),
        form(
            "slct.u32.s32 %d, %a, %b, %c;",
            B32,
            [B32, B32, B32],
            |a, b, c| {
                if (c as i32) >= 0 { a } else { b }
            },
        ),
        form(
            "slct.b64.s32 %d, %a, %b, %c;",
            B64,
            [B64, B64, B32],
            |a, b, c| {
                if (c as i32) >= 0 { a } else { b }
            },
        ),
        form(
            "slct.u32.f32 %d, %a, %b, %c;",
            B32,
            [B32, B32, crate::form::Is::F32],
            |a, b, c| {
                if f32::from_bits(c as u32) >= 0.0 {
                    a
                } else {
                    b
                }
            },
        ),
    ]
}
