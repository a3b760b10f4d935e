//! Forms of instructions, each by itself: against what Rust computes, and against what a device gave.
//!
//! [`all`] is the one list of them. Each module below has those whose results Rust computes; `every` has every
//! other combination of modifiers, whose results a device tells. `device` compares with the device's results in
//! `tests/recorded`, `record` makes those anew on a device.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod approx;
mod bits;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod convert;
mod device;
mod every;
mod float;
mod form;
mod half;
mod integer;
mod narrow;
mod record;
mod video;

use form::Form;

/// Names the functions that give forms, and tests each.
macro_rules! groups {
    ($($module:ident: $($group:ident)+;)+) => {
        const GROUPS: &[fn() -> Vec<Form>] = &[$($($module::$group,)+)+];

        mod told {
            $(mod $module {
                $(#[test]
                fn $group() {
                    crate::form::check(&crate::$module::$group());
                })+
            })+
        }
    };
}

groups! {
    approx: quotients halves;
    bits: logic shifts counting fields permutations moves;
    compare: integers floats joined_with_a_predicate_and_both_results results_in_registers;
    convert: integers floats_to_integers integers_to_floats floats_to_narrower_ones
        floats_to_wider_ones_and_to_integral_ones packing;
    float: single_to_nearest single_to_other_sides double_to_nearest double_to_other_sides
        smaller_and_larger classes constants;
    half: arithmetic saturated_and_flushed smaller_and_larger;
    integer: sums_and_differences products products_with_a_sum quotients_and_remainders
        smaller_and_larger dot_products the_carry_flag;
    video: scalars packed small_formats pairs_and_mixed_precision;
}

/// Every form, each once.
fn all() -> Vec<Form> {
    let mut seen = std::collections::HashSet::new();
    let told = GROUPS.iter().flat_map(|group| group());
    told.chain(every::forms())
        .filter(|form| seen.insert(form.text))
        .collect()
}
