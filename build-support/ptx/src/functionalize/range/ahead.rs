//! The code in front of a loop, which decides whether all checks of all its rounds pass.

use std::collections::HashMap;
use std::fmt::Write;

use super::step::{Held, Rounds, Term};
use crate::flow::{Effect, NodeId, effect};
use crate::functionalize::guard::Guarded;
use crate::instruction::Operand;
use crate::statement::RegisterId;

/// Code that is being written.
#[derive(Debug)]
pub(super) struct Ahead<'a> {
    pub(super) rounds: &'a Rounds<'a>,
    register: &'a str,
    code: String,
    declared: Vec<&'static str>,
    /// What registers of the loop hold in its first round.
    values: HashMap<RegisterId, String>,
    required: bool,
}

/// A comparison of integers that holds.
#[derive(Debug, Clone)]
pub(super) struct Compare {
    pub(super) compare: String,
    pub(super) ty: String,
    pub(super) left: Operand,
    pub(super) right: Operand,
}

impl Compare {
    pub(super) fn bits(&self) -> u32 {
        if self.ty.ends_with("64") { 64 } else { 32 }
    }

    /// The same with its sides exchanged.
    pub(super) fn swapped(self) -> Self {
        let compare = match &*self.compare {
            "lt" => "gt",
            "le" => "ge",
            "gt" => "lt",
            "ge" => "le",
            same => same,
        };
        Self {
            compare: compare.to_owned(),
            ty: self.ty,
            left: self.right,
            right: self.left,
        }
    }
}

impl<'a> Ahead<'a> {
    pub(super) fn new(rounds: &'a Rounds<'a>, register: &'a str) -> Self {
        Self {
            rounds,
            register,
            code: String::new(),
            declared: Vec::new(),
            values: HashMap::new(),
            required: false,
        }
    }

    /// A new register of type `b32` or `b64`, set by the instruction that `write` makes of its name.
    pub(super) fn set(&mut self, ty: &'static str, write: impl FnOnce(&str) -> String) -> String {
        let name = format!("{}_{}", self.register, self.declared.len());
        self.declared.push(ty);
        let text = write(&name);
        // Writing to a string does not fail.
        let _ = writeln!(self.code, "\t{text}");
        name
    }

    /// The fast loop is taken only if this comparison holds.
    pub(super) fn require(&mut self, compare: &str, left: &str, right: &str) {
        let ok = format!("{}_ok", self.register);
        let _ = if std::mem::replace(&mut self.required, true) {
            let (compare, ty) = compare.split_once('.').unwrap_or((compare, "s64"));
            writeln!(
                self.code,
                "\tsetp.{compare}.and.{ty} \t{ok}, {left}, {right}, {ok};"
            )
        } else {
            writeln!(self.code, "\tsetp.{compare} \t{ok}, {left}, {right};")
        };
    }

    /// What an operand holds at `at` in the first round.
    pub(super) fn value(&mut self, operand: &Operand, at: NodeId) -> Option<String> {
        let register = match operand {
            Operand::Int(bits) => return Some(bits.cast_signed().to_string()),
            Operand::Special(name) => return Some(name.to_string()),
            Operand::Register(register) => register,
            _ => return None,
        };
        let Held::Set(set) = self.rounds.held(register, at)? else {
            return Some(register.name.to_string());
        };
        if let Some(known) = self.values.get(&register.id) {
            return Some(known.clone());
        }
        let found = self.rounds.flow.instruction(set)?;
        let [first, sources @ ..] = &found.operands[..] else {
            return None;
        };
        let ty = self.rounds.flow.body.declaration(register.id)?;
        let ty = match (ty.ty.bits(), ty.lanes) {
            (32, 1) => "b32",
            (64, 1) => "b64",
            _ => return None,
        };
        if first != operand || effect(found) != Effect::Pure || &*found.opcode == "ld" {
            return None;
        }
        let sources: Option<Vec<_>> = sources
            .iter()
            .map(|source| self.value(source, set))
            .collect();
        let sources = sources?.join(", ");
        let mut opcode = found.opcode.to_string();
        for modifier in &found.modifiers {
            let _ = write!(opcode, ".{modifier}");
        }
        let name = self.set(ty, |to| format!("{opcode} \t{to}, {sources};"));
        self.values.insert(register.id, name.clone());
        Some(name)
    }

    /// The same, extended to 64 bits as its type wants.
    pub(super) fn wide(&mut self, operand: &Operand, at: NodeId, ty: &str) -> Option<String> {
        let value = match (operand, ty) {
            (Operand::Int(bits), "u32") => (*bits as u32).to_string(),
            (Operand::Int(bits), "s32") => (*bits as i32).to_string(),
            (Operand::Int(bits), _) => bits.cast_signed().to_string(),
            _ => {
                let value = self.value(operand, at)?;
                return Some(match ty {
                    "s32" => self.set("b64", |to| format!("cvt.s64.s32 \t{to}, {value};")),
                    "u32" => self.set("b64", |to| format!("cvt.u64.u32 \t{to}, {value};")),
                    _ => value,
                });
            }
        };
        Some(self.set("b64", |to| format!("mov.b64 \t{to}, {value};")))
    }

    /// What `predicate` compares at `at`, given that it is `truth`, and where.
    pub(super) fn comparison(
        &self,
        predicate: &Operand,
        at: NodeId,
        truth: bool,
    ) -> Option<(Compare, NodeId)> {
        let mut all = self.comparisons(predicate, at, truth, 4)?;
        let only = all.pop()?;
        all.is_empty().then_some(only)
    }

    /// Comparisons that all hold exactly where `predicate` is `truth` at `at`.
    fn comparisons(
        &self,
        predicate: &Operand,
        at: NodeId,
        truth: bool,
        depth: usize,
    ) -> Option<Vec<(Compare, NodeId)>> {
        let depth = depth.checked_sub(1)?;
        let Held::Set(set) = self.rounds.held(predicate.register()?, at)? else {
            return None;
        };
        let found = self.rounds.flow.instruction(set)?;
        let words: Vec<&str> = found.modifiers.iter().map(|word| &**word).collect();
        let one = |compare: &str, ty: &str, left: &Operand, right: &Operand| {
            let compare = if truth { compare } else { opposite(compare)? };
            let (compare, ty) = match (compare, ty) {
                ("lo", "u32" | "u64") => ("lt", ty),
                ("ls", "u32" | "u64") => ("le", ty),
                ("hi", "u32" | "u64") => ("gt", ty),
                ("hs", "u32" | "u64") => ("ge", ty),
                ("lt" | "le" | "gt" | "ge" | "ne", "s32" | "u32" | "s64" | "u64") => (compare, ty),
                ("ne", "b32") => (compare, "u32"),
                ("ne", "b64") => (compare, "u64"),
                _ => return None,
            };
            let compare = Compare {
                compare: compare.to_owned(),
                ty: ty.to_owned(),
                left: left.clone(),
                right: right.clone(),
            };
            Some((compare, set))
        };
        let of = |operand: &Operand, truth| self.comparisons(operand, set, truth, depth);
        match (&*found.opcode, &words[..], &found.operands[..]) {
            ("setp", [compare, ty], [Operand::Register(_), left, right]) => {
                Some(vec![one(compare, ty, left, right)?])
            }
            ("setp", [compare, with, ty], [Operand::Register(_), left, right, more])
                if *with == if truth { "and" } else { "or" } =>
            {
                let mut all = of(more, truth)?;
                all.push(one(compare, ty, left, right)?);
                Some(all)
            }
            ("and" | "or", ["pred"], [_, a, b])
                if &*found.opcode == if truth { "and" } else { "or" } =>
            {
                let mut all = of(a, truth)?;
                all.extend(of(b, truth)?);
                Some(all)
            }
            ("not", ["pred"], [_, a]) => of(a, !truth),
            _ => None,
        }
    }

    /// Requires that a check passes in all rounds, of which there are `count` after the first.
    pub(super) fn decide(&mut self, guard: &Guarded, count: &str) -> Option<()> {
        let branch = self.rounds.flow.instruction(guard.branch)?;
        let predicate = &branch.guard.as_ref()?.predicate;
        let all = self.comparisons(predicate, guard.branch, guard.passes_if, 4)?;
        // Requirements stay only if all of them can be written.
        let (code, required) = (self.code.clone(), self.required);
        let (values, declared) = (self.values.clone(), self.declared.len());
        for (compare, at) in all {
            if self.holds(compare, at, count).is_none() {
                self.code = code;
                self.required = required;
                self.values = values;
                self.declared.truncate(declared);
                return None;
            }
        }
        Some(())
    }

    /// Requires that a comparison holds in all rounds: in the first and, as nothing wraps, in the last.
    fn holds(&mut self, compare: Compare, at: NodeId, count: &str) -> Option<()> {
        let rounds = self.rounds;
        let compare = if rounds.constant(&compare.right, at) {
            compare
        } else if rounds.constant(&compare.left, at) {
            compare.swapped()
        } else {
            return None;
        };
        if compare.compare == "ne" {
            return None;
        }
        let ty = &*compare.ty;
        let step = rounds.step(&compare.left, at)?;
        let first = self.wide(&compare.left, at, ty)?;
        let bound = self.wide(&compare.right, at, ty)?;
        let by = self.sum(&step, compare.bits())?;
        let last = self.set("b64", |to| {
            format!("mad.lo.s64 \t{to}, {by}, {count}, {first};")
        });
        match ty {
            "u32" => {
                self.require("ge.s64", &last, "0");
                self.require("le.s64", &last, &u32::MAX.to_string());
            }
            "s32" => {
                self.require("ge.s64", &last, &i32::MIN.to_string());
                self.require("le.s64", &last, &i32::MAX.to_string());
            }
            _ => {
                self.require("lt.u64", &first, &(1_u64 << 62).to_string());
                self.require("ge.s64", &last, "0");
            }
        }
        let wide = if ty.starts_with('u') { "u64" } else { "s64" };
        let test = format!("{}.{wide}", compare.compare);
        self.require(&test, &first, &bound);
        self.require(&test, &last, &bound);
        Some(())
    }

    /// A step as a register of 64 bits. Of a value of 64 bits, it must fit 32.
    fn sum(&mut self, step: &[Term], bits: u32) -> Option<String> {
        let mut sum: Option<String> = None;
        for term in step {
            let part = match &term.register {
                None => self.set("b64", |to| format!("mov.b64 \t{to}, {};", term.factor)),
                Some(register) => {
                    let declared = self.rounds.flow.body.declaration(register.id)?;
                    let wide = match declared.ty.bits() {
                        32 => self.set("b64", |to| {
                            format!("cvt.s64.s32 \t{to}, {};", register.name)
                        }),
                        64 => register.name.to_string(),
                        _ => return None,
                    };
                    self.set("b64", |to| {
                        format!("mul.lo.s64 \t{to}, {wide}, {};", term.factor)
                    })
                }
            };
            sum = Some(match sum {
                None => part,
                Some(sum) => self.set("b64", |to| format!("add.s64 \t{to}, {sum}, {part};")),
            });
        }
        let sum = match sum {
            Some(sum) => sum,
            None => self.set("b64", |to| format!("mov.b64 \t{to}, 0;")),
        };
        let narrow = self.set("b32", |to| format!("cvt.u32.u64 \t{to}, {sum};"));
        let cut = self.set("b64", |to| format!("cvt.s64.s32 \t{to}, {narrow};"));
        if bits == 64 {
            self.require("eq.s64", &cut, &sum);
        }
        Some(cut)
    }

    /// The code, which goes to `slow` unless all that was required holds.
    pub(super) fn finish(self, slow: &str) -> String {
        let mut out = format!("{{\n\t.reg .pred \t{}_ok;\n", self.register);
        for (number, ty) in self.declared.iter().enumerate() {
            let _ = writeln!(out, "\t.reg .{ty} \t{}_{number};", self.register);
        }
        let _ = write!(
            out,
            "{}\t@!{}_ok bra \t{slow};\n\t}}\n",
            self.code, self.register
        );
        out
    }
}

impl Ahead<'_> {
    /// The code, which goes to `rest` unless all that was required holds, and else sets `left` to `count`.
    pub(super) fn begin(self, left: &str, count: &str, rest: &str) -> String {
        let finished = self.finish(rest);
        let (code, _) = finished.rsplit_once("\t}").unwrap_or((&finished, ""));
        format!("{code}\tmov.b64 \t{left}, {count};\n\t}}\n")
    }
}

fn opposite(compare: &str) -> Option<&'static str> {
    Some(match compare {
        "eq" => "ne",
        "lt" => "ge",
        "le" => "gt",
        "gt" => "le",
        "ge" => "lt",
        "lo" => "hs",
        "ls" => "hi",
        "hi" => "ls",
        "hs" => "lo",
        _ => return None,
    })
}
