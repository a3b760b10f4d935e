//! Traps that belong to no assert: which there are, and checks in their place.
//!
//! A `trap` ends the launch and the context with it (PTX ISA 9.7.20.3), and so does a `brkpt` that no debugger
//! catches. The trap of cooperative groups, for a launch that is not cooperative, is left out: it is CUDA's own.

use std::fmt::Write;

use gpuk_device::abi::{FAIL, FAIL_PARAMS, Kind, SEPARATOR};

use super::Place;
use super::called::{self, Calls};
use super::failure::{self, Failing};
use super::steps::Steps;
use super::wait::from_environment;
use crate::edit::{EditError, Edits};
use crate::flow::{Flow, NodeId};
use crate::instruction::Instruction;
use crate::module::Module;
use crate::span::Span;
use crate::words::Words;

/// A `trap` or `brkpt` that belongs to no assert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trap {
    /// PTX symbol of the function.
    pub function: String,
    /// PTX symbols of the entries that can come to it.
    pub entries: Vec<String>,
    /// Its line in the source, if line information is there.
    pub place: Option<Place>,
    /// Whether it is a `brkpt`.
    pub breakpoint: bool,
}

/// Finds the traps that an entry can come to.
#[must_use]
pub fn traps(module: &Module) -> Vec<Trap> {
    find(module).into_iter().map(|(_, trap)| trap).collect()
}

/// Puts a failure call in the place of each trap for which `place` gives the line that is told.
///
/// # Errors
///
/// Two edits collide, which is an error of this crate.
pub fn check_traps(
    module: &Module,
    place: &dyn Fn(&Trap) -> Option<Place>,
) -> Result<String, EditError> {
    let words = Words::new(module);
    let name = words.free_prefix("$gpuk");
    let register = words.free_prefix("%gpuk");
    let (mut edits, mut sites) = (Edits::new(), String::new());
    for (number, ((span, guard), trap)) in find(module).into_iter().enumerate() {
        if let Some(place) = place(&trap) {
            let site = format!("{name}_trap_{number}");
            declare(&mut sites, &site, &text(&trap, &place));
            edits.replace(span, call(&site, &register, &guard));
        }
    }
    if let (Some(first), false) = (module.items().first(), sites.is_empty()) {
        if !module.functions().any(|function| &*function.name == FAIL) {
            let params: Vec<_> = (0..FAIL_PARAMS)
                .map(|index| format!(".param .b64 {FAIL}_param_{index}"))
                .collect();
            let _ = writeln!(sites, ".extern .func {FAIL} ({});", params.join(", "));
        }
        edits.insert(first.span.start, sites);
    }
    edits.apply(module.text())
}

/// The traps with their places in the text and their guards.
fn find(module: &Module) -> Vec<((Span, String), Trap)> {
    let flows = called::flows(module);
    let failing = Failing::all(module);
    let mut places = Vec::new();
    for (function, flow) in flows.iter().filter(|(name, _)| !failing.contains(name)) {
        let traps = of_function(flow, &failing).into_iter();
        let traps =
            traps.filter_map(|node| Some((node, flow.span(node)?, flow.instruction(node)?)));
        places.extend(traps.map(|(node, span, trap)| (*function, flow, node, span, trap)));
    }
    if places.is_empty() {
        return Vec::new();
    }
    let calls = Calls::new(module, &flows);
    let reached: Vec<_> = (module.entries())
        .map(|entry| (&*entry.name, calls.reached(&entry.name)))
        .collect();
    let traps = places
        .into_iter()
        .map(|(function, flow, node, span, trap)| {
            let entries = reached
                .iter()
                .filter(|(_, reached)| reached.contains(function));
            let found = Trap {
                function: function.to_owned(),
                entries: entries.map(|(entry, _)| (*entry).to_owned()).collect(),
                place: failure::place(module, flow, node),
                breakpoint: &*trap.opcode == "brkpt",
            };
            ((span, guard(trap)), found)
        });
    traps.filter(|(_, trap)| !trap.entries.is_empty()).collect()
}

fn text(trap: &Trap, place: &Place) -> String {
    let condition = match trap.breakpoint {
        true => "__brkpt()",
        false => "__trap()",
    };
    let (kind, line) = (Kind::Trap.as_str(), place.line.to_string());
    let parts = [kind, &place.file, &line, condition, ""];
    parts.join(&SEPARATOR.to_string())
}

fn declare(sites: &mut String, name: &str, text: &str) {
    let bytes: Vec<_> = text
        .bytes()
        .chain([0])
        .map(|byte| byte.to_string())
        .collect();
    let (count, bytes) = (bytes.len(), bytes.join(", "));
    let _ = writeln!(sites, ".global .align 1 .b8 {name}[{count}] = {{{bytes}}};");
}

/// The call, in the form that this crate's pass reads; no assembler ever sees it.
fn call(site: &str, register: &str, guard: &str) -> String {
    let (symbol, address) = (format!("{register}_trap0"), format!("{register}_trap1"));
    let values = ", 0".repeat(FAIL_PARAMS - 1);
    format!(
        "{{\n\t.reg .b64 {register}_trap<2>;\n\tmov.u64 {symbol}, {site};\n\tcvta.global.u64 {address}, {symbol};\n\t\
         {guard}call {FAIL}, ({address}{values});\n\t}}"
    )
}

/// The guard as it is written, with a space behind it.
fn guard(instruction: &Instruction) -> String {
    let predicate = instruction.guard.as_ref().and_then(|guard| {
        let not = if guard.negated { "!" } else { "" };
        let register = guard.predicate.register()?;
        Some(format!("@{not}{} ", register.name))
    });
    predicate.unwrap_or_default()
}

/// The traps of a function that belong to nothing else, in the order of the text.
fn of_function(flow: &Flow<'_>, failing: &Failing<'_>) -> Vec<NodeId> {
    let is_trap = |node: &NodeId| {
        let opcode = flow.instruction(*node).map(|found| &*found.opcode);
        matches!(opcode, Some("trap" | "brkpt"))
    };
    let mut all: Vec<_> = (0..flow.nodes.len()).filter(is_trap).collect();
    if all.is_empty() {
        return all;
    }
    let of_asserts = failure::traps(flow, failing);
    let (steps, environment) = (Steps::new(flow), from_environment(flow));
    let is_of_launch = |node: &NodeId| {
        let forks = steps.forks(*node).into_iter();
        let mut guards =
            forks.filter_map(|fork| flow.instruction(fork)?.guard.as_ref()?.predicate.register());
        guards.any(|guard| environment.contains(&guard.id))
    };
    all.retain(|node| !of_asserts.contains(node) && !is_of_launch(node));
    all
}
