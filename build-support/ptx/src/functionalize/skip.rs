//! What a kernel with checks does first: nothing, if it was told to come after a launch that failed.
//!
//! The hidden argument says whether it was told (`gpuk_device::record::SKIP`). Any other launch pays the test of a
//! bit that all threads share, and no register: what follows the test is written for few of them, and asks for no
//! thread's index, which ptxas would keep for what comes behind. So every thread that leaves here writes the same
//! word. It has done nothing, and neither has any other of the grid: nobody waits for it at a barrier.

use gpuk_device::record::{NO_WORD, SKIP, gate};

use super::code::{Prefix, load_gate};
use crate::edit::Edits;
use crate::flow::{Effect, effect};
use crate::function::{Function, FunctionKind};
use crate::statement::{Body, Statement, StatementKind};

/// Puts the test in front of an entry's first effect, and what is seldom done behind them.
pub(super) fn insert(edits: &mut Edits, function: &Function, prefix: &Prefix, gate: &str) {
    if let (FunctionKind::Entry, Some(body)) = (function.kind, &function.body) {
        let (test, told) = text(prefix, gate);
        edits.insert(first_effect(body), test);
        edits.insert(body.span.end.saturating_sub(1), told);
    }
}

/// Where the first instruction of a body stands that is more than arithmetic. What is before it costs less
/// beside the test than behind it.
pub(super) fn first_effect(body: &Body) -> usize {
    let arithmetic = |statement: &&Statement| match &statement.kind {
        StatementKind::Instruction(found) => effect(found) == Effect::Pure,
        StatementKind::Registers(_) | StatementKind::Variables(_) | StatementKind::Loc(_) => true,
        _ => false,
    };
    let mut rest = body.statements.iter().skip_while(arithmetic);
    rest.next()
        .map_or(body.span.start + 1, |statement| statement.span.start)
}

fn text(Prefix { register: r, label }: &Prefix, gate: &str) -> (String, String) {
    let load = load_gate(FunctionKind::Entry, &format!("{r}_gate"), gate);
    // The upper half of a word is enough to tell whether it is one of a thread.
    let (best, none) = (gate::BEST + 4, (NO_WORD >> 32) as i32);
    let (pair, skipped) = (gate::PAIR, gate::SKIPPED);
    let own = skipped as u64 - SKIP;
    let test = format!(
        ".reg .b32 \t{r}_told;
\tld.param.u32 \t{r}_told, [{gate}];
\tand.b32 \t{r}_told, {r}_told, {SKIP};
{label}_run:
\t{{
\t.reg .pred \t{r}_p;
\tsetp.ne.s32 \t{r}_p, {r}_told, 0;
\t@{r}_p bra \t{label}_told;
\t}}
\t"
    );
    let told = format!(
        "\tret;
{label}_told:
\t{{
\t.reg .pred \t{r}_p;
\t.reg .b32 \t{r}_a;
\t.reg .b64 \t{r}_gate, {r}_before;
\t{load}
\tcvta.to.global.u64 \t{r}_gate, {r}_gate;
\tadd.s32 \t{r}_a, {r}_told, {pair};
\tcvt.u64.u32 \t{r}_before, {r}_a;
\txor.b64 \t{r}_before, {r}_before, {r}_gate;
\tld.volatile.global.u32 \t{r}_a, [{r}_before+{best}];
\tsetp.eq.s32 \t{r}_p, {r}_a, {none};
\tld.volatile.global.u32 \t{r}_a, [{r}_before+{skipped}];
\tsetp.eq.and.s32 \t{r}_p, {r}_a, 0, {r}_p;
\tmov.b32 \t{r}_told, 0;
\t@{r}_p bra \t{label}_run;
\tadd.s32 \t{r}_a, {r}_a, 1;
\tst.volatile.global.u32 \t[{r}_gate+{own}], {r}_a;
\texit;
\t}}
"
    );
    (test, told)
}
