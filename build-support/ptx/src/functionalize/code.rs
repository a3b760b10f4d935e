//! The code that takes the place of a failure call.
//!
//! A site that stops moves its number and values to registers and branches to its function's one report at
//! the end; so a check that passes is nothing but a branch over a straight line, which is what lets ptxas
//! schedule around it. A site that goes on has the report in its place.
//!
//! The report follows `gpuk_device::record`: count, leave early if a lower key failed, make this key the
//! best, write the record under the lock if it still is. A thread holds the lock only over a straight line
//! that waits for nobody, so threads of one warp can hold it and want it. Everything is in one block of its
//! own, the gate's address too: nothing of it takes a register where no check fails.

use std::fmt::Write;

use gpuk_device::record::{BLOCK_THREADS, gate, payload};

use crate::function::FunctionKind;
use crate::instruction::{Guard, Operand};

const _: () = assert!(BLOCK_THREADS.is_power_of_two());

/// What the names of new registers, variables and labels begin with.
#[derive(Debug)]
pub(super) struct Prefix {
    /// Of registers and variables: `%gpuk`.
    pub(super) register: String,
    /// Of labels: `$GPUK`.
    pub(super) label: String,
}

/// What follows a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The thread stops.
    Exit,
    /// The thread goes on.
    GoOn,
}

/// A report and its surroundings.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) prefix: &'a Prefix,
    /// Name of the hidden parameter.
    pub(super) gate: &'a str,
    /// Of the function that it stands in.
    pub(super) kind: FunctionKind,
    /// Tells its labels from those of the function's other reports.
    pub(super) number: usize,
    pub(super) end: End,
    /// The site's number, or the register that holds it.
    pub(super) site: &'a str,
    /// Registers or numbers that hold the values.
    pub(super) values: &'a [String],
}

impl Report<'_> {
    /// The label behind a report after which the thread goes on.
    pub(super) fn done(&self) -> String {
        format!("{}_done_{}", self.prefix.label, self.number)
    }

    /// The report as a block.
    pub(super) fn text(&self) -> String {
        let r = &self.prefix.register;
        let [lock, write, unlock] = ["lock", "write", "unlock"]
            .map(|name| format!("{}_{name}_{}", self.prefix.label, self.number));
        let (leave, last) = match self.end {
            End::Exit => ("exit".to_owned(), "\texit;\n"),
            End::GoOn => (format!("bra \t{}", self.done()), ""),
        };
        let load = load_gate(self.kind, &format!("{r}_gate"), self.gate);
        let record = self.record();
        let shift = BLOCK_THREADS.trailing_zeros();
        let [best, lock_at, count, record_at] = [gate::BEST, gate::LOCK, gate::COUNT, gate::RECORD];
        format!(
            "\t{{
\t.reg .pred \t{r}_p;
\t.reg .b32 \t{r}_a, {r}_b, {r}_c;
\t.reg .b64 \t{r}_gate, {r}_key, {r}_old, {r}_record;
\t{load}
\tcvta.to.global.u64 \t{r}_gate, {r}_gate;
\tactivemask.b32 \t{r}_a;
\tpopc.b32 \t{r}_b, {r}_a;
\tcvt.u64.u32 \t{r}_old, {r}_b;
\tmov.u32 \t{r}_b, %lanemask_lt;
\tand.b32 \t{r}_a, {r}_a, {r}_b;
\tsetp.eq.s32 \t{r}_p, {r}_a, 0;
\t@{r}_p red.global.add.u64 \t[{r}_gate+{count}], {r}_old;
\tmov.u32 \t{r}_a, %ctaid.y;
\tmov.u32 \t{r}_b, %ctaid.z;
\tmov.u32 \t{r}_c, %nctaid.y;
\tmad.lo.u32 \t{r}_a, {r}_b, {r}_c, {r}_a;
\tmov.u32 \t{r}_b, %ctaid.x;
\tcvt.u64.u32 \t{r}_key, {r}_b;
\tmov.u32 \t{r}_b, %nctaid.x;
\tmad.wide.u32 \t{r}_key, {r}_a, {r}_b, {r}_key;
\tmov.u32 \t{r}_a, %tid.y;
\tmov.u32 \t{r}_b, %tid.z;
\tmov.u32 \t{r}_c, %ntid.y;
\tmad.lo.u32 \t{r}_a, {r}_b, {r}_c, {r}_a;
\tmov.u32 \t{r}_b, %tid.x;
\tmov.u32 \t{r}_c, %ntid.x;
\tmad.lo.u32 \t{r}_a, {r}_a, {r}_c, {r}_b;
\tcvt.u64.u32 \t{r}_old, {r}_a;
\tshl.b64 \t{r}_key, {r}_key, {shift};
\tadd.s64 \t{r}_key, {r}_key, {r}_old;
\tld.volatile.global.u64 \t{r}_old, [{r}_gate+{best}];
\tsetp.ge.u64 \t{r}_p, {r}_key, {r}_old;
\t@{r}_p {leave};
\tatom.global.min.u64 \t{r}_old, [{r}_gate+{best}], {r}_key;
\tsetp.ge.u64 \t{r}_p, {r}_key, {r}_old;
\t@{r}_p {leave};
{lock}:
\tatom.global.cas.b32 \t{r}_a, [{r}_gate+{lock_at}], 0, 1;
\tsetp.eq.s32 \t{r}_p, {r}_a, 0;
\t@{r}_p bra \t{write};
\tld.volatile.global.u64 \t{r}_old, [{r}_gate+{best}];
\tsetp.lt.u64 \t{r}_p, {r}_old, {r}_key;
\t@{r}_p {leave};
\tbra.uni \t{lock};
{write}:
\tmembar.gl;
\tld.volatile.global.u64 \t{r}_old, [{r}_gate+{best}];
\tsetp.ne.s64 \t{r}_p, {r}_old, {r}_key;
\t@{r}_p bra \t{unlock};
\tld.volatile.global.u64 \t{r}_record, [{r}_gate+{record_at}];
{record}{unlock}:
\tmembar.sys;
\tatom.global.exch.b32 \t{r}_a, [{r}_gate+{lock_at}], 0;
{last}\t}}
"
        )
    }

    /// Writes all of the record, its state last.
    fn record(&self) -> String {
        let r = &self.prefix.register;
        let mut out = String::new();
        let mut store = |width: u32, offset: usize, value: &str| {
            let half = if width == 32 { "a" } else { "old" };
            // Writing to a string does not fail.
            let _ = write!(
                out,
                "\tmov.b{width} \t{r}_{half}, {value};
\tst.volatile.global.u{width} \t[{r}_record+{offset}], {r}_{half};
"
            );
        };
        store(32, payload::SITE, self.site);
        store(64, payload::KEY, &format!("{r}_key"));
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            store(32, payload::BLOCK + 4 * axis, &format!("%ctaid.{name}"));
            store(32, payload::THREAD + 4 * axis, &format!("%tid.{name}"));
        }
        for (index, value) in self.values.iter().enumerate() {
            store(64, payload::VALUES + 8 * index, value);
        }
        out.push_str("\tmembar.sys;\n");
        let _ = write!(
            out,
            "\tmov.b32 \t{r}_a, 1;
\tst.volatile.global.u32 \t[{r}_record+{}], {r}_a;
",
            payload::STATE
        );
        out
    }
}

/// Loads the hidden parameter.
pub(super) fn load_gate(kind: FunctionKind, register: &str, gate: &str) -> String {
    let ty = match kind {
        FunctionKind::Entry => "u64",
        FunctionKind::Func => "b64",
    };
    format!("ld.param.{ty} \t{register}, [{gate}];")
}

/// A value as PTX, for a `mov.b64`.
pub(super) fn value(operand: &Operand) -> String {
    match operand {
        Operand::Register(register) => register.name.to_string(),
        Operand::F64(bits) => format!("0x{bits:016X}"),
        Operand::Int(bits) => bits.cast_signed().to_string(),
        _ => "0".to_owned(),
    }
}

/// A guard as PTX with a space behind it; nothing where there is none.
pub(super) fn guard(guard: Option<&Guard>, inverted: bool) -> String {
    let Some(guard) = guard else {
        return String::new();
    };
    let name = match &guard.predicate {
        Operand::Register(register) => &register.name,
        Operand::Symbol(name, _) | Operand::Special(name) => name,
        _ => return String::new(),
    };
    let not = if guard.negated == inverted { "" } else { "!" };
    format!("@{not}{name} ")
}
