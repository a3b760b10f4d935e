//! The code that takes the place of a failure call.
//!
//! It is written for few registers, since a kernel gets as many as its hungriest path wants: only the first
//! failing lane of a warp goes on after the first instructions, and what follows is cut into parts by exits
//! that are never taken, across which ptxas moves nothing up. What can be computed again is, rather than kept
//! (`again`), and a word is made of the one before it. No lock is taken (`gpuk_device::record`).
//!
//! Everything is in a block of its own, the gate's address too: nothing of it takes a register where no
//! check fails.

use std::fmt::Write;

use gpuk_device::abi::ValueType;
use gpuk_device::record::{BLOCK_THREADS, SKIP, TAG_BITS, gate, payload};

use super::again::Again;
use super::before::Before;
use crate::function::FunctionKind;
use crate::instruction::{Guard, Operand};

// No block is 0 threads wide, so its size is the state.
const _: () = assert!(BLOCK_THREADS.is_power_of_two() && payload::STATE == payload::BLOCK);

/// The bits of a word that hold what it says.
const BELOW: u64 = (1 << TAG_BITS) - 1;

/// `prmt`: puts the lower or upper half of the second source into the lower of the first, where a word says what it
/// says.
const LOW: &str = "0x3254";
const HIGH: &str = "0x3276";
const _: () = assert!(TAG_BITS == 16);

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
pub(super) enum End<'a> {
    /// The thread stops.
    Exit,
    /// The thread goes on, at this label right behind the report.
    GoOn(&'a str),
}

/// A report and its surroundings.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) prefix: &'a Prefix,
    /// Name of the hidden parameter.
    pub(super) gate: &'a str,
    /// Of the function that it stands in.
    pub(super) kind: FunctionKind,
    pub(super) end: End<'a>,
    /// What says whether the thread has failed before.
    pub(super) before: &'a Before,
    /// The site, as an operand of 64 bits.
    pub(super) site: String,
    /// The values and their types.
    pub(super) values: Vec<(Value<'a>, ValueType)>,
}

/// A captured value.
#[derive(Debug)]
pub(super) enum Value<'a> {
    /// An operand of a `mov.b64`.
    Operand(String),
    Again(Again<'a>),
}

impl Report<'_> {
    /// The report as a block.
    pub(super) fn text(&self) -> String {
        let r = &self.prefix.register;
        let load = self.before.load(self.kind, r, self.gate);
        let (leave, last) = match self.end {
            End::Exit => ("exit".to_owned(), "\texit;\n"),
            End::GoOn(label) => (format!("bra \t{label}"), ""),
        };
        let goes_on = self.end != End::Exit;
        let seen = self.before.test(r, self.gate, &leave, goes_on);
        // None of these has all bits set, which ptxas cannot know.
        let part =
            |register| format!("\tsetp.eq.s64 \t{r}_p, {r}_{register}, -1;\n\t@{r}_p {leave};\n");
        let behind = part("word");
        let address = (!SKIP).cast_signed();
        let (best, record_at) = (gate::BEST, gate::RECORD);
        let (counters, stride, counts) = (gate::COUNTERS - 1, gate::COUNTER_STRIDE, gate::COUNTS);
        let (counted, key, record) = (part("gate"), self.key(), self.record(&behind));
        let site = &self.site;
        // The upper half of a count is the lanes of `..._b`: none, which ptxas cannot know. So it takes the count for
        // one that lanes can differ in, and adds it as it is.
        format!(
            "\t{{
\t.reg .pred \t{r}_p;
\t.reg .b32 \t{r}_a, {r}_b, {r}_c;
\t.reg .b64 \t{r}_gate, {r}_word, {r}_best, {r}_at;
{seen}\tactivemask.b32 \t{r}_a;
\tmov.u32 \t{r}_b, %lanemask_lt;
\tand.b32 \t{r}_b, {r}_b, {r}_a;
\tsetp.ne.s32 \t{r}_p, {r}_b, 0;
\tpopc.b32 \t{r}_a, {r}_a;
\t@{r}_p {leave};
\t{load}
\tand.b64 \t{r}_gate, {r}_gate, {address};
\tcvta.to.global.u64 \t{r}_gate, {r}_gate;
\tmov.b64 \t{r}_word, {{{r}_a, {r}_b}};
\tmov.u32 \t{r}_a, %smid;
\tand.b32 \t{r}_a, {r}_a, {counters};
\tmad.wide.u32 \t{r}_at, {r}_a, {stride}, {r}_gate;
\tred.relaxed.sys.global.add.u64 \t[{r}_at+{counts}], {r}_word;
{counted}{key}{behind}\tld.volatile.global.u64 \t{r}_best, [{r}_gate+{best}];
\tsetp.ge.u64 \t{r}_p, {r}_word, {r}_best;
\t@{r}_p {leave};
\tmov.b64 \t{{{r}_a, {r}_b}}, {r}_word;
\tprmt.b32 \t{r}_a, {r}_a, {site}, {LOW};
\tmov.b64 \t{r}_word, {{{r}_a, {r}_b}};
\tatom.global.min.u64 \t{r}_best, [{r}_gate+{best}], {r}_word;
\tsetp.ge.u64 \t{r}_p, {r}_word, {r}_best;
\t@{r}_p {leave};
\tld.volatile.global.u64 \t{r}_at, [{r}_gate+{record_at}];
{record}{last}\t}}
"
        )
    }

    /// The thread's key, with all bits below it set: no less than any word of this thread.
    fn key(&self) -> String {
        let r = &self.prefix.register;
        let (thread, block) = (TAG_BITS, TAG_BITS + BLOCK_THREADS.trailing_zeros());
        let above = 32 - block;
        format!(
            "\tmov.u32 \t{r}_a, %ctaid.z;
\tmov.u32 \t{r}_b, %nctaid.y;
\tmul.lo.u32 \t{r}_a, {r}_a, {r}_b;
\tmov.u32 \t{r}_b, %ctaid.y;
\tadd.u32 \t{r}_a, {r}_a, {r}_b;
\tmov.u32 \t{r}_b, %ctaid.x;
\tcvt.u64.u32 \t{r}_word, {r}_b;
\tmov.u32 \t{r}_b, %nctaid.x;
\tmad.wide.u32 \t{r}_word, {r}_a, {r}_b, {r}_word;
\tmov.u32 \t{r}_a, %tid.z;
\tmov.u32 \t{r}_b, %ntid.y;
\tmul.lo.u32 \t{r}_a, {r}_a, {r}_b;
\tmov.u32 \t{r}_b, %tid.y;
\tadd.u32 \t{r}_a, {r}_a, {r}_b;
\tmov.u32 \t{r}_b, %ntid.x;
\tmul.lo.u32 \t{r}_a, {r}_a, {r}_b;
\tmov.u32 \t{r}_b, %tid.x;
\tadd.u32 \t{r}_a, {r}_a, {r}_b;
\tmov.b64 \t{{{r}_b, {r}_c}}, {r}_word;
\tshf.r.clamp.b32 \t{r}_c, {r}_b, {r}_c, {above};
\tshl.b32 \t{r}_b, {r}_b, {block};
\tshl.b32 \t{r}_a, {r}_a, {thread};
\tadd.u32 \t{r}_b, {r}_b, {r}_a;
\tor.b32 \t{r}_b, {r}_b, {BELOW};
\tmov.b64 \t{r}_word, {{{r}_b, {r}_c}};
"
        )
    }

    /// Writes the record: what is the same for all threads as it is, what is this thread's by minimum.
    fn record(&self, behind: &str) -> String {
        let r = &self.prefix.register;
        let mut out = format!(
            "\tred.global.min.u64 \t[{r}_at+{}], {r}_word;\n",
            payload::FIRST
        );
        for (index, (value, ty)) in self.values.iter().enumerate() {
            out.push_str(behind);
            // Writing to a string does not fail.
            let _ = match value {
                Value::Operand(operand) => writeln!(out, "\tmov.b64 \t{r}_best, {operand};"),
                Value::Again(again) => write!(out, "{}", again.text(r)),
            };
            for part in 0..parts(*ty) {
                let at = payload::VALUES + 8 * (payload::PARTS * index + part);
                let half = if part < 2 { "a" } else { "b" };
                let which = if part % 2 == 0 { LOW } else { HIGH };
                let between = if part == 0 { "" } else { behind };
                let _ = write!(
                    out,
                    "{between}\tmov.b64 \t{{{r}_a, {r}_b}}, {r}_best;
\tmov.b32 \t{r}_c, {r}_{half};
\tmov.b64 \t{{{r}_a, {r}_b}}, {r}_word;
\tprmt.b32 \t{r}_a, {r}_a, {r}_c, {which};
\tmov.b64 \t{r}_word, {{{r}_a, {r}_b}};
\tred.global.min.u64 \t[{r}_at+{at}], {r}_word;
"
                );
            }
        }
        let _ = write!(
            out,
            "{behind}\tmov.u32 \t{r}_a, %nctaid.x;
\tmov.u32 \t{r}_b, %nctaid.y;
\tst.volatile.global.v2.u32 \t[{r}_at+{}], {{{r}_a, {r}_b}};
\tmov.u32 \t{r}_a, %ntid.x;
\tmov.u32 \t{r}_b, %ntid.y;
\tst.volatile.global.v2.u32 \t[{r}_at+{}], {{{r}_a, {r}_b}};
",
            payload::GRID,
            payload::BLOCK
        );
        out
    }
}

/// Words that hold a value of that type.
const fn parts(ty: ValueType) -> usize {
    match ty {
        ValueType::Bool
        | ValueType::Char
        | ValueType::I8
        | ValueType::U8
        | ValueType::I16
        | ValueType::U16 => 1,
        ValueType::I32 | ValueType::U32 | ValueType::F32 => 2,
        ValueType::I64 | ValueType::U64 | ValueType::F64 => 4,
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
pub(super) fn operand(value: &Operand) -> String {
    match value {
        Operand::Register(register) => register.name.to_string(),
        Operand::F64(bits) => format!("0x{bits:016X}"),
        Operand::Int(bits) => bits.cast_signed().to_string(),
        // `failure` captures nothing else.
        _ => "0".to_owned(),
    }
}

/// `@%p` or `@!%p` of a branch that is taken where a guarded instruction is not executed; nothing without a
/// guard.
pub(super) fn unless(guard: Option<&Guard>) -> Option<String> {
    let guard = guard?;
    let name = match &guard.predicate {
        Operand::Register(register) => &register.name,
        Operand::Symbol(name, _) | Operand::Special(name) => name,
        _ => return None,
    };
    let not = if guard.negated { "" } else { "!" };
    Some(format!("@{not}{name}"))
}
