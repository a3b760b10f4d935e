//! Turns the calls of a failed check into "record, then exit or go on", inline.
//!
//! - here: what goes in and comes out, and the order of the steps
//! - `refusal`: what cannot be functionalized
//! - `site`, `format`: what a check says, and whether its message fits its values
//! - `flow`, `constant`: which instruction sets a register, and to what
//! - `failure`, `arguments`: a failure call with all that belongs to it
//! - `reach`: which functions can come to a check
//! - `gate`: the hidden parameter and who passes it on
//! - `skip`: what a kernel does first
//! - `code`: the code that takes a call's place
//! - `cleanup`, `strings`: what goes with the calls
//! - `rewrite`: the edits
//!
//! What the record means is `gpuk-device`'s; who allocates and reads it is not here.
//!
//! A function that can come to a check gets one more parameter, the launch's gate; for an entry it is the
//! last one of the kernel. Calls from other modules (`-rdc`) do not pass it: link before, or not at all.

mod arguments;
mod cleanup;
mod code;
mod constant;
mod failure;
mod flow;
mod format;
mod gate;
mod reach;
mod refusal;
mod rewrite;
mod site;
mod skip;
mod strings;

pub use refusal::{Place, Refusal};
pub use site::{Site, SiteKind};

use gpuk_device::record::TAG_BITS;

use self::failure::Failing;
use self::strings::Strings;
use crate::module::Module;

/// What to functionalize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `assert` too, not only the checks of `gpuk.cuh`.
    pub asserts: bool,
}

/// A module whose checks record their failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Functionalized {
    /// The PTX.
    pub text: String,
    /// The sites; a record names one by its index.
    pub sites: Vec<Site>,
    /// Symbols of the entries that take the gate's address as one more, last parameter.
    pub entries: Vec<String>,
}

/// The lowest compute capability, times ten, that checks are written for: from it on the threads of a warp go
/// their ways independently.
pub const MIN_CAPABILITY: u32 = 70;

/// The most sites of a module; a word of the record has that many numbers.
pub const MAX_SITES: usize = 1 << TAG_BITS;

/// Functionalizes a module. One without checks comes back as it is.
///
/// # Errors
///
/// All that stands in the way, each with its place.
pub fn functionalize(module: &Module, options: &Options) -> Result<Functionalized, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let strings = Strings::new(module);
    let failing = Failing::new(module, *options);
    let checked = failure::find(module, &failing, &strings, &mut refusals);
    let reach = reach::Reach::new(module, &checked);
    refusals.extend(reach.indirect(module, &failing));
    let Some(first) = checked.first().map(|found| found.function.name.to_string()) else {
        if !refusals.is_empty() {
            return Err(refusals);
        }
        return Ok(Functionalized {
            text: module.text().to_owned(),
            sites: Vec::new(),
            entries: Vec::new(),
        });
    };
    if (module.capability()).is_none_or(|found| found < MIN_CAPABILITY) {
        refusals.push(Refusal::Target {
            function: first.clone(),
            target: module.target().to_owned(),
        });
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let done = rewrite::rewrite(module, &failing, &strings, &checked, &reach);
    let done = done.map_err(|error| {
        vec![Refusal::Rewrite {
            function: first.clone(),
            text: error.to_string(),
        }]
    })?;
    if done.sites.len() > MAX_SITES {
        return Err(vec![Refusal::Sites {
            function: first,
            count: done.sites.len(),
        }]);
    }
    Ok(done)
}
