//! A loop whose checks are of what it loads, written out in front of itself.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::ahead::Ahead;
use super::early;
use super::piece::{Piece, bare};
use super::{Names, Twice};
use crate::flow::{Effect, effect};
use crate::functionalize::guard::Guarded;
use crate::name::Name;
use crate::span::Span;
use crate::statement::StatementKind;

/// How often a loop is written out.
pub(super) const COPIES: u64 = 8;

/// The most statements of a loop that is written out.
const MAX_COPIED: usize = 40;

/// Writes a loop out, whose checks are of what it loads: eight rounds after each other, as long as there are
/// more. The checks of eight rounds can then be made together with loads.
pub(super) fn unrolled(
    piece: &Piece<'_>,
    checks: &[Guarded],
    mut ahead: Ahead<'_>,
    count: &str,
    names: &Names,
) -> Option<Twice> {
    let flow = piece.flow;
    let nodes = piece.first..=piece.last;
    let instructions = nodes.clone().filter_map(|node| flow.instruction(node));
    let (mut loads, mut size) = (0, 0);
    for found in instructions {
        size += 1;
        match effect(found) {
            Effect::Pure => {}
            Effect::Read => loads += 1,
            Effect::Write => return None,
            // Calls are those that fail, and branches go forward.
            Effect::Fixed if found.call.is_some() || &*found.opcode == "bra" => {}
            Effect::Fixed if &*found.opcode == "st" && found.has("param") => {}
            Effect::Fixed => return None,
        }
    }
    let asked = nodes
        .clone()
        .any(|node| matches!(flow.kind(node), Some(StatementKind::Pragma(_))));
    if asked || checks.len() > 2 || loads < 2 || size > MAX_COPIED {
        return None;
    }
    let Names {
        register,
        early,
        label,
        number,
    } = names;
    let span = piece.span()?;
    let body = Span::new(span.start, flow.span(piece.last)?.start);
    let all = ahead.set("b64", |to| format!("add.s64 \t{to}, {count}, 1;"));
    ahead.require("ge.u64", &all, &COPIES.to_string());
    let left = format!("{register}_left_{number}");
    let rounds = ahead.rounds;
    let passing = rounds.passing(piece.first..=piece.last);
    let mut soon = HashSet::new();
    for load in early::loads(rounds, piece.first..=piece.last, checks) {
        if passing.iter().any(|(name, _)| *name == load.to) {
            load.align(&mut ahead);
            soon.insert(load.to);
        }
    }
    let entry = format!("{label}_{number}_entry");
    let mut text = format!("{entry}:\n{}", ahead.begin(&left, &all, piece.label()?));
    let own = |copy: u64, name: &Name| {
        let prefix = if copy > 0 && soon.contains(name) {
            early
        } else {
            register
        };
        format!("{prefix}_{number}_{copy}_{}", bare(name))
    };
    let mut declared = format!(".reg .b64 \t{left};\n\t.reg .pred \t{left}_p;\n");
    for copy in 0..COPIES {
        for (name, ty) in &passing {
            // Writing to a string does not fail.
            let _ = writeln!(declared, "\t.reg .{} \t{};", ty.as_str(), own(copy, name));
        }
    }
    text.insert_str(0, &declared);
    for copy in 0..COPIES {
        let mut renamed: HashMap<&str, String> = piece.labels(&format!("{label}_{number}_{copy}_"));
        for (name, _) in &passing {
            renamed.insert(name, own(copy, name));
        }
        // Nothing goes to the later copies' headers.
        let start = if copy == 0 {
            body.start
        } else {
            flow.span(piece.first)?.end
        };
        text.push_str(&piece.line(piece.first));
        text.push_str(&piece.copy(Span::new(start, body.end), &renamed));
        text.push('\n');
    }
    let _ = write!(
        text,
        "\tadd.s64 \t{left}, {left}, -{COPIES};
\tsetp.ge.s64 \t{left}_p, {left}, {COPIES};
\t@{left}_p bra \t{label}_{number}_0_{};
\tsetp.eq.s64 \t{left}_p, {left}, 0;
\t@{left}_p bra \t{label}_{number};
{}",
        piece.header()?,
        piece.line(piece.first)
    );
    // Single rounds, until there are enough again that begin where memory may be read in one piece.
    let last = flow.instruction(piece.last)?.guard.as_ref()?;
    let (not, predicate) = (if last.negated { "!" } else { "" }, &last.predicate);
    let again = format!("@{not}{} bra \t{entry};", predicate.register()?.name);
    Some(Twice {
        start: span.start,
        ahead: text,
        changes: vec![(flow.span(piece.last)?, again)],
        end: span.end,
        back: format!("\n{label}_{number}:"),
        slow: String::new(),
        decided: Vec::new(),
    })
}
