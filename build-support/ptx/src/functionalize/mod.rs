//! Turns the calls of a failed check into "record, then exit or go on", inline.
//!
//! - here: what goes in and comes out, and the order of the steps
//! - `refusal`: what cannot be functionalized
//! - `site`, `format`: what a check says, and whether its message fits its values
//! - `constant`: what a register holds
//! - `chain`: the calls that a check was inlined through
//! - `failure`, `arguments`: a failure call with all that belongs to it
//! - `guard`: how the front end lays a check out
//! - `form`: which code a check has, and why
//! - `group`: checks that are made together, in front of the loads that they guard
//! - `range`: loops of which all checks are decided before they begin
//! - `aside`: blocks that fail, behind everything else
//! - `reach`: which functions can come to a check
//! - `gate`: the hidden parameter and who passes it on
//! - `skip`: what a kernel does first
//! - `before`: whether a thread has failed before
//! - `code`: the code that takes a call's place; `again`: captured values that it computes again
//! - `cleanup`, `strings`: what goes with the calls
//! - `rewrite`: the edits, `lines`: what goes with a statement, `inlined`: lines of inlined code
//! - `omit`: takes checks out instead
//! - `steps`, `called`, `uniform`, `wait`, `leave`: which checks stop a thread that others wait for
//! - `trap`: checks in the place of traps
//!
//! What the record means is `gpuk-device`'s; who allocates and reads it is not here.
//!
//! A function that can come to a check gets one more parameter, the launch's gate; for an entry it is the
//! last one of the kernel. Calls from other modules (`-rdc`) do not pass it: link before, or not at all.

mod again;
mod arguments;
mod aside;
mod before;
mod called;
mod chain;
mod cleanup;
mod code;
mod constant;
mod failure;
mod form;
mod format;
mod gate;
mod group;
mod guard;
mod inlined;
mod leave;
mod lines;
mod omit;
mod range;
mod reach;
mod refusal;
mod rewrite;
mod site;
mod skip;
mod steps;
mod strings;
mod trap;
mod uniform;
mod wait;

pub use chain::Call;
pub use form::Form;
pub use leave::{Leaving, leaving};
pub use omit::omit;
pub use refusal::{Place, Refusal};
pub use site::{Site, SiteKind};
pub use trap::{Trap, check_traps, traps};
pub use wait::Wait;

use gpuk_device::record::TAG_BITS;

use self::chain::Chains;
use self::failure::{Checked, Failing};
use self::form::Early;
use self::reach::Reach;
use self::strings::Strings;
use crate::edit::EditError;
use crate::error::ParseError;
use crate::module::Module;

/// What to functionalize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `assert` too, not only the checks of `gpuk.cuh`.
    pub asserts: bool,
    /// Whether checks may be made before the place where they stand, wherever nobody can tell. Without it
    /// each stands where it was written.
    pub ahead: bool,
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

/// What the names of registers begin with that may be loaded before the checks in front of the load (`range`). The
/// loads lie in one aligned block with one that was made, and nothing looks at what they hold unless those
/// checks pass; so one that is out of bounds is no fault.
pub const EARLY: &str = "%gpuke";

/// The most sites of a module; a word of the record has that many numbers.
pub const MAX_SITES: usize = 1 << TAG_BITS;

/// Functionalizes a module. One without checks comes back as it is.
///
/// # Errors
///
/// All that stands in the way, each with its place.
pub fn functionalize(module: &Module, options: &Options) -> Result<Functionalized, Vec<Refusal>> {
    let own = |error: String| {
        let function = module.functions().next();
        let function = function.map_or_else(String::new, |found| found.name.to_string());
        vec![Refusal::Rewrite {
            function,
            text: error,
        }]
    };
    let failing = Failing::new(module, *options);
    let marked = chain::mark(module, &failing).map_err(|error| own(error.to_string()))?;
    if let Some((text, chains)) = marked {
        let marked = Module::parse(text).map_err(|error| own(error.to_string()))?;
        let done = all(&marked, options, &chains);
        // Told apart by the calls that they were inlined through, they can be too many.
        let too_many = |refusal: &Refusal| matches!(refusal, Refusal::Sites { .. });
        if !done.as_ref().is_err_and(|found| found.iter().any(too_many)) {
            return done;
        }
    }
    all(module, options, &Chains::default())
}

fn all(
    module: &Module,
    options: &Options,
    chains: &Chains,
) -> Result<Functionalized, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let strings = Strings::new(module);
    let failing = Failing::new(module, *options);
    let checked = failure::find(module, &failing, &strings, chains, &mut refusals);
    let reach = Reach::new(module, &checked);
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
    let own = |text: String| {
        vec![Refusal::Rewrite {
            function: first.clone(),
            text,
        }]
    };
    if options.ahead
        && let Some((module, early)) =
            ahead(module, *options, chains).map_err(|error| own(error.to_string()))?
    {
        let strings = Strings::new(&module);
        let failing = Failing::new(&module, *options);
        let checked = failure::find(&module, &failing, &strings, chains, &mut refusals);
        if refusals.is_empty() {
            let reach = Reach::new(&module, &checked);
            return finish(&module, &failing, &strings, &checked, &reach, &early);
        }
    }
    finish(
        module,
        &failing,
        &strings,
        &checked,
        &reach,
        &Early::default(),
    )
}

/// The module with checks before the place where they stand; `None` if all stay.
fn ahead(
    module: &Module,
    options: Options,
    chains: &Chains,
) -> Result<Option<(Module, Early)>, AheadError> {
    let mut early = Early::default();
    let (mut done, mut soon) = (None, None);
    let strings = Strings::new(module);
    let failing = Failing::new(module, options);
    let checked = failure::find(module, &failing, &strings, chains, &mut Vec::new());
    if let Some(split) = range::split(module, &checked)? {
        early.ranges = split.labels;
        soon = Some(split.early);
        done = Some(Module::parse(split.text)?);
    }
    let now = done.as_ref().unwrap_or(module);
    let strings = Strings::new(now);
    let failing = Failing::new(now, options);
    let checked = failure::find(now, &failing, &strings, chains, &mut Vec::new());
    if let Some(grouped) = group::group(now, &checked, soon.as_deref())? {
        early.groups = grouped.labels;
        done = Some(Module::parse(grouped.text)?);
    }
    let module = done.as_ref().unwrap_or(module);
    let strings = Strings::new(module);
    let failing = Failing::new(module, options);
    let checked = failure::find(module, &failing, &strings, chains, &mut Vec::new());
    if let Some(text) = aside::aside(module, &checked)? {
        done = Some(Module::parse(text)?);
    }
    Ok(done.map(|module| (module, early)))
}

/// A pass over PTX wrote what cannot be read, which is an error of this crate.
#[derive(Debug, thiserror::Error)]
enum AheadError {
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Parse(#[from] ParseError),
}

/// Rewrites a module that has checks and no reason to be refused.
fn finish(
    module: &Module,
    failing: &Failing<'_>,
    strings: &Strings<'_>,
    checked: &[Checked<'_>],
    reach: &Reach,
    early: &Early,
) -> Result<Functionalized, Vec<Refusal>> {
    let first = || {
        checked
            .first()
            .map_or_else(String::new, |found| found.function.name.to_string())
    };
    let done = rewrite::rewrite(module, failing, strings, checked, reach, early);
    let mut done = done.map_err(|error| {
        vec![Refusal::Rewrite {
            function: first(),
            text: error.to_string(),
        }]
    })?;
    if done.sites.len() > MAX_SITES {
        return Err(vec![Refusal::Sites {
            function: first(),
            count: done.sites.len(),
        }]);
    }
    done.text = inlined::settle(done.text);
    Ok(done)
}
