//! Whether a thread has failed before and gone on: it is recorded and counted once.
//!
//! Where all of a thread's checks stand in one function, a predicate says it. Where they can stand in several that call
//! each other, it stands in the thread's own memory, beside the gate's address; functions then take the address of the
//! two as their hidden parameter, through pointers and in recursion too.

use std::collections::HashSet;

use super::code::{Prefix, load_gate};
use super::failure::Checked;
use super::reach::Reach;
use super::skip::first_effect;
use crate::edit::Edits;
use crate::function::{Function, FunctionKind};
use crate::module::Module;
use crate::name::Name;
use crate::words::Words;

/// Byte offset of the word that is not 0 after a failure, behind the gate's address.
const FAILED: usize = 8;

/// Where it stands, for the checks of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    /// Nowhere: no thread goes on.
    Never,
    /// In a predicate of the function.
    Predicate,
    /// In a variable of this name.
    Variable(String),
    /// Where the hidden parameter points to.
    Passed,
}

/// What functions of a module take.
#[derive(Debug)]
pub(super) struct Shared {
    /// Entries with the variable.
    entries: HashSet<Name>,
    variable: String,
    is_shared: bool,
}

impl Shared {
    pub(super) fn new(
        module: &Module,
        words: &Words<'_>,
        checked: &[Checked<'_>],
        reach: &Reach,
    ) -> Self {
        let goes_on =
            |found: &Checked<'_>| (found.failures.iter()).any(|it| !it.label.kind.stops());
        let is_shared = module.entries().any(|entry| {
            let reached =
                || (checked.iter()).filter(|it| reach.reaches(&entry.name, &it.function.name));
            reached().any(goes_on) && reached().any(|it| !it.function.is_entry())
        });
        let passing = module
            .entries()
            .filter(|entry| is_shared && reach.passes(entry));
        Self {
            entries: passing.map(|entry| Name::clone(&entry.name)).collect(),
            variable: words.free_name("__gpuk_before"),
            is_shared,
        }
    }

    /// For the checks of a function, of which some go on or none.
    pub(super) fn of(&self, function: &Function, goes_on: bool) -> Before {
        match function.kind {
            FunctionKind::Func if self.is_shared => Before::Passed,
            _ if self.entries.contains(&function.name) => Before::Variable(self.variable.clone()),
            _ if goes_on => Before::Predicate,
            _ => Before::Never,
        }
    }

    /// Declares the variable of an entry, and sets it behind what the entry does first.
    pub(super) fn declare(
        &self,
        edits: &mut Edits,
        function: &Function,
        prefix: &Prefix,
        gate: &str,
    ) {
        let (Before::Variable(name), Some(body)) = (self.of(function, false), &function.body)
        else {
            return;
        };
        let r = &prefix.register;
        edits.insert(
            body.span.start + 1,
            format!("\n\t.local .align 16 .b8 \t{name}[16];"),
        );
        let load = load_gate(function.kind, &format!("{r}_gate"), gate);
        edits.insert(
            first_effect(body),
            format!(
                "{{
\t.reg .b64 \t{r}_gate, {r}_word;
\t{load}
\tmov.u64 \t{r}_word, 0;
\tst.local.v2.u64 \t[{name}], {{{r}_gate, {r}_word}};
\t}}
\t"
            ),
        );
    }

    /// Loads what a function passes on as the hidden parameter.
    pub(super) fn pass(&self, function: &Function, register: &str, gate: &str) -> String {
        match self.of(function, false) {
            Before::Variable(name) => {
                format!("mov.u64 \t{register}, {name};\n\tcvta.local.u64 \t{register}, {register};")
            }
            _ => load_gate(function.kind, register, gate),
        }
    }
}

impl Before {
    /// Loads the gate's address into `{r}_gate`.
    pub(super) fn load(&self, kind: FunctionKind, r: &str, gate: &str) -> String {
        let load = load_gate(kind, &format!("{r}_gate"), gate);
        match self {
            Self::Passed => format!("{load}\n\tld.u64 \t{r}_gate, [{r}_gate];"),
            _ => load,
        }
    }

    /// The first instructions of a report: a thread that has failed before does `leave`, another is noted if it
    /// `goes_on`.
    pub(super) fn test(&self, r: &str, gate: &str, leave: &str, goes_on: bool) -> String {
        let (load, space, at) = match self {
            Self::Never => return String::new(),
            Self::Predicate => {
                let note = match goes_on {
                    true => format!("\tmov.pred \t{r}_seen, -1;\n"),
                    false => String::new(),
                };
                return format!("\t@{r}_seen {leave};\n{note}");
            }
            Self::Variable(name) => (String::new(), ".local", format!("{name}+{FAILED}")),
            Self::Passed => (
                format!("\tld.param.b64 \t{r}_gate, [{gate}];\n"),
                "",
                format!("{r}_gate+{FAILED}"),
            ),
        };
        let note = match goes_on {
            true => format!("\tmov.u32 \t{r}_a, 1;\n\tst{space}.u32 \t[{at}], {r}_a;\n"),
            false => String::new(),
        };
        format!(
            "{load}\tld{space}.u32 \t{r}_a, [{at}];\n\tsetp.ne.s32 \t{r}_p, {r}_a, 0;\n\t@{r}_p {leave};\n{note}"
        )
    }
}
