//! The code that takes the place of a failure call.
//!
//! It is one straight line with one way out, by design and by measurement: ptxas moves loads across a check
//! only if what the check branches to is a single block that ends in `exit`, with at most one predicated
//! `exit` inside. A second one, a label, a guarded atomic (which becomes a branch), or a block that several
//! checks share costs a stencil 40 %. That is why a thread that has lost writes to the gate's spare record,
//! not nowhere, and why no lock is taken (`gpuk_device::record`).
//!
//! Everything is in a block of its own, the gate's address too: nothing of it takes a register where no
//! check fails.

use std::fmt::Write;

use gpuk_device::abi::ValueType;
use gpuk_device::record::{BLOCK_THREADS, TAG_BITS, gate, payload};

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
    /// Whether the thread can have failed before, and `…_seen` says so.
    pub(super) seen: bool,
    /// The site's number.
    pub(super) site: u32,
    /// The values and their types.
    pub(super) values: &'a [(&'a Operand, ValueType)],
}

impl Report<'_> {
    /// The report as a block.
    pub(super) fn text(&self) -> String {
        let r = &self.prefix.register;
        let load = load_gate(self.kind, &format!("{r}_gate"), self.gate);
        let (leave, last) = match self.end {
            End::Exit => ("exit".to_owned(), "\texit;\n"),
            End::GoOn(label) => (format!("bra \t{label}"), ""),
        };
        // Alone, ptxas adds the failing threads of a warp up before it goes to memory.
        let count = if self.seen {
            format!(
                "\tselp.b64 \t{r}_best, 0, 1, {r}_seen;\n\tred.global.add.u64 \t[{r}_gate+{}], {r}_best;\n",
                gate::COUNT
            )
        } else {
            format!("\tred.global.add.u64 \t[{r}_gate+{}], 1;\n", gate::COUNT)
        };
        let seen = if self.seen {
            format!("\tor.pred \t{r}_p, {r}_p, {r}_seen;\n")
        } else {
            String::new()
        };
        let (block_shift, below) = (BLOCK_THREADS.trailing_zeros(), (1_u64 << TAG_BITS) - 1);
        let (best, record_at, spare) = (gate::BEST, gate::RECORD, gate::SPARE);
        let (site, record) = (self.site, self.record());
        format!(
            "\t{{
\t.reg .pred \t{r}_p;
\t.reg .b32 \t{r}_a, {r}_b, {r}_c;
\t.reg .b64 \t{r}_gate, {r}_key, {r}_best, {r}_last, {r}_word, {r}_record;
\t{load}
\tcvta.to.global.u64 \t{r}_gate, {r}_gate;
{count}\tmov.u32 \t{r}_a, %ctaid.y;
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
\tcvt.u64.u32 \t{r}_word, {r}_a;
\tshl.b64 \t{r}_key, {r}_key, {block_shift};
\tadd.s64 \t{r}_key, {r}_key, {r}_word;
\tshl.b64 \t{r}_key, {r}_key, {TAG_BITS};
\tor.b64 \t{r}_last, {r}_key, {below};
\tactivemask.b32 \t{r}_a;
\tmov.u32 \t{r}_b, %lanemask_lt;
\tand.b32 \t{r}_a, {r}_a, {r}_b;
\tsetp.ne.s32 \t{r}_p, {r}_a, 0;
{seen}\tld.volatile.global.u64 \t{r}_best, [{r}_gate+{best}];
\tsetp.ge.or.u64 \t{r}_p, {r}_last, {r}_best, {r}_p;
\t@{r}_p {leave};
\tor.b64 \t{r}_word, {r}_key, {site};
\tatom.global.min.u64 \t{r}_best, [{r}_gate+{best}], {r}_word;
\tsetp.lt.u64 \t{r}_p, {r}_last, {r}_best;
\tld.volatile.global.u64 \t{r}_record, [{r}_gate+{record_at}];
\tadd.s64 \t{r}_best, {r}_gate, {spare};
\tselp.b64 \t{r}_record, {r}_record, {r}_best, {r}_p;
{record}{last}\t}}
"
        )
    }

    /// Writes the record: what is the same for all threads as it is, what is this thread's by minimum.
    fn record(&self) -> String {
        let r = &self.prefix.register;
        let mut out = format!(
            "\tred.global.min.u64 \t[{r}_record+{}], {r}_word;\n",
            payload::FIRST
        );
        for (index, (value, ty)) in self.values.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(out, "\tmov.b64 \t{r}_best, {};", operand(value));
            for part in 0..parts(*ty) {
                let at = payload::VALUES + 8 * (payload::PARTS * index + part);
                let _ = write!(
                    out,
                    "\tbfe.u64 \t{r}_word, {r}_best, {}, {TAG_BITS};
\tor.b64 \t{r}_word, {r}_word, {r}_key;
\tred.global.min.u64 \t[{r}_record+{at}], {r}_word;
",
                    part * TAG_BITS as usize
                );
            }
        }
        for (at, special) in [
            (payload::GRID, "%nctaid.x"),
            (payload::GRID + 4, "%nctaid.y"),
            (payload::BLOCK, "%ntid.x"),
            (payload::BLOCK + 4, "%ntid.y"),
            (payload::STATE, "1"),
        ] {
            let _ = write!(
                out,
                "\tmov.b32 \t{r}_a, {special};
\tst.volatile.global.u32 \t[{r}_record+{at}], {r}_a;
"
            );
        }
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
fn operand(value: &Operand) -> String {
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
