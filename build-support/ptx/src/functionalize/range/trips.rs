//! How many rounds a loop can have.
//!
//! A loop may end early; what is counted here is when its last branch no longer goes back.

use super::ahead::{Ahead, Compare};
use super::step::{Rounds, Term};
use crate::flow::NodeId;
use crate::instruction::Operand;

/// The most rounds after the first that are reckoned with; so a product with a step of 32 bits fits 64.
const MAX_ROUNDS: u64 = 1 << 31;

/// Writes code for the number of rounds after the first; the register of 64 bits that holds it.
pub(super) fn count(rounds: &Rounds<'_>, ahead: &mut Ahead<'_>, branch: NodeId) -> Option<String> {
    let last = rounds.flow.instruction(branch)?;
    let guard = last.guard.as_ref()?;
    if &*last.opcode != "bra" {
        return None;
    }
    let (test, at) = ahead.comparison(&guard.predicate, branch, !guard.negated)?;
    // What grows on the left.
    let step = |operand: &Operand| match &rounds.step(operand, at)?[..] {
        [
            Term {
                factor,
                register: None,
            },
        ] if *factor != 0 => Some(*factor),
        _ => None,
    };
    let (test, by) = if rounds.constant(&test.right, at) {
        let by = step(&test.left)?;
        (test, by)
    } else if rounds.constant(&test.left, at) {
        let test = test.swapped();
        let by = step(&test.left)?;
        (test, by)
    } else {
        return None;
    };
    // Steps of 32-bit values that were cut from wider ones.
    let by = if test.bits() == 32 {
        i64::from(by as i32)
    } else {
        by
    };
    let size = by.unsigned_abs();
    if size == 0 || size >= MAX_ROUNDS {
        return None;
    }
    let count = match &*test.compare {
        "ne" => until_equal(ahead, &test, at, by)?,
        "lt" | "le" if by > 0 => while_less(ahead, &test, at, size, false)?,
        "gt" | "ge" if by < 0 => while_less(ahead, &test, at, size, true)?,
        _ => return None,
    };
    ahead.require("lt.u64", &count, &MAX_ROUNDS.to_string());
    Some(count)
}

/// Rounds until a value that steps by `by` hits another: the difference, which must be a multiple, modulo the width.
fn until_equal(ahead: &mut Ahead<'_>, test: &Compare, at: NodeId, by: i64) -> Option<String> {
    let (left, right) = (ahead.value(&test.left, at)?, ahead.value(&test.right, at)?);
    let (from, to) = if by > 0 { (left, right) } else { (right, left) };
    let difference = if test.bits() == 32 {
        let narrow = ahead.set("b32", |to_register| {
            format!("sub.s32 \t{to_register}, {to}, {from};")
        });
        ahead.set("b64", |to| format!("cvt.u64.u32 \t{to}, {narrow};"))
    } else {
        ahead.set("b64", |to_register| {
            format!("sub.s64 \t{to_register}, {to}, {from};")
        })
    };
    let size = by.unsigned_abs();
    if size == 1 {
        return Some(difference);
    }
    if !size.is_power_of_two() {
        let (count, rest) = divide(ahead, &difference, size, test.bits() == 32);
        ahead.require("eq.s64", &rest, "0");
        return Some(count);
    }
    let rest = ahead.set("b64", |to| {
        format!("and.b64 \t{to}, {difference}, {};", size - 1)
    });
    ahead.require("eq.s64", &rest, "0");
    Some(ahead.set("b64", |to| {
        format!("shr.u64 \t{to}, {difference}, {};", size.trailing_zeros())
    }))
}

/// Rounds while a value is less than another, or with `down` greater.
fn while_less(
    ahead: &mut Ahead<'_>,
    test: &Compare,
    at: NodeId,
    size: u64,
    down: bool,
) -> Option<String> {
    let left = ahead.wide(&test.left, at, &test.ty)?;
    let right = ahead.wide(&test.right, at, &test.ty)?;
    let room = i64::try_from(size).ok()?;
    // The value must not wrap before it has passed the other.
    match &*test.ty {
        "s32" if down => ahead.require("ge.s64", &right, &(i64::from(i32::MIN) + room).to_string()),
        "s32" => ahead.require("le.s64", &right, &(i64::from(i32::MAX) - room).to_string()),
        "u32" if down => ahead.require("ge.s64", &right, &room.to_string()),
        "u32" => ahead.require("le.s64", &right, &(i64::from(u32::MAX) - room).to_string()),
        _ => {
            for value in [&left, &right] {
                ahead.require("lt.u64", value, &(1_u64 << 62).to_string());
                ahead.require("ge.s64", value, &room.to_string());
            }
        }
    }
    let (from, to) = if down { (right, left) } else { (left, right) };
    let difference = ahead.set("b64", |register| {
        format!("sub.s64 \t{register}, {to}, {from};")
    });
    // Rounded up, and one more where it may be equal.
    let more = room - i64::from(!test.compare.ends_with('e'));
    let difference = ahead.set("b64", |to| format!("add.s64 \t{to}, {difference}, {more};"));
    let difference = ahead.set("b64", |to| format!("max.s64 \t{to}, {difference}, 0;"));
    Some(divide(ahead, &difference, size, false).0)
}

/// The quotient and the rest.
fn divide(ahead: &mut Ahead<'_>, number: &str, size: u64, narrow: bool) -> (String, String) {
    let count = if size.is_power_of_two() {
        ahead.set("b64", |to| {
            format!("shr.u64 \t{to}, {number}, {};", size.trailing_zeros())
        })
    } else if narrow {
        let short = ahead.set("b32", |to| format!("cvt.u32.u64 \t{to}, {number};"));
        let short = ahead.set("b32", |to| format!("div.u32 \t{to}, {short}, {size};"));
        ahead.set("b64", |to| format!("cvt.u64.u32 \t{to}, {short};"))
    } else {
        ahead.set("b64", |to| format!("div.u64 \t{to}, {number}, {size};"))
    };
    let rest = ahead.set("b64", |to| format!("mul.lo.s64 \t{to}, {count}, {size};"));
    let rest = ahead.set("b64", |to| format!("sub.s64 \t{to}, {number}, {rest};"));
    (count, rest)
}
